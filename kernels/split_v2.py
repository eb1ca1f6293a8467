"""_split_v2: an array cut along one axis, at named indices or into parts of nearly equal size.

[_split_v2/indices] part i holds the indices from indices[i] up to indices[i + 1], the last part all that follow.
    indices begins with 0.
    >>> run("_split_v2", [[0, 1], [2, 3], [4, 5]], indices=(0, 1), axis=0)
    ([[0.0, 1.0]], [[2.0, 3.0], [4.0, 5.0]])

[_split_v2/sections] with sections above 0 there are as many parts, of which the first ones are longer by one where
    the side cannot be divided; indices is then ignored.
    >>> run("_split_v2", [[1, 2, 3]], indices=(), sections=2)
    ([[1.0, 2.0]], [[3.0]])

[_split_v2/axis] axis is an axis of data, 1 unless named; it may count from the end.

[_split_v2/parts] indices ascend and lie inside the axis; between equal ones lies a part without elements.
    >>> run("_split_v2", [1, 2, 3], indices=(0, 0, 2), axis=0)
    ([], [1.0, 2.0], [3.0])

[_split_v2/squeeze-axis] with squeeze_axis each part has one index, and loses the axis.
    >>> run("_split_v2", [[1, 2], [3, 4]], indices=(0, 1), squeeze_axis=True)
    ([1.0, 3.0], [2.0, 4.0])

[_split_v2/shapes] the shapes of the parts are inferred from data, and unknown sides of data from the parts.

[_split_v2/gradient] the heads are laid side by side again.
    >>> grad("_split_v2", [[5, 6, 7]], indices=(0, 2))
    [[1.0, 1.0, 1.0]]
"""

from itertools import pairwise
from math import prod
from typing import Annotated, NamedTuple

from .foundation import UNKNOWN, AtLeast, AtMost, Case, Op, Shape, agree, merge, normal_axis, register, require, told
from .foundation.loops import BLOCKS
from .foundation.params import MOST_ARRAYS


class Params(NamedTuple):
    indices: Shape
    axis: int = 1
    squeeze_axis: bool = False
    sections: Annotated[int, AtLeast(0), AtMost(MOST_ARRAYS)] = 0


def outputs(p):
    count = p.sections or len(p.indices)
    return ("output",) if count == 1 else tuple(f"output{i}" for i in range(count))


def starts(p, side):
    """Where the parts of an axis of ``side`` begin, and its end."""
    if p.sections:
        length, longer = divmod(side, p.sections)
        cuts = tuple(i * length + min(i, longer) for i in range(p.sections + 1))
    else:
        cuts = (*p.indices, side)
        require("_split_v2/indices", cuts[0] == 0, f"indices {list(p.indices)} must begin with 0")
    require(
        "_split_v2/parts", all(a <= b for a, b in pairwise(cuts)),
        f"{list(cuts[:-1])} must ascend and lie inside an axis of {side} indices",
    )
    return cuts


def infer(p, ins, outs):
    data = ins[0]
    require("_split_v2/parts", outs, "indices is empty: name 0 and where to cut")
    if data is None:
        return ins, outs
    axis = normal_axis("_split_v2/axis", p.axis, len(data))
    cuts = starts(p, data[axis]) if told(data[axis]) else (UNKNOWN,) * (len(outs) + 1)
    found = []
    for out, begin, end in zip(outs, cuts, cuts[1:], strict=False):
        require(
            "_split_v2/squeeze-axis", not p.squeeze_axis or agree(end - begin, 1),
            f"squeeze_axis needs parts of one index, {begin} up to {end} are more",
        )
        middle = () if p.squeeze_axis else (end - begin,)
        found.append(merge("_split_v2/shapes", "a part", out, (*data[:axis], *middle, *data[axis + 1 :])))
    side = len(found) if p.squeeze_axis else sum(part[axis] for part in found)
    for part in found:
        others = part if p.squeeze_axis else (*part[:axis], *part[axis + 1 :])
        data = merge("_split_v2/shapes", "data", data, (*others[:axis], side, *others[axis:]))
    return [data], found


# --- the operator -------------------------------------------------------------------------------


def runs(p, shape):
    """(outer, width) of data, and where each part begins in a run of ``width`` elements."""
    axis = p.axis % len(shape)
    inner = prod(shape[axis + 1 :])
    return prod(shape[:axis]), shape[axis] * inner, [at * inner for at in starts(p, shape[axis])]


def forward(p, data, *parts):
    outer, width, cuts = runs(p, data.shape)
    for part, begin, end in zip(parts, cuts, cuts[1:], strict=False):
        BLOCKS(data, part, outer, end - begin, begin, width, 0, end - begin)


def backward(p, *heads_and_gradient):
    *heads, d_data = heads_and_gradient
    if d_data is not None:
        outer, width, cuts = runs(p, d_data.shape)
        for head, begin, end in zip(heads, cuts, cuts[1:], strict=False):
            BLOCKS(head, d_data, outer, end - begin, 0, end - begin, begin, width)


def cases(draw):
    shape = draw.shape(1, 4)
    axis = draw.integer(-len(shape), len(shape) - 1)
    side = shape[axis]
    squeeze = draw.boolean() and len(shape) > 1
    if draw.boolean():
        sections = side if squeeze else draw.integer(1, side)
        return Case(
            {"indices": (), "axis": axis, "sections": sections, "squeeze_axis": squeeze}, {"data": shape}
        )
    cuts = tuple(i for i in range(side) if i == 0 or squeeze or draw.boolean())
    return Case({"indices": cuts, "axis": axis, "squeeze_axis": squeeze}, {"data": shape})


def refused(**params):
    return {"params": {"indices": (0, 1), **params}, "shapes": {"data": (2, 4)}}


register(Op(
    name="_split_v2", doc=__doc__, params=Params, outputs=outputs, infer=infer, forward=forward,
    backward=backward, cases=cases,
    refusals={
        "_split_v2/indices": refused(indices=(1, 2)),
        "_split_v2/axis": refused(axis=2),
        "_split_v2/parts": refused(indices=(0, 5)),
        "_split_v2/squeeze-axis": refused(squeeze_axis=True),
        "_split_v2/shapes": {
            "params": {"indices": (0, 1)}, "shapes": {"data": (2, 4), "output1": (2, 2)},
        },
    },
    tier=2,
))
