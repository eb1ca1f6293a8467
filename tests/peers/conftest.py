"""MXNet 1.9.1 in processes of its own, one for the tests of each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.backends.mxnet import MXNet

from .asking import backend, functions


@pytest.fixture(scope="module")
def mxnet() -> Iterator[MXNet]:
    """Runs programs of the oracle."""
    with backend() as found:
        yield found


@pytest.fixture(scope="module")
def bridge() -> Iterator[Isolated]:
    """Runs the functions of server.py."""
    with functions() as found:
        yield found
