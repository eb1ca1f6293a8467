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
def first_of(start, side, k, n, limit):
    return min(max(start + k * side // n, 0), limit)


@scalar
def end_of(start, side, k, n, limit):
    return min(max(start + ((k + 1) * side + n - 1) // n, 0), limit)


@scalar
def find_largest(data, rois, region, c, i, j, high, wide, scale, least):
    """Return row and column of the largest number of part (i, j): -1 for an empty part, -2 where it holds only NaN."""
    image = rois[region, 0]
    if not (image >= 0 and image < data.shape[0]):
        return -1, -1
    left = rounded(np.float64(rois[region, 1]) * scale)
    top = rounded(np.float64(rois[region, 2]) * scale)
    across = max(rounded(np.float64(rois[region, 3]) * scale) - left + 1, 1)
    down = max(rounded(np.float64(rois[region, 4]) * scale) - top + 1, 1)
    y, bottom = first_of(top, down, i, high, data.shape[2]), end_of(top, down, i, high, data.shape[2])
    x, right = first_of(left, across, j, wide, data.shape[3]), end_of(left, across, j, wide, data.shape[3])
    if y >= bottom or x >= right:
        return -1, -1
    best, at_row, at_column = least, -2, -2
    for row in range(y, bottom):
        for column in range(x, right):
            if data[np.int64(image), c, row, column] > best:
                best, at_row, at_column = data[np.int64(image), c, row, column], row, column
    return at_row, at_column


def pool(data, rois, out, scale, least):
    """out[region, c, i, j] = the largest number of part (i, j) of a region; 0 where it is empty."""
    for region, c, i, j in items(out.shape):
        row, column = find_largest(data, rois, region, c, i, j, out.shape[2], out.shape[3], scale, least)
        if row >= 0:
            out[region, c, i, j] = data[np.int64(rois[region, 0]), c, row, column]
        else:
            out[region, c, i, j] = least if row == -2 else 0


def pool_back(head, data, rois, d_data, scale, least):
    """d_data[n, c, y, x] = sum of head over the parts whose first largest number is at (y, x)."""
    for n, c in items(d_data.shape[:2]):
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for region in range(rois.shape[0]):
            if rois[region, 0] >= n and rois[region, 0] < n + 1:
                for i, j in steps(head.shape[2:]):
                    row, column = find_largest(data, rois, region, c, i, j, head.shape[2], head.shape[3], scale, least)
                    if row >= 0:
                        d_data[n, c, row, column] += head[region, c, i, j]


POOL, POOL_BACK = Loop(pool), Loop(pool_back)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, rois, out):
    POOL(data, rois, out, np.float64(p.spatial_scale), float(np.finfo(data.dtype).min))


def backward(p, head, data, rois, d_data, d_rois):
    zero(d_rois)
    if d_data is not None:
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
