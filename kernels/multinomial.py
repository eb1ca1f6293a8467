"""Multinomial: whole numbers 0, 1, 2, ... drawn with the probabilities of each row of data.

[multinomial/draw] the last axis of data holds the probabilities of k classes. With one unit number u (see
    [random/unit], single precision) the class is the first at which their running sum exceeds u.
    >>> run("_sample_multinomial", [0.1, 0.2, 0.3, 0.4], shape=(6,))
    [2.0, 2.0, 3.0, 3.0, 3.0, 3.0]

[multinomial/engine] the unit numbers come from the single engine (random_streams.py), in the order of the
    output.

[multinomial/shape] the output has the shape of data without its last axis, followed by shape; it has one
    element if that leaves nothing.
    >>> run("_sample_multinomial", [[0, 1], [1, 0]]), run("_sample_multinomial", [[0, 1]], shape=(1, 2))
    ([1.0, 0.0], [[[1.0, 1.0]]])

[multinomial/sum] nothing is made of a sum other than 1. A u beyond the last running sum gives the last class
    with a positive probability; what is negative counts as 0.
    >>> run("_sample_multinomial", [0.0, 0.1, 0.0])
    [1.0]

[multinomial/type] data is floating point; dtype is that of the classes.

[multinomial/get-prob] with get_prob a second output holds the logarithm of each drawn class's probability, in
    data's type. Its gradient reaches the probability p of that class as head / p, added up over the draws.
    The gradient through the classes is zero.
    >>> run("_sample_multinomial", [0.25, 0.75], get_prob=True, shape=(2,))
    ([1.0, 1.0], [-0.287682, -0.287682])
    >>> grad("_sample_multinomial", [0.25, 0.75], get_prob=True, shape=(2,))
    [0.0, 2.666667]
"""

import math
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Shape, Sources, items, merge, register, require, require_some, scratch
from .foundation.loops import FILL
from .shared.random_streams import TAKE, single, single_engine


class Params(NamedTuple):
    shape: Shape = ()
    get_prob: bool = False
    dtype: Literal["float16", "float32", "float64", "int32", "uint8"] = "int32"


def outputs(p):
    return ("output0", "output1") if p.get_prob else ("output",)


def infer(p, ins, outs):
    (data,) = ins
    require("multinomial/shape", data is None or len(data), "data has no axes; give (k,) or (..., k) probabilities")
    shape = None if data is None else (*data[:-1], *p.shape) or (1,)
    for out in outs:
        shape = merge("multinomial/shape", "output", out, shape)
    if data:
        require_some("a row of data", data[-1], shape)
    return [data], [shape] * len(outs)


def infer_type(p, ins, outs):
    (data,) = ins
    require(
        "multinomial/type", data is None or data.kind == "f",
        f"probabilities are of floating point, got {data}; use Cast",
    )
    return ins, [np.dtype(p.dtype), data][: len(outs)]


# --- loops ----------------------------------------------------------------------------------------


# data is (rows, classes); what is drawn from it is (rows, draws).


def choose(data, words, classes, zero):
    """classes[r, i] = the first class at which the running sum of data[r], in data's type, exceeds the unit number."""
    for r, i in items(classes.shape):
        chosen = 0
        total = zero
        u = single(words[r, i])
        for c in range(data.shape[1]):
            if data[r, c] > 0 and total <= u:
                chosen = c
                total += data[r, c]
        classes[r, i] = chosen


def logarithms(data, classes, out):
    """out[r, i] = log(data[r, c]) of the class c = classes[r, i]."""
    for r, i in items(out.shape):
        out[r, i] = math.log(data[r, np.int64(classes[r, i])])


def spread(data, classes, head, d_data):
    """d_data[r, c] = sum of head[r, i] / data[r, c] over the draws i of class c."""
    for r in items(d_data.shape[0]):
        for c in range(d_data.shape[1]):
            d_data[r, c] = 0
        for i in range(head.shape[1]):
            c = np.int64(classes[r, i])
            d_data[r, c] += head[r, i] / data[r, c]


CHOOSE, LOGARITHMS, SPREAD = Loop(choose), Loop(logarithms), Loop(spread)


# --- the operator ---------------------------------------------------------------------------------


def forward(p, data, classes, *logs, rng):
    n, rows = classes.size, prod(data.shape[:-1])
    drawn = (rows, prod(p.shape))
    (words,) = scratch(data, n, dtype=np.uint32)
    TAKE(words, single_engine(data.device, rng), n, 1, n)
    data, classes = data.reshape((rows, data.shape[-1])), classes.reshape(drawn)
    CHOOSE(data, words.reshape(drawn), classes, 0.0)
    for out in logs:
        LOGARITHMS(data, classes, out.reshape(drawn))


def backward(p, *buffers):
    *heads, data, classes, d_data = buffers
    if d_data is None:
        return
    if not p.get_prob:
        FILL(d_data, 0, d_data.size)
        return
    shape, drawn = (prod(data.shape[:-1]), data.shape[-1]), (prod(data.shape[:-1]), prod(p.shape))
    SPREAD(data.reshape(shape), classes.reshape(drawn), heads[-1].reshape(drawn), d_data.reshape(shape))


def cases(draw):
    params = {
        "shape": draw.shape(0, 2), "get_prob": draw.boolean(),
        "dtype": draw.choice(("int32", "float32")),
    }
    return Case(params, {"data": draw.shape(1, 3)}, {"data": "above_one"})


register(Op(
    name="_sample_multinomial", doc=__doc__, params=Params, outputs=outputs, infer=infer,
    infer_type=infer_type, forward=forward, backward=backward,
    needs=lambda p: ("data", outputs(p)[0]), random=True, aliases=("sample_multinomial",),
    differentiable=False, cases=cases,
    refusals={
        "multinomial/shape": {"params": {"shape": (3,)}, "shapes": {"data": (2, 4), "output": (2,)}},
        "multinomial/type": {"shapes": {"data": (2,)}, "dtypes": {"data": "int32"}},
    },
    tier=1, numbered_input=True, reports=Sources(outputs=True),
))
