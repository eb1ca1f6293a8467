"""Pad (pad): images enlarged at their edges.

[Pad/width] pad_width names, for each axis, how many indices go before and how many after; a negative number
    takes indices away. mode="constant" fills the new places with constant_value.
    >>> run("Pad", [[[[1, 2], [3, 4]]]], mode="constant", constant_value=9, pad_width=(0, 0, 0, 0, 1, 0, 0, 1))
    [[[[9.0, 9.0, 9.0], [1.0, 2.0, 9.0], [3.0, 4.0, 9.0]]]]

[Pad/edge] mode="edge" repeats the nearest element of data.
    >>> run("Pad", [[[[1, 2, 3]]]], mode="edge", pad_width=(0, 0, 0, 0, 0, 0, 2, 1))
    [[[[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]]]]

[Pad/reflect] mode="reflect" mirrors data at its first and last element, which are not repeated.
    >>> run("Pad", [[[[1, 2, 3]]]], mode="reflect", pad_width=(0, 0, 0, 0, 0, 0, 2, 1))
    [[[[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]]]

[Pad/reflect-width] a mirrored axis is padded by less than its side.

[Pad/rank] data has rank 4 or 5, pad_width two numbers for each axis.

[Pad/first-axes] the first two axes (batch and channel) are not padded.

[Pad/sides] no axis of the output is empty, and its shape is inferred from data.

[Pad/gradient] an element takes the sum of the heads of all places that it was copied to, added in C order.
    >>> grad("Pad", [[[[1, 2, 3]]]], mode="edge", pad_width=(0, 0, 0, 0, 0, 0, 2, 1), head=[[[[1, 2, 3, 4, 5, 6]]]])
    [[[[6.0, 4.0, 11.0]]]]
    >>> grad("Pad", [[[[1, 2, 3]]]], mode="reflect", pad_width=(0, 0, 0, 0, 0, 0, 2, 1), head=[[[[1, 2, 3, 4, 5, 6]]]])
    [[[[3.0, 12.0, 6.0]]]]
    >>> grad("Pad", [[[[1, 2]]]], mode="constant", pad_width=(0, 0, 0, 0, 0, 0, 1, -1), head=[[[[7, 8]]]])
    [[[[8.0, 0.0]]]]
"""

from functools import lru_cache
from typing import Literal, NamedTuple

from .foundation import Case, Loop, Op, Shape, items, merge, register, require, scalar, steps, told
from .foundation.loops import FILL
from .shared.convolution_geometry import volume


class Params(NamedTuple):
    mode: Literal["constant", "edge", "reflect"]
    pad_width: Shape
    constant_value: float = 0.0


def infer(p, ins, outs):
    data = ins[0]
    require(
        "Pad/rank", len(p.pad_width) in (8, 10) and (data is None or 2 * len(data) == len(p.pad_width)),
        f"pad_width {list(p.pad_width)} must hold two numbers for each axis of data, which has rank 4 or 5;"
        f" data has shape {data}",
    )
    require(
        "Pad/first-axes", not any(p.pad_width[:4]),
        f"pad_width {list(p.pad_width)} must begin with four zeros: batch and channel are not padded",
    )
    if data is None:
        return ins, outs
    widths = list(zip(p.pad_width[::2], p.pad_width[1::2], strict=True))
    wanted = tuple(side + sum(width) for side, width in zip(data, widths, strict=True))
    for side, width, made in zip(data, widths, wanted, strict=True):
        require(
            "Pad/reflect-width", p.mode != "reflect" or not told(side) or max(width) < side,
            f"an axis of {side} cannot be mirrored by {max(width)}: pad by less than its side",
        )
        require("Pad/sides", not told(side) or made > 0, f"padding an axis of {side} by {list(width)} leaves nothing")
    return ins, [merge("Pad/sides", "output", outs[0], wanted)]


# --- loops --------------------------------------------------------------------------------------
# Images without depth have depth 1.


class Part(NamedTuple):
    """The sides of the part of an image that is copied, and where it begins in the source and in the target."""

    depth: int
    height: int
    width: int
    z: int
    y: int
    x: int
    a: int
    b: int
    c: int


@scalar
def same(x):
    return x


@scalar
def as_sum(x):
    """A sum of one number: that of -0.0 is 0.0."""
    return 0 + x


def copy_part(source, target, g: Part):
    """target[n, a + i, b + j, c + k] = source[n, z + i, y + j, x + k]; batch and channels are one axis."""
    for n, i, j, k in items((source.shape[0], g.depth, g.height, g.width)):
        one = source[n, g.z + i, g.y + j, g.x + k]
        target[n, g.a + i, g.b + j, g.c + k] = formula(one)  # noqa: F821  # bound by Loop


class Frame(NamedTuple):
    """How many indices go before each axis, and whether data is mirrored at its edges or they are repeated."""

    front: int
    top: int
    left: int
    mirrors: int


@scalar
def source_of(at, before, side, mirrors):
    """The index of data that is copied to place ``at`` of a padded axis."""
    index = at - before
    if not mirrors:
        return min(max(index, 0), side - 1)
    index = abs(index)
    return index if index < side else 2 * side - 2 - index


def extend(data, out, g: Frame):
    """out[n, k, a, b, c] = data[n, k, z, y, x], where z, y and x are the sources of a, b and c."""
    _, _, depth, height, width = data.shape
    for n, k, a, b, c in items(out.shape):
        z = source_of(a, g.front, depth, g.mirrors)
        y, x = source_of(b, g.top, height, g.mirrors), source_of(c, g.left, width, g.mirrors)
        out[n, k, a, b, c] = data[n, k, z, y, x]


def extend_back(head, d_data, g: Frame):
    """d_data[n, k, z, y, x] = sum of head[n, k, a, b, c] over the places whose source is (z, y, x)."""
    _, _, depth, height, width = d_data.shape
    for n, k in items(d_data.shape[:2]):
        for z, y, x in steps(d_data.shape[2:]):
            d_data[n, k, z, y, x] = 0
        for a, b, c in steps(head.shape[2:]):
            z = source_of(a, g.front, depth, g.mirrors)
            y, x = source_of(b, g.top, height, g.mirrors), source_of(c, g.left, width, g.mirrors)
            d_data[n, k, z, y, x] += head[n, k, a, b, c]


COPY_PART, COPY_PART_BACK = Loop(copy_part, formula=same), Loop(copy_part, formula=as_sum)
EXTEND, EXTEND_BACK = Loop(extend), Loop(extend_back)


# --- the operator -------------------------------------------------------------------------------


def before(p):
    return (0, 0, *p.pad_width[4::2])[-3:]


def frame(p):
    return Frame(*before(p), int(p.mode == "reflect"))


def images(buffer):
    """An array (batch * channels, depth, height, width)."""
    first, second, *sides = buffer.shape
    return buffer.reshape((first * second, *(1,) * (3 - len(sides)), *sides))


@lru_cache(maxsize=4096)
def part_of(source, target, shifts):
    """The part of the sides of a source that still lies in the target after shifts to higher indices."""
    begins = [max(-shift, 0) for shift in shifts]
    ends = [min(side, other - shift) for side, other, shift in zip(source, target, shifts, strict=True)]
    sides = [max(end - begin, 0) for begin, end in zip(begins, ends, strict=True)]
    return Part(*sides, *begins, *(max(shift, 0) for shift in shifts))


def place(copy, source, target, shifts, value):
    """Fill target with a shifted source, and what the source does not reach with ``value``."""
    source, target = images(source), images(target)
    part = part_of(source.shape[1:], target.shape[1:], shifts)
    if part[:3] != target.shape[1:]:
        FILL(target, value, target.size)
    copy(source, target, part)


def forward(p, data, out):
    if p.mode == "constant":
        place(COPY_PART, data, out, before(p), p.constant_value)
    else:
        EXTEND(volume(data), volume(out), frame(p))


def backward(p, head, d_data):
    if d_data is None:
        return
    if p.mode == "constant":
        place(COPY_PART_BACK, head, d_data, tuple(-shift for shift in before(p)), 0)
    else:
        EXTEND_BACK(volume(head), volume(d_data), frame(p))


def cases(draw):
    shape = draw.shape(4, 5, 3)
    mode = draw.choice(["constant", "edge", "reflect"])
    widths = [draw.integer(0, side - 1 if mode == "reflect" else 2) for side in shape[2:] for _ in "ab"]
    params = {"mode": mode, "pad_width": (0, 0, 0, 0, *widths), "constant_value": draw.choice([0, 2.5])}
    return Case(params, {"data": shape})


def refused(*widths, mode="constant"):
    return {"params": {"mode": mode, "pad_width": widths}, "shapes": {"data": (1, 1, 2, 2)}}


register(Op(
    name="Pad", doc=__doc__, params=Params, infer=infer, forward=forward, backward=backward,
    aliases=("pad",), cases=cases,
    refusals={
        "Pad/rank": refused(0, 0, 1, 1),
        "Pad/first-axes": refused(0, 0, 1, 0, 0, 0, 0, 0),
        "Pad/reflect-width": refused(0, 0, 0, 0, 0, 2, 0, 0, mode="reflect"),
        "Pad/sides": refused(0, 0, 0, 0, -1, -1, 0, 0),
    },
    tier=1, method="pad", keeps_rank=True,
))
