"""The gradient of maxima over 2 x 2 windows: sixteen windows at a time, without a branch.

A window gives its head to the first of its largest elements, and 0 to the other three. Two rows of the image are
loaded and their even and odd columns separated, so that four vectors hold the four corners of sixteen windows.
Comparisons find the corner with the maximum, and a second shuffle stores all four results as two rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from ..foundation import Buffer
from ..pooling import MAX_PAIRS_BACK
from .kernel import kernel, twin
from .simd import _VECTOR, _mask_below, _Memory, _shuffle


@intrinsic
def route(typing, head, place, data, upper, lower, d_data, count, least):
    """Store d_data of at most sixteen windows: rows begin at ``upper`` and ``lower``, their heads at ``place``."""

    def build(context, builder, signature, args):
        kinds = signature.args
        heads, image, result = (
            _Memory(context, builder, kinds[i], args[i]) for i in (0, 2, 5)
        )
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[7], ir.Constant(ir.IntType(32), 0))
        lowest = builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), _shuffle([0] * 16))
        zeros = ir.Constant(_VECTOR, None)
        halves = [_mask_below(builder, args[6], [(s + j) // 2 for j in range(16)]) for s in (0, 16)]
        more = ir.Constant(args[3].type, 16)

        corners, best, wins = [], lowest, []
        for row in (args[3], args[4]):
            left, right = image.load_row(row, halves[0]), image.load_row(builder.add(row, more), halves[1])
            for odd in (0, 1):
                corners.append(builder.shuffle_vector(left, right, _shuffle(range(odd, 32, 2))))
        for corner in corners:
            larger = builder.fcmp_ordered(">", corner, best)
            best = builder.select(larger, corner, best)
            wins = [builder.and_(w, builder.not_(larger)) for w in wins] + [larger]
        given = heads.load_row(args[1], _mask_below(builder, args[6], range(16)))
        shares = [builder.select(win, given, zeros) for win in wins]
        for row, (even, odd) in ((args[3], shares[:2]), (args[4], shares[2:])):
            for s, lanes in zip((0, 8), halves, strict=True):
                woven = builder.shuffle_vector(
                    even, odd, _shuffle(s + j // 2 + 16 * (j % 2) for j in range(16))
                )
                where = row if s == 0 else builder.add(row, more)
                result.store_row(where, woven, lanes)
        return context.get_dummy_value()

    n = types.intp
    return types.void(head, n, data, n, n, d_data, n, types.float32), build


@kernel
def fill_pairs(head, data, d_data, least, planes, height, width, out_h, out_w):
    for plane in range(planes):
        for y in range(out_h):
            upper = (plane * height + 2 * y) * width
            for x in range(0, out_w, 16):
                route(
                    head, (plane * out_h + y) * out_w + x, data, upper + 2 * x, upper + width + 2 * x,
                    d_data, out_w - x, least,
                )
            for w in range(2 * out_w, width):
                d_data[upper + w] = 0
                d_data[upper + width + w] = 0
        for at in range((plane * height + 2 * out_h) * width, (plane + 1) * height * width):
            d_data[at] = 0


@twin(MAX_PAIRS_BACK)
def max_pairs_back(head: Buffer, data: Buffer, d_data: Buffer, least: float, g: Any) -> None:
    """Gradient of maxima over windows of 2 x 2 side by side; ``g`` is the page's geometry."""
    fill_pairs(
        head.flat, data.flat, d_data.flat, np.float32(least), g.planes, g.height, g.width, g.out_h, g.out_w
    )
