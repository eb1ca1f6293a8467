"""Stochastic gradient descent on many weights at once; see sgd_update and sgd_mom_update for the formulas.

[multi_sgd/step] multi_sgd_update and multi_sgd_mom_update update num_weights weights; lrs and wds hold a number for
    each. Inputs are weight, grad (, mom) (, weight32) of the first weight, of the second and so on. Each weight has
    an output.
    >>> run("multi_sgd_update", [1, 2], [0.5, -1], [3], [1], lrs=(0.1, 0.2), wds=(0.1, 0), num_weights=2)
    ([0.94, 2.08], [2.8])
    >>> run("multi_sgd_mom_update", [1, 2], [0.5, -1], [1, 1], [3], [1], [1], lrs=(0.1, 0.2), wds=(0.1, 0),
    ...     momentum=0.5, num_weights=2)
    ([1.44, 2.58], [3.3])

[multi_sgd/preloaded] preloaded_multi_sgd_update and the others whose names begin so take the rates as two last inputs,
    lrs and wds, so that other operators may compute them.
    >>> run("preloaded_multi_sgd_update", [1, 2], [0.5, -1], [3], [1], [0.1, 0.2], [0.1, 0], num_weights=2)
    ([0.94, 2.08], [2.8])

[multi_sgd/clip] gradients are multiplied by rescale_grad, then clipped to -clip_gradient .. clip_gradient when that is
    not negative; NaN stays NaN.
    >>> run("multi_sgd_update", [1, 1], [9, float("nan")], lrs=(0.1,), wds=(0,), num_weights=1, clip_gradient=0.5)
    [0.95, nan]

[multi_sgd/order] the weights are updated one after the other, each as sgd_update or sgd_mom_update does it; preloaded
    ones multiply lr with the clipped gradient also where nothing is clipped.

[multi_sgd/master] with _mp_ in their name they step float32 master copies, in place; an output is such a copy,
    rounded to the weight's type. mom is float32 too.

[multi_sgd/count] num_weights must be given; the parameters lrs and wds hold one number for each weight.

[multi_sgd/tail] the inputs lrs and wds have shape (num_weights,).

[multi_sgd/gradient] a gradient cannot be asked for.

[multi_sgd/shape] weight, gradient, states and output have one shape; another weight may have another.

[multi_sgd/types] weights and gradients have one type; momenta too, except with a master copy. The inputs lrs and
    wds are float32.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .foundation import Case, Count, Floats, Loop, items
from .foundation.loops import COPY
from .sgd import STEP, STEP_MOMENTUM, rates
from .shared.updates import MEMORY, bound, limited, numbers, register_many


class Params(NamedTuple):
    lrs: Floats
    wds: Floats
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    num_weights: Count = 1


class MomentumParams(NamedTuple):
    lrs: Floats
    wds: Floats
    momentum: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    num_weights: Count = 1


class PreloadedParams(NamedTuple):
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    num_weights: Count = 1


class PreloadedMomentumParams(NamedTuple):
    momentum: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    num_weights: Count = 1


# --- loops --------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """The numbers of a preloaded step, in the type of the weight; ``momentum`` is 0 where there is none.

    ``one`` is 1; a rate, which is float32, is multiplied by it to have that type too.
    """

    one: np.floating
    momentum: np.floating
    rescale: np.floating
    clip: np.floating


def preloaded_step(weight, grad, lrs, wds, out, n, k, h: Hyperparameters):
    lr = lrs[k] * h.one
    keep = h.one - lr * wds[k]
    for i in items(n):
        out[i] = keep * weight[i] - lr * limited(h.rescale * grad[i], h.clip)


def preloaded_step_momentum(weight, grad, mom, lrs, wds, out, n, k, h: Hyperparameters):
    lr = lrs[k] * h.one
    decay = lr * wds[k]
    for i in items(n):
        m = h.momentum * mom[i] - decay * weight[i] - lr * limited(h.rescale * grad[i], h.clip)
        mom[i] = m
        out[i] = weight[i] + m


PRELOADED_STEP, PRELOADED_STEP_MOMENTUM = Loop(preloaded_step), Loop(preloaded_step_momentum)


# --- the operators ------------------------------------------------------------------------------


def sgd(p, k, weight, grad, out):
    kind = weight.dtype.type
    rest, decay = rates(p, weight, grad, p.lrs[k], p.wds[k])
    STEP(weight, grad, out, weight.size, kind(1) - decay, *rest)


def sgd_momentum(p, k, weight, grad, mom, out):
    kind = weight.dtype.type
    rest, decay = rates(p, weight, grad, p.lrs[k], p.wds[k])
    STEP_MOMENTUM(weight, grad, mom, out, weight.size, *numbers(kind, p.momentum), decay, *rest)


@lru_cache(maxsize=MEMORY)
def hyperparameters(p, kind, grad_kind):
    momentum = getattr(p, "momentum", 0.0)
    return Hyperparameters(*numbers(kind, 1.0, momentum, p.rescale_grad), bound(grad_kind, p.clip_gradient))


def preloaded(p, k, weight, grad, lrs, wds, out):
    h = hyperparameters(p, weight.dtype.type, grad.dtype.type)
    PRELOADED_STEP(weight, grad, lrs, wds, out, weight.size, k, h)


def preloaded_momentum(p, k, weight, grad, mom, lrs, wds, out):
    h = hyperparameters(p, weight.dtype.type, grad.dtype.type)
    PRELOADED_STEP_MOMENTUM(weight, grad, mom, lrs, wds, out, weight.size, k, h)


def on_master(step, states):
    """The same step of a master copy, which is the last of ``states`` inputs after the gradient."""

    def run(p, k, weight, grad, *others):
        *between, out = others
        momenta, weight32, tail = between[: states - 1], between[states - 1], between[states:]
        step(p, k, weight32, grad, *momenta, *tail, weight32)
        COPY(weight32, out, out.size)

    return run


def cases(params, size, tail):
    """Draws for an operator with these parameters, ``size`` inputs for each weight and ``tail`` after them."""

    def draw_case(draw):
        count = draw.integer(1, 3)
        drawn = {
            "num_weights": count, "rescale_grad": draw.choice((1.0, 0.125)),
            "clip_gradient": draw.choice((-1.0, 0.0, 0.5)),
        }
        if "momentum" in params._fields:
            drawn["momentum"] = draw.choice((0.0, 0.5))
        if not tail:
            drawn["lrs"] = tuple(draw.choice((0.1, 0.5)) for _ in range(count))
            drawn["wds"] = tuple(draw.choice((0.0, 0.25)) for _ in range(count))
        shapes = [shape for _ in range(count) for shape in [draw.shape(1, 3)] * size]
        return Case(drawn, {"args": [*shapes, *[(count,)] * len(tail)]})

    return draw_case


TABLE = (
    # name, parameters, step, states
    ("multi_sgd_update", Params, sgd, ()),
    ("multi_sgd_mom_update", MomentumParams, sgd_momentum, ("mom",)),
    ("multi_mp_sgd_update", Params, on_master(sgd, 1), ("weight32",)),
    ("multi_mp_sgd_mom_update", MomentumParams, on_master(sgd_momentum, 2), ("mom", "weight32")),
    ("preloaded_multi_sgd_update", PreloadedParams, preloaded, ()),
    ("preloaded_multi_sgd_mom_update", PreloadedMomentumParams, preloaded_momentum, ("mom",)),
    ("preloaded_multi_mp_sgd_update", PreloadedParams, on_master(preloaded, 1), ("weight32",)),
    (
        "preloaded_multi_mp_sgd_mom_update", PreloadedMomentumParams, on_master(preloaded_momentum, 2),
        ("mom", "weight32"),
    ),
)

for name, params, step, states in TABLE:
    group, counts = ("weight", "grad", *states), tuple(n for n in ("lrs", "wds") if n in params._fields)
    tail = () if counts else ("lrs", "wds")
    one = {"num_weights": 1, **dict.fromkeys(counts, (0.1,))}
    rest, size = [(1,)] * len(tail), len(group)
    refusals = {"multi_sgd/shape": {
        "params": one, "shapes": {"args": [(2,), (3,), *[(2,)] * (size - 2), *rest]},
    }}
    if counts:
        refusals["multi_sgd/count"] = {"params": {**one, "num_weights": 2}, "shapes": {"args": [(2,)] * 2 * size}}
    else:
        refusals["multi_sgd/tail"] = {"params": one, "shapes": {"args": [*[(2,)] * size, (2,), (1,)]}}
        refusals["multi_sgd/types"] = {
            "params": one, "shapes": {"args": [*[(2,)] * size, *rest]},
            "dtypes": {"args": ["float64"] * (size + 2)},
        }
    register_many(
        "multi_sgd", name=name, doc=__doc__, params=params, variadic="num_weights", group=group, step=step,
        master="weight32" in states, tail=tail, tail_shape=lambda p: (p.num_weights,), counts=counts,
        cases=cases(params, size, tail), refusals=refusals,
        tier=1 if name in ("multi_sgd_update", "multi_sgd_mom_update") else 2,
    )
