"""FTML: follow the moving leader, an adaptive step in which recent gradients weigh more.

S. Zheng, J. T. Kwok (2017): Follow the moving leader in deep learning.

[ftml/step] g is rescale_grad * grad + wd * weight, clipped; v' = beta2 * v + (1 - beta2) * g * g;
    d' = (1 - beta1 ** t) / lr * (sqrt(v' / (1 - beta2 ** t)) + epsilon);
    z' = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * weight; weight' = -z' / d'.
    >>> run("ftml_update", [1, 2], [0.5, -1], [0, 0], [0, 0], [0, 0], lr=0.1, t=1)
    [0.9, 2.1]
    >>> run("ftml_update", [1, 2], [0.5, -1], [1, 1], [1, 1], [1, 1], lr=0.1, t=2, wd=0.5, rescale_grad=2)
    [0.987433, 1.99022]

[ftml/states] d, v and z change in place; they begin with zeros.

[ftml/clip] g is clipped to -clip_grad .. clip_grad, wd * weight included, when that is not negative; NaN stays NaN.
    >>> run("ftml_update", [1], [10], [0], [0], [0], lr=0.1, t=1, clip_grad=0.5)
    [0.9]

[ftml/time] t counts the updates, this one included, from 1.

[ftml/gradient] a gradient cannot be asked for.

[ftml/shape] all arrays have one shape.

[ftml/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from typing import NamedTuple

from .foundation import Case, Loop, items
from .shared.updates import averaging, bound, correction, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    t: int
    beta1: float = 0.6
    beta2: float = 0.999
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_grad: float = -1.0


# --- loops --------------------------------------------------------------------------------------


def step(
    weight, grad, d, v, z, out, n, lr, beta1, rest1, beta2, rest2, full1, full2, epsilon, wd, rescale, clip
):
    for i in items(n):
        g = limited(rescale * grad[i] + wd * weight[i], clip)
        square = beta2 * v[i] + rest2 * g * g
        scale = full1 / lr * (math.sqrt(square / full2) + epsilon)
        total = beta1 * z[i] + rest1 * g - (scale - beta1 * d[i]) * weight[i]
        v[i] = square
        d[i] = scale
        z[i] = total
        out[i] = -total / scale


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


def forward(p, weight, grad, d, v, z, out):
    kind = weight.dtype.type
    lr, wd, rescale = numbers(kind, p.lr, p.wd, p.rescale_grad)
    averages = (*averaging(kind, p.beta1), *averaging(kind, p.beta2))
    full = correction(kind, p.beta1, p.t), correction(kind, p.beta2, p.t)
    clip = bound(kind, p.clip_grad)
    STEP(weight, grad, d, v, z, out, weight.size, lr, *averages, *full, kind(p.epsilon), wd, rescale, clip)


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "t": draw.integer(1, 5), "beta1": draw.choice((0.6, 0.5)),
        "beta2": draw.choice((0.999, 0.75)), "epsilon": draw.choice((1e-8, 0.25)),
        "wd": draw.choice((0.0, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_grad": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"v": "positive", "d": "positive"})


register_update(
    "ftml", name="ftml_update", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "d", "v", "z"), cases=cases, example={"lr": 0.1, "t": 1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1, "t": 1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "z": "float64"},
    }},
)
