"""The gradient of a convolution by its weight, tap by tap: each tap meets the outputs for which it lies in the image.

A tile holds one tap of a few channels times some blocks of filters, and sums over outputs. The head is transposed, so
that filters are contiguous; the image is copied line by line, so that the channels of a tile do not all begin at the
same place of the cache. Up to ``CHUNK`` outputs, of one image or several, are summed in registers, then added.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..foundation import Buffer
from ..foundation.cuts import Cut, Given
from ..shared.convolution_geometry import Geometry
from .convolution_inside import PACK, are_finite
from .convolution_rows import end_inside, first_inside
from .kernel import cut, kernel, sums_tile, workspace
from .simd import add_tiles, copy_masked, fma_tile, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose

CHUNK = 256
TOGETHER = 1 << 18  # numbers of the images that are copied together


class Share(NamedTuple):
    """What one call does of the gradient by weight: the channels of a group from ``low`` to before ``high``."""

    together: int
    """So many images are summed together."""
    lines: int
    """And so many lines of their outputs."""
    pitch: int
    """Numbers of a channel's copy."""
    low: int
    high: int


def _products(given: Given) -> int:
    g = Geometry(*given["g"])
    return g.batch_size * g.num_filter * prod(g.out) * (g.channels // g.num_group) * prod(g.kernel)


def _channels_of(given: Given, first: int, last: int) -> Given:
    """The call for some channels of every group."""
    whole, height = Share(*given["s"]), len(given["rows"])
    return {"s": tuple(whole._replace(low=first * height, high=min(whole.high, last * height)))}


CHANNELS = Cut(
    lambda given: -(-given["s"][4] // len(given["rows"])), _products, _channels_of, own=("image", "turned", "sums", "nothing"),
)
"""Each part has some channels of every filter: all images, so that no sum is cut."""


@kernel
def copy_lines(data, start, channels, size, first, count, image, to, pitch):
    """image[to + channel pitch + q] = data[start + channel size + first + q] for ``count`` numbers of each channel."""
    for channel in range(channels):
        for q in range(0, count, 16):
            copy_masked(data, start + channel * size + first + q, image, to + channel * pitch + q, count - q)


@cut(CHANNELS)
@kernel
def gather_weight_inside(head, data, d_weight, g: Geometry, s: Share, image, turned, sums, nothing, one, pack, rows, blocks):
    """d_weight = head over data, some lines of some images at a time."""
    share, each, width = g.channels // g.num_group, g.num_filter // g.num_group, 8 * len(blocks)
    size, final, lines = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w, g.out_d * g.out_h
    taps, pitch = g.kernel_d * g.kernel_h * g.kernel_w, (each + width - 1) // width * width
    channels, each_image = s.high - s.low, (s.high - s.low) * s.pitch
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    nothing[0] = 0
    for group in range(g.num_group):
        for first in range(0, g.batch_size, s.together):
            images = min(s.together, g.batch_size - first)
            for line in range(0, lines, s.lines):
                end = min(lines, line + s.lines)
                count = (end - line) * g.out_w
                # The lines of the image that these outputs read, from the first row to the last, are copied.
                z, y = line // g.out_h * g.stride_d - g.pad_d, line % g.out_h * g.stride_h - g.pad_h
                begin = max(0, z) * g.height * g.width
                if g.out_d == 1 and g.depth == 1:
                    begin = max(0, y) * g.width
                z = (end - 1) // g.out_h * g.stride_d - g.pad_d + (g.kernel_d - 1) * g.dilate_d
                y = (end - 1) % g.out_h * g.stride_h - g.pad_h + (g.kernel_h - 1) * g.dilate_h
                stop = min(g.depth, z + 1) * g.height * g.width
                if g.out_d == 1 and g.depth == 1:
                    stop = min(g.height, y + 1) * g.width
                for i in range(images):
                    start = ((first + i) * g.channels + group * share + s.low) * size
                    copy_lines(data, start, channels, size, begin, stop - begin, image, i * each_image, s.pitch)
                for column in range(0, each, width):
                    lanes = min(width, each - column)
                    for i in range(images):
                        start = ((first + i) * g.num_filter + group * each + column) * final + line * g.out_w
                        transpose(head, start, final, lanes, count, turned, i * count * width, width)
                    for q in range(images * count if lanes < width else 0):
                        for r in range(lanes, width):
                            turned[q * width + r] = 0
                    finite = are_finite(turned, images * count * width, nothing, one, pack)
                    for channel in range(0, channels, len(rows)):
                        left = ramp(channel * s.pitch, s.pitch, (channels - 1) * s.pitch, rows)
                        for tap in range(taps):
                            k = tap // (g.kernel_h * g.kernel_w) * g.dilate_d - g.pad_d
                            row = tap // g.kernel_w % g.kernel_h * g.dilate_h - g.pad_h
                            column_of_tap = tap % g.kernel_w * g.dilate_w - g.pad_w
                            low = first_inside(column_of_tap, g.stride_w, g.out_w)
                            high = end_inside(column_of_tap, g.stride_w, g.out_w, g.width)
                            tile = zero_tile(rows, blocks)
                            for i in range(images):
                                for each_line in range(line, end):
                                    z, y = each_line // g.out_h * g.stride_d + k, each_line % g.out_h * g.stride_h + row
                                    if 0 <= z < g.depth and 0 <= y < g.height:
                                        source = i * each_image + (z * g.height + y) * g.width - begin + column_of_tap
                                        at = i * count + (each_line - line) * g.out_w
                                        for x in range(low, high):
                                            tile = fma_tile(
                                                tile, image, left, source + x * g.stride_w,
                                                turned, blocks, (at + x) * width,
                                            )
                            for q in range(0 if finite else images * count):
                                z = (line + q % count // g.out_w) // g.out_h * g.stride_d + k
                                y = (line + q % count // g.out_w) % g.out_h * g.stride_h + row
                                x = q % g.out_w
                                if not (0 <= z < g.depth and 0 <= y < g.height and low <= x < high):
                                    tile = fma_tile(tile, nothing, rows, 0, turned, blocks, q * width)
                            start = (group * share + channel) * taps + tap
                            last = (group * share + channels - 1) * taps + tap
                            target = ramp(start * pitch, taps * pitch, last * pitch, rows)
                            if first + line > 0:
                                tile = add_tiles(load_tile(sums, target, blocks, column), tile)
                            store_tile(tile, sums, target, blocks, column)
    for group in range(g.num_group):
        to = group * each * share * taps + s.low * taps
        transpose(sums, group * share * taps * pitch, pitch, channels * taps, each, d_weight, to, share * taps)


def takes(g: Geometry, height: int) -> bool:
    """Whether tiles of one tap are quicker than those of ``height`` taps: where there are enough channels."""
    channels, taps = g.channels // g.num_group, prod(g.kernel)
    rows = len(sums_tile(channels, g.num_filter // g.num_group)[0])
    mine, theirs = -(-channels // rows) * rows * taps, -(-channels * taps // height) * height
    return g.out_w <= CHUNK and 4 * mine <= 5 * theirs


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
    together = max(1, min(g.batch_size, CHUNK // plane, TOGETHER // (channels * pitch)))
    gather_weight_inside(
        head.flat, data.flat, d_weight.flat, tuple(g), tuple(Share(together, lines, pitch, 0, channels)),
        workspace("image", together * channels * pitch),
        workspace("turned", together * lines * g.out_w * width + 8 * len(PACK)),
        workspace("sums", g.num_group * channels * prod(g.kernel) * (-(-filters // width) * width)),
        workspace("nothing", 1 + 8 * len(PACK)), (0,), PACK, rows, blocks,
    )
