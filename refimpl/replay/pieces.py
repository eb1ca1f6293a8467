"""The kernel calls of a run, cut into pieces: machine code makes the calls of one piece, Python those of another."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from .native.native_calls import SIZES, form_of, walker

MOST_ELEMENTS = 1 << 22
"""The most elements that the arrays of a piece have in all: Ctrl-C is noticed between pieces."""


class Piece(NamedTuple):
    """The calls from number ``first`` up to, not including, ``last``.

    ``walk()`` makes them without the interpreter and returns how many succeeded before the first failure. It is None
    where Python makes the calls.
    """

    first: int
    last: int
    walk: Callable[[], int] | None


class Rows(NamedTuple):
    """The kernel calls of one run.

    For each call, ``steps`` has the number of its step and ``kernels`` its kernel as compiled by Numba, or None.
    ``pieces`` cover all calls. ``words`` are the calls as machine code reads them. ``place`` is (address of the words,
    number of calls) where machine code makes all calls, and (0, 0) elsewhere.
    """

    calls: list[partial]
    steps: list[int]
    kernels: list[Any]
    pieces: list[Piece]
    words: array | None = None
    place: tuple[int, int] = (0, 0)


class _Cut(NamedTuple):
    """The start of a piece: its first call, the place of that call in ``words``, and whether machine code makes it."""

    row: int
    word: int
    native: bool


@decides("Executor/walk")
def walked(rows: Rows) -> Rows:
    """The same calls, in pieces of which machine code makes as many as it can."""
    words = array("q")
    cuts = _cut(rows, words)
    if not words:
        return rows
    words.extend([0] * SIZES[-1])  # the last call, too, may read as many words as the largest size
    start, _ = words.buffer_info()
    ends = [*(cut.row for cut in cuts[1:]), len(rows.calls)]
    pieces = [
        Piece(row, last, partial(walker(), start + 8 * word, last - row) if native else None)
        for (row, word, native), last in zip(cuts, ends, strict=True)
    ]
    whole = all(cut.native for cut in cuts)
    return rows._replace(pieces=pieces, words=words, place=(start, len(rows.calls)) if whole else (0, 0))


def _cut(rows: Rows, words: array) -> list[_Cut]:
    """The starts of the pieces; the calls that machine code makes are appended to ``words``."""
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
