"""diag and _eye: diagonals of arrays, and arrays that are all diagonal.

[diag/extract] the diagonal of axes axis1 and axis2 becomes the last axis of the result, after the other axes in
    their order; k moves it along axis2, or, if negative, -k along axis1. Axes may count from the end.
    >>> run("diag", [[1, 2, 3], [4, 5, 6]]), run("diag", [[1, 2, 3], [4, 5, 6]], k=1)
    ([1.0, 5.0], [2.0, 6.0])
    >>> run("diag", [[1, 2, 3], [4, 5, 6]], k=-1), run("diag", [[[1, 2]], [[3, 4]]], axis1=2, axis2=0)
    ([4.0], [[1.0, 4.0]])

[diag/construct] of an array of rank 1 a square matrix is made that has it as diagonal k, and else zeros.
    >>> run("diag", [1, 2], k=-1)
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]

[diag/axes] axis1 and axis2 are two different axes of data.

[diag/empty] a diagonal that lies outside the matrix has no elements.
    >>> run("diag", [[1, 2, 3], [4, 5, 6]], k=3)
    []

[diag/gradient] the head is put back onto the diagonal, or taken from it.
    >>> grad("diag", [[1, 2, 3], [4, 5, 6]], k=1, head=[5, 6])
    [[0.0, 5.0, 0.0], [0.0, 0.0, 6.0]]
    >>> grad("diag", [1, 2], head=[[3, 4], [5, 6]])
    [3.0, 6.0]

[_eye/diagonal] ones on diagonal k (above the middle one if positive) of N rows and M columns, zeros elsewhere; M
    below 1 means N columns.
    >>> run("_eye", N=2, M=3, k=1), run("_eye", N=2, dtype="int32")
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])

[_eye/rows] N is 0 or more; 0 rows have no elements.
"""

from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Long,
    Loop,
    Op,
    decides,
    items,
    merge,
    normal_axis,
    register,
    require,
    strides_of,
    told,
)
from .foundation.loops import GATHER, SCATTER, walk, zero


class Params(NamedTuple):
    k: int = 0
    axis1: int = 0
    axis2: int = 1


class EyeParams(NamedTuple):
    N: Long
    M: Long = 0
    k: Long = 0
    ctx: str = ""
    dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8", "uint8"] = "float32"


def two_axes(p, rank):
    first, second = (normal_axis("diag/axes", a, rank) for a in (p.axis1, p.axis2))
    require("diag/axes", first != second, f"axis1={p.axis1} and axis2={p.axis2} are the same axis")
    return first, second


@decides("diag/empty")
def shape_of(p, shape):
    """The diagonal's shape, or that of the matrix made from it."""
    if len(shape) == 1:
        return (shape[0] + abs(p.k),) * 2
    first, second = two_axes(p, len(shape))
    height, width = shape[first], shape[second]
    length = UNKNOWN
    if told(height, width):
        length = max(min(height, width - p.k) if p.k >= 0 else min(height + p.k, width), 0)
    return (*(s for a, s in enumerate(shape) if a not in (first, second)), length)


def infer(p, ins, outs):
    if ins[0] is None:
        return ins, outs
    return ins, [merge("diag/extract", "output", outs[0], shape_of(p, ins[0]))]


def infer_eye(p, ins, outs):
    require("_eye/rows", p.N >= 0, f"N={p.N} must be 0 or more")
    return [], [merge("_eye/diagonal", "output", outs[0], (p.N, p.M if p.M > 0 else p.N))]


def type_eye(p, ins, outs):
    return [], [np.dtype(p.dtype)]


# --- the operators ------------------------------------------------------------------------------


def eye(out, k):
    for r, c in items(out.shape):
        out[r, c] = 1 if c - r == k else 0


EYE = Loop(eye)


def places(p, whole, rank):
    """The walk over a diagonal that finds it in ``whole``, of which data has ``rank``."""
    first, second = (0, 1) if rank == 1 else two_axes(p, len(whole.shape))
    strides = strides_of(whole.shape)
    steps = [s for a, s in enumerate(strides) if a not in (first, second)]
    start = p.k * strides[second] if p.k >= 0 else -p.k * strides[first]
    shape = (whole.shape[0] - abs(p.k),) if rank == 1 else shape_of(p, whole.shape)
    return walk(shape, (*steps, strides[first] + strides[second]), start, whole.device)


def spread(p, diagonal, whole, rank):
    zero(whole)
    SCATTER(diagonal, whole, *places(p, whole, rank))


def forward(p, data, out):
    if len(data.shape) == 1:
        spread(p, data, out, 1)
    else:
        GATHER(data, out, *places(p, data, len(data.shape)))


def backward(p, head, d_data):
    if d_data is None:
        return
    if len(d_data.shape) == 1:
        GATHER(head, d_data, *places(p, head, 1))
    else:
        spread(p, head, d_data, len(d_data.shape))


def forward_eye(p, out):
    EYE(out, p.k)


def cases(draw):
    shape = draw.shape(1, 4)
    if len(shape) == 1:
        return Case({"k": draw.integer(-2, 2)}, {"data": shape})
    first = draw.integer(0, len(shape) - 1)
    second = (first + draw.integer(1, len(shape) - 1)) % len(shape)
    k = draw.integer(1 - shape[first], shape[second] - 1)
    return Case({"k": k, "axis1": first - len(shape), "axis2": second}, {"data": shape})


def cases_eye(draw):
    params = {"N": draw.integer(1, 4), "M": draw.integer(0, 4), "k": draw.integer(-4, 4)}
    return Case({**params, "dtype": draw.choice(["float32", "float64", "int32"])}, {})


register(Op(
    name="diag", doc=__doc__, params=Params, infer=infer, forward=forward, backward=backward, cases=cases,
    refusals={
        "diag/axes": {"params": {"axis1": 1, "axis2": -1}, "shapes": {"data": (2, 3)}},
    },
    tier=2, method="diag",
))
register(Op(
    name="_eye", doc=__doc__, params=EyeParams, inputs=(), infer=infer_eye, infer_type=type_eye,
    forward=forward_eye, cases=cases_eye, refusals={"_eye/rows": {"params": {"N": -1}}},
    tier=1,
))
