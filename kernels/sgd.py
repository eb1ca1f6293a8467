"""Stochastic gradient descent: one step of one weight, with and without momentum.

[sgd/step] weight' = (1 - lr * wd) * weight - lr * g, where g is rescale_grad * grad, clipped.
    >>> run("sgd_update", [1, 2], [10, -10], lr=0.1)
    [0.0, 3.0]
    >>> run("sgd_update", [1, 2], [10, -10], lr=0.1, wd=0.5, rescale_grad=0.1)
    [0.85, 2.0]

[sgd/momentum] mom' = momentum * mom - lr * wd * weight - lr * g, and weight' = weight + mom'; mom
    is updated in place.
    >>> run("sgd_mom_update", [1, 2], [10, -10], [1, 1], lr=0.1, momentum=0.5)
    [0.5, 3.5]

[sgd/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("sgd_update", [1, 2, 3], [10, -10, 1], lr=0.1, clip_gradient=5)
    [0.5, 2.5, 2.9]
    >>> run("sgd_update", [1, 2], [10, float("nan")], lr=0.1, clip_gradient=0)
    [1.0, nan]

[sgd/order] parameters are rounded to single precision; terms are multiplied and added from left to
    right in the weight's type. Without clipping the last term is (lr * rescale_grad) * grad, with
    it lr * (clipped g).

[sgd/master] mp_sgd_update and mp_sgd_mom_update step a float32 master copy, weight32, in place; the
    output is that copy, rounded to the weight's type. mom is float32 too.

[sgd/output] the result is a new array unless the caller passes the weight as ``out``. float16
    without a master copy is computed in float32 and rounded once.

[sgd/shape] all arrays have one shape.

[sgd/types] weight and grad have one type; mom too, except with a master copy.

[sgd/gradient] a gradient cannot be asked for.
    >>> grad("sgd_update", [1], [1], lr=0.1)
    Traceback (most recent call last):
    refimpl.kernels.foundation.refusal.MXNetError: sgd_update has no gradient [harness/gradient]
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, merge_all, register, require, same_type
from .foundation.loops import COPY
from .shared.updates import bound, floating, limited


class Step(NamedTuple):
    lr: float
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    lazy_update: bool = True


class MomentumStep(NamedTuple):
    lr: float
    momentum: float = 0.0
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    lazy_update: bool = True


def infer(p, ins, outs):
    shape = merge_all("sgd/shape", "weight, gradient and states", [*ins, *outs])
    return [shape] * len(ins), [shape] * len(outs)


def master_types(p, ins, outs):
    (weight, grad), outs = same_type(p, ins[:2], outs)
    single = np.dtype(np.float32)
    for state in ins[2:]:
        is_single = state is None or state == single
        require("sgd/types", is_single, f"states must be float32, got {state}")
    return [weight, grad] + [single] * (len(ins) - 2), outs


# --- loops --------------------------------------------------------------------------------------


def step(weight, grad, out, n, keep, lr, rescale, clip):
    for i in items(n):
        g = limited(rescale * grad[i], clip)
        out[i] = keep * weight[i] - lr * g


def step_momentum(weight, grad, mom, out, n, momentum, decay, lr, rescale, clip):
    for i in items(n):
        g = limited(rescale * grad[i], clip)
        mom[i] = momentum * mom[i] - decay * weight[i] - lr * g
        out[i] = weight[i] + mom[i]


STEP, STEP_MOMENTUM = Loop(step), Loop(step_momentum)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def factors(kind, grad_kind, *given):
    """(lr, rescale_grad, clip) for the loops, and lr * wd; ``given`` is lr, wd, rescale_grad, clip_gradient."""
    lr, wd, rescale = (kind(np.float32(value)) for value in given[:3])
    clip = bound(grad_kind, given[3])
    if clip == np.inf:
        return (kind(1), lr * rescale, clip), lr * wd
    return (lr, rescale, clip), lr * wd


def rates(p, weight, grad, lr, wd):
    """What ``factors`` says for one weight."""
    return factors(weight.dtype.type, grad.dtype.type, lr, wd, p.rescale_grad, p.clip_gradient)


def sgd(p, weight, grad, out):
    numbers, decay = rates(p, weight, grad, p.lr, p.wd)
    STEP(weight, grad, out, weight.size, weight.dtype.type(1) - decay, *numbers)  # NumPy 1 makes 1 - decay a double


def sgd_momentum(p, weight, grad, mom, out):
    numbers, decay = rates(p, weight, grad, p.lr, p.wd)
    momentum = float(np.float32(p.momentum))
    STEP_MOMENTUM(weight, grad, mom, out, weight.size, momentum, decay, *numbers)


def mp_sgd(p, weight, grad, weight32, out):
    sgd(p, weight32, grad, weight32)
    COPY(weight32, out, out.size)


def mp_sgd_momentum(p, weight, grad, mom, weight32, out):
    sgd_momentum(p, weight32, grad, mom, weight32)
    COPY(weight32, out, out.size)


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)})


TABLE = (
    # name, parameters, forward, inputs, aliases, types
    ("sgd_update", Step, sgd, ("weight", "grad"), ("_sparse_sgd_update",), same_type),
    (
        "sgd_mom_update", MomentumStep, sgd_momentum, ("weight", "grad", "mom"),
        ("_sparse_sgd_mom_update",), same_type,
    ),
    ("mp_sgd_update", Step, mp_sgd, ("weight", "grad", "weight32"), (), master_types),
    (
        "mp_sgd_mom_update", MomentumStep, mp_sgd_momentum, ("weight", "grad", "mom", "weight32"),
        (), master_types,
    ),
)

for name, params, run, inputs, aliases, types in TABLE:
    refusals = {
        "sgd/shape": {"params": {"lr": 0.1}, "shapes": {"weight": (2,), "grad": (3,)}},
        "params/required": {"params": {}, "shapes": {"weight": (2,)}},
        "updates/floating": {"params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "int32"}},
    }
    if types is master_types:
        refusals["sgd/types"] = {
            "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight32": "float64"},
        }
    register(Op(
        name=name, doc=__doc__, params=params, inputs=inputs, infer=infer, infer_type=floating(types),
        forward=run, mutates=inputs[2:], aux=inputs[2:], inplace=((0, 0),), aliases=aliases, cases=cases,
        refusals=refusals, no_gradient_clause="sgd/gradient",
        tier=1, row_updates=() if types is master_types else ("default", "row_sparse"),
    ))
