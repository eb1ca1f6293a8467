"""LayerNorm, GroupNorm, InstanceNorm: out = gamma (data - mean) / std + beta, sample by sample.

[LayerNorm/formula] mean and std are taken along axis; std is sqrt(variance + eps), of the biased variance. gamma and
    beta have one number per place on the axis.
    >>> run("LayerNorm", [[1, 2, 3, 6], [0, 0, 0, 4]], [1, 2, 3, 4], [0, 0, 0, 1], eps=0)
    [[-1.069045, -1.069045, 0.0, 7.414269], [-0.57735, -1.154701, -1.732051, 7.928204]]
    >>> run("LayerNorm", [[1, 0], [3, 4]], [1, 1], [0, 10], axis=0, eps=0)
    [[-1.0, -1.0], [11.0, 11.0]]

[GroupNorm/formula] channels, axis 1, fall into num_groups groups in order; mean and std are those of one group of one
    sample. gamma and beta have one number per group.
    >>> run("GroupNorm", [[[1, 3], [2, 6], [1, 1], [5, 1]]], [1, 2], [0, 10], num_groups=2, eps=0)
    [[[-1.069045, 0.0], [-0.534522, 1.603567], [8.8453, 8.8453], [13.464102, 8.8453]]]

[InstanceNorm/formula] mean and std are those of one channel of one sample; gamma and beta have one number per channel.
    >>> run("InstanceNorm", [[[1, 3], [2, 6]]], [1, 2], [0, 10], eps=0)
    [[[-1.0, 1.0], [8.0, 12.0]]]

[layer-norm/outputs] with output_mean_var mean and std are visible outputs too; LayerNorm keeps the axis, with side 1,
    GroupNorm gives (batch, num_groups).
    >>> run("LayerNorm", [[1, 2, 3, 6]], [1, 1, 1, 1], [0, 0, 0, 0], eps=0.5, output_mean_var=True)
    ([[-1.0, -0.5, 0.0, 1.5]], [[3.0]], [[2.0]])
    >>> run("GroupNorm", [[[1, 3], [2, 6]]], [1], [0], num_groups=1, eps=0.5, output_mean_var=True)[1:]
    ([[3.0]], [[2.0]])

[layer-norm/gradient] the gradient goes through mean and std, and through these two outputs where they are visible. It
    is computed in double precision, with 1 / std as a factor.
    >>> grad("LayerNorm", [[-3, -1, 1, 3]], [1, 1, 1, 1], [0, 0, 0, 0], eps=4, head=[[1, 0, 0, 0]])
    ([[0.166667, -0.111111, -0.055556, 0.0]], [-1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])

[layer-norm/constant] where all numbers that are averaged are equal, with eps 0, the result is NaN.
    >>> import numpy as np
    >>> bool(np.isnan(run("LayerNorm", [[3, 3]], [1, 1], [0, 0], eps=0)).all())
    True

[layer-norm/parameters] gamma and beta have the shape that the formula says; unknown ones are inferred.

[LayerNorm/axis] axis is an axis of data; it may count from the end.

[GroupNorm/groups] data has three axes or more, and num_groups divides its channels.

[InstanceNorm/rank] data has three axes or more.

[layer-norm/sum-order] sums are made in double precision; the variance sums squared differences to the mean. Sums over
    what is averaged are made in C order, or as reduce/sum-order says where they are 32 or more neighbours in memory.
    The gradients of gamma and beta are summed in C order.
    >>> run("LayerNorm", [[1e8, 1, -1e8]], [0, 0, 0], [0, 0, 0], output_mean_var=True)[1]
    [[0.333333]]

[layer-norm/types] all inputs and outputs have one floating-point type.
"""

from functools import lru_cache
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    Sources,
    either,
    items,
    merge,
    normal_axis,
    register,
    require,
    same_type,
    scratch,
    steps,
)
from .foundation.loops import outer_side_inner
from .foundation.walks import lanes_of
from .shared.row_sums import squares_of_row, sum_of_row


class Params(NamedTuple):
    axis: int = -1
    eps: float = 9.99999975e-06
    output_mean_var: bool = False


class GroupParams(NamedTuple):
    num_groups: int = 1
    eps: float = 9.99999975e-06
    output_mean_var: bool = False


class InstanceParams(NamedTuple):
    eps: float = 0.00100000005


def infer(p, ins, outs):
    data = merge("layer-norm/outputs", "output", outs[0], ins[0])
    if data is None:
        return ins, outs
    axis = normal_axis("LayerNorm/axis", p.axis, len(data))
    side, gamma, beta = joined_parameters(ins, (data[axis],))
    data = (*data[:axis], *side, *data[axis + 1 :])
    kept = (*data[:axis], 1, *data[axis + 1 :])
    found = [merge("layer-norm/outputs", name, out, kept) for name, out in zip(("mean", "std"), outs[1:], strict=True)]
    kept = merge("layer-norm/outputs", "mean and std", *found)
    data = tuple(a if i == axis else either(a, b) for i, (a, b) in enumerate(zip(data, kept, strict=True)))
    return [data, gamma, beta], [data, kept, kept]


def joined_parameters(ins, count):
    """The shape of gamma and beta three times: for data, gamma, beta."""
    for name, given in zip(("gamma", "beta"), ins[1:], strict=True):
        count = merge("layer-norm/parameters", name, given, count)
    return count, count, count


def infer_group(p, ins, outs):
    require("GroupNorm/groups", p.num_groups >= 1, f"num_groups {p.num_groups} must be at least 1")
    data = merge("layer-norm/outputs", "output", outs[0], ins[0])
    _, gamma, beta = joined_parameters(ins, (p.num_groups,))
    batch = UNKNOWN
    if data is not None:
        require("GroupNorm/groups", len(data) >= 3, f"data {list(data)} must have three axes or more")
        require(
            "GroupNorm/groups", data[1] % p.num_groups == 0,
            f"{data[1]} channels must be divisible by num_groups {p.num_groups}",
        )
        batch = data[0]
    kept = (batch, p.num_groups)
    for name, out in zip(("mean", "std"), outs[1:], strict=True):
        kept = merge("layer-norm/outputs", name, out, kept)
    if data is not None:
        data = (kept[0], *data[1:])
    return [data, gamma, beta], [data, kept, kept]


def infer_instance(p, ins, outs):
    data = merge("layer-norm/outputs", "output", outs[0], ins[0])
    kept = (UNKNOWN, UNKNOWN)
    if data is not None:
        require("InstanceNorm/rank", len(data) >= 3, f"data {list(data)} must have three axes or more")
        kept = data[:2]
    for name, out in zip(("mean", "std"), outs[1:], strict=True):
        kept = merge("layer-norm/outputs", name, out, kept)
    count, gamma, beta = joined_parameters(ins, (kept[1],))
    kept = (kept[0], *count)
    if data is not None:
        data = (*kept, *data[2:])
    return [data, gamma, beta], [data, kept, kept]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "layer-norm/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}; only floating-point types are normalised, use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------


# data is (outer, groups, side, inner). A row is the ``side`` elements data[o, k, :, j] that are averaged together; mean
# and std are (outer, groups, inner). gamma and beta are (groups, side), or (groups, 1) where a row has one weight.


class NormalisedRows(NamedTuple):
    along: int
    """1 where element i of a row has the weight gamma[k, i], 0 where all have gamma[k, 0]."""
    lanes: int
    """In how many lanes a row is summed."""


def row_statistics(data, mean, std, eps, g: NormalisedRows):
    """mean[o, k, j] = mean of data[o, k, i, j] over i, std[o, k, j] = sqrt(mean of (data - mean)^2 over i + eps)."""
    for o, k, j in items(mean.shape):
        centre = sum_of_row(data, o, k, j, g.lanes) / data.shape[2]
        mean[o, k, j] = centre
        std[o, k, j] = sqrt(squares_of_row(data, centre, o, k, j, g.lanes) / data.shape[2] + eps)


def normalise_rows(data, gamma, beta, mean, std, out, g: NormalisedRows):
    """out[o, k, i, j] = (data[o, k, i, j] - mean[o, k, j]) / std[o, k, j] . gamma[k, i] + beta[k, i]."""
    for o, k, j in items(mean.shape):
        centre, scale = mean[o, k, j], std[o, k, j]
        for i in range(data.shape[2]):
            normal = (data[o, k, i, j] - centre) / scale
            out[o, k, i, j] = normal * gamma[k, i if g.along else 0] + beta[k, i if g.along else 0]


def through_rows(head, d_mean, d_std, data, gamma, mean, std, d_data, seen, g: NormalisedRows):
    """d_data = (w - mean of w - z . mean of (w . z)) / std, where w = head . gamma and z = (data - mean) / std.

    Where these outputs are ``seen``, d_mean . std is taken off the sum of w, and d_std . std off that of w . z.
    """
    for o, k, j in items(mean.shape):
        side = data.shape[2]
        centre, scale = np.float64(mean[o, k, j]), np.float64(std[o, k, j])
        inverse = 1.0 / scale
        level, slope = np.float64(0), np.float64(0)
        for first in range(min(4, g.lanes)):  # the order of reduce/sum-order
            some_level, some_slope = np.float64(0), np.float64(0)
            for lane in range(first, g.lanes, 4):
                own_level, own_slope = np.float64(0), np.float64(0)
                for i in range(lane, side, g.lanes):
                    weighed = head[o, k, i, j] * gamma[k, i if g.along else 0]
                    own_level += weighed
                    own_slope += weighed * ((data[o, k, i, j] - centre) * inverse)
                some_level += own_level
                some_slope += own_slope
            level += some_level
            slope += some_slope
        if seen:
            level -= d_mean[o, k, j] * scale
            slope -= d_std[o, k, j] * scale
        level /= side
        slope /= side
        for i in range(side):
            weighed = head[o, k, i, j] * gamma[k, i if g.along else 0]
            d_data[o, k, i, j] = (weighed - level - (data[o, k, i, j] - centre) * inverse * slope) * inverse


def collect_weights(head, data, mean, std, d_gamma, d_beta, g: NormalisedRows):
    """d_gamma[k, i] = sum over (o, j) of head . (data - mean) / std, at [o, k, i, j]; d_beta[k, i] = that of head."""
    for k, i in items(d_gamma.shape):
        dot, total = np.float64(0), np.float64(0)
        for o, j in steps((data.shape[0], data.shape[3])):
            centre, inverse = np.float64(mean[o, k, j]), 1.0 / np.float64(std[o, k, j])
            total += head[o, k, i, j]
            dot += head[o, k, i, j] * ((data[o, k, i, j] - centre) * inverse)
        d_gamma[k, i] = dot
        d_beta[k, i] = total


def collect_weights_of_rows(head, data, mean, std, d_gamma, d_beta):
    """The same where rows have one weight: d_gamma[k] and d_beta[k] are sums over (o, j, i)."""
    for k in items(data.shape[1]):
        dot, total = np.float64(0), np.float64(0)
        for o, j in steps((data.shape[0], data.shape[3])):
            centre, inverse = np.float64(mean[o, k, j]), 1.0 / np.float64(std[o, k, j])
            for i in range(data.shape[2]):
                total += head[o, k, i, j]
                dot += head[o, k, i, j] * ((data[o, k, i, j] - centre) * inverse)
        d_gamma[k] = dot
        d_beta[k] = total


ROW_STATISTICS, NORMALISE_ROWS, THROUGH_ROWS = Loop(row_statistics), Loop(normalise_rows), Loop(through_rows)
COLLECT_WEIGHTS, COLLECT_WEIGHTS_OF_ROWS = Loop(collect_weights), Loop(collect_weights_of_rows)


# --- the operators ------------------------------------------------------------------------------


class Sides(NamedTuple):
    """The shapes of data, of gamma and of mean under the axes of the loops, and the geometry."""

    data: tuple[int, int, int, int]
    gamma: tuple[int, int]
    mean: tuple[int, int, int]
    g: NormalisedRows


def sides_of(outer, groups, side, inner, along, kind):
    g = NormalisedRows(along, lanes_of(side, inner, kind))
    return Sides((outer, groups, side, inner), (groups, side if along else 1), (outer, groups, inner), g)


@lru_cache(maxsize=4096)
def sides_of_layer(p, shape, kind):
    outer, side, inner = outer_side_inner(shape, p.axis % len(shape))
    return sides_of(outer, 1, side, inner, 1, kind)


@lru_cache(maxsize=4096)
def sides_of_group(p, shape, kind):
    batch, channels, *rest = shape
    return sides_of(batch, p.num_groups, channels // p.num_groups * prod(rest), 1, 0, kind)


@lru_cache(maxsize=4096)
def sides_of_instance(p, shape, kind):
    batch, channels, *rest = shape
    return sides_of(batch, channels, prod(rest), 1, 0, kind)


def normaliser(sides_of):
    """forward and backward of the operator for whose parameters, shape and dtype ``sides_of`` gives Sides."""

    def forward(p, data, gamma, beta, out, mean, std):
        sides = sides_of(p, data.shape, data.dtype)
        data, mean, std = data.reshape(sides.data), mean.reshape(sides.mean), std.reshape(sides.mean)
        gamma, beta = gamma.reshape(sides.gamma), beta.reshape(sides.gamma)
        ROW_STATISTICS(data, mean, std, p.eps, sides.g)
        NORMALISE_ROWS(data, gamma, beta, mean, std, out.reshape(sides.data), sides.g)

    def backward(p, head, *others):
        *heads, data, gamma, d_data, d_gamma, d_beta = others
        sides = sides_of(p, data.shape, data.dtype)
        count = prod(sides.mean)
        *statistics, spare = scratch(data, count, count, gamma.size)
        mean, std, *heads = (one.reshape(sides.mean) for one in (*statistics, *heads))
        head, data = head.reshape(sides.data), data.reshape(sides.data)
        ROW_STATISTICS(data, mean, std, p.eps, sides.g)
        if d_data is not None:
            d_mean, d_std = heads or (mean, std)  # not read where there are no such heads
            gamma, d_data = gamma.reshape(sides.gamma), d_data.reshape(sides.data)
            THROUGH_ROWS(head, d_mean, d_std, data, gamma, mean, std, d_data, len(heads), sides.g)
        if d_gamma is None and d_beta is None:
            return
        targets = [spare if target is None else target for target in (d_gamma, d_beta)]
        if sides.g.along:
            COLLECT_WEIGHTS(head, data, mean, std, *(target.reshape(sides.gamma) for target in targets), sides.g)
        else:
            COLLECT_WEIGHTS_OF_ROWS(head, data, mean, std, *targets)

    return forward, backward


def refused(data, dtype="float32", gamma=None, **params):
    shapes = {"data": data} if gamma is None else {"data": data, "gamma": gamma}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


def cases(draw):
    shape = draw.shape(1, 4)
    params = {
        "axis": draw.integer(-len(shape), len(shape) - 1), "eps": draw.choice((0.001, 0.5)),
        "output_mean_var": draw.boolean(),
    }
    return Case(params, {"data": shape}, {"data": "apart"})


def cases_group(draw):
    groups = draw.integer(1, 3)
    shape = (draw.integer(1, 3), groups * draw.integer(1, 2), *draw.shape(1, 2))
    params = {"num_groups": groups, "eps": draw.choice((0.001, 0.5)), "output_mean_var": draw.boolean()}
    return Case(params, {"data": shape}, {"data": "apart"})


def cases_instance(draw):
    return Case({"eps": draw.choice((0.001, 0.5))}, {"data": draw.shape(3, 5)}, {"data": "apart"})


def page(name, params, infer, sides_of, cases, refusals, tier):
    forward, backward = normaliser(sides_of)
    return Op(
        name=name, doc=__doc__, params=params, inputs=("data", "gamma", "beta"),
        outputs=("output", "mean", "std"), hidden=2,
        visible=lambda p: 3 if getattr(p, "output_mean_var", False) else 1,
        infer=infer, infer_type=infer_type, forward=forward, backward=backward,
        needs=("data", "gamma"), inplace=((0, 0),), cases=cases, refusals=refusals,
        tier=tier, reports=Sources(1),
    )


register(page("LayerNorm", Params, infer, sides_of_layer, cases, {
    "LayerNorm/axis": refused((2, 3), axis=2),
    "layer-norm/parameters": refused((2, 3), gamma=(2,)),
    "layer-norm/types": refused((2, 3), dtype="int32"),
}, tier=1))
register(page("GroupNorm", GroupParams, infer_group, sides_of_group, cases_group, {
    "GroupNorm/groups": refused((2, 3, 4), num_groups=2),
    "layer-norm/parameters": refused((2, 4, 4), num_groups=2, gamma=(4,)),
    "layer-norm/types": refused((2, 3, 2), dtype="int32"),
}, tier=2))
register(page("InstanceNorm", InstanceParams, infer_instance, sides_of_instance, cases_instance, {
    "InstanceNorm/rank": refused((2, 3)),
    "layer-norm/parameters": refused((2, 3, 4), gamma=(4,)),
    "layer-norm/types": refused((2, 3, 2), dtype="int32"),
}, tier=1))
