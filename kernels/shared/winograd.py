"""Winograd's convolution F(4, 3): sixteen outputs of a 3 x 3 filter with 36 products in place of 144.

Six neighbouring pixels and three weights are made into six *points* each. Products point by point, brought back, are
four outputs: ``output_sums(data_points(pixels) * weight_points(weights))`` (Lavin and Gray, 2016; the points are those
of polynomials at 0, 1, -1, 2, -2 and infinity). In two dimensions columns go first, then rows: a *tile* of 4 x 4
outputs takes the 6 x 6 pixels that it reads. ``spec/winograd.md`` has the rules, and how large the error may be.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from ..foundation import Buffer, Loop, decides, items, refusal, scalar, scratch
from ..foundation.loop import _CHOICE
from ..tuned import winograd as tuned
from .convolution_geometry import Geometry
from .winograd_tiles import (
    SECTION,
    Tiles,
    data_points,
    fused,
    head_points,
    output_sums,
    tiles,
    weight_points,
    weight_sums,
)

SWITCH = "REFIMPL_WINOGRAD"
LEAST = 16
"""Convolutions of fewer channels or filters stay as they are: making points would take longer than is saved."""


class _Choice:
    """Whether the switch is on, for the whole process; None: as the environment said when it was first asked."""

    on: bool | None = None


@cache
@decides("winograd/switch")
def _from_environment() -> bool:
    asked = os.environ.get(SWITCH, "0")
    if asked not in ("0", "1"):
        raise refusal("winograd/switch", f"{SWITCH} must be 0 or 1, it is {asked!r}")
    return asked == "1"


def is_on() -> bool:
    """Whether convolutions that fit are computed in this way; not while bounds are computed of the page's own sums.

    Raises:
        MXNetError: the environment variable is neither 0 nor 1.
    """
    return (_from_environment() if _Choice.on is None else _Choice.on) and not callable(_CHOICE.python)


def chosen() -> bool | None:
    """What blocks say, for the keys of calls that are remembered: the environment says the same all the time."""
    return _Choice.on


@contextmanager
def winograd(*, on: bool = True) -> Iterator[None]:
    """Within this block the switch is on, or off, for the whole process."""
    before, _Choice.on = _Choice.on, on
    try:
        yield
    finally:
        _Choice.on = before


@decides("winograd/which")
def takes(g: Geometry, dtype: np.dtype) -> bool:
    """Whether a convolution, and the gradient of its data, are computed in this way while the switch is on."""
    flat = g.kernel == (1, 3, 3) and g.depth == g.out_d == 1
    plain = g.stride == g.dilate == (1, 1, 1) and max(g.pad_h, g.pad_w) <= 2 and g.num_group == 1
    return flat and plain and min(g.channels, g.num_filter) >= LEAST and dtype == np.float32


@decides("winograd/which")
def takes_gradient(g: Geometry, dtype: np.dtype) -> bool:
    """Whether the gradient of its weights is: not for so few tiles that making points of weights would take longer."""
    return takes(g, dtype) and g.batch_size * -(-g.out_h // 4) * -(-g.out_w // 4) >= SECTION


# --- loops ---------------------------------------------------------------------------------------
# points[point, slot, channel], weights[point, panel, channel, out of the panel], products[point, slot, out]


@scalar
def points_down(weight, at, turn):
    """Six points of the three weights of a column, in double precision."""
    return weight_points(
        np.float64(weight[at]), np.float64(weight[at + 3 * turn]), np.float64(weight[at + 6 * turn])
    )


def transform_weights(weight, weights, t: Tiles):
    """Points of every filter, and zeros behind the last out; one item is one filter of one channel."""
    for item in items(t.ins * t.panels * t.panel):
        c, f = item // (t.panels * t.panel), item % (t.panels * t.panel)
        to, step = (f // t.panel * t.ins + c) * t.panel + f % t.panel, t.panels * t.ins * t.panel
        if f < t.outs:
            first, turn = (f * t.ins + c) * 9, 1
            if t.back:
                first, turn = (c * t.outs + f) * 9 + 8, -1
            left, right = points_down(weight, first, turn), points_down(weight, first + 2 * turn, turn)
            middle = points_down(weight, first + turn, turn)
            for i in range(6):
                row = weight_points(left[i], middle[i], right[i])
                for j in range(6):
                    weights[(6 * i + j) * step + to] = row[j]
        else:
            for point in range(36):
                weights[point * step + to] = 0


@scalar
def pixel(data, plane, row, column, height, width):
    """A pixel of a plane, or the zero beside it."""
    if 0 <= row < height and 0 <= column < width:
        return data[(plane * height + row) * width + column]
    return np.float32(0)


@scalar
def pixels_down(data, plane, row, column, height, width):
    """Six points of the six pixels of a column."""
    return data_points(
        pixel(data, plane, row, column, height, width), pixel(data, plane, row + 1, column, height, width),
        pixel(data, plane, row + 2, column, height, width), pixel(data, plane, row + 3, column, height, width),
        pixel(data, plane, row + 4, column, height, width), pixel(data, plane, row + 5, column, height, width),
    )


@scalar
def heads_down(head, plane, row, column, height, width):
    """Six points of the four heads of a column."""
    return head_points(
        pixel(head, plane, row, column, height, width), pixel(head, plane, row + 1, column, height, width),
        pixel(head, plane, row + 2, column, height, width), pixel(head, plane, row + 3, column, height, width),
    )


@scalar
def sums_down(points, at, step):
    """Gradients of three weights of a column from those of its six points, in double precision."""
    return weight_sums(
        np.float64(points[at]), np.float64(points[at + 6 * step]), np.float64(points[at + 12 * step]),
        np.float64(points[at + 18 * step]), np.float64(points[at + 24 * step]), np.float64(points[at + 30 * step]),
    )


def convolve(data, weights, out, points, products, t: Tiles):
    """Outputs, tile by tile; one item is a slot, whose tiles follow each other."""
    long, lines = t.panels * t.panel, t.batch_size * t.tiles_h
    for slot in items(t.slots):
        for tile in range(slot, lines * t.tiles_w, t.slots):
            image, y, x = tile // (t.tiles_h * t.tiles_w), tile // t.tiles_w % t.tiles_h * 4, tile % t.tiles_w * 4
            for c in range(t.ins):
                at, step = slot * t.ins + c, t.in_pitch
                for j in range(6):
                    down = pixels_down(
                        data, image * t.ins + c, y - t.pad_h, x - t.pad_w + j, t.height, t.width
                    )
                    for i in range(6):
                        points[(6 * i + j) * step + at] = down[i]
                for i in range(6):
                    p = 6 * i * step + at
                    across = data_points(
                        points[p], points[p + step], points[p + 2 * step],
                        points[p + 3 * step], points[p + 4 * step], points[p + 5 * step],
                    )
                    for j in range(6):
                        points[p + j * step] = across[j]
            for f in range(t.outs):
                at, step = slot * long + f, t.out_pitch
                for point in range(36):
                    total, w = np.float32(0), (point * t.panels + f // t.panel) * t.ins * t.panel + f % t.panel
                    for c in range(t.ins):
                        total = fused(points[point * t.in_pitch + slot * t.ins + c], weights[w + c * t.panel], total)
                    products[point * step + at] = total
                for j in range(6):
                    p = j * step + at
                    down = output_sums(
                        products[p], products[p + 6 * step], products[p + 12 * step],
                        products[p + 18 * step], products[p + 24 * step], products[p + 30 * step],
                    )
                    for i in range(4):
                        products[p + 6 * i * step] = down[i]
                for i in range(min(4, t.out_h - y)):
                    p = 6 * i * step + at
                    across = output_sums(
                        products[p], products[p + step], products[p + 2 * step],
                        products[p + 3 * step], products[p + 4 * step], products[p + 5 * step],
                    )
                    for j in range(min(4, t.out_w - x)):
                        out[((image * t.outs + f) * t.out_h + y + i) * t.out_w + x + j] = across[j]


def gather_weight(head, data, d_weight, points, products, t: Tiles):
    """Gradient by weight; one item is a slot, whose filters of one channel follow each other.

    The first number of a slot in ``points`` is a sum over all tiles, that in ``products`` over those of a section.
    """
    long, lines = t.panels * t.panel, t.batch_size * t.tiles_h
    for slot in items(t.slots):
        for pair in range(slot, t.outs * t.ins, t.slots):
            f, c, total, part = pair // t.ins, pair % t.ins, slot * t.ins, slot * long
            for point in range(36):
                points[point * t.in_pitch + total] = 0
            for first in range(0, lines * t.tiles_w, t.slots):
                for point in range(36):
                    products[point * t.out_pitch + part] = 0
                for tile in range(first, min(first + t.slots, lines * t.tiles_w)):
                    image, y = tile // (t.tiles_h * t.tiles_w), tile // t.tiles_w % t.tiles_h * 4
                    x, plane, row = tile % t.tiles_w * 4, image * t.ins + c, y - t.pad_h
                    p0 = pixels_down(data, plane, row, x - t.pad_w, t.height, t.width)
                    p1 = pixels_down(data, plane, row, x - t.pad_w + 1, t.height, t.width)
                    p2 = pixels_down(data, plane, row, x - t.pad_w + 2, t.height, t.width)
                    p3 = pixels_down(data, plane, row, x - t.pad_w + 3, t.height, t.width)
                    p4 = pixels_down(data, plane, row, x - t.pad_w + 4, t.height, t.width)
                    p5 = pixels_down(data, plane, row, x - t.pad_w + 5, t.height, t.width)
                    h0 = heads_down(head, image * t.outs + f, y, x, t.out_h, t.out_w)
                    h1 = heads_down(head, image * t.outs + f, y, x + 1, t.out_h, t.out_w)
                    h2 = heads_down(head, image * t.outs + f, y, x + 2, t.out_h, t.out_w)
                    h3 = heads_down(head, image * t.outs + f, y, x + 3, t.out_h, t.out_w)
                    for i in range(6):
                        across = data_points(p0[i], p1[i], p2[i], p3[i], p4[i], p5[i])
                        beside = head_points(h0[i], h1[i], h2[i], h3[i])
                        for j in range(6):
                            at = (6 * i + j) * t.out_pitch + part
                            products[at] = fused(across[j], beside[j], products[at])
                for point in range(36):
                    points[point * t.in_pitch + total] += products[point * t.out_pitch + part]
            s0, s1 = sums_down(points, total, t.in_pitch), sums_down(points, t.in_pitch + total, t.in_pitch)
            s2 = sums_down(points, 2 * t.in_pitch + total, t.in_pitch)
            s3 = sums_down(points, 3 * t.in_pitch + total, t.in_pitch)
            s4 = sums_down(points, 4 * t.in_pitch + total, t.in_pitch)
            s5 = sums_down(points, 5 * t.in_pitch + total, t.in_pitch)
            for i in range(3):
                gradients = weight_sums(s0[i], s1[i], s2[i], s3[i], s4[i], s5[i])
                for j in range(3):
                    d_weight[pair * 9 + 3 * i + j] = gradients[j]


TRANSFORM_WEIGHTS = Loop(transform_weights, tuned=tuned.transform_weights)
CONVOLVE = Loop(convolve, tuned=tuned.convolve)
GATHER_WEIGHT = Loop(gather_weight, tuned=tuned.gather_weight)


# --- for pages -----------------------------------------------------------------------------------


@decides("winograd/arithmetic", "winograd/error", "winograd/not-finite")
def correlate(data: Buffer, weight: Buffer, out: Buffer, g: Geometry, *, back: bool = False) -> None:
    """What ``convolve`` of the page computes, or, where ``back``, ``send_back`` from the head as ``data``."""
    t = tiles(g, back=back)
    weights, points, products = scratch(data, t.weights, 36 * t.in_pitch, 36 * t.out_pitch)
    TRANSFORM_WEIGHTS(weight, weights, t)
    CONVOLVE(data, weights, out, points, products, t)


@decides("winograd/weight-gradient")
def gather(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """What ``gather_weight`` of the page computes."""
    t = tiles(g, sections=True)
    points, products = scratch(data, 36 * t.in_pitch, 36 * t.out_pitch)
    GATHER_WEIGHT(head, data, d_weight, points, products, t)
