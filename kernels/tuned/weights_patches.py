"""The gradient of a convolution by its weight, with taps in the lanes of tiles: for few channels, or few filters.

A tile holds a few filters times some blocks of taps, those of one channel behind those of another, and sums over
outputs. What the taps of a block read is copied together first, output by output, so that neither the sides of a kernel
nor the number of channels costs lanes; the head is read as it lies. Outputs whose copies fit into the cache, of one
image or several, are summed in registers, then added.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from numba.core import types
from numba.core.extending import intrinsic

from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from .image import View, space_to_depth, view
from .kernel import kernel, wide_tile, workspace
from .simd import _Memory, _unpack, add_tiles, fma_tile, load_offsets, load_tile, ramp, store_tile, zero_tile
from .transpose import turned
from .weights_inside import CHUNK

PATCHES = 1 << 16  # numbers of the copies that are kept in the cache
COPYING = 6  # copying a number takes as long as so many products
SQUARE, PAIR = (0,) * 16, (0, 8)


@intrinsic
def copy_square(typing, source, start, taps, outputs, target, to, places, pitch):
    """``target[to + (places[b] + j) pitch + i] = source[start + taps[i] + outputs[b] + j]``, j below 8; two b, 16 i."""

    def build(context, builder, signature, args):
        read, write = (_Memory(context, builder, signature.args[i], args[i]) for i in (0, 4))
        low, high = _unpack(builder, args[3])
        rows = [read.load_pair(builder.add(args[1], tap), low, high) for tap in _unpack(builder, args[2])]
        columns = turned(builder, rows)
        for block, place in enumerate(_unpack(builder, args[6])):
            at = builder.add(args[5], builder.mul(place, args[7]))
            for column in columns[8 * block : 8 * block + 8]:
                write.store_row(at, column)
                at = builder.add(at, args[7])
        return context.get_dummy_value()

    n = types.intp
    return types.void(source, n, taps, outputs, target, n, places, n), build


class Share(NamedTuple):
    """What is summed at a time, and how many taps there are."""

    together: int
    """So many images are summed together,"""
    span: int
    """of each so many outputs, whole runs;"""
    count: int
    """or so many at a time, where a run is longer."""
    space: int
    """Outputs for which there is space in the copies of a block of taps."""
    depth: int
    """Taps of all channels of a group."""


class Strips(NamedTuple):
    """Outputs that are summed together: of each image some strips, whose copies lie ``apart``."""

    images: int
    strips: int
    length: int
    apart: int
    start: int
    """Where the head of these outputs begins."""
    step: int
    """From there to that of the next image."""
    plane: int
    """And to that of the next filter."""


@kernel
def copy_patches(image, v: View, s: Share, begin, end, to, patches, width):
    """patches[block, ``to`` + output, tap of the block] of the outputs from ``begin`` on."""
    taps, outputs, places, run = v.taps, v.blocks, v.places, v.run
    blocks = (run + 7) // 8
    first, last = begin // run * blocks + begin % run // 8, end // run * blocks + (end % run + 7) // 8
    to -= begin // run * v.pitch + begin % run
    for tap in range(0, s.depth, 16):
        offsets = load_offsets(taps, tap, SQUARE)
        at = (tap // width * s.space + to) * width + tap % width
        for q in range(first, last, 2):  # beside an odd last block is the next one, for which there is space
            here, there = load_offsets(outputs, q, PAIR), load_offsets(places, q, PAIR)
            copy_square(image, 0, offsets, here, patches, at, there, width)


@kernel
def sum_patches(head, patches, sums, s: Share, o: Strips, each, pitch, rows, blocks):
    """sums[filter, tap] += the products of some outputs."""
    width = 8 * len(blocks)
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    for column in range(0, s.depth, width):
        for row in range(0, each, len(rows)):
            left = ramp(row * o.plane, o.plane, (each - 1) * o.plane, rows)
            target = ramp(row * pitch, pitch, (each - 1) * pitch, rows)
            tile = zero_tile(rows, blocks)
            for strip in range(o.images * o.strips):
                start = o.start + strip // o.strips * o.step + strip % o.strips * o.length
                at = column * s.space + (8 + strip * o.apart) * width
                for q in range(o.length):
                    tile = fma_tile(tile, head, left, start + q, patches, blocks, at + q * width)
            tile = add_tiles(load_tile(sums, target, blocks, column), tile)
            store_tile(tile, sums, target, blocks, column)


@kernel
def gather_weight_patches(head, data, d_weight, g: Geometry, v: View, s: Share, image, patches, sums, rows, blocks):
    """d_weight = head over data; ``sums`` are those of one group."""
    share, each, width = g.channels // g.num_group, g.num_filter // g.num_group, 8 * len(blocks)
    size, plane, depth = g.depth * g.height * g.width, len(v.pixels), s.depth
    together, pitch = s.together, (depth + width - 1) // width * width
    for q in range(share * v.channel):
        image[q] = 0
    for group in range(g.num_group):
        for q in range(each * pitch):
            sums[q] = 0
        for first in range(0, g.batch_size, together):
            images, start = min(together, g.batch_size - first), (first * g.num_filter + group * each) * plane
            for line in range(0, plane, s.span):
                stop = min(plane, line + s.span)
                for begin in range(line, stop, s.count):
                    end = min(stop, begin + s.count)
                    length, apart = end - begin, end - begin
                    if v.pitch > v.run:
                        length, apart = v.run, v.pitch
                    strips = (end - begin) // length
                    for i in range(images):
                        if begin == 0:
                            source = ((first + i) * g.channels + group * share) * size
                            space_to_depth(data, source, share, v.sizes, image)
                        copy_patches(image, tuple(v), tuple(s), begin, end, 8 + i * strips * apart, patches, width)
                    o = images, strips, length, apart, start + begin, g.num_filter * plane, plane
                    sum_patches(head, patches, sums, tuple(s), o, each, pitch, rows, blocks)
        for one in range(each):
            for t in range(depth):
                d_weight[(group * each + one) * depth + t] = sums[one * pitch + t]


def cost(g: Geometry) -> int:
    """How long one output takes, in products."""
    filters, taps = g.num_filter // g.num_group, g.channels // g.num_group * prod(g.kernel)
    rows, blocks = wide_tile(filters)
    width = 8 * len(blocks)
    return g.num_group * (-(-filters // len(rows)) * len(rows) * -(-taps // width) * width + COPYING * taps)


def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """The gradient by weight."""
    rows, blocks = wide_tile(g.num_filter // g.num_group)
    v, width = view(g, len(blocks)), 8 * len(blocks)
    each, depth = g.num_filter // g.num_group, g.channels // g.num_group * prod(g.kernel)
    plane, pitch = len(v.pixels), -(-depth // width) * width
    most = max(16, min(CHUNK, PATCHES // pitch))
    lines = max(1, most // v.pitch)
    lines = -(-plane // v.run // -(-plane // v.run // lines))  # as many each time
    count = lines * v.run if v.pitch <= most else most // 16 * 16
    together = max(1, min(g.batch_size, most // v.plane))
    space = 8 + together * max(lines * v.pitch, count) + 8
    gather_weight_patches(
        head.flat, data.flat, d_weight.flat, tuple(g), tuple(v),
        tuple(Share(together, lines * v.run, count, space, depth)),
        workspace("image", g.channels // g.num_group * v.channel),
        workspace("patches", space * pitch), workspace("sums", each * pitch), rows, blocks,
    )
