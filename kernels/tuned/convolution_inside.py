"""Convolution with filters in the lanes of tiles: no lane is lost to the width of an image, no padding is multiplied.

A tile holds a few outputs, from anywhere in one image or several, times some blocks of filters. It loads single pixels
from the image as it lies, and the weights of each tap from a packed copy in which filters are contiguous. As outputs of
a tile meet the same taps (``inside``), none is multiplied that lies in the padding. The gradient by data
is the same sum with other tables, its channels in the place of filters. Each sum adds its products in the page's order.

A weight that is not finite makes NaN of the padding: where there is one among the packed filters, the taps outside are
multiplied with zeros after the others.
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer
from ..foundation.cuts import Cut, Given
from .inside import Sums
from .kernel import cut, kernel, lanes_tile, workspace
from .simd import fma_tile, load_offsets, ramp, store_tile, transpose_16x16, zero_tile
from .transpose import transpose

TOGETHER = 1 << 15  # numbers of the outputs of several images that a pass over the filters of a tile makes


def _products(given: Given) -> int:
    p = Sums(*given["p"])
    return p.batch_size * p.num_group * p.outs * p.plane * p.ins * p.taps


def _images_of(given: Given, first: int, last: int) -> Given:
    """The call for some images."""
    p = Sums(*given["p"])
    source, result = p.num_group * p.ins * p.size, p.num_group * p.outs * p.plane
    arrays = {
        "source": given["source"][first * source : last * source],
        "result": given["result"][first * result : last * result],
    }
    return {**arrays, "p": tuple(p._replace(batch_size=last - first))}


IMAGES = Cut(
    lambda given: given["p"][0], _products, _images_of, own=("packed", "reads", "writes", "sums", "nothing"),
)
"""Each part has some images."""


@kernel
def pack_lanes(weight, start, ins, in_step, taps, out_step, lanes, packed, width):
    """packed[in, tap, out] = weight[start + in in_step + tap + out out_step] for ``lanes`` outs, then zeros to ``width``."""
    for q in range(ins * taps if lanes < width else 0):
        for r in range(lanes, width):
            packed[q * width + r] = 0
    for c in range(ins):
        for r in range(0, lanes, 16):
            at, to = start + c * in_step + r * out_step, c * taps * width + r
            squares = 0
            if lanes - r >= 16:
                # A square may reach into the taps of the next channel, which are written after it.
                squares = taps // 16 * 16
                if c + 1 < ins:
                    squares = (taps + 15) // 16 * 16
            for t in range(0, squares, 16):
                transpose_16x16(weight, at + t, out_step, packed, to + t * width, width)
            for t in range(squares, taps):
                for i in range(min(16, lanes - r)):
                    packed[to + t * width + i] = weight[at + t + i * out_step]


@kernel
def are_finite(packed, count, nothing, sums, one, blocks):
    """Whether ``count`` rows of packed weights are finite: their products with zero are."""
    width = 8 * len(blocks)
    blocks = ramp(0, 8, width, blocks)
    tile = zero_tile(one, blocks)
    for t in range(count):
        tile = fma_tile(tile, nothing, one, 0, packed, blocks, t * width)
    store_tile(tile, sums, one, blocks, 0)
    total = sums[0]
    for r in range(1, width):
        total += sums[r]
    return total == 0


@kernel
def sum_outputs(
    source, start, packed, sums, reads, writes, first, last,
    ins, size, taps, moves, numbers, begin, inside, outside, nothing, rows, blocks,
):  # fmt: skip
    """sums[writes[q]] = products of the taps from ``begin`` at reads[q], those from ``inside`` on with zeros."""
    width = 8 * len(blocks)
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    for q in range(first, last, len(rows)):
        left, target = load_offsets(reads, q, rows), load_offsets(writes, q, rows)
        tile = zero_tile(rows, blocks)
        read, weight = start, 0
        for _ in range(ins):
            for t in range(begin, inside):
                tile = fma_tile(tile, source, left, read + moves[t], packed, blocks, weight + numbers[t])
            read += size
            weight += taps * width
        for c in range(ins):
            for t in range(inside, outside):
                tile = fma_tile(tile, nothing, rows, 0, packed, blocks, c * taps * width + numbers[t])
        store_tile(tile, sums, target, blocks, 0)


@kernel
def list_outputs(ends, from_plane, to_plane, plane, whole, images, reads, writes, width, multiple):
    """The outputs of some images, kind by kind, each list filled up to a multiple with its last."""
    at, begin = 0, 0
    for kind in range(len(ends)):
        for image in range(images):
            for q in range(begin, ends[kind]):
                reads[at] = image * whole + from_plane[q]
                writes[at] = (image * plane + to_plane[q]) * width
                at += 1
        while at % multiple > 0:
            reads[at] = reads[at - 1]
            writes[at] = writes[at - 1]
            at += 1
        begin = ends[kind]


@cut(IMAGES)
@kernel
def convolve_inside(
    source, weight, result, p: Sums, together, packed, reads, writes, sums, nothing, offsets, one, rows, few, blocks
):  # fmt: skip
    """result = weight over source, some filters over some images at a time."""
    width, images, whole = 8 * len(blocks), min(together, p.batch_size), p.num_group * p.ins * p.size
    ends, moves, numbers, inside, outside = p.ends, p.moves, p.numbers, p.inside, p.outside
    list_outputs(ends, p.reads, p.writes, p.plane, whole, images, reads, writes, width, len(few))
    for t in range(len(moves)):
        offsets[t] = numbers[t] * width
    nothing[0] = 0
    depth = p.ins * p.taps
    for group in range(p.num_group):
        for column in range(0, p.outs, width):
            lanes, start = min(width, p.outs - column), group * p.outs * depth + column * p.out_step
            if p.in_step == p.taps:
                pack_lanes(weight, start, 1, 0, depth, p.out_step, lanes, packed, width)
            else:
                pack_lanes(weight, start, p.ins, p.in_step, p.taps, p.out_step, lanes, packed, width)
            finite = p.padded == 0 or are_finite(packed, depth, nothing, sums, one, blocks)
            for image in range(0, p.batch_size, images):
                first = min(image, p.batch_size - images)  # the last pass may make an image again
                source_at = first * whole + group * p.ins * p.size
                at, begin, tap = 0, 0, 0
                for kind in range(len(ends)):
                    count, stop = images * (ends[kind] - begin), outside[kind]
                    if finite:
                        stop = inside[kind]
                    full = at + count // len(rows) * len(rows)
                    sum_outputs(
                        source, source_at, packed, sums, reads, writes, at, full, p.ins, p.size, p.taps,
                        moves, offsets, tap, inside[kind], stop, nothing, rows, blocks,
                    )
                    sum_outputs(
                        source, source_at, packed, sums, reads, writes, full, at + count, p.ins, p.size, p.taps,
                        moves, offsets, tap, inside[kind], stop, nothing, few, blocks,
                    )
                    at = full + (at + count - full + len(few) - 1) // len(few) * len(few)
                    begin, tap = ends[kind], outside[kind]
                for i in range(images):
                    to = ((first + i) * p.num_group + group) * p.outs + column
                    transpose(sums, i * p.plane * width, width, p.plane, lanes, result, to * p.plane, p.plane)


def convolve(source: Buffer, weight: Buffer, result: Buffer, p: Sums) -> None:
    """The sums of ``p``."""
    rows, few, blocks = lanes_tile(p.outs)
    width = 8 * len(blocks)
    images = max(1, min(p.batch_size, TOGETHER // (p.plane * width)))
    images = -(-p.batch_size // -(-p.batch_size // images))  # as many in each pass
    outputs = images * p.plane + len(p.ends) * len(few)
    convolve_inside(
        source.flat, weight.flat, result.flat, tuple(p), images,
        workspace("packed", (p.ins * p.taps + 16) * width), workspace("reads", outputs, np.int64),
        workspace("writes", outputs, np.int64), workspace("sums", images * p.plane * width), workspace("nothing", 1),
        workspace("offsets", len(p.moves), np.int64), (0,), rows, few, blocks,
    )
