"""Reshape, Flatten, expand_dims, squeeze, reshape_like: the same elements in order, in another shape.

[Reshape/codes] shape is read from left to right against the axes of data. A positive number is a side
    of the result and passes one axis; 0 copies an axis; -1 passes one axis and is computed from the
    size; -2 copies all axes that remain; -3 joins two axes; -4 splits one axis into the two sides that
    follow it, of which one may be -1.
    >>> run("Reshape", [[1, 2, 3], [4, 5, 6]], shape=(3, -1))
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> run("Reshape", [[[1, 2], [3, 4]]], shape=(0, -3))
    [[1.0, 2.0, 3.0, 4.0]]
    >>> run("Reshape", [[1, 2, 3, 4]], shape=(0, -4, 2, -1))
    [[[1.0, 2.0], [3.0, 4.0]]]
    >>> run("Reshape", [[1, 2]], shape=(-2, 1))
    [[[1.0], [2.0]]]

[Reshape/one-unknown] at most one -1 stands in shape, and at most one -1 in the two sides of a -4.

[Reshape/axis-left] a code that reads an axis of data (0, -3, -4) needs one that is not passed yet.

[Reshape/split] the two sides after -4 are positive or -1, and multiply to the axis that they split.

[Reshape/reverse] with reverse=True data and shape are both read from right to left.
    >>> run("Reshape", [[[1, 2], [3, 4], [5, 6]]], shape=(-1, 0), reverse=True)
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> run("Reshape", [[[1, 2], [3, 4], [5, 6]]], shape=(-1, 0))
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

[Reshape/size] the result has as many elements as data; anything else is refused when shapes are inferred.

[Reshape/target-shape] without shape, the older target_shape is used: a 0 in it is computed from the
    size, and keep_highest takes the first side from data.
    >>> run("Reshape", [[1, 2, 3], [4, 5, 6]], target_shape=(0, 2))
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> run("Reshape", [[1, 2, 3], [4, 5, 6]], target_shape=(9, 3), keep_highest=True)
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

[Reshape/shape-given] one of shape and target_shape is given.

[Flatten/rows] every axis but the first is folded into one.
    >>> run("Flatten", [[[1, 2], [3, 4]]])
    [[1.0, 2.0, 3.0, 4.0]]
    >>> run("Flatten", [1, 2])
    [[1.0], [2.0]]

[expand_dims/axis] an axis of one element is put in at position axis, which may count from the end of the
    result: -1 puts it last.
    >>> run("expand_dims", [1, 2], axis=0), run("expand_dims", [1, 2], axis=-1)
    ([[1.0, 2.0]], [[1.0], [2.0]])

[squeeze/axis] the named axes, each of one element and named once, or all axes of one element, are taken
    out; where none would remain, one stays.
    >>> run("squeeze", [[[1], [2]]]), run("squeeze", [[[1], [2]]], axis=0), run("squeeze", [[3]])
    ([1.0, 2.0], [[1.0], [2.0]], [3.0])

[reshape_like/range] lhs takes the shape of rhs; with lhs_begin, lhs_end, rhs_begin and rhs_end only those
    axes of lhs are replaced, by those axes of rhs. A range holds at least one axis.
    >>> run("reshape_like", [1, 2, 3, 4], [[0, 0], [0, 0]])
    [[1.0, 2.0], [3.0, 4.0]]
    >>> run("reshape_like", [[1], [2], [3], [4]], [[0, 0], [0, 0]], lhs_end=1)
    [[[1.0], [2.0]], [[3.0], [4.0]]]

[reshape_like/size] the new shape has as many elements as lhs.

[reshape/gradient] the gradient is the head read with the shape of data; rhs of reshape_like has none.
    >>> grad("expand_dims", [1, 2], axis=0, head=[[3, 4]])
    [3.0, 4.0]
"""

from math import prod
from typing import NamedTuple

from .foundation import UNKNOWN, Case, Op, Shape, agree, either, known, merge, register, require, told
from .foundation.loops import COPY, zero


class Params(NamedTuple):
    shape: Shape = ()
    reverse: bool = False
    target_shape: Shape = ()
    keep_highest: bool = False


class ExpandParams(NamedTuple):
    axis: int


class SqueezeParams(NamedTuple):
    axis: Shape | None = None


class LikeParams(NamedTuple):
    lhs_begin: int | None = None
    lhs_end: int | None = None
    rhs_begin: int | None = None
    rhs_end: int | None = None


# --- Reshape: shapes ----------------------------------------------------------------------------


def split(whole, sides):
    """The two sides that replace an axis of ``whole`` elements."""
    left, right = sides
    require("Reshape/one-unknown", (left, right) != (-1, -1), "both sides after -4 are -1; give one")
    require(
        "Reshape/split", (left > 0 or left == -1) and (right > 0 or right == -1),
        f"the sides after -4 must be positive or -1, given {left} and {right}",
    )
    if left == -1:
        left = whole // right
    elif right == -1:
        right = whole // left
    require(
        "Reshape/split", agree(left * right, whole),
        f"-4 cannot split an axis of {whole} into {sides[0]} and {sides[1]}",
    )
    return left, right


def decode(codes, source):
    """The sides that ``codes`` ask for, each with the axis of ``source`` that it copies, or None."""
    sides, shares = [], 0
    axis = position = 0
    while position < len(codes):
        code = codes[position]
        needed = {0: 1, -3: 2, -4: 1}.get(code, 0)
        require(
            "Reshape/axis-left", not needed or axis + needed <= len(source),
            f"code {code} at position {position} of shape {list(codes)} finds no axis left in {list(source)}",
        )
        if code == -2:
            sides += [(source[rest], rest) for rest in range(axis, len(source))]
            axis = len(source)
        elif code == -3:
            sides.append((source[axis] * source[axis + 1], None))
            axis += 2
        elif code == -4:
            require(
                "Reshape/split", position + 2 < len(codes), "-4 must be followed by two sides"
            )
            sides += [(side, None) for side in split(source[axis], codes[position + 1 : position + 3])]
            axis += 1
            position += 2
        else:
            require("Reshape/codes", code >= -4, f"shape {list(codes)} holds {code}; codes end at -4")
            shares += code == -1
            require("Reshape/one-unknown", shares < 2, f"shape {list(codes)} holds -1 twice")
            sides.append((source[axis], axis) if code == 0 else (UNKNOWN if code == -1 else code, None))
            axis += 1
        position += 1
    return sides


def legacy(p, source):
    """The sides that target_shape asks for, as :func:`decode` gives them."""
    require(
        "Reshape/shape-given", p.target_shape, "Reshape needs shape (or the older target_shape)"
    )
    rest = p.target_shape[1:] if p.keep_highest else p.target_shape
    require(
        "Reshape/target-shape", rest.count(0) <= 1 and min(p.target_shape) >= 0,
        f"target_shape {list(p.target_shape)} may hold one 0 and no negative number",
    )
    return [(source[0], 0)] * p.keep_highest + [(side or UNKNOWN, None) for side in rest]


def reshaped(p, source):
    """Shape of the result for (partly known) ``source``."""
    if p.shape and p.reverse:
        return reshaped(p._replace(shape=p.shape[::-1], reverse=False), source[::-1])[::-1]
    made = decode(p.shape, source) if p.shape else legacy(p, source)
    sides = tuple(side for side, _ in made)
    if known(sides) or not known(source):
        return sides
    # an axis that is copied stands on both sides of the division, so an empty one may be left out of it
    copied = [axis for _, axis in made]
    left = prod(side for axis, side in enumerate(source) if axis not in copied)
    others = prod(side for side, axis in made if axis is None and told(side))
    require(
        "Reshape/size", others and left % others == 0,
        f"{prod(source)} elements of shape {list(source)} cannot be divided by"
        f" the {others} of the given sides {list(p.shape or p.target_shape)}",
    )
    return tuple(either(side, left // others) for side in sides)


def infer_reshape(p, ins, outs):
    data, out = ins[0], outs[0]
    if data is None:
        return [data], [out]
    out = merge("Reshape/size", "output", out, reshaped(p, data))
    if known(out) and data.count(UNKNOWN) == 1:
        others = prod(side for side in data if told(side))
        if others and prod(out) % others == 0:
            data = tuple(either(side, prod(out) // others) for side in data)
            out = merge("Reshape/size", "output", out, reshaped(p, data))
    require(
        "Reshape/size", not known(data, out) or prod(data) == prod(out),
        f"cannot reshape {list(data)} ({prod(data)} elements) into {list(out)} ({prod(out)})",
    )
    return [data], [out]


# --- the others: shapes -------------------------------------------------------------------------


def infer_flatten(p, ins, outs):
    data, out = ins[0], outs[0]
    require("Flatten/rows", data is None or len(data), "an array without axes has no first one")
    if known(data):
        out = merge("Flatten/rows", "output", out, (data[0], prod(data[1:])))
    return [data], [out]


def infer_expand(p, ins, outs):
    data, out = ins[0], outs[0]
    if data is None and out is None:
        return ins, outs
    rank = len(data) if data is not None else len(out) - 1
    require(
        "expand_dims/axis", -rank - 1 <= p.axis <= rank,
        f"axis must lie in [{-rank - 1}, {rank}] for data of rank {rank}, given {p.axis}",
    )
    axis = p.axis % (rank + 1)
    if data is not None:
        out = merge("expand_dims/axis", "output", out, (*data[:axis], 1, *data[axis:]))
    require("expand_dims/axis", agree(out[axis], 1), f"axis {axis} of the output {list(out)} is not 1")
    return [merge("expand_dims/axis", "data", data, (*out[:axis], *out[axis + 1 :]))], [out]


def infer_squeeze(p, ins, outs):
    data, out = ins[0], outs[0]
    if not known(data):
        return [data], [out]
    if p.axis is None:
        gone = {axis for axis, side in enumerate(data) if side == 1}
    else:
        for axis in p.axis:
            require(
                "squeeze/axis", -len(data) <= axis < len(data) and data[axis] == 1,
                f"cannot squeeze axis {axis} out of shape {list(data)}: only axes of one element",
            )
        gone = {axis % len(data) for axis in p.axis}
        require("squeeze/axis", len(gone) == len(p.axis), f"axis {list(p.axis)} names an axis twice")
    kept = tuple(side for axis, side in enumerate(data) if axis not in gone)
    return [data], [merge("squeeze/axis", "output", out, kept or (1,))]


def span(what, begin, end, rank):
    """The half-open range of axes that begin and end name."""
    first = 0 if begin is None else begin + rank * (begin < 0)
    last = rank if end is None else end + rank * (end < 0)
    require(
        "reshape_like/range", 0 <= first < last <= rank,
        f"{what}_begin={begin} and {what}_end={end} name no axes of an array of rank {rank}",
    )
    return first, last


def infer_like(p, ins, outs):
    lhs, rhs, out = *ins, outs[0]
    if lhs is None or rhs is None:
        return [lhs, rhs], [out]
    first, last = span("lhs", p.lhs_begin, p.lhs_end, len(lhs))
    begin, end = span("rhs", p.rhs_begin, p.rhs_end, len(rhs))
    out = merge("reshape_like/size", "output", out, (*lhs[:first], *rhs[begin:end], *lhs[last:]))
    require(
        "reshape_like/size", not known(lhs, out) or prod(lhs) == prod(out),
        f"cannot reshape lhs {list(lhs)} into {list(out)}: the numbers of elements differ",
    )
    return [lhs, rhs], [out]


def type_of_lhs(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind, ins[1]], [kind]


# --- the operators ------------------------------------------------------------------------------


def forward(p, data, out):
    COPY(data, out, data.size)


def backward(p, head, d_data):
    if d_data is not None:
        COPY(head, d_data, d_data.size)


def gradient(make, p, heads, inputs, outputs):
    return make("reshape_like", [heads[0], inputs[0]])


def gradient_like(make, p, heads, inputs, outputs):
    return [*gradient(make, p, heads, inputs, outputs), None]


def forward_like(p, lhs, rhs, out):
    COPY(lhs, out, lhs.size)


def backward_like(p, head, d_lhs, d_rhs):
    backward(p, head, d_lhs)
    zero(d_rhs)


def cases_reshape(draw):
    shape = draw.shape(2, 4)
    if draw.boolean():
        params = {"shape": draw.choice([(-1,), (0, -1), (1, -1)]), "reverse": draw.boolean()}
    else:
        codes = [(-2,), (-2, 1), (-3, -2), (0, -4, 1, -1, -2), (-4, -1, 1, -2)]
        params = {"shape": draw.choice(codes)}
    return Case(params, {"data": shape})


def cases_expand(draw):
    shape = draw.shape(1, 4)
    return Case({"axis": draw.integer(-len(shape) - 1, len(shape))}, {"data": shape})


def cases_squeeze(draw):
    shape = draw.shape(1, 3)
    axis = draw.integer(0, len(shape))
    data = (*shape[:axis], 1, *shape[axis:])
    return Case({"axis": draw.choice([None, axis, axis - len(data), (axis,)])}, {"data": data})


def cases_like(draw):
    shape = draw.shape(1, 4)
    if draw.boolean():
        return Case({}, {"lhs": (prod(shape),), "rhs": shape})
    return Case(
        {"lhs_begin": 1, "lhs_end": 2, "rhs_end": len(shape)},
        {"lhs": (2, prod(shape), 3), "rhs": shape},
    )


COMMON = {
    "doc": __doc__, "inplace": ((0, 0),), "inplace_backward": (("head", "data"),), "view": True,
    "gradient": gradient,
}

register(Op(
    name="Reshape", params=Params, infer=infer_reshape, forward=forward, backward=backward,
    aliases=("reshape",), cases=cases_reshape, **COMMON,
    refusals={
        "Reshape/codes": {"params": {"shape": (-5,)}, "shapes": {"data": (2, 3)}},
        "Reshape/one-unknown": {"params": {"shape": (-1, -1)}, "shapes": {"data": (2, 3)}},
        "Reshape/axis-left": {"params": {"shape": (0, 0, 0)}, "shapes": {"data": (2, 3)}},
        "Reshape/split": {"params": {"shape": (-4, 3, 3, 0)}, "shapes": {"data": (2, 3)}},
        "Reshape/size": {"params": {"shape": (5, 5)}, "shapes": {"data": (2, 3)}},
        "Reshape/target-shape": {"params": {"target_shape": (0, 0)}, "shapes": {"data": (2, 3)}},
        "Reshape/shape-given": {"params": {}, "shapes": {"data": (2, 3)}},
    },
    tier=1, method="reshape", numbered_input=True, color="#fdb462",
))
register(Op(
    name="Flatten", infer=infer_flatten, forward=forward, backward=backward,
    aliases=("flatten",), cases=lambda draw: Case({}, {"data": draw.shape(1, 4)}), **COMMON,
    tier=1, method="flatten", numbered_input=True, color="#fdb462",
))
register(Op(
    name="expand_dims", params=ExpandParams, infer=infer_expand, forward=forward, backward=backward,
    cases=cases_expand, **COMMON,
    refusals={"expand_dims/axis": {"params": {"axis": 3}, "shapes": {"data": (2, 3)}}},
    tier=1, method="expand_dims", numbered_input=True,
))
register(Op(
    name="squeeze", params=SqueezeParams, infer=infer_squeeze, forward=forward, backward=backward,
    cases=cases_squeeze, **COMMON,
    refusals={"squeeze/axis": {"params": {"axis": 1}, "shapes": {"data": (1, 3)}}},
    tier=1, method="squeeze",
))
register(Op(
    name="reshape_like", params=LikeParams, inputs=("lhs", "rhs"), infer=infer_like,
    infer_type=type_of_lhs, forward=forward_like, backward=backward_like, no_gradient=("rhs",),
    cases=cases_like, doc=__doc__, inplace=((0, 0),), inplace_backward=(("head", "lhs"),), view=True,
    shape_only=("rhs",), gradient=gradient_like,
    refusals={
        "reshape_like/range": {"params": {"lhs_begin": 5}, "shapes": {"lhs": (2, 3), "rhs": (6,)}},
        "reshape_like/size": {"params": {}, "shapes": {"lhs": (2, 3), "rhs": (5,)}},
    },
    tier=1, method="reshape_like",
))
