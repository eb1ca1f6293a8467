"""Threads that make parts of calls for whoever has some: the parts of one call, side by side.

A call in parts is one row of a table, made by ``_split``: it hands parts to threads that watch memory for them, makes
the first part itself, and every other part for which no thread is free. So a call never waits for a thread that does
something else, and a machine without free cores does all parts one after the other.

A worker's state has a cache line of its own. Who takes a worker that watches writes down the part before the worker
sees it; the worker says in the part itself that it is made, because by then it may serve somebody else. A part that its
worker has not begun is taken back by who has nothing else to do: the system may have stopped the worker's thread.
"""

from __future__ import annotations

import os
import sys
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import register_jitable

from . import cache as kernel_cache
from . import interrupts
from .buffer import LONG, aligned_empty
from .forks import own_lock, renew_in_child
from .hand_over import _moved, _put, _rest, _state, _swap
from .native_calls import SIZES, Form, compiled, walk, word
from .texts import UNCALLED_FROM_C

STATES = {
    "asleep": "the thread waits in Python",
    "watching": "the thread watches, and has nothing to do",
    "taken": "somebody writes down what is to be made",
    "ordered": "there is a part to be made",
    "begun": "the thread makes it",
}
ASLEEP, WATCHING, TAKEN, ORDERED, BEGUN = range(len(STATES))

PART, MADE, RUNS = 8, 9, 10
"""Words of a worker beside its state: where its part is written, how many it has made, and how many runs may have more.
"""

TURNS = 10_000
"""So many turns a thread watches after a run before it sleeps, and ``PATIENCE`` times as many while one lasts; a turn
takes some 15 to 50 nanoseconds.
"""
PATIENCE = 100


def _serve(place, turns):
    """Make the parts that are ordered, until no run has had any for so many turns."""
    left = turns * PATIENCE
    while True:
        state = _state(place)
        if state == ASLEEP:
            return 0
        if state == ORDERED and _moved(place, ORDERED, BEGUN):
            part = word(place, PART)
            made = walk(part + 8, 1)
            _put(place, MADE, word(place, MADE) + made)
            _swap(place, WATCHING)
            _swap(part, 1 + made)
            left = turns * PATIENCE
        elif left > 0 or state != WATCHING:
            _rest(left)
            left -= 1
            if left > turns and word(place, RUNS) == 0:
                left = turns
        elif _moved(place, WATCHING, ASLEEP):
            return 0


def _wake(place):
    """Say that a worker watches; whether it slept."""
    return _moved(place, ASLEEP, WATCHING)


@register_jitable
def _taken_back(worker, part):
    """Take a part back from its worker, who then does not look at it; whether it had not begun."""
    if _moved(worker, ORDERED, TAKEN) == 0:
        return False
    is_ours = word(worker, PART) == part
    _swap(worker, WATCHING if is_ours else ORDERED)
    return is_ours


def split(record):
    """Make the parts of a call. ``record`` has places, two by two: a worker's and that of the part which it may make.

    The first worker is none: this thread makes the first part. A part is a word that says when it is made, and a call.
    """
    parts = len(record) // 2
    for number in range(1, parts):
        worker, part = record[2 * number], record[2 * number + 1]
        _put(part, 0, 0)
        if _moved(worker, WATCHING, TAKEN):
            _put(worker, PART, part)
            _swap(worker, ORDERED)
        else:
            _put(part, 0, -1)
    made = walk(record[1] + 8, 1)
    for number in range(1, parts):
        worker, part = record[2 * number], record[2 * number + 1]
        if _state(part) < 0 or _taken_back(worker, part):
            _put(part, 0, -1)
            made += walk(part + 8, 1)
    for number in range(1, parts):
        part = record[2 * number + 1]
        turns = 0
        while _state(part) == 0:
            turns += 1
            _rest(turns)
        if _state(part) > 0:
            made += _state(part) - 1
    if made < parts:
        raise RuntimeError("a part of a kernel's call failed")


@cache
def splitter() -> tuple[Any, Any]:
    """:func:`split`: what has compiled it, and its machine code."""
    dispatcher = njit(nogil=True, error_model="numpy", **UNCALLED_FROM_C)(split)
    kernel_cache.enable(dispatcher)
    kind = types.Array(types.int64, 1, "C")
    with interrupts.held():
        dispatcher.compile((kind,))
    return dispatcher, dispatcher.overloads[(kind,)]


@cache
def _native() -> tuple[Any, Any]:
    return compiled(_serve), compiled(_wake)


class Workers:
    """The workers of this process: threads that start when they are first needed, and sleep when nothing is to do."""

    def __init__(self) -> None:
        self._lock = own_lock()
        self.words: list[np.ndarray] = []
        self._queues: list[SimpleQueue | None] = []
        renew_in_child(self)

    def places(self, count: int) -> list[int]:
        """Where the states of so many workers are; their threads need not have started."""
        with self._lock:
            while len(self.words) < count:
                words = aligned_empty(LONG, np.int64)
                words[:] = 0
                self.words.append(words)
                self._queues.append(None)
        return [words.__array_interface__["data"][0] for words in self.words[:count]]

    @contextmanager
    def watching(self, count: int) -> Iterator[None]:
        """Within this block so many workers watch, but no more than there are cores beside the one of this thread."""
        # When Python ends, none of its threads begins to run any more.
        watching = range(0 if sys.is_finalizing() else min(count, _cores() - 1))
        self._count_runs(watching, 1)
        try:
            yield
        finally:
            self._count_runs(watching, -1)

    def _count_runs(self, numbers: range, more: int) -> None:
        """Tell workers that a run begins or ends, and wake those that sleep when one begins."""
        serve, wake = _native()
        with self._lock:
            for number in numbers:
                words = self.words[number]
                words[RUNS] = max(0, words[RUNS] + more)  # a child that is forked within a run begins with none
                if more > 0 and words[0] == ASLEEP:
                    queue = self._queues[number] or self._started(number, serve)
                    place = words.__array_interface__["data"][0]
                    if queue is not None and wake(place):
                        queue.put(place)

    def after_fork(self) -> None:
        """No thread is there any more: this process is a child of the one that has them."""
        for number, words in enumerate(self.words):
            words[0], words[RUNS] = ASLEEP, 0
            self._queues[number] = None

    def _started(self, number: int, serve: Any) -> SimpleQueue | None:
        """The queue of a thread that has been started; None where the system has no more threads."""
        queue: SimpleQueue = SimpleQueue()

        def run() -> None:
            while True:
                serve(queue.get(), TURNS)

        try:
            threading.Thread(target=run, name=f"worker {number + 1}", daemon=True).start()
        except RuntimeError:  # the next run asks again
            return None
        self._queues[number] = queue
        return queue


WORKERS = Workers()


def written(form: Form, calls: Sequence[Sequence[Any]]) -> tuple[np.ndarray, list[array]]:
    """The record of a call in parts for :func:`split`, and the words of its parts, which it needs to be alive."""
    words = [array("q", [0, *form.written(args), *[0] * SIZES[-1]]) for args in calls]
    workers = [0, *WORKERS.places(len(calls) - 1)]
    pairs = zip(workers, (one.buffer_info()[0] for one in words), strict=True)
    return np.array([place for pair in pairs for place in pair], np.int64), words


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["STATES", "WORKERS", "Workers", "split", "splitter", "written"]
