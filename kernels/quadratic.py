"""_contrib_quadratic and _contrib_div_sqrt_dim: two small functions of one array.

[_contrib_quadratic/value] (a x + b) x + c; the slope is 2 a x + b. Whole numbers are computed as real ones and cut.
    >>> run("_contrib_quadratic", [3, 1], a=1, b=2, c=3), grad("_contrib_quadratic", [3, 1], a=1, b=2, c=3)
    ([18.0, 6.0], [8.0, 4.0])
    >>> run("_contrib_quadratic", [2, 3], a=0.5, b=2.5, dtype="int32")
    [7.0, 12.0]

[_contrib_div_sqrt_dim/value] data divided by the square root of its last side.
    >>> run("_contrib_div_sqrt_dim", [[4, 2, 0, 8]]), grad("_contrib_div_sqrt_dim", [[4, 2, 0, 8]])
    ([[2.0, 1.0, 0.0, 4.0]], [[0.5, 0.5, 0.5, 0.5]])

[_contrib_quadratic/shape] here and in _contrib_div_sqrt_dim the output has the input's shape and type; either is
    inferred from the other. _contrib_div_sqrt_dim needs an axis.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, register, same_shape


class Params(NamedTuple):
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0


# --- loops --------------------------------------------------------------------------------------


def quadratic(data, out, a, b, c, n):
    for i in items(n):
        x = data[i]
        out[i] = (a * x + b) * x + c


def quadratic_slope(head, data, d_data, a, b, n):
    for i in items(n):
        d_data[i] = head[i] * (2 * a * data[i] + b)


def divide(data, out, root, n):
    for i in items(n):
        out[i] = data[i] / root


QUADRATIC, QUADRATIC_SLOPE, DIVIDE = Loop(quadratic), Loop(quadratic_slope), Loop(divide)


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, out):
    QUADRATIC(data, out, p.a, p.b, p.c, out.size)


def backward(p, head, data, d_data):
    if d_data is not None:
        QUADRATIC_SLOPE(head, data, d_data, p.a, p.b, head.size)


def forward_divide(p, data, out):
    DIVIDE(data, out, np.float64(math.sqrt(data.shape[-1])), out.size)


def gradient_divide(make, p, heads, inputs, outputs):
    return [make("_contrib_div_sqrt_dim", heads)[0]]


def cases(draw):
    params = {name: draw.choice((0.0, 0.5, -1.5)) for name in "abc"}
    return Case(params, {"data": draw.shape(1, 4)})


REFUSED = {"_contrib_quadratic/shape": {"shapes": {"data": (2, 3), "output": (2,)}}}
register(Op(
    name="_contrib_quadratic", doc=__doc__, params=Params, infer=same_shape("_contrib_quadratic/shape"),
    forward=forward, backward=backward, needs=("data",), inplace=((0, 0),),
    inplace_backward=(("head", "data"), ("data", "data")), cases=cases, refusals=REFUSED,
    tier=2,
))
register(Op(
    name="_contrib_div_sqrt_dim", doc=__doc__, infer=same_shape("_contrib_quadratic/shape", axes=1),
    forward=forward_divide, gradient=gradient_divide, inplace=((0, 0),),
    cases=lambda draw: Case({}, {"data": draw.shape(1, 4)}), refusals=REFUSED,
    tier=2, numbered_input=True,
))
