"""ROIPooling: the largest number in each part of a region of an image.

[ROIPooling/regions] rois is (regions, 5): the image's number in the batch, then x and y of the first and the last pixel
    of a region, which are multiplied by spatial_scale (0 .. 1) and rounded, halves away from zero. A region that ends
    before it begins is one pixel. The output is (regions, channels, *pooled_size).
    >>> image = [[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]]]
    >>> run("ROIPooling", image, [[0, 0, 0, 3, 3], [0, 1, 1, 6, 4]], pooled_size=(1, 2), spatial_scale=1)
    [[[[14.0, 16.0]]], [[[16.0, 0.0]]]]
    >>> run("ROIPooling", image, [[0, 1, 1, 6, 4]], pooled_size=(2, 3), spatial_scale=0.5)
    [[[[6.0, 7.0, 8.0], [10.0, 11.0, 12.0]]]]
    >>> run("ROIPooling", image, [[0, 3, 3, 1, 1]], pooled_size=(1, 1), spatial_scale=1)
    [[[[16.0]]]]

[ROIPooling/parts] part k of n along a side of s pixels reaches from pixel floor(k s / n) to ceil((k + 1) s / n), so
    that parts may overlap. What lies outside the image is left out; a part without pixels is 0.
    >>> run("ROIPooling", image, [[0, 0, 0, 2, 2], [0, 2, 2, 9, 9]], pooled_size=(2, 2), spatial_scale=1)
    [[[[6.0, 7.0], [10.0, 11.0]]], [[[16.0, 0.0], [0.0, 0.0]]]]

[ROIPooling/batch-index] a region of an image that is not in the batch gives zeros.
    >>> run("ROIPooling", image, [[1, 0, 0, 3, 3], [-1, 0, 0, 3, 3]], pooled_size=(1, 1), spatial_scale=1)
    [[[[0.0]]], [[[0.0]]]]

[ROIPooling/nan] NaN is never the largest; a part that holds only NaN gives the least finite number of the type.
    >>> run("ROIPooling", [[[[float("nan"), 1]]]], [[0, 0, 0, 1, 0]], pooled_size=(1, 1), spatial_scale=1)
    [[[[1.0]]]]

[ROIPooling/gradient] the head goes to the first of the largest numbers, in C order, and is added up region after
    region; rois have gradient zero.
    >>> rois = [[0, 0, 0, 1, 1], [0, 1, 0, 1, 1]]
    >>> grad("ROIPooling", [[[[1, 3], [3, 2]]]], rois, pooled_size=(1, 1), spatial_scale=1)
    ([[[[0.0, 2.0], [0.0, 0.0]]]], [[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]])

[ROIPooling/shapes] data is (batch, channels, height, width); pooled_size is two positive numbers.

[ROIPooling/types] data and rois are of one floating-point type.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
    AtMost,
    Case,
    Loop,
    Op,
    Shape,
    items,
    merge,
    register,
    require,
    same_type,
    scalar,
    steps,
)
from .foundation.loops import zero


class Params(NamedTuple):
    pooled_size: Shape
    spatial_scale: Annotated[float, AtLeast(0), AtMost(1)]


def infer(p, ins, outs):
    require(
        "ROIPooling/shapes", len(p.pooled_size) == 2 and min(p.pooled_size) > 0,
        f"pooled_size {p.pooled_size} must be two positive numbers",
    )
    data = merge("ROIPooling/shapes", "data", ins[0], (UNKNOWN,) * 4)
    rois = merge("ROIPooling/shapes", "rois", ins[1], (UNKNOWN, 5))
    out = merge("ROIPooling/shapes", "output", outs[0], (rois[0], data[1], *p.pooled_size))
    return [(data[0], out[1], *data[2:]), (out[0], 5)], [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "ROIPooling/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# data is (batch, channels, height, width), out (regions, channels, pooled_h, pooled_w).


@scalar
def rounded(value):
    """Round halves away from zero; NaN and values beyond 1e9 become a number that no pixel has."""
    if not (value > -1e9 and value < 1e9):
        return -1000000000
    return math.floor(value + 0.5) if value >= 0 else -math.floor(0.5 - value)


@scalar
def image_of(value, batch):
    """The image of a region; -1 where the batch has none of this number."""
    return np.int64(value) if value >= 0 and value < batch else np.int64(-1)


@scalar
def part_of(low, high, scale, k, n, side):
    """The first pixel, and the one behind the last, of part ``k`` of ``n`` of a region from ``low`` to ``high``."""
    start = rounded(np.float64(low) * scale)
    length = max(rounded(np.float64(high) * scale) - start + 1, 1)
    first, end = start + k * length // n, start + ((k + 1) * length + n - 1) // n
    return min(max(first, 0), side), min(max(end, 0), side)


@scalar
def largest(data, n, c, top, bottom, left, right, least):
    """The largest number of a part of data[n, c], its row and its column; ``least``, -1, -1 where it holds only NaN."""
    best, row, column = least, -1, -1
    for y in range(top, bottom):
        for x in range(left, right):
            if data[n, c, y, x] > best:
                best, row, column = data[n, c, y, x], y, x
    return best, row, column


def pool(data, rois, out, scale, least):
    batch, _, height, width = data.shape
    high, wide = out.shape[2:]
    for r, c, i, j in items(out.shape):
        n = image_of(rois[r, 0], batch)
        top, bottom = part_of(rois[r, 2], rois[r, 4], scale, i, high, height)
        left, right = part_of(rois[r, 1], rois[r, 3], scale, j, wide, width)
        if n < 0 or top >= bottom or left >= right:
            out[r, c, i, j] = 0
        else:
            out[r, c, i, j] = largest(data, n, c, top, bottom, left, right, least)[0]


def pool_back(head, data, rois, d_data, scale, least):
    """Add to d_data, which holds zeros. One item sums over all regions, in one channel of one image."""
    batch, _, height, width = data.shape
    high, wide = head.shape[2:]
    for n, c in items(data.shape[:2]):
        for r in range(rois.shape[0]):
            if image_of(rois[r, 0], batch) == n:
                for i, j in steps(head.shape[2:]):
                    top, bottom = part_of(rois[r, 2], rois[r, 4], scale, i, high, height)
                    left, right = part_of(rois[r, 1], rois[r, 3], scale, j, wide, width)
                    _, row, column = largest(data, n, c, top, bottom, left, right, least)
                    if row >= 0:
                        d_data[n, c, row, column] += head[r, c, i, j]


POOL, POOL_BACK = Loop(pool), Loop(pool_back)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, rois, out):
    POOL(data, rois, out, np.float64(p.spatial_scale), float(np.finfo(data.dtype).min))


def backward(p, head, data, rois, d_data, d_rois):
    zero(d_rois)
    if d_data is not None:
        zero(d_data)
        POOL_BACK(head, data, rois, d_data, np.float64(p.spatial_scale), float(np.finfo(data.dtype).min))


def cases(draw):
    params = {"pooled_size": draw.shape(2, 2, 3), "spatial_scale": draw.choice((1.0, 0.5))}
    data = (4, draw.integer(1, 2), *draw.shape(2, 2, 5))
    return Case(params, {"data": data, "rois": (draw.integer(1, 4), 5)}, {"data": "apart", "rois": ("ints", 0, 3)})


ONE = {"pooled_size": (2, 2), "spatial_scale": 1}
register(Op(
    name="ROIPooling", doc=__doc__, params=Params, inputs=("data", "rois"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data", "rois"), no_gradient=("rois",), cases=cases,
    refusals={
        "ROIPooling/shapes": {"params": ONE, "shapes": {"data": (1, 1, 3, 3), "rois": (2, 4)}},
        "ROIPooling/types": {"params": ONE, "shapes": {"data": (1, 1, 3, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=2,
))
