"""What all replays share: when something is recorded, what a recording is, and how it runs.

Something is recorded at its second time, so that what never repeats costs no more than a hash (:class:`Recorder`). A
recording is the list of kernels that a page calls, with the arguments of each; where an argument is memory of the
call, it has the number of that memory (:class:`Recording`).
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
    """What was recorded, by everything that it depends on: its key.

    Args:
        limit: all is forgotten when so much was recorded.
        seen: all keys of things that came once are forgotten when there are so many.
    """

    def __init__(self, limit: int, seen: int) -> None:
        self.made: dict[Hashable, Made | None] = {}
        """None: it cannot be recorded."""
        self._limit, self._most_seen = limit, seen
        self._seen: set[int] = set()

    def is_due(self, key: Hashable) -> bool:
        """Whether this is the second time that ``key`` comes, and nothing is recorded yet."""
        if key in self.made:
            return False
        number = hash(key)  # two keys with one hash are recorded a time too early, which does no harm
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
        """Remember what was recorded."""
        if len(self.made) >= self._limit:
            self.made.clear()
        self.made[key] = made
        return made

    def forget(self) -> None:
        """Record everything anew."""
        self.made.clear()
        self._seen.clear()


class _Kernel(NamedTuple):
    """A kernel or a twin; its arguments that are no memory, and how memory and these come into its order."""

    run: Any
    constants: tuple
    pick: Callable[[tuple], tuple] | None
    """None where they are in its order."""
    shapes: tuple[tuple[int, tuple[int, ...]], ...]
    """The arguments of a twin that are buffers, by place, with the shape under which it sees them."""


class Recording:
    """Kernels that a page calls one after the other.

    ``run(flats)`` calls them with the flat arrays in the place of the memory that the page had.
    """

    __slots__ = ("_kernels",)

    def __init__(self, kernels: Sequence[_Kernel]) -> None:
        self._kernels = [tuple(kernel) for kernel in kernels]  # Python takes plain tuples apart in half the time

    @staticmethod
    def of(calls: Sequence[LoopCall] | None, memories: int) -> Recording | None:
        """The recording of ``calls`` over so many memories; None where one borrows memory, or calls no kernel."""
        if not calls or not all(map(_is_lone, calls)):
            return None
        return Recording([_kernel(call, memories) for call in calls])

    def run(self, flats: Sequence[np.ndarray]) -> None:
        """Call the kernels over this memory."""
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
    """Whether a call is that of a kernel, and needs no other memory than that of the page."""
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
