"""Adam: steps scaled by moving averages of the gradient and of its square.

D. P. Kingma, J. Ba (2014): Adam: a method for stochastic optimization.

[adam/step] g is rescale_grad * grad + wd * weight, clipped; mean' = beta1 * mean + (1 - beta1) * g and
    var' = beta2 * var + (1 - beta2) * g * g, in place; weight' = weight - lr * mean' / (sqrt(var') + epsilon).
    >>> run("adam_update", [1, 2], [0.5, -1], [1, 1], [1, 1], lr=0.1)
    [0.904964, 1.92]
    >>> run("adam_update", [1, 2], [0.5, -1], [0, 0], [0, 0], lr=0.1, beta1=0.5, beta2=0.75, epsilon=0.5, wd=0.5)
    [0.95, 2.0]

[adam/bias] the averages are not corrected for beginning with zero; optimizers put that into lr.

[adam/clip] g is clipped to -clip_gradient .. clip_gradient, wd * weight included, when that is not negative; NaN
    stays NaN.
    >>> run("adam_update", [1, 1], [10, float("nan")], [0, 0], [0, 0], lr=0.1, clip_gradient=0.5)
    [0.68377, nan]

[adam/lazy] lazy_update matters for row_sparse gradients only: rows that they lack keep weight, mean and var.

[adam/gradient] a gradient cannot be asked for.

[adam/shape] all arrays have one shape.

[adam/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, averaging, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    lazy_update: bool = True


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``rest1`` is 1 - beta1, ``rest2`` is 1 - beta2."""

    lr: np.floating
    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    rest2: np.floating
    epsilon: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, mean, var, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i] + h.wd * weight[i], h.clip)
        m = h.beta1 * mean[i] + h.rest1 * g
        v = h.beta2 * var[i] + h.rest2 * g * g
        mean[i] = m
        var[i] = v
        out[i] = weight[i] - h.lr * m / (math.sqrt(v) + h.epsilon)


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    lr, epsilon, wd, rescale = numbers(kind, p.lr, p.epsilon, p.wd, p.rescale_grad)
    averages = (*averaging(kind, p.beta1), *averaging(kind, p.beta2))
    return Hyperparameters(lr, *averages, epsilon, wd, rescale, bound(kind, p.clip_gradient))


def forward(p, weight, grad, mean, var, out):
    STEP(weight, grad, mean, var, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "beta1": draw.choice((0.9, 0.5)), "beta2": draw.choice((0.999, 0.75)),
        "epsilon": draw.choice((1e-8, 0.25)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"var": "positive"})


register_update(
    "adam", name="adam_update", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "mean", "var"), aliases=("_sparse_adam_update",), cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "grad": "float64"},
    }},
    tier=1, row_updates=("default", "row_sparse"),
)
