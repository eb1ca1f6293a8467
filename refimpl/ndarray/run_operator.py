"""Runs an operator on buffers: for a call, a step of an executor, the body of a loop, or a gradient.

The shapes are already checked: those of a single call by ``plan`` in ``kernels/foundation/run.py``, those of a graph by
inference when the graph was bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..context import Context
from ..engine import profiling_hook
from ..kernels.foundation import Buffer, Op
from ..kernels.foundation import run as runner
from ..resource import random_streams


def run_operator(
    op: Op, p: Any, ins: Sequence[Buffer], outs: Sequence[Buffer], context: Context, *, is_train: bool
) -> None:
    """Fill all outputs, hidden ones too, from the active inputs; random operators use the context's random streams."""
    runner.fill(op, p, ins, outs, is_train=is_train, rng=random_streams(context) if op.random else None)


@contextmanager
def watched(name: str, context: Context, ins: Sequence[Buffer]) -> Iterator[None]:
    """A block in which one imperative operator runs; the profiler, if it is on, times it."""
    watch = profiling_hook.imperative
    begun = None if watch is None else watch.begin(name, context, [buffer.shape for buffer in ins])
    try:
        yield
    finally:
        if watch is not None:
            watch.end(begun)
