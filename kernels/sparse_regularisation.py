"""IdentityAttachKLSparseReg: data as it is, with a gradient that keeps units from being active too often.

[IdentityAttachKLSparseReg/identity] the output is data.
    >>> run("IdentityAttachKLSparseReg", [[0.25, 0.5]], [0, 0])
    [[0.25, 0.5]]

[IdentityAttachKLSparseReg/gradient] every backward, and no forward, moves moving_avg, (units,): new = momentum old +
    (1 - momentum) mean, of a unit's data over the batch and all further axes; units are axis 1. Then d_data = head +
    penalty ((1 - t) / (1 - avg) - t / avg) with t = sparseness_target, the slope of the Kullback-Leibler divergence
    of t and the new average.
    >>> options = {"penalty": 1, "sparseness_target": 0.2, "momentum": 0.75, "head": [[1, 2], [3, 4]]}
    >>> grad("IdentityAttachKLSparseReg", [[0.2, 0.5], [0.4, 0.7]], [0.5, 0.25], **options)[0]
    [[2.010101, 2.614954], [4.010101, 4.614954]]

[IdentityAttachKLSparseReg/range] data lies between 0 and 1. Where an average reaches 0 or 1 the gradient is infinite,
    or NaN for a target of 0 or 1.
    >>> grad("IdentityAttachKLSparseReg", [[0]], [0])[0]
    [[-inf]]

[IdentityAttachKLSparseReg/shape] data has two axes or more; moving_avg is (units,).

[IdentityAttachKLSparseReg/types] all arrays are of one floating-point type.
"""

from math import prod
from typing import Annotated, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
    AtMost,
    Case,
    Loop,
    Op,
    Sources,
    decides,
    items,
    merge,
    register,
    require,
    same_type,
    steps,
)
from .foundation.loops import COPY


class Params(NamedTuple):
    sparseness_target: Annotated[float, AtLeast(0), AtMost(1)] = 0.100000001
    penalty: float = 0.00100000005
    momentum: Annotated[float, AtLeast(0), AtMost(1)] = 0.899999976


def infer(p, ins, outs):
    data = merge("IdentityAttachKLSparseReg/shape", "output", outs[0], ins[0])
    require("IdentityAttachKLSparseReg/shape", data is None or len(data) >= 2, f"data {data} needs two axes or more")
    units = merge("IdentityAttachKLSparseReg/shape", "moving_avg", ins[1], (UNKNOWN,) if data is None else data[1:2])
    if data is not None:
        data = (data[0], *units, *data[2:])
    return [data, units], [data]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "IdentityAttachKLSparseReg/types", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}, a floating-point type is needed; use Cast",
    )
    return ins, outs


# --- loops --------------------------------------------------------------------------------------


def move_average(data, average, momentum):
    """average[u] = momentum average[u] + (1 - momentum) times the mean of data[n, u, k] over n and k."""
    for u in items(data.shape[1]):
        total = np.float64(0)
        for n, k in steps((data.shape[0], data.shape[2])):
            total += data[n, u, k]
        share = np.float64(momentum)
        average[u] = share * average[u] + (1 - share) * (total / (data.shape[0] * data.shape[2]))


def add_slope(head, average, d_data, target, penalty):
    """d_data[n, u, k] = head[n, u, k] + penalty ((1 - target) / (1 - average[u]) - target / average[u])."""
    for n, u in items(head.shape[:2]):
        mean = np.float64(average[u])
        slope = penalty * ((1 - np.float64(target)) / (1 - mean) - target / mean)
        for k in range(head.shape[2]):
            d_data[n, u, k] = head[n, u, k] + slope


MOVE_AVERAGE, ADD_SLOPE = Loop(move_average), Loop(add_slope)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, moving_avg, out):
    COPY(data, out, data.size)


@decides("IdentityAttachKLSparseReg/range")
def backward(p, head, data, moving_avg, d_data, d_average):
    units = data.shape[0], data.shape[1], prod(data.shape[2:])
    MOVE_AVERAGE(data.reshape(units), moving_avg, p.momentum)
    if d_data is not None:
        ADD_SLOPE(head.reshape(units), moving_avg, d_data.reshape(units), p.sparseness_target, p.penalty)


def cases(draw):
    params = {
        "sparseness_target": draw.choice((0.25, 0.5)), "penalty": draw.choice((0.5, 1.0)),
        "momentum": draw.choice((0.5, 0.75)),
    }
    return Case(params, {"data": draw.shape(2, 4)}, {"data": "positive", "moving_avg": "above_one"})


register(Op(
    name="IdentityAttachKLSparseReg", doc=__doc__, params=Params, inputs=("data", "moving_avg"), aux=("moving_avg",),
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, needs=("data", "moving_avg"),
    mutates=("moving_avg",), inplace=((0, 0),), cases=cases, differentiable=False,
    initial_attrs={"moving_avg": '["zero", {}]'},
    refusals={
        "IdentityAttachKLSparseReg/shape": {"params": {}, "shapes": {"data": (3,)}},
        "IdentityAttachKLSparseReg/types": {"params": {}, "shapes": {"data": (3, 2)}, "dtypes": {"data": "int32"}},
    },
    tier=2, reports=Sources(1),
))
