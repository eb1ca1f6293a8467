"""Where the first extreme of an axis lies; all results are the page's.

Along rows of neighbours the extreme is found like a maximum of ``reductions``, and then looked for. Where neighbours
belong to different rows, up to 512 of them are compared side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..argmax import SEEK_LARGEST, SEEK_SMALLEST
from ..foundation import Buffer, scalar
from ..foundation.walks import SHORTEST
from .kernel import FLOATS, kernel, twin, workspace
from .reductions import BESIDE, FEWEST, begin, lanes_of_extremes


@scalar
def above(x, y):
    return x > y


@scalar
def below(x, y):
    return x < y


def fill_along(data, out, start, outer, side):
    whole = side // 16 * 16
    for t in range(outer):
        at = t * side
        totals, nans = begin(data, start), begin(data, start)
        for c in range(at, at + whole, 16):
            totals = fold(totals, data, c)  # noqa: F821  # bound by kernel
            nans = note(nans, data, c)  # noqa: F821
        if whole < side:
            totals = fold_part(totals, data, at + whole, side - whole)  # noqa: F821
            nans = note_part(nans, data, at + whole, side - whole)  # noqa: F821
        best = joined(totals, nans)  # noqa: F821
        k, seen = 0, 0
        while seen == 0 and k + 64 <= side:
            for i in range(at + k, at + k + 64):
                seen |= (data[i] == best) | (data[i] != data[i])
            k += 64
        if seen != 0:
            k -= 64
        while data[at + k] != best and data[at + k] == data[at + k]:
            k += 1
        out[t] = k


def fill_across(data, out, best, where, outer, side, inner):
    for o in range(outer):
        for left in range(0, inner, BESIDE):
            width, at = min(BESIDE, inner - left), o * side * inner + left
            for i in range(width):
                best[i] = data[at + i]
                where[i] = 0
            for k in range(1, side):
                row = at + k * inner
                for i in range(width):
                    x, y = data[row + i], best[i]
                    later = (y == y) & (beyond(x, y) | (x != x))  # noqa: F821  # bound by kernel
                    best[i] = x if later else y
                    where[i] = k if later else where[i]
            for i in range(width):
                out[o * inner + left + i] = where[i]


def takes(args: Sequence[Any]) -> bool:
    """Whether the twin runs a call: not for few elements, and not along short rows."""
    outer, side, inner = args[0].shape
    return outer * side * inner >= FEWEST and (side >= SHORTEST if inner == 1 else side < 1 << 31)


def seeker(*, largest: bool) -> Callable:
    """The twin of the loop that seeks the largest element, or the smallest."""

    @cache
    def along() -> Any:
        return kernel(fill_along, label="larger" if largest else "smaller", **lanes_of_extremes(largest))

    @cache
    def across() -> Any:
        return kernel(fill_across, beyond=above if largest else below)

    def seek(data: Buffer, out: Buffer) -> None:
        """Where along the middle axis the first extreme is."""
        flat = data.flat
        outer, side, inner = data.shape
        kind = flat.dtype.type
        if inner == 1:
            along()(flat, out.flat, kind(-np.inf if largest else np.inf), outer, side)
        else:
            places = workspace("places", BESIDE, np.int32 if kind is np.float32 else np.int64)
            across()(flat, out.flat, workspace("totals", BESIDE, kind), places, outer, side, inner)

    return seek


twin(SEEK_LARGEST, dtypes=FLOATS, takes=takes)(seeker(largest=True))
twin(SEEK_SMALLEST, dtypes=FLOATS, takes=takes)(seeker(largest=False))
