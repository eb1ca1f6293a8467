"""_contrib_box_iou: how much every box on the left overlaps every box on the right.

[_contrib_box_iou/value] intersection over union, for boxes (left, top, right, bottom), or (x, y, width,
    height) around a center with format="center". Boxes that share no area have 0, and so has a box that is
    empty or turned inside out.
    >>> run("_contrib_box_iou", [[0, 0, 2, 2], [1, 1, 1, 1], [3, 3, 2, 2]], [[1, 1, 3, 3], [1, 1, 1, 1]])
    [[0.142857, 0.0], [0.0, 0.0], [0.0, 0.0]]
    >>> run("_contrib_box_iou", [[0, 0, 2, 2]], [[1, 1, 3, 3], [1, 1, -2, 2]], format="center")
    [[0.209302, 0.0]]

[_contrib_box_iou/shape] lhs (..., 4) and rhs (..., 4), of rank 2 or more, give the leading axes of lhs and
    then those of rhs.
    >>> run("_contrib_box_iou", [[[0, 0, 1, 1]]], [[[0, 0, 2, 1], [0, 0, 1, 1]]])
    [[[[0.5, 1.0]]]]

[_contrib_box_iou/floating-point] only floating-point types have overlaps.

[_contrib_box_iou/gradient] both gradients are zero.
    >>> grad("_contrib_box_iou", [[0, 0, 2, 2]], [[1, 1, 3, 3]])
    (None, None)
"""

from math import prod
from typing import Literal, NamedTuple

from .foundation import Case, Loop, Op, agree, items, merge, register, require, scalar
from .shared.boxes import floating, nothing, overlap, shared

CLAUSE = "_contrib_box_iou/shape"


class Params(NamedTuple):
    format: Literal["center", "corner"] = "corner"


def infer(p, ins, outs):
    for name, shape in zip(("lhs", "rhs"), ins, strict=True):
        require(
            CLAUSE, shape is None or (len(shape) >= 2 and agree(shape[-1], 4)),
            f"{name} has shape {shape}; boxes need 2 axes or more, the last of 4 coordinates",
        )
    if None in ins:
        return ins, outs
    left, right = ins
    out = merge(CLAUSE, "output", outs[0], (*left[:-1], *right[:-1]))
    cut = len(left) - 1
    return [(*out[:cut], 4), (*out[cut:], 4)], [out]


# --- loops --------------------------------------------------------------------------------------


@scalar
def corners_at(boxes, at):
    """Left, top, right and bottom of the box that begins at ``boxes[at]``; neighbours are loaded in one step."""
    return boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]


def compare_corners(lhs, rhs, out, lefts, rights, extent):
    """out[i, j] = overlap of box i of lhs and box j of rhs. ``extent`` is 0, as a side is high - low."""
    for i in items(lefts):
        for j in range(rights):
            out[i * rights + j] = overlap(corners_at(lhs, i * 4), corners_at(rhs, j * 4), extent)


def compare_centers(lhs, rhs, out, lefts, rights, half):
    """As compare_corners. ``half`` is 1/2 in the type of the boxes, so half - half is a zero of that type."""
    for i in items(lefts):
        x, y, width, height = lhs[i * 4], lhs[i * 4 + 1], lhs[i * 4 + 2], lhs[i * 4 + 3]
        for j in range(rights):
            u, v, wide, high = rhs[j * 4], rhs[j * 4 + 1], rhs[j * 4 + 2], rhs[j * 4 + 3]
            across = shared(
                x - width * half, x + width * half, u - wide * half, u + wide * half, half - half
            )
            down = shared(
                y - height * half, y + height * half, v - high * half, v + high * half, half - half
            )
            meet = across * down
            out[i * rights + j] = 0
            if not (across <= 0 or down <= 0):
                out[i * rights + j] = meet / (width * height + wide * high - meet)


COMPARE_CORNERS, COMPARE_CENTERS = Loop(compare_corners), Loop(compare_centers)


# --- the operator -------------------------------------------------------------------------------


def forward(p, lhs, rhs, out):
    lefts, rights = prod(lhs.shape[:-1]), prod(rhs.shape[:-1])
    if p.format == "corner":
        COMPARE_CORNERS(lhs, rhs, out, lefts, rights, 0.0)
    else:
        COMPARE_CENTERS(lhs, rhs, out, lefts, rights, 0.5)


def cases(draw):
    shapes = {"lhs": (*draw.shape(1, 2), 4), "rhs": (*draw.shape(1, 2), 4)}
    style, kind = draw.choice((("corner", "any"), ("center", "positive"), ("center", "any")))
    return Case({"format": style}, shapes, {"lhs": kind, "rhs": kind})


FOUR = {"lhs": (1, 4), "rhs": (2, 4)}
register(Op(
    name="_contrib_box_iou", doc=__doc__, params=Params, inputs=("lhs", "rhs"), infer=infer,
    infer_type=floating("_contrib_box_iou/floating-point"), forward=forward, gradient=nothing,
    cases=cases, differentiable=False,
    refusals={
        CLAUSE: {"shapes": {**FOUR, "lhs": (1, 3)}},
        "_contrib_box_iou/floating-point": {"shapes": FOUR, "dtypes": dict.fromkeys(FOUR, "int32")},
    },
    tier=2,
))
