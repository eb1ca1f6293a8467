"""Operators that copy: identity, _CrossDeviceCopy, BlockGrad, make_loss, MakeLoss and Cast.

[identity/copy] the output is the input; the gradient is the head gradient.
    >>> run("identity", [1, 2]), grad("identity", [1, 2], head=[3, 4])
    ([1.0, 2.0], [3.0, 4.0])

[identity/shape] input and output have one shape, and but for Cast one type.

[BlockGrad/gradient] no gradient passes back (``grad`` says None: nothing is computed).
    >>> run("BlockGrad", [1, 2]), grad("BlockGrad", [1, 2])
    ([1.0, 2.0], None)

[make_loss/gradient] the gradient is 1, whatever the head gradient: backward may start here.
    >>> run("make_loss", [1, 2]), grad("make_loss", [1, 2], head=[5, 5])
    ([1.0, 2.0], [1.0, 1.0])

[MakeLoss/gradient] the gradient is grad_scale, whatever the head gradient; normalization="batch" divides it by
    the number of rows (the size without the last axis), "valid" by the number of elements above
    valid_thresh, which counts as 1 when there is none.
    >>> grad("MakeLoss", [[1, 2, 0], [-1, 3, 0]], grad_scale=2)
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    >>> grad("MakeLoss", [[1, 2, 0], [-1, 3, 0]], normalization="batch")
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    >>> grad("MakeLoss", [[1, 2, 0], [-1, 3, 0]], normalization="valid", valid_thresh=1, grad_scale=3)
    [[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]

[like-rhs/shape] _identity_with_attr_like_rhs copies its left operand, whose shape and type are the right one's;
    the right one has gradient zero.
    >>> run("_identity_with_attr_like_rhs", [1, 2], [7, 7])
    [1.0, 2.0]

[Cast/dtype] the output has type dtype; real numbers are cut towards zero, and become True unless they are 0.
    >>> run("Cast", [0, 2.5, -2.7], dtype="int32"), run("Cast", [0, 0.5], dtype="bool")
    ([0.0, 2.0, -2.0], [0.0, 1.0])

[Cast/gradient] the head gradient, cast back to the input's type.
    >>> grad("Cast", [1, 2], dtype="float64", head=[3, 4])
    [3.0, 4.0]
"""

from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import ALWAYS, Case, Loop, Op, Sources, items, register, same_shape, scratch
from .foundation.loops import COPY, FILL
from .multilinear import register_multilinear


class LossParams(NamedTuple):
    grad_scale: float = 1.0
    valid_thresh: float = 0.0
    normalization: Literal["null", "batch", "valid"] = "null"


class CastParams(NamedTuple):
    dtype: Literal[
        "bool", "float16", "float32", "float64", "int8", "int32", "int64", "uint8"
    ]


def infer_cast_type(p, ins, outs):
    return list(ins), [np.dtype(p.dtype)]


# --- loops ---------------------------------------------------------------------------------------


def count_above(data, count, threshold, n):
    """count[0] = how many elements exceed the threshold, at least 1; one item does all."""
    for t in items(1):
        found = 0
        for i in range(n):
            if data[i] > threshold:
                found += 1
        count[t] = max(found, 1)


def fill_divided(target, divisor, value, n):
    for i in items(n):
        target[i] = value / divisor[0]


COUNT_ABOVE, FILL_DIVIDED = Loop(count_above), Loop(fill_divided)


# --- the operators -------------------------------------------------------------------------------


def copy(p, data, out):
    COPY(data, out, out.size)


def copy_left(p, lhs, rhs, out):
    COPY(lhs, out, out.size)


def pass_on(make, p, heads, inputs, outputs):
    return [heads[0]]


def block(make, p, heads, inputs, outputs):
    return [None]


def backward_ones(p, d_data):
    if d_data is not None:
        FILL(d_data, 1, d_data.size)


def backward_loss(p, data, d_data):
    if d_data is None:
        return
    if p.normalization == "valid":
        (count,) = scratch(d_data, 1)
        COUNT_ABOVE(data, count, p.valid_thresh, data.size)
        FILL_DIVIDED(d_data, count, p.grad_scale, d_data.size)
    else:
        divisor = prod(d_data.shape[:-1]) if p.normalization == "batch" else 1
        FILL(d_data, p.grad_scale / divisor, d_data.size)


def backward_cast(p, head, d_data):
    if d_data is not None:
        COPY(head, d_data, d_data.size)


def cases(draw):
    return Case({}, {"data": draw.shape(1, 4)})


def cases_like(draw):
    shape = draw.shape(1, 4)
    return Case({}, {"lhs": shape, "rhs": shape})


def cases_loss(draw):
    params = {
        "grad_scale": draw.choice((1, 0.5, 3)), "valid_thresh": draw.choice((0, 1, 5)),
        "normalization": draw.choice(("null", "batch", "valid")),
    }
    return Case(params, {"data": draw.shape(1, 4)})


def cases_cast(draw):
    return Case({"dtype": draw.choice(("float32", "float64", "int32"))}, {"data": draw.shape(1, 4)})


REFUSED = {"identity/shape": {"shapes": {"data": (2, 3), "output": (2,)}}}
COMMON = {"doc": __doc__, "infer": same_shape("identity/shape"), "forward": copy, "inplace": ((0, 0),)}

for name, gradient, aliases, facts in (
    ("_copy", pass_on, ("identity",), {"tier": 1, "numbered_input": True, "keeps_zero": ALWAYS, "keeps_rank": True}),
    ("_copyto", pass_on, (), {"tier": 1}),
    ("_CrossDeviceCopy", pass_on, (), {"tier": 3}),
    (
        "BlockGrad", block, ("stop_gradient", "_sparse_stop_gradient"),
        {"tier": 1, "numbered_input": True, "keeps_zero": ALWAYS},
    ),
):
    register(Op(
        name=name, gradient=gradient, aliases=aliases, cases=cases, refusals=REFUSED,
        differentiable=name != "BlockGrad", view=True, **COMMON,
        gradient_rows="none" if gradient is block else "head", **facts,
    ))

register(Op(
    name="_identity_with_attr_like_rhs", doc=__doc__, inputs=("lhs", "rhs"),
    infer=same_shape("like-rhs/shape"), forward=copy_left, inplace=((0, 0),), view=True,
    shape_only=("rhs",),
    gradient=lambda make, p, heads, inputs, outputs: [heads[0], None], cases=cases_like,
    refusals={"like-rhs/shape": {"shapes": {"lhs": (2, 3), "rhs": (2,)}}},
    tier=1,
))
register(Op(
    name="make_loss", backward=backward_ones, loss=True, differentiable=False, outputs=("loss",),
    aliases=("_sparse_make_loss",), cases=cases,
    refusals={"identity/shape": {"shapes": {"data": (2, 3), "loss": (2,)}}}, **COMMON,
    tier=1, numbered_input=True, keeps_zero=ALWAYS,
))
register(Op(
    name="MakeLoss", params=LossParams, backward=backward_loss, needs=("data",), loss=True,
    differentiable=False, cases=cases_loss, refusals=REFUSED, **COMMON,
    tier=1, reports=Sources(),
    runs_alone={"count_above": "one count, a single number"},
))
register_multilinear(Op(
    name="Cast", params=CastParams, infer_type=infer_cast_type, backward=backward_cast,
    aliases=("cast",), cases=cases_cast, differentiable=False, **{**COMMON, "inplace": ()},
    refusals={"identity/shape": {"params": {"dtype": "int32"}, **REFUSED["identity/shape"]}},
    tier=1, numbered_input=True, gradient_rows="head", keeps_rank=True,
), ("data",))
