"""The executors of one group run at the same time, by machine code where it can make all their kernel calls.

Python's lock makes the threads of contexts take turns between kernels. Where machine code makes all kernel calls of a
run (``pieces.py``), this thread does the Python part for every context, such as loading its slice of the batch, and
hands the kernel calls over to the threads of the group (``hand_over.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

from ..base import decides
from ..kernels.tuned.hand_over import HandOver
from ..kernels.tuned.native_calls import walker
from ..module.thread_pool import ThreadPool
from ..quirks import quirks
from .pieces import Rows
from .programs import Table

TURNS = 10_000
"""How many turns a thread watches for more work before it sleeps, where every context has a core of its own."""


class Beside:
    """The hand-overs from the calling thread to the threads of a pool."""

    def __init__(self) -> None:
        self.hand_overs: list[HandOver] = []  # for the first threads of the pool

    @decides("ExecutorGroup/deterministic", "ExecutorGroup/side-by-side")
    def walk(self, pool: ThreadPool, others: Sequence[Rows], here: Callable[[], object]) -> list[int]:
        """Call ``here`` while the threads of the other contexts make the kernel calls of ``others``.

        Returns, for each of the other contexts, the number of calls made: less than all where a call failed.
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
        """Let no thread watch for kernel calls any more: its next work comes through the queue of the pool."""
        for hand_over in self.hand_overs:
            hand_over.release()

    def settle(self) -> None:
        """Wait until no thread makes kernel calls."""
        for hand_over in self.hand_overs:
            if hand_over.is_busy:
                hand_over.made()


def is_walked(
    pool: ThreadPool, executors: Sequence[Any], part: str, is_train: bool, load: Callable[[int], None] | None = None
) -> bool:
    """Load the slices and run all executors side by side; False, and nothing is done, where threads have to.

    Args:
        pool: the threads of the contexts.
        executors: the executor of each context.
        part: "forward" or "backward".
        is_train: whether operators run as in training.
        load: loads the slice of a context.
    """
    first, *others = executors
    walks = []
    for executor in others:
        table: Table | None = getattr(executor.program, f"{part}_table")
        rows = None if table is None or executor._monitor is not None else table.walked(is_train)
        if rows is None:
            return False
        walks.append(rows)
    if not walks or first._monitor is not None:
        return False
    program = first.program
    steps, table = getattr(program, f"{part}_steps"), getattr(program, f"{part}_table")

    def inside(index: int) -> None:
        """Nest the ``_run_forward`` or ``_run_backward`` of the executors; the innermost makes all kernel calls."""
        if index == len(executors):
            _walk(pool, walks, partial(first._run_steps, steps, is_train, table))
            return
        if load is not None:
            load(index)
        getattr(executors[index], f"_run_{part}")(is_train, partial(inside, index + 1))

    inside(0)
    return True


def _walk(pool: ThreadPool, others: Sequence[Rows], here: Callable[[], None]) -> None:
    """Call ``here`` while the other contexts make their kernel calls; Python makes the calls from a failed one on."""
    pool.beside = pool.beside or Beside()
    made = pool.beside.walk(pool, others, quirks.carried(here))
    for rows, count in zip(others, made, strict=True):
        for call in rows.calls[count:]:
            call()


def _hand_over(queue: SimpleQueue, turns: int) -> HandOver:
    """A hand-over to the thread that serves ``queue``."""
    made = HandOver(lambda: queue.put(made.serve), turns)
    return made


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["Beside", "is_walked"]
