"""tile and repeat: an array laid beside itself, or each element beside itself.

[tile/reps] axis i holds data reps[i] times over; the shorter of reps and shape is filled up with 1 in front.
    >>> run("tile", [[1, 2], [3, 4]], reps=(1, 2))
    [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]
    >>> run("tile", [1, 2], reps=(2, 1)), run("tile", [[1], [2]], reps=2)
    ([[1.0, 2.0], [1.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]])

[tile/positive] each number of reps is 0 or more; with a 0 the result has no elements.
    >>> run("tile", [[1, 2]], reps=(0, 2))
    []

[tile/shape] the output's shape is inferred from the input's, never the reverse.

[repeat/axis] each index of axis, which may count from the end, comes repeats times in a row; without an axis
    the array is read as one row.
    >>> run("repeat", [[1, 2], [3, 4]], repeats=2)
    [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]
    >>> run("repeat", [[1, 2], [3, 4]], repeats=2, axis=-1)
    [[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0]]

[repeat/positive] repeats is 0 or more; 0 leaves no elements.
    >>> run("repeat", [[1, 2]], repeats=0, axis=1)
    [[]]

[repeat/shape] the output's shape is inferred from the input's, never the reverse.

[tile/gradient] an element takes the sum of the heads of its copies, added in float64, in the order of reduce/sum-order.
    >>> grad("tile", [[1, 2], [3, 4]], reps=(2, 1), head=[[1, 2], [3, 4], [5, 6], [7, 8]])
    [[6.0, 8.0], [10.0, 12.0]]
    >>> grad("repeat", [1, 2], repeats=2, head=[1, 2, 3, 4])
    [3.0, 7.0]
"""

from math import prod
from typing import NamedTuple

from .foundation import Case, Op, Shape, Sources, merge, normal_axis, register, require, strides_of
from .foundation.loops import GATHER, outer_side_inner, walk
from .reduce import sum_into


class Params(NamedTuple):
    reps: Shape


class RepeatParams(NamedTuple):
    repeats: int
    axis: int | None = None


# --- shapes: the output is read as (copies, side) for every axis ----------------------------------


def aligned(p, shape):
    """Reps and shape, equally long."""
    rank = max(len(p.reps), len(shape))
    return (1,) * (rank - len(p.reps)) + p.reps, (1,) * (rank - len(shape)) + tuple(shape)


def infer(p, ins, outs):
    require("tile/positive", all(r >= 0 for r in p.reps), f"reps {list(p.reps)} must be 0 or more")
    if ins[0] is None:
        return ins, outs
    wanted = tuple(r * side for r, side in zip(*aligned(p, ins[0]), strict=True))
    return ins, [merge("tile/shape", "output", outs[0], wanted)]


def infer_repeat(p, ins, outs):
    data = ins[0]
    require("repeat/positive", p.repeats >= 0, f"repeats={p.repeats} must be 0 or more")
    if data is None:
        return ins, outs
    if p.axis is None:
        wanted = (prod(data) * p.repeats,)
    else:
        axis = normal_axis("repeat/axis", p.axis, len(data))
        wanted = (*data[:axis], data[axis] * p.repeats, *data[axis + 1 :])
    return ins, [merge("repeat/shape", "output", outs[0], wanted)]


def tile_view(p, shape):
    """The output's shape with copies and sides apart, and which of these axes are copies."""
    pairs = list(zip(*aligned(p, shape), strict=True))
    return tuple(n for pair in pairs for n in pair), tuple(range(0, 2 * len(pairs), 2))


def repeat_view(p, shape):
    if p.axis is None:
        return (prod(shape), p.repeats), (1,)
    outer, side, inner = outer_side_inner(shape, p.axis % len(shape))
    return (outer, side, p.repeats, inner), (2,)


# --- the operators ------------------------------------------------------------------------------


def run_with(view):
    def forward(p, data, out):
        shape, copies = view(p, data.shape)
        kept = tuple(1 if a in copies else side for a, side in enumerate(shape))
        steps = tuple(0 if a in copies else s for a, s in enumerate(strides_of(kept)))
        GATHER(data, out, *walk(shape, steps, 0, data.device))

    def backward(p, head, d_data):
        if d_data is not None:
            shape, copies = view(p, d_data.shape)
            kept = tuple(1 if a in copies else side for a, side in enumerate(shape))
            sum_into(head.reshape(shape), d_data.reshape(kept))

    return {"forward": forward, "backward": backward}


def cases(draw):
    return Case({"reps": tuple(draw.integer(0, 3) for _ in range(draw.integer(1, 2)))}, {"data": draw.shape(1, 4, 3)})


def cases_repeat(draw):
    shape = draw.shape(1, 4)
    axis = draw.choice([None, 0, -1, len(shape) - 1])
    return Case({"repeats": draw.integer(0, 3), "axis": axis}, {"data": shape})


register(Op(
    name="tile", doc=__doc__, params=Params, infer=infer, **run_with(tile_view), cases=cases,
    refusals={
        "tile/positive": {"params": {"reps": (-1, 2)}, "shapes": {"data": (3,)}},
        "tile/shape": {"params": {"reps": (2,)}, "shapes": {"data": (3,), "output": (3,)}},
    },
    tier=1, method="tile", reports=Sources(whole=True),
))
register(Op(
    name="repeat", doc=__doc__, params=RepeatParams, infer=infer_repeat, **run_with(repeat_view),
    cases=cases_repeat,
    refusals={
        "repeat/positive": {"params": {"repeats": -1}, "shapes": {"data": (3,)}},
        "repeat/axis": {"params": {"repeats": 2, "axis": 1}, "shapes": {"data": (3,)}},
        "repeat/shape": {"params": {"repeats": 2}, "shapes": {"data": (3,), "output": (3,)}},
    },
    tier=1, method="repeat",
))
