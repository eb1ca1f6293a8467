"""cumsum: running sums along an axis.

[cumsum/axis] out[i] is the sum of the elements up to and with i along axis, which may count from the end; axis=None
    reads the array as one row.
    >>> run("cumsum", [[3, 1, 2], [1, 1, 0]], axis=0), run("cumsum", [[3, 1], [1, 0]])
    ([[3.0, 1.0, 2.0], [4.0, 2.0, 2.0]], [3.0, 4.0, 5.0, 5.0])

[cumsum/dtype] the output has type dtype, or that of the input. Each element is cut to it first; whole numbers wrap
    around, and real ones are added in float64 and rounded once for each output.
    >>> run("cumsum", [0.7, 1.7, 2.7], dtype="int32"), run("cumsum", [1e8, 1, 1, -1e8])
    ([0.0, 1.0, 3.0], [100000000.0, 100000000.0, 100000000.0, 2.0])
    >>> run("cumsum", np.array([100, 100], np.int8))
    [100.0, -56.0]

[cumsum/shape] with an axis the output has the input's shape; with axis=None its shape is inferred from the input's,
    never the reverse.

[cumsum/gradient] the running sums of the head from the other end.
    >>> grad("cumsum", [[3, 1, 2], [1, 1, 0]], axis=1, head=[[1, 2, 3], [4, 5, 6]])
    [[6.0, 5.0, 3.0], [15.0, 11.0, 6.0]]
"""

from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, merge, normal_axis, register
from .foundation.loops import outer_side_inner
from .reduce import starting


class Params(NamedTuple):
    axis: int | None = None
    dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8"] | None = None


def infer(p, ins, outs):
    a = ins[0] if p.axis is None else merge("cumsum/shape", "output", outs[0], ins[0])
    if a is None:
        return ins, outs
    if p.axis is None:
        return ins, [merge("cumsum/shape", "output", outs[0], (prod(a),))]
    normal_axis("cumsum/axis", p.axis, len(a))
    return [a], [a]


def infer_type(p, ins, outs):
    if p.dtype is not None:
        return ins, [np.dtype(p.dtype)]
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind], [kind]


# --- loops --------------------------------------------------------------------------------------


# Arrays are (outer, side, inner), and sums run along side; ``first`` has the type of the total.


def run_up(a, out, first):
    outer, side, inner = a.shape
    for n, j in items((outer, inner)):
        total = first
        for i in range(side):
            out[n, i, j] = a[n, i, j]  # cut to the output's type, which is what is added
            total = total + out[n, i, j]
            out[n, i, j] = total


def run_down(head, d_a, first):
    outer, side, inner = head.shape
    for n, j in items((outer, inner)):
        total = first
        for i in range(side - 1, -1, -1):
            d_a[n, i, j] = head[n, i, j]
            total = total + d_a[n, i, j]
            d_a[n, i, j] = total


RUN_UP, RUN_DOWN = Loop(run_up), Loop(run_down)


# --- the operator -------------------------------------------------------------------------------


def by_axis(p, shape):
    return (1, prod(shape), 1) if p.axis is None else outer_side_inner(shape, p.axis % len(shape))


def forward(p, a, out):
    sides = by_axis(p, a.shape)
    RUN_UP(a.reshape(sides), out.reshape(sides), starting(0, out))


def backward(p, head, d_a):
    if d_a is not None:
        sides = by_axis(p, d_a.shape)
        RUN_DOWN(head.reshape(sides), d_a.reshape(sides), starting(0, d_a))


def cases(draw):
    shape = draw.shape(1, 4)
    axis = draw.choice([None, *range(len(shape))])
    return Case({"axis": axis, "dtype": draw.choice([None, "float64"])}, {"a": shape})


register(Op(
    name="_np_cumsum", doc=__doc__, params=Params, inputs=("a",), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, aliases=("cumsum",), cases=cases,
    refusals={
        "cumsum/axis": {"params": {"axis": 2}, "shapes": {"a": (2, 3)}},
        "cumsum/shape": {"params": {}, "shapes": {"a": (2, 3), "output": (2, 3)}},
    },
    alias_tiers={"cumsum": 2},
))
