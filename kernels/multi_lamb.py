"""_multi_lamb_update: LAMB for many weights at once, both phases; see lamb_update_phase1 for the formulas.

[multi_lamb/step] each of num_tensors weights has a number in learning_rates, wds and step_count, and is updated by
    lamb_update_phase1, then lamb_update_phase2, in which r1 and r2 are the lengths of weight and direction. Inputs are
    weight, grad, mean, var (and weight32) of the first weight, of the second and so on.
    >>> run("_multi_lamb_update", [3, 4], [0.5, -1], [0, 0], [0, 0], num_tensors=1, learning_rates=(0.1,), wds=(0,),
    ...     step_count=(1,))
    [2.646447, 4.353554]
    >>> run("_multi_lamb_update", [3, 4], [0.5, -1], [0, 0], [0, 0], num_tensors=1, learning_rates=(0.1,), wds=(0,),
    ...     step_count=(1,), upper_bound=1)
    [2.929289, 4.070711]

[multi_lamb/zero] the ratio of the lengths is 1 where either is 0.
    >>> run("_multi_lamb_update", [0, 0], [0.5, -1], [0, 0], [0, 0], num_tensors=1, learning_rates=(0.1,), wds=(0,),
    ...     step_count=(1,))
    [-0.1, 0.1]

[multi_lamb/sum-order] squares are added in double precision, in runs of neighbouring elements; the step is computed in
    double precision too.

[multi_lamb/master] _multi_mp_lamb_update steps float32 master copies, in place; an output is such a copy, rounded to
    the weight's type. mean and var are float32 too. r1 is the length of the weight, not that of its master copy.

[multi_lamb/count] num_tensors must be given; learning_rates, wds and step_count hold one number for each weight.

[multi_lamb/gradient] a gradient cannot be asked for.

[multi_lamb/shape] weight, gradient, states and output have one shape.

[multi_lamb/types] weights and gradients have one type; states too, except with a master copy.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import Case, Count, Floats, Loop, Shape, items, scratch
from .foundation.loops import COPY
from .lamb import bounds, directed, scaled_rate
from .shared.lengths import added, runs_of, sum_squares
from .shared.updates import numbers, register_many


class Params(NamedTuple):
    learning_rates: Floats
    wds: Floats
    step_count: Shape
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    rescale_grad: float = 1.0
    lower_bound: float = -1.0
    upper_bound: float = -1.0
    clip_gradient: float = -1.0
    bias_correction: bool = True
    num_tensors: Count = 1


# --- loops --------------------------------------------------------------------------------------


def step(weight, direction, weight_sums, direction_sums, out, n, runs, lr, lower, upper):
    r1, r2 = math.sqrt(added(weight_sums, runs)), math.sqrt(added(direction_sums, runs))
    rate = scaled_rate(lr, r1, r2, lower, upper)
    for i in items(n):
        out[i] = weight[i] - rate * direction[i]


STEP = Loop(step)


# --- the operators ------------------------------------------------------------------------------


def stepped(p, k, measured, weight, grad, mean, var, out):
    """One step of ``weight``, whose length is that of ``measured``."""
    runs, _ = runs_of(weight.size)
    direction, first, second = scratch(weight, weight.size, runs, runs, dtype=np.float64)
    directed(p, p.step_count[k], p.wds[k], weight, grad, mean, var, direction)
    sum_squares(measured, first)
    sum_squares(direction, second)
    rest = *numbers(np.float64, p.learning_rates[k]), *bounds(p, np.float64)
    STEP(weight, direction, first, second, out, weight.size, runs, *rest)


def lamb(p, k, weight, grad, mean, var, out):
    stepped(p, k, weight, weight, grad, mean, var, out)


def mp_lamb(p, k, weight, grad, mean, var, weight32, out):
    stepped(p, k, weight, weight32, grad, mean, var, weight32)
    COPY(weight32, out, out.size)


def cases(size):
    def draw_case(draw):
        count = draw.integer(1, 3)
        params = {
            "num_tensors": count, "beta1": draw.choice((0.9, 0.5)), "beta2": draw.choice((0.999, 0.75)),
            "epsilon": draw.choice((1e-6, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
            "lower_bound": draw.choice((-1.0, 1.5)), "upper_bound": draw.choice((-1.0, 2.5)),
            "clip_gradient": draw.choice((-1.0, 0.5)), "bias_correction": draw.boolean(),
            "learning_rates": tuple(draw.choice((0.1, 0.5)) for _ in range(count)),
            "wds": tuple(draw.choice((0.0, 0.25)) for _ in range(count)),
            "step_count": tuple(draw.integer(1, 5) for _ in range(count)),
        }
        shapes = [shape for _ in range(count) for shape in [draw.shape(1, 3)] * size]
        return Case(params, {"args": shapes}, {f"var_{k}": "positive" for k in range(count)})

    return draw_case


ONE = {"learning_rates": (0.1,), "wds": (0,), "step_count": (1,), "num_tensors": 1}

for name, forward, group in (
    ("_multi_lamb_update", lamb, ("weight", "grad", "mean", "var")),
    ("_multi_mp_lamb_update", mp_lamb, ("weight", "grad", "mean", "var", "weight32")),
):
    size = len(group)
    refusals = {
        "multi_lamb/count": {"params": {**ONE, "num_tensors": 2}, "shapes": {"args": [(2,)] * 2 * size}},
        "multi_lamb/shape": {"params": ONE, "shapes": {"args": [(2,), (3,), *[(2,)] * (size - 2)]}},
    }
    if size > 4:
        refusals["multi_lamb/types"] = {
            "params": ONE, "shapes": {"args": [(2,)] * size}, "dtypes": {"args": ["float16"] * size},
        }
    register_many(
        "multi_lamb", name=name, doc=__doc__, params=Params, variadic="num_tensors", group=group, step=forward,
        master=size > 4, counts=("learning_rates", "wds", "step_count"), cases=cases(size),
        refusals=refusals,
        tier=2,
    )
