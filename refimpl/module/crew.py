"""Contexts side by side: one piece of work per context, the first on the calling thread."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from ..quirks import quirks


class Crew:
    """One thread per context beyond the first, waiting for work; they go home with their crew.

    Kernels release Python's lock, so contexts really run at the same time. Each piece of work writes
    only arrays of its own context: the result is the same as running them one after the other.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._inboxes: list[SimpleQueue] = []

    def run(self, work: Callable[[int], object]) -> None:
        """Call ``work(i)`` for each context i and return when all are done.

        An exception is raised here once every context has stopped; the lowest context speaks first.
        """
        if len(self._inboxes) < self.size - 1:
            self._hire()
        answers: SimpleQueue = SimpleQueue()
        work = quirks.carried(work)
        for inbox in self._inboxes:
            inbox.put((work, answers))
        try:
            work(0)
        finally:
            failures = [failure for _ in self._inboxes if (failure := answers.get()) is not None]
        if failures:
            raise min(failures)[1]

    def _hire(self) -> None:
        """Start the threads; a crew that never works never has any."""
        self._inboxes = [SimpleQueue() for _ in range(1, self.size)]
        weakref.finalize(self, _send_home, self._inboxes)
        for context, inbox in enumerate(self._inboxes, start=1):
            Thread(target=_work, args=(context, inbox), name=f"context {context}", daemon=True).start()


def _work(context: int, inbox: SimpleQueue) -> None:
    """Do what comes in, and answer with None or (context, exception)."""
    while (job := inbox.get()) is not None:
        work, answers = job
        try:
            work(context)
        except BaseException as failure:  # noqa: BLE001  # it is raised again, on the calling thread
            answers.put((context, failure))
        else:
            answers.put(None)
        del job, work, answers


def _send_home(inboxes: list[SimpleQueue]) -> None:
    for inbox in inboxes:
        inbox.put(None)
