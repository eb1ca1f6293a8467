"""smooth_l1: quadratic near zero, the absolute value less a constant beyond.

[smooth_l1/formula] with s = scalar: 0.5 . (s x)^2 where |x| <= 1 / s^2, else |x| - 0.5 / s^2.
    >>> run("smooth_l1", [3, -3, 0.5, 0], scalar=1), run("smooth_l1", [2, 0.25], scalar=2)
    ([2.5, 2.5, 0.125, 0.0], [1.875, 0.125])

[smooth_l1/gradient] s^2 x inside, the sign of x outside.
    >>> grad("smooth_l1", [3, -3, 0.5, 0], scalar=1)
    [1.0, -1.0, 0.5, 0.0]

[smooth_l1/shape] input and output have one shape and type.
"""

import math
from typing import NamedTuple

from .foundation import Case, Loop, Op, items, register, same_shape, scalar
from .shared.terms import slope_rule


class Params(NamedTuple):
    scalar: float = 1.0


# --- loops ---------------------------------------------------------------------------------------


@scalar
def smooth(x, square, edge):
    return abs(x) - 0.5 * edge if abs(x) > edge else 0.5 * square * x * x


@scalar
def smooth_slope(x, square, edge):
    return 1 if x > edge else (-1 if x < -edge else square * x)


def map_smooth(data, out, square, edge, n):
    for i in items(n):
        out[i] = smooth(data[i], square, edge)


def chain_smooth(head, data, d_data, square, edge, n):
    for i in items(n):
        d_data[i] = head[i] * smooth_slope(data[i], square, edge)


MAP_SMOOTH, CHAIN_SMOOTH = Loop(map_smooth), Loop(chain_smooth)


# --- the operator --------------------------------------------------------------------------------


def constants(p):
    """s^2 and the edge of the quadratic part, which is infinitely far for s = 0."""
    square = p.scalar * p.scalar
    return square, 1.0 / square if square else math.inf


def forward(p, data, out):
    MAP_SMOOTH(data, out, *constants(p), data.size)


def backward(p, head, data, d_data):
    if d_data is not None:
        CHAIN_SMOOTH(head, data, d_data, *constants(p), data.size)


def cases(draw):
    return Case({"scalar": draw.choice((0.5, 1, 2))}, {"data": draw.shape(1, 4)})


register(Op(
    name="smooth_l1", doc=__doc__, params=Params, infer=same_shape("smooth_l1/shape"),
    forward=forward, backward=backward, needs=("data",), inplace=((0, 0),),
    gradient=slope_rule(lambda p, x, y: (p.scalar * p.scalar * x).clip(a_min=-1, a_max=1)),
    inplace_backward=(("head", "data"), ("data", "data")), cases=cases,
    refusals={"smooth_l1/shape": {"shapes": {"data": (2, 3), "output": (2,)}}},
    tier=1, numbered_input=True, elementwise=True,
))
