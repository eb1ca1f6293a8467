"""softmax of rows of neighbours: maximum, powers, their sum and the division, each many numbers at a time.

The sum is taken in sixteen doubles (``lanes``), and e^x comes from the polynomial of ``curves``, within 2
units in the last place.
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer
from .curves import decay
from .kernel import kernel, plain, twin
from .lanes import larger, largest, plus, plus_product, read, same, total

SHORTEST = 32  # below, the plain loop is as fast


@kernel
def fill_softmax(data, out, rows, side, scale):
    whole = side // 16 * 16
    nothing, scales = same(0.0), same(scale * 1.0)
    for row in range(rows):
        start = row * side
        tops = plus_product(nothing, read(data, start), scales)
        for i in range(start + 16, start + whole, 16):
            tops = larger(tops, plus_product(nothing, read(data, i), scales))
        top = np.float32(largest(tops))
        for i in range(start + whole, start + side):
            top = max(top, data[i] * scale)
        for i in range(start, start + side):
            out[i] = decay(top - data[i] * scale)
        many, rest = same(0.0), 0.0
        for i in range(start, start + whole, 16):
            many = plus(many, read(out, i))
        for i in range(start + whole, start + side):
            rest += out[i]
        divisor = np.float32(total(many) + rest)
        for i in range(start, start + side):
            out[i] /= divisor


@twin
def softmax(
    data: Buffer, out: Buffer, length: Buffer, outer: int, side: int, inner: int, scale: float,
    limited: int,
) -> None:  # fmt: skip
    """Along the last axis, without lengths; anything else is left to the plain loop."""
    single = out.dtype == np.float32
    if side >= SHORTEST and inner == 1 and not limited and single:
        fill_softmax(data.flat, out.flat, outer, side, np.float32(scale))
    else:
        plain("softmax", "SOFTMAX", data, out, length, outer, side, inner, scale, limited)
