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
    promoted = 0


MOST_PROMOTED = 2_000_000
"""So many objects are called old, and then all are looked through."""


@contextmanager
def paused() -> Iterator[None]:
    """No automatic collection within this block, in any thread; the last block to end turns the collector on again.

    A collector that was off stays off. What was made since counts as old then: the next collection of young objects
    would look at all of it, and find it in use.
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
                _promote()
                gc.enable()


def _promote() -> None:
    """Let all objects count as old, without a look at any."""
    if gc.get_freeze_count():  # a user keeps objects out of collections, and they stay out
        return
    _Pauses.promoted += gc.get_count()[0]
    gc.freeze()
    gc.unfreeze()
    if _Pauses.promoted > MOST_PROMOTED:  # Python does not count them when it decides whether to look at old objects
        _Pauses.promoted = 0
        gc.collect()


__all__ = ["paused"]
