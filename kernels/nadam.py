"""Nadam: Adam with the momentum of Nesterov, by a schedule that warms the momentum up.

T. Dozat (2016): Incorporating Nesterov momentum into Adam.

[nadam/step] g is rescale_grad * grad + wd * weight, clipped; mean' = beta1 * mean + (1 - beta1) * g and
    var' = beta2 * var + (1 - beta2) * g * g, in place. With the momenta u of this step and v of the next, and with
    ``product`` that of all momenta so far, u included:
    ahead = (1 - u) * g / (1 - product) + v * mean' / (1 - product * v);
    weight' = weight - lr * ahead / (sqrt(var' / (1 - beta2 ** t)) + epsilon).
    >>> run("_nadam_step", [1, 2], [3, -4], [0, 0], [0, 0], lr=0.5, u=0.5, v=0.5, product=0.5, t=1, beta1=0.5,
    ...     epsilon=0)
    [0.333333, 2.666667]
    >>> run("_nadam_step", [1, 2], [3, -4], [0, 0], [1, 1], lr=0.5, u=0.5, v=0.25, product=0.25, t=2, beta2=0.5,
    ...     wd=0.5, epsilon=1)
    [0.694535, 2.290341]

[nadam/schedule] the momenta are the optimizer's: u and v are called momentum_t and momentum_t_1 in MXNet.

[nadam/time] t counts the updates, this one included, from 1.

[nadam/clip] g is clipped to -clip_gradient .. clip_gradient, wd * weight included, when that is not negative; NaN
    stays NaN.
    >>> run("_nadam_step", [1, 1], [8, float("nan")], [0, 0], [0, 0], lr=0.5, u=0.5, v=0.5, product=0.5, t=1,
    ...     beta1=0.5, epsilon=3, clip_gradient=1)
    [0.833333, nan]

[nadam/gradient] a gradient cannot be asked for.

[nadam/shape] all arrays have one shape.

[nadam/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, bound, limited, power, register_update


class Params(NamedTuple):
    lr: float
    u: float
    v: float
    product: float
    t: int
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight.

    ``share`` is (1 - u) / (1 - product), by which g is multiplied, and ``next_share`` is v / (1 - product * v), by
    which the mean is; ``rest1`` is 1 - beta1, ``rest2`` is 1 - beta2 and ``correction2`` is 1 - beta2 ** t.
    """

    lr: np.floating
    share: np.floating
    next_share: np.floating
    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    rest2: np.floating
    correction2: np.floating
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
        ahead = h.share * g + h.next_share * m
        out[i] = weight[i] - h.lr * ahead / (math.sqrt(v / h.correction2) + h.epsilon)


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    with np.errstate(all="ignore"):
        shares = np.divide(1 - p.u, 1 - p.product), np.divide(p.v, 1 - p.product * p.v)
    averages = p.beta1, 1 - p.beta1, p.beta2, 1 - p.beta2, 1 - power(p.beta2, p.t)
    given = map(kind, (p.lr, *shares, *averages, p.epsilon, p.wd, p.rescale_grad))
    return Hyperparameters(*given, bound(kind, p.clip_gradient))


def forward(p, weight, grad, mean, var, out):
    STEP(weight, grad, mean, var, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "u": draw.choice((0.5, 0.75)), "v": draw.choice((0.5, 0.75)),
        "product": draw.choice((0.5, 0.125)), "t": draw.integer(1, 5), "beta1": draw.choice((0.9, 0.5)),
        "beta2": draw.choice((0.999, 0.75)), "epsilon": draw.choice((1e-8, 0.25)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"var": "positive"})


REQUIRED = {"lr": 0.1, "u": 0.5, "v": 0.5, "product": 0.5, "t": 1}

register_update(
    "nadam", name="_nadam_step", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "mean", "var"), cases=cases, example=REQUIRED,
    refusals={"types/one-dtype": {
        "params": REQUIRED, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "var": "float64"},
    }},
)
