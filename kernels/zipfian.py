"""Different whole numbers below a bound, the small ones most often: candidates for sampled softmax.

[zipfian/draw] a candidate is round(exp(u * ln(range_max))) - 1 modulo range_max, with a unit number u of
    double precision; each row draws from an engine of its own (random_streams.py). So number v comes with
    a probability near ln((v + 2) / (v + 1)) / ln(range_max + 1).
    >>> run("_sample_unique_zipfian", range_max=1000, shape=(1, 6))
    ([[59.0, 340.0, 374.0, 347.0, 73.0, 13.0]], [6.0])

[zipfian/unique] a candidate that its row has already is drawn again; the second output counts the candidates
    of each row.

[zipfian/shape] shape has two axes, rows and numbers in each; a row holds no more than range_max numbers.

[zipfian/type] both outputs are int64.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Shape, items, merge, register, require, scalar, told
from .shared.random_numbers import next_double
from .shared.random_streams import ENGINES, ROW, new_streams


class Params(NamedTuple):
    range_max: int
    shape: Shape | None = None


def infer(p, ins, outs):
    shape = merge("zipfian/shape", "output0", outs[0], p.shape or None)
    if shape is None:
        return [], [None, outs[1]]
    require(
        "zipfian/shape", len(shape) == 2 and (not told(shape[1]) or shape[1] <= p.range_max),
        f"shape must be (rows, numbers) with at most range_max={p.range_max} numbers, got {shape}",
    )
    return [], [shape, merge("zipfian/shape", "output1", outs[1], shape[:1])]


def infer_type(p, ins, outs):
    return [], [np.dtype("int64")] * 2


# --- loops ----------------------------------------------------------------------------------------


@scalar
def candidate(state, row, below):
    scaled = math.exp(next_double(state, row) * math.log(np.float64(below)))
    return (np.int64(math.floor(scaled + 0.5)) - 1) % below


@scalar
def position(out, start, end, number):
    """Where in ``start`` .. ``end`` - 1 the number stands, or ``end``."""
    for i in range(start, end):
        if out[i] == number:
            return i
    return end


def different_numbers(out, tries, state, rows, engines, share, width, below):
    for j in items(engines):
        for row in range(j * share, min(j * share + share, rows)):
            start = row * width
            end = start
            count = 0
            while end < start + width:
                number = candidate(state, j * ROW, below)
                count += 1
                if position(out, start, end, number) == end:
                    out[end] = number
                    end += 1
            tries[row] = count


DIFFERENT_NUMBERS = Loop(different_numbers)


# --- the operator ---------------------------------------------------------------------------------


def forward(p, out, tries, *, rng):
    state = new_streams(out.device) if rng is None else rng
    rows, width = out.shape
    engines = min(rows, ENGINES)
    share = -(-rows // engines)
    DIFFERENT_NUMBERS(out, tries, state, rows, engines, share, width, p.range_max)


def cases(draw):
    return Case({"range_max": draw.integer(4, 50), "shape": draw.shape(2, 2)}, {})


register(Op(
    name="_sample_unique_zipfian", doc=__doc__, params=Params, inputs=(), states="shape",
    outputs=("output0", "output1"), infer=infer, infer_type=infer_type, forward=forward, random=True,
    cases=cases, refusals={"zipfian/shape": {"params": {"range_max": 3, "shape": (1, 4)}}},
    tier=2,
))
