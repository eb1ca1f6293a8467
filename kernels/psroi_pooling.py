"""_contrib_PSROIPooling: regions of feature maps cut into bins; every bin is a mean over a channel of its own.

[_contrib_PSROIPooling/bins] a region (image, left, top, right, bottom) is rounded to whole numbers, halves
    away from zero; its pixels, right and bottom ones included, times spatial_scale are cut into pooled_size x
    pooled_size bins. Each output is the mean of the pixels that its bin touches.
    >>> x = np.arange(64).reshape(1, 4, 4, 4).tolist()
    >>> two = dict(output_dim=1, pooled_size=2, spatial_scale=1)
    >>> run("_contrib_PSROIPooling", x, [[0, 0, 0, 3, 3]], **two)
    [[[[2.5, 20.5], [42.5, 60.5]]]]
    >>> run("_contrib_PSROIPooling", x, [[0, .5, 1.5, 2.5, 2.5]], **two)
    [[[[9.5, 26.5], [45.5, 62.5]]]]

[_contrib_PSROIPooling/channels] bin (i, j) of output c reads channel (c group_size + i') group_size + j',
    where i' is floor(i group_size / pooled_size), and j' likewise; group_size 0 means pooled_size.
    >>> run("_contrib_PSROIPooling", x, [[0, 0, 0, 3, 3]], output_dim=4, pooled_size=1, spatial_scale=1)
    [[[[7.5]], [[23.5]], [[39.5]], [[55.5]]]]

[_contrib_PSROIPooling/least-size] the sides of a region are 0.1 at least. A bin without pixels gives 0, and
    so does a region whose image is not in the batch.
    >>> run("_contrib_PSROIPooling", x, [[0, 3, 3, 1, 1], [0, 9, 9, 12, 12], [7, 0, 0, 3, 3]], **two)
    [[[[15.0, 31.0], [47.0, 63.0]]], [[[0.0, 0.0], [0.0, 0.0]]], [[[0.0, 0.0], [0.0, 0.0]]]]

[_contrib_PSROIPooling/shape] data is (batch, channels, height, width) with at least output_dim group_size^2
    channels, rois (regions, 5); the output is (regions, output_dim, pooled_size, pooled_size).

[_contrib_PSROIPooling/sizes] output_dim and pooled_size are positive, group_size is not negative.

[_contrib_PSROIPooling/floating-point] both inputs have one floating-point type.

[_contrib_PSROIPooling/gradient] every pixel of a bin gets the head by its share; rois has gradient zero.
    >>> grad("_contrib_PSROIPooling", [[[[1, 2], [3, 4]]]], [[0, 0, 0, 1, 0]], head=[[[[4]]]], output_dim=1,
    ...      pooled_size=1, spatial_scale=1)
    ([[[[2.0, 2.0], [0.0, 0.0]]]], [[0.0, 0.0, 0.0, 0.0, 0.0]])

[_contrib_PSROIPooling/sum-order] a bin is summed in double precision, in C order.
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, require, scalar, steps, told
from .foundation.loops import clipped, clipped_up, zero
from .shared.boxes import floating
from .shared.regions import Fraction, checked_regions, image_of, rounded

CLAUSE = "_contrib_PSROIPooling/shape"


class Params(NamedTuple):
    spatial_scale: Fraction
    output_dim: int
    pooled_size: int
    group_size: int = 0


def infer(p, ins, outs):
    data, rois = ins
    require(
        "_contrib_PSROIPooling/sizes", p.output_dim > 0 and p.pooled_size > 0 and p.group_size >= 0,
        f"output_dim={p.output_dim}, pooled_size={p.pooled_size}, group_size={p.group_size}",
    )
    checked_regions(CLAUSE, data, rois, 5)
    needed = p.output_dim * (p.group_size or p.pooled_size) ** 2
    require(
        CLAUSE, data is None or not told(data[1]) or data[1] >= needed,
        f"data has shape {data}; {needed} channels are needed",
    )
    wanted = (rois[0] if rois else UNKNOWN, p.output_dim, p.pooled_size, p.pooled_size)
    out = merge(CLAUSE, "output", outs[0], wanted)
    return [data, (out[0], 5)], [out]


# --- loops --------------------------------------------------------------------------------------


@scalar
def begin_of(low, high, scale, k, bins, side):
    """The first pixel of bin ``k`` of an axis; with k + 1 and ``end_of`` one past its last."""
    start = rounded(low) * np.float64(scale)
    length = max((rounded(high) + 1) * np.float64(scale) - start, 0.1)
    return clipped(start + k * (length / bins), side + 1)


@scalar
def end_of(low, high, scale, k, bins, side):
    """One past the last pixel of bin ``k`` of an axis."""
    start = rounded(low) * np.float64(scale)
    length = max((rounded(high) + 1) * np.float64(scale) - start, 0.1)
    return clipped_up(start + (k + 1) * (length / bins), side + 1)


@scalar
def part_of(k, parts, bins):
    """In which of a few equal parts of an axis bin k lies."""
    return k * parts // bins


def pool(data, rois, out, scale, group_size):
    """out[region, f, i, j] = mean of the pixels of bin (i, j) in its channel."""
    bins = out.shape[2]
    for region, f, i, j in items(out.shape):
        n = image_of(rois[region, 0], data.shape[0])
        left = begin_of(rois[region, 1], rois[region, 3], scale, j, bins, data.shape[3])
        right = end_of(rois[region, 1], rois[region, 3], scale, j, bins, data.shape[3])
        top = begin_of(rois[region, 2], rois[region, 4], scale, i, bins, data.shape[2])
        bottom = end_of(rois[region, 2], rois[region, 4], scale, i, bins, data.shape[2])
        count = max(bottom - top, 0) * max(right - left, 0)
        c = (f * group_size + part_of(i, group_size, bins)) * group_size + part_of(j, group_size, bins)
        total = np.float64(0)
        if n >= 0 and count > 0:
            for y in range(top, bottom):
                for x in range(left, right):
                    total += data[n, c, y, x]
        out[region, f, i, j] = total / max(count, 1)


def pool_back(head, rois, d_data, scale, group_size):
    """d_data[n, c, y, x] = sum of head / count over the bins that read the pixel; (f, row, column) names c."""
    bins = head.shape[2]
    for n, f, row, column in items((d_data.shape[0], head.shape[1], group_size, group_size)):
        c = (f * group_size + row) * group_size + column
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for region in range(rois.shape[0]):
            if image_of(rois[region, 0], d_data.shape[0]) == n:
                for i, j in steps(head.shape[2:]):
                    if part_of(i, group_size, bins) == row and part_of(j, group_size, bins) == column:
                        left = begin_of(rois[region, 1], rois[region, 3], scale, j, bins, d_data.shape[3])
                        right = end_of(rois[region, 1], rois[region, 3], scale, j, bins, d_data.shape[3])
                        top = begin_of(rois[region, 2], rois[region, 4], scale, i, bins, d_data.shape[2])
                        bottom = end_of(rois[region, 2], rois[region, 4], scale, i, bins, d_data.shape[2])
                        count = max(max(bottom - top, 0) * max(right - left, 0), 1)
                        amount = head[region, f, i, j] / count
                        for y in range(top, bottom):
                            for x in range(left, right):
                                d_data[n, c, y, x] += amount


POOL, POOL_BACK = Loop(pool), Loop(pool_back)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, rois, out):
    POOL(data, rois, out, p.spatial_scale, p.group_size or p.pooled_size)


def backward(p, head, rois, d_data, d_rois):
    if d_data is not None:
        group_size = p.group_size or p.pooled_size
        if d_data.shape[1] > p.output_dim * group_size**2:  # channels that no bin reads
            zero(d_data)
        POOL_BACK(head, rois, d_data, p.spatial_scale, group_size)
    zero(d_rois)


def cases(draw):
    params = {
        "spatial_scale": draw.choice((1, 0.5, 0.75)), "output_dim": draw.integer(1, 2),
        "pooled_size": draw.integer(1, 3), "group_size": draw.integer(0, 3),
    }
    channels = params["output_dim"] * (params["group_size"] or params["pooled_size"]) ** 2
    data = (4, channels + draw.integer(0, 1), draw.integer(1, 5), draw.integer(1, 5))
    return Case(params, {"data": data, "rois": (draw.integer(1, 4), 5)}, {"rois": ("ints", 0, 3)})


def refused(channels=4, dtype="float32", **params):
    shapes = {"data": (1, channels, 5, 5), "rois": (2, 5)}
    params = {"output_dim": 1, "pooled_size": 2, "spatial_scale": 1, **params}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_PSROIPooling", doc=__doc__, params=Params, inputs=("data", "rois"), infer=infer,
    infer_type=floating("_contrib_PSROIPooling/floating-point"), forward=forward, backward=backward,
    needs=("rois",), no_gradient=("rois",), cases=cases,
    refusals={
        CLAUSE: refused(channels=3),
        "_contrib_PSROIPooling/sizes": refused(pooled_size=0),
        "_contrib_PSROIPooling/floating-point": refused(dtype="int32"),
    },
    tier=2,
))
