"""Loops without a twin run as Python, in tests that hold for the text of a page as for its machine code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from refimpl.kernels.foundation import LOOPS
from refimpl.kernels.foundation.loop import Loop, python_loops

HAS_TWINS = any(loop._tuned is not None for loop in LOOPS)
"""Whether this tree has twins; CI's lane ``bare`` runs laws and examples in a tree that has none."""


@contextmanager
def only_twins_are_compiled() -> Iterator[None]:
    """Within this block a loop runs its twin where it has one, and else its text, with the bits of machine code.

    To compile a loop takes a hundred times as long as its text takes for a small array. In a tree without twins nothing
    is changed: there the same tests run every loop as machine code.
    """
    if not HAS_TWINS:
        yield
        return
    run = Loop.__call__

    def run_twin_or_text(loop: Loop, *args: Any) -> None:
        with nullcontext() if loop.has_twin_for(args) else python_loops():
            run(loop, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "__call__", run_twin_or_text)
        yield
