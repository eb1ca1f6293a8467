"""clip: every element moved into a closed interval.

[clip/formula] values above a_max become a_max, else values below a_min become a_min; NaN stays. Beside whole
    numbers both bounds are truncated.
    >>> run("clip", [3, -3, 0.5], a_min=-1, a_max=2), run("clip", [1, 5, -3], a_min=0, a_max=2.5, dtype="int32")
    ([2.0, -1.0, 0.5], [1.0, 2.0, 0.0])

[clip/gradient] 1 on the closed interval and for NaN, 0 outside it, also where the head gradient is NaN or infinite.
    Beside whole numbers the bounds of the gradient are not truncated, although those of the result are: with a_min=0.5
    and a_max=1.5, the result of 0, 1, 2 is 0, 1, 1, and the gradient 0, 1, 0.
    >>> grad("clip", [-3, -1, 0.5, 2, 3], a_min=-1, a_max=2)
    [0.0, 1.0, 1.0, 1.0, 0.0]
    >>> grad("clip", [-3, 0, 3], a_min=-1, a_max=2, head=[float("nan"), 5, float("inf")])
    [0.0, 5.0, 0.0]

[clip/shape] input and output have one shape and type.
"""

from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, ZeroWhen, items, register, same_shape, whole_part
from .shared.terms import slope_rule


class Params(NamedTuple):
    a_min: float
    a_max: float


# --- loops ---------------------------------------------------------------------------------------


def map_clip(data, out, least, most, n):
    for i in items(n):
        x = data[i]
        out[i] = most if x > most else (least if x < least else x)


def chain_clip(head, data, d_data, least, most, n):
    for i in items(n):
        d_data[i] = 0 if data[i] > most or data[i] < least else head[i]


MAP_CLIP, CHAIN_CLIP = Loop(map_clip), Loop(chain_clip)


# --- the operator --------------------------------------------------------------------------------


def bounds(p, data):
    if data.dtype.kind == "f":
        return p.a_min, p.a_max
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return tuple(whole_part("a bound of clip", min(max(value, least), most)) for value in (p.a_min, p.a_max))


def forward(p, data, out):
    MAP_CLIP(data, out, *bounds(p, data), data.size)


def backward(p, head, data, d_data):
    if d_data is not None:
        CHAIN_CLIP(head, data, d_data, p.a_min, p.a_max, data.size)


def cases(draw):
    params = {"a_min": draw.choice((-1.5, -0.5, 0)), "a_max": draw.choice((0.5, 1, 6))}
    return Case(params, {"data": draw.shape(1, 4)})


register(Op(
    name="clip", doc=__doc__, params=Params, infer=same_shape("clip/shape"),
    forward=forward, backward=backward, needs=("data",), inplace=((0, 0),),
    gradient=slope_rule(lambda p, x, y: (1 - (x > p.a_max)) * (1 - (x < p.a_min))),
    inplace_backward=(("head", "data"), ("data", "data")), aliases=("_sparse_clip",), cases=cases,
    refusals={"clip/shape": {
        "params": {"a_min": 0, "a_max": 1}, "shapes": {"data": (2, 3), "output": (2,)},
    }},
    tier=1, method="clip", numbered_input=True, elementwise=True,
    keeps_zero=ZeroWhen("a_min <= 0 <= a_max", lambda p: p.a_min <= 0 <= p.a_max),
))
