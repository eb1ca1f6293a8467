"""_image_resize: a picture, or each of a batch, in another size.

[_image_resize/value] each picture is resized as _cvimresize does it (cv_resize.py), by the method that interp says.
    >>> run("_image_resize", [[[0], [4]]], size=(4, 1), dtype="float32")
    [[[0.0], [1.0], [3.0], [4.0]]]
    >>> run("_image_resize", [[[[1], [2]]], [[[3], [4]]]], size=(1, 1), interp=0)
    [[[[1.0]]], [[[3.0]]]]

[_image_resize/size] size is the new width and height, or one number for both, each above 0. With keep_ratio and one
    number, this is the shorter side, and the longer one keeps its ratio to it, cut to a whole number; with two numbers
    keep_ratio changes nothing.
    >>> run("_image_resize", [[[1], [1], [1]], [[1], [1], [1]]], size=3, keep_ratio=True)
    [[[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [1.0]]]

[_image_resize/interp] interp is 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos).

[_image_resize/shape] a picture is (height, width, channels), a batch (n, height, width, channels), with no side of 0
    and 512 channels at most.

[_image_resize/types] the output has data's type: uint8, float32 or float64, and int8 or int32 for interp=0.

[_image_resize/gradient] there is none, as for _cvimresize.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from . import cv_resize
from .cv_resize import LINEAR, TYPES
from .foundation import UNKNOWN, Case, Op, Shape, decides, merge, refusal, register, require, same_type, told
from .foundation.buffer import Buffer
from .shared.resized import MOST_CHANNELS

PAGE = "_image_resize"


class Params(NamedTuple):
    size: Shape = ()
    keep_ratio: bool = False
    interp: int = LINEAR


@decides("_image_resize/size")
def sides(p, height, width):
    """The new height and width; UNKNOWN where the old ones, which they depend on, are."""
    if len(p.size) == 2 or not p.keep_ratio:
        return p.size[-1], p.size[0]
    if not told(height, width):
        return UNKNOWN, UNKNOWN
    shorter = min(height, width)
    return p.size[0] * height // shorter, p.size[0] * width // shorter


def infer(p, ins, outs):
    sized = len(p.size) in (1, 2) and min(p.size) > 0
    require(f"{PAGE}/size", sized, f"size is {p.size}: give the width and height, or one number for both, above 0")
    require(
        f"{PAGE}/interp", p.interp in TYPES,
        f"interp is {p.interp}: give 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos)",
    )
    (data,), (out,) = ins, outs
    for name, shape in (("data", data), ("output", out)):
        fits = shape is None or (len(shape) in (3, 4) and all(side > 0 for side in shape if told(side)))
        fits = fits and not (shape is not None and told(shape[-1]) and shape[-1] > MOST_CHANNELS)
        require(
            f"{PAGE}/shape", fits,
            f"{name} has shape {shape}, expected (height, width, channels), or a batch of such, without 0, and"
            f" {MOST_CHANNELS} channels at most",
        )
    if data is None and out is None:
        return ins, outs
    if out is not None:
        data = merge(f"{PAGE}/shape", "data", data, (*out[:-3], UNKNOWN, UNKNOWN, out[-1]))
    return [data], [merge(f"{PAGE}/shape", "output", out, (*data[:-3], *sides(p, *data[-3:-1]), data[-1]))]


@decides("_image_resize/types")
def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    if kind is not None and np.dtype(kind).name not in TYPES[p.interp]:
        raise refusal(
            f"{PAGE}/types", f"data is {np.dtype(kind)}, interp={p.interp} takes {', '.join(TYPES[p.interp])}; use Cast"
        )
    return same_type(p, ins, outs)


def picture(batch, n):
    """The n-th picture of a batch, or the only one."""
    shape = batch.shape[-3:]
    return Buffer(batch.flat[n * prod(shape) : (n + 1) * prod(shape)], shape, batch.device)


@decides("_image_resize/value")
def forward(p, data, out):
    height, width = out.shape[-3:-1]
    each = cv_resize.Params(width, height, p.interp)
    for n in range(prod(data.shape[:-3])):
        cv_resize.forward(each, picture(data, n), picture(out, n))


def cases(draw):
    interp = draw.choice(tuple(TYPES))
    kind = draw.choice(TYPES[interp])
    size = tuple(draw.integer(1, 5) for _ in range(draw.integer(1, 2)))
    shape = (*((draw.integer(1, 3),) if draw.boolean() else ()), *(draw.integer(1, 5) for _ in range(3)))
    params = {"size": size, "keep_ratio": draw.boolean(), "interp": interp}
    return Case(params, {"data": shape}, {"data": ("ints", 0, 100)}, {"data": kind})


register(Op(
    name=PAGE, doc=__doc__, params=Params, infer=infer, infer_type=infer_type, forward=forward, cases=cases,
    no_gradient_clause=f"{PAGE}/gradient",
    refusals={
        f"{PAGE}/size": {"params": {"size": (0, 2)}, "shapes": {"data": (3, 3, 3)}, "dtypes": {"data": "uint8"}},
        f"{PAGE}/interp": {
            "params": {"size": 2, "interp": 5}, "shapes": {"data": (3, 3, 3)}, "dtypes": {"data": "uint8"},
        },
        f"{PAGE}/shape": {"params": {"size": 2}, "shapes": {"data": (3, 3)}, "dtypes": {"data": "uint8"}},
        f"{PAGE}/types": {"params": {"size": 2}, "shapes": {"data": (3, 3, 3)}, "dtypes": {"data": "int32"}},
    },
    tier=3, without_loops="runs the loops of _cvimresize for each picture",
))
