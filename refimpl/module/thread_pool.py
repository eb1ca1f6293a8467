"""The thread pool of an executor group: one piece of work per context, the first on the calling thread."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any

from ..base import decides, refusal
from ..kernels.foundation.forks import renew_in_child
from ..quirks import quirks


class ThreadPool:
    """One thread per context beyond the first. The threads start with the first work and end with their pool.

    Kernels release Python's lock, so contexts really run at the same time. Each piece of work writes only arrays of
    its own context, so the result is the same as running one context after the other. When the system cannot start a
    thread for a context, the calling thread does that context's work.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._queues: list[SimpleQueue] = []  # one for each thread
        self.beside: Any = None  # the fast road's hand-overs of kernel calls to the threads
        self._under_way: list[Future] = []
        renew_in_child(self)

    @decides("engine/forked")
    def after_fork(self) -> None:
        """Forget the threads, which the child does not have; its first work starts new ones."""
        self._queues, self.beside, self._under_way = [], None, []

    @decides("ExecutorGroup/deterministic", "ExecutorGroup/side-by-side")
    def run(self, work: Callable[[int], object]) -> None:
        """Call ``work(i)`` for each context i and return when all calls are done.

        An exception is raised here once every context has stopped. When several contexts fail, the exception of the
        calling thread is raised, else the exception of the lowest context. When the calling thread is interrupted, work
        that has not begun is cancelled, and the other contexts finish first.
        """
        if self.size == 1:
            work(0)
            return
        self.started()
        if self.beside is not None:
            self.beside.release()
        work = quirks.carried(work)
        jobs: list[Future] = [Future() for _ in self._queues]
        self._under_way = jobs
        try:
            for queue, job in zip(self._queues, jobs, strict=True):
                queue.put((work, job))
            here = [_failure(work, context) for context in (0, *range(len(jobs) + 1, self.size))]
            if self._under_way is not jobs:  # the work of this thread forked: this is the child
                raise refusal(
                    "engine/forked", "this process was forked in the middle of a call whose other threads are in its"
                    " parent: end the child with os._exit, or repeat the call",
                )
            wait(jobs)
        finally:
            self.settle()
        for failure in [*here, *(job.exception() for job in jobs)]:
            if failure is not None:
                raise failure

    def started(self) -> list[SimpleQueue]:
        """The queues of the threads, all idle now: one per context beyond the first, fewer if threads cannot start."""
        if len(self._queues) < self.size - 1:
            self._start_threads()
        self.settle()
        return self._queues

    @decides("ExecutorGroup/interrupted")
    def settle(self) -> None:
        """Cancel work that has not begun, and wait until no thread works."""
        if self.beside is not None:
            self.beside.settle()
        for job in self._under_way:
            if not job.cancel():
                wait([job])
        self._under_way = []

    def _start_threads(self) -> None:
        """Start the missing threads, when the pool first needs them."""
        if not self._queues:
            weakref.finalize(self, _end_threads, self._queues)
        for context in range(len(self._queues) + 1, self.size):
            queue: SimpleQueue = SimpleQueue()
            try:
                Thread(target=_serve, args=(context, queue), name=f"context {context}", daemon=True).start()
            except RuntimeError:  # the system has no more threads; the next run tries again
                break
            self._queues.append(queue)


def _failure(work: Callable[[int], object], context: int) -> Exception | None:
    """Do the work of one context on this thread and return its exception, if any."""
    try:
        work(context)
    except Exception as failure:  # noqa: BLE001  # the caller raises it, once every context has stopped
        return failure
    return None


def _serve(context: int, queue: SimpleQueue) -> None:
    """The loop of a thread of the pool: it does the work of one context that is not cancelled before it begins."""
    while (order := queue.get()) is not None:
        if callable(order):
            order()
            del order
            continue
        work, job = order
        if job.set_running_or_notify_cancel():
            try:
                work(context)
            except BaseException as failure:  # noqa: BLE001  # the calling thread raises it
                job.set_exception(failure)
            else:
                job.set_result(None)
        del order, work, job


def _end_threads(queues: list[SimpleQueue]) -> None:
    for queue in queues:
        queue.put(None)
