"""softmax and log_softmax along the last axis and their gradients, each step vectorised.

Rows are taken some at a time, about ``BLOCK`` elements, so that exponentials of short rows are vectorised, too. e^x is
the polynomial of ``elementary``. Sums are doubles: sixteen partial sums (``lanes``), and one more for the elements
at the end of a row that do not fill sixteen.
"""

from __future__ import annotations

from math import log

import numpy as np

from ..foundation import Buffer
from ..softmax import LOG_SOFTMAX, LOG_SOFTMAX_SLOPE, SOFTMAX, SOFTMAX_SLOPE
from .elementary import bits_of, exp, from_bits, inlined
from .kernel import kernel, plain, twin, workspace
from .lanes import add, add_product, broadcast, load, reduce_sum

BLOCK = 2048
I = np.int32
SIGN, OTHERS = I(31), I(0x7FFFFFFF)


@inlined
def turned(bits):
    """All bits but the sign turned if that is set: those of numbers become whole numbers that grow with them, and back.

    A maximum of whole numbers is vectorised.
    """
    return I(bits ^ ((bits >> SIGN) & OTHERS))


@kernel
def fill_shares(data, out, tops, rows, side, scale, together, as_logarithm):
    whole = side // 16 * 16
    for row in range(0, rows, together):
        end = row + together if row + together < rows else rows
        for r in range(row, end):
            start = r * side
            largest = turned(bits_of(data[start] * scale))
            for i in range(start + 1, start + side):
                key = turned(bits_of(data[i] * scale))
                largest = I(key if key > largest else largest)
            top = from_bits(turned(largest))
            tops[r] = top
            for i in range(start, start + side):
                out[i] = data[i] * scale - top
        for i in range(row * side, end * side):
            out[i] = exp(out[i])
        for r in range(row, end):
            start = r * side
            partial, total = broadcast(0.0), 0.0
            for i in range(start, start + whole, 16):
                partial = add(partial, load(out, i))
            for i in range(start + whole, start + side):
                total += out[i]
            total += reduce_sum(partial)
            if as_logarithm:
                less, top = log(total), tops[r]
                for i in range(start, start + side):
                    out[i] = data[i] * scale - top - less
            else:
                share = np.float32(1.0 / total)
                for i in range(start, start + side):
                    out[i] *= share


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
    whole = side // 16 * 16
    for start in range(0, rows * side, side):
        partial, total = broadcast(0.0), 0.0
        for i in range(start, start + whole, 16):
            partial = add(partial, load(head, i))
        for i in range(start + whole, start + side):
            total += head[i]
        total += reduce_sum(partial)
        for i in range(start, start + side):
            d_data[i] = exp(out[i])
        for i in range(start, start + side):
            d_data[i] = (head[i] - d_data[i] * total) * scale


def _runs(out: Buffer, limited: int = 0) -> bool:
    """Whether the rows are contiguous and whole; other calls run the plain loops."""
    return out.shape[2] == 1 and not limited and out.dtype == np.float32


@twin(SOFTMAX)
def softmax(data: Buffer, out: Buffer, length: Buffer, scale: float, limited: int) -> None:
    """softmax along the last axis, without lengths."""
    if _runs(out, limited):
        outer, side, _ = data.shape
        tops, together = workspace("softmax", outer), max(BLOCK // side, 1)
        fill_shares(data.flat, out.flat, tops, outer, side, np.float32(scale), together, 0)
    else:
        plain(SOFTMAX, data, out, length, scale, limited)


@twin(LOG_SOFTMAX)
def log_softmax(data: Buffer, out: Buffer, scale: float) -> None:
    """log_softmax along the last axis."""
    if _runs(out):
        outer, side, _ = data.shape
        tops, together = workspace("softmax", outer), max(BLOCK // side, 1)
        fill_shares(data.flat, out.flat, tops, outer, side, np.float32(scale), together, 1)
    else:
        plain(LOG_SOFTMAX, data, out, scale)


@twin(SOFTMAX_SLOPE)
def softmax_slope(
    head: Buffer, out: Buffer, d_data: Buffer, length: Buffer, scale: float, limited: int
) -> None:
    """The gradient of softmax along the last axis, without lengths."""
    if _runs(d_data, limited) and out.dtype == np.float32:
        fill_softmax_slope(head.flat, out.flat, d_data.flat, *out.shape[:2], np.float32(scale))
    else:
        plain(SOFTMAX_SLOPE, head, out, d_data, length, scale, limited)


@twin(LOG_SOFTMAX_SLOPE)
def log_softmax_slope(head: Buffer, out: Buffer, d_data: Buffer, scale: float) -> None:
    """The gradient of log_softmax along the last axis."""
    if _runs(d_data) and out.dtype == np.float32:
        fill_log_softmax_slope(head.flat, out.flat, d_data.flat, *out.shape[:2], np.float32(scale))
    else:
        plain(LOG_SOFTMAX_SLOPE, head, out, d_data, scale)
