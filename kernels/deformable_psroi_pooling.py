"""_contrib_DeformablePSROIPooling: position-sensitive regions whose bins move by learnt amounts.

[_contrib_DeformablePSROIPooling/region] a region (image, left, top, right, bottom) is rounded to whole
    numbers, halves away from zero. Along x it reaches from left * spatial_scale - 0.5 to (right + 1) *
    spatial_scale - 0.5, along y likewise, and it is cut into pooled_size x pooled_size bins. Its sides are
    0.1 at least.
    >>> row, one = [[[[0, 8, 16, 24, 32]]]], dict(output_dim=1, pooled_size=1, group_size=1, no_trans=True)
    >>> run("_contrib_DeformablePSROIPooling", row, [[0, 1.5, 0, 2, 0]], spatial_scale=1, sample_per_part=2, **one)
    [[[[14.0]]]]
    >>> run("_contrib_DeformablePSROIPooling", row, [[0, 0, 0, 3, 0]], spatial_scale=.5, sample_per_part=2, **one)
    [[[[2.0]]]]

[_contrib_DeformablePSROIPooling/samples] an output is the mean of sample_per_part x sample_per_part bilinear
    values, the first of which lies in the corner of its bin; points more than half a pixel outside the map
    are left out, others moved into it. It is 0 without points, and for a region whose image is not in the
    batch.
    >>> x = np.arange(64).reshape(1, 4, 4, 4).tolist()
    >>> two = dict(output_dim=1, pooled_size=2, group_size=2, spatial_scale=1)
    >>> run("_contrib_DeformablePSROIPooling", x, [[0, 0, 0, 3, 3]], no_trans=True, **two)
    [[[[0.0, 17.5], [38.0, 55.5]]]]
    >>> run("_contrib_DeformablePSROIPooling", x, [[0, -3, -3, 2, 2]], no_trans=True, sample_per_part=2, **two)
    [[[[0.0, 0.0], [0.0, 50.5]]]]

[_contrib_DeformablePSROIPooling/channels] bin (i, j) of output c reads channel (c group_size + i') group_size
    + j', where i' is floor(i group_size / pooled_size), and j' likewise.
    >>> run("_contrib_DeformablePSROIPooling", [[[[1]], [[2]]]], [[0, 0, 0, 1, 1]], no_trans=True, output_dim=2,
    ...     pooled_size=1, group_size=1, spatial_scale=1)
    [[[[1.0]], [[2.0]]]]

[_contrib_DeformablePSROIPooling/trans] trans is (regions, 2 classes, part_size, part_size), part_size 0
    meaning pooled_size: a bin moves to the right by trans_std times the number of its part and class times
    the region's width, and down likewise by the next channel. The outputs are shared evenly between classes,
    in order.
    >>> moved = [[[[1, 1], [1, 1]]] * 2]
    >>> run("_contrib_DeformablePSROIPooling", x, [[0, 0, 0, 3, 3]], moved, trans_std=.125, sample_per_part=2, **two)
    [[[[2.5, 20.5], [42.5, 60.5]]]]

[_contrib_DeformablePSROIPooling/no-trans] with no_trans there is no input trans, and bins stay.
    >>> run("_contrib_DeformablePSROIPooling", row, [[0, 2, 0, 2, 0]], spatial_scale=1, trans_std=1, **one)
    [[[[12.0]]]]

[_contrib_DeformablePSROIPooling/shape] data is (batch, channels, height, width) with at least output_dim
    group_size^2 channels, rois (regions, 5); the output is (regions, output_dim, pooled_size, pooled_size).
    trans has an even number of channels, at least 2, and no more classes than outputs.

[_contrib_DeformablePSROIPooling/sizes] output_dim, pooled_size, group_size and sample_per_part are positive,
    part_size is not negative.

[_contrib_DeformablePSROIPooling/floating-point] all inputs have one floating-point type.

[_contrib_DeformablePSROIPooling/gradient] the pixels get heads by their shares, trans what moving the points
    changes; on a pixel, and at an edge, the slope along that axis is 0. rois has gradient zero.
    >>> slope, one = [[[[0, 4], [0, 4]]]], dict(output_dim=1, pooled_size=1, group_size=1, spatial_scale=1)
    >>> grad("_contrib_DeformablePSROIPooling", slope, [[0, 0, 0, 1, 1]], [[[[.25]], [[0]]]], trans_std=1, **one)
    ([[[[1.0, 0.0], [0.0, 0.0]]]], [[0.0, 0.0, 0.0, 0.0, 0.0]], [[[[0.0]], [[0.0]]]])
    >>> grad("_contrib_DeformablePSROIPooling", slope, [[0, 0, 0, 1, 1]], [[[[.375]], [[0]]]], trans_std=1, **one)
    ([[[[0.75, 0.25], [0.0, 0.0]]]], [[0.0, 0.0, 0.0, 0.0, 0.0]], [[[[8.0]], [[0.0]]]])

[_contrib_DeformablePSROIPooling/sum-order] a bin is summed in double precision, in C order.
"""

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, outputs_only, register, require, scalar, steps, told
from .foundation.loops import zero
from .shared.boxes import floating
from .shared.regions import Fraction, Points, between, checked_regions, image_of, rounded, spread

CLAUSE = "_contrib_DeformablePSROIPooling/shape"


class Params(NamedTuple):
    spatial_scale: Fraction
    output_dim: int
    group_size: int
    pooled_size: int
    part_size: int = 0
    sample_per_part: Points = 1
    trans_std: Fraction = 0.0
    no_trans: bool = False


def inputs(p):
    return ("data", "rois") if p.no_trans else ("data", "rois", "trans")


def infer(p, ins, outs):
    data, rois = ins[:2]
    require(
        "_contrib_DeformablePSROIPooling/sizes",
        min(p.output_dim, p.pooled_size, p.group_size, p.sample_per_part) > 0 and p.part_size >= 0,
        f"output_dim={p.output_dim}, pooled_size={p.pooled_size}, group_size={p.group_size}, "
        f"sample_per_part={p.sample_per_part}, part_size={p.part_size}",
    )
    checked_regions(CLAUSE, data, rois, 5)
    needed = p.output_dim * p.group_size**2
    require(
        CLAUSE, data is None or not told(data[1]) or data[1] >= needed,
        f"data has shape {data}; {needed} channels are needed",
    )
    wanted = (rois[0] if rois else UNKNOWN, p.output_dim, p.pooled_size, p.pooled_size)
    out = merge(CLAUSE, "top_count", outs[1], merge(CLAUSE, "output", outs[0], wanted))
    if p.no_trans:
        return [data, (out[0], 5)], [out, out]
    part = p.part_size or p.pooled_size
    trans = merge(CLAUSE, "trans", ins[2], (out[0], UNKNOWN, part, part))
    require(
        CLAUSE, not told(trans[1]) or (trans[1] > 0 and trans[1] % 2 == 0 and p.output_dim % (trans[1] // 2) == 0),
        f"trans has {trans[1]} channels; give two for each class, and {p.output_dim} outputs divide evenly",
    )
    out = (trans[0], *out[1:])
    return [data, (trans[0], 5), trans], [out, out]


# --- loops --------------------------------------------------------------------------------------
# trans is (regions, classes, axes, part_size, part_size): axis 0 is that along x, 1 that along y. ``between`` is the
# bilinear value at (y, x), ``spread`` adds an amount to the four pixels around it by the same weights, ``rounded``
# rounds halves away from zero, and ``image_of`` is -1 for an image that the batch does not have.


class Geometry(NamedTuple):
    group_size: int
    pooled_size: int
    sample_per_part: int
    spatial_scale: float
    trans_std: float
    no_trans: bool


@scalar
def start_of(low, scale):
    """Where a region begins on an axis."""
    return rounded(low) * np.float64(scale) - 0.5


@scalar
def length_of(low, high, scale):
    """How long a region is on an axis."""
    return max((rounded(high) + 1) * np.float64(scale) - 0.5 - start_of(low, scale), 0.1)


@scalar
def part_of(k, parts, bins):
    """In which of a few equal parts of an axis bin k lies."""
    return k * parts // bins


@scalar
def channel_of(output, i, j, g):
    """The channel that bin (i, j) of an output reads."""
    row, column = part_of(i, g.group_size, g.pooled_size), part_of(j, g.group_size, g.pooled_size)
    return (output * g.group_size + row) * g.group_size + column


@scalar
def moved_by(trans, region, kind, axis, i, j, g):
    """How far, in lengths of the region, bin (i, j) moves along an axis."""
    if g.no_trans:
        return 0.0
    row, column = part_of(i, trans.shape[3], g.pooled_size), part_of(j, trans.shape[4], g.pooled_size)
    return trans[region, kind, axis, row, column] * np.float64(g.trans_std)


@scalar
def left_of(rois, trans, region, kind, i, j, g):
    """Where bin (i, j) of a region begins along x."""
    width = length_of(rois[region, 1], rois[region, 3], g.spatial_scale)
    moved = moved_by(trans, region, kind, 0, i, j, g) * width
    return moved + (j * (width / g.pooled_size) + start_of(rois[region, 1], g.spatial_scale))


@scalar
def top_of(rois, trans, region, kind, i, j, g):
    """Where bin (i, j) of a region begins along y."""
    height = length_of(rois[region, 2], rois[region, 4], g.spatial_scale)
    moved = moved_by(trans, region, kind, 1, i, j, g) * height
    return moved + (i * (height / g.pooled_size) + start_of(rois[region, 2], g.spatial_scale))


@scalar
def spacing_of(low, high, g):
    """How far apart the points of a bin are on an axis."""
    return length_of(low, high, g.spatial_scale) / g.pooled_size / g.sample_per_part


@scalar
def near(at, side):
    """Whether a point counts: at most half a pixel outside."""
    return at >= -0.5 and at <= side - 0.5


@scalar
def inside(at, side):
    """The point moved into the map."""
    return min(max(at, 0.0), side - 1.0)


@scalar
def slope_at(data, n, c, y, x, axis):
    """How the value changes along x (axis 0) or y (axis 1); 0 on a pixel."""
    if axis == 0:
        return between(data, n, c, y, np.float64(ceil(x))) - between(data, n, c, y, np.float64(floor(x)))
    return between(data, n, c, np.float64(ceil(y)), x) - between(data, n, c, np.float64(floor(y)), x)


def pool(data, rois, trans, out, counts, g: Geometry):
    """out[region, f, i, j] = mean over the points (v, u) of bin (i, j) near the map, of which there are ``counts``."""
    high, wide = data.shape[2], data.shape[3]
    for region, f, i, j in items(out.shape):
        kind, c = f // (out.shape[1] // trans.shape[1]), channel_of(f, i, j, g)
        n = image_of(rois[region, 0], data.shape[0])
        across = spacing_of(rois[region, 1], rois[region, 3], g)
        down = spacing_of(rois[region, 2], rois[region, 4], g)
        left, top = left_of(rois, trans, region, kind, i, j, g), top_of(rois, trans, region, kind, i, j, g)
        count = 0
        total = np.float64(0)
        if n >= 0:
            for k, m in steps((g.sample_per_part, g.sample_per_part)):
                v, u = top + k * down, left + m * across
                if near(v, high) and near(u, wide):
                    total += between(data, n, c, inside(v, high), inside(u, wide))
                    count += 1
        out[region, f, i, j] = total / max(count, 1)
        counts[region, f, i, j] = count


def pool_back(head, rois, trans, counts, d_data, g: Geometry):
    """d_data[n, c] = what every bin that reads channel c of image n sends to the pixels around its points."""
    high, wide = d_data.shape[2], d_data.shape[3]
    for n, c in items(d_data.shape[:2]):
        for y, x in steps(d_data.shape[2:]):
            d_data[n, c, y, x] = 0
        for region, f, i, j in steps(head.shape):
            if image_of(rois[region, 0], d_data.shape[0]) == n and channel_of(f, i, j, g) == c:
                kind = f // (head.shape[1] // trans.shape[1])
                across = spacing_of(rois[region, 1], rois[region, 3], g)
                down = spacing_of(rois[region, 2], rois[region, 4], g)
                left, top = left_of(rois, trans, region, kind, i, j, g), top_of(rois, trans, region, kind, i, j, g)
                amount = head[region, f, i, j] / np.float64(max(counts[region, f, i, j], 1))
                for k, m in steps((g.sample_per_part, g.sample_per_part)):
                    v, u = top + k * down, left + m * across
                    if near(v, high) and near(u, wide):
                        spread(d_data, n, c, inside(v, high), inside(u, wide), amount)


def move_back(head, data, rois, trans, counts, d_trans, g: Geometry):
    """d_trans[region, kind, axis, row, column] = sum of head . slope . length over the points of the bins it moves."""
    high, wide = data.shape[2], data.shape[3]
    for region, kind, axis, row, column in items(d_trans.shape):
        n = image_of(rois[region, 0], data.shape[0])
        length = length_of(rois[region, axis + 1], rois[region, axis + 3], g.spatial_scale)
        across, down = spacing_of(rois[region, 1], rois[region, 3], g), spacing_of(rois[region, 2], rois[region, 4], g)
        total = np.float64(0)
        for f, i, j in steps(head.shape[1:]):
            is_moved = f // (head.shape[1] // trans.shape[1]) == kind
            is_moved &= part_of(i, trans.shape[3], g.pooled_size) == row
            is_moved &= part_of(j, trans.shape[4], g.pooled_size) == column
            if n >= 0 and is_moved:
                left, top = left_of(rois, trans, region, kind, i, j, g), top_of(rois, trans, region, kind, i, j, g)
                amount = head[region, f, i, j] / np.float64(max(counts[region, f, i, j], 1))
                for k, m in steps((g.sample_per_part, g.sample_per_part)):
                    v, u = top + k * down, left + m * across
                    if near(v, high) and near(u, wide):
                        slope = slope_at(data, n, channel_of(f, i, j, g), inside(v, high), inside(u, wide), axis)
                        total += amount * slope * length * g.trans_std
        d_trans[region, kind, axis, row, column] = total


POOL, POOL_BACK, MOVE_BACK = Loop(pool), Loop(pool_back), Loop(move_back)


# --- the operator -------------------------------------------------------------------------------


def geometry(p):
    return Geometry(p.group_size, p.pooled_size, p.sample_per_part, p.spatial_scale, p.trans_std, p.no_trans)


def by_axis(trans):
    """trans with one axis for classes and one for axes."""
    return trans.reshape((trans.shape[0], trans.shape[1] // 2, 2, *trans.shape[2:]))


def or_rois(trans, rois):
    """What stands for trans, which is not looked at where it is not there."""
    return rois.reshape((rois.size, 1, 1, 1, 1)) if trans is None else by_axis(trans)


def forward(p, data, rois, trans, out, counts):
    POOL(data, rois, or_rois(trans, rois), out, counts, geometry(p))


def backward(p, head, data, rois, trans, counts, d_data, d_rois, d_trans):
    trans = or_rois(trans, rois)
    if d_data is not None:
        POOL_BACK(head, rois, trans, counts, d_data, geometry(p))
    if d_trans is not None:
        MOVE_BACK(head, data, rois, trans, counts, by_axis(d_trans), geometry(p))
    zero(d_rois)


def cases(draw):
    still, part, regions = draw.integer(0, 2) == 0, draw.integer(0, 3), draw.integer(1, 3)
    params = {
        "spatial_scale": draw.choice((1, 0.5, 0.75)), "output_dim": draw.integer(1, 2),
        "pooled_size": draw.integer(1, 3), "group_size": draw.integer(1, 2), "part_size": part,
        "sample_per_part": draw.integer(1, 3), "trans_std": draw.choice((0.1, 0.5)), "no_trans": still,
    }
    channels = params["output_dim"] * params["group_size"] ** 2
    shapes = {
        "data": (4, channels + draw.integer(0, 1), draw.integer(1, 4), draw.integer(1, 4)),
        "rois": (regions, 5),
    }
    if not still:
        shapes["trans"] = (regions, 2 * draw.integer(1, params["output_dim"]), UNKNOWN, UNKNOWN)
    return Case(params, shapes, {"rois": ("ints", 0, 3)})


def refused(channels=4, dtype="float32", **params):
    shapes = {"data": (1, channels, 5, 5), "rois": (2, 5), "trans": (2, 2, 2, 2)}
    params = {"output_dim": 1, "pooled_size": 2, "group_size": 2, "spatial_scale": 1, **params}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_DeformablePSROIPooling", doc=__doc__, params=Params, inputs=inputs,
    all_inputs=("data", "rois", "trans"), outputs=("output", "top_count"), hidden=1, infer=infer,
    infer_type=floating("_contrib_DeformablePSROIPooling/floating-point"), forward=forward,
    backward=backward, needs=("data", "rois", "trans", "top_count"), no_gradient=("rois",), cases=cases,
    refusals={
        CLAUSE: refused(channels=3),
        "_contrib_DeformablePSROIPooling/sizes": refused(pooled_size=0),
        "_contrib_DeformablePSROIPooling/floating-point": refused(dtype="int32"),
    },
    tier=3, reports=outputs_only,
))
