"""What tests about clauses share: the table of this tree, read once."""

from __future__ import annotations

import pytest

from refimpl.kernels import distinct
from spec import trace


@pytest.fixture(scope="session")
def table() -> trace.Table:
    """Every clause of this tree, the code that decides it and what proves it."""
    return trace.collect(trace.ROOT, distinct())
