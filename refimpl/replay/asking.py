"""Asks a page which loops it calls, with which arguments, without any element values.

The page runs on buffers whose elements are only described (``kernels/foundation/described.py``): a buffer has a dtype
and a size, but no element that can be read. A loop that gets such a buffer notes its call instead of running. A page
that reads an element or slices memory raises. The calls of every other page can depend only on parameters, shapes,
dtypes and the active quirks, so they can be repeated.

A page may also fill a whole buffer with one value or from another buffer, call compiled kernels itself, and borrow
memory. A twin is asked in the same way for the kernels that it calls (:func:`repeatable_calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..kernels.foundation import Buffer
from ..kernels.foundation.described import LENDER, Borrowed, Described, Notes
from ..kernels.foundation.shapes import Shape

Page = Callable[[list[Any]], None]
"""Runs an operator on its buffers, in their order; an output that nobody wants is None."""


class Memory(NamedTuple):
    """The description of a buffer; buffers over the same memory have the same ``number``."""

    number: int
    shape: Shape
    dtype: np.dtype


class Unknown:
    """Stands for the value that a kernel would return; every use of it raises TypeError."""

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("the kernel has not run")

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # nor may a dict or set use it


class _Guesses(Notes):
    """Likely calls: a kernel that returns a value returns True, and calls noted before a page fails are kept."""

    answer = staticmethod(lambda *_: True)  # twins ask whether all numbers are finite
    is_guess = True


Notes.answer = staticmethod(lambda *_: Unknown())


class Place(NamedTuple):
    """An argument that is memory: a buffer of the page, by its number, or borrowed memory.

    ``shape`` is the shape of the buffer that a twin takes; None for a loop, which takes the flat array.
    """

    memory: int | Borrowed
    shape: Shape | None


class LoopCall(NamedTuple):
    """The call of a loop by a page: the loop, whether its twin runs instead, and the arguments.

    Arguments are places, tables that the page keeps, numbers and geometries; a twin takes buffers, a loop flat arrays.
    ``loop`` may also be a compiled kernel, or None: then the second argument is copied into the first.
    """

    loop: Any
    by_twin: bool
    args: list[Any]


_LOOP, _ARGS = attrgetter("loop"), attrgetter("args")


def repeatable_calls(page: Page, given: Sequence[Memory | None], *, apart: bool) -> list[LoopCall] | None:
    """The calls of ``page`` on the CPU for buffers like ``given``; None where they cannot be known or repeated.

    Args:
        page: the page; it runs twice, and both runs have to make the same calls.
        given: descriptions of its buffers.
        apart: whether the call of a twin is replaced by the calls of its kernels, with the memory that it borrows.
    """
    found, again = (noted(page, given, Notes(), apart=apart) for _ in range(2))
    if not found or again is None or [*map(_LOOP, found)] != [*map(_LOOP, again)]:
        return None
    return found if all(map(_is_same, map(_ARGS, found), map(_ARGS, again))) else None


def likely_calls(page: Page, given: Sequence[Memory | None]) -> list[LoopCall]:
    """The calls of ``page`` for buffers like ``given`` if all elements are finite, up to the page's first error."""
    return noted(page, given, _Guesses(), apart=True) or []


def noted(page: Page, given: Sequence[Memory | None], notes: Notes, *, apart: bool) -> list[LoopCall] | None:
    """The calls of one run of ``page``; the arguments are those of :func:`repeatable_calls`. None where it fails."""
    memory: dict[int, Described] = {}
    for one in given:
        if one is not None and one.number not in memory:
            memory[one.number] = Described(one.number, one.dtype, prod(one.shape), notes)
    try:
        page([None if one is None else Buffer(memory[one.number], one.shape) for one in given])
    except Exception:  # noqa: BLE001  # the page read elements; any error may follow
        if not notes.is_guess:
            return None
    return [call for loop, args in list(notes) for call in _calls(loop, args, notes if apart else None)]


def _calls(loop: Any, given: Sequence[Any], notes: Notes | None) -> list[LoopCall]:
    """A noted call with places for described memory; with ``notes``, a twin's call as the calls of its kernels."""
    if not hasattr(loop, "has_twin_for"):
        return [_placed(loop, given)]
    if not loop.has_twin_for(given):
        return [_placed(loop, loop.unwrapped(given))]
    whole = [_placed(loop, given, by_twin=True)]
    if notes is None:
        return whole
    notes.clear()
    LENDER.notes = notes
    try:
        loop._tuned(*given)
    except Exception:  # noqa: BLE001  # the twin read elements or slices: keep its call whole
        if not notes.is_guess:
            return whole
    finally:
        LENDER.notes = None
    return [call for kernel, args in list(notes) for call in _calls(kernel, args, notes)]


def _placed(loop: Any, args: Sequence[Any], *, by_twin: bool = False) -> LoopCall:
    return LoopCall(loop, by_twin, [_place(arg) for arg in args])


def _place(arg: Any) -> Any:
    if type(arg) is Described:
        return Place(arg.memory, None)
    if type(arg) is Buffer and type(arg.flat) is Described:
        return Place(arg.flat.memory, arg.shape)
    return arg


def _is_same(one: Any, other: Any) -> bool:
    """Whether an argument of two calls is the same, or a list of arguments.

    Tables must be one object, which temporary memory never is. Numbers follow from parameters and shapes.
    """
    if type(one) is Place:
        return one == other
    if isinstance(one, (tuple, list)):
        return isinstance(other, type(one)) and len(one) == len(other) and all(map(_is_same, one, other))
    return one is other or isinstance(one, (int, float, np.generic)) or (isinstance(one, np.ndarray) and not one.ndim)


__all__ = ["LoopCall", "Memory", "Page", "Place", "likely_calls", "noted", "repeatable_calls"]
