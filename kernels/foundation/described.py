"""Which loops a page's forward calls, and with what: found out without a value, so that the calls can be repeated.

Forward runs on buffers whose elements are only :class:`Described`: they have a type and a number, and cannot be read
or written. A loop that gets such a buffer notes its call instead of running. A page that does anything else with
elements (looks at one, fills or slices memory) fails on them. The calls of all others depend on nothing but
parameters, shapes, types and the active quirks: there is nothing else to depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .buffer import Buffer
from .contract import Op
from .shapes import Shape

if TYPE_CHECKING:
    from .loop import Loop


class Described:
    """What stands for the elements of a buffer that has none."""

    __slots__ = ("calls", "dtype", "size")

    def __init__(self, dtype: np.dtype, size: int, calls: list[tuple[Loop, tuple]]) -> None:
        self.dtype, self.size, self.calls = dtype, size, calls

    @property
    def _numba_type_(self) -> Any:
        """Numba asks for it before it compiles for an argument of unknown type: no kernel can have this one."""
        raise TypeError("described memory has no elements")


class Place(int):
    """An argument that is an input, or the output, whose number follows those of the inputs."""


class LoopCall(NamedTuple):
    """A loop that a page calls; whether its twin runs, which takes buffers, and the arguments.

    These are places, tables that the page keeps, numbers and geometries, as the form of the loop that runs takes them.
    """

    loop: Loop
    by_twin: bool
    args: list[Any]


def calls_of(op: Op, p: Any, ins: Sequence[Buffer], out: tuple[Shape, np.dtype]) -> list[LoopCall] | None:
    """What ``op.forward(p, *ins, out)`` on the CPU amounts to; None where it does more than call loops."""
    found, again = (_noted(op, p, ins, out) for _ in range(2))
    if not found or again is None or len(found) != len(again):
        return None
    return found if all(map(_are_same, found, again)) else None


def _noted(op: Op, p: Any, ins: Sequence[Buffer], out: tuple[Shape, np.dtype]) -> list[LoopCall] | None:
    calls: list[tuple[Loop, tuple]] = []
    shapes = [*[(source.shape, source.flat.dtype) for source in ins], out]
    buffers = [Buffer(Described(kind, prod(shape), calls), shape) for shape, kind in shapes]
    try:
        op.forward(p, *op.full_inputs(p, buffers[:-1]), buffers[-1])
    except Exception:  # noqa: BLE001  # it wanted elements, and what that leads to is the page's affair
        return None
    return [_placed(loop, args, buffers) for loop, args in calls]


def _placed(loop: Loop, given: Sequence[Any], buffers: list[Buffer]) -> LoopCall:
    """A noted call with numbers where it has inputs or the output; a twin knows these by their shapes too."""
    memory, by_twin = [buffer.flat for buffer in buffers], loop.has_twin_for(given)
    args = list(given) if by_twin else loop.unwrapped(given)
    for position, arg in enumerate(args):
        flat = arg.flat if type(arg) is Buffer else arg
        if type(flat) is Described:
            number = memory.index(flat)
            if not by_twin or arg.shape == buffers[number].shape:
                args[position] = Place(number)
    return LoopCall(loop, by_twin, args)


def _are_same(one: LoopCall, other: LoopCall) -> bool:
    """Whether two calls are one, with arguments that are lent to nobody else."""
    if one.loop is not other.loop or len(one.args) != len(other.args):
        return False
    return all(map(_is_same, one.args, other.args))


def _is_same(one: Any, other: Any) -> bool:
    """Whether an argument was the same twice: a table must be the very same object, since borrowed memory never is."""
    if type(one) is Place:
        return type(other) is Place and one == other
    if isinstance(one, (Buffer, np.ndarray)):
        return one is other
    return one is None or isinstance(one, (int, float, np.generic, tuple))
