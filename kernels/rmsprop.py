"""RMSProp: gradients divided by the root of a moving average of their squares.

T. Tieleman, G. Hinton (2012): Lecture 6.5 - RMSProp, Coursera: neural networks for machine learning. The centred form
with momentum: A. Graves (2013): Generating sequences with recurrent neural networks, equations 38 to 45.

[rmsprop/step] g is rescale_grad * grad + wd * weight, clipped; n' = gamma1 * n + (1 - gamma1) * g * g, in place;
    weight' = weight - lr * g / sqrt(n' + epsilon).
    >>> run("rmsprop_update", [1, 2], [0.5, -1], [1, 1], lr=0.1)
    [0.949035, 2.1]
    >>> run("rmsprop_update", [1, 2], [0.5, -1], [1, 0], lr=0.1, gamma1=0.5, wd=0.5, epsilon=0.5)
    [0.91835, 2.0]

[rmsprop/centred] rmspropalex_update keeps the averages n' of squares and g' of gradients, and a momentum:
    delta' = gamma2 * delta - lr * g / sqrt(n' - g' * g' + epsilon); weight' = weight + delta'. n, g and delta change
    in place.
    >>> run("rmspropalex_update", [1, 2], [0.5, -1], [1, 1], [0, 0], [1, 1], lr=0.1)
    [1.849019, 3.000125]

[rmsprop/root] epsilon stands under the root, so that n of zero and a gradient of zero give zero.
    >>> run("rmsprop_update", [1], [0], [0], lr=0.1)
    [1.0]

[rmsprop/clip] g is clipped to -clip_gradient .. clip_gradient, wd * weight included, and weight' to
    -clip_weights .. clip_weights, each when that is not negative; NaN stays NaN.
    >>> run("rmsprop_update", [1, 5], [10, float("nan")], [1, 1], lr=0.1, clip_gradient=0.5, clip_weights=0.75)
    [0.75, nan]

[rmsprop/gradient] a gradient cannot be asked for.

[rmsprop/shape] all arrays have one shape.

[rmsprop/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .shared.updates import MEMORY, averaging, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    gamma1: float = 0.95
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    clip_weights: float = -1.0


class CentredParams(NamedTuple):
    lr: float
    gamma1: float = 0.95
    gamma2: float = 0.9
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    clip_weights: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``rest1`` is 1 - gamma1, ``gamma2`` 0 without momentum."""

    lr: np.floating
    gamma1: np.floating
    rest1: np.floating
    gamma2: np.floating
    epsilon: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating
    clip_weights: np.floating


def step(weight, grad, n, out, size, h: Hyperparameters):
    for i in items(size):
        g = limited(h.rescale * grad[i] + h.wd * weight[i], h.clip)
        square = h.gamma1 * n[i] + h.rest1 * g * g
        n[i] = square
        out[i] = limited(weight[i] - h.lr * g / math.sqrt(square + h.epsilon), h.clip_weights)


def step_centred(weight, grad, n, mean, delta, out, size, h: Hyperparameters):
    for i in items(size):
        g = limited(h.rescale * grad[i] + h.wd * weight[i], h.clip)
        square = h.gamma1 * n[i] + h.rest1 * g * g
        average = h.gamma1 * mean[i] + h.rest1 * g
        moved = h.gamma2 * delta[i] - h.lr * g / math.sqrt(square - average * average + h.epsilon)
        n[i] = square
        mean[i] = average
        delta[i] = moved
        out[i] = limited(weight[i] + moved, h.clip_weights)


STEP, STEP_CENTRED = Loop(step), Loop(step_centred)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    momentum = getattr(p, "gamma2", 0.0)
    lr, gamma2, epsilon, wd, rescale = numbers(kind, p.lr, momentum, p.epsilon, p.wd, p.rescale_grad)
    clips = bound(kind, p.clip_gradient), bound(kind, p.clip_weights)
    return Hyperparameters(lr, *averaging(kind, p.gamma1), gamma2, epsilon, wd, rescale, *clips)


def plain(p, weight, grad, n, out):
    STEP(weight, grad, n, out, weight.size, hyperparameters(p, weight.dtype.type))


def centred(p, weight, grad, n, g, delta, out):
    STEP_CENTRED(weight, grad, n, g, delta, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "gamma1": draw.choice((0.95, 0.5)), "epsilon": draw.choice((1e-8, 0.25)),
        "wd": draw.choice((0.0, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_gradient": draw.choice((-1.0, 0.5)), "clip_weights": draw.choice((-1.0, 1.0)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"n": "positive"})


def cases_centred(draw):
    case = cases(draw)
    case.params["gamma2"] = draw.choice((0.9, 0.5))
    return case._replace(values={"n": "above_one", "g": "unit"})  # n is never less than the square of g


register_update(
    "rmsprop", name="rmsprop_update", doc=__doc__, params=Params, forward=plain, inputs=("weight", "grad", "n"),
    cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "n": "float64"},
    }},
    tier=1,
)
register_update(
    "rmsprop", name="rmspropalex_update", doc=__doc__, params=CentredParams, forward=centred,
    inputs=("weight", "grad", "n", "g", "delta"), cases=cases_centred, example={"lr": 0.1},
    tier=1,
)
