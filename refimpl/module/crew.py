"""Contexts side by side: one piece of work per context, the first on the calling thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Crew:
    """One thread per context beyond the first.

    Kernels release Python's lock, so contexts really run at the same time. Each piece of work writes
    only arrays of its own context: the result is the same as running them one after the other.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size - 1, "context") if size > 1 else None

    def run(self, work: Callable[[int], object]) -> None:
        """Call ``work(i)`` for each context i and return when all are done.

        An exception is raised here once every context has stopped; the lowest context speaks first.
        """
        if self._pool is None:
            work(0)
            return
        others = [self._pool.submit(work, index) for index in range(1, self.size)]
        try:
            work(0)
        finally:
            failures = [failure for other in others if (failure := other.exception()) is not None]
        if failures:
            raise failures[0]
