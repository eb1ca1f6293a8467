"""_contrib_getnnz: how many elements of a matrix are not zero.

[_contrib_getnnz/count] of the whole matrix, as one number, or with axis 1 of every row and with axis 0 of every column;
    as int64. NaN is not zero.
    >>> x = [[1, 0, 2], [0, 0, float("nan")]]
    >>> run("_contrib_getnnz", x), run("_contrib_getnnz", x, axis=1), run("_contrib_getnnz", x, axis=0)
    ([3.0], [2.0, 1.0], [1.0, 0.0, 2.0])

[_contrib_getnnz/shape] data has two axes; axis is 0, 1 or None.

[_contrib_getnnz/gradient] a gradient cannot be asked for.
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Op, Sources, decides, merge, register, require, scalar
from .foundation.walks import reduction_of
from .reduce import reducer
from .shared.totals import add


class Params(NamedTuple):
    axis: int | None = None


def infer(p, ins, outs):
    (data,), (out,) = ins, outs
    require("_contrib_getnnz/shape", p.axis in (None, 0, 1), f"axis={p.axis} must be 0, 1 or None")
    require("_contrib_getnnz/shape", data is None or len(data) == 2, f"data has shape {data}; give a matrix")
    if p.axis is not None and out is not None:
        out = merge("_contrib_getnnz/shape", "output", out, (UNKNOWN,))
        data = merge("_contrib_getnnz/shape", "data", data, (out[0], UNKNOWN) if p.axis == 1 else (UNKNOWN, out[0]))
    if p.axis is None or data is not None:
        wanted = (1,) if p.axis is None else (data[1 - p.axis],)
        out = merge("_contrib_getnnz/shape", "output", out, wanted)
    return [data], [out]


def infer_type(p, ins, outs):
    return ins, [np.dtype(np.int64)]


@scalar
def count_one(total, x):
    return total + 1 if x != 0 else total


COUNT = reducer(count_one, add)


@decides("_contrib_getnnz/count")
def forward(p, data, out):
    rows, columns = data.shape
    kept = {None: (1, 1), 0: (1, columns), 1: (rows, 1)}[p.axis]
    COUNT(data, out, 0, 1, *reduction_of(data.shape, kept, np.dtype(np.int64), data.device))


def cases(draw):
    values = draw.choice(("any", "ones_and_zeros"))
    return Case({"axis": draw.choice((None, 0, 1))}, {"data": draw.shape(2, 2)}, {"data": values})


register(Op(
    name="_contrib_getnnz", doc=__doc__, params=Params, infer=infer, infer_type=infer_type, forward=forward,
    cases=cases, refusals={"_contrib_getnnz/shape": {"shapes": {"data": (4,)}}},
    no_gradient_clause="_contrib_getnnz/gradient",
    tier=2, reports=Sources(),
))
