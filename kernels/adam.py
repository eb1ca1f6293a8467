"""Adam: steps scaled by moving averages of the gradient and of its square.

D. P. Kingma, J. Ba (2014): Adam: a method for stochastic optimization.

[adam/step] g is rescale_grad * grad + wd * weight, clipped; mean' = beta1 * mean + (1 - beta1) * g and
    var' = beta2 * var + (1 - beta2) * g * g, in place; weight' = weight - lr * mean' / (sqrt(var') + epsilon).
    >>> run("adam_update", [1, 2], [0.5, -1], [1, 1], [1, 1], lr=0.1)
    [0.904964, 1.92]
    >>> run("adam_update", [1, 2], [0.5, -1], [0, 0], [0, 0], lr=0.1, beta1=0.5, beta2=0.75, epsilon=0.5, wd=0.5)
    [0.95, 2.0]

[adam/bias] the averages are not corrected for beginning with zero; optimizers put that into lr.

[adam/clip] g is clipped to -clip_gradient .. clip_gradient, wd * weight included, when that is not negative; NaN
    stays NaN.
    >>> run("adam_update", [1, 1], [10, float("nan")], [0, 0], [0, 0], lr=0.1, clip_gradient=0.5)
    [0.68377, nan]

[adam/lazy] lazy_update matters for row_sparse gradients only: rows that they lack keep weight, mean and var.

[adam/gradient] a gradient cannot be asked for.

[adam/shape] all arrays have one shape.

[adam/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from typing import NamedTuple

from .foundation import Case, Loop, items
from .shared.updates import averaging, bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    lazy_update: bool = True


# --- loops --------------------------------------------------------------------------------------


def step(weight, grad, mean, var, out, n, lr, beta1, rest1, beta2, rest2, epsilon, wd, rescale, clip):
    for i in items(n):
        g = limited(rescale * grad[i] + wd * weight[i], clip)
        m = beta1 * mean[i] + rest1 * g
        v = beta2 * var[i] + rest2 * g * g
        mean[i] = m
        var[i] = v
        out[i] = weight[i] - lr * m / (math.sqrt(v) + epsilon)


STEP = Loop(step)


# --- the operator -------------------------------------------------------------------------------


def forward(p, weight, grad, mean, var, out):
    kind = weight.dtype.type
    lr, epsilon, wd, rescale = numbers(kind, p.lr, p.epsilon, p.wd, p.rescale_grad)
    averages = (*averaging(kind, p.beta1), *averaging(kind, p.beta2))
    clip = bound(kind, p.clip_gradient)
    STEP(weight, grad, mean, var, out, weight.size, lr, *averages, epsilon, wd, rescale, clip)


def cases(draw):
    params = {
        "lr": draw.choice((0.1, 0.5)), "beta1": draw.choice((0.9, 0.5)), "beta2": draw.choice((0.999, 0.75)),
        "epsilon": draw.choice((1e-8, 0.25)), "wd": draw.choice((0.0, 0.25)),
        "rescale_grad": draw.choice((1.0, 0.125)), "clip_gradient": draw.choice((-1.0, 0.5)),
    }
    return Case(params, {"weight": draw.shape(1, 3)}, {"var": "positive"})


register_update(
    "adam", name="adam_update", doc=__doc__, params=Params, forward=forward,
    inputs=("weight", "grad", "mean", "var"), aliases=("_sparse_adam_update",), cases=cases, example={"lr": 0.1},
    refusals={"types/one-dtype": {
        "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "grad": "float64"},
    }},
)
