"""AdaDelta: steps as long as recent steps were, so that no learning rate is needed.

M. D. Zeiler (2012): ADADELTA: an adaptive learning rate method.

[adadelta/step] g is rescale_grad * grad, clipped; acc_g' = rho * acc_g + (1 - rho) * g * g;
    delta = sqrt(acc_delta + epsilon) / sqrt(acc_g' + epsilon) * g;
    acc_delta' = rho * acc_delta + (1 - rho) * delta * delta; weight' = weight - delta - wd * weight. acc_g and
    acc_delta change in place.
    >>> run("_adadelta_step", [1, 2], [3, -4], [0, 0], [0, 0], rho=0.75, epsilon=0.25)
    [0.051317, 2.970143]
    >>> run("_adadelta_step", [1, 2], [3, -4], [0, 0], [0, 0], rho=0.75, epsilon=0.25, wd=0.5)
    [-0.448683, 1.970143]

[adadelta/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("_adadelta_step", [1, 1], [8, float("nan")], [0, 0], [0, 0], clip_gradient=0)
    [1.0, nan]

[adadelta/gradient] a gradient cannot be asked for.

[adadelta/shape] all arrays have one shape.

[adadelta/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, bound, limited, register_update


class Params(NamedTuple):
    rho: float = 0.9
    epsilon: float = 1e-5
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``rest`` is 1 - rho."""

    rho: np.floating
    rest: np.floating
    epsilon: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, acc_g, acc_delta, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i], h.clip)
        squares = h.rho * acc_g[i] + h.rest * g * g
        delta = math.sqrt(acc_delta[i] + h.epsilon) / math.sqrt(squares + h.epsilon) * g
        acc_g[i] = squares
        acc_delta[i] = h.rho * acc_delta[i] + h.rest * delta * delta
        out[i] = weight[i] - (delta + h.wd * weight[i])


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    given = map(kind, (p.rho, 1 - p.rho, p.epsilon, p.wd, p.rescale_grad))
    return Hyperparameters(*given, bound(kind, p.clip_gradient))


def forward(p, weight, grad, acc_g, acc_delta, out):
    STEP(weight, grad, acc_g, acc_delta, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "rho": draw.choice((0.9, 0.5)), "epsilon": draw.choice((1e-5, 0.25)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"acc_g": "positive", "acc_delta": "positive"})


register_update(
    "adadelta", name="_adadelta_step", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "acc_g", "acc_delta"), cases=cases, example={},
    refusals={"types/one-dtype": {
        "params": {}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "acc_g": "float64"},
    }},
)
