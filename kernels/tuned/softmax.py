"""softmax and log_softmax along the last axis and their gradients, each step vectorised.

Rows are taken some at a time, about ``BLOCK`` elements, so that exponentials of short rows are vectorised, too. e^x is
the polynomial of ``elementary``. Sums are doubles: sixteen partial sums (``lanes``), and one more for the elements
at the end of a row that do not fill sixteen.
"""

from __future__ import annotations

from math import log

import numpy as np

from ..foundation import Buffer
from .elementary import exp, inlined
from .kernel import kernel, plain, twin, workspace
from .lanes import add, add_product, broadcast, load, reduce_sum

BLOCK = 2048
F, I = np.float32, np.int32
SIGN, OTHERS, SIXTEEN = I(31), I(0x7FFFFFFF), np.uintp(16)


@inlined
def ordered(x):
    """A whole number that grows with x, for a vectorised maximum: x's bits, all but the sign turned if it is set."""
    bits = F(x).view(np.int32)
    return I(bits ^ ((bits >> SIGN) & OTHERS))


@inlined
def from_ordered(whole):
    """The number of ``ordered``."""
    return I(whole ^ ((whole >> SIGN) & OTHERS)).view(np.float32)


@inlined
def exponentials(data, out, tops, row, rows, side, scale):
    """Of rows ``row`` to ``rows``, the largest number of each and e^(x - largest)."""
    for r in range(np.uintp(row), np.uintp(rows)):
        start = r * side
        largest = ordered(data[start] * scale)
        for i in range(start + np.uintp(1), start + side):
            largest = max(largest, ordered(data[i] * scale))
        top = from_ordered(largest)
        tops[r] = top
        for i in range(start, start + side):
            out[i] = data[i] * scale - top
    for i in range(np.uintp(row) * side, np.uintp(rows) * side):
        out[i] = exp(out[i])


@inlined
def row_sum(values, start, side):
    whole = start + side // SIXTEEN * SIXTEEN
    partial, rest = broadcast(0.0), 0.0
    for i in range(start, whole, SIXTEEN):
        partial = add(partial, load(values, i))
    for i in range(whole, start + side):
        rest += values[i]
    return reduce_sum(partial) + rest


@kernel
def fill_softmax(data, out, tops, rows, side, scale, together):
    for row in range(0, rows, together):
        end = min(row + together, rows)
        exponentials(data, out, tops, row, end, np.uintp(side), scale)
        for start in range(row * side, end * side, side):
            share = np.float32(1.0 / row_sum(out, np.uintp(start), np.uintp(side)))
            for i in range(start, start + side):
                out[i] *= share


@kernel
def fill_log_softmax(data, out, tops, rows, side, scale, together):
    for row in range(0, rows, together):
        end = min(row + together, rows)
        exponentials(data, out, tops, row, end, np.uintp(side), scale)
        for r in range(row, end):
            start = r * side
            less, top = log(row_sum(out, np.uintp(start), np.uintp(side))), tops[r]
            for i in range(start, start + side):
                out[i] = data[i] * scale - top - less


@kernel
def fill_softmax_slope(head, out, d_data, rows, side, scale):
    whole = side // 16 * 16
    for start in range(0, rows * side, side):
        partial, rest = broadcast(0.0), 0.0
        for i in range(start, start + whole, 16):
            partial = add_product(partial, head, i, out, i)
        for i in range(start + whole, start + side):
            rest += head[i] * out[i]
        mean = reduce_sum(partial) + rest
        for i in range(start, start + side):
            d_data[i] = (head[i] - mean) * out[i] * scale


@kernel
def fill_log_softmax_slope(head, out, d_data, rows, side, scale):
    for start in range(0, rows * side, side):
        total = row_sum(head, np.uintp(start), np.uintp(side))
        for i in range(start, start + side):
            d_data[i] = exp(out[i])
        for i in range(start, start + side):
            d_data[i] = (head[i] - d_data[i] * total) * scale


def _runs(out: Buffer, inner: int, limited: int = 0) -> bool:
    """Whether the rows are contiguous and whole; other calls run the plain loops."""
    return inner == 1 and not limited and out.dtype == np.float32


@twin
def softmax(
    data: Buffer, out: Buffer, length: Buffer, outer: int, side: int, inner: int, scale: float,
    limited: int,
) -> None:  # fmt: skip
    """softmax along the last axis, without lengths."""
    if _runs(out, inner, limited):
        tops, together = workspace("softmax", outer), max(BLOCK // side, 1)
        fill_softmax(data.flat, out.flat, tops, outer, side, np.float32(scale), together)
    else:
        plain("softmax", "SOFTMAX", data, out, length, outer, side, inner, scale, limited)


@twin
def log_softmax(data: Buffer, out: Buffer, outer: int, side: int, inner: int, scale: float) -> None:
    """log_softmax along the last axis."""
    if _runs(out, inner):
        tops, together = workspace("softmax", outer), max(BLOCK // side, 1)
        fill_log_softmax(data.flat, out.flat, tops, outer, side, np.float32(scale), together)
    else:
        plain("softmax", "LOG_SOFTMAX", data, out, outer, side, inner, scale)


@twin
def softmax_slope(
    head: Buffer, out: Buffer, d_data: Buffer, length: Buffer, outer: int, side: int, inner: int, scale: float,
    limited: int,
) -> None:  # fmt: skip
    """The gradient of softmax along the last axis, without lengths."""
    if _runs(d_data, inner, limited) and out.dtype == np.float32:
        fill_softmax_slope(head.flat, out.flat, d_data.flat, outer, side, np.float32(scale))
    else:
        plain("softmax", "SOFTMAX_SLOPE", head, out, d_data, length, outer, side, inner, scale, limited)


@twin
def log_softmax_slope(
    head: Buffer, out: Buffer, d_data: Buffer, outer: int, side: int, inner: int, scale: float
) -> None:
    """The gradient of log_softmax along the last axis."""
    if _runs(d_data, inner) and out.dtype == np.float32:
        fill_log_softmax_slope(head.flat, out.flat, d_data.flat, outer, side, np.float32(scale))
    else:
        plain("softmax", "LOG_SOFTMAX_SLOPE", head, out, d_data, outer, side, inner, scale)
