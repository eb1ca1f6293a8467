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
    scalar,
    scratch,
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


class NormalisedRows(NamedTuple):
    """``rows`` rows, each of the ``side`` elements that are averaged together, ``inner`` apart.

    Where ``along`` is 1, element i of every row has the weight gamma[i], and ``count`` is 1. Where it is 0, all of row
    r has the weight gamma[r % count].
    """

    rows: int
    side: int
    inner: int
    along: int
    count: int
    lanes: int
    """In how many lanes a row is summed."""


@scalar
def row_start(r, g):
    """Where row ``r`` begins."""
    return (r // g.inner) * (g.side - 1) * g.inner + r


def row_statistics(data, mean, std, eps, g: NormalisedRows):
    for r in items(g.rows):
        start = row_start(r, g)
        centre = sum_of_row(data, start, g.side, g.inner, g.lanes) / g.side
        mean[r] = centre
        std[r] = sqrt(squares_of_row(data, centre, start, g.side, g.inner, g.lanes) / g.side + eps)


def normalise_rows(data, gamma, beta, mean, std, out, g: NormalisedRows):
    for r in items(g.rows):
        start = row_start(r, g)
        centre, scale = mean[r], std[r]
        for i in range(g.side):
            k = i * g.along + r % g.count
            at = start + i * g.inner
            out[at] = (data[at] - centre) / scale * gamma[k] + beta[k]


def through_rows(head, d_mean, d_std, data, gamma, mean, std, d_data, seen, g: NormalisedRows):
    """Gradient by data; d_mean and d_std are heads of their own where these outputs are ``seen``."""
    for r in items(g.rows):
        start = row_start(r, g)
        centre, scale = np.float64(mean[r]), np.float64(std[r])
        inverse = 1.0 / scale
        level, slope = np.float64(0), np.float64(0)
        for first in range(min(4, g.lanes)):  # the order of reduce/sum-order
            some_level, some_slope = np.float64(0), np.float64(0)
            for lane in range(first, g.lanes, 4):
                own_level, own_slope = np.float64(0), np.float64(0)
                for i in range(lane, g.side, g.lanes):
                    at = start + i * g.inner
                    weighed = head[at] * gamma[i * g.along + r % g.count]
                    own_level += weighed
                    own_slope += weighed * ((data[at] - centre) * inverse)
                some_level += own_level
                some_slope += own_slope
            level += some_level
            slope += some_slope
        if seen:
            level -= d_mean[r] * scale
            slope -= d_std[r] * scale
        level /= g.side
        slope /= g.side
        for i in range(g.side):
            at = start + i * g.inner
            weighed = head[at] * gamma[i * g.along + r % g.count]
            d_data[at] = (weighed - level - (data[at] - centre) * inverse * slope) * inverse


def collect_weights(head, data, mean, std, d_gamma, d_beta, n, g: NormalisedRows):
    """Gradients of the ``n`` weights and shifts, over all elements that they apply to."""
    for k in items(n):
        dot, total = np.float64(0), np.float64(0)
        for r in range(k * (1 - g.along), g.rows, g.count):
            start = row_start(r, g)
            centre, inverse = np.float64(mean[r]), 1.0 / np.float64(std[r])
            for i in range(k * g.along, k + 1 if g.along else g.side):
                at = start + i * g.inner
                total += head[at]
                dot += head[at] * ((data[at] - centre) * inverse)
        d_gamma[k] = dot
        d_beta[k] = total


ROW_STATISTICS, NORMALISE_ROWS = Loop(row_statistics), Loop(normalise_rows)
THROUGH_ROWS, COLLECT_WEIGHTS = Loop(through_rows), Loop(collect_weights)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def rows_of_layer(p, shape, kind):
    outer, side, inner = outer_side_inner(shape, p.axis % len(shape))
    lanes = lanes_of(side, inner, kind)
    return NormalisedRows(rows=outer * inner, side=side, inner=inner, along=1, count=1, lanes=lanes)


@lru_cache(maxsize=4096)
def rows_of_group(p, shape, kind):
    batch, channels, *rest = shape
    side = channels // p.num_groups * prod(rest)
    lanes = lanes_of(side, 1, kind)
    return NormalisedRows(rows=batch * p.num_groups, side=side, inner=1, along=0, count=p.num_groups, lanes=lanes)


@lru_cache(maxsize=4096)
def rows_of_instance(p, shape, kind):
    batch, channels, *rest = shape
    side = prod(rest)
    return NormalisedRows(
        rows=batch * channels, side=side, inner=1, along=0, count=channels, lanes=lanes_of(side, 1, kind),
    )


def normaliser(rows_of):
    """forward and backward of the operator whose rows ``rows_of(p, shape, dtype)`` tells."""

    def forward(p, data, gamma, beta, out, mean, std):
        g = rows_of(p, data.shape, data.dtype)
        ROW_STATISTICS(data, mean, std, p.eps, g)
        NORMALISE_ROWS(data, gamma, beta, mean, std, out, g)

    def backward(p, head, *others):
        *heads, data, gamma, d_data, d_gamma, d_beta = others
        g = rows_of(p, data.shape, data.dtype)
        mean, std, spare = scratch(data, g.rows, g.rows, gamma.size)
        ROW_STATISTICS(data, mean, std, p.eps, g)
        if d_data is not None:
            d_mean, d_std = heads or (mean, std)  # not read where there are no such heads
            THROUGH_ROWS(head, d_mean, d_std, data, gamma, mean, std, d_data, len(heads), g)
        if d_gamma is not None or d_beta is not None:
            targets = [spare if target is None else target for target in (d_gamma, d_beta)]
            COLLECT_WEIGHTS(head, data, mean, std, *targets, gamma.size, g)

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


def page(name, params, infer, rows_of, cases, refusals, tier):
    forward, backward = normaliser(rows_of)
    return Op(
        name=name, doc=__doc__, params=params, inputs=("data", "gamma", "beta"),
        outputs=("output", "mean", "std"), hidden=2,
        visible=lambda p: 3 if getattr(p, "output_mean_var", False) else 1,
        infer=infer, infer_type=infer_type, forward=forward, backward=backward,
        needs=("data", "gamma"), inplace=((0, 0),), cases=cases, refusals=refusals,
        tier=tier, reports=Sources(1),
    )


register(page("LayerNorm", Params, infer, rows_of_layer, cases, {
    "LayerNorm/axis": refused((2, 3), axis=2),
    "layer-norm/parameters": refused((2, 3), gamma=(2,)),
    "layer-norm/types": refused((2, 3), dtype="int32"),
}, tier=1))
register(page("GroupNorm", GroupParams, infer_group, rows_of_group, cases_group, {
    "GroupNorm/groups": refused((2, 3, 4), num_groups=2),
    "layer-norm/parameters": refused((2, 4, 4), num_groups=2, gamma=(4,)),
    "layer-norm/types": refused((2, 3, 2), dtype="int32"),
}, tier=2))
register(page("InstanceNorm", InstanceParams, infer_instance, rows_of_instance, cases_instance, {
    "InstanceNorm/rank": refused((2, 3)),
    "layer-norm/parameters": refused((2, 3, 4), gamma=(4,)),
    "layer-norm/types": refused((2, 3, 2), dtype="int32"),
}, tier=1))
