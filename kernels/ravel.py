"""_ravel_multi_index, _unravel_index: several indices as one number in C order, and back.

[ravel/number] each column of data, one index for each axis of shape, becomes its number in C order. Fractions
    are cut off.
    >>> run("_ravel_multi_index", [[0, 1], [2, 0]], shape=(2, 3))
    [2.0, 3.0]

[unravel/indices] each number becomes a column of indices.
    >>> run("_unravel_index", [2, 3], shape=(2, 3))
    [[0.0, 1.0], [2.0, 0.0]]

[ravel/outside] nothing is checked: the first side does not matter and may be -1, other indices outside their
    side carry over, and numbers below 0 are taken apart as their absolute value, then negated.
    >>> run("_ravel_multi_index", [[5, -1], [2, 7]], shape=(-1, 3))
    [17.0, 4.0]
    >>> run("_unravel_index", [7, -4], shape=(2, 3))
    [[2.0, -1.0], [1.0, -1.0]]

[ravel/shape] shape has an axis or more, none but the first below 1; _ravel_multi_index takes data (axes, n),
    _unravel_index data (n,).

[ravel/gradient] the gradient is zero (``grad`` says None).
    >>> grad("_unravel_index", [2], shape=(2, 3)), grad("_ravel_multi_index", [[2]], shape=3)
    (None, None)
"""

from math import prod
from typing import NamedTuple

from .foundation import UNKNOWN, Case, Loop, Op, Shape, items, merge, register, require, strides_of
from .foundation.loops import truncated
from .foundation.walks import integers


class Params(NamedTuple):
    shape: Shape | None = None


def infer_with(wide, narrow):
    """``wide`` and ``narrow`` say where (axes, n) and (n,) stand: 0 the input, 1 the output."""

    def infer(p, ins, outs):
        sides = p.shape or ()
        require(
            "ravel/shape", sides and all(side > 0 for side in sides[1:]),
            f"shape={p.shape} must have an axis or more, each but the first of 1 or more elements",
        )
        require(
            "ravel/shape", max(abs(sides[0]), 1) * prod(sides[1:]) < 2**63,
            f"shape={p.shape} has more than 2**63 - 1 elements",
        )
        found = [ins[0], outs[0]]
        found[wide] = merge("ravel/shape", "columns of indices", found[wide], (len(sides), UNKNOWN))
        found[narrow] = merge("ravel/shape", "numbers", found[narrow], found[wide][1:])
        found[wide] = (len(sides), *found[narrow])
        return [found[0]], [found[1]]

    return infer


# --- loops --------------------------------------------------------------------------------------


def ravel(data, out, steps):
    rank, n = data.shape
    for t in items(n):
        at = 0
        for a in range(rank):
            at += truncated(data[a, t]) * steps[a]
        out[t] = at


def unravel(data, out, sides):
    rank, n = out.shape
    for t in items(n):
        rest = truncated(data[t])
        sign = 1
        if rest < 0:
            rest = -rest
            sign = -1
        for a in range(rank - 1, 0, -1):
            quotient = rest // sides[a]
            out[a, t] = sign * (rest - quotient * sides[a])
            rest = quotient
        out[0, t] = sign * rest


RAVEL, UNRAVEL = Loop(ravel), Loop(unravel)


# --- the operators ------------------------------------------------------------------------------


def forward_ravel(p, data, out):
    RAVEL(data, out, integers(strides_of(p.shape), data.device))


def forward_unravel(p, data, out):
    UNRAVEL(data, out, integers(p.shape, data.device))


def nothing(make, p, heads, inputs, outputs):
    return [None]


def draw_shape(draw):
    shape = draw.shape(1, 4)
    return (-1, *shape[1:]) if draw.boolean() else shape


def cases_ravel(draw):
    shape = draw_shape(draw)
    return Case({"shape": shape}, {"data": (len(shape), draw.integer(1, 4))}, {"data": ("ints", -1, 4)})


def cases_unravel(draw):
    return Case({"shape": draw_shape(draw)}, {"data": draw.shape(1, 1)}, {"data": ("ints", -5, 50)})


register(Op(
    name="_ravel_multi_index", doc=__doc__, params=Params, infer=infer_with(0, 1), forward=forward_ravel,
    gradient=nothing, differentiable=False, aliases=("ravel_multi_index",), cases=cases_ravel,
    refusals={"ravel/shape": {"params": {"shape": (2, 3)}, "shapes": {"data": (3, 4)}}},
    tier=2,
))
register(Op(
    name="_unravel_index", doc=__doc__, params=Params, infer=infer_with(1, 0), forward=forward_unravel,
    gradient=nothing, differentiable=False, aliases=("unravel_index",), cases=cases_unravel,
    refusals={"ravel/shape": {"params": {"shape": (2, 0)}, "shapes": {"data": (4,)}}},
    tier=2,
))
