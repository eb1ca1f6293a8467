"""The kernel calls of a run, cut into pieces: machine code makes the calls of one piece, Python those of another."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..base import decides
from ..kernels.tuned.native_calls import SIZES, walker, written

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

    For each call, ``steps`` has the number of its step and ``codes`` the address of its machine code, or None.
    ``pieces`` cover all calls. ``words`` are the calls as machine code reads them. ``place`` is (address of the words,
    number of calls) where machine code makes all calls, and (0, 0) elsewhere.
    """

    calls: list[partial]
    steps: list[int]
    codes: list[int | None]
    pieces: list[Piece]
    words: array | None = None
    place: tuple[int, int] = (0, 0)


@decides("Executor/walk")
def walked(rows: Rows) -> Rows:
    """The same calls, in pieces of which machine code makes as many as it can."""
    words, left = array("q"), 0
    cuts: list[tuple[int, int, bool]] = []  # the first call of a piece, its place in the words, whether it has one
    for number, (call, code) in enumerate(zip(rows.calls, rows.codes, strict=True)):
        size = sum(arg.size for arg in call.args if isinstance(arg, np.ndarray))
        if not cuts or cuts[-1][2] != bool(code) or (code and size > left):
            cuts.append((number, len(words), bool(code)))
            left = MOST_ELEMENTS
        left -= size
        if code:
            words.extend(written(code, call.args))
    if not words:
        return rows
    words.extend([0] * SIZES[-1])  # the last call, too, may read as many words as the largest size
    start, _ = words.buffer_info()
    ends = [*(first for first, *_ in cuts[1:]), len(rows.calls)]
    pieces = [
        Piece(first, end, partial(walker(), start + 8 * word, end - first) if native else None)
        for (first, word, native), end in zip(cuts, ends, strict=True)
    ]
    return rows._replace(pieces=pieces, words=words, place=(start, len(rows.calls)) if all(rows.codes) else (0, 0))


__all__ = ["MOST_ELEMENTS", "Piece", "Rows", "walked"]
