"""Hostile calls of every operator: parameters, shapes, types and values that nobody means.

The default run does one hundredth of the long lane, on loops that run as Python with checked indices.
"""

from __future__ import annotations

import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.resource import random_streams

from . import hostile
from .draws import SeededDraw

OPERATORS = [op.name for op in distinct() if op.cases is not None]
each_operator = pytest.mark.parametrize("name", OPERATORS)


@pytest.fixture(autouse=True, scope="module")
def _streams() -> None:
    random_streams(mx.cpu())  # many steps, which count for no operator


@each_operator
def test_stays_inside(name: str) -> None:
    for seed in range(3):
        hostile.stays_inside(get(name), SeededDraw(seed))


@each_operator
def test_takes_any_values(name: str) -> None:
    hostile.takes_any_values(get(name), SeededDraw(0))
