"""Arrays without elements: a loop or kernel that is called with one notes its call instead of running.

So a page can be asked what it calls, and with what, before there is a value. Who asks (``refimpl/replay/asking.py``)
makes such arrays; here is only what loops, kernels and working memory do with them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numba
import numpy as np

from .buffer import Buffer

_OPAQUE = numba.types.Opaque("described")


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
    """Calls that are noted: of a loop or kernel, with arguments."""

    answer: Callable[..., Any]
    """What runs in the place of a kernel."""
    is_guess = False


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


def lent(name: str, size: int, dtype: np.dtype) -> Described:
    """The working memory that twins get while they are taken apart."""
    assert LENDER.notes is not None
    return Described(Borrowed(name, size, dtype), dtype, size, LENDER.notes)


__all__ = ["LENDER", "Borrowed", "Described", "Notes", "lent", "note_calls"]
