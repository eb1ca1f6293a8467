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

[nag/in-place] where ``out`` is the weight itself, s in mom' has the new weight: mom' = m - lr * (g + wd * weight'). So
    it has beside a master copy, and so optimizers train. A float16 weight without a master copy keeps the old one.

[nag/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("nag_mom_update", [1, 1], [10, float("nan")], [0, 0], lr=0.1, clip_gradient=5)
    [0.5, nan]

[nag/master] mp_nag_mom_update steps a float32 master copy, weight32, in place; the output is that copy, rounded to
    the weight's type. mom is float32 too.

[nag/gradient] a gradient cannot be asked for.

[nag/shape] all arrays have one shape.

[nag/types] weight and grad have one type; mom too, except with a master copy.
"""

from typing import NamedTuple

from .foundation import Case, Loop, items
from .foundation.loops import COPY
from .shared.updates import bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    momentum: float = 0.0
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


# --- loops --------------------------------------------------------------------------------------


def step(weight, grad, mom, out, n, lr, momentum, ahead, wd, rescale, clip, fresh):
    for i in items(n):
        g = limited(rescale * grad[i], clip)
        old = weight[i]
        m = momentum * mom[i]
        new = old - m + ahead * (m - lr * (g + wd * old))
        mom[i] = m - lr * (g + wd * (new if fresh != 0 else old))
        out[i] = new


STEP = Loop(step)


# --- the operators ------------------------------------------------------------------------------


def nag(p, weight, grad, mom, out):
    kind = weight.dtype.type
    lr, momentum, wd, rescale = numbers(kind, p.lr, p.momentum, p.wd, p.rescale_grad)
    clip, fresh = bound(grad.dtype.type, p.clip_gradient), out.flat is weight.flat
    STEP(weight, grad, mom, out, weight.size, lr, momentum, momentum + kind(1), wd, rescale, clip, fresh)


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
)
register_update(
    "nag", name="mp_nag_mom_update", doc=__doc__, params=Params, forward=mp_nag,
    inputs=("weight", "grad", "mom", "weight32"), cases=cases, example={"lr": 0.1}, master=True,
)
