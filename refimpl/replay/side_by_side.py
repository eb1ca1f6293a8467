"""Executors of one group, side by side: machine code makes their calls where it can, else threads do their work.

Python's lock would make contexts take turns between kernels. Where a run amounts to calls that machine code makes by
itself (``pieces.py``), this thread does for every context what needs Python: it loads the batch, and hands the calls
over to the threads of the group (``hand_over.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import Any

from ..base import decides
from ..module.thread_pool import ThreadPool
from ..quirks import quirks
from .native.hand_over import HandOver
from .native.native_calls import walker
from .pieces import Rows
from .programs import Table

TURNS = 10_000
"""So many turns a thread watches for more work before it sleeps, where every context has a core of its own."""


class Beside:
    """What hands calls over to the threads of a pool."""

    def __init__(self) -> None:
        self.hand_overs: list[HandOver] = []  # to some of the threads

    @decides("ExecutorGroup/deterministic", "ExecutorGroup/side-by-side")
    def walk(self, pool: ThreadPool, others: Sequence[Rows], here: Callable[[], object]) -> list[int]:
        """Call ``here``, and at the same time have every other context's thread make the calls of its rows.

        Returns how many calls were made for each of the other contexts: fewer than there are where one failed.
        """
        queues = pool.started()
        while len(self.hand_overs) < len(queues):
            queue = queues[len(self.hand_overs)]
            self.hand_overs.append(_hand_over(queue, TURNS if pool.size <= _cores() else 0))
        try:
            for rows, hand_over in zip(others, self.hand_overs, strict=False):
                hand_over.order(rows.place, rows)
            here()
            here_too = [walker()(*rows.place) for rows in others[len(self.hand_overs) :]]
            return [*(hand_over.made() for hand_over in self.hand_overs), *here_too]
        finally:
            self.settle()

    def release(self) -> None:
        """Let no thread watch for calls: its next work comes another way."""
        for hand_over in self.hand_overs:
            hand_over.release()

    def settle(self) -> None:
        """Return when no calls are being made any more."""
        for hand_over in self.hand_overs:
            if hand_over.is_busy:
                hand_over.made()


def is_forward_walked(
    pool: ThreadPool, executors: Sequence[Any], is_train: bool, load: Callable[[int], None]
) -> bool:
    """Have every context load its slice and run forward; False, and nothing is done, where threads have to do it."""
    others = _walked(executors, (executor.program.forward_table for executor in executors[1:]), is_train)
    if not others:
        return False
    first, *_ = executors

    def inside(index: int) -> None:
        if index == len(executors):
            program = first.program
            _walk(pool, others, lambda: first._run_steps(program.forward_steps, is_train, program.forward_table))
        else:
            load(index)
            executors[index]._run_forward(is_train, lambda: inside(index + 1))

    inside(0)
    return True


def is_backward_walked(pool: ThreadPool, executors: Sequence[Any]) -> bool:
    """Have every context run backward; False, and nothing is done, where threads have to do it."""
    others = _walked(executors, (executor.program.backward_table for executor in executors[1:]), is_train=True)
    if not others:
        return False
    first, *_ = executors

    def inside(index: int) -> None:
        if index == len(executors):
            program = first.program
            _walk(pool, others, lambda: first._run_steps(program.backward_steps, True, program.backward_table))
        else:
            executors[index]._run_backward(run=lambda: inside(index + 1))

    inside(0)
    return True


def _walked(executors: Sequence[Any], tables: Iterable[Table | None], is_train: bool) -> list[Rows]:
    """What contexts 1, 2, ... call, if machine code can make all of it and no monitor looks on; else nothing."""
    if any(executor._monitor is not None for executor in executors):
        return []
    found = []
    for table in tables:
        rows = None if table is None else table.walked(is_train)
        if rows is None:
            return []
        found.append(rows)
    return found


def _walk(pool: ThreadPool, others: Sequence[Rows], here: Callable[[], None]) -> None:
    """Call ``here`` while the other contexts make their calls, and let Python make those after one that failed."""
    pool.beside = pool.beside or Beside()
    made = pool.beside.walk(pool, others, quirks.carried(here))
    for rows, count in zip(others, made, strict=True):
        for call in rows.calls[count:]:
            call()


def _hand_over(queue: SimpleQueue, turns: int) -> HandOver:
    """One to the thread that serves ``queue``."""
    made = HandOver(lambda: queue.put(made.serve), turns)
    return made


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["Beside", "is_backward_walked", "is_forward_walked"]
