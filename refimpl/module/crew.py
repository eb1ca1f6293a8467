"""Contexts side by side: one piece of work per context, the first on the calling thread."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread

from ..quirks import quirks


class Crew:
    """One thread per context beyond the first, waiting for work; they go home with their crew.

    Kernels release Python's lock, so contexts really run at the same time. Each piece of work writes
    only arrays of its own context: the result is the same as running them one after the other, which happens to
    those for which the system has no thread.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._inboxes: list[SimpleQueue] = []
        self._under_way: list[Future] = []

    def run(self, work: Callable[[int], object]) -> None:
        """Call ``work(i)`` for each context i and return when all are done.

        An exception is raised here once every context has stopped; those of this thread speak first, then the lowest
        context. When this
        thread is interrupted, contexts that have not begun do not begin any more, and the others finish first.
        """
        if len(self._inboxes) < self.size - 1:
            self._hire()
        self.settle()
        work = quirks.carried(work)
        jobs: list[Future] = [Future() for _ in self._inboxes]
        self._under_way = jobs
        try:
            for inbox, job in zip(self._inboxes, jobs, strict=True):
                inbox.put((work, job))
            here = [_failure(work, context) for context in (0, *range(len(self._inboxes) + 1, self.size))]
            wait(jobs)
        finally:
            self.settle()
        for failure in [*here, *(job.exception() for job in jobs)]:
            if failure is not None:
                raise failure

    def settle(self) -> None:
        """Return when no context is at work any more; what has not begun does not begin."""
        for job in self._under_way:
            if not job.cancel():
                wait([job])
        self._under_way = []

    def _hire(self) -> None:
        """Start the threads that are missing; a crew that never works never has any."""
        if not self._inboxes:
            weakref.finalize(self, _send_home, self._inboxes)
        for context in range(len(self._inboxes) + 1, self.size):
            inbox: SimpleQueue = SimpleQueue()
            try:
                Thread(target=_work, args=(context, inbox), name=f"context {context}", daemon=True).start()
            except RuntimeError:  # the system has no more of them; the next run asks again
                break
            self._inboxes.append(inbox)


def _failure(work: Callable[[int], object], context: int) -> Exception | None:
    """Do the work of one context on this thread: what went wrong, if anything."""
    try:
        work(context)
    except Exception as failure:  # noqa: BLE001  # it is raised again, once every context has stopped
        return failure
    return None


def _work(context: int, inbox: SimpleQueue) -> None:
    """Do what comes in, unless it was cancelled meanwhile."""
    while (order := inbox.get()) is not None:
        work, job = order
        if job.set_running_or_notify_cancel():
            try:
                work(context)
            except BaseException as failure:  # noqa: BLE001  # it is raised again, on the calling thread
                job.set_exception(failure)
            else:
                job.set_result(None)
        del order, work, job


def _send_home(inboxes: list[SimpleQueue]) -> None:
    for inbox in inboxes:
        inbox.put(None)
