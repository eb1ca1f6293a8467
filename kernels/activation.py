"""Activation: out[i] = f(data[i]) for the function named by act_type.

[Activation/functions] relu max(x, 0); sigmoid 1 / (1 + e^-x); tanh; softrelu ln(1 + e^x); softsign
    x / (1 + |x|). How far float32 results of tuned twins may be off stands in tuned/curves.py.
    >>> run("Activation", [-2, 0, 2], act_type="relu"), run("Activation", [-2, 0, 2], act_type="tanh")
    ([0.0, 0.0, 2.0], [-0.964028, 0.0, 0.964028])
    >>> run("Activation", [-2, 0, 2], act_type="sigmoid")
    [0.119203, 0.5, 0.880797]
    >>> run("Activation", [-2, 0, 2], act_type="softrelu")
    [0.126928, 0.693147, 2.126928]
    >>> run("Activation", [-2, 0, 2], act_type="softsign")
    [-0.666667, 0.0, 0.666667]

[Activation/relu-nan] relu of NaN is 0, and passes no gradient.
    >>> run("Activation", [float("nan"), 1], act_type="relu")
    [0.0, 1.0]
    >>> grad("Activation", [float("nan"), 1], act_type="relu")
    [0.0, 1.0]

[Activation/relu-zero] the slope of relu at 0 is 0.
    >>> grad("Activation", [-1, 0, 1], act_type="relu")
    [0.0, 0.0, 1.0]

[Activation/gradient] the slope is computed from the output y: sigmoid y (1 - y), tanh 1 - y^2,
    softrelu 1 - e^-y; for softsign from the input: 1 / (1 + |x|)^2.
    >>> grad("Activation", [-2, 0, 2], act_type="sigmoid")
    [0.104994, 0.25, 0.104994]
    >>> grad("Activation", [-2, 0, 2], act_type="softsign")
    [0.111111, 1.0, 0.111111]

[Activation/extremes] no finite input overflows: softrelu is x itself where e^x would be infinite.
    >>> run("Activation", [-1000, 1000], act_type="softrelu"), run("Activation", [-1000], act_type="sigmoid")
    ([0.0, 1000.0], [0.0])

[Activation/floating] data is float16, float32 or float64.

[Activation/shape] the output has the input's shape; either is inferred from the other.
"""

from math import exp, expm1, log1p
from typing import Literal, NamedTuple

import numpy as np

from .foundation import (
    Case,
    Loop,
    Op,
    decides,
    items,
    register,
    require,
    same_shape,
    same_type,
    scalar,
)
from .foundation.quirk import declare
from .shared.curves import SIGMOID, TANH, map_one
from .shared.terms import slope_rule

_NAN = declare(
    "activation-relu-nan", "Activation/relu-nan", "in float64 relu passes NaN on, and its gradient is NaN there",
    "the result does not depend on the type",
)


class Params(NamedTuple):
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Activation/floating", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- the formulas: f(x), and the slope from the output y (softsign: from the input) ---------------


@scalar
def relu(x):
    return x if x > 0 else 0.0


@scalar
def relu_slope(y):
    return 1.0 if y > 0 else 0.0


@scalar
def relu_passing(x):
    return x if x > 0 or x != x else 0.0


@scalar
def relu_passing_slope(y):
    return y if y != y else 1.0 if y > 0 else 0.0


@scalar
def sigmoid_slope(y):
    return y * (1.0 - y)


@scalar
def tanh_slope(y):
    return 1.0 - y * y


@scalar
def softrelu(x):
    return max(x, 0.0) + log1p(exp(-abs(x)))


@scalar
def softrelu_slope(y):
    return -expm1(-y)


@scalar
def softsign(x):
    return x / (1.0 + abs(x))


@scalar
def softsign_slope(x):
    return 1.0 / ((1.0 + abs(x)) * (1.0 + abs(x)))


# --- loops --------------------------------------------------------------------------------------


def chain_one(head, seen, d_data, n):
    for i in items(n):
        d_data[i] = head[i] * slope(seen[i])  # noqa: F821  # bound by Loop(chain_one, slope=...)


MAP = {
    "relu": Loop(map_one, formula=relu),
    "relu-nan": Loop(map_one, formula=relu_passing),
    "sigmoid": SIGMOID,
    "tanh": TANH,
    "softrelu": Loop(map_one, formula=softrelu),
    "softsign": Loop(map_one, formula=softsign),
}
CHAIN = {
    act_type: Loop(chain_one, slope=slope)
    for act_type, slope in (
        ("relu", relu_slope), ("relu-nan", relu_passing_slope), ("sigmoid", sigmoid_slope), ("tanh", tanh_slope),
        ("softrelu", softrelu_slope), ("softsign", softsign_slope),
    )
}


# the slopes once more, made of operators of the input x and the output y: they can be differentiated again
SLOPES = {
    "relu": lambda x, y: y.sign(),
    "sigmoid": lambda x, y: y * (1 - y),
    "tanh": lambda x, y: 1 - y * y,
    "softrelu": lambda x, y: -(-y).expm1(),
    "softsign": lambda x, y: 1 / ((1 + abs(x)) * (1 + abs(x))),
}


# --- the operator -------------------------------------------------------------------------------


def needs(p):
    return ("data",) if p.act_type == "softsign" else ("output",)


def curve(p, data):
    """The name of the formula."""
    passes = p.act_type == "relu" and data.dtype == np.float64 and _NAN.active
    return "relu-nan" if passes else p.act_type


def forward(p, data, out):
    MAP[curve(p, data)](data, out, data.size)


@decides("Activation/relu-zero")
def backward(p, head, seen, d_data):
    if d_data is not None:
        CHAIN[curve(p, head)](head, seen, d_data, head.size)


def cases(draw):
    act_type = draw.choice(("relu", "sigmoid", "softrelu", "softsign", "tanh"))
    return Case({"act_type": act_type}, {"data": draw.shape(1, 4)}, {"data": "apart"})


register(Op(
    name="Activation", doc=__doc__, params=Params, infer=same_shape("Activation/shape"),
    infer_type=infer_type, forward=forward, backward=backward, needs=needs,
    gradient=slope_rule(lambda p, x, y: SLOPES[p.act_type](x, y)),
    inplace=((0, 0),), inplace_backward=(("head", "data"),), cases=cases,
    refusals={
        "Activation/shape": {
            "params": {"act_type": "relu"}, "shapes": {"data": (2,), "output": (3,)},
        },
        "Activation/floating": {
            "params": {"act_type": "relu"}, "shapes": {"data": (2,)}, "dtypes": {"data": "int32"},
        },
    },
    tier=1, numbered_input=True, color="#ffffb3", keeps_rank=True, elementwise=True,
    label="Activation\n{act_type}",
    difference_clauses={"": "Activation/functions"},
))
