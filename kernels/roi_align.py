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
# data is (batch, channels, height, width), out (regions, outputs, pooled_h, pooled_w).


class Geometry(NamedTuple):
    sample_ratio: int
    position_sensitive: int
    aligned: int


@scalar
def start_of(low, scale, aligned):
    """Where a region begins, along one side."""
    return np.float64(low * scale) - (0.5 if aligned else 0.0)


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
    """Return the range, of ``count`` points, that may lie in the map or within a pixel of it; the others add 0."""
    step = length / max(count, 1)
    return first_point(-1.0, start, step, count), end_point(side, start, step, count)


@scalar
def channel_of(c, i, j, high, wide, position_sensitive):
    """The channel of data that bin (i, j) of output ``c`` reads."""
    return (c * high + i) * wide + j if position_sensitive else c


def align(data, rois, out, scale, g: Geometry):
    """out[r, c, i, j] = mean of data[image, channel] at the points (v, u) of bin (i, j) of region r."""
    batch, _, height, width = data.shape
    high, wide = out.shape[2:]
    for r, c in items(out.shape[:2]):
        image = image_of(rois[r, 0], batch)
        x, y = start_of(rois[r, 1], scale, g.aligned), start_of(rois[r, 2], scale, g.aligned)
        across = side_of(rois[r, 1], rois[r, 3], scale, wide, g.aligned)
        down = side_of(rois[r, 2], rois[r, 4], scale, high, g.aligned)
        rows = points_of(down, g.sample_ratio) if image >= 0 else 0
        columns = points_of(across, g.sample_ratio)
        for i, j in steps(out.shape[2:]):
            channel = channel_of(c, i, j, high, wide, g.position_sensitive)
            first_row, end_row = reach(y + i * down, down, rows, height)
            first_column, end_column = reach(x + j * across, across, columns, width)
            total = np.float64(0)
            for k in range(first_row, end_row):
                v = y + (i + (k + 0.5) / rows) * down
                for m in range(first_column, end_column):
                    u = x + (j + (m + 0.5) / columns) * across
                    total += between(data, image, channel, v, u)
            out[r, c, i, j] = total / max(rows * columns, 1)


def align_back(head, rois, d_data, scale, g: Geometry):
    """Add to d_data, which holds zeros. One item sums over all regions, in the channels of one output of one image."""
    regions, outputs, high, wide = head.shape
    batch, _, height, width = d_data.shape
    for n, c in items((batch, outputs)):
        for r in range(regions):
            if image_of(rois[r, 0], batch) == n:
                x, y = start_of(rois[r, 1], scale, g.aligned), start_of(rois[r, 2], scale, g.aligned)
                across = side_of(rois[r, 1], rois[r, 3], scale, wide, g.aligned)
                down = side_of(rois[r, 2], rois[r, 4], scale, high, g.aligned)
                rows, columns = points_of(down, g.sample_ratio), points_of(across, g.sample_ratio)
                for i, j in steps(head.shape[2:]):
                    channel = channel_of(c, i, j, high, wide, g.position_sensitive)
                    amount = head[r, c, i, j] / max(rows * columns, 1)
                    first_row, end_row = reach(y + i * down, down, rows, height)
                    first_column, end_column = reach(x + j * across, across, columns, width)
                    for k in range(first_row, end_row):
                        v = y + (i + (k + 0.5) / rows) * down
                        for m in range(first_column, end_column):
                            u = x + (j + (m + 0.5) / columns) * across
                            spread(d_data, n, channel, v, u, amount)


ALIGN, ALIGN_BACK = Loop(align), Loop(align_back)


# --- the operator -------------------------------------------------------------------------------


def geometry(p):
    return Geometry(max(p.sample_ratio, 0), int(p.position_sensitive), int(p.aligned))


def forward(p, data, rois, out):
    ALIGN(data, rois, out, p.spatial_scale, geometry(p))


def backward(p, head, rois, d_data, d_rois):
    zero(d_rois)
    if d_data is not None:
        zero(d_data)
        ALIGN_BACK(head, rois, d_data, p.spatial_scale, geometry(p))


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
