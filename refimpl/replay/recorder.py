"""The part that all replays share: when a call is recorded, what a recording holds, and how it runs.

A call is recorded when its key comes for the second time, so that a call that never repeats costs no more than a hash
(:class:`Recorder`). A recording is the list of kernels that a page calls, with the arguments of each kernel; an
argument that is a buffer of the page is recorded as the number of that buffer (:class:`Recording`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..kernels.foundation import Buffer, Loop
from ..kernels.foundation.described import Borrowed
from .asking import LoopCall, Place

Made = TypeVar("Made")


class Recorder(Generic[Made]):
    """Recordings by key; a key holds everything that the recording depends on.

    Args:
        limit: the most recordings; the next one after them clears the recorder.
        seen: the most keys that came once; the next one after them clears the list of these keys.
    """

    def __init__(self, limit: int, seen: int) -> None:
        self.made: dict[Hashable, Made | None] = {}
        """None under a key whose call cannot be recorded."""
        self._limit, self._most_seen = limit, seen
        self._seen: set[int] = set()

    def is_due(self, key: Hashable) -> bool:
        """Whether ``key`` comes for the second time and has no recording yet."""
        if key in self.made:
            return False
        number = hash(key)  # of two keys with one hash the second is recorded at its first time: no harm
        if number in self._seen:
            return True
        if len(self._seen) >= self._most_seen:
            self._seen.clear()
        self._seen.add(number)
        return False

    def has_seen(self, key: Hashable) -> bool:
        """Whether ``key`` has come before."""
        return key in self.made or hash(key) in self._seen

    def keep(self, key: Hashable, made: Made | None) -> Made | None:
        """Store a recording, or None where the call cannot be recorded, and return it."""
        if len(self.made) >= self._limit:
            self.made.clear()
        self.made[key] = made
        return made

    def forget(self) -> None:
        """Drop all recordings and all keys."""
        self.made.clear()
        self._seen.clear()


class _Kernel(NamedTuple):
    """A kernel or a twin, its constant arguments, and how to put buffers and constants into the order it takes."""

    run: Any
    constants: tuple
    pick: Callable[[tuple], tuple] | None
    """Reorders (buffers, constants); None where the kernel takes them in that order."""
    shapes: tuple[tuple[int, tuple[int, ...]], ...]
    """(place of the argument, shape) for each argument that a twin takes as a buffer instead of a flat array."""


class Recording:
    """The kernels that a page calls one after the other, to be called again on other flat arrays."""

    __slots__ = ("_kernels",)

    def __init__(self, kernels: Sequence[_Kernel]) -> None:
        self._kernels = [tuple(kernel) for kernel in kernels]  # Python unpacks plain tuples in half the time

    @staticmethod
    def of(calls: Sequence[LoopCall] | None, memories: int) -> Recording | None:
        """The recording of ``calls`` on that many buffers; None where a call borrows memory or runs no kernel."""
        if not calls or not all(map(_is_lone, calls)):
            return None
        return Recording([_kernel(call, memories) for call in calls])

    def run(self, flats: Sequence[np.ndarray]) -> None:
        """Call the kernels with these flat arrays in the place of the page's buffers."""
        for run, constants, pick, shapes in self._kernels:
            given: Any = (*flats, *constants)
            if pick is not None:
                given = pick(given)
            if shapes:
                given = [*given]
                for place, shape in shapes:
                    given[place] = Buffer(given[place], shape)
            run(*given)


def _is_lone(call: LoopCall) -> bool:
    """Whether a call runs a kernel on the page's own buffers only, without borrowed memory."""
    places = [arg for arg in call.args if type(arg) is Place]
    return call.loop is not None and len(call.args) > 1 and not any(isinstance(p.memory, Borrowed) for p in places)


def _kernel(call: LoopCall, memories: int) -> _Kernel:
    constants = tuple(arg for arg in call.args if type(arg) is not Place)
    after = iter(range(memories, memories + len(constants)))
    order: list[Any] = [arg.memory if type(arg) is Place else next(after) for arg in call.args]
    run = call.loop._tuned if call.by_twin else call.loop.cpu if isinstance(call.loop, Loop) else call.loop
    pick = None if order == [*range(memories + len(constants))] else itemgetter(*order)
    shapes = [(at, arg.shape) for at, arg in enumerate(call.args) if type(arg) is Place and arg.shape is not None]
    return _Kernel(run, constants, pick, tuple(shapes))


__all__ = ["Recorder", "Recording"]
