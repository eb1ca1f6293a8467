"""DCASGD: stochastic gradient descent for workers whose gradients are late, with a correction for the delay.

S. Zheng and others (2017): Asynchronous stochastic gradient descent with delay compensation.

[dcasgd/step] g is rescale_grad * grad, clipped; now = g + wd * weight + lamda * g * g * (weight - previous);
    weight' = weight - lr * now. previous becomes the weight as it was, in place.
    >>> run("_dcasgd_step", [1, 2], [3, -4], [0, 3], lr=0.5, lamda=0.25)
    [-1.625, 6.0]
    >>> run("_dcasgd_step", [1, 2], [3, -4], [1, 2], lr=0.5, wd=0.5, rescale_grad=0.5)
    [0.0, 2.5]

[dcasgd/momentum] _dcasgd_mom_step: mom' = momentum * mom - lr * now, in place; weight' = weight + mom'.
    >>> run("_dcasgd_mom_step", [1, 2], [3, -4], [1, 1], [0, 3], lr=0.5, momentum=0.5, lamda=0.25)
    [-1.125, 6.5]

[dcasgd/lamda] the strength of the correction is called lamda, without a b.

[dcasgd/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("_dcasgd_step", [1, 1], [8, float("nan")], [1, 1], lr=0.5, clip_gradient=1)
    [0.5, nan]

[dcasgd/gradient] a gradient cannot be asked for.

[dcasgd/shape] all arrays have one shape.

[dcasgd/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items, scalar
from .shared.updates import MEMORY, bound, limited, register_update


class Params(NamedTuple):
    lr: float
    lamda: float = 0.04
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


class MomentumParams(NamedTuple):
    lr: float
    momentum: float = 0.0
    lamda: float = 0.04
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


@scalar
def compensated(g, weight, previous, lamda, wd):
    """Return the gradient as it would be at ``weight``, where it was computed at ``previous``, with decay."""
    return g + wd * weight + lamda * g * g * (weight - previous)


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``momentum`` is 0 where there is none."""

    lr: np.floating
    momentum: np.floating
    lamda: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, previous, out, n, h: Hyperparameters):
    for i in items(n):
        w = weight[i]
        g = limited(h.rescale * grad[i], h.clip)
        moved = h.lr * compensated(g, w, previous[i], h.lamda, h.wd)
        previous[i] = w
        out[i] = w - moved


def step_momentum(weight, grad, mom, previous, out, n, h: Hyperparameters):
    for i in items(n):
        w = weight[i]
        g = limited(h.rescale * grad[i], h.clip)
        m = h.momentum * mom[i] - h.lr * compensated(g, w, previous[i], h.lamda, h.wd)
        mom[i] = m
        previous[i] = w
        out[i] = w + m


STEP, STEP_MOMENTUM = Loop(step), Loop(step_momentum)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    momentum = getattr(p, "momentum", 0.0)
    given = map(kind, (p.lr, momentum, p.lamda, p.wd, p.rescale_grad))
    return Hyperparameters(*given, bound(kind, p.clip_gradient))


def plain(p, weight, grad, previous, out):
    STEP(weight, grad, previous, out, weight.size, hyperparameters(p, weight.dtype.type))


def rolling(p, weight, grad, mom, previous, out):
    STEP_MOMENTUM(weight, grad, mom, previous, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "lamda": draw.choice((0.04, 0.5)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)})


def cases_momentum(draw):
    case = cases(draw)
    case.params["momentum"] = draw.choice((0.0, 0.5))
    return case


register_update(
    "dcasgd", name="_dcasgd_step", doc=__doc__, params=Params, forward=plain, inputs=("weight", "grad", "previous"),
    cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "previous": "float64"},
    }},
)
register_update(
    "dcasgd", name="_dcasgd_mom_step", doc=__doc__, params=MomentumParams, forward=rolling,
    inputs=("weight", "grad", "mom", "previous"), cases=cases_momentum, example={"lr": 0.1},
)
