"""add_n: the sum of any number of arrays.

[add_n/sum-order] operands are added left to right, each sum rounded to the type.
    >>> run("add_n", [1, 2], [10, 20], [100, 200])
    [111.0, 222.0]
    >>> run("add_n", [1e8], [1], [-1e8])
    [0.0]

[add_n/gradient] every operand gets the head gradient.
    >>> grad("add_n", [1], [2], [3], head=[5])
    ([5.0], [5.0], [5.0])

[add_n/shape] all operands and the sum have one shape and one type, each inferred from any other.
"""

from typing import NamedTuple

from .foundation import Case, Count, Loop, Op, items, register, same_shape
from .foundation.loops import COPY


class Params(NamedTuple):
    num_args: Count


# --- loops ---------------------------------------------------------------------------------------


def add_two(a, b, out, n):
    for i in items(n):
        out[i] = a[i] + b[i]


ADD_TWO = Loop(add_two)


# --- the operator --------------------------------------------------------------------------------


def forward(p, args, out):
    if len(args) == 1:
        COPY(args[0], out, out.size)
        return
    ADD_TWO(args[0], args[1], out, out.size)
    for arg in args[2:]:
        ADD_TWO(out, arg, out, out.size)


def gradient(make, p, heads, inputs, outputs):
    return [heads[0]] * p.num_args


def cases(draw):
    shape = draw.shape(1, 4)
    return Case({}, {"args": [shape] * draw.integer(1, 4)})


register(Op(
    name="add_n", doc=__doc__, params=Params, variadic="num_args", infer=same_shape("add_n/shape"),
    forward=forward, gradient=gradient, inplace=((0, 0), (1, 0)),
    aliases=("ElementWiseSum", "_sparse_add_n", "_sparse_ElementWiseSum"), cases=cases,
    refusals={"add_n/shape": {"shapes": {"args": [(2, 3), (3, 2)]}}},
    tier=1, gradient_rows="head", elementwise=True,
))
