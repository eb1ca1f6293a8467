"""argmax, argmin and argmax_channel: where along an axis the extreme lies.

[argmax/first] the index of the first extreme; NaN counts as one.
    >>> run("argmax", [[1, 3, 3], [5, 0, 2]], axis=1), run("argmin", [1, 0, 0], axis=0)
    ([1.0, 0.0], [1.0])
    >>> run("argmax", [1, float("nan"), 3], axis=0), run("argmin", [1, float("nan"), 0], axis=0)
    ([1.0], [1.0])

[argmax/type] the index has the input's type. There is no gradient: it is zero.
    >>> run("argmax", [4, 7], axis=0, dtype="int32"), grad("argmax", [3, 1], axis=0)
    ([1.0], None)

[argmax/axis] axis is one axis, negative from the end; None searches the array as one row. keepdims=True leaves
    the axis with one element. An axis out of range is refused.
    >>> run("argmax", [[1, 3], [4, 2]]), run("argmax", [[1, 3], [4, 2]], axis=-1, keepdims=True)
    ([2.0], [[1.0], [0.0]])

[argmax/shape] the output's shape is inferred from the input's, never the reverse.

[argmax_channel/axis] argmax_channel is argmax along axis 1 of an array of rank 2 or more; it has no gradient that
    could be asked for.
    >>> run("argmax_channel", [[1, 3, 3], [5, 0, 2]])
    [1.0, 0.0]
"""

from math import prod
from typing import NamedTuple

from .foundation import Case, Loop, Op, Sources, items, merge, normal_axis, register, require, require_some
from .foundation.loops import outer_side_inner


class Params(NamedTuple):
    axis: int | None = None
    keepdims: bool = False


def infer(p, ins, outs):
    (data,) = ins
    if data is None:
        return [None], list(outs)
    if p.axis is None:
        shape = (1,) * len(data) if p.keepdims else (1,)
    else:
        axis = normal_axis("argmax/axis", p.axis, len(data))
        shape = (*data[:axis], *((1,) if p.keepdims else ()), *data[axis + 1 :]) or (1,)
    require_some("what is searched", prod(data) if p.axis is None else data[axis], shape)
    return [data], [merge("argmax/shape", "output", outs[0], shape)]


def infer_channel(p, ins, outs):
    (data,) = ins
    require(
        "argmax_channel/axis", data is None or len(data) > 1,
        f"argmax_channel needs an axis 1, data has shape {list(data or ())}; use argmax for other axes",
    )
    return infer(Params(axis=1), ins, outs)


# --- loops ---------------------------------------------------------------------------------------
# data is (outer, side, inner), of which the elements along side are searched, and out (outer, inner).


def seek_largest(data, out):
    for n, j in items(out.shape):
        best = data[n, 0, j]
        where = 0
        for k in range(1, data.shape[1]):
            x = data[n, k, j]
            if best == best and (x > best or x != x):
                best = x
                where = k
        out[n, j] = where


def seek_smallest(data, out):
    for n, j in items(out.shape):
        best = data[n, 0, j]
        where = 0
        for k in range(1, data.shape[1]):
            x = data[n, k, j]
            if best == best and (x < best or x != x):
                best = x
                where = k
        out[n, j] = where


# --- the operators -------------------------------------------------------------------------------


def run(seek, data, out, by_axis):
    outer, _, inner = by_axis
    seek(data.reshape(by_axis), out.reshape((outer, inner)))


def nothing(make, p, heads, inputs, outputs):
    return [None]


def cases(draw):
    params = {"axis": draw.choice((None, 0, 1, -1)), "keepdims": draw.boolean()}
    return Case(params, {"data": draw.shape(2, 4)}, {"data": "any"})


def _register(name, seek):
    def forward(p, data, out):
        by_axis = (1, data.size, 1) if p.axis is None else outer_side_inner(data.shape, p.axis % len(data.shape))
        run(seek, data, out, by_axis)

    register(Op(
        name=name, doc=__doc__, params=Params, infer=infer, forward=forward, gradient=nothing,
        cases=cases,
        refusals={
            "argmax/axis": {"params": {"axis": 2}, "shapes": {"data": (2, 3)}},
            "argmax/shape": {"params": {"axis": 0}, "shapes": {"data": (2, 3), "output": (2,)}},
        },
        tier=1, method=name, numbered_input=True, reports=Sources(whole=True),
    ))


def forward_channel(p, data, out):
    run(SEEK_LARGEST, data, out, outer_side_inner(data.shape, 1))


SEEK_LARGEST, SEEK_SMALLEST = Loop(seek_largest), Loop(seek_smallest)
_register("argmax", SEEK_LARGEST)
_register("argmin", SEEK_SMALLEST)
register(Op(
    name="argmax_channel", doc=__doc__, infer=infer_channel, forward=forward_channel,
    no_gradient_clause="argmax_channel/axis",
    cases=lambda draw: Case({}, {"data": draw.shape(2, 4)}, {"data": "any"}),
    refusals={"argmax_channel/axis": {"shapes": {"data": (3,)}}},
    tier=1, method="argmax_channel", numbered_input=True, reports=Sources(whole=True),
))
