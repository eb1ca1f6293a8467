"""Which loops a page calls, and with what: found out without a value, so that the calls can be repeated.

The page runs on buffers whose elements are only :class:`Described`: they have a type and a number, and cannot be read.
A loop that gets such a buffer notes its call instead of running. A page that does anything else with elements (looks
at one, slices memory) fails on them. The calls of all others depend on nothing but parameters, shapes, types and the
active quirks: there is nothing else to depend on.

A bound program repeats more than a single call does (:func:`calls_of`). A page may also write one value, or other
elements, into whole buffers, call compiled kernels itself, and borrow memory. Twins are taken apart in the same way,
into the kernels that they call (:func:`repeatable_calls`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

from .buffer import Buffer
from .shapes import Shape

if TYPE_CHECKING:
    from .contract import Op

Page = Callable[[list[Any]], None]
"""What an operator does with its buffers, in their order; those that nobody wants are None."""

_OPAQUE = numba.types.Opaque("described")


class Memory(NamedTuple):
    """What is known of a buffer: arrays that are the same memory have one ``number``."""

    number: int
    shape: Shape
    dtype: np.dtype


class Borrowed(NamedTuple):
    """Memory that is borrowed: what is lent under the same name and type is the same memory."""

    name: int | str
    size: int
    dtype: np.dtype


class Described:
    """What stands for the elements of a buffer that has none. ``memory`` is its number, or what is borrowed."""

    __slots__ = ("dtype", "memory", "notes", "size")

    _numba_type_ = _OPAQUE  # no kernel is compiled for it; see `note_calls`

    def __init__(self, memory: int | Borrowed, dtype: np.dtype, size: int, notes: Notes) -> None:
        self.memory, self.dtype, self.size, self.notes = memory, dtype, size, notes

    def __setitem__(self, place: slice, value: Any) -> None:
        if place != slice(None):
            raise TypeError("described memory has no parts")
        self.notes.append((None, (self, value)))

    def lend(self, sizes: Iterable[int], dtype: np.dtype) -> tuple[Buffer, ...]:
        """What ``scratch`` gives to a page that runs on described memory."""
        lent = [Borrowed(slot, size, dtype) for slot, size in enumerate(sizes)]
        return tuple(Buffer(Described(one, dtype, one.size, self.notes), (one.size,)) for one in lent)


class Notes(list):
    """Calls that are noted: of a loop or kernel, with arguments. ``answer`` runs in the place of a kernel."""

    answer: Callable[..., Any]
    is_guess = False


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


def note_calls(dispatcher: Any) -> None:
    """Make a compiled kernel note its calls with described memory; other calls cost nothing more.

    Numba has no machine code for such an argument, asks for it to be made, and calls what it gets.
    """
    compile_for = dispatcher._compile_for_args

    @functools.wraps(compile_for)
    def note_or_compile(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if type(arg) is Described and not kwargs:
                arg.notes.append((dispatcher, args))
                return arg.notes.answer
        return compile_for(*args, **kwargs)

    dispatcher._compile_for_args = note_or_compile


class _Lender(threading.local):
    """Who lends working memory to the twins of this thread: None for the thread's own (``tuned/kernel.py``)."""

    notes: Notes | None = None


LENDER = _Lender()


@contextmanager
def _lending(notes: Notes) -> Iterator[None]:
    LENDER.notes = notes
    try:
        yield
    finally:
        LENDER.notes = None


def lent(name: str, size: int, dtype: np.dtype) -> Described:
    """The working memory that twins get while they are taken apart."""
    assert LENDER.notes is not None
    return Described(Borrowed(name, size, dtype), dtype, size, LENDER.notes)


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


def calls_of(op: Op, p: Any, ins: Sequence[Buffer], out: tuple[Shape, np.dtype]) -> list[LoopCall] | None:
    """What ``op.forward(p, *ins, out)`` on the CPU amounts to; None where it does more than call loops."""
    shapes = [*[(source.shape, source.flat.dtype) for source in ins], out]
    given = [Memory(number, shape, kind) for number, (shape, kind) in enumerate(shapes)]
    found = _told_twice(lambda b: op.forward(p, *op.full_inputs(p, b[:-1]), b[-1]), given, apart=False)
    return found if found is not None and all(map(_is_single, found)) else None


def _is_single(call: LoopCall) -> bool:
    """Whether a call is that of a loop which borrows nothing and sees no buffer under two shapes."""
    places = [arg for arg in call.args if type(arg) is Place]
    shapes = {place.memory: place.shape for place in places}
    return hasattr(call.loop, "has_twin_for") and not any(
        isinstance(place.memory, Borrowed) or place.shape != shapes[place.memory] for place in places
    )


def repeatable_calls(page: Page, given: Sequence[Memory | None]) -> list[LoopCall] | None:
    """What ``page`` on the CPU amounts to for buffers like ``given``; None where there is no saying so."""
    return _told_twice(page, given, apart=True)


def likely_calls(page: Page, given: Sequence[Memory | None]) -> list[LoopCall]:
    """What ``page`` calls for buffers like ``given`` where all numbers are finite, as far as there is saying so."""
    return _noted(page, given, _Guesses(), apart=True) or []


def _told_twice(page: Page, given: Sequence[Memory | None], *, apart: bool) -> list[LoopCall] | None:
    found, again = (_noted(page, given, Notes(), apart=apart) for _ in range(2))
    if not found or again is None or len(found) != len(again):
        return None
    return found if all(map(_are_same, found, again)) else None


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
