"""The rows of a table, and the pieces in which they are made: by machine code where that can be, else by Python."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from .native.native_calls import SIZES, form_of, walker

MOST_ELEMENTS = 1 << 22
"""A piece ends where its arrays have more elements: Ctrl-C is noticed between pieces."""


class Piece(NamedTuple):
    """Rows from ``first`` to before ``last``.

    ``walk()`` makes their calls without the interpreter and returns how many it made: all, or those before one that
    failed. It is None where Python makes them.
    """

    first: int
    last: int
    walk: Callable[[], int] | None


class Rows(NamedTuple):
    """What one run calls.

    ``steps`` has the number of each call's step, ``kernels`` what Numba has compiled for it, or None. ``pieces`` cover
    all calls. ``words`` are the calls as machine code reads them; ``place`` is their address and their number where
    machine code makes all of them, and two zeros elsewhere.
    """

    calls: list[partial]
    steps: list[int]
    kernels: list[Any]
    pieces: list[Piece]
    words: array | None = None
    place: tuple[int, int] = (0, 0)


class _Cut(NamedTuple):
    """Where a piece begins: its first row, and the place of that in words; whether machine code makes it."""

    row: int
    word: int
    native: bool


@decides("Executor/walk")
def walked(rows: Rows) -> Rows:
    """The same rows, in pieces of which machine code makes as many as it can."""
    words = array("q")
    cuts = _cut(rows, words)
    if not words:
        return rows
    words.extend([0] * SIZES[-1])  # the last call is made with as many words as any
    start, _ = words.buffer_info()
    ends = [*(cut.row for cut in cuts[1:]), len(rows.calls)]
    pieces = [
        Piece(row, last, partial(walker(), start + 8 * word, last - row) if native else None)
        for (row, word, native), last in zip(cuts, ends, strict=True)
    ]
    whole = all(cut.native for cut in cuts)
    return rows._replace(pieces=pieces, words=words, place=(start, len(rows.calls)) if whole else (0, 0))


def _cut(rows: Rows, words: array) -> list[_Cut]:
    """Where the pieces begin; ``words`` gets the calls that machine code makes."""
    forms: dict[int, Any] = {}
    cuts: list[_Cut] = []
    left = 0
    for number, (call, kernel) in enumerate(zip(rows.calls, rows.kernels, strict=True)):
        if id(kernel) not in forms:
            forms[id(kernel)] = kernel and form_of(kernel)
        form = forms[id(kernel)]
        size = sum(arg.size for arg in call.args if isinstance(arg, np.ndarray))
        if not cuts or cuts[-1].native != bool(form) or (form and size > left):
            cuts.append(_Cut(number, len(words), bool(form)))
            left = MOST_ELEMENTS
        left -= size
        if form:
            words.extend(form.written(call.args))
    return cuts


__all__ = ["MOST_ELEMENTS", "Piece", "Rows", "walked"]
