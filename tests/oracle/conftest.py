"""Fixtures of the oracle's tests."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Drawn programs make modules warn of what they are drawn to do."""
    level = logging.root.level
    logging.root.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.root.setLevel(level)
