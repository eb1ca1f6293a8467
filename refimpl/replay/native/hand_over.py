"""Calls that one thread makes for another, handed over through memory: no lock, and no waiting for Python's.

To wake a thread that sleeps takes 30 microseconds and more, as long as a small network's layer. So a thread that has
made its calls watches a word of memory for the next ones, for a short while, and so does the thread that waits for the
calls to be made. Only then do they sleep. ``STATES`` has what the word says. Where both have one core, who watches lets
the other one run.
"""

from __future__ import annotations

import platform
import threading
import weakref
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from ...kernels.foundation.buffer import LONG, aligned_empty
from ...kernels.foundation.forks import renew_in_child
from .native_calls import SIZES, compiled, walk, word

STATES = {
    "asleep": "nobody watches; who orders has to wake the thread",
    "watching": "the thread watches, and has nothing to do",
    "ordered": "there are calls to be made, or being made",
    "awaited": "and somebody sleeps until they are made",
}
ASLEEP, WATCHING, ORDERED, AWAITED = range(len(STATES))

PLACE, COUNT, MADE = 8, 9, 10
"""Words of a hand-over beside its state, which has a cache line of its own."""

_WORD = ir.IntType(64)
_PAUSE = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else "llvm.aarch64.hint"


@intrinsic
def _state(typing, place):
    """The state, with all that was written before it."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(builder.inttoptr(args[0], _WORD.as_pointer()), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def _swap(typing, place, state):
    """Put another state; the one before."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("xchg", builder.inttoptr(args[0], _WORD.as_pointer()), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _moved(typing, place, before, after):
    """Put the state ``after`` if it is ``before``; whether it was."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], _WORD.as_pointer())
        found = builder.cmpxchg(place, args[1], args[2], "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(found, 1), _WORD)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _put(typing, place, index, value):
    """Write a word."""

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
    """One turn of a thread that watches; now and then it lets others run, where there are more threads than cores."""
    if turn % 64 == 0:
        _yield()
    else:
        _pause()


def _serve(place, turns):
    """Make what is ordered, until nothing was for so many turns. 1: somebody sleeps who has to be told."""
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
    """Wait until all is made, for so many turns at most; whether it is."""
    while _state(place) >= ORDERED:
        if turns <= 0:
            return 0
        _rest(turns)
        turns -= 1
    return 1


def _move(place, before, after):
    """Put the state ``after`` if it is ``before``; whether it was."""
    return _moved(place, before, after)


def _share(place, first, second):
    """Make two calls, the second one by the thread that watches, if it does; when both are made, how many were."""
    _put(place, PLACE, second)
    _put(place, COUNT, 1)
    if _moved(place, WATCHING, ORDERED) == 0:
        return walk(first, 1) + walk(second, 1)
    made = walk(first, 1)
    turns = 0
    while _state(place) >= ORDERED:
        turns += 1
        _rest(turns)
    return made + word(place, MADE)


class _Native(NamedTuple):
    """The functions as machine code."""

    serve: Callable[[int, int], int]
    watch: Callable[[int, int], int]
    move: Callable[[int, int, int], int]
    share: Callable[[int, int, int], int]


@cache
def _native() -> _Native:
    return _Native(compiled(_serve), compiled(_watch), compiled(_move), compiled(_share))


class _Latest(threading.local):
    """What this thread handed calls over to most recently."""

    hand_over: Callable[[], HandOver | None] = staticmethod(lambda: None)


    def after_fork(self) -> None:
        """Forget it: a child of this process has none of its threads, though memory says that they watch."""
        self.__dict__.clear()


_LATEST = _Latest()
renew_in_child(_LATEST)


def latest() -> HandOver | None:
    """What this thread handed calls over to most recently, if all of them are made."""
    found = _LATEST.hand_over()
    return None if found is None or found.is_busy else found


class HandOver:
    """From one thread, which orders calls, to another, which makes them.

    Args:
        wake: called where the other thread sleeps: it has to call :meth:`serve` then.
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
        """Make what is ordered, until nothing has been ordered for a while."""
        while self._native.serve(self._place, self._turns):
            self._told.put(None)

    def order(self, place: tuple[int, int], held: Any) -> None:
        """Have calls made that are written at an address, so many; ``held`` is what they need to be alive."""
        self._held = held
        self._words[PLACE], self._words[COUNT] = place
        self.is_busy = True
        _LATEST.hand_over = weakref.ref(self)
        if not self._native.move(self._place, WATCHING, ORDERED):
            self._native.move(self._place, ASLEEP, ORDERED)
            self._wake()

    def made(self) -> int:
        """Wait for the calls; how many were made: fewer than were ordered where one failed."""
        while not self._native.watch(self._place, self._turns):
            self._wake()  # an interruption may have come before the thread was woken
            if self._native.move(self._place, ORDERED, AWAITED) or self._words[0] == AWAITED:
                self._told.get()
        self.is_busy = False
        return int(self._words[MADE])

    def share(self, first: Sequence[int], second: Sequence[int]) -> None:
        """Make two calls, the second on the other thread if it watches. No interruption comes in between."""
        words = array("q", [*first, *second, *[0] * SIZES[-1]])
        place, _ = words.buffer_info()
        if self._native.share(self._place, place, place + 8 * len(first)) < 2:
            raise RuntimeError("a kernel failed")

    def release(self) -> None:
        """Let the thread watch no longer: its next work does not come from here."""
        self._native.move(self._place, WATCHING, ASLEEP)


__all__ = ["STATES", "HandOver", "latest"]
