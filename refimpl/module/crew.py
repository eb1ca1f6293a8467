"""Contexts side by side: one piece of work per context, the first on the calling thread."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from operator import itemgetter
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
        for context in (0, *range(len(self._inboxes) + 1, self.size)):
            answers.put(_answer(work, context))
        failures = [failure for _ in range(self.size) if (failure := answers.get()) is not None]
        if failures:
            raise min(failures, key=itemgetter(0))[1]

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


def _work(context: int, inbox: SimpleQueue) -> None:
    """Do what comes in, and answer with None or (context, exception)."""
    while (job := inbox.get()) is not None:
        work, answers = job
        answers.put(_answer(work, context))
        del job, work, answers


def _answer(work: Callable[[int], object], context: int) -> tuple[int, BaseException] | None:
    """Do the work of one context; None, or what went wrong."""
    try:
        work(context)
    except BaseException as failure:  # noqa: BLE001  # it is raised again, on the calling thread
        return context, failure
    return None


def _send_home(inboxes: list[SimpleQueue]) -> None:
    for inbox in inboxes:
        inbox.put(None)
