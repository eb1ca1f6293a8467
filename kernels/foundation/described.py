"""Arrays without elements: a loop or kernel that is called with such an array records its call instead of running.

With these arrays a page shows which kernels it calls, and with which arguments, before any value is computed.
``refimpl/replay/asking.py`` makes the arrays; this file says what loops, kernels and working memory do with them.
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
    """Borrowed working memory: two loans under the same name and type are the same memory."""

    name: int | str
    size: int
    dtype: np.dtype


class Described:
    """A placeholder for the elements of a buffer. ``memory`` is the buffer's number, or its borrowed memory."""

    __slots__ = ("dtype", "memory", "notes", "size")

    _numba_type_ = _OPAQUE  # no kernel is compiled for it; see `note_calls`

    def __init__(self, memory: int | Borrowed, dtype: np.dtype, size: int, notes: Notes) -> None:
        self.memory, self.dtype, self.size, self.notes = memory, dtype, size, notes

    def __setitem__(self, place: slice, value: Any) -> None:
        if place != slice(None):
            raise TypeError("described memory has no parts")
        self.notes.append((None, (self, value)))

    def lend(self, sizes: Iterable[int], dtype: np.dtype) -> tuple[Buffer, ...]:
        """The working memory that ``scratch`` gives to a page that runs on described memory."""
        lent = [Borrowed(slot, size, dtype) for slot, size in enumerate(sizes)]
        return tuple(Buffer(Described(one, dtype, one.size, self.notes), (one.size,)) for one in lent)


class Notes(list):
    """The recorded calls: the loop or kernel, and its arguments."""

    answer: Callable[..., Any]
    """What runs in the place of a kernel."""
    is_guess = False


def note_calls(dispatcher: Any) -> None:
    """Make a compiled kernel record its calls with described memory; other calls are not slowed.

    Numba has no machine code for such an argument, asks for a compiled function, and calls the recording function that
    it gets.
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
    """The lender of working memory for the twins of this thread: None for the thread's own (``tuned/kernel.py``)."""

    notes: Notes | None = None


LENDER = _Lender()


def lent(name: str, size: int, dtype: np.dtype) -> Described:
    """The working memory that twins get while their calls are recorded."""
    assert LENDER.notes is not None
    return Described(Borrowed(name, size, dtype), dtype, size, LENDER.notes)


__all__ = ["LENDER", "Borrowed", "Described", "Notes", "lent", "note_calls"]
