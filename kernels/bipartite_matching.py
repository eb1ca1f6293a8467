"""_contrib_bipartite_matching: pairs of a row and a column, the best score first.

[_contrib_bipartite_matching/greedy] the pair with the highest score is matched, then the best of the pairs
    whose row and column are both free, and so on. output0 gives the column of every row and output1 the row
    of every column, -1 where there is none. Of equal scores the first in C order is taken.
    >>> run("_contrib_bipartite_matching", [[.5, .6], [.1, .2], [.3, .4]], threshold=1e-12)
    ([1.0, -1.0, 0.0], [2.0, 0.0])
    >>> run("_contrib_bipartite_matching", [[.5, .5, .5], [.5, .5, .5]], threshold=0.25)
    ([0.0, 1.0], [0.0, 1.0, -1.0])

[_contrib_bipartite_matching/ascending] with is_ascend the lowest score goes first.
    >>> run("_contrib_bipartite_matching", [[.5, .6], [.1, .2], [.3, .4]], threshold=1, is_ascend=True)
    ([-1.0, 0.0, 1.0], [1.0, 2.0])

[_contrib_bipartite_matching/threshold] a score must be above threshold, or below it with is_ascend; equal is
    not enough. NaN is never matched.
    >>> run("_contrib_bipartite_matching", [[.5, .25], [.25, .75]], threshold=0.5)
    ([-1.0, 1.0], [-1.0, 1.0])
    >>> run("_contrib_bipartite_matching", [[float("nan"), .5]], threshold=0)
    ([1.0], [-1.0, 0.0])

[_contrib_bipartite_matching/topk] at most topk pairs are matched; below 1 there is no limit.
    >>> run("_contrib_bipartite_matching", [[.5, .6], [.1, .2], [.3, .4]], threshold=0, topk=1)
    ([1.0, -1.0, -1.0], [-1.0, 0.0])

[_contrib_bipartite_matching/shape] data is (..., rows, columns); every matrix of the batch is matched by
    itself.

[_contrib_bipartite_matching/floating-point] only floating-point types are accepted.

[_contrib_bipartite_matching/gradient] the gradient is zero.
    >>> grad("_contrib_bipartite_matching", [[.5]], threshold=0)
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import REQUIRED, Case, Loop, Op, Sources, items, merge, register, require, scratch
from .shared.boxes import floating, nothing, ranked

CLAUSE = "_contrib_bipartite_matching/shape"


class Params(NamedTuple):
    is_ascend: bool = False
    threshold: float = REQUIRED
    topk: int = -1


def infer(p, ins, outs):
    data = ins[0]
    if data is None:
        return ins, outs
    require(CLAUSE, len(data) >= 2, f"data has shape {data}; give (..., rows, columns)")
    rows = merge(CLAUSE, "output0", outs[0], data[:-1])
    columns = merge(CLAUSE, "output1", outs[1], (*rows[:-1], data[-1]))
    rows = (*columns[:-1], rows[-1])
    return [(*rows, columns[-1])], [rows, columns]


# --- loop ---------------------------------------------------------------------------------------


def match(data, order, row_match, column_match, most, threshold, ascending):
    """Go through the pairs in order; a pair is matched if its score fits and its row and column are free.

    order[n, i] is the place of the i-th pair in the matrix data[n], in C order.
    """
    batch, rows, columns = data.shape
    for n in items(batch):
        for row in range(rows):
            row_match[n, row] = -1
        for column in range(columns):
            column_match[n, column] = -1
        matched = 0
        for i in range(rows * columns):
            row, column = order[n, i] // columns, order[n, i] % columns
            score = data[n, row, column]
            fits = score < threshold if ascending else score > threshold
            if fits and matched < most and row_match[n, row] < 0 and column_match[n, column] < 0:
                row_match[n, row] = column
                column_match[n, column] = row
                matched += 1


MATCH = Loop(match)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, row_match, column_match):
    batch, rows, columns = prod(data.shape[:-2]), *data.shape[-2:]
    buffers = scratch(data, data.size, data.size, dtype=np.int64)
    order = ranked(data, *buffers, batch, rows * columns, ascending=p.is_ascend)
    most = p.topk if p.topk > 0 else rows
    MATCH(
        data.reshape((batch, rows, columns)), order.reshape((batch, rows * columns)), row_match.reshape((batch, rows)),
        column_match.reshape((batch, columns)), most, p.threshold, p.is_ascend,
    )


def cases(draw):
    params = {
        "threshold": draw.choice((-1, 0, 0.5)), "is_ascend": draw.boolean(),
        "topk": draw.choice((-1, -1, 1, 2)),
    }
    return Case(params, {"data": draw.shape(2, 4)}, {"data": draw.choice(("any", "apart"))})


register(Op(
    name="_contrib_bipartite_matching", doc=__doc__, params=Params, outputs=("output0", "output1"),
    infer=infer, infer_type=floating("_contrib_bipartite_matching/floating-point"), forward=forward,
    gradient=nothing, cases=cases, differentiable=False,
    refusals={
        CLAUSE: {"params": {"threshold": 0}, "shapes": {"data": (3,)}},
        "_contrib_bipartite_matching/floating-point": {
            "params": {"threshold": 0}, "shapes": {"data": (3, 2)}, "dtypes": {"data": "int32"},
        },
    },
    tier=3, numbered_input=True, reports=Sources(),
))
