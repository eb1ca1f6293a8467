"""Reductions: sum, mean, max, min, prod, nansum and nanprod along any axes; norm has its own page.

[reduce/axis] axis is an int or a tuple, negative from the end; None or () means all axes, which gives shape
    (1,). exclude=True reduces the axes that are not named. An axis out of range or named twice is refused.
    >>> x = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    >>> run("sum", x), run("sum", x, axis=1), run("mean", x, axis=(0, -1))
    ([36.0], [[4.0, 6.0], [12.0, 14.0]], [3.5, 5.5])
    >>> run("max", x, axis=1, exclude=True), run("prod", x, axis=(1, 0))
    ([6.0, 8.0], [105.0, 384.0])

[reduce/keepdims] keepdims=True leaves a reduced axis with one element.
    >>> run("sum", [[1, 2], [3, 4]], axis=0, keepdims=True), run("min", [[1, 2], [3, 4]], keepdims=True)
    ([[4.0, 6.0]], [[1.0]])

[reduce/shape] the result's shape is inferred from the input's, never the reverse.

[reduce/sum-order] elements are combined in float64 for real numbers and in int64 for whole ones, and the result, of
    the input's type, is rounded once into a floating-point type; beside whole numbers it is cut towards zero and
    wrapped. They are taken in C order, except real numbers of which 32 or more neighbours in memory belong together:
    element i of such a row goes to lane i modulo 16, and a lane takes its elements in C order. Then lanes 0, 4, 8 and
    12 are joined in this order, so are 1, 5, 9 and 13 and the others, and last these four totals.
    >>> run("sum", [1e8] + [1] * 50 + [-1e8]), run("sum", [200, 100, 3], dtype="uint8")
    ([50.0], [47.0])
    >>> run("mean", [-1, -2, -5], dtype="int32")
    [-2.0]

[reduce/gradient] sum spreads the head gradient, mean divides it by the number of elements.
    >>> grad("sum", [[1, 2], [3, 4]], axis=0, head=[10, 20]), grad("mean", [1, 2, 3, 4])
    ([[10.0, 20.0], [10.0, 20.0]], [0.25, 0.25, 0.25, 0.25])

[reduce/ties] max and min send the whole head gradient to every element that equals the result.
    >>> grad("max", [-1, 2, 2]), grad("min", [0, 0, 3])
    ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])

[reduce/nan] a NaN makes the result NaN, and the gradient of max and min is then 0 for every element. nansum and
    nanprod leave NaN out, forward and backward.
    >>> run("max", [1, float("nan"), 2]), grad("max", [1, float("nan"), 2])
    ([nan], [0.0, 0.0, 0.0])
    >>> run("nansum", [1, float("nan"), 2]), grad("nanprod", [5, float("nan"), 7])
    ([3.0], [7.0, 0.0, 5.0])

[reduce/prod-gradient] the gradient of a product is the product of the other elements, also where one is zero.
    >>> grad("prod", [-1, 2, 2]), grad("prod", [2, 0, 3]), grad("prod", [0, 0, 3])
    ([4.0, -2.0, -2.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0])
"""

import math
from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Shape, Sources, items, merge, register, require, require_some, scalar, scratch
from .foundation.loops import COPY, GATHER, walk
from .foundation.quirk import declare
from .foundation.refusal import decides
from .foundation.walks import GroupSizes, RowSizes, offset_of, reduction_of, rows_of, stretched
from .multilinear import register_multilinear
from .shared.terms import Term
from .shared.totals import (
    add,
    add_numbers,
    as_it_is,
    count_zeros,
    divided,
    larger,
    multiply,
    multiply_numbers,
    multiply_other_numbers,
    multiply_others,
    smaller,
)

_QUOTIENT = declare(
    "prod-gradient-nan", "reduce/prod-gradient",
    "the gradient of prod and nanprod is the product divided by the element: NaN at a zero",
    "the product of the other elements is known",
)


class Params(NamedTuple):
    axis: Shape | None = None
    keepdims: bool = False
    exclude: bool = False


def reduced_axes(p, rank):
    """The axes that disappear, in order."""
    given = p.axis or ()
    axes = [a + rank if a < 0 else a for a in given]
    require(
        "reduce/axis", all(0 <= a < rank for a in axes) and len(set(axes)) == len(axes),
        f"axis {list(given)} must name different axes of an array of rank {rank}",
    )
    if not axes:
        return tuple(range(rank))
    if getattr(p, "exclude", False):
        return tuple(a for a in range(rank) if a not in axes)
    return tuple(sorted(axes))


def kept_shape(p, shape):
    """The result's shape with every reduced axis left as 1."""
    axes = reduced_axes(p, len(shape))
    return tuple(1 if a in axes else side for a, side in enumerate(shape))


def infer(p, ins, outs):
    (data,) = ins
    if data is None:
        return [None], list(outs)
    axes = reduced_axes(p, len(data))
    if p.keepdims:
        shape = tuple(1 if a in axes else side for a, side in enumerate(data))
    else:
        shape = tuple(side for a, side in enumerate(data) if a not in axes) or (1,)
    return [data], [merge("reduce/shape", "output", outs[0], shape)]


def infer_extreme(p, ins, outs):
    (data,), (out,) = infer(p, ins, outs)
    if data is not None:
        require_some("what is reduced", prod(data[axis] for axis in reduced_axes(p, len(data))), out)
    return [data], [out]


# --- formulas: combine, join and finish are in totals.py, slope(x, y) is the result's slope towards one element


@scalar
def if_number(x, y):
    return 1 if x == x else 0


@scalar
@decides("reduce/ties")
def if_result(x, y):
    return 1 if x == y else 0


# --- loops ---------------------------------------------------------------------------------------


def reduce_rows(data, out, start, count, kept_sides, kept_steps, sides, steps, g: GroupSizes):
    """out[t] = the elements of group t combined, lane by lane; ``start`` has the type of the total."""
    for t in items(g.n):
        base = offset_of(t, kept_sides, kept_steps, g.kept_rank)
        total = start
        for first in range(min(4, g.lanes)):
            quarter = start
            for lane in range(first, g.lanes, 4):
                part = start
                for r in range(g.rows):
                    at = base + offset_of(r, sides, steps, g.rank)
                    for c in range(lane, g.length, g.lanes):
                        part = combine(part, data[at + c * g.step])  # noqa: F821  # bound by Loop
                quarter = join(quarter, part)  # noqa: F821
            total = join(total, quarter)  # noqa: F821
        out[t] = finish(total, count)  # noqa: F821


# In the loops below element c of row r belongs to group t + c * g.a_step, where a_step is 0 or 1.


def spread(head, data, out, d_data, sides, steps, g: RowSizes):
    """d_data[i] = head . slope, with head and out of the group that element i belongs to."""
    for r in items(g.rows):
        t = offset_of(r, sides, steps, g.rank)
        i = r * g.length
        if g.a_step == 0:
            for c in range(g.length):
                d_data[i + c] = head[t] * slope(data[i + c], out[t])  # noqa: F821  # bound by Loop
        else:
            for c in range(g.length):
                d_data[i + c] = head[t + c] * slope(data[i + c], out[t + c])  # noqa: F821


def spread_share(head, d_data, count, sides, steps, g: RowSizes):
    for r in items(g.rows):
        t = offset_of(r, sides, steps, g.rank)
        i = r * g.length
        if g.a_step == 0:
            for c in range(g.length):
                d_data[i + c] = head[t] / count
        else:
            for c in range(g.length):
                d_data[i + c] = head[t + c] / count


def spread_product(head, data, others, zeros, d_data, skip_nan, sides, steps, g: RowSizes):
    """head . product of the other elements; ``others`` multiplies those of a group that are not 0."""
    for r in items(g.rows):
        t = offset_of(r, sides, steps, g.rank)
        i = r * g.length
        for c in range(g.length):
            x, k = data[i + c], t + c * g.a_step
            product = others[k]
            left = zeros[k] - (1 if x == 0 else 0)
            if left > 0 or (skip_nan and x != x):
                product = 0
            elif x != 0:
                product = product / x
            d_data[i + c] = head[k] * product


def spread_quotient(head, data, others, zeros, d_data, skip_nan, sides, steps, g: RowSizes):
    """head . product / element, NaN where that is 0 / 0."""
    for r in items(g.rows):
        t = offset_of(r, sides, steps, g.rank)
        i = r * g.length
        for c in range(g.length):
            x, k = data[i + c], t + c * g.a_step
            product = others[k]
            if zeros[k] > 0:
                product = product * 0
            d_data[i + c] = 0 if skip_nan and x != x else head[k] * (product / x)


# --- the operators -------------------------------------------------------------------------------


def reducer(combine, join, finish=as_it_is):
    """A loop over groups; ``join`` makes one total of two."""
    return Loop(reduce_rows, combine=combine, join=join, finish=finish)


SUM, ZEROS = reducer(add, add), reducer(count_zeros, add)
SPREAD_SHARE = Loop(spread_share)
SPREAD_PRODUCT, SPREAD_QUOTIENT = Loop(spread_product), Loop(spread_quotient)


def starting(value, data):
    """A first total: float64 for real numbers, int64 for whole ones."""
    if data.dtype.kind == "f":
        return np.float64(value)
    whole = np.iinfo(np.int64)
    return int(min(max(value, whole.min), whole.max)) if abs(value) == math.inf else int(value)


def sum_into(data, target):
    """Fill ``target`` with ``data`` summed over the axes along which target is broadcast."""
    if target.size == data.size:
        COPY(data, target, data.size)
    else:
        SUM(data, target, starting(0, data), 1,
            *reduction_of(data.shape, target.shape, data.dtype, data.device))


def spreading(p, target):
    """The walk over ``target`` that finds each element's group."""
    kept = kept_shape(p, target.shape)
    rows = rows_of(kept, kept, target.shape, target.device)
    return rows.sides, rows.a_steps, rows.g


def spread_sum(p, head, d_data):
    kept = kept_shape(p, d_data.shape)
    GATHER(head, d_data, *walk(d_data.shape, stretched(kept, d_data.shape), 0, d_data.device))


def spread_mean(p, head, d_data):
    SPREAD_SHARE(head, d_data, d_data.size / head.size, *spreading(p, d_data))


def spread_by(slope):
    loop = Loop(spread, slope=slope)

    def backward(p, head, data, out, d_data):
        loop(head, data, out, d_data, *spreading(p, d_data))

    return backward


def spread_prod(combine, skip_nan):
    reduce_others = reducer(combine, multiply)

    def backward(p, head, data, d_data):
        groups = reduction_of(data.shape, kept_shape(p, data.shape), data.dtype, data.device)
        others, zeros = scratch(head, head.size, head.size)
        reduce_others(data, others, starting(1, data), 1, *groups)
        ZEROS(data, zeros, starting(0, data), 1, *groups)
        share = SPREAD_QUOTIENT if _QUOTIENT.active else SPREAD_PRODUCT
        share(head, data, others, zeros, d_data, skip_nan, *spreading(p, d_data))

    return backward


TABLE = (
    # name, combine, join, finish, first total, backward, what it reads, aliases, values cases may draw
    ("sum", add, add, as_it_is, 0, spread_sum, (), ("sum_axis", "_sparse_sum"), "any"),
    ("mean", add, add, divided, 0, spread_mean, (), ("_sparse_mean",), "any"),
    ("max", larger, larger, as_it_is, -math.inf, spread_by(if_result), ("data", "output"), ("max_axis",), "apart"),
    ("min", smaller, smaller, as_it_is, math.inf, spread_by(if_result), ("data", "output"), ("min_axis",), "apart"),
    ("prod", multiply, multiply, as_it_is, 1, spread_prod(multiply_others, False), ("data",), (), "unit"),
    ("nansum", add_numbers, add, as_it_is, 0, spread_by(if_number), ("data", "output"), (), "any"),
    ("nanprod", multiply_numbers, multiply, as_it_is, 1, spread_prod(multiply_other_numbers, True), ("data",), (),
        "unit"),
)


def spread_term(term, p, data):
    """A term in the shape of the result, repeated over the group of every element of ``data``."""
    return term._backward_sum(data, **p._asdict())


def chosen(p, head, data, out):
    return spread_term(head, p, data) * data.same_as(spread_term(out, p, data))


# gradients once more, made of operators; sum and mean, being linear, are differentiated by multilinear.py
COMPOSED = {
    "max": chosen, "min": chosen,
    "nansum": lambda p, head, data, out: spread_term(head, p, data) * data.same_as(data),
}


def composed(rule):
    def gradient(make, p, heads, inputs, outputs):
        return [rule(p, *(Term(make, entry) for entry in (heads[0], inputs[0], outputs[0]))).entry]

    return gradient


def draw_axes(draw, rank):
    """Any subset of ``rank`` axes in any spelling, or None."""
    axes = tuple(a - rank * draw.boolean() for a in range(rank) if draw.boolean())
    return {"axis": axes or None, "keepdims": draw.boolean()}


def _register(name, combine, join, finish, start, spread_back, needs, aliases, values):
    loop = reducer(combine, join, finish)

    def forward(p, data, out):
        groups = reduction_of(data.shape, kept_shape(p, data.shape), data.dtype, data.device)
        loop(data, out, starting(start, data), data.size // out.size, *groups)

    def backward(p, head, *rest):
        if rest[-1] is not None:
            spread_back(p, head, *rest)

    op = Op(
        name=name, doc=__doc__, params=Params, infer=infer_extreme if combine in (larger, smaller) else infer,
        forward=forward, backward=backward,
        needs=needs, aliases=aliases,
        cases=lambda draw: Case(
            {**draw_axes(draw, 4), "exclude": draw.boolean()}, {"data": draw.shape(4, 4, 3)},
            {"data": values},
        ),
        refusals={
            "reduce/axis": {"params": {"axis": (0, -2)}, "shapes": {"data": (2, 3)}},
            "reduce/shape": {"params": {"axis": 1}, "shapes": {"data": (2, 3), "output": (3,)}},
        },
        gradient=composed(COMPOSED[name]) if name in COMPOSED else None,
        tier=1, method=name, numbered_input=True,
        reports=Sources(whole=True) if name in ("max", "min") else None,
    )
    if name in ("sum", "mean"):
        register_multilinear(op, ("data",))
    else:
        register(op)


for row in TABLE:
    _register(*row)
