"""slice, slice_axis, slice_like, _slice_assign, _slice_assign_scalar: parts of arrays, by index ranges.

[slice/range] for each leading axis, begin, end and step say which indices are kept, as a Python slice does:
    None is the default, negatives count from the end, what lies outside is cut off. Axes that are not
    named are kept whole; a single number names the first axis.
    >>> run("slice", [[1, 2, 3], [4, 5, 6]], begin=(0, 1), end=(2, 3))
    [[2.0, 3.0], [5.0, 6.0]]
    >>> run("slice", [[1, 2, 3], [4, 5, 6]], begin=(None, 2), end=(None, 0), step=(1, -1))
    [[3.0, 2.0], [6.0, 5.0]]

[slice/lengths] begin and end are equally long, not longer than the rank of data; step is as long or absent.

[slice/step] a step is not 0.

[slice/empty] an axis of which nothing is kept has no elements in the result.
    >>> run("slice", [[1, 2], [3, 4]], begin=(1, 0), end=(1, 1)), run("slice", [1, 2], begin=(2,), end=(1,))
    ([], [])

[slice/gradient] the head is put back where it was read; all other places are zero.
    >>> grad("slice", [1, 2, 3, 4, 5], begin=(4,), end=(None,), step=(-2,), head=[7, 8, 9])
    [9.0, 0.0, 8.0, 0.0, 7.0]

[slice_axis/range] indices begin .. end - 1 of one axis are kept; negatives count from the end, and end=None
    is the end. The range must lie inside the axis and not be empty.
    >>> run("slice_axis", [[1, 2, 3], [4, 5, 6]], axis=-1, begin=-2, end=None)
    [[2.0, 3.0], [5.0, 6.0]]

[slice_axis/axis] axis is an axis of data; it may count from the end.

[slice_like/axes] the first indices of each named axis are kept, as many as shape_like has there; without
    axes every axis is cut, and the ranks are equal.
    >>> run("slice_like", [[1, 2, 3], [4, 5, 6]], [[0, 0]])
    [[1.0, 2.0]]
    >>> run("slice_like", [[1, 2, 3], [4, 5, 6]], [[0, 0]], axes=(1,))
    [[1.0, 2.0], [4.0, 5.0]]

[slice_like/size] shape_like is nowhere larger than data on a named axis.

[_slice_assign/values] a copy of lhs in which the slice holds rhs, which has exactly its shape.
    >>> run("_slice_assign", [1, 2, 3], [8, 9], begin=(1,), end=(3,))
    [1.0, 8.0, 9.0]
    >>> grad("_slice_assign", [1, 2, 3], [8, 9], begin=(1,), end=(3,), head=[4, 5, 6])
    ([4.0, 0.0, 0.0], [5.0, 6.0])

[_slice_assign_scalar/value] a copy of data in which the slice holds a number.
    >>> run("_slice_assign_scalar", [1, 2, 3], scalar=7, begin=(1,), end=(3,))
    [1.0, 7.0, 7.0]
"""

import ast
from functools import cache
from typing import NamedTuple

from .foundation import (
    REQUIRED,
    UNKNOWN,
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    decides,
    items,
    merge,
    normal_axis,
    register,
    require,
    same_type,
    strides_of,
    told,
)
from .foundation.loops import COPY, GATHER, SCATTER, walk, zero
from .foundation.walks import offset_of
from .multilinear import register_multilinear


class Params(NamedTuple):
    begin: str  # these three may hold None: the text of a tuple, read by `entries`
    end: str
    step: str = "()"


class AxisParams(NamedTuple):
    axis: int
    begin: int
    end: int | None


class LikeParams(NamedTuple):
    axes: Shape = ()


class ScalarParams(NamedTuple):
    scalar: float = 0.0
    begin: str = REQUIRED
    end: str = REQUIRED
    step: str = "()"


# --- ranges -------------------------------------------------------------------------------------


@cache
def entries(text):
    """Read "(0, None)" as a tuple of ints and None."""
    try:
        value = ast.literal_eval(text.strip().replace("L", ""))
    except (ValueError, SyntaxError):
        value = text
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    require(
        "slice/range", all(v is None or isinstance(v, int) for v in values),
        f"begin, end and step hold whole numbers and None, given {text}",
    )
    return values


def ranges(p, shape):
    """A Python range per axis of ``shape``, or None for an axis of unknown length."""
    begin, end, step = entries(p.begin), entries(p.end), entries(p.step)
    require(
        "slice/lengths", len(begin) == len(end) <= len(shape) and len(step) in (0, len(begin)),
        f"begin {p.begin}, end {p.end} and step {p.step} must be equally long (step may be absent)"
        f" and name at most the {len(shape)} axes of data",
    )
    require("slice/step", 0 not in step, f"step {p.step} holds a 0")
    given = list(zip(begin, end, step or (None,) * len(begin), strict=True))
    given += [(None, None, None)] * (len(shape) - len(given))
    return kept(shape, given)


@decides("slice/empty")
def kept(shape, given):
    found = []
    for side, (begin, end, step) in zip(shape, given, strict=True):
        found.append(range(*slice(begin, end, step).indices(side)) if told(side) else None)
    return found


def range_of_axis(p, shape):
    axis = normal_axis("slice_axis/axis", p.axis, len(shape))
    side = shape[axis]
    given = [(None, None, None)] * len(shape)
    if told(side):
        begin, end = p.begin + side * (p.begin < 0), side if p.end is None else p.end + side * (p.end < 0)
        require(
            "slice_axis/range", 0 <= begin < end <= side,
            f"begin={p.begin}, end={p.end} is no range inside axis {axis} of {side}",
        )
        given[axis] = (begin, end, None)
    return kept(shape, given)


def ranges_like(p, shape, like):
    require(
        "slice_like/axes", p.axes or len(shape) == len(like),
        f"data {list(shape)} and shape_like {list(like)} differ in rank; name the axes to cut",
    )
    found = [range(side) if told(side) else None for side in shape]
    for axis in p.axes or range(len(shape)):
        own, other = (normal_axis("slice_like/axes", axis, len(s)) for s in (shape, like))
        require(
            "slice_like/size", not told(shape[own], like[other]) or like[other] <= shape[own],
            f"axis {axis} of shape_like {list(like)} is larger than that of data {list(shape)}",
        )
        found[own] = range(like[other]) if told(like[other]) else None
    return found


def lengths(found):
    return tuple(UNKNOWN if kept is None else len(kept) for kept in found)


def places(shape, found, device):
    """The arguments of GATHER and SCATTER for a slice of an array of ``shape``."""
    strides = strides_of(shape)
    start = sum(kept.start * stride for kept, stride in zip(found, strides, strict=True))
    steps = tuple(kept.step * stride for kept, stride in zip(found, strides, strict=True))
    return walk(lengths(found), steps, start, device)


# --- shapes -------------------------------------------------------------------------------------


def infer_with(ranges_of, clause):
    def infer(p, ins, outs):
        data, out = ins[0], outs[0]
        if data is None:
            return [data], [out]
        return [data], [merge(clause, "output", out, lengths(ranges_of(p, data)))]

    return infer


def infer_like(p, ins, outs):
    data, like, out = *ins, outs[0]
    if data is None or like is None:
        return ins, outs
    wanted = list(lengths(ranges_like(p, data, like)))
    for axis in p.axes or range(len(data)):
        wanted[axis] = like[axis]
    return ins, [merge("slice_like/axes", "output", out, tuple(wanted))]


def type_of_data(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind, ins[1]], [kind]


def infer_assign(p, ins, outs):
    lhs = merge("_slice_assign/values", "lhs", ins[0], outs[0])
    rhs = ins[1:]
    if lhs is not None:
        wanted = lengths(ranges(p, lhs))
        rhs = [merge("_slice_assign/values", "rhs", shape, wanted) for shape in rhs]
    return [lhs, *rhs], [lhs]


# --- the operators ------------------------------------------------------------------------------


def put(target, value, sides, steps, outer, start, rows, length, step):
    """Write one number at the places that scatter would write."""
    for r in items(rows):
        write = start + offset_of(r, sides, steps, outer)
        for i in range(length):
            target[write + i * step] = value


PUT = Loop(put)


def run_with(ranges_of):
    def forward(p, data, out):
        GATHER(data, out, *places(data.shape, ranges_of(p, data.shape), data.device))

    def backward(p, head, d_data):
        if d_data is not None:
            zero(d_data)
            SCATTER(head, d_data, *places(d_data.shape, ranges_of(p, d_data.shape), head.device))

    return {"forward": forward, "backward": backward}


def forward_like(p, data, like, out):
    GATHER(data, out, *places(data.shape, ranges_like(p, data.shape, like.shape), data.device))


def backward_like(p, head, d_data, d_like):
    zero(d_like)
    if d_data is not None:
        zero(d_data)
        first = [range(side) for side in head.shape]
        SCATTER(head, d_data, *places(d_data.shape, first, head.device))


def forward_assign(p, lhs, rhs, out):
    COPY(lhs, out, lhs.size)
    SCATTER(rhs, out, *places(out.shape, ranges(p, out.shape), out.device))


def backward_assign(p, head, d_lhs, d_rhs):
    there = places(head.shape, ranges(p, head.shape), head.device)
    if d_lhs is not None:
        COPY(head, d_lhs, head.size)
        PUT(d_lhs, 0.0, *there)
    if d_rhs is not None:
        GATHER(head, d_rhs, *there)


def forward_assign_scalar(p, data, out):
    COPY(data, out, data.size)
    PUT(out, p.scalar, *places(out.shape, ranges(p, out.shape), out.device))


def backward_assign_scalar(p, head, d_data):
    if d_data is not None:
        COPY(head, d_data, head.size)
        PUT(d_data, 0.0, *places(head.shape, ranges(p, head.shape), head.device))


def gradient_assign(make, p, heads, inputs, outputs):
    return [*gradient_assign_scalar(make, p, heads, inputs, outputs), *make("slice", heads, **p._asdict())]


def gradient_assign_scalar(make, p, heads, inputs, outputs):
    return make("_slice_assign_scalar", heads, scalar=0, begin=p.begin, end=p.end, step=p.step)


def draw_range(draw, side):
    begin = draw.integer(0, side - 1)
    forwards = (begin, draw.integer(begin + 1, side), draw.choice([None, 1, 2]))
    backwards = (begin, draw.choice([None, -side - 1]), draw.choice([-1, -2]))
    return draw.choice([forwards, backwards, (begin - side, None, None), (None, None, None)])


def draw_ranges(draw, shape):
    begin, end, step = zip(*(draw_range(draw, side) for side in shape), strict=True)
    return {"begin": begin, "end": end, "step": step}


def cases(draw):
    shape = draw.shape(1, 4)
    return Case(draw_ranges(draw, shape), {"data": shape})


def cases_axis(draw):
    shape = draw.shape(1, 4)
    axis = draw.integer(0, len(shape) - 1)
    begin = draw.integer(0, shape[axis] - 1)
    end = draw.choice([None, draw.integer(begin + 1, shape[axis])])
    return Case({"axis": axis, "begin": begin, "end": end}, {"data": shape})


def cases_like(draw):
    like = draw.shape(1, 4)
    shape = tuple(side + draw.integer(0, 2) for side in like)
    axes = draw.choice([(), (0,), (-1,)])
    return Case({"axes": axes}, {"data": shape, "shape_like": like})


def cases_assign(draw):
    shape = draw.shape(1, 4)
    return Case(draw_ranges(draw, shape), {"lhs": shape})


register_multilinear(Op(
    name="slice", doc=__doc__, params=Params, infer=infer_with(ranges, "slice/range"),
    **run_with(ranges), aliases=("crop", "_sparse_slice"), cases=cases,
    refusals={
        "slice/range": {"params": {"begin": (0.5,), "end": (1,)}, "shapes": {"data": (3,)}},
        "slice/lengths": {"params": {"begin": (0, 0), "end": (1,)}, "shapes": {"data": (3, 3)}},
        "slice/step": {
            "params": {"begin": (0,), "end": (1,), "step": (0,)}, "shapes": {"data": (3,)},
        },
    },
    tier=1, method="slice", numbered_input=True,
), ("data",))
register_multilinear(Op(
    name="slice_axis", doc=__doc__, params=AxisParams,
    infer=infer_with(range_of_axis, "slice_axis/range"), **run_with(range_of_axis), cases=cases_axis,
    refusals={
        "slice_axis/range": {
            "params": {"axis": 0, "begin": 0, "end": 4}, "shapes": {"data": (3,)},
        },
        "slice_axis/axis": {"params": {"axis": 1, "begin": 0, "end": 1}, "shapes": {"data": (3,)}},
    },
    tier=1, method="slice_axis", numbered_input=True,
), ("data",))
register_multilinear(Op(
    name="slice_like", doc=__doc__, params=LikeParams, inputs=("data", "shape_like"),
    infer=infer_like, infer_type=type_of_data, forward=forward_like, backward=backward_like,
    no_gradient=("shape_like",), shape_only=("shape_like",), cases=cases_like,
    refusals={
        "slice_like/axes": {"params": {}, "shapes": {"data": (3, 3), "shape_like": (2,)}},
        "slice_like/size": {"params": {}, "shapes": {"data": (3,), "shape_like": (4,)}},
    },
    tier=1, method="slice_like",
), ("data",))
register(Op(
    name="_slice_assign", doc=__doc__, params=Params, inputs=("lhs", "rhs"), infer=infer_assign,
    infer_type=same_type, forward=forward_assign, backward=backward_assign, inplace=((0, 0),),
    gradient=gradient_assign,
    aliases=("_crop_assign",), cases=cases_assign,
    refusals={
        "_slice_assign/values": {
            "params": {"begin": (0,), "end": (2,)}, "shapes": {"lhs": (3,), "rhs": (3,)},
        },
    },
    tier=1, reports=Sources(1),
))
register(Op(
    name="_slice_assign_scalar", doc=__doc__, params=ScalarParams, infer=infer_assign,
    forward=forward_assign_scalar, backward=backward_assign_scalar, inplace=((0, 0),),
    gradient=gradient_assign_scalar,
    aliases=("_crop_assign_scalar",), cases=cases,
    tier=1, numbered_input=True, reports=Sources(whole=True),
))
