"""Which loops a page calls, and with what: found out without a value, so that the calls can be repeated.

The page runs on buffers whose elements are only described (``kernels/foundation/described.py``): they have a type and
a number, and cannot be read. A loop that gets such a buffer notes its call instead of running. A page that does
anything else with elements (looks at one, slices memory) fails on them. The calls of all others depend on nothing but
parameters, shapes, types and the active quirks: there is nothing else to depend on.

A page may also write one value, or other elements, into whole buffers, call compiled kernels itself, and borrow memory.
Twins are taken apart in the same way, into the kernels that they call (:func:`repeatable_calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..kernels.foundation import Buffer
from ..kernels.foundation.described import LENDER, Borrowed, Described, Notes
from ..kernels.foundation.shapes import Shape

Page = Callable[[list[Any]], None]
"""What an operator does with its buffers, in their order; those that nobody wants are None."""


class Memory(NamedTuple):
    """What is known of a buffer: arrays that are the same memory have one ``number``."""

    number: int
    shape: Shape
    dtype: np.dtype


class Unknown:
    """What a kernel would return: nobody may look at it."""

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("the kernel has not run")

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # nor may a table


def _give_nothing(*_: Any) -> Unknown:
    return Unknown()


class _Guesses(Notes):
    """Calls that are likely: a kernel that answers says yes, and what is noted before a page fails is kept."""

    answer = staticmethod(lambda *_: True)  # twins ask whether all numbers are finite
    is_guess = True


Notes.answer = staticmethod(_give_nothing)


@contextmanager
def _lending(notes: Notes) -> Iterator[None]:
    LENDER.notes = notes
    try:
        yield
    finally:
        LENDER.notes = None


class Place(NamedTuple):
    """An argument that is memory: one of the page's by its number, or a borrowed one.

    ``shape`` is what a twin, which takes a buffer, sees of it; None for a loop, which gets the flat elements.
    """

    memory: int | Borrowed
    shape: Shape | None


class LoopCall(NamedTuple):
    """A loop that a page calls; whether its twin runs, which takes buffers, and the arguments.

    These are places, tables that the page keeps, numbers and geometries, as the form of the loop that runs takes them.
    Instead of a loop there may be a compiled kernel, or None: then the first argument is overwritten with the second.
    """

    loop: Any
    by_twin: bool
    args: list[Any]


def repeatable_calls(page: Page, given: Sequence[Memory | None], *, apart: bool) -> list[LoopCall] | None:
    """What ``page`` on the CPU amounts to for buffers like ``given``; None where there is no saying so.

    Args:
        page: what runs.
        given: its buffers.
        apart: whether twins are taken apart into the kernels that they call, with the memory that they borrow.
    """
    found, again = (_noted(page, given, Notes(), apart=apart) for _ in range(2))
    if not found or again is None or len(found) != len(again):
        return None
    return found if all(map(_are_same, found, again)) else None


def likely_calls(page: Page, given: Sequence[Memory | None]) -> list[LoopCall]:
    """What ``page`` calls for buffers like ``given`` where all numbers are finite, as far as there is saying so."""
    return _noted(page, given, _Guesses(), apart=True) or []


def _noted(page: Page, given: Sequence[Memory | None], notes: Notes, *, apart: bool) -> list[LoopCall] | None:
    memory: dict[int, Described] = {}
    for one in given:
        if one is not None and one.number not in memory:
            memory[one.number] = Described(one.number, one.dtype, prod(one.shape), notes)
    try:
        page([None if one is None else Buffer(memory[one.number], one.shape) for one in given])
    except Exception:  # noqa: BLE001  # it wanted elements, and what that leads to is the page's affair
        if not notes.is_guess:
            return None
    return [call for loop, args in list(notes) for call in _calls(loop, args, notes if apart else None)]


def _calls(loop: Any, given: Sequence[Any], notes: Notes | None) -> list[LoopCall]:
    """A noted call with places where it has described memory; that of a twin taken apart if there are ``notes``."""
    if not hasattr(loop, "has_twin_for"):
        return [_placed(loop, given)]
    if not loop.has_twin_for(given):
        return [_placed(loop, loop.unwrapped(given))]
    whole = [_placed(loop, given, by_twin=True)]
    if notes is None:
        return whole
    notes.clear()
    try:
        with _lending(notes):
            loop._tuned(*given)
    except Exception:  # noqa: BLE001  # it wanted elements, or parts of memory: then it stays whole
        if not notes.is_guess:
            return whole
    return [call for kernel, args in list(notes) for call in _calls(kernel, args, notes)]


def _placed(loop: Any, args: Sequence[Any], *, by_twin: bool = False) -> LoopCall:
    return LoopCall(loop, by_twin, [_place(arg) for arg in args])


def _place(arg: Any) -> Any:
    if type(arg) is Described:
        return Place(arg.memory, None)
    if type(arg) is Buffer and type(arg.flat) is Described:
        return Place(arg.flat.memory, arg.shape)
    return arg


def _are_same(one: LoopCall, other: LoopCall) -> bool:
    """Whether two calls are one, with arguments that are lent to nobody else."""
    if one.loop is not other.loop or len(one.args) != len(other.args):
        return False
    return all(map(_is_same, one.args, other.args))


def _is_same(one: Any, other: Any) -> bool:
    """Whether an argument was the same twice: a table must be the very same object, since borrowed memory never is."""
    if type(one) is Place:
        return type(other) is Place and one == other
    if isinstance(one, Buffer) or (isinstance(one, np.ndarray) and one.ndim):
        return one is other
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_is_same, one, other))
    return one is None or isinstance(one, (int, float, np.generic, np.ndarray))


__all__ = ["LoopCall", "Memory", "Page", "Place", "likely_calls", "repeatable_calls"]
