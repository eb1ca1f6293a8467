"""SliceChannel (split): data cut into num_outputs equal parts along one axis.

[SliceChannel/parts] part i holds the i-th run of side / num_outputs indices of axis.
    >>> run("SliceChannel", [[1, 2, 3, 4]], num_outputs=2)
    ([[1.0, 2.0]], [[3.0, 4.0]])
    >>> run("SliceChannel", [[1, 2], [3, 4]], num_outputs=2, axis=0)
    ([[1.0, 2.0]], [[3.0, 4.0]])

[SliceChannel/axis] axis is an axis of data; it may count from the end.

[SliceChannel/even] num_outputs divides the side that is cut.

[SliceChannel/names] the outputs are called output0, output1 and so on, a single one too.

[SliceChannel/squeeze-axis] with squeeze_axis each part loses the axis, of which num_outputs indices
    were there.
    >>> run("SliceChannel", [[1, 2], [3, 4]], num_outputs=2, squeeze_axis=True)
    ([1.0, 3.0], [2.0, 4.0])

[SliceChannel/shapes] the parts have one shape; unknown sides of data are taken from them.

[SliceChannel/gradient] the heads are laid side by side again.
    >>> grad("SliceChannel", [[5, 6]], num_outputs=2)
    [[1.0, 1.0]]
"""

from math import prod
from typing import NamedTuple

from .foundation import Case, Count, Op, Sources, agree, merge, normal_axis, register, require
from .foundation.loops import BLOCKS


class Params(NamedTuple):
    num_outputs: Count
    axis: int = 1
    squeeze_axis: bool = False


def outputs(p):
    return tuple(f"output{i}" for i in range(p.num_outputs))


def infer(p, ins, outs):
    data = ins[0]
    count = p.num_outputs
    for part in outs:
        if part is not None:
            axis = normal_axis("SliceChannel/axis", p.axis, len(part) + p.squeeze_axis)
            tail = part[axis:] if p.squeeze_axis else part[axis + 1 :]
            side = 1 if p.squeeze_axis else part[axis]
            data = merge("SliceChannel/shapes", "data", data, (*part[:axis], side * count, *tail))
    if data is None:
        return ins, outs
    axis = normal_axis("SliceChannel/axis", p.axis, len(data))
    side = data[axis]
    require(
        "SliceChannel/even", side % count == 0,
        f"axis {axis} of shape {list(data)} cannot be cut into {count} equal parts",
    )
    require(
        "SliceChannel/squeeze-axis", not p.squeeze_axis or agree(side, count),
        f"squeeze_axis needs one index per part: axis {axis} of shape {list(data)} has {side},"
        f" num_outputs is {count}",
    )
    middle = () if p.squeeze_axis else (side // count,)
    part = (*data[:axis], *middle, *data[axis + 1 :])
    return [data], [merge("SliceChannel/shapes", "output", out, part) for out in outs]


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, *parts):
    axis = p.axis % len(data.shape)
    outer, width = prod(data.shape[:axis]), prod(data.shape[axis:])
    run = width // p.num_outputs
    for i, part in enumerate(parts):
        BLOCKS(data, part, outer, run, i * run, width, 0, run)


def backward(p, *heads_and_gradient):
    *heads, d_data = heads_and_gradient
    if d_data is None:
        return
    axis = p.axis % len(d_data.shape)
    outer, width = prod(d_data.shape[:axis]), prod(d_data.shape[axis:])
    run = width // p.num_outputs
    for i, head in enumerate(heads):
        BLOCKS(head, d_data, outer, run, 0, run, i * run, width)


def gradient(make, p, heads, inputs, outputs):
    return make("stack", heads, axis=p.axis) if p.squeeze_axis else make("Concat", heads, dim=p.axis)


def cases(draw):
    shape = draw.shape(2, 4)
    axis = draw.integer(0, len(shape) - 1)
    count = draw.integer(1, 4)
    squeeze = draw.boolean()
    side = count if squeeze else count * draw.integer(1, 2)
    params = {
        "num_outputs": count, "axis": draw.choice([axis, axis - len(shape)]), "squeeze_axis": squeeze,
    }
    return Case(params, {"data": (*shape[:axis], side, *shape[axis + 1 :])})


register(Op(
    name="SliceChannel", doc=__doc__, params=Params, outputs=outputs, infer=infer, forward=forward,
    backward=backward, gradient=gradient, aliases=("split",), cases=cases,
    refusals={
        "SliceChannel/axis": {
            "params": {"num_outputs": 2, "axis": 2}, "shapes": {"data": (2, 4)},
        },
        "SliceChannel/even": {"params": {"num_outputs": 2}, "shapes": {"data": (2, 3)}},
        "SliceChannel/squeeze-axis": {
            "params": {"num_outputs": 2, "squeeze_axis": True}, "shapes": {"data": (2, 4)},
        },
    },
    tier=1, method="split", reports=Sources(outputs=True),
))
