"""norm: the length of an array along axes, as reduce.py reduces them.

[norm/ord] ord=2 is the root of the sum of squares, ord=1 the sum of magnitudes; no other is taken.
    >>> run("norm", [[3, -4], [6, 8]], axis=1), run("norm", [[3, -4], [6, 8]], axis=1, ord=1)
    ([5.0, 10.0], [7.0, 14.0])

[norm/gradient] x / norm, which is NaN where the norm is 0; for ord=1 the sign, 0 at 0.
    >>> grad("norm", [3, -4]), grad("norm", [3, -4, 0], ord=1), grad("norm", [0])
    ([0.6, -0.8], [1.0, -1.0, 0.0], [nan])

[norm/out-dtype] out_dtype is the type of the result.
    >>> run("norm", [3, 4], out_dtype="float64", dtype="int32")
    [5.0]
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Op, Shape, Sources, register, require, same_type, scalar
from .foundation.walks import reduction_of
from .reduce import draw_axes, infer, kept_shape, reducer, spread_by
from .shared.terms import Term
from .shared.totals import add


class Params(NamedTuple):
    ord: int = 2
    axis: Shape | None = None
    out_dtype: Literal["float16", "float32", "float64", "int8", "int32", "int64"] | None = None
    keepdims: bool = False


def infer_checked(p, ins, outs):
    require("norm/ord", p.ord in (1, 2), f"norm takes ord=1 or ord=2, not {p.ord}")
    return infer(p, ins, outs)


def infer_type(p, ins, outs):
    if p.out_dtype is None:
        return same_type(p, ins, outs)
    return list(ins), [np.dtype(p.out_dtype)]


# --- formulas -----------------------------------------------------------------------------------


@scalar
def add_magnitude(total, x):
    return total + abs(x)


@scalar
def add_square(total, x):
    return total + np.float64(x) * x


@scalar
def root(total, count):
    return math.sqrt(total)


@scalar
def ratio(x, y):
    return x / y


@scalar
def sign(x, y):
    return 1 if x > 0 else (-1 if x < 0 else 0)


# --- the operator --------------------------------------------------------------------------------

NORMS = {1: reducer(add_magnitude, add), 2: reducer(add_square, add, root)}
NORM_SLOPES = {1: spread_by(sign), 2: spread_by(ratio)}


def forward(p, data, out):
    groups = reduction_of(data.shape, kept_shape(p, data.shape), data.dtype, data.device)
    NORMS[p.ord](data, out, np.float64(0.0), 1, *groups)


def backward(p, head, data, out, d_data):
    if d_data is not None:
        NORM_SLOPES[p.ord](p, head, data, out, d_data)


def gradient(make, p, heads, inputs, outputs):
    """The same made of operators; the sum's own gradient spreads a number over its group."""
    head, data, out = (Term(make, entry) for entry in (heads[0], inputs[0], outputs[0]))
    x = data if p.out_dtype is None else data.Cast(dtype=p.out_dtype)
    axes = {"axis": p.axis, "keepdims": p.keepdims}
    if p.ord == 1:
        found = head._backward_sum(x, **axes) * x.sign()
    else:
        found = (head / out)._backward_sum(x, **axes) * x
    return [(found if p.out_dtype is None else found._backward_Cast(data, dtype=p.out_dtype)).entry]


def cases(draw):
    params = {**draw_axes(draw, 3), "ord": draw.choice((1, 2))}
    return Case(params, {"data": draw.shape(3, 3)}, {"data": "apart"})


register(Op(
    name="norm", doc=__doc__, params=Params, infer=infer_checked, infer_type=infer_type,
    forward=forward, backward=backward, gradient=gradient, needs=("data", "output"),
    aliases=("_sparse_norm",), cases=cases,
    refusals={
        "norm/ord": {"params": {"ord": 3}, "shapes": {"data": (2, 3)}},
        "reduce/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}},
    },
    tier=1, method="norm", numbered_input=True, reports=Sources(whole=True),
))
