"""amp_cast, amp_multicast: casts that leave whole numbers alone, for training in mixed precision.

[amp_cast/dtype] real numbers become dtype; whole numbers keep their type.
    >>> run("amp_cast", [1.5, 2], dtype="float64")
    [1.5, 2.0]

[amp_cast/gradient] the head, cast back.
    >>> grad("amp_cast", [1.5, 2], dtype="float64", head=[3, 4])
    [3.0, 4.0]

[amp_cast/shape] the output has the input's shape; either is inferred from the other.

[amp_multicast/widest] num_outputs arrays of any shapes; all that hold real numbers get the widest type among them,
    with cast_narrow the narrowest. Arrays of whole numbers keep their type.
    >>> run("amp_multicast", np.array([1, 2], np.float64), np.array([3], np.float32))
    ([1.0, 2.0], [3.0])

[amp_multicast/gradient] each input takes the head of its output, cast back.
    >>> grad("amp_multicast", [1, 2], num_outputs=1)
    [1.0, 1.0]
"""

from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Count, Op, merge, register
from .foundation.loops import COPY


class Params(NamedTuple):
    dtype: Literal["float16", "float32", "float64", "int8", "int32", "int64", "uint8"]


class MultiParams(NamedTuple):
    num_outputs: Count
    cast_narrow: bool = False


def infer(p, ins, outs):
    shapes = [merge("amp_cast/shape", "output", out, given) for given, out in zip(ins, outs, strict=True)]
    return shapes, shapes


def infer_type(p, ins, outs):
    if ins[0] is None:
        return ins, outs
    return ins, [np.dtype(p.dtype) if ins[0].kind == "f" else ins[0]]


def outputs(p):
    return ("output",) if p.num_outputs == 1 else tuple(f"output{i}" for i in range(p.num_outputs))


def type_multi(p, ins, outs):
    if any(kind is None for kind in ins):
        return ins, outs
    reals = [kind for kind in ins if kind.kind == "f"]
    choose = min if p.cast_narrow else max
    chosen = choose(reals, key=lambda kind: kind.itemsize, default=None)
    return ins, [chosen if kind.kind == "f" else kind for kind in ins]


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, out):
    COPY(data, out, out.size)


def backward(p, head, d_data):
    if d_data is not None:
        COPY(head, d_data, d_data.size)


def forward_multi(p, data, *outs):
    for source, out in zip(data, outs, strict=True):
        COPY(source, out, out.size)


def backward_multi(p, *heads_and_gradients):
    *heads, gradients = heads_and_gradients
    for head, gradient in zip(heads, gradients, strict=True):
        backward(p, head, gradient)


def cases(draw):
    return Case({"dtype": draw.choice(("float32", "float64"))}, {"data": draw.shape(1, 4)})


def cases_multi(draw):
    shapes = [draw.shape(1, 3) for _ in range(draw.integer(1, 3))]
    return Case({"cast_narrow": draw.boolean()}, {"args": shapes})


register(Op(
    name="amp_cast", doc=__doc__, params=Params, infer=infer, infer_type=infer_type, forward=forward,
    backward=backward, differentiable=False, cases=cases,
    refusals={
        "amp_cast/shape": {"params": {"dtype": "float64"}, "shapes": {"data": (2,), "output": (3,)}},
    },
    tier=2, numbered_input=True,
))
register(Op(
    name="amp_multicast", doc=__doc__, params=MultiParams, variadic="num_outputs", all_inputs=("data_",),
    outputs=outputs, infer=infer, infer_type=type_multi,
    forward=forward_multi, backward=backward_multi, cases=cases_multi,
    tier=2,
))
