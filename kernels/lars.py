"""multi_sum_sq and multi_lars: the squared lengths of arrays, and learning rates that are measured by them.

Y. You, I. Gitman, B. Ginsburg (2017): Large batch training of convolutional networks.

[lars/squares] multi_sum_sq gives the sum of squares of each of num_arrays arrays, as one float32 array.
    >>> run("multi_sum_sq", [1, 2], [3, 4, 5])
    [5.0, 50.0]
    >>> run("multi_sum_sq", [1, float("nan")], [float("inf")])
    [nan, inf]

[lars/sum-order] squares are added in double precision, in runs of neighbouring elements, and rounded once.

[lars/rate] multi_lars: with w and g the roots of weights_sum_sq and grads_sum_sq the new rate is
    lr * eta * w / (rescale_grad * g + wd * w + eps), element by element; lr itself where w or g is 0, or NaN.
    >>> run("multi_lars", [0.1, 0.1, 0.1], [4, 0, 4], [9, 9, 0], [0.5] * 3, eta=0.5, eps=0.25, rescale_grad=2)
    [0.013793, 0.1, 0.1]

[lars/gradient] a gradient cannot be asked for.

[lars/shape] the four arrays of multi_lars and its output have one shape; the output of multi_sum_sq has shape
    (num_arrays,).

[lars/types] the arrays of multi_sum_sq have one type, and so have those of multi_lars, which may be float64.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import Case, Count, Loop, Op, items, merge, register, same_shape, same_type, scratch
from .shared.lengths import added, runs_of, sum_squares
from .shared.updates import floating, numbers


class SumParams(NamedTuple):
    num_arrays: Count


class RateParams(NamedTuple):
    eta: float
    eps: float
    rescale_grad: float = 1.0


def infer(p, ins, outs):
    return ins, [merge("lars/shape", "output", outs[0], (p.num_arrays,))]


def infer_type(p, ins, outs):
    ins, _ = same_type(p, ins, [])
    return ins, [np.dtype(np.float32)]


# --- loops --------------------------------------------------------------------------------------


def put_sum(out, sums, runs, k):
    for i in items(1):
        out[k + i] = added(sums, runs)


def rate(lrs, weights, grads, wds, out, n, eta, eps, rescale):
    for i in items(n):
        w, g = math.sqrt(weights[i]), math.sqrt(grads[i])
        if w > 0 and g > 0:
            out[i] = lrs[i] * eta * w / (rescale * g + wds[i] * w + eps)
        else:
            out[i] = lrs[i]


PUT_SUM, RATE = Loop(put_sum), Loop(rate)


# --- the operators ------------------------------------------------------------------------------


def forward_sums(p, arrays, out):
    for k, array in enumerate(arrays):
        runs, _ = runs_of(array.size)
        (sums,) = scratch(array, runs, dtype=np.float64)
        sum_squares(array, sums)
        PUT_SUM(out, sums, runs, k)


def forward_rates(p, lrs, weights_sum_sq, grads_sum_sq, wds, out):
    rest = numbers(lrs.dtype.type, p.eta, p.eps, p.rescale_grad)
    RATE(lrs, weights_sum_sq, grads_sum_sq, wds, out, lrs.size, *rest)


def cases_sums(draw):
    return Case({}, {"args": [draw.shape(1, 3) for _ in range(draw.integer(1, 4))]})


def cases_rates(draw):
    params = {
        "eta": draw.choice((0.5, 0.001)), "eps": draw.choice((1e-8, 0.25)), "rescale_grad": draw.choice((1.0, 0.125)),
    }
    squares = {name: draw.choice(("positive", ("ints", 0, 2))) for name in ("weights_sum_sq", "grads_sum_sq")}
    return Case(params, {"lrs": draw.shape(1, 2)}, {"lrs": "positive", "wds": "positive", **squares})


register(Op(
    name="multi_sum_sq", doc=__doc__, params=SumParams, variadic="num_arrays", all_inputs=("array_",), infer=infer,
    infer_type=floating(infer_type), forward=forward_sums, cases=cases_sums,
    no_gradient_clause="lars/gradient",
    refusals={
        "types/one-dtype": {"shapes": {"args": [(2,), (3,)]}, "dtypes": {"args": ["float32", "float64"]}},
        "lars/shape": {"params": {}, "shapes": {"args": [(2,)], "output": (2,)}},
        "updates/floating": {"shapes": {"args": [(2,)]}, "dtypes": {"args": ["int32"]}},
    },
    tier=2,
    runs_alone={"put_sum": "adds the sums of blocks, a single number, in their order"},
))
register(Op(
    name="multi_lars", doc=__doc__, params=RateParams, inputs=("lrs", "weights_sum_sq", "grads_sum_sq", "wds"),
    infer=same_shape("lars/shape"), infer_type=floating(same_type), forward=forward_rates, inplace=((0, 0),),
    cases=cases_rates, no_gradient_clause="lars/gradient",
    refusals={
        "lars/shape": {"params": {"eta": 1, "eps": 1}, "shapes": {"lrs": (2,), "wds": (3,)}},
        "updates/floating": {"params": {"eta": 1, "eps": 1}, "shapes": {"lrs": (2,)}, "dtypes": {"lrs": "int32"}},
    },
    tier=2,
))
