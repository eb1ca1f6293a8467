"""L2Normalization: data divided by the length of the vector that each number belongs to.

[L2Normalization/formula] out = x / sqrt(sum of x^2 + eps). The sum runs over one sample (mode instance), over the
    channels at one place (channel), or over one channel of one sample (spatial).
    >>> run("L2Normalization", [[[3, 4], [0, 1]]], eps=1), run("L2Normalization", [[[3, 4], [0, 0]]])
    ([[[0.57735, 0.7698], [0.0, 0.19245]]], [[[0.6, 0.8], [0.0, 0.0]]])
    >>> run("L2Normalization", [[[3, 4], [0, 1]]], eps=1, mode="channel")
    [[[0.948683, 0.942809], [0.0, 0.235702]]]
    >>> run("L2Normalization", [[[3, 4], [0, 1]]], eps=1, mode="spatial")
    [[[0.588348, 0.784465], [0.0, 0.707107]]]

[L2Normalization/rank] channel and spatial need three axes or more; instance takes any.
    >>> run("L2Normalization", [3, -4])
    [1.0, -1.0]

[L2Normalization/zero] a vector of zeros stays zero, unless eps is 0: then it becomes NaN.
    >>> import numpy as np
    >>> bool(np.isnan(run("L2Normalization", [[0, 0]], eps=0)).all())
    True

[L2Normalization/gradient] d_x = (head - out sum(head out)) / length, where length = sqrt(sum of x^2 + eps).
    >>> grad("L2Normalization", [[3, 4]], head=[[5, 0]])
    [[0.64, -0.48]]

[L2Normalization/sum-order] sums are made in double precision, in C order, or as reduce/sum-order says where 32 or more
    neighbours in memory are summed.

[L2Normalization/types] data is of a floating-point type.
"""

from math import prod, sqrt
from typing import Literal, NamedTuple

from .foundation import Case, Loop, Op, Sources, items, merge, register, require, same_type
from .foundation.loops import outer_side_inner
from .foundation.walks import lanes_of
from .shared.row_sums import products_of_row


class Params(NamedTuple):
    eps: float = 1.00000001e-10
    mode: Literal["channel", "instance", "spatial"] = "instance"


def infer(p, ins, outs):
    data = merge("L2Normalization/formula", "output", outs[0], ins[0])
    if data is None:
        return [data], [data, outs[1]]
    require(
        "L2Normalization/rank", len(data) >= 3 or (p.mode == "instance" and data),
        f"mode {p.mode} needs three axes or more, data is {list(data)}",
    )
    kept = {"instance": data[:1], "channel": (data[0], 1, *data[2:]), "spatial": (*data[:2], 1)}[p.mode]
    norm = merge("L2Normalization/formula", "norm", outs[1], kept)
    if p.mode == "channel":
        data = (norm[0], data[1], *norm[2:])
    else:
        data = (*norm[: 1 if p.mode == "instance" else 2], *data[1 if p.mode == "instance" else 2 :])
    return [data], [data, norm]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "L2Normalization/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------
# Data is read as (outer, side, inner), and norm as (outer, inner): the vectors lie along side.


def lengths(data, norm, eps, lanes):
    for n, j in items(norm.shape):
        norm[n, j] = sqrt(products_of_row(data, data, n, j, lanes) + eps)


def shorten(data, norm, out):
    for n, j in items(norm.shape):
        for i in range(data.shape[1]):
            out[n, i, j] = data[n, i, j] / norm[n, j]


def shorten_back(head, out, norm, d_data, lanes):
    for n, j in items(norm.shape):
        dot = products_of_row(head, out, n, j, lanes)
        for i in range(head.shape[1]):
            d_data[n, i, j] = (head[n, i, j] - out[n, i, j] * dot) / norm[n, j]


LENGTHS, SHORTEN, SHORTEN_BACK = Loop(lengths), Loop(shorten), Loop(shorten_back)


# --- the operator -------------------------------------------------------------------------------


def by_vectors(p, norm, *arrays):
    """norm and arrays of data's shape under the axes of the loops, and the lanes of a vector."""
    shape = arrays[0].shape
    if p.mode == "channel":
        sides = outer_side_inner(shape, 1)
    else:
        sides = norm.size, prod(shape[1 if p.mode == "instance" else 2 :]), 1
    outer, side, inner = sides
    of_rows = lanes_of(side, inner, arrays[0].dtype)
    return norm.reshape((outer, inner)), *(array.reshape(sides) for array in arrays), of_rows


def forward(p, data, out, norm):
    norm, data, out, lanes = by_vectors(p, norm, data, out)
    LENGTHS(data, norm, p.eps, lanes)
    SHORTEN(data, norm, out)


def backward(p, head, out, norm, d_data):
    if d_data is not None:
        norm, head, out, d_data, lanes = by_vectors(p, norm, head, out, d_data)
        SHORTEN_BACK(head, out, norm, d_data, lanes)


def cases(draw):
    mode = draw.choice(("channel", "instance", "spatial"))
    shape = draw.shape(1 if mode == "instance" else 3, 4)
    return Case({"mode": mode, "eps": draw.choice((1e-10, 0.5))}, {"data": shape}, {"data": "apart"})


register(Op(
    name="L2Normalization", doc=__doc__, params=Params, outputs=("output", "norm"), hidden=1,
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, needs=("output", "norm"),
    inplace_backward=(("head", "data"),), cases=cases,
    refusals={
        "L2Normalization/rank": {"params": {"mode": "channel"}, "shapes": {"data": (2, 3)}},
        "L2Normalization/types": {"params": {}, "shapes": {"data": (2, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=1, reports=Sources(),
))
