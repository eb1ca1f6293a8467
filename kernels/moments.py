"""moments: mean and variance along axes.

[moments/result] the mean of the elements along axes, and the mean of their squared differences from it; both are
    summed in float64 in C order and rounded once. keepdims leaves a reduced axis with one element.
    >>> run("moments", [[3, 1, 2], [1, 1, 1]], axes=(-1,)), run("moments", [[3, 1], [1, 1]], axes=0, keepdims=True)
    (([2.0, 1.0], [0.666667, 0.0]), ([[2.0, 1.0]], [[1.0, 0.0]]))

[moments/axes] axes names one or more different axes, negative from the end.

[moments/shape] the shape of the outputs is inferred from the input's, never the reverse; shape (1,) if all axes
    are reduced.

[moments/gradient] of n elements x with mean m, under heads g and h: (g + 2 h (x - m)) / n.
    >>> grad("moments", [[3, 1, 2]], axes=(1,))
    [[1.0, -0.333333, 0.333333]]
"""

from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Shape, items, merge, register, require, scratch
from .foundation.walks import GroupSizes, RowSizes, offset_of, reduction_of, rows_of


class Params(NamedTuple):
    axes: Shape | None = None
    keepdims: bool = False


def kept_shape(p, shape):
    """The shape with every reduced axis left as 1."""
    rank = len(shape)
    axes = [a + rank if a < 0 else a for a in p.axes or ()]
    require(
        "moments/axes", axes and all(0 <= a < rank for a in axes) and len(set(axes)) == len(axes),
        f"axes={p.axes} must name one or more different axes of an array of rank {rank}",
    )
    return tuple(1 if a in axes else side for a, side in enumerate(shape)), axes


def infer(p, ins, outs):
    if ins[0] is None:
        return ins, outs
    kept, axes = kept_shape(p, ins[0])
    if not p.keepdims:
        kept = tuple(side for a, side in enumerate(ins[0]) if a not in axes) or (1,)
    return ins, [merge("moments/shape", "output", out, kept) for out in outs]


# --- loops --------------------------------------------------------------------------------------


def measure(data, mean, variance, count, kept_sides, kept_steps, sides, steps, g: GroupSizes):
    """Mean and variance of the ``count`` elements of each group, in C order."""
    for t in items(g.n):
        base = offset_of(t, kept_sides, kept_steps, g.kept_rank)
        total = np.float64(0)
        for r in range(g.rows):
            at = base + offset_of(r, sides, steps, g.rank)
            for c in range(g.length):
                total += data[at + c * g.step]
        middle = total / count
        squares = np.float64(0)
        for r in range(g.rows):
            at = base + offset_of(r, sides, steps, g.rank)
            for c in range(g.length):
                apart = data[at + c * g.step] - middle
                squares += apart * apart
        mean[t] = middle
        variance[t] = squares / count


def spread(head, head_variance, data, mean, d_data, count, sides, steps, g: RowSizes):
    """Gradient by data; element c of row r belongs to group t + c * g.a_step."""
    for r in items(g.rows):
        t = offset_of(r, sides, steps, g.rank)
        for c in range(g.length):
            k = t + c * g.a_step
            apart = 2.0 * (data[r * g.length + c] - mean[k])
            d_data[r * g.length + c] = (head[k] + head_variance[k] * apart) / count


MEASURE, SPREAD = Loop(measure), Loop(spread)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, mean, variance):
    kept, _ = kept_shape(p, data.shape)
    MEASURE(data, mean, variance, data.size // mean.size, *reduction_of(data.shape, kept, data.dtype, data.device))


def backward(p, head, head_variance, data, d_data):
    if d_data is not None:
        kept, _ = kept_shape(p, data.shape)
        # computed again, because the mean that was put out may be rounded to float16
        mean, variance = scratch(data, head.size, head.size, dtype=np.float64)
        forward(p, data, mean, variance)
        rows, count = rows_of(kept, kept, data.shape, data.device), data.size // mean.size
        SPREAD(head, head_variance, data, mean, d_data, count, rows.sides, rows.a_steps, rows.g)


def cases(draw):
    shape = draw.shape(1, 4)
    axes = tuple(a - len(shape) * draw.boolean() for a in range(len(shape)) if draw.boolean()) or (0,)
    return Case({"axes": axes, "keepdims": draw.boolean()}, {"data": shape})


register(Op(
    name="moments", doc=__doc__, params=Params, outputs=("output0", "output1"), infer=infer,
    forward=forward, backward=backward, needs=("data",), cases=cases,
    refusals={
        "moments/axes": {"params": {}, "shapes": {"data": (2, 3)}},
        "moments/shape": {"params": {"axes": 0}, "shapes": {"data": (2, 3), "output0": (2,)}},
    },
    tier=2,
))
