"""_contrib_ROIAlign: regions of feature maps, each averaged into the same number of bins.

[_contrib_ROIAlign/bins] a region (image, left, top, right, bottom) times spatial_scale is cut into
    pooled_size bins. Each output is the mean of sample_ratio x sample_ratio points, spread evenly over its
    bin; with a sample_ratio below 1 their number along a side is its length, rounded up. The sides of the region
    are at least 1.
    >>> image = [[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]]]
    >>> run("_contrib_ROIAlign", image, [[0, 0, 0, 3, 3]], pooled_size=(2, 2), spatial_scale=1)
    [[[[4.75, 6.25], [10.75, 12.25]]]]
    >>> run("_contrib_ROIAlign", image, [[0, 0, 0, 6, 6]], pooled_size=(2, 2), spatial_scale=.5, sample_ratio=1)
    [[[[4.75, 6.25], [10.75, 12.25]]]]
    >>> run("_contrib_ROIAlign", image, [[0, 1, 1, 1, 1]], pooled_size=(2, 2), spatial_scale=1)
    [[[[7.25, 7.75], [9.25, 9.75]]]]

[_contrib_ROIAlign/between-pixels] between pixels values are bilinear; within a pixel outside the map they are
    those of its edge, farther out 0.
    >>> run("_contrib_ROIAlign", [[[[4]]]], [[0, 0, 0, 2, 2]], pooled_size=(1, 2), spatial_scale=1, sample_ratio=1)
    [[[[4.0, 0.0]]]]

[_contrib_ROIAlign/aligned] with aligned the region moves by half a pixel, so that pixels are points in the
    middle of their squares, and its sides may have any length. A region without points gives 0.
    >>> run("_contrib_ROIAlign", image, [[0, 0, 0, 3, 3]], pooled_size=(2, 2), spatial_scale=1, aligned=True)
    [[[[2.5625, 4.0], [8.3125, 9.75]]]]
    >>> run("_contrib_ROIAlign", image, [[0, 1, 1, 1, 1]], pooled_size=(1, 1), spatial_scale=1, aligned=True)
    [[[[0.0]]]]

[_contrib_ROIAlign/image] a region whose image is not in the batch, or whose sides are not finite, gives 0.
    >>> run("_contrib_ROIAlign", image, [[-1, 0, 0, 3, 3]], pooled_size=(1, 1), spatial_scale=1)
    [[[[0.0]]]]
    >>> run("_contrib_ROIAlign", image, [[0, 0, 0, float("inf"), 3]], pooled_size=(1, 1), spatial_scale=1)
    [[[[0.0]]]]

[_contrib_ROIAlign/position-sensitive] with position_sensitive and pooled_size (h, w), bin (i, j) of output c reads
    channel (c h + i) w + j: there are h w times fewer outputs than channels.
    >>> four = [[[[k]] for k in (1, 2, 4, 8)]]
    >>> run("_contrib_ROIAlign", four, [[0, 0, 0, 1, 1]], pooled_size=(2, 2), spatial_scale=1, position_sensitive=True)
    [[[[1.0, 2.0], [4.0, 8.0]]]]

[_contrib_ROIAlign/shape] data is (batch, channels, height, width), rois (regions, 5); the output is (regions,
    channels, *pooled_size). Position-sensitive channels are a multiple of the bins.

[_contrib_ROIAlign/pooled-size] pooled_size has two positive numbers.

[_contrib_ROIAlign/floating-point] both inputs have one floating-point type.

[_contrib_ROIAlign/gradient] heads go back to the pixels by their shares, regions in order; rois has gradient
    zero.
    >>> run_2 = dict(pooled_size=(1, 1), spatial_scale=1, sample_ratio=1)
    >>> grad("_contrib_ROIAlign", [[[[0, 0], [0, 0]]]], [[0, 0, 0, 1, .5]], **run_2)
    ([[[[0.25, 0.25], [0.25, 0.25]]]], [[0.0, 0.0, 0.0, 0.0, 0.0]])

[_contrib_ROIAlign/sum-order] points are added in double precision, in C order.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, Shape, items, merge, register, require, scalar, steps
from .foundation.loops import zero
from .shared.boxes import floating
from .shared.regions import (
    Fraction,
    Points,
    between,
    checked_regions,
    end_point,
    first_point,
    image_of,
    spread,
)

CLAUSE = "_contrib_ROIAlign/shape"


class Params(NamedTuple):
    pooled_size: Shape
    spatial_scale: Fraction
    sample_ratio: Points = -1
    position_sensitive: bool = False
    aligned: bool = False


def infer(p, ins, outs):
    data, rois = ins
    require(
        "_contrib_ROIAlign/pooled-size", len(p.pooled_size) == 2 and min(p.pooled_size) > 0,
        f"pooled_size={p.pooled_size}; give the numbers of bins down and across",
    )
    checked_regions(CLAUSE, data, rois, 5)
    bins = p.pooled_size[0] * p.pooled_size[1] if p.position_sensitive else 1
    require(
        CLAUSE, data is None or data[1] % bins == 0,
        f"{data and data[1]} channels are not a multiple of the {bins} bins",
    )
    channels = data[1] // bins if data is not None else UNKNOWN
    out = merge(CLAUSE, "output", outs[0], (rois[0] if rois else UNKNOWN, channels, *p.pooled_size))
    if data is not None:
        data = (data[0], out[1] * bins, *data[2:])
    return [data, (out[0], 5)], [out]


# --- loops --------------------------------------------------------------------------------------


class Geometry(NamedTuple):
    sample_ratio: int
    position_sensitive: int
    aligned: int


@scalar
def side_of(low, high, scale, bins, aligned):
    """The length of one bin."""
    length = high * scale - low * scale
    return np.float64(length if aligned or length > 1 else 1) / bins


@scalar
def points_of(side, ratio):
    """Return the number of points along a side of a bin; 0 when the side is not finite."""
    if not abs(side) < 1e9:
        return 0
    return ratio if ratio > 0 else max(np.int64(ceil(side)), 0)


@scalar
def reach(start, length, count, side):
    """Return the range, of ``count`` points, that may lie in the map or within a pixel of it."""
    step = length / max(count, 1)
    return first_point(-1.0, start, step, count), end_point(side, start, step, count)


def align(data, rois, out, scale, g: Geometry):
    """out[region, f, i, j] = mean of the values at the points (v, u) of bin (i, j); points beyond the map add 0."""
    high, wide = out.shape[2], out.shape[3]
    for region, f in items(out.shape[:2]):
        n = image_of(rois[region, 0], data.shape[0])
        shift = 0.5 if g.aligned else 0.0
        x, y = np.float64(rois[region, 1] * scale) - shift, np.float64(rois[region, 2] * scale) - shift
        width = side_of(rois[region, 1], rois[region, 3], scale, wide, g.aligned)
        height = side_of(rois[region, 2], rois[region, 4], scale, high, g.aligned)
        rows = points_of(height, g.sample_ratio) if n >= 0 else 0
        columns = points_of(width, g.sample_ratio)
        for i, j in steps(out.shape[2:]):
            c = (f * high + i) * wide + j if g.position_sensitive else f
            total = np.float64(0)
            first_row, end_row = reach(y + i * height, height, rows, data.shape[2])
            first_column, end_column = reach(x + j * width, width, columns, data.shape[3])
            for row in range(first_row, end_row):
                v = y + (i + (row + 0.5) / rows) * height
                for column in range(first_column, end_column):
                    u = x + (j + (column + 0.5) / columns) * width
                    total += between(data, n, c, v, u)
            out[region, f, i, j] = total / max(rows * columns, 1)


def align_back(head, rois, d_data, scale, g: Geometry):
    """d_data[n, c] = what the bins that read the map send to the pixels around their points, region after region."""
    high, wide = head.shape[2], head.shape[3]
    for n, c in items(d_data.shape[:2]):
        f = c // (high * wide) if g.position_sensitive else c
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for region in range(rois.shape[0]):
            if image_of(rois[region, 0], d_data.shape[0]) == n:
                shift = 0.5 if g.aligned else 0.0
                left, top = np.float64(rois[region, 1] * scale) - shift, np.float64(rois[region, 2] * scale) - shift
                width = side_of(rois[region, 1], rois[region, 3], scale, wide, g.aligned)
                height = side_of(rois[region, 2], rois[region, 4], scale, high, g.aligned)
                rows, columns = points_of(height, g.sample_ratio), points_of(width, g.sample_ratio)
                for i, j in steps(head.shape[2:]):
                    if g.position_sensitive and (f * high + i) * wide + j != c:
                        continue
                    amount = head[region, f, i, j] / max(rows * columns, 1)
                    first_row, end_row = reach(top + i * height, height, rows, d_data.shape[2])
                    first_column, end_column = reach(left + j * width, width, columns, d_data.shape[3])
                    for row in range(first_row, end_row):
                        v = top + (i + (row + 0.5) / rows) * height
                        for column in range(first_column, end_column):
                            u = left + (j + (column + 0.5) / columns) * width
                            spread(d_data, n, c, v, u, amount)


ALIGN, ALIGN_BACK = Loop(align), Loop(align_back)


# --- the operator -------------------------------------------------------------------------------


def geometry(p):
    return Geometry(max(p.sample_ratio, 0), int(p.position_sensitive), int(p.aligned))


def forward(p, data, rois, out):
    ALIGN(data, rois, out, p.spatial_scale, geometry(p))


def backward(p, head, rois, d_data, d_rois):
    if d_data is not None:
        ALIGN_BACK(head, rois, d_data, p.spatial_scale, geometry(p))
    zero(d_rois)


def cases(draw):
    size = (draw.integer(1, 3), draw.integer(1, 3))
    sensitive, aligned = draw.boolean(), draw.integer(0, 2) == 0
    params = {
        "pooled_size": size, "spatial_scale": draw.choice((1, 0.5, 0.75)),
        "sample_ratio": draw.choice((-1, 1, 2)),
        "position_sensitive": sensitive, "aligned": aligned,
    }
    channels = draw.integer(1, 2) * (size[0] * size[1] if sensitive else 1)
    shapes = {"data": (4, channels, draw.integer(1, 4), draw.integer(1, 4)), "rois": (draw.integer(1, 4), 5)}
    return Case(params, shapes, {"rois": ("ints", 0, 3)})


def refused(data=(1, 4, 5, 5), rois=(2, 5), dtype="float32", **params):
    params = {"pooled_size": (2, 2), "spatial_scale": 1, **params}
    shapes = {"data": data, "rois": rois}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_ROIAlign", doc=__doc__, params=Params, inputs=("data", "rois"), infer=infer,
    infer_type=floating("_contrib_ROIAlign/floating-point"), forward=forward, backward=backward,
    needs=("rois",), no_gradient=("rois",), cases=cases,
    refusals={
        CLAUSE: refused(rois=(2, 4)),
        "_contrib_ROIAlign/pooled-size": refused(pooled_size=(2,)),
        "_contrib_ROIAlign/floating-point": refused(dtype="int32"),
    },
    tier=2,
))
