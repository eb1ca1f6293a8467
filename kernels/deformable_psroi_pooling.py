"""_contrib_DeformablePSROIPooling: position-sensitive regions whose bins move by learnt amounts.

[_contrib_DeformablePSROIPooling/region] a region (image, left, top, right, bottom) is rounded to whole
    numbers, halves away from zero; from half a pixel before its first corner to half a pixel after its last
    one, times spatial_scale (the half pixel is not scaled), it is cut into pooled_size x pooled_size bins.
    Its sides are 0.1 at least.
    >>> row, one = [[[[0, 8, 16, 24, 32]]]], dict(output_dim=1, pooled_size=1, group_size=1, no_trans=True)
    >>> run("_contrib_DeformablePSROIPooling", row, [[0, 1.5, 0, 2, 0]], spatial_scale=1, sample_per_part=2, **one)
    [[[[14.0]]]]

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

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, outputs_only, register, require, scalar, told
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
# A channel of trans is the class times 2, plus 0 along x and 1 along y.


class Geometry(NamedTuple):
    regions: int
    output_dim: int
    pooled_size: int
    group_size: int
    batch_size: int
    channels: int
    height: int
    width: int
    classes: int
    part_size: int
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
def moved_by(trans, one, kind, axis, i, j, g):
    """How far, in lengths of the region, bin (i, j) moves along an axis."""
    if g.no_trans:
        return 0.0
    at = ((one * g.classes + kind) * 2 + axis) * g.part_size + i * g.part_size // g.pooled_size
    return trans[at * g.part_size + j * g.part_size // g.pooled_size] * np.float64(g.trans_std)


@scalar
def near(at, side):
    """Whether a point counts: at most half a pixel outside."""
    return at >= -0.5 and at <= side - 0.5


@scalar
def inside(at, side):
    """The point moved into the map."""
    return min(max(at, 0.0), side - 1.0)


def pool(data, rois, trans, out, counts, g: Geometry):
    """One item is one bin of one output of a region."""
    bins, samples = g.pooled_size, g.sample_per_part
    for item in items(g.regions * g.output_dim * bins * bins):
        i, j, one = item // bins % bins, item % bins, item // (bins * bins * g.output_dim)
        output = item // (bins * bins) % g.output_dim
        kind = output // (g.output_dim // g.classes)
        image = image_of(rois[one * 5], g.batch_size)
        width = length_of(rois[one * 5 + 1], rois[one * 5 + 3], g.spatial_scale)
        height = length_of(rois[one * 5 + 2], rois[one * 5 + 4], g.spatial_scale)
        x = moved_by(trans, one, kind, 0, i, j, g) * width
        y = moved_by(trans, one, kind, 1, i, j, g) * height
        x += j * (width / bins) + start_of(rois[one * 5 + 1], g.spatial_scale)
        y += i * (height / bins) + start_of(rois[one * 5 + 2], g.spatial_scale)
        channel = (output * g.group_size + i * g.group_size // bins) * g.group_size + j * g.group_size // bins
        plane = (image * g.channels + channel) * g.height * g.width
        count = 0
        total = np.float64(0)
        for sample in range(samples * samples if image >= 0 else 0):
            v = y + sample // samples * (height / bins / samples)
            u = x + sample % samples * (width / bins / samples)
            if near(v, g.height) and near(u, g.width):
                total += between(data, plane, g.height, g.width, inside(v, g.height), inside(u, g.width))
                count += 1
        out[item] = total / max(count, 1)
        counts[item] = count


def pool_back(head, data, rois, trans, counts, target, of_data, g: Geometry):
    """The gradient of data, an item a channel of an image, or of trans, an item one number."""
    bins, samples, part = g.pooled_size, g.sample_per_part, g.part_size
    for item in items(g.batch_size * g.channels if of_data else g.regions * g.classes * 2 * part * part):
        image, channel = item // g.channels, item % g.channels
        one_region, axis = item // (g.classes * 2 * part * part), item // (part * part) % 2
        if of_data:
            for q in range(item * g.height * g.width, (item + 1) * g.height * g.width):
                target[q] = 0
        total = np.float64(0)
        for one in range(0 if of_data else one_region, g.regions if of_data else one_region + 1):
            if not of_data:
                image = image_of(rois[one * 5], g.batch_size)
            own = image >= 0 and image_of(rois[one * 5], g.batch_size) == image
            width = length_of(rois[one * 5 + 1], rois[one * 5 + 3], g.spatial_scale)
            height = length_of(rois[one * 5 + 2], rois[one * 5 + 4], g.spatial_scale)
            for place in range(g.output_dim * bins * bins if own else 0):
                i, j, output = place // bins % bins, place % bins, place // (bins * bins)
                kind = output // (g.output_dim // g.classes)
                source = (output * g.group_size + i * g.group_size // bins) * g.group_size + j * g.group_size // bins
                cell = ((one * g.classes + kind) * 2 + axis) * part + i * part // bins
                reads = source == channel if of_data else cell * part + j * part // bins == item
                if reads:
                    x = moved_by(trans, one, kind, 0, i, j, g) * width
                    y = moved_by(trans, one, kind, 1, i, j, g) * height
                    x += j * (width / bins) + start_of(rois[one * 5 + 1], g.spatial_scale)
                    y += i * (height / bins) + start_of(rois[one * 5 + 2], g.spatial_scale)
                    at = one * g.output_dim * bins * bins + place
                    amount = head[at] / np.float64(max(counts[at], 1))
                    plane = (image * g.channels + source) * g.height * g.width
                    for sample in range(samples * samples):
                        v = y + sample // samples * (height / bins / samples)
                        u = x + sample % samples * (width / bins / samples)
                        if near(v, g.height) and near(u, g.width):
                            v, u = inside(v, g.height), inside(u, g.width)
                            if of_data:
                                spread(target, plane, g.height, g.width, v, u, amount)
                            elif axis == 0:
                                slope = between(data, plane, g.height, g.width, v, np.float64(ceil(u)))
                                slope -= between(data, plane, g.height, g.width, v, np.float64(floor(u)))
                                total += amount * slope * width * g.trans_std
                            else:
                                slope = between(data, plane, g.height, g.width, np.float64(ceil(v)), u)
                                slope -= between(data, plane, g.height, g.width, np.float64(floor(v)), u)
                                total += amount * slope * height * g.trans_std
        if not of_data:
            target[item] = total


POOL, POOL_BACK = Loop(pool), Loop(pool_back)


# --- the operator -------------------------------------------------------------------------------


def geometry(p, data, trans, out):
    """What both loops need to know of shapes and parameters."""
    classes = 1 if trans is None else trans.shape[1] // 2
    return Geometry(
        *out.shape[:3], p.group_size, *data.shape, classes, p.part_size or p.pooled_size,
        p.sample_per_part, p.spatial_scale, p.trans_std, p.no_trans,
    )


def forward(p, data, rois, trans, out, counts):
    POOL(data, rois, rois if trans is None else trans, out, counts, geometry(p, data, trans, out))


def backward(p, head, data, rois, trans, counts, d_data, d_rois, d_trans):
    reads = head, data, rois, rois if trans is None else trans, counts
    for target in (d_data, d_trans):
        if target is not None:
            POOL_BACK(*reads, target, target is d_data, geometry(p, data, trans, head))
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
