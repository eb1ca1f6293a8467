"""_cvcopyMakeBorder: a picture with a border around it, as OpenCV makes one.

[_cvcopyMakeBorder/constant] type=0: the border is `values`, one for each channel (0 where there are fewer), or, if
    `values` is empty, `value` in the first three channels and 0 in a fourth, OpenCV's opacity. For uint8 a value is
    rounded, halves to even, and kept within 0 .. 255.
    >>> run("_cvcopyMakeBorder", [[[1], [2]]], top=0, bot=1, left=1, right=0, value=7.6, dtype="uint8")
    [[[8.0], [1.0], [2.0]], [[8.0], [8.0], [8.0]]]
    >>> run("_cvcopyMakeBorder", [[[1, 2, 3, 4]]], top=1, bot=0, left=0, right=0, value=3.5)
    [[[3.5, 3.5, 3.5, 0.0]], [[1.0, 2.0, 3.0, 4.0]]]

[_cvcopyMakeBorder/copied] the border repeats the pixel at the edge (type=1), mirrors the picture with it (2) or without
    it (4), or continues at the opposite edge (3).
    >>> run("_cvcopyMakeBorder", [[[1], [2], [3]]], top=0, bot=0, left=2, right=2, type=1)
    [[[1.0], [1.0], [1.0], [2.0], [3.0], [3.0], [3.0]]]
    >>> run("_cvcopyMakeBorder", [[[1], [2], [3]]], top=0, bot=0, left=2, right=2, type=2)
    [[[2.0], [1.0], [1.0], [2.0], [3.0], [3.0], [2.0]]]
    >>> run("_cvcopyMakeBorder", [[[1], [2], [3]]], top=0, bot=0, left=2, right=2, type=3)
    [[[2.0], [3.0], [1.0], [2.0], [3.0], [1.0], [2.0]]]
    >>> run("_cvcopyMakeBorder", [[[1], [2], [3]]], top=0, bot=0, left=2, right=2, type=4)
    [[[3.0], [2.0], [1.0], [2.0], [3.0], [2.0], [1.0]]]

[_cvcopyMakeBorder/type] type is 0 (constant), 1 (replicate), 2 (reflect), 3 (wrap) or 4 (reflect without the edge);
    16 more (OpenCV's BORDER_ISOLATED) changes nothing.

[_cvcopyMakeBorder/margins] margins are 0 or more, and at most 2^20.

[_cvcopyMakeBorder/values] there are at most 4 values, all finite. For a picture of more than 4 channels there are none,
    and value is 0.

[_cvcopyMakeBorder/shape] a picture is (height, width, channels), with no side of 0 and 512 channels at most; the output
    is (top + height + bot, left + width + right, channels).

[_cvcopyMakeBorder/types] the output has the picture's type: uint8, float32 or float64.

[_cvcopyMakeBorder/gradient] there is none, as in MXNet.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    Sources,
    as_buffer,
    decides,
    items,
    merge,
    refusal,
    register,
    require,
    same_type,
    told,
)
from .shared.resized import require_picture

PAGE = "_cvcopyMakeBorder"
CONSTANT, REPLICATE, REFLECT, WRAP, REFLECT_101 = range(5)
ISOLATED = 16
MOST_VALUES, MOST_MARGIN = 4, 1 << 20
TYPES = ("uint8", "float32", "float64")


class Params(NamedTuple):
    top: int
    bot: int
    left: int
    right: int
    type: int = 0
    value: float = 0.0
    values: tuple[float, ...] = ()


def infer(p, ins, outs):
    require(
        f"{PAGE}/type", p.type & ~ISOLATED in range(5),
        f"type is {p.type}: give 0 (constant), 1 (replicate), 2 (reflect), 3 (wrap) or 4 (reflect without the edge)",
    )
    margins = (p.top, p.bot, p.left, p.right)
    require(
        f"{PAGE}/margins", min(margins) >= 0 and max(margins) <= MOST_MARGIN,
        f"top, bot, left, right are {margins}, expected 0 to {MOST_MARGIN}",
    )
    (data,), (out,) = ins, outs
    require_picture(f"{PAGE}/shape", "src", data)
    require_picture(f"{PAGE}/shape", "output", out)
    frame = (p.top + p.bot, p.left + p.right)
    known = (UNKNOWN, UNKNOWN, UNKNOWN) if data is None else data
    sides = [side + more if told(side) else UNKNOWN for side, more in zip(known[:2], frame, strict=True)]
    out = merge(f"{PAGE}/shape", "output", out, (*sides, known[2]))
    back = [side - more if told(side) else UNKNOWN for side, more in zip(out[:2], frame, strict=True)]
    require(
        f"{PAGE}/shape", all(side > 0 for side in back if told(side)),
        f"the output has shape {out}, which leaves no space for a picture within margins of {margins}",
    )
    data = merge(f"{PAGE}/shape", "src", data, (*back, out[2]))
    require_values(p, data[2] if told(data[2]) else 0)
    return [data], [out]


def require_values(p, channels):
    require(
        f"{PAGE}/values",
        len(p.values) <= MOST_VALUES and all(map(math.isfinite, (p.value, *p.values)))
        and not (channels > MOST_VALUES and (p.values or p.value)),
        f"values are {p.values}, value is {p.value}: give at most {MOST_VALUES} finite values, and value=0 alone for a"
        f" picture of more than 4 channels (this one has {channels})",
    )


@decides("_cvcopyMakeBorder/types")
def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    if kind is not None and np.dtype(kind).name not in TYPES:
        raise refusal(f"{PAGE}/types", f"src is {np.dtype(kind)}, expected {', '.join(TYPES)}; use Cast")
    return same_type(p, ins, outs)


# --- the loop -----------------------------------------------------------------------------------
# data is (height, width, channels), out (top + height + bot, left + width + right, channels).


def surround(data, out, rows, columns, values):
    """Pixel (i, j) is pixel (rows[i], columns[j]) of data, or, where one of them is -1, the values of the channels."""
    for i, j, c in items(out.shape):
        y, x = rows[i], columns[j]
        out[i, j, c] = values[c] if y < 0 or x < 0 else data[y, x, c]


SURROUND = Loop(surround)


# --- the operator -------------------------------------------------------------------------------


@decides("_cvcopyMakeBorder/copied")
def taken(kind, before, side, behind):
    """Which place of ``side`` each place of the longer side takes; -1 is none."""
    at = np.arange(-before, side + behind)
    if kind == CONSTANT:
        return np.where((at < 0) | (at >= side), -1, at)
    if kind == REPLICATE or side == 1:
        return at.clip(0, side - 1)
    if kind == WRAP:
        return at % side
    if kind == REFLECT:
        at = at % (2 * side)
        return np.minimum(at, 2 * side - 1 - at)
    at = at % (2 * side - 2)
    return np.minimum(at, 2 * side - 2 - at)


@decides("_cvcopyMakeBorder/constant")
def forward(p, src, out):
    height, width, channels = src.shape
    values = np.zeros(channels)
    given = p.values[:channels] or (p.value,) * min(channels, 3)
    values[: len(given)] = given
    if src.dtype == np.uint8:
        values = np.rint(values).clip(0, 255)
    kind = p.type & ~ISOLATED
    tables = taken(kind, p.top, height, p.bot), taken(kind, p.left, width, p.right), values.astype(src.dtype)
    SURROUND(src, out, *(as_buffer(table, src.device) for table in tables))


def cases(draw):
    channels = draw.integer(1, 4)
    margins = {name: draw.integer(0, 5) for name in ("top", "bot", "left", "right")}
    values = draw.choice(((), tuple(range(channels))))
    params = {**margins, "type": draw.integer(0, 4), "value": 3.5, "values": values}
    shape = (draw.integer(1, 4), draw.integer(1, 4), channels)
    return Case(params, {"src": shape}, {"src": ("ints", 0, 100)}, {"src": draw.choice(TYPES)})


_FRAME = {"top": 1, "bot": 1, "left": 1, "right": 1}

register(Op(
    name=PAGE, doc=__doc__, params=Params, inputs=("src",), infer=infer, infer_type=infer_type, forward=forward,
    no_gradient_clause=f"{PAGE}/gradient", cases=cases,
    refusals={
        f"{PAGE}/type": {"params": {**_FRAME, "type": 5}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "uint8"}},
        f"{PAGE}/margins": {"params": {**_FRAME, "top": -1}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "uint8"}},
        f"{PAGE}/values": {
            "params": {**_FRAME, "values": (1, 2, 3, 4, 5)}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "uint8"},
        },
        f"{PAGE}/shape": {"params": _FRAME, "shapes": {"src": (3, 3)}, "dtypes": {"src": "uint8"}},
        f"{PAGE}/types": {"params": _FRAME, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "int32"}},
    },
    tier=3, reports=Sources(1),
))
