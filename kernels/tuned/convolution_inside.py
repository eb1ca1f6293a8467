"""Convolution with filters in the lanes of tiles: no lane is lost to the width of an image, no padding is multiplied.

A tile holds a few outputs, from anywhere in one image or several, times some blocks of filters. It loads single pixels
from the image as it lies, and the weights of each tap from a packed copy in which filters are contiguous. As outputs of
a tile meet the same taps (``inside``), none is multiplied that lies in the padding. The gradient by data
is the same sum with other tables, its channels in the place of filters. Each sum adds its products in the page's order.

A weight that is not finite makes NaN of the padding: where there is one among the packed filters, the taps outside are
multiplied with zeros after the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from .inside import Sums, sums_of
from .kernel import kernel, lanes_tile, workspace
from .simd import fma_tile, load_offsets, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose, transpose_16x16

OUTPUTS = 1 << 15  # sums that are kept in the cache until they are stored: of several images, or of a part of one
PACK = tuple(range(0, 64, 8))  # numbers that are tested for being finite at a time
WEIGHTS = 3 << 15  # packed weights, which are kept there as well


@kernel
def pack_lanes(weight, start, ins, in_step, taps, out_step, lanes, packed, width):
    """packed[in, tap, out] = weight[start + in in_step + tap + out out_step]; zeros from ``lanes`` outs on."""
    if in_step == taps:  # one channel after the other
        ins, taps = 1, ins * taps
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
def are_finite(numbers, count, nothing):
    """Whether ``count`` numbers are finite: their products with zero are. Those behind them in a pack become 0."""
    width = 8 * len(PACK)
    pack = ramp(0, 8, width, PACK)
    for q in range(count, (count + width - 1) // width * width):
        numbers[q] = 0
    tile = zero_tile((0,), pack)
    for q in range(0, count, width):
        tile = fma_tile(tile, nothing, (0,), 0, numbers, pack, q)
    store_tile(tile, nothing, (0,), pack, 1)
    total = nothing[0]
    for r in range(width):
        total += nothing[1 + r]
    return total == 0


class Stretch(NamedTuple):
    """Some outputs, or kinds, and what is added to their sums."""

    first: int
    last: int
    start: int
    """Where the source begins."""
    ins: int
    """So many of its channels."""
    more: int
    """0 where the sums begin."""
    begin: int
    inside: int
    outside: int
    """The taps of the kind; or, of kinds: where their lists begin, how many images, whether the weights are finite."""


@kernel
def sum_outputs(source, packed, sums, lists, nothing, p: Sums, s: Stretch, rows, blocks):
    """The sums of listed outputs over the taps from ``begin``, those from ``inside`` on with zeros."""
    width, moves, inside = 8 * len(blocks), p.moves, s.inside
    numbers = 2 * p.listed
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    for q in range(s.first, s.last, len(rows)):
        left, target = load_offsets(lists, q, rows), load_offsets(lists, p.listed + q, rows)
        tile = zero_tile(rows, blocks)
        if s.more > 0:
            tile = load_tile(sums, target, blocks, 0)
        read, weight = s.start, 0
        for _ in range(s.ins):
            for t in range(s.begin, inside):
                tile = fma_tile(tile, source, left, read + moves[t], packed, blocks, weight + lists[numbers + t])
            read += p.size
            weight += p.taps * width
        for c in range(s.ins):
            for t in range(inside, s.outside):
                tile = fma_tile(tile, nothing, rows, 0, packed, blocks, c * p.taps * width + lists[numbers + t])
        store_tile(tile, sums, target, blocks, 0)


@kernel
def list_outputs(p: Sums, images, lists, width, multiple):
    """Where the outputs of some images read and write, each kind's list filled up to a multiple with its last.

    Behind these lists stand the places of the weights of taps.
    """
    bands, ends, firsts, from_plane, to_plane, numbers = p.bands, p.ends, p.firsts, p.reads, p.writes, p.numbers
    at, begin, kind, whole = 0, 0, 0, p.num_group * p.ins * p.size
    for t in range(len(numbers)):
        lists[2 * p.listed + t] = numbers[t] * width
    for band in range(len(bands)):
        pixels = firsts[band + 1] - firsts[band]
        while kind < bands[band]:
            for image in range(images):
                for q in range(begin, ends[kind]):
                    lists[at] = image * whole + from_plane[q]
                    lists[p.listed + at] = (image * pixels + to_plane[q] - firsts[band]) * width
                    at += 1
            while at % multiple > 0:
                lists[at] = lists[at - 1]
                lists[p.listed + at] = lists[p.listed + at - 1]
                at += 1
            begin = ends[kind]
            kind += 1


@kernel
def sum_kinds(source, packed, sums, lists, nothing, p: Sums, s: Stretch, rows, few, blocks):
    """The sums of some kinds, listed from ``begin`` on, of ``inside`` images; returns where these lists end."""
    ends, inside, outside, at = p.ends, p.inside, p.outside, s.begin
    for kind in range(s.first, s.last):
        begin, tap, stop = 0, 0, outside[kind]
        if kind > 0:
            begin, tap = ends[kind - 1], outside[kind - 1]
        if s.outside > 0:
            stop = inside[kind]
        end = at + s.inside * (ends[kind] - begin)
        full = at + (end - at) // len(rows) * len(rows)
        most = at, full, s.start, s.ins, s.more, tap, inside[kind], stop
        rest = full, end, s.start, s.ins, s.more, tap, inside[kind], stop
        sum_outputs(source, packed, sums, lists, nothing, tuple(p), most, rows, blocks)
        sum_outputs(source, packed, sums, lists, nothing, tuple(p), rest, few, blocks)
        at = full + (end - full + len(few) - 1) // len(few) * len(few)
    return at


@kernel
def convolve_inside(source, weight, result, p: Sums, packed, lists, sums, nothing, rows, few, blocks):
    """result = weight over source: a tile's filters over some images, or a band of one, and some channels at a time."""
    width, images, whole = 8 * len(blocks), min(p.images, p.batch_size), p.num_group * p.ins * p.size
    bands, firsts, finite = p.bands, p.firsts, 1
    list_outputs(tuple(p), images, lists, width, len(few))
    nothing[0] = 0
    for group in range(p.num_group):
        for column in range(0, p.outs, width):
            lanes, weights = min(width, p.outs - column), group * p.outs * p.ins * p.taps + column * p.out_step
            for number in range(0, p.batch_size, images):
                image = min(number, p.batch_size - images)  # the last pass may make an image again
                at = kind = np.int64(0)  # a plain 0 is a type of its own, for which the callees would be compiled too
                for band in range(len(bands)):
                    end = at
                    for low in range(0, p.ins, p.deep):
                        ins, start = min(p.deep, p.ins - low), image * whole + (group * p.ins + low) * p.size
                        if number + band == 0 or p.deep < p.ins:
                            pack_lanes(
                                weight, weights + low * p.in_step, ins, p.in_step, p.taps, p.out_step, lanes,
                                packed, width,
                            )
                            finite = int(p.padded == 0 or are_finite(packed, ins * p.taps * width, nothing))
                        kinds = kind, bands[band], start, ins, low, at, images, finite
                        end = sum_kinds(source, packed, sums, lists, nothing, tuple(p), kinds, rows, few, blocks)
                    at, kind = end, bands[band]
                    pixels = firsts[band + 1] - firsts[band]
                    for i in range(images):
                        to = (((image + i) * p.num_group + group) * p.outs + column) * p.plane + firsts[band]
                        transpose(sums, i * pixels * width, width, pixels, lanes, result, to, p.plane)


STORING = 12  # to store a sum takes as long as about so many products
PACKING = 13  # and so does packing a weight


def together(p: Sums, width: int) -> int:
    """How many images a pass over ``width`` filters makes: all passes as many."""
    most = max(1, min(p.batch_size, OUTPUTS // (p.plane * width)))
    return -(-p.batch_size // -(-p.batch_size // most))


@lru_cache(maxsize=512)
def cost(g: Geometry, *, back: bool = False) -> float:
    """How long one image takes, in products."""
    outs = (g.channels if back else g.num_filter) // g.num_group
    _, few, blocks = lanes_tile(outs)
    width = 8 * len(blocks)
    p = sums_of(g, OUTPUTS // width, back=back)
    images = together(p, width)
    counts, inside = images * np.diff(p.ends, prepend=0), p.inside - np.concatenate([[0], p.outside[:-1]])
    products = int((-(-counts // len(few)) * len(few) * inside).sum()) * p.ins / images
    lanes = -(-outs // width) * width
    weights = PACKING * p.ins * p.taps / g.batch_size
    return g.num_group * lanes * (products + STORING * p.plane + weights)


def convolve(source: Buffer, weight: Buffer, result: Buffer, g: Geometry, *, back: bool = False) -> None:
    """Forward, or the gradient by data from the head as ``source``."""
    rows, few, blocks = lanes_tile((g.channels if back else g.num_filter) // g.num_group)
    width = 8 * len(blocks)
    p = sums_of(g, OUTPUTS // width, back=back)
    images = together(p, width)
    deep = max(1, min(p.ins, WEIGHTS // (p.taps * width)))
    deep = -(-p.ins // -(-p.ins // deep))
    outputs = images * p.plane + len(p.ends) * len(few)
    p = p._replace(images=images, deep=deep, listed=outputs)
    convolve_inside(
        source.flat, weight.flat, result.flat, tuple(p),
        workspace("packed", (deep * p.taps + 16) * width + 8 * len(PACK)),
        workspace("lists", 2 * outputs + len(p.moves), np.int64), workspace("sums", images * p.plane * width),
        workspace("nothing", 1 + 8 * len(PACK)), rows, few, blocks,
    )
