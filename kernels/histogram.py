"""_histogram: how many elements lie between neighbouring edges.

[_histogram/counts] the first output counts, as int64, the elements x with edge <= x < next edge for each pair of
    neighbouring edges; the last pair takes its upper edge too. NaN and what lies outside are not counted.
    >>> run("_histogram", [0, 0.5, 1, 2, 2.5, 3, -1, 4, float("nan")], [0, 1, 2, 3])
    ([2.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.0])

[_histogram/edges] the second output holds the edges: those of bins, which ascend, or, with bin_cnt and range, bin_cnt
    parts of equal width between the two numbers of range, cut to the type of data. Equal numbers are moved
    apart by a half each.
    >>> run("_histogram", [1, 2, 3, 4], bin_cnt=3, range=(0, 4), dtype="int32")
    ([0.0, 1.0, 3.0], [0.0, 1.0, 2.0, 4.0])
    >>> run("_histogram", [1, 1], bin_cnt=2, range=(1, 1))
    ([0.0, 2.0], [0.5, 1.0, 1.5])

[_histogram/parameters] bin_cnt, 1 or more, and range, two numbers of which the first is not the larger, go together;
    without them bins is an input.

[_histogram/shape] bins has rank 1 and two elements or more.

[_histogram/gradient] a gradient cannot be asked for.
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Floats, Loop, Op, items, merge, register, require, same_type
from .foundation.loops import COPY


class Params(NamedTuple):
    bin_cnt: int | None = None
    range: Floats | None = None


def inputs(p):
    return ("data", "bins") if p.bin_cnt is None else ("data",)


def infer(p, ins, outs):
    counts, edges = outs
    if p.bin_cnt is None:
        require("_histogram/parameters", p.range is None, f"range={p.range} needs bin_cnt")
        edges = merge("_histogram/shape", "bins", ins[1], merge("_histogram/shape", "edges", edges, (UNKNOWN,)))
        require("_histogram/shape", edges[0] not in (0, 1), f"bins {list(edges)} must hold two edges or more")
        if counts is not None:
            edges = merge("_histogram/shape", "bins", edges, (counts[0] + 1,))
        counts = merge("_histogram/shape", "counts", counts, (edges[0] - 1,))
        return [ins[0], edges], [counts, edges]
    require(
        "_histogram/parameters",
        p.bin_cnt > 0 and p.range is not None and len(p.range) == 2 and p.range[0] <= p.range[1],
        f"bin_cnt={p.bin_cnt} must be 1 or more, range={p.range} two numbers, the smaller one first",
    )
    wanted = (p.bin_cnt,), (p.bin_cnt + 1,)
    return ins, [merge("_histogram/shape", "output", o, w) for o, w in zip(outs, wanted, strict=True)]


def infer_type(p, ins, outs):
    ins, (edges,) = same_type(p, ins, outs[1:])
    return ins, [np.dtype(np.int64), edges]


# --- loops --------------------------------------------------------------------------------------


def cut_evenly(edges, low, high, parts):
    for i in items(parts + 1):
        edges[i] = high if i == parts else low + i * ((high - low) / parts)


def count(data, edges, counts, n, parts):
    """One item goes through all data, and halves the edges for each element."""
    for _ in items(1):
        for b in range(parts):
            counts[b] = 0
        for i in range(n):
            x = data[i]
            if x >= edges[0] and x <= edges[parts]:
                low, high = 0, parts - 1
                while low < high:
                    middle = (low + high + 1) // 2
                    if x >= edges[middle]:
                        low = middle
                    else:
                        high = middle - 1
                counts[low] += 1


def count_cuda(data, edges, counts, n, parts):
    """One item per pair of edges."""
    for b in items(parts):
        found = 0
        for i in range(n):
            x = data[i]
            below = x < edges[b + 1] or (b == parts - 1 and x == edges[parts])
            if x >= edges[b] and below:
                found += 1
        counts[b] = found


CUT_EVENLY, COUNT = Loop(cut_evenly), Loop(count, cuda_function=count_cuda)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, bins, counts, edges):
    if bins is not None:
        COPY(bins, edges, edges.size)
    else:
        low, high = p.range
        apart = 0.5 if low == high else 0.0
        CUT_EVENLY(edges, np.float64(low - apart), np.float64(high + apart), p.bin_cnt)
    COUNT(data, edges, counts, data.size, counts.size)


def cases(draw):
    shape = draw.shape(1, 3)
    if draw.boolean():  # two edges ascend or hold nothing, whatever they are
        return Case({}, {"data": shape, "bins": (2,)})
    low = draw.integer(-3, 1)
    return Case({"bin_cnt": draw.integer(1, 5), "range": (low, low + draw.choice([0, 1, 4]))}, {"data": shape})


register(Op(
    name="_histogram", doc=__doc__, params=Params, inputs=inputs, all_inputs=("data", "bins"),
    outputs=("output0", "output1"), infer=infer, infer_type=infer_type, forward=forward, cases=cases,
    no_gradient_clause="_histogram/gradient",
    refusals={
        "_histogram/parameters": {"params": {"bin_cnt": 3}, "shapes": {"data": (4,)}},
        "_histogram/shape": {"shapes": {"data": (4,), "bins": (1,)}},
    },
    tier=2,
))
