"""Kernel calls that one thread makes for another, handed over through memory: without a lock, even Python's.

To wake a sleeping thread takes 30 microseconds and more, as long as a layer of a small network. So a thread that has
made its calls watches a word of memory for the next calls for a short while before it sleeps, and so does the thread
that waits for the calls. ``STATES`` lists the values of that word. Where both threads share a core, the watching
thread yields to the other.
"""

from __future__ import annotations

import platform
import threading
import weakref
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from ..foundation.buffer import LONG, aligned_empty
from ..foundation.forks import renew_in_child
from .native_calls import compiled, walk, word

STATES = {
    "asleep": "nobody watches; who orders has to wake the thread",
    "watching": "the thread watches, and has nothing to do",
    "ordered": "there are calls to be made, or being made",
    "awaited": "and somebody sleeps until they are made",
}
ASLEEP, WATCHING, ORDERED, AWAITED = range(len(STATES))

PLACE, COUNT, MADE = 8, 9, 10
"""Indices of the other words of a hand-over; word 0 is the state, in a cache line of its own."""

_WORD = ir.IntType(64)
_PAUSE = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else "llvm.aarch64.hint"


@intrinsic
def _state(typing, place):
    """Load the state (acquire): writes that came before it was set are visible."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(builder.inttoptr(args[0], _WORD.as_pointer()), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def _swap(typing, place, state):
    """Set the state; returns the previous state."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("xchg", builder.inttoptr(args[0], _WORD.as_pointer()), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _moved(typing, place, before, after):
    """Set the state to ``after`` if it is ``before``; returns whether it was."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], _WORD.as_pointer())
        found = builder.cmpxchg(place, args[1], args[2], "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(found, 1), _WORD)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _put(typing, place, index, value):
    """Write ``value`` into word ``index``."""

    def codegen(context, builder, signature, args):
        words = builder.inttoptr(args[0], _WORD.as_pointer())
        builder.store(args[2], builder.gep(words, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def _pause(typing):
    """Tell the processor that this thread watches memory."""

    def codegen(context, builder, signature, args):
        of_arm = "aarch64" in _PAUSE
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * of_arm)
        function = builder.module.declare_intrinsic(_PAUSE, fnty=kind)
        builder.call(function, [ir.IntType(32)(1)] * of_arm)  # 1: yield
        return context.get_dummy_value()

    return types.void(), codegen


_yield = types.ExternalFunction("sched_yield", types.int32())


@register_jitable
def _rest(turn):
    """One turn of a watching thread; every 64th turn yields, for the case of more threads than cores."""
    if turn % 64 == 0:
        _yield()
    else:
        _pause()


def _serve(place, turns):
    """Make ordered calls, until none came for ``turns`` turns.

    Returns 1 when the thread that ordered calls sleeps and has to be woken, 0 when this thread may sleep.
    """
    left = turns
    while True:
        state = _state(place)
        if state == ASLEEP:
            return 0
        if state != WATCHING:
            _put(place, MADE, walk(word(place, PLACE), word(place, COUNT)))
            if _swap(place, WATCHING) == AWAITED:
                return 1
            left = turns
        elif left > 0:
            _rest(left)
            left -= 1
        elif _moved(place, WATCHING, ASLEEP):
            return 0


def _watch(place, turns):
    """Wait for the ordered calls, for ``turns`` turns at most; returns whether they are made."""
    while _state(place) >= ORDERED:
        if turns <= 0:
            return 0
        _rest(turns)
        turns -= 1
    return 1


def _move(place, before, after):
    """Set the state to ``after`` if it is ``before``; returns whether it was."""
    return _moved(place, before, after)


def _share(place, first, count, second, other_count):
    """Make calls at two places, the second by the other thread if that watches; returns how many succeeded."""
    _put(place, PLACE, second)
    _put(place, COUNT, other_count)
    if _moved(place, WATCHING, ORDERED) == 0:
        return walk(first, count) + walk(second, other_count)
    made = walk(first, count)
    turns = 0
    while _state(place) >= ORDERED:
        turns += 1
        _rest(turns)
    return made + word(place, MADE)


class _Native(NamedTuple):
    """The four functions above as machine code."""

    serve: Callable[[int, int], int]
    watch: Callable[[int, int], int]
    move: Callable[[int, int, int], int]
    share: Callable[[int, int, int, int, int], int]


@cache
def _native() -> _Native:
    return _Native(compiled(_serve), compiled(_watch), compiled(_move), compiled(_share))


class _Latest(threading.local):
    """The hand-over that this thread used most recently."""

    hand_over: Callable[[], HandOver | None] = staticmethod(lambda: None)


    def after_fork(self) -> None:
        """Forget the hand-over: a forked child has none of the threads, though the state may say that one watches."""
        self.__dict__.clear()


_LATEST = _Latest()
renew_in_child(_LATEST)


def latest() -> HandOver | None:
    """The hand-over that this thread used most recently, or None while its calls are being made."""
    found = _LATEST.hand_over()
    return None if found is None or found.is_busy else found


class HandOver:
    """A channel from a thread that orders kernel calls to a thread that makes them.

    Args:
        wake: called when the other thread sleeps; it has to make that thread call :meth:`serve`.
        turns: how long either thread watches before it sleeps; a turn takes some 15 to 50 nanoseconds.
    """

    def __init__(self, wake: Callable[[], object], turns: int) -> None:
        self._wake, self._turns = wake, turns
        self._words = aligned_empty(LONG, np.int64)
        self._words[:] = 0
        self._place = self._words.__array_interface__["data"][0]
        self._told: SimpleQueue = SimpleQueue()
        self._held: Any = None
        self._native = _native()
        self.is_busy = False

    def serve(self) -> None:
        """Make ordered calls, until none has been ordered for a while."""
        while self._native.serve(self._place, self._turns):
            self._told.put(None)

    def order(self, place: tuple[int, int], held: Any) -> None:
        """Order the calls at ``place``, which is (address, number of calls); ``held`` keeps their arrays alive."""
        self._held = held
        self._words[PLACE], self._words[COUNT] = place
        self.is_busy = True
        _LATEST.hand_over = weakref.ref(self)
        if not self._native.move(self._place, WATCHING, ORDERED):
            self._native.move(self._place, ASLEEP, ORDERED)
            self._wake()

    def made(self) -> int:
        """Wait for the ordered calls; returns how many were made: fewer than ordered where one failed."""
        while not self._native.watch(self._place, self._turns):
            self._wake()  # an interruption may have come before the thread was woken
            if self._native.move(self._place, ORDERED, AWAITED) or self._words[0] == AWAITED:
                self._told.get()
        self.is_busy = False
        return int(self._words[MADE])

    def share(self, first: tuple[int, int], second: tuple[int, int]) -> int:
        """Make the calls at two places, (address, number of calls) each; returns how many succeeded.

        The other thread makes the second ones if it watches. No interrupt comes in between.
        """
        return self._native.share(self._place, *first, *second)

    def release(self) -> None:
        """Let the thread stop watching: its next work does not come through this hand-over."""
        self._native.move(self._place, WATCHING, ASLEEP)


__all__ = ["STATES", "HandOver", "latest"]
