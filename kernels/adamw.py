"""AdamW: Adam that decays weights directly, and not as a part of the gradient; for one weight and for many.

I. Loshchilov, F. Hutter (2017): Decoupled weight decay regularization.

[adamw/step] g is rescale_grad[0] * grad, clipped; mean' = beta1 * mean + (1 - beta1) * g and
    var' = beta2 * var + (1 - beta2) * g * g, in place;
    weight' = weight - eta * (lr * mean' / (sqrt(var') + epsilon) + wd * weight).
    >>> run("_adamw_update", [1, 2], [0.5, -1], [1, 1], [1, 1], [2], lr=0.1, eta=0.5, wd=0.5)
    [0.7, 1.465052]
    >>> run("_adamw_update", [1, 2], [0.5, -1], [1, 1], [1, 1], [1], lr=0.1, eta=1, beta1=0.5, beta2=0.75, epsilon=0.5)
    [0.946482, 2.0]

[adamw/scale] rescale_grad is an array, so that a loss scale can be computed without waiting for it. Where its first
    number is 0, infinite or NaN nothing is updated: the output is the weight as it was, and states stay.
    >>> run("_adamw_update", [1, 2], [0.5, -1], [1, 1], [1, 1], [float("inf")], lr=0.1, eta=0.5)
    [1.0, 2.0]

[adamw/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN. grad itself
    stays as it is.
    >>> run("_adamw_update", [1, 2], [0.5, -1], [1, 1], [1, 1], [2], lr=0.1, eta=0.5, wd=0.5, clip_gradient=0.3)
    [0.703479, 1.45648]

[adamw/master] _mp_adamw_update and _multi_mp_adamw_update step a float32 master copy, weight32, in place; the output
    is that copy, rounded to the weight's type. mean and var are float32 too.

[adamw/many] _multi_adamw_update updates num_weights weights; lrs, wds and etas hold a number for each. Its inputs are
    weight, grad, mean, var (and weight32) of the first weight, of the second and so on, and rescale_grad for all.
    >>> run("_multi_adamw_update", [1], [1], [0], [0], [2, 3], [0, 0], [1, 1], [1, 1], [1], num_weights=2,
    ...     lrs=(0.1, 0.2), wds=(0, 0.5), etas=(1, 0.5))
    ([0.68377], [1.409955, 2.159955])

[adamw/count] num_weights must be given, and lrs, wds and etas hold one number for each weight.

[adamw/gradient] a gradient cannot be asked for.

[adamw/shape] weight, gradient, states and output have one shape, rescale_grad any: (1,) where it is not known.

[adamw/tail] beside many weights rescale_grad has shape (1,).

[adamw/types] weights and gradients have one type; states too, except with a master copy. rescale_grad is float32.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import REQUIRED, Case, Count, Floats, Loop, items, merge_all, require, same_type
from .foundation.loops import COPY
from .shared.updates import (
    MEMORY,
    all_single,
    averaging,
    bound,
    limited,
    master_types,
    numbers,
    register_many,
    register_update,
)


class Params(NamedTuple):
    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    wd: float = 0.0
    eta: float = REQUIRED
    clip_gradient: float = -1.0


class ManyParams(NamedTuple):
    lrs: Floats
    wds: Floats
    etas: Floats
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    clip_gradient: float = -1.0
    num_weights: Count = 1


def infer(p, ins, outs):
    shape = merge_all("adamw/shape", "weight, gradient and states", [*ins[:-1], *outs])
    scale = (1,) if ins[-1] is None else ins[-1]
    require("adamw/shape", 0 not in scale, f"rescale_grad of shape {list(scale)} holds no number")
    return [shape] * (len(ins) - 1) + [scale], [shape]


def infer_type(p, ins, outs):
    first, outs = same_type(p, ins[:-1], outs)
    return [*first, *all_single("adamw/types", ins[-1:])], outs


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a step, in the type of the weight; ``rest1`` is 1 - beta1, ``rest2`` is 1 - beta2."""

    lr: np.floating
    wd: np.floating
    eta: np.floating
    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    rest2: np.floating
    epsilon: np.floating
    clip: np.floating


def step(weight, grad, mean, var, rescale, out, n, h: Hyperparameters):
    scale = rescale[0]
    still = scale == 0 or scale - scale != 0  # NaN and infinities: no number minus itself
    for i in items(n):
        if still:
            out[i] = weight[i]
        else:
            g = limited(scale * grad[i], h.clip)
            mean[i] = h.beta1 * mean[i] + h.rest1 * g
            var[i] = h.beta2 * var[i] + h.rest2 * g * g
            out[i] = weight[i] - h.eta * (h.lr * mean[i] / (math.sqrt(var[i]) + h.epsilon) + h.wd * weight[i])


STEP = Loop(step)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(kind, grad_kind, lr, wd, eta, beta1, beta2, epsilon, clip):
    rates = numbers(kind, lr, wd, eta)
    averages = (*averaging(kind, beta1), *averaging(kind, beta2))
    return Hyperparameters(*rates, *averages, *numbers(kind, epsilon), bound(grad_kind, clip))


def stepped(p, rates, weight, grad, mean, var, rescale_grad, out):
    """One step; ``rates`` are lr, wd and eta."""
    kinds = weight.dtype.type, grad.dtype.type
    h = hyperparameters(*kinds, *rates, p.beta1, p.beta2, p.epsilon, p.clip_gradient)
    STEP(weight, grad, mean, var, rescale_grad, out, weight.size, h)


def adamw(p, weight, grad, mean, var, rescale_grad, out):
    stepped(p, (p.lr, p.wd, p.eta), weight, grad, mean, var, rescale_grad, out)


def mp_adamw(p, weight, grad, mean, var, weight32, rescale_grad, out):
    stepped(p, (p.lr, p.wd, p.eta), weight32, grad, mean, var, rescale_grad, weight32)
    COPY(weight32, out, out.size)


def many(p, k, weight, grad, mean, var, rescale_grad, out):
    stepped(p, (p.lrs[k], p.wds[k], p.etas[k]), weight, grad, mean, var, rescale_grad, out)


def mp_many(p, k, weight, grad, mean, var, weight32, rescale_grad, out):
    stepped(p, (p.lrs[k], p.wds[k], p.etas[k]), weight32, grad, mean, var, rescale_grad, weight32)
    COPY(weight32, out, out.size)


def drawn(draw):
    return {
        "beta1": draw.choice((0.9, 0.5)), "beta2": draw.choice((0.999, 0.75)), "epsilon": draw.choice((1e-8, 0.25)),
        "clip_gradient": draw.choice((-1.0, 0.5)),
    }


def cases(draw):
    params = {
        **drawn(draw), "lr": draw.choice((0.1, 0.5)), "wd": draw.choice((0.0, 0.25)), "eta": draw.choice((1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"var": "positive", "rescale_grad": "positive"})


def cases_many(size):
    def draw_case(draw):
        count = draw.integer(1, 3)
        params = {**drawn(draw), "num_weights": count}
        for name, choices in (("lrs", (0.1, 0.5)), ("wds", (0.0, 0.25)), ("etas", (1.0, 0.5))):
            params[name] = tuple(draw.choice(choices) for _ in range(count))
        shapes = [shape for _ in range(count) for shape in [draw.shape(1, 3)] * size]
        values = {f"var_{k}": "positive" for k in range(count)}
        return Case(params, {"args": [*shapes, (1,)]}, {**values, "rescale_grad": "positive"})

    return draw_case


REQUIRED = {"lr": 0.1, "eta": 1}
ONE = {"lrs": (0.1,), "wds": (0,), "etas": (1,), "num_weights": 1}
STATES = ("mean", "var")

register_update(
    "adamw", name="_adamw_update", doc=__doc__, params=Params, forward=adamw, infer=infer, infer_type=infer_type,
    inputs=("weight", "grad", *STATES, "rescale_grad"), mutates=STATES, cases=cases, example=REQUIRED,
    refusals={"adamw/types": {
        "params": REQUIRED, "shapes": {"weight": (2,)}, "dtypes": {"rescale_grad": "float64"},
    }},
    tier=2,
)
register_update(
    "adamw", name="_mp_adamw_update", doc=__doc__, params=Params, forward=mp_adamw, infer=infer,
    infer_type=master_types("adamw/types"), inputs=("weight", "grad", *STATES, "weight32", "rescale_grad"),
    mutates=(*STATES, "weight32"), cases=cases, example=REQUIRED, master=True,
    tier=2,
)
for name, forward, group in (
    ("_multi_adamw_update", many, ("weight", "grad", *STATES)),
    ("_multi_mp_adamw_update", mp_many, ("weight", "grad", *STATES, "weight32")),
):
    size = len(group)
    register_many(
        "adamw", name=name, doc=__doc__, params=ManyParams, variadic="num_weights", group=group, step=forward,
        master=size > 4, tail=("rescale_grad",), tail_shape=lambda p: (1,), counts=("lrs", "wds", "etas"),
        cases=cases_many(size),
        refusals={
            "adamw/count": {"params": {**ONE, "num_weights": 2}, "shapes": {"args": [(2,)] * 2 * size + [(1,)]}},
            "adamw/shape": {"params": ONE, "shapes": {"args": [(2,), (3,), *[(2,)] * (size - 2), (1,)]}},
            "adamw/tail": {"params": ONE, "shapes": {"args": [(2,)] * size + [(2,)]}},
        },
        tier=2,
    )
