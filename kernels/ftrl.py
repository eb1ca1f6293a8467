"""FTRL: follow the regularised leader. A weight whose gradients add up to little is exactly zero.

H. B. McMahan and others (2013): Ad click prediction: a view from the trenches.

[ftrl/step] g is rescale_grad * grad, clipped; z' = z + g - (sqrt(n + g * g) - sqrt(n)) * weight / lr and
    n' = n + g * g, in place; weight' is 0 where abs(z') <= lamda1, else
    (sign(z') * lamda1 - z') / ((beta + sqrt(n')) / lr + wd).
    >>> run("ftrl_update", [1, 2], [0.5, -1], [1, 1], [1, 1], lr=0.1)
    [-0.01462, 0.342731]
    >>> run("ftrl_update", [1, 2], [0.5, -1], [0, 0], [0, 0], lr=0.1, lamda1=0.25, beta=0.5, wd=0.5)
    [0.404762, 1.33871]

[ftrl/zero] the threshold is called lamda1, without a b; at it the weight is 0. NaN stays NaN.
    >>> run("ftrl_update", [0, 0, 0], [0.5, 1, float("nan")], [0, 0, 0], [0, 0, 0], lr=0.1, lamda1=0.5)
    [0.0, -0.025, nan]

[ftrl/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative.
    >>> run("ftrl_update", [0], [10], [0], [0], lr=0.1, clip_gradient=0.5)
    [-0.032667]

[ftrl/gradient] a gradient cannot be asked for.

[ftrl/shape] all arrays have one shape.

[ftrl/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    lamda1: float = 0.01
    beta: float = 1.0
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight."""

    lr: np.floating
    lamda1: np.floating
    beta: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, z, n, out, size, h: Hyperparameters):
    for i in items(size):
        g = limited(h.rescale * grad[i], h.clip)
        before = n[i]
        after = before + g * g
        total = z[i] + g - (math.sqrt(after) - math.sqrt(before)) * weight[i] / h.lr
        scale = (h.beta + math.sqrt(after)) / h.lr + h.wd
        z[i] = total
        n[i] = after
        if total > h.lamda1:
            out[i] = (h.lamda1 - total) / scale
        elif total < -h.lamda1:
            out[i] = (-h.lamda1 - total) / scale
        else:
            out[i] = total - total  # 0, or NaN


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    given = numbers(kind, p.lr, p.lamda1, p.beta, p.wd, p.rescale_grad)
    return Hyperparameters(*given, bound(kind, p.clip_gradient))


def forward(p, weight, grad, z, n, out):
    STEP(weight, grad, z, n, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "lamda1": draw.choice((0.01, 0.3)), "beta": draw.choice((1.0, 0.5)),
        "wd": draw.choice((0.0, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"n": "positive"})


register_update(
    "ftrl", name="ftrl_update", doc=__doc__, params=Params, forward=forward, inputs=("weight", "grad", "z", "n"),
    aliases=("_sparse_ftrl_update",), cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "z": "float64"},
    }},
    tier=1, row_updates=("row_sparse",),
)
