"""FullyConnected: out = data . weight^T + bias.

[FullyConnected/flatten] data is read as (N, K): every axis but the first is folded, unless
    flatten=False, which folds every axis but the last.
    >>> run("FullyConnected", [[[1, 2]], [[3, 4]]], [[1, 1]], [0], num_hidden=1)
    [[3.0], [7.0]]
    >>> run("FullyConnected", [[[1, 2]], [[3, 4]]], [[1, 1]], [0], num_hidden=1, flatten=False)
    [[[3.0]], [[7.0]]]

[FullyConnected/weight-shape] weight is (num_hidden, K); an unknown weight is inferred, any other refused.

[FullyConnected/bias-shape] bias is (num_hidden,); with no_bias there is none.
    >>> run("FullyConnected", [[1, 2]], [[3, 4], [5, 6]], [10, 20], num_hidden=2)
    [[21.0, 37.0]]
    >>> run("FullyConnected", [[1, 2]], [[3, 4], [5, 6]], num_hidden=2, no_bias=True)
    [[11.0, 17.0]]

[FullyConnected/bias-column] a bias that is given as (num_hidden, 1), as a row_sparse one may be, is accepted too.
    >>> run("FullyConnected", [[1, 2]], [[3, 4], [5, 6]], [[10], [20]], num_hidden=2)
    [[21.0, 37.0]]

[FullyConnected/output-shape] an output shape that is given must be the inferred one; it tells the batch.

[FullyConnected/gradient] d_data = head . weight, d_weight = head^T . data, d_bias = rows of head summed.
    >>> grad("FullyConnected", [[1, 2]], [[3, 4], [5, 6]], [10, 20], num_hidden=2, head=[[1, 10]])
    ([[53.0, 64.0]], [[1.0, 2.0], [10.0, 20.0]], [1.0, 10.0])

[FullyConnected/sum-order] products are added in increasing k, the bias last (a tuned twin fuses product
    and sum).
    >>> run("FullyConnected", [[1e8, 1, -1e8]], [[1, 1, 1]], [0], num_hidden=1)
    [[0.0]]
"""

from math import prod
from typing import Annotated, NamedTuple

from .foundation import UNKNOWN, AtLeast, Case, Loop, Op, Sources, decides, items, merge, require
from .multilinear import register_multilinear
from .shared.products import SUM_ROWS, multiply, product_of


class Params(NamedTuple):
    num_hidden: Annotated[int, AtLeast(1)]
    no_bias: bool = False
    flatten: bool = True


def rows_and_columns(p, data):
    return (data[0], prod(data[1:])) if p.flatten else (prod(data[:-1]), data[-1])


def inputs(p):
    return ("data", "weight") if p.no_bias else ("data", "weight", "bias")


@decides("FullyConnected/bias-column")
def infer(p, ins, outs):
    data, weight = ins[0], ins[1]
    columns = UNKNOWN
    if data is not None:
        require("FullyConnected/flatten", len(data) >= 1, "data must have at least one axis")
        columns = prod(data[1:] if p.flatten else data[-1:])
    weight = merge("FullyConnected/weight-shape", "weight", weight, (p.num_hidden, columns))
    shapes = [data, weight]
    if not p.no_bias:
        wanted = (p.num_hidden, 1) if ins[2] is not None and len(ins[2]) == 2 else (p.num_hidden,)
        shapes.append(merge("FullyConnected/bias-shape", "bias", ins[2], wanted))
    out = outs[0]
    if data is not None:
        wanted = (data[0], p.num_hidden) if p.flatten else (*data[:-1], p.num_hidden)
        out = merge("FullyConnected/output-shape", "output", out, wanted)
        if len(data) > 1:
            rest = (weight[1],) if p.flatten and len(data) == 2 else data[1:]
            shapes[0] = merge("FullyConnected/weight-shape", "data", data, (out[0], *rest))
    return shapes, [out]


# --- loops --------------------------------------------------------------------------------------


def add_bias(bias, out):
    n, m = out.shape
    for i in items(n):
        for j in range(m):
            out[i, j] += bias[j]


ADD_BIAS = Loop(add_bias)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, weight, bias, out):
    n, k = rows_and_columns(p, data.shape)
    m = p.num_hidden
    multiply(data, weight, out, product_of(n, k, m, transpose_b=True))
    if bias is not None:
        ADD_BIAS(bias, out.reshape((n, m)))


def backward(p, head, data, weight, d_data, d_weight, d_bias):
    n, k = rows_and_columns(p, data.shape)
    m = p.num_hidden
    if d_data is not None:
        multiply(head, weight, d_data, product_of(n, m, k))
    if d_weight is not None:
        multiply(head, data, d_weight, product_of(m, n, k, transpose_a=True))
    if d_bias is not None:
        SUM_ROWS(head.reshape((n, m)), d_bias)


def cases(draw):
    params = {
        "num_hidden": draw.integer(1, 5), "no_bias": draw.boolean(), "flatten": draw.boolean(),
    }
    shapes = {"data": draw.shape(2, 4)}
    if not params["no_bias"] and draw.boolean():
        shapes["bias"] = (params["num_hidden"], 1)
    return Case(params, shapes)


register_multilinear(Op(
    name="FullyConnected", doc=__doc__, params=Params,
    inputs=inputs, all_inputs=("data", "weight", "bias"),
    infer=infer, forward=forward, backward=backward, needs=("data", "weight"),
    aliases=("_sparse_FullyConnected",), cases=cases,
    refusals={
        "FullyConnected/weight-shape": {
            "params": {"num_hidden": 5}, "shapes": {"data": (2, 3), "weight": (5, 4)},
        },
        "FullyConnected/bias-shape": {
            "params": {"num_hidden": 5}, "shapes": {"data": (2, 3), "bias": (4,)},
        },
    },
    tier=1, reports=Sources(1, outputs=True), color="#fb8072",
    label="FullyConnected\n{num_hidden}",
    difference_clauses={
        "": "FullyConnected/flatten",
        "bias-missing": "FullyConnected/bias-shape",
        "transposed": "FullyConnected/weight-shape",
        "channels-swapped": "FullyConnected/weight-shape",
        "half-precision": "FullyConnected/sum-order",
    },
), ("data",), ("weight",), bias_axis=-1)
