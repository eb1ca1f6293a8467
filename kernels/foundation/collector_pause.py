"""Pauses of Python's cyclic garbage collector, while something large is built that holds no garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .forks import own_lock, renew_in_child


class _Pauses:
    """How many threads are within a pause, and whether the first of them found the collector on."""

    here = threading.local()  # .count is how many pauses this thread is within
    lock = own_lock()
    count = 0
    was_on = False

    def after_fork(self) -> None:
        """Forget the pauses of other threads: nobody would end them."""
        if _Pauses.count:
            _Pauses.count = getattr(self.here, "count", 0)
            if _Pauses.count == 0 and _Pauses.was_on:
                gc.enable()


_PAUSES = _Pauses()
renew_in_child(_PAUSES)


@contextmanager
def paused() -> Iterator[None]:
    """No automatic collection within this block, in any thread; the last block to end turns the collector on again.

    A collector that was off stays off.
    """
    with _Pauses.lock:
        if _Pauses.count == 0:
            _Pauses.was_on = gc.isenabled()
            gc.disable()
        _Pauses.count += 1
        _Pauses.here.count = getattr(_Pauses.here, "count", 0) + 1
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= 1
            _Pauses.here.count -= 1
            if _Pauses.count == 0 and _Pauses.was_on:
                gc.enable()


class Seldom:
    """Collects now and then within a pause, for long work: young objects often, all objects seldom.

    A collector that was off before the pause stays off.
    """

    OFTEN, ALL = 64, 4096
    """After so many pieces of work young garbage is collected, and all of it."""

    def __init__(self) -> None:
        self._pieces = 0

    def done(self) -> None:
        """A piece of work is done."""
        self._pieces += 1
        if _Pauses.was_on and self._pieces % self.OFTEN == 0:
            gc.collect(2 if self._pieces % self.ALL == 0 else 1)


__all__ = ["Seldom", "paused"]
