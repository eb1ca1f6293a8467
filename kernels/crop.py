"""Crop: a rectangle cut out of every image of a batch.

[Crop/size] the rectangle has the height and width of h_w, or those of a second input, crop_like, of which nothing else
    counts. Neither side is 0, and both fit into data, (batch, channels, height, width).
    >>> image = [[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]]
    >>> run("Crop", image, h_w=(1, 2)), run("Crop", image, [[[[0], [0]]]], h_w=(9, 9))
    ([[[[0.0, 1.0]]]], [[[[0.0], [4.0]]]])

[Crop/offset] it begins at offset (y, x); with center_crop in the middle instead, nearer to the origin where there is
    no middle. It may not reach beyond data.
    >>> run("Crop", image, h_w=(1, 2), offset=(2, 1)), run("Crop", image, h_w=(2, 1), center_crop=True)
    ([[[[9.0, 10.0]]]], [[[[1.0], [5.0]]]])

[Crop/inputs] there are one or two inputs.

[Crop/types] data is of any type.
    >>> import numpy as np
    >>> run("Crop", np.array([[[[1, 2], [3, 4]]]], "int32"), h_w=(1, 1), offset=(1, 1))
    [[[[4.0]]]]

[Crop/gradient] the head inside the rectangle, 0 elsewhere; 0 for crop_like.
    >>> grad("Crop", [[[[0, 0], [0, 0]]]], [[[[0]]]], offset=(1, 0), head=[[[[5]]]])
    ([[[[0.0, 0.0], [5.0, 0.0]]]], [[[[0.0]]]])
"""

from typing import NamedTuple

from .foundation import UNKNOWN, Case, Count, Loop, Op, Shape, Sources, items, merge, register, require, told
from .foundation.loops import zero


class Params(NamedTuple):
    num_args: Count
    offset: Shape = (0, 0)
    h_w: Shape = (0, 0)
    center_crop: bool = False


def infer(p, ins, outs):
    require("Crop/inputs", len(ins) in (1, 2), f"{len(ins)} inputs given, data and perhaps crop_like are taken")
    for name, pair in (("offset", p.offset), ("h_w", p.h_w)):
        require("Crop/size", len(pair) == 2 and min(pair) >= 0, f"{name} {pair} must be two numbers, none negative")
    data, out = ins[0], outs[0] or (UNKNOWN,) * 4
    wanted = p.h_w
    if len(ins) == 2:
        like = merge("Crop/size", "crop_like", ins[1], (UNKNOWN, UNKNOWN, *out[2:]))
        wanted = like[2:]
    else:
        require("Crop/size", min(p.h_w) > 0, f"h_w {p.h_w} has a side of 0, and there is no crop_like")
    data = merge("Crop/size", "data", data, (*out[:2], UNKNOWN, UNKNOWN))
    out = merge("Crop/size", "output", out, (*data[:2], *wanted))
    fits = all(not told(a, b) or b <= a for a, b in zip(data[2:], out[2:], strict=True))
    require("Crop/size", fits, f"a rectangle of {out[2:]} does not fit into an image of {data[2:]}")
    if not p.center_crop:
        inside = all(not told(a, b) or start + b <= a for a, start, b in zip(data[2:], p.offset, out[2:], strict=True))
        require("Crop/offset", inside, f"offset {p.offset} and {out[2:]} reach beyond an image of {data[2:]}")
    return [data, *([(*like[:2], *out[2:])] if len(ins) == 2 else [])], [out]


# --- loops --------------------------------------------------------------------------------------


def cut(data, out, top, left):
    for n, c, y, x in items(out.shape):
        out[n, c, y, x] = data[n, c, top + y, left + x]


def paste(head, d_data, top, left):
    for n, c, y, x in items(head.shape):
        d_data[n, c, top + y, left + x] = head[n, c, y, x]


CUT, PASTE = Loop(cut), Loop(paste)


# --- the operator -------------------------------------------------------------------------------


def corner(p, data, out):
    """Row and column where the rectangle begins."""
    return ((data[2] - out[2]) // 2, (data[3] - out[3]) // 2) if p.center_crop else p.offset


def forward(p, inputs, out):
    CUT(inputs[0], out, *corner(p, inputs[0].shape, out.shape))


def backward(p, head, gradients):
    for gradient in gradients:
        zero(gradient)
    if gradients[0] is not None:
        PASTE(head, gradients[0], *corner(p, gradients[0].shape, head.shape))


def cases(draw):
    data = draw.shape(4, 4, 5)
    high, wide = draw.integer(1, data[2]), draw.integer(1, data[3])
    offset = draw.integer(0, data[2] - high), draw.integer(0, data[3] - wide)
    params = {"num_args": draw.integer(1, 2), "offset": offset, "center_crop": draw.boolean()}
    if params["num_args"] == 1:
        return Case({**params, "h_w": (high, wide)}, {"args": [data]})
    return Case(params, {"args": [data, (draw.integer(1, 2), draw.integer(1, 2), high, wide)]})


register(Op(
    name="Crop", doc=__doc__, params=Params, variadic="num_args", infer=infer, forward=forward, backward=backward,
    cases=cases,
    refusals={
        "Crop/size": {"params": {"h_w": (6, 2)}, "shapes": {"args": [(1, 1, 5, 5)]}},
        "Crop/offset": {"params": {"h_w": (2, 2), "offset": (4, 0)}, "shapes": {"args": [(1, 1, 5, 5)]}},
        "Crop/inputs": {"params": {}, "shapes": {"args": [(1, 1, 5, 5)] * 3}},
    },
    tier=1, reports=Sources(),
))
