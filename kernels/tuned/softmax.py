"""softmax along the last axis: maximum, exponentials, their sum and the division, each vectorised.

The sum is taken in sixteen doubles (``lanes``). e^x is the polynomial of ``curves``, within 2 units in the last
place.
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer
from .elementary import exp
from .kernel import kernel, plain, twin
from .lanes import add, broadcast, fma, load, maximum, reduce_max, reduce_sum

SHORTEST = 32  # for shorter rows the plain loop is as fast


@kernel
def fill_softmax(data, out, rows, side, scale):
    whole = side // 16 * 16
    nothing, scales = broadcast(0.0), broadcast(scale * 1.0)
    for row in range(rows):
        start = row * side
        tops = fma(nothing, load(data, start), scales)
        for i in range(start + 16, start + whole, 16):
            tops = maximum(tops, fma(nothing, load(data, i), scales))
        top = np.float32(reduce_max(tops))
        for i in range(start + whole, start + side):
            top = max(top, data[i] * scale)
        for i in range(start, start + side):
            out[i] = exp(data[i] * scale - top)
        partial, rest = broadcast(0.0), 0.0
        for i in range(start, start + whole, 16):
            partial = add(partial, load(out, i))
        for i in range(start + whole, start + side):
            rest += out[i]
        divisor = np.float32(reduce_sum(partial) + rest)
        for i in range(start, start + side):
            out[i] /= divisor


@twin
def softmax(
    data: Buffer, out: Buffer, length: Buffer, outer: int, side: int, inner: int, scale: float,
    limited: int,
) -> None:  # fmt: skip
    """softmax along the last axis, without lengths; other calls run the plain loop."""
    single = out.dtype == np.float32
    if side >= SHORTEST and inner == 1 and not limited and single:
        fill_softmax(data.flat, out.flat, outer, side, np.float32(scale))
    else:
        plain("softmax", "SOFTMAX", data, out, length, outer, side, inner, scale, limited)
