"""Nesterov's accelerated gradient: a step with momentum that looks one step ahead.

Y. Nesterov (1983): A method for solving the convex programming problem with convergence rate O(1/k^2).
Used for networks since I. Sutskever, J. Martens, G. Dahl, G. Hinton (2013): On the importance of initialization and
momentum in deep learning.

[nag/step] m = momentum * mom, s = lr * (g + wd * weight), where g is rescale_grad * grad, clipped;
    weight' = weight - m + (momentum + 1) * (m - s).
    >>> run("nag_mom_update", [1, 2], [0.5, -1], [1, 1], lr=0.1, momentum=0.5, wd=0.5)
    [1.1, 2.25]
    >>> run("nag_mom_update", [1, 2], [0.5, -1], [1, 1], lr=0.1)
    [0.95, 2.1]

[nag/momentum] mom' = m - s, in place.

[nag/in-place] where ``out`` is the weight itself, mom' is computed from the new weight: mom' = m - lr * (g + wd *
    weight'). It is so with a master copy too, and where an optimizer trains. For a float16 weight without a master
    copy mom' is computed from the old weight.

[nag/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("nag_mom_update", [1, 1], [10, float("nan")], [0, 0], lr=0.1, clip_gradient=5)
    [0.5, nan]

[nag/master] mp_nag_mom_update steps a float32 master copy, weight32, in place; the output is that copy, rounded to
    the weight's type. mom is float32 too.

[nag/gradient] a gradient cannot be asked for.

[nag/shape] all arrays have one shape.

[nag/types] weight and grad have one type; mom too, except with a master copy.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items
from .foundation.loops import COPY
from .shared.updates import MEMORY, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    momentum: float = 0.0
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``ahead`` is momentum + 1."""

    lr: np.floating
    momentum: np.floating
    ahead: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def step(weight, grad, mom, out, n, in_place, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i], h.clip)
        old = weight[i]
        m = h.momentum * mom[i]
        new = old - m + h.ahead * (m - h.lr * (g + h.wd * old))
        mom[i] = m - h.lr * (g + h.wd * (new if in_place else old))
        out[i] = new


STEP = Loop(step)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind, grad_kind):
    lr, momentum, wd, rescale = numbers(kind, p.lr, p.momentum, p.wd, p.rescale_grad)
    return Hyperparameters(lr, momentum, momentum + kind(1), wd, rescale, bound(grad_kind, p.clip_gradient))


def nag(p, weight, grad, mom, out):
    h = hyperparameters(p, weight.dtype.type, grad.dtype.type)
    STEP(weight, grad, mom, out, weight.size, out.flat is weight.flat, h)


def mp_nag(p, weight, grad, mom, weight32, out):
    nag(p, weight32, grad, mom, weight32)
    COPY(weight32, out, out.size)


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "momentum": draw.choice((0.0, 0.5)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)})


register_update(
    "nag", name="nag_mom_update", doc=__doc__, params=Params, forward=nag, inputs=("weight", "grad", "mom"),
    cases=cases, example={"lr": 0.1},
    tier=1,
)
register_update(
    "nag", name="mp_nag_mom_update", doc=__doc__, params=Params, forward=mp_nag,
    inputs=("weight", "grad", "mom", "weight32"), cases=cases, example={"lr": 0.1}, master=True,
    tier=2,
)
