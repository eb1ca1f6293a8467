"""Convolution in which every channel has one filter of its own: sixteen channels at a time.

A filter of one channel has few products for each output, and rows of small images fill no vector. So sixteen planes
are transposed until their numbers at one pixel are adjacent. A vector then holds one pixel of sixteen planes,
whatever the width, stride and dilation of the image. Every output adds its products in the order of the page, each
rounded as there: outputs and gradients by data have the bits of the plain loops. The gradient by weight first sums up
to ``CHUNK`` products in single precision.

Planes are computed in *bands* of rows that stay in the cache. A band has a copy of the rows that it reads, with zeros
around them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from .kernel import LONGEST, kernel, pixel_tile, workspace
from .lanes import COUNT
from .simd import load_offsets, multiply_add_tile, ramp, store_tile, zero_tile
from .transpose import transpose

BAND = 32768  # numbers of a band, 128 KiB
CHUNK = 256  # products of a weight that are summed in single precision, or those of a line
TAPS = (0,) * 5  # so many weights at a time; of 9 and of 25 it wastes little


class Sliding(NamedTuple):
    """How the outputs of a plane read another plane, part after part: a part holds every ``apart``-th output."""

    channels: int
    height: int
    width: int
    out_h: int
    out_w: int
    pad_h: int
    pad_w: int
    pitch: int
    """Width of a row of the copy."""
    step_h: int
    step_w: int
    apart_h: int
    apart_w: int
    reach: int
    """How many rows of the copy lie between the first and the last that an output reads."""
    band: int
    """Rows of a part in a band."""
    taps: np.ndarray
    """Offset into the copy of each tap, the last repeated."""
    weights: np.ndarray
    """Number of each tap in the filter."""
    ends: np.ndarray
    """Where the taps of each part end."""

    @property
    def rows(self) -> int:
        """Rows of a band's copy."""
        return (self.band - 1) * self.step_h + self.reach + 1


def takes(g: Geometry) -> bool:
    """Whether these kernels compute that convolution."""
    flat = g.depth == g.kernel_d == g.out_d == 1
    return flat and g.channels == g.num_filter == g.num_group >= COUNT


Moves = list[list[tuple[int, int]]]


def _axis(size: int, out: int, k: int, stride: int, pad: int, dilate: int, back: bool) -> tuple[Moves, int, int]:
    """Taps of each part along one axis as (number, move), zeros before the plane, and the length read."""
    if not back:
        moves = [[(j, j * dilate) for j in range(k)]]
        return moves, pad, max(pad + size, (out - 1) * stride + (k - 1) * dilate + 1)
    parts = [[(j, a + pad - j * dilate) for j in range(k)] for a in range(stride)]
    moves = [[(j, m // stride) for j, m in part if m % stride == 0] for part in parts]
    every = [m for part in moves for _, m in part]
    before = max(0, -min(every))
    moves = [[(j, m + before) for j, m in part] for part in moves]
    return moves, before, before + max(out, -(-size // stride) + max(0, max(every)))


@lru_cache(maxsize=512)
def sliding(g: Geometry, *, back: bool = False) -> Sliding:
    """How out reads data, or, where ``back``, how the gradient of data reads the head."""
    along_h, pad_h, _ = _axis(g.height, g.out_h, g.kernel_h, g.stride_h, g.pad_h, g.dilate_h, back)
    along_w, pad_w, pitch = _axis(g.width, g.out_w, g.kernel_w, g.stride_w, g.pad_w, g.dilate_w, back)
    taps, weights, ends = [], [], []
    for part_h in along_h:
        for part_w in along_w:
            taps += [(y * pitch + x) * COUNT for _, y in part_h for _, x in part_w]
            weights += [i * g.kernel_w + j for i, _ in part_h for j, _ in part_w]
            ends.append(len(taps))
    data, out = (g.height, g.width), (g.out_h, g.out_w)
    step, apart = (g.stride_h, g.stride_w), (1, 1)
    if back:
        data, out, step, apart = out, data, apart, step
    reach = max(y for part in along_h for _, y in part)
    band = max(1, (BAND // (pitch * COUNT) - reach) // step[0])
    tables = (np.array(table, np.int64) for table in (taps + taps[-1:] * LONGEST, weights, ends))
    return Sliding(
        g.channels, *data, *out, pad_h, pad_w, pitch, *step, *apart, reach, min(band, -(-out[0] // apart[0])), *tables
    )


@kernel
def pack(weight, packed, channels, taps):
    """packed[tap, channel], the first channels once more behind the last; returns whether all weights are finite."""
    check = weight[0] * 0
    for tap in range(taps):
        for c in range(channels + 16):
            value = weight[c % channels * taps + tap]
            packed[tap * (channels + 16) + c] = value
            check += value * 0
    return check == 0


@kernel
def fill_band(source, start, v: Sliding, begin, dense, image):
    """Copy the rows that a band reads of sixteen planes from ``start`` on; the columns beside them hold zeros."""
    top, count = begin * v.step_h - v.pad_h, (v.band - 1) * v.step_h + v.reach + 1
    low, length = max(0, top), v.width * 16
    high = max(low, min(v.height, top + count))
    transpose(source, start + low * v.width, v.height * v.width, 16, (high - low) * v.width, dense, 0, 16)
    for row in range(top, top + count):
        to = ((row - top) * v.pitch + v.pad_w) * 16
        if low <= row < high:
            for q in range(length):
                image[to + q] = dense[(row - low) * length + q]
        else:
            for q in range(length):
                image[to + q] = 0


@kernel
def slide(source, packed, target, planes, v: Sliding, image, dense, rows, blocks):
    """Each target pixel is the sum of its part's taps, sixteen planes after the other."""
    taps, weights, ends, lines = v.taps, v.weights, v.ends, (v.out_h + v.apart_h - 1) // v.apart_h
    size, final = v.height * v.width, v.out_h * v.out_w
    for q in range(((v.band - 1) * v.step_h + v.reach + 1) * v.pitch * 16):
        image[q] = 0
    blocks = ramp(0, 8, 8, blocks)  # the same numbers, now known to the compiler
    for group in range(0, planes, 16):
        plane = min(group, planes - 16)
        for begin in range(0, lines, v.band):
            fill_band(source, plane * size, v, begin, dense, image)
            done, end = begin * v.apart_h, min((begin + v.band) * v.apart_h, v.out_h)
            first = 0
            for part in range(len(ends)):
                a, e = part // v.apart_w, part % v.apart_w
                for y in range(done + a, end, v.apart_h):
                    line, to = (y - done) // v.apart_h * v.step_h * v.pitch * 16, (y - done) * v.out_w * 16
                    count = (v.out_w - e + v.apart_w - 1) // v.apart_w
                    for x in range(0, count, len(rows)):
                        left = ramp(x * v.step_w * 16, v.step_w * 16, (count - 1) * v.step_w * 16, rows)
                        tile = zero_tile(rows, blocks)
                        for t in range(first, ends[part]):
                            tile = multiply_add_tile(
                                tile, image, left, line + taps[t], packed, blocks,
                                weights[t] * (v.channels + 16) + plane % v.channels,
                            )
                        places = ramp(x * v.apart_w * 16, v.apart_w * 16, (count - 1) * v.apart_w * 16, rows)
                        store_tile(tile, dense, places, blocks, to + e * 16)
                first = ends[part]
            transpose(dense, 0, 16, (end - done) * v.out_w, 16, target, plane * final + done * v.out_w, final)


@kernel
def gather_products(head, data, d_weight, batch_size, v: Sliding, image, dense, sums, part, rows, blocks):
    """d_weight[c, tap] = sum over images and pixels of head . data: of some lines, then of all in double precision."""
    taps, count, lines = v.taps, len(v.weights), max(1, CHUNK // v.out_w)
    size, final = v.height * v.width, v.out_h * v.out_w
    blocks = ramp(0, 8, 8, blocks)  # the same numbers, now known to the compiler
    for q in range(((v.band - 1) * v.step_h + v.reach + 1) * v.pitch * 16):
        image[q] = 0
    for group in range(0, v.channels, 16):
        channel = min(group, v.channels - 16)
        for q in range((count + len(rows)) * 16):
            sums[q] = 0
        for item in range(batch_size):
            plane = item * v.channels + channel
            for begin in range(0, v.out_h, v.band):
                end = min(begin + v.band, v.out_h)
                fill_band(data, plane * size, v, begin, dense, image)
                transpose(head, plane * final + begin * v.out_w, final, 16, (end - begin) * v.out_w, dense, 0, 16)
                for line in range(0, end - begin, lines):
                    for t in range(0, count, len(rows)):
                        left, tile = load_offsets(taps, t, rows), zero_tile(rows, blocks)
                        for y in range(line, min(line + lines, end - begin)):
                            for x in range(v.out_w):
                                at, here = (y * v.step_h * v.pitch + x * v.step_w) * 16, (y * v.out_w + x) * 16
                                tile = multiply_add_tile(tile, image, left, at, dense, blocks, here)
                        store_tile(tile, part, ramp(0, 16, 16 * len(rows), rows), blocks, 0)
                        for q in range(16 * len(rows)):
                            sums[t * 16 + q] += part[q]
        for t in range(count):
            for c in range(16):
                d_weight[(channel + c) * count + t] = sums[t * 16 + c]


def _memory(v: Sliding) -> tuple[np.ndarray, np.ndarray]:
    """Working memory for a band: its copy, and a part of a plane without zeros around it."""
    dense = max(v.rows * v.width, v.band * v.apart_h * v.out_w) * COUNT
    return workspace("image", v.rows * v.pitch * COUNT), workspace("dense", dense)


def convolve(source: Buffer, weight: Buffer, target: Buffer, g: Geometry, *, back: bool = False) -> bool:
    """Forward, or the gradient by data from the head as ``source``; False where that would need a finite weight."""
    v = sliding(g, back=back)
    taps = g.kernel_h * g.kernel_w
    packed = workspace("packed", taps * (g.channels + COUNT))
    if not pack(weight.flat, packed, g.channels, taps) and back:
        return False
    rows, blocks = pixel_tile()
    slide(source.flat, packed, target.flat, g.batch_size * g.channels, tuple(v), *_memory(v), rows, blocks)
    return True


def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """Gradient by weight."""
    v, rows, blocks = sliding(g), TAPS, pixel_tile()[1]
    gather_products(
        head.flat, data.flat, d_weight.flat, g.batch_size, tuple(v), *_memory(v),
        workspace("sums", (len(v.weights) + len(rows)) * COUNT, np.float64), workspace("part", len(rows) * COUNT),
        rows, blocks,
    )
