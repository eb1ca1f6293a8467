"""SignSGD and Signum: every element of a weight moves by the same length, against the sign of gradient or momentum.

J. Bernstein, Y.-X. Wang, K. Azizzadenesheli, A. Anandkumar (2018): signSGD: compressed optimisation for non-convex
problems.

[signum/plain] signsgd_update: weight' = (1 - lr * wd) * weight - lr * sign(grad). rescale_grad and clip_gradient do not
    change a sign: they are read and ignored, even where they are negative or 0.
    >>> run("signsgd_update", [1, 2, 3], [0.5, -1, 0], lr=0.1)
    [0.9, 2.1, 3.0]
    >>> run("signsgd_update", [1, 2], [0.5, -1], lr=0.1, wd=0.5, rescale_grad=-1, clip_gradient=0)
    [0.85, 2.0]

[signum/momentum] signum_update: mom' = momentum * mom - (1 - momentum) * (wd * weight + g), in place, where g is
    rescale_grad * grad, clipped; weight' = (1 - lr * wd_lh) * weight + lr * sign(mom').
    >>> run("signum_update", [1, 2], [0.5, -1], [0, 0], lr=0.1, momentum=0.5)
    [0.9, 2.1]
    >>> run("signum_update", [1, 2], [0.5, -1], [1, -1], lr=0.1, momentum=0.75, wd=0.5, wd_lh=0.5)
    [1.05, 1.8]

[signum/zero] the sign of 0 and of NaN is 0.
    >>> run("signsgd_update", [1, 2], [0, float("nan")], lr=0.1)
    [1.0, 2.0]

[signum/clip] g in signum_update is clipped to -clip_gradient .. clip_gradient when that is not negative.
    >>> run("signum_update", [1, 1], [5, 5], [1, 1], lr=0.1, momentum=0.5, clip_gradient=0.5)
    [1.1, 1.1]

[signum/gradient] a gradient cannot be asked for.

[signum/shape] all arrays have one shape.

[signum/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items, scalar
from .shared.updates import MEMORY, averaging, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


class MomentumParams(NamedTuple):
    lr: float
    momentum: float = 0.0
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    wd_lh: float = 0.0


# --- loops --------------------------------------------------------------------------------------


@scalar
def towards(sign, length):
    """Return ``length`` with the sign of ``sign``, 0 for 0 and NaN."""
    return length if sign > 0 else -length if sign < 0 else length - length


def step(weight, grad, out, n, keep, lr):
    for i in items(n):
        out[i] = keep * weight[i] - towards(grad[i], lr)


class Hyperparameters(NamedTuple):
    """The numbers of a step with momentum, in the type of the weight.

    ``keep`` is 1 - lr * wd_lh, ``rest`` is 1 - momentum.
    """

    keep: np.floating
    lr: np.floating
    momentum: np.floating
    rest: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step_momentum(weight, grad, mom, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i], h.clip)
        m = h.momentum * mom[i] - h.rest * (h.wd * weight[i] + g)
        mom[i] = m
        out[i] = h.keep * weight[i] + towards(m, h.lr)


STEP, STEP_MOMENTUM = Loop(step), Loop(step_momentum)


# --- the operators ------------------------------------------------------------------------------


def signsgd(p, weight, grad, out):
    kind = weight.dtype.type
    lr, wd = numbers(kind, p.lr, p.wd)
    STEP(weight, grad, out, weight.size, kind(1) - lr * wd, lr)


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind):
    lr, wd, wd_lh, rescale = numbers(kind, p.lr, p.wd, p.wd_lh, p.rescale_grad)
    momentum, rest = averaging(kind, p.momentum)
    return Hyperparameters(kind(1) - lr * wd_lh, lr, momentum, rest, wd, rescale, bound(kind, p.clip_gradient))


def signum(p, weight, grad, mom, out):
    STEP_MOMENTUM(weight, grad, mom, out, weight.size, hyperparameters(p, weight.dtype.type))


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "wd": draw.choice((0.0, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)})


def cases_momentum(draw):
    case = cases(draw)
    case.params.update(momentum=draw.choice((0.0, 0.75)), wd_lh=draw.choice((0.0, 0.5)))
    return case


register_update(
    "signum", name="signsgd_update", doc=__doc__, params=Params, forward=signsgd, inputs=("weight", "grad"),
    cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "grad": "float64"},
    }},
    tier=1,
)
register_update(
    "signum", name="signum_update", doc=__doc__, params=MomentumParams, forward=signum,
    inputs=("weight", "grad", "mom"), cases=cases_momentum, example={"lr": 0.1},
    tier=1,
)
