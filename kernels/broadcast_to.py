"""broadcast_to, broadcast_axis, broadcast_like: an array stretched along axes of one element.

[broadcast_to/shape] shape has the input's rank; 0 keeps a side, a side of 1 is stretched to any other.
    >>> run("broadcast_to", [[1], [2]], shape=(0, 3))
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]

[broadcast_axis/shape] each named axis, which must have one element, is stretched to the size of its place in
    ``size``.
    >>> run("broadcast_axis", [[1], [2]], axis=1, size=3)
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]

[broadcast_like/shape] the left operand is stretched to the right one's shape; with lhs_axes and rhs_axes only
    those axes are, each to the side of its partner.
    >>> run("broadcast_like", [[1], [2]], [[0, 0, 0], [0, 0, 0]])
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    >>> run("broadcast_like", [[1], [2]], [[0, 0, 0], [0, 0, 0]], lhs_axes=(-1,), rhs_axes=(0,))
    [[1.0, 1.0], [2.0, 2.0]]

[broadcast_like/types] the output has the left operand's type; the right operand may have any other.

[broadcast_to/gradient] the head gradient is summed over the stretched axes, as in reduce.py; the operand that
    only lends its shape has gradient zero.
    >>> grad("broadcast_to", [[1], [2]], shape=(2, 3), head=[[1, 2, 3], [4, 5, 6]])
    [[6.0], [15.0]]
"""

from typing import NamedTuple

from .foundation import (
    UNKNOWN,
    Case,
    Op,
    Shape,
    Sources,
    agree,
    decides,
    merge,
    normal_axis,
    register,
    require,
    same_type,
)
from .foundation.loops import GATHER, walk, zero
from .foundation.walks import stretched
from .reduce import sum_into


class ToParams(NamedTuple):
    shape: Shape = ()


class AxisParams(NamedTuple):
    axis: Shape = ()
    size: Shape = ()


class LikeParams(NamedTuple):
    lhs_axes: Shape | None = None
    rhs_axes: Shape | None = None


def check_sides(clause, given, wanted):
    """Refuse to stretch anything but sides of 1; unknown sides pass."""
    require(
        clause, all(a == 1 or agree(a, b) for a, b in zip(given, wanted, strict=True)),
        f"an array of shape {list(given)} cannot be broadcast to {list(wanted)}",
    )


def infer_to(p, ins, outs):
    (data,) = ins
    require("broadcast_to/shape", p.shape, "shape must be given")
    if data is None:
        return [None], [merge("broadcast_to/shape", "output", outs[0], tuple(side or UNKNOWN for side in p.shape))]
    require(
        "broadcast_to/shape", len(data) == len(p.shape),
        f"shape {list(p.shape)} must have the rank of the input {list(data)}",
    )
    shape = tuple(side or own for own, side in zip(data, p.shape, strict=True))
    check_sides("broadcast_to/shape", data, shape)
    return [data], [merge("broadcast_to/shape", "output", outs[0], shape)]


def infer_axis(p, ins, outs):
    (data,) = ins
    require(
        "broadcast_axis/shape", len(p.axis) == len(p.size),
        f"axis {list(p.axis)} and size {list(p.size)} must have one length",
    )
    if data is None:
        return [None], list(outs)
    shape = list(data)
    for axis, size in zip(p.axis, p.size, strict=True):
        require(
            "broadcast_axis/shape", 0 <= axis < len(data) and agree(shape[axis], 1),
            f"axis {axis} of {shape} must exist and have one element",
        )
        shape[axis] = size
    return [data], [merge("broadcast_axis/shape", "output", outs[0], tuple(shape))]


def infer_like(p, ins, outs):
    lhs, rhs = ins
    clause = "broadcast_like/shape"
    require(
        clause, (p.lhs_axes is None) == (p.rhs_axes is None), "give lhs_axes and rhs_axes, or neither"
    )
    if lhs is None or rhs is None:
        return list(ins), list(outs)
    if p.lhs_axes is None:
        require(
            clause, len(lhs) == len(rhs),
            f"operands {list(lhs)} and {list(rhs)} must have one rank unless axes are given",
        )
        shape = list(rhs)
    else:
        require(
            clause, p.lhs_axes and len(p.lhs_axes) == len(p.rhs_axes),
            f"lhs_axes {list(p.lhs_axes)} and rhs_axes {list(p.rhs_axes)} must pair up",
        )
        shape = list(lhs)
        for left, right in zip(p.lhs_axes, p.rhs_axes, strict=True):
            partner = rhs[normal_axis(clause, right, len(rhs))]
            shape[normal_axis(clause, left, len(lhs))] = partner
    check_sides(clause, lhs, shape)
    return list(ins), [merge(clause, "output", outs[0], tuple(shape))]


@decides("broadcast_like/types")
def type_like(p, ins, outs):
    (kind,), _ = same_type(p, ins[:1], outs)
    return [kind, ins[1]], [kind]


# --- the operators: GATHER reads the same element again where a step is 0 -------------------------


def forward(p, data, out):
    GATHER(data, out, *walk(out.shape, stretched(data.shape, out.shape), 0, out.device))


def forward_like(p, lhs, rhs, out):
    forward(p, lhs, out)


def backward(p, head, d_data):
    if d_data is not None:
        sum_into(head, d_data)


def backward_like(p, head, d_lhs, d_rhs):
    backward(p, head, d_lhs)
    zero(d_rhs)


def gradient(make, p, heads, inputs, outputs):
    return [make("_sum_like", [heads[0], inputs[0]])[0], None][: len(inputs)]


def stretch(draw):
    """A shape to stretch to, and one with some of its sides 1."""
    shape = draw.shape(1, 4)
    return shape, tuple(1 if draw.boolean() else side for side in shape)


def cases_to(draw):
    shape, data = stretch(draw)
    asked = tuple(0 if own == side and draw.boolean() else side for own, side in zip(data, shape, strict=True))
    return Case({"shape": asked}, {"data": data})


def cases_axis(draw):
    shape, data = stretch(draw)
    axes = tuple(a for a, side in enumerate(data) if side == 1)
    return Case({"axis": axes, "size": tuple(shape[a] for a in axes)}, {"data": data})


def cases_like(draw):
    shape, data = stretch(draw)
    if draw.boolean():
        return Case({}, {"lhs": data, "rhs": shape})
    axis = draw.integer(0, len(shape) - 1)
    data = (*data[:axis], 1, *data[axis + 1 :])
    other = draw.shape(1, 3)
    return Case({"lhs_axes": axis, "rhs_axes": -1}, {"lhs": data, "rhs": other})


register(Op(
    name="broadcast_to", doc=__doc__, params=ToParams, infer=infer_to, forward=forward,
    backward=backward, gradient=gradient, cases=cases_to,
    refusals={"broadcast_to/shape": {"params": {"shape": (3, 3)}, "shapes": {"data": (2, 1)}}},
    tier=1, method="broadcast_to", numbered_input=True, reports=Sources(outputs=True),
))
register(Op(
    name="broadcast_axis", doc=__doc__, params=AxisParams, infer=infer_axis, forward=forward,
    backward=backward, gradient=gradient, aliases=("broadcast_axes",), cases=cases_axis,
    refusals={
        "broadcast_axis/shape": {"params": {"axis": 0, "size": 4}, "shapes": {"data": (2, 1)}},
    },
    tier=1, method="broadcast_axes", numbered_input=True, reports=Sources(whole=True),
))
register(Op(
    name="broadcast_like", doc=__doc__, params=LikeParams, inputs=("lhs", "rhs"), infer=infer_like,
    infer_type=type_like, forward=forward_like, backward=backward_like, no_gradient=("rhs",), shape_only=("rhs",),
    gradient=gradient, cases=cases_like,
    refusals={"broadcast_like/shape": {"shapes": {"lhs": (2, 1), "rhs": (3, 3)}}},
    tier=1, method="broadcast_like",
))
