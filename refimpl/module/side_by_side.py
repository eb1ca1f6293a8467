"""Executors of one group, side by side: machine code makes their calls where it can, else threads do their work.

Python's lock would make contexts take turns between kernels. Where a run amounts to calls that machine code makes by
itself (``executor/rows.py``), this thread does for every context what needs Python: it loads the batch, and hands the
calls over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import engine
from ..engine import profiling_hook
from ..executor.rows import Rows
from ..executor.table import Table
from ..quirks import current, quirks
from .thread_pool import ThreadPool


def forward(pool: ThreadPool, executors: Sequence[Any], is_train: bool, load: Callable[[int], None]) -> None:
    """Have every context load its slice and run forward."""
    others = _walked(executors, (executor.program.forward_table for executor in executors[1:]), is_train)
    if not others:
        def step(index: int) -> None:
            load(index)
            executors[index]._forward(is_train)

        pool.run(step)
        return
    for index, executor in enumerate(executors):
        load(index)
        executor._before_forward()
    _walk(pool, others, lambda: executors[0]._run_forward(is_train))
    for executor in executors:
        executor._after_forward()


def backward(pool: ThreadPool, executors: Sequence[Any]) -> None:
    """Have every context run backward."""
    others = _walked(executors, (executor.program.backward_table for executor in executors[1:]), is_train=True)
    if not others:
        pool.run(lambda index: executors[index]._backward())
        return
    for executor in executors:
        executor._before_backward()
    _walk(pool, others, lambda: executors[0]._run_backward(is_train=True))
    for executor in executors:
        executor._after_backward()


def _walked(executors: Sequence[Any], tables: Iterable[Table], is_train: bool) -> list[Rows]:
    """What contexts 1, 2, ... call, if machine code can make all of it and nobody looks on; else nothing."""
    if engine.attention or profiling_hook.symbolic is not None or any(e._monitor is not None for e in executors):
        return []
    active, found = current(), []
    for table in tables:
        rows = table.walked(is_train, active)
        if rows is None:
            return []
        found.append(rows)
    return found


def _walk(pool: ThreadPool, others: Sequence[Rows], here: Callable[[], None]) -> None:
    """Call ``here`` while the other contexts make their calls, and let Python make those after one that failed."""
    made = pool.walk(others, quirks.carried(here))
    for rows, count in zip(others, made, strict=True):
        for call in rows.calls[count:]:
            call()


__all__ = ["backward", "forward"]
