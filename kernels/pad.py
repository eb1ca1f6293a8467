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

from math import prod
from typing import Literal, NamedTuple

from .foundation import Case, Loop, Op, Shape, items, merge, register, require, scalar, told


class Params(NamedTuple):
    mode: Literal["constant", "edge", "reflect"]
    pad_width: Shape
    constant_value: float = 0.0


MODES = {"constant": 0, "edge": 1, "reflect": 2}


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


class Geometry(NamedTuple):
    """An image without depth has depth 1."""

    mode: int
    planes: int
    depth: int
    height: int
    width: int
    out_d: int
    out_h: int
    out_w: int
    front: int
    top: int
    left: int


@scalar
def source_of(at, before, side, mode):
    """The index of data that is copied to place ``at`` of a padded axis, or -1 for the constant."""
    index = at - before
    if mode == 0:
        return index if 0 <= index < side else -1
    if mode == 1:
        return min(max(index, 0), side - 1)
    index = abs(index)
    return index if index < side else 2 * side - 2 - index


@scalar
def within(place, side):
    """The number nearest to ``place`` from 0 to ``side``: where the copied part of an axis begins or ends."""
    return min(max(place, 0), side)


def pad(data, out, value, g: Geometry):
    """data is (planes, depth, height, width), out (planes, out_d, out_h, out_w)."""
    if g.mode == 0:
        upper, lower = within(g.top, g.out_h), within(g.top + g.height, g.out_h)
        first, past = within(g.left, g.out_w), within(g.left + g.width, g.out_w)
        for slab in items(g.planes * g.out_d):
            plane = slab // g.out_d
            z = slab - plane * g.out_d - g.front
            start = slab * g.out_h * g.out_w
            for i in range(start, start + g.out_h * g.out_w):
                out[i] = value
            if z >= 0 and z < g.depth:
                for b in range(upper, lower):
                    read, write = ((plane * g.depth + z) * g.height + b - g.top) * g.width - g.left, start + b * g.out_w
                    for c in range(first, past):
                        out[write + c] = data[read + c]
    else:
        for row in items(g.planes * g.out_d * g.out_h):
            slab = row // g.out_h
            plane = slab // g.out_d
            z = source_of(slab - plane * g.out_d, g.front, g.depth, g.mode)
            y = source_of(row - slab * g.out_h, g.top, g.height, g.mode)
            for c in range(g.out_w):
                x = source_of(c, g.left, g.width, g.mode)
                out[row * g.out_w + c] = data[((plane * g.depth + z) * g.height + y) * g.width + x]


def pad_cuda(data, out, value, g: Geometry):
    """The same with one element per item."""
    for t in items(g.planes * g.out_d * g.out_h * g.out_w):
        row = t // g.out_w
        slab = row // g.out_h
        plane = slab // g.out_d
        z = source_of(slab - plane * g.out_d, g.front, g.depth, g.mode)
        y = source_of(row - slab * g.out_h, g.top, g.height, g.mode)
        x = source_of(t - row * g.out_w, g.left, g.width, g.mode)
        if z < 0 or y < 0 or x < 0:
            out[t] = value
        else:
            out[t] = data[((plane * g.depth + z) * g.height + y) * g.width + x]


def unpad(head, d_data, g: Geometry):
    if g.mode == 0:
        first, past = within(-g.left, g.width), within(g.out_w - g.left, g.width)
        for slab in items(g.planes * g.depth):
            plane = slab // g.depth
            a = slab - plane * g.depth + g.front
            for y in range(g.height):
                b, write = y + g.top, (slab * g.height + y) * g.width
                read = ((plane * g.out_d + a) * g.out_h + b) * g.out_w + g.left
                is_kept = a >= 0 and a < g.out_d and b >= 0 and b < g.out_h
                for x in range(first if is_kept else g.width):
                    d_data[write + x] = 0
                if is_kept:
                    for x in range(first, past):
                        d_data[write + x] = 0 + head[read + x]
                    for x in range(past, g.width):
                        d_data[write + x] = 0
    else:
        for plane in items(g.planes):
            start = plane * g.depth * g.height * g.width
            for i in range(g.depth * g.height * g.width):
                d_data[start + i] = 0
            read = plane * g.out_d * g.out_h * g.out_w
            for a in range(g.out_d):
                z = source_of(a, g.front, g.depth, g.mode)
                for b in range(g.out_h):
                    y = source_of(b, g.top, g.height, g.mode)
                    for c in range(g.out_w):
                        x = source_of(c, g.left, g.width, g.mode)
                        d_data[start + (z * g.height + y) * g.width + x] += head[read]
                        read += 1


PAD, UNPAD = Loop(pad, cuda_function=pad_cuda), Loop(unpad)


# --- the operator -------------------------------------------------------------------------------


def geometry(p, shape, out_shape):
    flat = (1,) * (5 - len(shape))
    before = (*(0 for _ in flat), *p.pad_width[4::2])
    return Geometry(MODES[p.mode], prod(shape[:2]), *flat, *shape[2:], *flat, *out_shape[2:], *before)


def forward(p, data, out):
    PAD(data, out, p.constant_value, geometry(p, data.shape, out.shape))


def backward(p, head, d_data):
    if d_data is not None:
        UNPAD(head, d_data, geometry(p, d_data.shape, head.shape))


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
