"""AdaGrad: gradients divided by the root of the sum of all their squares so far; per element, or per row.

J. Duchi, E. Hazan, Y. Singer (2011): Adaptive subgradient methods for online learning and stochastic optimization.

[adagrad/step] _sparse_adagrad_update (mx.nd.sparse.adagrad_update): g is rescale_grad * grad, clipped;
    history' = history + g * g, in place; weight' = weight - lr * g / sqrt(history' + epsilon).
    >>> run("_sparse_adagrad_update", [1, 2], [0.5, -1], [1, 1], lr=0.1, epsilon=0.5)
    [0.962204, 2.063246]

[adagrad/rows] _contrib_group_adagrad_update keeps one number for each row (the first axis): history' = history + the
    mean of g * g over the row; weight' = weight - lr * g / sqrt(history' + epsilon).
    >>> run("_contrib_group_adagrad_update", [[1, 2], [3, 4]], [[1, 2], [0, 0]], [[1], [1]], lr=0.1, epsilon=0.5)
    [[0.95, 1.9], [3.0, 4.0]]

[adagrad/sum-order] squares of a row are added in double precision from left to right.

[adagrad/clip] g is clipped to -clip_gradient .. clip_gradient when that is not negative; NaN stays NaN.
    >>> run("_sparse_adagrad_update", [1, 2], [10, float("nan")], [0, 0], lr=0.1, clip_gradient=0.5, epsilon=0)
    [0.9, nan]

[adagrad/decay] wd must be 0: there is no decay of weights.

[adagrad/lazy] a row_sparse gradient updates weight and history of its rows only.

[adagrad/gradient] a gradient cannot be asked for.

[adagrad/shape] all arrays have one shape.

[adagrad/row-shape] history of _contrib_group_adagrad_update has one number for each row: (rows, 1) for a matrix, (rows,
    1, 1) for three axes and so on. weight has two axes or more.

[adagrad/types] all arrays have one type; float16 is computed in float32 and rounded once.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, items, merge, merge_all, require
from .shared.updates import bound, limited, numbers, register_update


class Params(NamedTuple):
    lr: float
    epsilon: float = 1e-7
    wd: float = 0.0
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0


class RowParams(NamedTuple):
    lr: float
    rescale_grad: float = 1.0
    clip_gradient: float = -1.0
    epsilon: float = 1e-5


def infer(p, ins, outs):
    require("adagrad/decay", p.wd == 0, f"wd must be 0 here, got {p.wd}; add wd * weight to the gradient instead")
    shape = merge_all("adagrad/shape", "weight, gradient and history", [*ins, *outs])
    return [shape] * 3, [shape]


def infer_rows(p, ins, outs):
    weight, grad, history = ins
    shape = merge_all("adagrad/shape", "weight and gradient", [weight, grad, *outs])
    if shape is not None:
        require("adagrad/row-shape", len(shape) > 1, f"weight needs two axes or more, got shape {list(shape)}")
        history = merge("adagrad/row-shape", "history", history, (shape[0], *[1] * (len(shape) - 1)))
        shape = (history[0], *shape[1:])
    return [shape, shape, history], [shape]


# --- loops --------------------------------------------------------------------------------------


def step(weight, grad, history, out, n, lr, epsilon, rescale, clip):
    for i in items(n):
        g = limited(rescale * grad[i], clip)
        total = history[i] + g * g
        history[i] = total
        out[i] = weight[i] - lr * g / math.sqrt(total + epsilon)


def step_rows(weight, grad, history, out, rows, length, lr, epsilon, rescale, clip):
    for r in items(rows):
        total = np.float64(0)
        for i in range(r * length, (r + 1) * length):
            g = limited(rescale * grad[i], clip)
            total += np.float64(g) * g
        history[r] += total / length
        root = math.sqrt(history[r] + epsilon)
        for i in range(r * length, (r + 1) * length):
            out[i] = weight[i] - lr * limited(rescale * grad[i], clip) / root


STEP, STEP_ROWS = Loop(step), Loop(step_rows)


# --- the operators ------------------------------------------------------------------------------


def factors(p, kind):
    """The last four arguments of both loops."""
    return *numbers(kind, p.lr, p.epsilon, p.rescale_grad), bound(kind, p.clip_gradient)


def by_element(p, weight, grad, history, out):
    STEP(weight, grad, history, out, weight.size, *factors(p, weight.dtype.type))


def by_row(p, weight, grad, history, out):
    rows = history.size
    STEP_ROWS(weight, grad, history, out, rows, weight.size // max(rows, 1), *factors(p, weight.dtype.type))


def drawn(draw):
    return {
        "lr": draw.choice((0.1, 0.5)), "epsilon": draw.choice((1e-5, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
        "clip_gradient": draw.choice((-1.0, 0.5)),
    }


def cases(draw):
    return Case(drawn(draw), {"weight": draw.shape(1, 3)}, {"history": "positive"})


def cases_rows(draw):
    return Case(drawn(draw), {"weight": draw.shape(2, 4)}, {"history": "positive"})


register_update(
    "adagrad", name="_sparse_adagrad_update", doc=__doc__, params=Params, infer=infer, forward=by_element,
    inputs=("weight", "grad", "history"), cases=cases, example={"lr": 0.1},
    refusals={
        "adagrad/decay": {"params": {"lr": 0.1, "wd": 0.5}, "shapes": {"weight": (2,)}},
        "types/one-dtype": {
            "params": {"lr": 0.1}, "shapes": {"weight": (2,)}, "dtypes": {"weight": "float32", "history": "float64"},
        },
    },
    tier=1, row_updates=("default", "row_sparse"),
)
register_update(
    "adagrad", name="_contrib_group_adagrad_update", doc=__doc__, params=RowParams, infer=infer_rows,
    forward=by_row, inputs=("weight", "grad", "history"), cases=cases_rows, example={"lr": 0.1},
    refusals={
        "adagrad/shape": {"params": {"lr": 0.1}, "shapes": {"weight": (2, 2), "grad": (2, 3)}},
        "adagrad/row-shape": {"params": {"lr": 0.1}, "shapes": {"weight": (2, 3), "history": (2,)}},
    },
    tier=2, row_updates=("default",),
)
