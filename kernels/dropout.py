"""Dropout: in training each element is dropped with probability p, the others grow by 1 / (1 - p).

[Dropout/keep] an element is kept where its unit number u < 1 - p; u comes from the device's streams
    (random_streams.py), one per element of the mask, in C order. 1 - p and 1 / (1 - p) are single
    precision.
    >>> run("Dropout", [3, 6, 9, 12], p=0.25, is_train=True)
    [4.0, 8.0, 12.0, 0.0]

[Dropout/evaluation] in evaluation the output is the input, unless mode="always".
    >>> run("Dropout", [3, 6, 9, 12], p=0.25)
    [3.0, 6.0, 9.0, 12.0]
    >>> run("Dropout", [3, 6, 9, 12], p=0.25, mode="always")
    [4.0, 8.0, 12.0, 0.0]

[Dropout/axes] along the axes named, one decision holds for all elements.
    >>> run("Dropout", [[3, 3], [6, 6], [9, 9], [12, 12]], p=0.25, axes=(1,), is_train=True)
    [[4.0, 4.0], [8.0, 8.0], [12.0, 12.0], [0.0, 0.0]]

[Dropout/axis-range] every axis lies in 0 .. rank - 1.

[Dropout/shape] the output has data's shape; either is inferred from the other.

[Dropout/gradient] the gradient goes through the same mask.
    >>> grad("Dropout", [3, 6, 9, 12], p=0.25, head=[1, 1, 1, 1])
    [1.333333, 1.333333, 1.333333, 0.0]

[Dropout/all] p = 1 multiplies 0 by infinity, which is NaN; p = 0 is the identity and takes no
    random numbers; a p outside 0 .. 1 is refused.
    >>> run("Dropout", [3, 6], p=1, is_train=True)
    [nan, nan]

[Dropout/half] float16 goes through single precision and so takes one draw per element, as float32
    does.
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    AtLeast,
    AtMost,
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    as_buffer,
    items,
    merge,
    register,
    require,
    strides_of,
)
from .foundation.loops import MULTIPLY
from .shared.random_streams import draws, unit_double, unit_single
from .shared.terms import Term


class Params(NamedTuple):
    p: Annotated[float, AtLeast(0), AtMost(1)] = 0.5
    mode: Literal["training", "always"] = "training"
    axes: Shape = ()
    cudnn_off: bool | None = False


def mask_shape(p, data):
    for axis in p.axes:
        require(
            "Dropout/axis-range", 0 <= axis < len(data),
            f"axis {axis} is not in 0 .. {len(data) - 1}, the axes of data {list(data)}",
        )
    return tuple(1 if axis in p.axes else side for axis, side in enumerate(data))


def infer(p, ins, outs):
    data = merge("Dropout/shape", "data", ins[0], outs[0])
    mask = outs[1] if data is None else merge("Dropout/shape", "mask", outs[1], mask_shape(p, data))
    return [data], [data, mask]


# --- loops --------------------------------------------------------------------------------------


def copy(data, out, n):
    for i in items(n):
        out[i] = data[i]


def ones(mask, n):
    for i in items(n):
        mask[i] = 1


def choose(mask, words, n, keep, growth):
    """mask = growth where u < keep, else 0 (NaN where growth is infinite)."""
    for i in items(n):
        kept = 1.0 if unit(words, i) < keep else 0.0  # noqa: F821  # bound by Loop(choose, unit=...)
        mask[i] = kept * growth


def multiply_wide(data, mask, out, sides, strides, rank, rows, width):
    """data . mask, which has side 1 (stride 0) along some axes."""
    for row in items(rows):
        rest = row
        base = 0
        for back in range(1, rank):
            axis = rank - 1 - back
            above = rest // sides[axis]
            base += (rest - above * sides[axis]) * strides[axis]
            rest = above
        step = strides[rank - 1]
        for j in range(width):
            out[row * width + j] = data[row * width + j] * mask[base + j * step]


COPY, ONES = Loop(copy), Loop(ones)
CHOOSE = Loop(choose, unit=unit_single), Loop(choose, unit=unit_double)
MULTIPLY_WIDE = Loop(multiply_wide)


# --- the operator -------------------------------------------------------------------------------


def apply_mask(data, mask, out):
    if mask.size == data.size:
        MULTIPLY(data, mask, out, data.size)
        return
    sides = mask.shape
    steps = [0 if side == 1 else step for side, step in zip(sides, strides_of(sides), strict=True)]
    numbers = [
        as_buffer(np.array(values, np.int64), data.device) for values in (data.shape, steps)
    ]
    width = data.shape[-1]
    MULTIPLY_WIDE(data, mask, out, *numbers, len(sides), data.size // max(width, 1), width)


def forward(p, data, out, mask, *, is_train, rng):
    if p.p == 0 or not (is_train or p.mode == "always"):
        COPY(data, out, data.size)
        ONES(mask, mask.size)
        return
    keep = np.float32(1) - np.float32(p.p)
    growth = float(np.float32(1) / keep) if keep else float("inf")
    choose_by = CHOOSE[mask.dtype == np.float64]
    choose_by(mask, draws(mask, rng), mask.size, float(keep), growth)
    apply_mask(data, mask, out)


def backward(p, head, mask, d_data, *, is_train):
    if d_data is not None:
        apply_mask(head, mask, d_data)


def gradient(make, p, heads, inputs, outputs):
    mask = Term(make, outputs[1], stretch=True)  # its slopes come with axes of one element
    return [(Term(make, heads[0]) * mask).entry]


def cases(draw):
    data = draw.shape(1, 4)
    axes = tuple(axis for axis in range(len(data)) if draw.integer(0, 3) == 0)
    mode = draw.choice(("training", "always"))
    return Case({"p": draw.choice((0.0, 0.25, 0.5)), "mode": mode, "axes": axes}, {"data": data})


register(Op(
    name="Dropout", doc=__doc__, params=Params, outputs=("output", "mask"), hidden=1,
    infer=infer, forward=forward, backward=backward, needs=("mask",), mode=True, random=True,
    gradient=gradient,
    inplace=((0, 0),), inplace_backward=(("head", "data"),), cases=cases,
    refusals={
        "Dropout/axis-range": {"params": {"axes": (2,)}, "shapes": {"data": (2, 3)}},
        "params/bad-value": {"params": {"p": 1.5}, "shapes": {"data": (2, 3)}},
    },
    tier=1, reports=Sources(),
))
