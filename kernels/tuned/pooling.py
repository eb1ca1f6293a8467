"""Sums and maxima over windows, and their gradients, for sixteen planes at a time.

The page's loops compute one plane after the other, with borders, strides and few columns in the way of vectors. Here
sixteen planes are transposed until their numbers at one pixel are adjacent, so that a vector holds one pixel of
sixteen planes. The loops are those of the page with a vector in place of a number: all results have its bits.

Single numbers are converted to double precision, which changes no comparison.
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer
from ..pooling import MAX, MAX_BACK, SUM
from ..shared.pooling_windows import Geometry
from .kernel import kernel, plain, twin, workspace
from .lanes import COUNT, add, broadcast, divide, load, maximum, store, where_larger
from .transpose import transpose

SUM_1, SUM_1_BACK = SUM[1]
PIXELS = 1 << 16  # the largest planes of which sixteen are copied


@kernel
def fill_sums(data, out, begin, end, size, g: Geometry, dense, result):
    pixels, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    for group in range(0, g.planes, 16):
        plane = min(group, g.planes - 16)
        transpose(data, plane * pixels, pixels, 16, pixels, dense, 0, 16)
        for row in range(g.out_d * g.out_h):
            z, y = row // g.out_h, g.out_d + row % g.out_h
            for j in range(g.out_w):
                x, item = g.out_d + g.out_h + j, row * g.out_w + j
                total = broadcast(0.0)
                for d in range(begin[z], end[z]):
                    for h in range(begin[y], end[y]):
                        line = (d * g.height + h) * g.width
                        for at in range(line + begin[x], line + end[x]):
                            total = add(total, load(dense, at * 16))
                if g.average == 1:
                    total = divide(total, broadcast(max(size[z] * size[y] * size[x], 1) * 1.0))
                store(total, result, item * 16)
        transpose(result, 0, 16, final, 16, out, plane * final, final)


@kernel
def fill_sum_shares(head, d_data, begin, end, size, g: Geometry, dense, heads):
    pixels, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    for group in range(0, g.planes, 16):
        plane = min(group, g.planes - 16)
        transpose(head, plane * final, final, 16, final, heads, 0, 16)
        for q in range(pixels * 16):
            dense[q] = 0
        for row in range(g.out_d * g.out_h):
            z, y = row // g.out_h, g.out_d + row % g.out_h
            for j in range(g.out_w):
                x, item = g.out_d + g.out_h + j, row * g.out_w + j
                share = load(heads, item * 16)
                if g.average == 1:
                    share = divide(share, broadcast(max(size[z] * size[y] * size[x], 1) * 1.0))
                for d in range(begin[z], end[z]):
                    for h in range(begin[y], end[y]):
                        line = (d * g.height + h) * g.width
                        for at in range(line + begin[x], line + end[x]):
                            store(add(load(dense, at * 16), share), dense, at * 16)
        transpose(dense, 0, 16, pixels, 16, d_data, plane * pixels, pixels)


@kernel
def fill_maxima(data, out, begin, end, least, g: Geometry, dense, result):
    pixels, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    for group in range(0, g.planes, 16):
        plane = min(group, g.planes - 16)
        transpose(data, plane * pixels, pixels, 16, pixels, dense, 0, 16)
        for row in range(g.out_d * g.out_h):
            z, y = row // g.out_h, g.out_d + row % g.out_h
            for j in range(g.out_w):
                x, item = g.out_d + g.out_h + j, row * g.out_w + j
                best = broadcast(least)
                for d in range(begin[z], end[z]):
                    for h in range(begin[y], end[y]):
                        line = (d * g.height + h) * g.width
                        for at in range(line + begin[x], line + end[x]):
                            best = maximum(best, load(dense, at * 16))
                store(best, result, item * 16)
        transpose(result, 0, 16, final, 16, out, plane * final, final)


@kernel
def fill_maximum_shares(head, data, d_data, begin, end, least, g: Geometry, dense, shares, heads, places):
    """``places`` holds where the first maxima of sixteen windows are, -1 where a window has no candidate."""
    pixels, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    for group in range(0, g.planes, 16):
        plane = min(group, g.planes - 16)
        transpose(data, plane * pixels, pixels, 16, pixels, dense, 0, 16)
        transpose(head, plane * final, final, 16, final, heads, 0, 16)
        for q in range(pixels * 16):
            shares[q] = 0
        for row in range(g.out_d * g.out_h):
            z, y = row // g.out_h, g.out_d + row % g.out_h
            for j in range(g.out_w):
                x, item = g.out_d + g.out_h + j, row * g.out_w + j
                best, first = broadcast(least), broadcast(-1.0)
                for d in range(begin[z], end[z]):
                    for h in range(begin[y], end[y]):
                        line = (d * g.height + h) * g.width
                        for at in range(line + begin[x], line + end[x]):
                            candidate = load(dense, at * 16)
                            first = where_larger(candidate, best, broadcast(at * 1.0), first)
                            best = maximum(best, candidate)
                store(first, places, 0)
                for lane in range(16):
                    at = int(places[lane])
                    if at >= 0:
                        shares[at * 16 + lane] += heads[item * 16 + lane]
        transpose(shares, 0, 16, pixels, 16, d_data, plane * pixels, pixels)


def _takes(g: Geometry) -> bool:
    return g.planes >= COUNT and g.depth * g.height * g.width <= PIXELS


def _memory(g: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Working memory for sixteen planes of data and of the output."""
    data, out = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    return workspace("dense", data * COUNT), workspace("result", out * COUNT)


@twin(SUM_1)
def sum_rows(data: Buffer, out: Buffer, begin: Buffer, end: Buffer, size: Buffer, g: Geometry) -> None:
    """Sum or mean of each window."""
    if not _takes(g):
        plain(SUM_1, data, out, begin, end, size, g)
        return
    fill_sums(data.flat, out.flat, begin.flat, end.flat, size.flat, tuple(g), *_memory(g))


@twin(SUM_1_BACK)
def sum_back(
    head: Buffer, data: Buffer, out: Buffer, d_data: Buffer, begin: Buffer, end: Buffer, size: Buffer, g: Geometry
) -> None:
    """Gradient of sums and means, which looks at neither data nor output."""
    if not _takes(g):
        plain(SUM_1_BACK, head, data, out, d_data, begin, end, size, g)
        return
    fill_sum_shares(head.flat, d_data.flat, begin.flat, end.flat, size.flat, tuple(g), *_memory(g))


@twin(MAX)
def max_rows(data: Buffer, out: Buffer, begin: Buffer, end: Buffer, least: float, g: Geometry) -> None:
    """Maximum of each window."""
    if not _takes(g):
        plain(MAX, data, out, begin, end, least, g)
        return
    fill_maxima(data.flat, out.flat, begin.flat, end.flat, least, tuple(g), *_memory(g))


@twin(MAX_BACK)
def max_back(
    head: Buffer, data: Buffer, d_data: Buffer, begin: Buffer, end: Buffer, least: float, g: Geometry
) -> None:
    """Gradient of maxima."""
    if not _takes(g):
        plain(MAX_BACK, head, data, d_data, begin, end, least, g)
        return
    dense, heads = _memory(g)
    shares, places = workspace("shares", dense.size), workspace("places", 2 * COUNT)[: 2 * COUNT].view(np.float64)
    fill_maximum_shares(
        head.flat, data.flat, d_data.flat, begin.flat, end.flat, least, tuple(g), dense, shares, heads, places
    )
