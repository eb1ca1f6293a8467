"""_grad_add_weight: total + head^T . data, which adds the gradient of FullyConnected towards its weight to another one.

[_grad_add_weight/sum-order] the products of a row of head with a row of data are added to total, row after row (a tuned
    twin fuses product and sum). Half precision is rounded after the last row.
    >>> run("_grad_add_weight", [[1e8, 0]], [[1], [1]], [[1, 2], [-1e8, 3]], num_hidden=1)
    [[0.0, 5.0]]
"""

from typing import Annotated, NamedTuple

from . import fully_connected
from .foundation import AtLeast, Case, Op, merge, register
from .foundation.loops import COPY
from .fully_connected import rows_and_columns
from .shared.products import multiply, product_of


class Params(NamedTuple):
    num_hidden: Annotated[int, AtLeast(1)]
    flatten: bool = True


def infer(p, ins, outs):
    total, head, data = ins
    total = merge("FullyConnected/weight-shape", "total", total, outs[0])
    layer = fully_connected.Params(p.num_hidden, True, p.flatten)
    (data, total), (head,) = fully_connected.infer(layer, [data, total], [head])
    return [total, head, data], [total]


def forward(p, total, head, data, out):
    rows, columns = rows_and_columns(p, data.shape)
    if out.flat is not total.flat:
        COPY(total, out, out.size)
    multiply(head, data, out, product_of(p.num_hidden, rows, columns, transpose_a=True)._replace(onto=1))


def cases(draw):
    return Case({"num_hidden": draw.integer(1, 5), "flatten": draw.boolean()}, {"data": draw.shape(2, 4)})


register(Op(
    name="_grad_add_weight", doc=__doc__, params=Params, inputs=("total", "head", "data"), infer=infer,
    forward=forward, inplace=((0, 0),), cases=cases, differentiable=False,
    refusals={
        "FullyConnected/weight-shape": {"params": {"num_hidden": 5}, "shapes": {"total": (5, 4), "data": (2, 3)}},
    },
))
