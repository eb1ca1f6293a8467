"""LRN: each number divided by what its neighbours in other channels add up to (local response normalisation).

[LRN/formula] out = x / scale^beta with scale = knorm + alpha / nsize * (sum of x^2 over the channels from c - h to c
    + h that exist), h = (nsize - 1) // 2; an even nsize sees as many channels as the odd number below it.
    >>> run("LRN", [[[[1]], [[2]], [[3]]]], nsize=3, alpha=1, beta=1, knorm=1)
    [[[[0.375]], [[0.352941]], [[0.5625]]]]
    >>> run("LRN", [[[[1]], [[2]], [[3]]]], nsize=2, alpha=1, beta=1, knorm=1)
    [[[[0.666667]], [[0.666667]], [[0.545455]]]]
    >>> run("LRN", [[[[1]], [[2]], [[3]]]], nsize=5, alpha=1, beta=0.5, knorm=1)
    [[[[0.512989]], [[1.025978]], [[1.538967]]]]

[LRN/size] nsize is at least 1.

[LRN/rank] data has two axes or more; channels are axis 1.
    >>> run("LRN", [[1, 2, 3]], nsize=3, alpha=1, beta=1, knorm=1)
    [[0.375, 0.352941, 0.5625]]

[LRN/gradient] d_x_c = head_c scale_c^-beta - 2 alpha beta / nsize x_c sum(head_k out_k / scale_k) over the same window.
    >>> grad("LRN", [[2, 1]], nsize=3, alpha=3, beta=1, knorm=1, head=[[1, 0]])
    [[-0.055556, -0.111111]]

[LRN/sum-order] squares are added in double precision, in the order of the channels. The power of -beta is of the type
    of data; for beta = 0.75 in float32 it is 1 / (sqrt(scale) sqrt(sqrt(scale))) in a tuned twin, each step rounded.

[LRN/types] data is of a floating-point type.
"""

from math import pow as power
from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import REQUIRED, Case, Loop, Op, Sources, items, merge_all, register, require, same_type


class Params(NamedTuple):
    alpha: float = 9.99999975e-05
    beta: float = 0.75
    knorm: float = 2.0
    nsize: int = REQUIRED


def infer(p, ins, outs):
    require("LRN/size", p.nsize >= 1, f"nsize {p.nsize} must be at least 1")
    shape = merge_all("LRN/formula", "data and outputs", [*ins, *outs])
    require("LRN/rank", shape is None or len(shape) >= 2, f"data {shape} must have two axes or more")
    return [shape], [shape, shape]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "LRN/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# data is (batch, channels, inner); a window is the channels k from c - half to c + half that there are.


def scales(data, scale, half, share, knorm):
    """scale[n, c, i] = knorm + share . sum of data[n, k, i]^2 over the window of c."""
    for n, c, i in items(scale.shape):
        total = np.float64(0)
        for k in range(max(c - half, 0), min(c + half + 1, data.shape[1])):
            total += np.float64(data[n, k, i]) * data[n, k, i]
        scale[n, c, i] = knorm + share * total


def respond(data, scale, out, n, beta):
    """out[i] = data[i] . scale[i]^-beta."""
    for i in items(n):
        out[i] = data[i] * power(scale[i], -beta)


def respond_back(head, data, scale, d_data, half, share, beta):
    """d_data[n, c, i] = head . scale^-beta - 2 share beta . data . sum, all at [n, c, i].

    The sum is that of head . data . scale^(-beta - 1), at [n, k, i], over the window of c.
    """
    for n, c, i in items(d_data.shape):
        total = np.float64(0)
        for k in range(max(c - half, 0), min(c + half + 1, data.shape[1])):
            total += np.float64(head[n, k, i]) * data[n, k, i] * power(scale[n, k, i], -beta - 1)
        direct = head[n, c, i] * power(scale[n, c, i], -beta)
        d_data[n, c, i] = direct - 2 * share * beta * data[n, c, i] * total


SCALES, RESPOND, RESPOND_BACK = Loop(scales), Loop(respond), Loop(respond_back)


# --- the operator -------------------------------------------------------------------------------


def by_channel(*arrays):
    """The arrays as (batch, channels, inner)."""
    batch, channels, *rest = arrays[0].shape
    return [array.reshape((batch, channels, prod(rest))) for array in arrays]


def window(p):
    """How many channels it reaches to either side, and what the sum of its squares is multiplied by."""
    return (p.nsize - 1) // 2, p.alpha / p.nsize


def forward(p, data, out, scale):
    SCALES(*by_channel(data, scale), *window(p), p.knorm)
    RESPOND(data, scale, out, data.size, p.beta)


def backward(p, head, data, scale, d_data):
    if d_data is not None:
        RESPOND_BACK(*by_channel(head, data, scale, d_data), *window(p), p.beta)


def cases(draw):
    params = {
        "nsize": draw.integer(1, 5), "alpha": draw.choice((1e-4, 0.5)), "beta": draw.choice((0.75, 1.0)),
        "knorm": draw.choice((1.0, 2.0)),
    }
    return Case(params, {"data": (draw.integer(1, 2), draw.integer(1, 6), *draw.shape(2, 2, 3))})


register(Op(
    name="LRN", doc=__doc__, params=Params, outputs=("output", "tmp_norm"), hidden=1, infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("data", "tmp_norm"), cases=cases,
    refusals={
        "LRN/size": {"params": {"nsize": 0}, "shapes": {"data": (2, 3)}},
        "LRN/rank": {"params": {"nsize": 3}, "shapes": {"data": (2,)}},
        "LRN/types": {"params": {"nsize": 3}, "shapes": {"data": (2, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=1, reports=Sources(whole=True), keeps_rank=True,
))
