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
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import REQUIRED, Case, Loop, items
from .shared.updates import MEMORY, averaging, bound, correction, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    beta1: float = 0.6
    beta2: float = 0.999
    epsilon: float = 1e-8
    t: int = REQUIRED
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_grad: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight.

    ``rest1`` is 1 - beta1 and ``correction1`` is 1 - beta1 ** t; the same for beta2.
    """

    lr: np.floating
    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    rest2: np.floating
    correction1: np.floating
    correction2: np.floating
    epsilon: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, d, v, z, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i] + h.wd * weight[i], h.clip)
        square = h.beta2 * v[i] + h.rest2 * g * g
        scale = h.correction1 / h.lr * (math.sqrt(square / h.correction2) + h.epsilon)
        total = h.beta1 * z[i] + h.rest1 * g - (scale - h.beta1 * d[i]) * weight[i]
        v[i] = square
        d[i] = scale
        z[i] = total
        out[i] = -total / scale


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    lr, wd, rescale = numbers(kind, p.lr, p.wd, p.rescale_grad)
    averages = (*averaging(kind, p.beta1), *averaging(kind, p.beta2))
    corrections = correction(kind, p.beta1, p.t), correction(kind, p.beta2, p.t)
    return Hyperparameters(lr, *averages, *corrections, kind(p.epsilon), wd, rescale, bound(kind, p.clip_grad))


def forward(p, weight, grad, d, v, z, out):
    STEP(weight, grad, d, v, z, out, weight.size, hyperparameters(p, weight.dtype.type))


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
    tier=1,
)
