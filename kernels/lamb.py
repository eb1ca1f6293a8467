"""LAMB: Adam whose step, for each array of weights, is as long in proportion as that array. It comes in two phases.

Y. You and others (2019): Large batch optimization for deep learning: training BERT in 76 minutes.

[lamb/direction] lamb_update_phase1 gives the direction of a step. g is rescale_grad * grad, clipped;
    mean' = beta1 * mean + (1 - beta1) * g and var' = beta2 * var + (1 - beta2) * g * g, in place; with bias_correction
    m = mean' / (1 - beta1 ** t) and v = var' / (1 - beta2 ** t), without it m = mean' and v = var'; the direction is
    m / (sqrt(v) + epsilon) + wd * weight.
    >>> run("lamb_update_phase1", [1, 2], [0.5, -1], [1, 1], [1, 1], t=1, wd=0.1, rescale_grad=2)
    [0.416226, 0.421027]
    >>> run("lamb_update_phase1", [1, 2], [0.5, -1], [1, 1], [1, 1], t=3, wd=0.1, bias_correction=False)
    [1.050355, 0.999999]

[lamb/step] lamb_update_phase2 takes the length r1 of the weight and r2 of the direction g, as arrays of one number:
    weight' = weight - lr * (r1 / r2) * g. r1 is raised to lower_bound and then cut to upper_bound, each when that is
    not negative. The ratio is 1 where r1 or r2 is 0.
    >>> run("lamb_update_phase2", [1, 2], [0.5, -1], [2], [4], lr=0.1)
    [0.975, 2.05]
    >>> run("lamb_update_phase2", [1, 2], [0.5, -1], [2], [4], lr=0.1, lower_bound=3)
    [0.9625, 2.075]
    >>> run("lamb_update_phase2", [1, 2], [0.5, -1], [2], [4], lr=0.1, upper_bound=1)
    [0.9875, 2.025]
    >>> run("lamb_update_phase2", [1, 2], [0.5, -1], [2], [0], lr=0.1)
    [0.95, 2.1]

[lamb/clip] g in the first phase is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("lamb_update_phase1", [1, 1], [5, float("nan")], [0, 0], [0, 0], t=1, wd=0, clip_gradient=0, epsilon=1)
    [0.0, nan]

[lamb/master] mp_lamb_update_phase1 reads a float32 master copy, weight32, in place of the weight, and its direction is
    float32. mp_lamb_update_phase2 steps weight32, in place; its output is that copy, rounded to the weight's type.

[lamb/gradient] a gradient cannot be asked for.

[lamb/shape] all arrays have one shape.

[lamb/lengths] except r1 and r2: they have shape (1,).

[lamb/types] weight and grad have one type; with a master copy all else is float32, without it of the same type.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import REQUIRED, Case, Loop, items, merge, merge_all, same_type, scalar
from .foundation.loops import COPY
from .shared.updates import MEMORY, all_single, averaging, bound, correction, limited, numbers, register_update


class DirectionParams(NamedTuple):
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    t: int = REQUIRED
    bias_correction: bool = True
    wd: float = REQUIRED
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


class StepParams(NamedTuple):
    lr: float
    lower_bound: float = -1.0
    upper_bound: float = -1.0


def infer_step(p, ins, outs):
    shape = merge_all("lamb/shape", "weight and direction", [*ins[:2], *ins[4:], *outs])
    lengths = [merge("lamb/lengths", "r1 or r2", given, (1,)) for given in ins[2:4]]
    return [shape, shape, *lengths, *[shape] * len(ins[4:])], [shape]


def master_direction_types(p, ins, outs):
    first, _ = same_type(p, ins[:2], [])
    return [*first, *all_single("lamb/types", ins[2:])], all_single("lamb/types", outs)


def master_step_types(p, ins, outs):
    (kind,), outs = same_type(p, ins[:1], outs)
    return [kind, *all_single("lamb/types", ins[1:])], outs


# --- loops --------------------------------------------------------------------------------------


@scalar
def scaled_rate(lr, r1, r2, lower, upper):
    """Return lr times the length r1 of the weight, within bounds, over that of the direction; lr where either is 0."""
    length = lower if r1 < lower else r1
    length = upper if length > upper else length
    return lr if length == 0 or r2 == 0 else lr * length / r2


class Hyperparameters(NamedTuple):
    """The numbers of the first phase, in the type of the weight.

    ``rest1`` is 1 - beta1; ``correction1`` is 1 - beta1 ** t, or 1 without bias_correction; the same for beta2.
    """

    beta1: np.floating
    rest1: np.floating
    beta2: np.floating
    rest2: np.floating
    correction1: np.floating
    correction2: np.floating
    epsilon: np.floating
    wd: np.floating
    rescale: np.floating
    clip: np.floating


def direct(weight, grad, mean, var, out, n, h: Hyperparameters):
    for i in items(n):
        g = limited(h.rescale * grad[i], h.clip)
        mean[i] = h.beta1 * mean[i] + h.rest1 * g
        var[i] = h.beta2 * var[i] + h.rest2 * g * g
        m, v = mean[i] / h.correction1, var[i] / h.correction2
        out[i] = m / (math.sqrt(v) + h.epsilon) + h.wd * weight[i]


def step(weight, g, r1, r2, out, n, lr, lower, upper):
    rate = scaled_rate(lr, r1[0], r2[0], lower, upper)
    for i in items(n):
        out[i] = weight[i] - rate * g[i]


DIRECT, STEP = Loop(direct), Loop(step)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=MEMORY)
def hyperparameters(kind, grad_kind, beta1, beta2, t, epsilon, wd, rescale, clip):
    averages = (*averaging(kind, beta1), *averaging(kind, beta2))
    corrections = kind(1), kind(1)
    if t is not None:
        corrections = correction(kind, beta1, t), correction(kind, beta2, t)
    return Hyperparameters(*averages, *corrections, *numbers(kind, epsilon, wd, rescale), bound(grad_kind, clip))


def directed(p, t, wd, weight, grad, mean, var, out):
    """The first phase for update number ``t``."""
    kinds, t = (weight.dtype.type, grad.dtype.type), t if p.bias_correction else None
    h = hyperparameters(*kinds, p.beta1, p.beta2, t, p.epsilon, wd, p.rescale_grad, p.clip_gradient)
    DIRECT(weight, grad, mean, var, out, weight.size, h)


def bounds(p, kind):
    """The least and the greatest length of a weight."""
    return kind("-inf") if p.lower_bound < 0 else kind(p.lower_bound), bound(kind, p.upper_bound)


def phase1(p, weight, grad, mean, var, out):
    directed(p, p.t, p.wd, weight, grad, mean, var, out)


def mp_phase1(p, weight, grad, mean, var, weight32, out):
    directed(p, p.t, p.wd, weight32, grad, mean, var, out)


def phase2(p, weight, g, r1, r2, out):
    kind = weight.dtype.type
    STEP(weight, g, r1, r2, out, weight.size, *numbers(kind, p.lr), *bounds(p, kind))


def mp_phase2(p, weight, g, r1, r2, weight32, out):
    phase2(p, weight32, g, r1, r2, weight32)
    COPY(weight32, out, out.size)


def cases_direction(draw):
    params = {
        "t": draw.integer(1, 5), "wd": draw.choice((0.0, 0.25)), "beta1": draw.choice((0.9, 0.5)),
        "beta2": draw.choice((0.999, 0.75)), "epsilon": draw.choice((1e-6, 0.25)), "bias_correction": draw.boolean(),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"var": "positive"})


def cases_step(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "lower_bound": draw.choice((-1.0, 0.0, 1.5)),
        "upper_bound": draw.choice((-1.0, 1.0, 2.5)),
    }
    zero = ("ints", 0, 1)
    kinds = {"r1": draw.choice(("positive", zero)), "r2": draw.choice(("positive", zero))}
    return Case(params, {"weight": draw.shape(1, 3)}, kinds)


WRONG_LENGTH = {"lamb/lengths": {"params": {"lr": 0.1}, "shapes": {"weight": (2,), "r1": (2,)}}}
WRONG_DIRECTION = {"lamb/shape": {"params": {"lr": 0.1}, "shapes": {"weight": (2,), "g": (3,)}}}
FIRST, SECOND = ("weight", "grad", "mean", "var"), ("weight", "g", "r1", "r2")

register_update(
    "lamb", name="lamb_update_phase1", doc=__doc__, params=DirectionParams, forward=phase1, inputs=FIRST,
    cases=cases_direction, example={"t": 1, "wd": 0},
    tier=2,
)
register_update(
    "lamb", name="mp_lamb_update_phase1", doc=__doc__, params=DirectionParams, forward=mp_phase1,
    infer_type=master_direction_types, inputs=(*FIRST, "weight32"), mutates=("mean", "var"), cases=cases_direction,
    example={"t": 1, "wd": 0}, master=True,
    tier=2,
)
register_update(
    "lamb", name="lamb_update_phase2", doc=__doc__, params=StepParams, forward=phase2, infer=infer_step,
    inputs=SECOND, mutates=(), cases=cases_step, example={"lr": 0.1},
    refusals={**WRONG_LENGTH, **WRONG_DIRECTION},
    tier=2,
)
register_update(
    "lamb", name="mp_lamb_update_phase2", doc=__doc__, params=StepParams, forward=mp_phase2, infer=infer_step,
    infer_type=master_step_types, inputs=(*SECOND, "weight32"), mutates=("weight32",), cases=cases_step,
    example={"lr": 0.1}, master=True, refusals={**WRONG_LENGTH, **WRONG_DIRECTION},
    tier=2,
)
