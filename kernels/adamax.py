"""AdaMax: Adam with the largest recent gradient in place of the root of averaged squares.

D. P. Kingma, J. Ba (2014): Adam: a method for stochastic optimization, section 7.1.

[adamax/step] g is rescale_grad * grad + wd * weight, clipped; mean' = beta1 * mean + (1 - beta1) * g and
    largest' = max(beta2 * largest, abs(g)), in place; weight' = weight - lr * mean' / largest'.
    >>> run("_adamax_step", [1, 2], [3, -4], [0, 0], [0, 16], lr=0.5, beta1=0.75, beta2=0.5)
    [0.875, 2.0625]
    >>> run("_adamax_step", [1, 2], [3, -4], [1, 1], [0, 0], lr=0.5, beta1=0.5, wd=0.5, rescale_grad=2)
    [0.711538, 2.214286]

[adamax/bias] the average is not corrected for beginning with zero; the optimizer puts that into lr.

[adamax/still] where largest' is 0, as for a weight that never had a gradient, the weight stays.
    >>> run("_adamax_step", [1], [0], [0], [0], lr=0.5)
    [1.0]

[adamax/clip] g is clipped to -clip_gradient .. clip_gradient, wd * weight included, when that is not negative; NaN
    stays NaN.
    >>> run("_adamax_step", [1, 1], [8, float("nan")], [1, 1], [4, 4], lr=0.5, beta1=0.5, beta2=0.5, clip_gradient=1)
    [0.75, nan]

[adamax/gradient] a gradient cannot be asked for.

[adamax/shape] all arrays have one shape.

[adamax/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, bound, limited, register_update


class Params(NamedTuple):
    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``rest1`` is 1 - beta1."""

    lr: np.floating
    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, mean, largest, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i] + h.wd * weight[i], h.clip)
        m = h.beta1 * mean[i] + h.rest1 * g
        u = h.beta2 * largest[i]
        size = -g if g < 0 else g
        u = u if u > size else size
        mean[i] = m
        largest[i] = u
        out[i] = weight[i] if u == 0 else weight[i] - h.lr * m / u


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    given = map(kind, (p.lr, p.beta1, 1 - p.beta1, p.beta2, p.wd, p.rescale_grad))
    return Hyperparameters(*given, bound(kind, p.clip_gradient))


def forward(p, weight, grad, mean, largest, out):
    STEP(weight, grad, mean, largest, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "beta1": draw.choice((0.9, 0.5)), "beta2": draw.choice((0.999, 0.75)),
        "wd": draw.choice((0.0, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"largest": "positive"})


register_update(
    "adamax", name="_adamax_step", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "mean", "largest"), cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "mean": "float64"},
    }},
)
