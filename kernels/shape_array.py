"""Numbers that come from shapes: shape_array, size_array, _contrib_arange_like, _contrib_index_array, _linspace.

[shape_array/result] shape_array gives the sides of data, size_array how many elements it has, both as int64.
    >>> run("shape_array", [[1, 2, 3], [4, 5, 6]]), run("size_array", [[1, 2, 3], [4, 5, 6]])
    ([2.0, 3.0], [6.0])

[shape_array/gradient] the gradient of all operators on this page is zero (``grad`` says None).
    >>> grad("shape_array", [1, 2]), grad("_contrib_arange_like", [1, 2])
    (None, None)

[_contrib_arange_like/values] start, start + step, ..., each repeated, for every element of data in C order, or with
    an axis one for each of its indices; in data's type, to which start and step are cut first.
    >>> run("_contrib_arange_like", [[5, 5, 5], [5, 5, 5]])
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    >>> run("_contrib_arange_like", [[5, 5, 5]], axis=-1, start=2, step=0.5, repeat=2)
    [2.0, 2.0, 2.5]

[_contrib_arange_like/axis] axis is an axis of data; it may count from the end.

[_contrib_index_array/indices] for every element its indices along axes (all axes unless named), as int64, in a new
    last axis.
    >>> run("_contrib_index_array", [[5, 5], [5, 5]])
    [[[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]]
    >>> run("_contrib_index_array", [[5, 5]], axes=(-1,))
    [[[0.0], [1.0]]]

[_contrib_index_array/axes] at least one axis is asked for, and each is an axis of data.

[_linspace/values] num numbers evenly apart, the first start, the last stop, or with endpoint=False one step before
    it; computed in float64 and cut to the type.
    >>> run("_linspace", start=0, stop=1, num=5), run("_linspace", start=0, stop=1, num=5, endpoint=False)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8])
    >>> run("_linspace", start=0, stop=10, num=4, dtype="int32"), run("_linspace", start=2, stop=3, num=1)
    ([0.0, 3.0, 6.0, 10.0], [2.0])

[_linspace/num] num is 0 or more.
"""

from math import prod
from typing import Annotated, NamedTuple

import numpy as np

from .creation import COUNT_UP, Numbers
from .foundation import (
    AtLeast,
    Case,
    Loop,
    Op,
    Shape,
    items,
    merge,
    normal_axis,
    register,
    require,
    strides_of,
    whole_part,
)
from .foundation.loops import COPY, FILL
from .foundation.walks import integers


class LikeParams(NamedTuple):
    start: float = 0.0
    step: float = 1.0
    repeat: Annotated[int, AtLeast(1)] = 1
    ctx: str = ""
    axis: int | None = None


class IndexParams(NamedTuple):
    axes: Shape | None = None


class LinspaceParams(NamedTuple):
    start: float
    stop: float
    num: int
    endpoint: bool = True
    ctx: str = ""
    dtype: Numbers = "float32"


# --- shapes and types ---------------------------------------------------------------------------


def axes_asked(p, shape):
    axes = range(len(shape)) if p.axes is None else p.axes
    require("_contrib_index_array/axes", len(axes), "axes is empty: name one axis or more")
    return tuple(normal_axis("_contrib_index_array/axes", axis, len(shape)) for axis in axes)


def shape_of_shape(p, data):
    return (len(data),)


def shape_of_size(p, data):
    return (1,)


def shape_of_range(p, data):
    return data if p.axis is None else (data[normal_axis("_contrib_arange_like/axis", p.axis, len(data))],)


def shape_of_indices(p, data):
    return (*data, len(axes_asked(p, data)))


def infer_with(clause, shape_of):
    def infer(p, ins, outs):
        if ins[0] is None:
            return ins, outs
        return ins, [merge(clause, "output", outs[0], shape_of(p, ins[0]))]

    return infer


def infer_linspace(p, ins, outs):
    require("_linspace/num", p.num >= 0, f"num={p.num} must be 0 or more")
    return [], [merge("_linspace/values", "output", outs[0], (p.num,))]


def type_whole(p, ins, outs):
    return ins, [np.dtype(np.int64)]


def type_data(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind], [kind]


def type_named(p, ins, outs):
    return [], [np.dtype(p.dtype)]


# --- loops --------------------------------------------------------------------------------------


def indices(out, sides, steps, asked, n):
    for i in items(n):
        for a in range(asked):
            out[i * asked + a] = i // steps[a] % sides[a]


def evenly(out, start, step, n):
    for i in items(n):
        out[i] = start + i * step


INDICES, EVENLY = Loop(indices), Loop(evenly)


# --- the operators ------------------------------------------------------------------------------


def forward_shape(p, data, out):
    COPY(integers(data.shape, out.device), out, out.size)


def forward_size(p, data, out):
    FILL(out, prod(data.shape), 1)


def forward_range(p, data, out):
    whole = out.dtype.kind != "f"
    start, step = (whole_part("start", p.start), whole_part("step", p.step)) if whole else (p.start, p.step)
    COUNT_UP(out, start, step, p.repeat, out.size)


def forward_indices(p, data, out):
    axes, strides = axes_asked(p, data.shape), strides_of(data.shape)
    sides, steps = (integers(tuple(of[a] for a in axes), out.device) for of in (data.shape, strides))
    INDICES(out, sides, steps, len(axes), data.size)


def forward_linspace(p, out):
    gaps = p.num - 1 if p.endpoint else p.num
    step = (p.stop - p.start) / gaps if gaps else 0.0
    EVENLY(out, np.float64(p.start), np.float64(step), p.num)


def nothing(make, p, heads, inputs, outputs):
    return [None]


def cases(draw):
    return Case({}, {"data": draw.shape(1, 4)})


def cases_like(draw):
    params = {
        "start": draw.choice([0, 2.5]), "step": draw.choice([1, -0.5, 3]), "repeat": draw.integer(1, 3),
        "axis": draw.choice([None, 0, -1]),
    }
    return Case(params, {"data": draw.shape(1, 4)})


def cases_index(draw):
    return Case({"axes": draw.choice([None, (0,), (-1, 0)])}, {"data": draw.shape(1, 4)})


def cases_linspace(draw):
    params = {
        "start": draw.integer(-3, 3), "stop": draw.choice([-1.5, 0, 7]), "num": draw.integer(1, 6),
        "endpoint": draw.boolean(), "dtype": draw.choice(["float32", "float64"]),
    }
    return Case(params, {})


TABLE = (
    # name, parameters, forward, shape of the output, clause, types, cases, a refused call, fields of Op
    (
        "shape_array", None, forward_shape, shape_of_shape, "shape_array/result", type_whole, cases,
        {"shape_array/result": {"shapes": {"data": (2, 3), "output": (3,)}}},
        {"tier": 1, "method": "shape_array", "numbered_input": True},
    ),
    (
        "size_array", None, forward_size, shape_of_size, "shape_array/result", type_whole, cases,
        {"shape_array/result": {"shapes": {"data": (2, 3), "output": (2,)}}},
        {"tier": 1, "method": "size_array", "numbered_input": True},
    ),
    (
        "_contrib_arange_like", LikeParams, forward_range, shape_of_range,
        "_contrib_arange_like/values", type_data, cases_like,
        {"_contrib_arange_like/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}}},
        {"tier": 2, "numbered_input": True},
    ),
    (
        "_contrib_index_array", IndexParams, forward_indices, shape_of_indices,
        "_contrib_index_array/indices", type_whole, cases_index,
        {"_contrib_index_array/axes": {"params": {"axes": (2,)}, "shapes": {"data": (2, 3)}}},
        {"tier": 2},
    ),
)

for name, params, forward, shape_of, clause, types, drawn, refusals, facts in TABLE:
    register(Op(
        name=name, doc=__doc__, **({} if params is None else {"params": params}),
        infer=infer_with(clause, shape_of), infer_type=types, forward=forward, gradient=nothing,
        cases=drawn, refusals=refusals, **facts,
    ))

register(Op(
    name="_linspace", doc=__doc__, params=LinspaceParams, inputs=(), infer=infer_linspace,
    infer_type=type_named, forward=forward_linspace, cases=cases_linspace,
    refusals={"_linspace/num": {"params": {"start": 0, "stop": 1, "num": -1}}},
    tier=1,
))
