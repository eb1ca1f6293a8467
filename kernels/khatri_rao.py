"""khatri_rao: the Kronecker product of the columns of matrices.

[khatri_rao/columns] column k of the result is the Kronecker product of the columns k of all inputs: its element
    (i n + j, k) is a[i, k] b[j, k], where b has n rows. Products are made left to right.
    >>> run("khatri_rao", [[1, -1], [2, -3]], [[1, 4], [2, 5]])
    [[1.0, -4.0], [2.0, -5.0], [2.0, -12.0], [4.0, -15.0]]
    >>> run("khatri_rao", [[1, 2]], [[1, 4]], [[2, 2], [3, 3]])
    [[2.0, 16.0], [3.0, 24.0]]

[khatri_rao/shape] all inputs are matrices with as many columns; the result has the product of their rows.

[khatri_rao/gradient] a gradient cannot be asked for.
"""

from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

from .foundation import UNKNOWN, Case, Count, Loop, Op, Sources, items, merge, register, scratch
from .foundation.loops import COPY


class Params(NamedTuple):
    num_args: Count


def infer(p, ins, outs):
    columns = UNKNOWN
    for shape in (*ins, *outs):
        merged = merge("khatri_rao/shape", "a matrix", shape, (UNKNOWN, columns))
        columns = merged[1]
    shapes = [merge("khatri_rao/shape", "input", shape, (UNKNOWN, columns)) for shape in ins]
    rows = prod(shape[0] for shape in shapes)
    return shapes, [merge("khatri_rao/shape", "output", outs[0], (rows, columns))]


# --- loops --------------------------------------------------------------------------------------


def multiply(left, right, out):
    """out[i, j, k] = left[i, k] right[j, k]."""
    for i, j, k in items(out.shape):
        out[i, j, k] = left[i, k] * right[j, k]


MULTIPLY = Loop(multiply)


# --- the operator -------------------------------------------------------------------------------


def forward(p, args, out):
    columns = out.shape[1]
    rows = list(accumulate((each.shape[0] for each in args), mul))
    product, between = args[0], scratch(out, *(n * columns for n in rows[1:-1]))
    for factor, n, target in zip(args[1:], rows, (*between, out), strict=False):
        MULTIPLY(product.reshape((n, columns)), factor, target.reshape((n, factor.shape[0], columns)))
        product = target
    if len(args) == 1:
        COPY(product, out, out.size)


def cases(draw):
    columns = draw.integer(1, 3)
    return Case({}, {"args": [(draw.integer(1, 3), columns) for _ in range(draw.integer(1, 4))]})


register(Op(
    name="khatri_rao", doc=__doc__, params=Params, variadic="num_args", infer=infer, forward=forward,
    cases=cases, no_gradient_clause="khatri_rao/gradient",
    refusals={"khatri_rao/shape": {"shapes": {"args": [(2, 2), (1, 3)]}}},
    tier=2, reports=Sources(),
))
