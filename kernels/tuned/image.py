"""How a convolution reads an image: tables in which every tap of its kernel is one offset to add to an address.

``space_to_depth`` copies an image with its padding around it, and splits it by the remainders of the coordinates
modulo the stride: all pixels with remainder (0, 0) first, then (0, 1), and so on. Within such a *part*, adjacent
outputs read adjacent pixels, whatever the stride. So an output pixel is an address, a tap is an offset, and
data[output + tap] is the pixel to multiply. The tables here hold both.

A *run* is a sequence of outputs whose pixels are contiguous in memory: a row, or the whole plane where there is no
gap between rows. Runs are cut into blocks of 8 lanes. The last block of a run may overlap the one before it: a few
outputs are computed twice, and no special case is needed. A run shorter than 8 gets a pitch of 8, and its surplus
lanes are ignored. Where outputs are accumulated rather than stored, blocks must not overlap, so the pitch of
every run is a multiple of 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..shared.convolution_geometry import Geometry, Triple
from .kernel import LONGEST, kernel
from .simd import copy_from_stride_2, copy_masked, copy_to_stride_2


class View(NamedTuple):
    """Which sizes a copy of an image has, and how it is read."""

    sizes: tuple[int, ...]
    """Data, parts, stride, pad, sides of a part: each along depth, height and width."""
    channel: int
    """Elements of one channel of the copy."""
    taps: np.ndarray
    """Offset of each (channel, kernel position) of one group; a tile may read past the last."""
    pixels: np.ndarray
    """Address of the pixel that each output reads at tap 0."""
    blocks: np.ndarray
    """Address of each block of outputs."""
    places: np.ndarray
    """Where each block is stored in an output plane, whose runs are ``pitch`` apart."""
    run: int
    pitch: int

    @property
    def plane(self) -> int:
        """Numbers of an output plane that is stored with that pitch."""
        return self.pixels.size // self.run * self.pitch


def cartesian(*axes: np.ndarray) -> np.ndarray:
    """All sums of one number from each axis, the last axis fastest."""
    total = np.zeros(1, np.int64)
    for axis in axes:
        total = (total[:, None] + axis[None, :]).reshape(-1)
    return total


def _filled(table: np.ndarray, multiple: int) -> np.ndarray:
    """The table, its last entry repeated until the length is a multiple."""
    return np.pad(table, (0, -len(table) % multiple), mode="edge")


def readonly(*tables: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(table, np.int64) for table in tables]


def cut(
    outputs: Triple, sides: Triple, lanes: int, *, overlap: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Tables of outputs within parts of ``sides``: pixels, blocks, places, run, pitch."""
    depth, height, width = (np.arange(n, dtype=np.int64) for n in outputs)
    pixels = cartesian(depth * sides[1] * sides[2], height * sides[2], width)
    run = outputs[2]
    if sides[2] == outputs[2]:
        run *= outputs[1]
        if sides[1] == outputs[1]:
            run *= outputs[0]
    starts = np.arange(0, run, 8)
    pitch = max(run, 8) if overlap else 8 * len(starts)
    if overlap:
        starts = np.minimum(starts, max(run - 8, 0))
    blocks = cartesian(pixels[::run], starts)
    places = cartesian(np.arange(len(pixels) // run) * pitch, starts)
    return (*readonly(pixels, _filled(blocks, lanes), _filled(places, lanes)), run, pitch)  # type: ignore[return-value]


@lru_cache(maxsize=512)
def view(g: Geometry, lanes: int, *, overlap: bool = True) -> View:
    """How a convolution reads its data; tables are filled up to a multiple of ``lanes`` blocks."""
    kept, parts, moves = [], [], []
    for k, s, e in zip(g.kernel, g.stride, g.dilate, strict=True):
        reach = np.arange(k) * e
        kept.append(int((reach % s).max()) + 1)
        parts.append(reach % s)
        moves.append(reach // s)
    sides = tuple(o + int(m.max()) for o, m in zip(g.out, moves, strict=True))
    rows, area = sides[2], sides[1] * sides[2]
    part = area * sides[0]
    channel = kept[0] * kept[1] * kept[2] * part
    along = (
        parts[0] * kept[1] * kept[2] * part + moves[0] * area,
        parts[1] * kept[2] * part + moves[1] * rows,
        parts[2] * part + moves[2],
    )
    taps = cartesian(np.arange(g.channels // g.num_group) * channel, *along)
    pixels, blocks, places, run, pitch = cut(g.out, sides, lanes, overlap=overlap)  # type: ignore[arg-type]
    return View(
        (*g.size, *kept, *g.stride, *g.pad, *sides), channel,
        readonly(np.pad(taps, (0, LONGEST), mode="edge"))[0], pixels, blocks, places, run, pitch,
    )


class BackView(NamedTuple):
    """How the gradient by data reads the head: one part of the data after the other."""

    sizes: tuple[int, ...]
    channel: int
    taps: np.ndarray
    """Offset into the padded head of each (filter, kernel position), part after part."""
    weights: np.ndarray
    """The weight of each tap, counted from a channel's first."""
    ends: np.ndarray
    """Where each part's taps end."""
    blocks: np.ndarray
    places: np.ndarray
    run: int
    pitch: int
    counts: Triple
    """Sides of a part of the data."""

    @property
    def plane(self) -> int:
        """Elements of one part of a data plane that is stored with that pitch."""
        return self.counts[0] * self.counts[1] * self.counts[2] // self.run * self.pitch


@lru_cache(maxsize=512)
def back_view(g: Geometry, lanes: int) -> BackView:
    """A pixel y with remainder a = y mod s gets head[(y + p - k e) / s] from each k that makes this whole."""
    counts = tuple(-(-n // s) for n, s in zip(g.size, g.stride, strict=True))
    moves: list[list[Sequence[tuple[int, int]]]] = []  # by axis and remainder: (kernel position, move)
    for k, s, p, e in zip(g.kernel, g.stride, g.pad, g.dilate, strict=True):
        moves.append([
            [(j, (a + p - j * e) // s) for j in range(k) if (a + p - j * e) % s == 0] for a in range(s)
        ])
    every = [[m for part in axis for _, m in part] for axis in moves]
    before = tuple(max(0, -min(axis)) for axis in every)
    sides = tuple(
        b + max(o, n + max(0, max(axis)))
        for b, o, n, axis in zip(before, g.out, counts, every, strict=True)
    )
    rows, area = sides[2], sides[1] * sides[2]
    channel, positions = area * sides[0], g.kernel_d * g.kernel_h * g.kernel_w
    ends, taps, weights = [], [], []
    for depth in moves[0]:
        for height in moves[1]:
            for width in moves[2]:
                here = [
                    ((z + before[0]) * area + (y + before[1]) * rows + x + before[2],
                     (k * g.kernel_h + i) * g.kernel_w + j)
                    for k, z in depth for i, y in height for j, x in width
                ]
                table = np.array(here, np.int64).reshape(-1, 2)
                filters, weights_each = np.arange(g.num_filter // g.num_group), g.channels // g.num_group * positions
                taps.append(cartesian(filters * channel, table[:, 0]))
                weights.append(cartesian(filters * weights_each, table[:, 1]))
                ends.append(sum(map(len, taps)))
    _, blocks, places, run, pitch = cut(counts, sides, lanes)  # type: ignore[arg-type]
    return BackView(
        (*g.out, 1, 1, 1, 1, 1, 1, *before, *sides), channel,
        *readonly(np.concatenate(taps), np.concatenate(weights), np.array(ends)),
        blocks, places, run, pitch, counts,  # type: ignore[arg-type]
    )


@kernel
def copy_row(source, start, stride, target, to, apart, count):
    """target[to + i apart] = source[start + i stride]; one of the strides is 1."""
    for i in range(0, count, 16):
        if stride == 1 and apart == 1:
            copy_masked(source, start + i, target, to + i, count - i)
        elif stride == 2:
            copy_from_stride_2(source, start + 2 * i, target, to + i, count - i)
        elif apart == 2:
            copy_to_stride_2(source, start + i, target, to + 2 * i, count - i)
        else:
            for j in range(i, min(i + 16, count)):
                target[to + j * apart] = source[start + j * stride]


@kernel
def space_to_depth(data, start, channels, sizes, image):
    """Copy one image, split into parts, to image[channel, part, z, y, x], which holds zeros before."""
    d, h, w, kept_d, kept_h, kept_w, sd, sh, sw, pd, ph, pw, qd, qh, qw = sizes
    to = 0
    for channel in range(channels):
        for part in range(kept_d * kept_h * kept_w):
            a, b, e = part // (kept_h * kept_w), part // kept_w % kept_h, part % kept_w
            first = min(qw, max(0, (pw - e + sw - 1) // sw))
            end = max(first, min(qw, (w - 1 + pw - e) // sw + 1))
            for z in range(qd):
                depth = z * sd + a - pd
                for y in range(qh):
                    line = y * sh + b - ph
                    if 0 <= depth < d and 0 <= line < h:
                        source = start + ((channel * d + depth) * h + line) * w + e - pw
                        if sw == 1:
                            for x in range(first, end, 16):
                                copy_masked(data, source + x, image, to + x, end - x)
                        elif sw == 2:
                            for x in range(first, end, 16):
                                copy_from_stride_2(data, source + 2 * x, image, to + x, end - x)
                        else:
                            for x in range(first, end):
                                image[to + x] = data[source + x * sw]
                    to += qw


@kernel
def depth_to_space(image, channels, sizes, data, start):
    """The inverse of ``space_to_depth``, without the padding; pixels that are in no part become 0."""
    d, h, w, kept_d, kept_h, kept_w, sd, sh, sw, pd, ph, pw, qd, qh, qw = sizes
    for q in range(channels * d * h * w):
        data[start + q] = 0
    source = 0
    for channel in range(channels):
        for part in range(kept_d * kept_h * kept_w):
            a, b, e = part // (kept_h * kept_w), part // kept_w % kept_h, part % kept_w
            first = min(qw, max(0, (pw - e + sw - 1) // sw))
            end = max(first, min(qw, (w - 1 + pw - e) // sw + 1))
            for row in range(qd * qh):
                z, y = row // qh * sd + a - pd, row % qh * sh + b - ph
                if 0 <= z < d and 0 <= y < h:
                    to = start + ((channel * d + z) * h + y) * w + e - pw + first * sw
                    copy_row(image, source + first, 1, data, to, sw, end - first)
                source += qw


@kernel
def store_runs(source, channels, plane, run, pitch, rows, out, start, sizes, stride, part):
    """Copy the runs of every plane to out[channel, z sd + a, y sh + b, x sw + e], which has ``sizes``."""
    d, h, w = sizes
    sd, sh, sw = stride
    a, b, e = part
    high, wide = rows
    for channel in range(channels):
        for z in range((d - a + sd - 1) // sd):
            for y in range((h - b + sh - 1) // sh):
                at = (z * high + y) * wide
                at = channel * plane + at // run * pitch + at % run
                to = start + ((channel * d + z * sd + a) * h + y * sh + b) * w + e
                copy_row(source, at, 1, out, to, sw, (w - e + sw - 1) // sw)
