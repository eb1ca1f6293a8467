"""Pauses of Python's cyclic garbage collector, while something large is built that holds no garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Pauses:
    """How many threads are within a pause, and whether the first of them found the collector on."""

    lock = threading.Lock()
    count = 0
    was_on = False


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
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= 1
            if _Pauses.count == 0 and _Pauses.was_on:
                gc.enable()


__all__ = ["paused"]
