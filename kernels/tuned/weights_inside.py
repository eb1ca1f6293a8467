"""The gradient of a convolution by its weight, tap by tap: each tap meets the outputs for which it lies in the image.

A tile holds one tap of a few channels times some blocks of filters, and sums over outputs. The head is transposed, so
that filters are contiguous; the image is copied line by line, so that the channels of a tile do not all begin at the
same place of the cache. Up to ``CHUNK`` outputs, of one image or several, are summed in registers, then added.
"""

from __future__ import annotations

from math import inf, prod
from typing import NamedTuple

from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from .convolution_inside import PACK, are_finite
from .convolution_rows import end_inside, first_inside
from .kernel import kernel, sums_tile, workspace
from .simd import add_tiles, copy_masked, fma_tile, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose

CHUNK = 256
SUMS = 3 << 15  # sums that are kept in the cache until all outputs are added
TOGETHER = 1 << 18  # numbers of the images that are copied together


class Share(NamedTuple):
    """What is summed, and kept in the cache, at a time."""

    together: int
    """So many images are summed together."""
    lines: int
    """And so many lines of their outputs."""
    pitch: int
    """Numbers of a channel's copy."""
    deep: int
    """So many channels have their sums in the cache,"""
    across: int
    """of the filters of so many tiles."""


@kernel
def copy_lines(data, start, channels, size, count, image, to, pitch):
    """image[to + channel pitch + q] = data[start + channel size + q] for ``count`` numbers of each channel."""
    for channel in range(channels):
        for q in range(0, count, 16):
            copy_masked(data, start + channel * size + q, image, to + channel * pitch + q, count - q)


class Lines(NamedTuple):
    """Some lines of outputs of some images, copies of what they read, and a tap."""

    apart: int
    """Between the copies of two images."""
    channels: int
    begin: int
    """The first number of a channel that is copied."""
    images: int
    line: int
    end: int
    base: int
    """Where the sums of these filters begin."""
    more: int
    """0 where the sums begin."""
    finite: int
    """0 where the head has numbers that are not finite."""
    tap: int


@kernel
def sum_tap(image, turned, sums, nothing, g: Geometry, s: Share, o: Lines, rows, blocks):
    """sums[channel, tap] = products of the outputs of some lines for which the tap lies inside, by filters."""
    width, taps, count = 8 * len(blocks), g.kernel_d * g.kernel_h * g.kernel_w, (o.end - o.line) * g.out_w
    apart, channels, tap, line, end, base, pitch = o.apart, o.channels, o.tap, o.line, o.end, o.base, s.pitch
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    k, j = tap // (g.kernel_h * g.kernel_w) * g.dilate_d - g.pad_d, tap % g.kernel_w * g.dilate_w - g.pad_w
    i = tap // g.kernel_w % g.kernel_h * g.dilate_h - g.pad_h
    low = first_inside(j, g.stride_w, g.out_w)
    high = max(low, end_inside(j, g.stride_w, g.out_w, g.width))
    for channel in range(0, channels, len(rows)):
        left = ramp(channel * pitch, pitch, (channels - 1) * pitch, rows)
        tile = zero_tile(rows, blocks)
        for one in range(o.images):
            for row in range(line, end):
                z, y = row // g.out_h * g.stride_d + k, row % g.out_h * g.stride_h + i
                if 0 <= z < g.depth and 0 <= y < g.height:
                    read = one * apart + (z * g.height + y) * g.width - o.begin + j
                    at = one * count + (row - line) * g.out_w
                    for x in range(low, high):
                        tile = fma_tile(tile, image, left, read + x * g.stride_w, turned, blocks, (at + x) * width)
        for q in range(0 if o.finite > 0 else o.images * count):
            row, x = line + q % count // g.out_w, q % g.out_w
            z, y = row // g.out_h * g.stride_d + k, row % g.out_h * g.stride_h + i
            if not (0 <= z < g.depth and 0 <= y < g.height and low <= x < high):
                tile = fma_tile(tile, nothing, rows, 0, turned, blocks, q * width)
        target = ramp((channel * taps + tap) * width, taps * width, ((channels - 1) * taps + tap) * width, rows)
        if o.more > 0:
            tile = add_tiles(load_tile(sums, target, blocks, base), tile)
        store_tile(tile, sums, target, blocks, base)


@kernel
def lines_read(g: Geometry, line, end):
    """The first number of a channel that the outputs of some lines read, and the end: whole lines of the image."""
    if g.depth > 1:
        z = line // g.out_h * g.stride_d - g.pad_d
        last = (end - 1) // g.out_h * g.stride_d - g.pad_d + (g.kernel_d - 1) * g.dilate_d
        return max(0, z) * g.height * g.width, min(g.depth, last + 1) * g.height * g.width
    y = line % g.out_h * g.stride_h - g.pad_h
    last = (end - 1) % g.out_h * g.stride_h - g.pad_h + (g.kernel_h - 1) * g.dilate_h
    if g.out_d > 1:
        y, last = 0, g.height
    return max(0, y) * g.width, min(g.height, last + 1) * g.width


@kernel
def gather_weight_inside(
    head, data, d_weight, g: Geometry, s: Share, image, turned, sums, nothing, rows, blocks
):  # fmt: skip
    """d_weight = head over data: a tile's filters over some channels at a time, of all images."""
    share, each, width = g.channels // g.num_group, g.num_filter // g.num_group, 8 * len(blocks)
    size, lines = g.depth * g.height * g.width, g.out_d * g.out_h
    taps, plane = g.kernel_d * g.kernel_h * g.kernel_w, lines * g.out_w
    across, steps = s.across * width, (lines + s.lines - 1) // s.lines
    nothing[0] = 0
    for part in range(g.num_group * ((each + across - 1) // across)):
        group, left = part % g.num_group, part // g.num_group * across
        right = min(each, left + across)
        for low in range(0, share, s.deep):
            channels = min(s.deep, share - low)
            for step in range((g.batch_size + s.together - 1) // s.together * steps):
                first, line = step // steps * s.together, step % steps * s.lines
                images, end = min(s.together, g.batch_size - first), min(lines, line + s.lines)
                begin, stop = lines_read(tuple(g), line, end)
                count, apart = (end - line) * g.out_w, channels * s.pitch
                for i in range(images):
                    start = ((first + i) * g.channels + group * share + low) * size + begin
                    copy_lines(data, start, channels, size, stop - begin, image, i * apart, s.pitch)
                for column in range(left, right, width):
                    lanes = min(width, right - column)
                    for i in range(images):
                        start = ((first + i) * g.num_filter + group * each + column) * plane + line * g.out_w
                        transpose(head, start, plane, lanes, count, turned, i * count * width, width)
                    for q in range(images * count if lanes < width else 0):
                        for r in range(lanes, width):
                            turned[q * width + r] = 0
                    finite = int(are_finite(turned, images * count * width, nothing))
                    for tap in range(taps):
                        base = (column - left) * channels * taps
                        o = apart, channels, begin, images, line, end, base, step, finite, tap
                        sum_tap(image, turned, sums, nothing, tuple(g), tuple(s), o, rows, blocks)
            for column in range(left, right, width):
                to = ((group * each + column) * share + low) * taps
                lanes, base = min(width, right - column), (column - left) * channels * taps
                transpose(sums, base, width, channels * taps, lanes, d_weight, to, share * taps)


def cost(g: Geometry) -> float:
    """How long one output takes, in products; infinite where a line of outputs is too long."""
    channels, filters = g.channels // g.num_group, g.num_filter // g.num_group
    rows, blocks = sums_tile(channels, filters)
    width = 8 * len(blocks)
    products = -(-channels // len(rows)) * len(rows) * prod(g.kernel) * -(-filters // width) * width
    return g.num_group * products if g.out_w <= CHUNK else inf


def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """The gradient by weight."""
    channels, filters, plane = g.channels // g.num_group, g.num_filter // g.num_group, prod(g.out)
    rows, blocks = sums_tile(channels, filters)
    width = 8 * len(blocks)
    lines = min(g.out_d * g.out_h, max(1, CHUNK // g.out_w))
    lines = -(-g.out_d * g.out_h // -(-g.out_d * g.out_h // lines))  # as many each time
    reach = (lines - 1) * g.stride_h + (g.kernel_h - 1) * g.dilate_h + 1
    copied = min(g.depth * g.height * g.width, reach * g.width if g.depth == 1 else 1 << 62)
    pitch = copied // 16 * 16 + 16
    pitch += 16 if pitch % 256 == 0 else 0
    deep = max(1, min(channels, SUMS // (prod(g.kernel) * width)))
    deep = -(-channels // -(-channels // deep))
    across = max(1, min(-(-filters // width), SUMS // (deep * prod(g.kernel) * width)))
    together = max(1, min(g.batch_size, CHUNK // plane, TOGETHER // (deep * pitch)))
    gather_weight_inside(
        head.flat, data.flat, d_weight.flat, tuple(g), tuple(Share(together, lines, pitch, deep, across)),
        workspace("image", together * deep * pitch),
        workspace("turned", together * lines * g.out_w * width + 8 * len(PACK)),
        workspace("sums", across * deep * prod(g.kernel) * width),
        workspace("nothing", 1 + 8 * len(PACK)), rows, blocks,
    )
