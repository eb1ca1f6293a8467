"""_contrib_RROIAlign: rotated regions of feature maps, each averaged into the same number of bins.

[_contrib_RROIAlign/bins] a region is (image, x, y, width, height, angle): a box around (x, y), rotated by
    angle degrees from the right towards the top. All lengths are multiplied by spatial_scale, sides are 1 at
    least. The box is cut into pooled_size bins, and each output is the mean of sampling_ratio x
    sampling_ratio points, spread evenly over its bin; with a sampling_ratio below 1 their number along a side is
    its length, rounded up.
    >>> image = [[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]]]
    >>> run("_contrib_RROIAlign", image, [[0, 1.5, 1.5, 3, 3, 0]], pooled_size=(2, 2), spatial_scale=1)
    [[[[4.75, 6.25], [10.75, 12.25]]]]
    >>> run("_contrib_RROIAlign", image, [[0, 1.5, 1.5, 3, 2, 90]], pooled_size=(2, 2), spatial_scale=1)
    [[[[11.0, 5.0], [12.0, 6.0]]]]
    >>> np.round(run("_contrib_RROIAlign", image, [[0, 1.5, 1.5, 3, 2, 30]], pooled_size=(2, 2), spatial_scale=1), 3)
    array([[[[ 7.368,  5.667],
             [11.333,  9.632]]]])

[_contrib_RROIAlign/between-pixels] between pixels values are bilinear; within a pixel outside the map they
    are those of its edge, farther out 0. A region whose image is not in the batch, or whose sides are not
    finite, gives 0.
    >>> run("_contrib_RROIAlign", image, [[0, -1, -1, 3, 3, 0]], pooled_size=(2, 2), spatial_scale=1)
    [[[[0.0, 0.0], [0.0, 1.3125]]]]
    >>> run("_contrib_RROIAlign", image, [[-1, 1.5, 1.5, 3, 3, 0]], pooled_size=(1, 1), spatial_scale=1)
    [[[[0.0]]]]

[_contrib_RROIAlign/shape] data is (batch, channels, height, width), rois (regions, 6); the output is
    (regions, channels, *pooled_size).

[_contrib_RROIAlign/pooled-size] pooled_size has two positive numbers.

[_contrib_RROIAlign/floating-point] both inputs have one floating-point type.

[_contrib_RROIAlign/sum-order] points are added in double precision, in C order.

[_contrib_RROIAlign/gradient] there is no gradient, and asking for one is refused.
    >>> grad("_contrib_RROIAlign", image, [[0, 1, 1, 1, 1, 0]], pooled_size=(1, 1), spatial_scale=1)
    Traceback (most recent call last):
    refimpl.kernels.foundation.refusal.MXNetError: _contrib_RROIAlign has no gradient [harness/gradient]
"""

from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, Shape, items, merge, register, require, steps
from .roi_align import points_of
from .shared.boxes import floating
from .shared.regions import Fraction, Points, between, checked_regions, end_point, first_point, image_of

CLAUSE = "_contrib_RROIAlign/shape"


class Params(NamedTuple):
    pooled_size: Shape
    spatial_scale: Fraction
    sampling_ratio: Points = -1


def infer(p, ins, outs):
    data, rois = ins
    require(
        "_contrib_RROIAlign/pooled-size", len(p.pooled_size) == 2 and min(p.pooled_size) > 0,
        f"pooled_size={p.pooled_size}; give the numbers of bins down and across",
    )
    checked_regions(CLAUSE, data, rois, 6)
    wanted = (rois[0] if rois else UNKNOWN, data[1] if data else UNKNOWN, *p.pooled_size)
    out = merge(CLAUSE, "output", outs[0], wanted)
    if data is not None:
        data = (data[0], out[1], *data[2:])
    return [data, (out[0], 6)], [out]


# --- loop ---------------------------------------------------------------------------------------
# data is (batch, channels, height, width), out (regions, channels, pooled_h, pooled_w).


def align(data, rois, out, scale, sampling_ratio):
    """out[r, c, i, j] = mean of data[image, c] at the points (v, u) of bin (i, j), along the sides of region r."""
    batch, _, height, width = data.shape
    high, wide = out.shape[2:]
    for r, c in items(out.shape[:2]):
        image = image_of(rois[r, 0], batch)
        x, y = np.float64(rois[r, 1] * scale), np.float64(rois[r, 2] * scale)
        across, down = rois[r, 3] * scale, rois[r, 4] * scale
        across = (across if across > 1 else np.float64(1)) / wide
        down = (down if down > 1 else np.float64(1)) / high
        angle = rois[r, 5] * pi / 180
        right, top = cos(angle), sin(angle)
        rows = points_of(down, sampling_ratio) if image >= 0 else 0
        columns = points_of(across, sampling_ratio)
        # the map and one pixel around it, in the coordinates (v, u) of the region: points outside add 0
        corner_v, corner_u = -(1 + y) * right - (1 + x) * top, (1 + y) * top - (1 + x) * right
        tall, broad = np.float64(height + 1), np.float64(width + 1)
        least_v = corner_v + min(tall * right, 0.0) + min(broad * top, 0.0)
        most_v = corner_v + max(tall * right, 0.0) + max(broad * top, 0.0)
        least_u = corner_u + min(-tall * top, 0.0) + min(broad * right, 0.0)
        most_u = corner_u + max(-tall * top, 0.0) + max(broad * right, 0.0)
        for i, j in steps(out.shape[2:]):
            total = np.float64(0)
            v_start, v_step = (i - high * 0.5) * down, down / max(rows, 1)
            u_start, u_step = (j - wide * 0.5) * across, across / max(columns, 1)
            first_column = first_point(least_u, u_start, u_step, columns)
            end_column = end_point(most_u, u_start, u_step, columns)
            for k in range(first_point(least_v, v_start, v_step, rows), end_point(most_v, v_start, v_step, rows)):
                v = (i - high * 0.5 + (k + 0.5) / rows) * down
                for m in range(first_column, end_column):
                    u = (j - wide * 0.5 + (m + 0.5) / columns) * across
                    row, column = v * right - u * top + y, u * right + v * top + x
                    total += between(data, image, c, row, column)
            out[r, c, i, j] = total / max(rows * columns, 1)


ALIGN = Loop(align)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, rois, out):
    ALIGN(data, rois, out, p.spatial_scale, max(p.sampling_ratio, 0))


def cases(draw):
    params = {
        "pooled_size": (draw.integer(1, 3), draw.integer(1, 3)), "spatial_scale": draw.choice((1, 0.5, 0.75)),
        "sampling_ratio": draw.choice((-1, 1, 2)),
    }
    shapes = {"data": (4, *draw.shape(3, 3)), "rois": (draw.integer(1, 4), 6)}
    return Case(params, shapes, {"rois": ("ints", 0, 3)})


def refused(rois=(2, 6), dtype="float32", **params):
    shapes = {"data": (1, 4, 5, 5), "rois": rois}
    params = {"pooled_size": (2, 2), "spatial_scale": 1, **params}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_RROIAlign", doc=__doc__, params=Params, inputs=("data", "rois"), infer=infer,
    infer_type=floating("_contrib_RROIAlign/floating-point"), forward=forward, cases=cases,
    no_gradient_clause="_contrib_RROIAlign/gradient",
    refusals={
        CLAUSE: refused(rois=(2, 5)),
        "_contrib_RROIAlign/pooled-size": refused(pooled_size=(2,)),
        "_contrib_RROIAlign/floating-point": refused(dtype="int32"),
    },
    tier=2,
))
