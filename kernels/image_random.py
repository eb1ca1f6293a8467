"""_image_random_brightness, _image_random_contrast, _image_random_saturation: colours changed by a random factor.

[image-random/factor] the factor lies between min_factor and max_factor: min_factor + (max_factor - min_factor) * u, in
    single precision, where the unit number u is the next draw of the device's one engine.

[_image_random_brightness/value] every number times the factor.
    >>> run("_image_random_brightness", [[[172, 47, 117]]], min_factor=0.5, max_factor=0.5)
    [[[86.0, 23.5, 58.5]]]

[_image_random_contrast/value] every number times the factor, plus 1 - factor times the grey of the whole picture, which
    is the mean of its pixels' greys: 0.299 red + 0.587 green + 0.114 blue, or the number of a picture of one channel.
    >>> run("_image_random_contrast", [[[10], [30]]], min_factor=2, max_factor=2)
    [[[0.0], [40.0]]]

[_image_random_saturation/value] every number times the factor, plus 1 - factor times its pixel's grey; a picture of
    one channel stays as it is.
    >>> run("_image_random_saturation", [[[10], [30]]], min_factor=2, max_factor=2)
    [[[10.0], [30.0]]]

[image-random/cut] numbers that leave the range of a whole-number type stop at its end; the rest is cut.
    >>> run("_image_random_brightness", [[[100, 7, 3]]], min_factor=2.75, max_factor=2.75, dtype="uint8")
    [[[255.0, 19.0, 8.0]]]

[image-random/gradient] heads pass unchanged.
    >>> grad("_image_random_brightness", [[[1, 2, 3]]], min_factor=2, max_factor=2, head=[[[5, 6, 7]]])
    [[[5.0, 6.0, 7.0]]]

[image-random/least] min_factor and max_factor are 0 or more.

[image-random/shape] a picture has the shape (height, width, channels), with one or three channels.
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, require, scratch
from .shared.random_streams import draw, single, single_engine

GREY = (0.299, 0.587, 0.114)
"""Weights of red, green and blue."""


class FactorParams(NamedTuple):
    min_factor: float
    max_factor: float


# --- shapes ---------------------------------------------------------------------------------------


def infer(p, ins, outs):
    least = min(p.min_factor, p.max_factor)
    require("image-random/least", least >= 0, f"{p} holds a number below 0")
    shape = merge("image-random/shape", "data and output", ins[0], outs[0])
    if shape is not None:
        fits = len(shape) == 3 and shape[-1] in (UNKNOWN, 1, 3)
        require("image-random/shape", fits, f"data {shape} is not (height, width, 1 or 3 channels)")
    return [shape], [shape]


# --- loops ----------------------------------------------------------------------------------------


def draw_factor(state, factor, low, high):
    for i in items(1):
        factor[i] = np.float32(low) + (np.float32(high) - np.float32(low)) * single(draw(state, 0))


def scale(data, factor, grey, out, low, high):
    """Row q of data is mixed with ``grey[q]``."""
    for q, k in items(out.shape):
        mixed = np.float32(data[q, k]) * factor[0] + grey[q] * (np.float32(1) - factor[0])
        out[q, k] = min(max(mixed, low), high)


def brighten(data, factor, out, n, low, high):
    for q in items(n):
        out[q] = min(max(np.float32(data[q]) * factor[0], low), high)


def greys(data, grey, pixels, channels, red, green, blue):
    for q in items(pixels):
        if channels == 1:
            grey[q] = data[q]
        else:
            grey[q] = (
                np.float32(data[q * 3]) * red + np.float32(data[q * 3 + 1]) * green
                + np.float32(data[q * 3 + 2]) * blue
            )


def average(grey, mean, pixels):
    for i in items(1):
        total = np.float32(0)
        for q in range(pixels):
            total += grey[q]
        mean[i] = total / np.float32(max(pixels, 1))


DRAW, SCALE, BRIGHTEN, GREYS, AVERAGE = Loop(draw_factor), Loop(scale), Loop(brighten), Loop(greys), Loop(average)


# --- the operators --------------------------------------------------------------------------------


def ends(dtype):
    """The least and the largest number of a whole-number type."""
    whole = dtype.kind in "iu"
    return [np.float64(end) for end in ((np.iinfo(dtype).min, np.iinfo(dtype).max) if whole else (-np.inf, np.inf))]


def lent(p, data, rng, *sizes):
    """The factor, and memory for float32 numbers."""
    buffers = scratch(data, 1, *sizes, dtype=np.float32)
    DRAW(single_engine(data.device, rng), buffers[0], p.min_factor, p.max_factor)
    return buffers


def fill_greys(data, grey):
    GREYS(data, grey, data.size // data.shape[-1], data.shape[-1], *(np.float32(weight) for weight in GREY))


def brightness(p, data, out, *, rng):
    (factor,) = lent(p, data, rng)
    BRIGHTEN(data, factor, out, data.size, *ends(data.dtype))


def contrast(p, data, out, *, rng):
    pixels = data.size // data.shape[-1]
    factor, mean, grey = lent(p, data, rng, 1, max(pixels, 1))
    fill_greys(data, grey)
    AVERAGE(grey, mean, pixels)
    whole = (1, data.size)
    SCALE(data.reshape(whole), factor, mean, out.reshape(whole), *ends(data.dtype))


def saturation(p, data, out, *, rng):
    pixels = data.size // data.shape[-1]
    factor, grey = lent(p, data, rng, max(pixels, 1))
    fill_greys(data, grey)
    rows = (pixels, data.shape[-1])
    SCALE(data.reshape(rows), factor, grey, out.reshape(rows), *ends(data.dtype))


def gradient(make, p, heads, inputs, outputs):
    return [make("_copy", heads)[0]]


def cases(draw):
    factor = draw.choice((0.0, 0.5, 1.0, 1.5))
    shape = (draw.integer(1, 4), draw.integer(1, 4), draw.choice((1, 3)))
    return Case({"min_factor": factor, "max_factor": factor}, {"data": shape})


ALONE = {
    "average": "the average of a picture, a single number, added up in order",
    "draw_factor": "draws one number from the stream",
}
for _name, _forward in (("brightness", brightness), ("contrast", contrast), ("saturation", saturation)):
    register(Op(
        name=f"_image_random_{_name}", doc=__doc__, params=FactorParams, infer=infer, forward=_forward,
        gradient=gradient, cases=cases, random=True,
        differentiable=False,  # heads pass unchanged, whatever the factor
        refusals={
            "image-random/shape": {"params": {"min_factor": 1, "max_factor": 1}, "shapes": {"data": (2, 2)}},
            "image-random/least": {"params": {"min_factor": -1, "max_factor": 1}, "shapes": {"data": (2, 2, 3)}},
        },
        tier=3, runs_alone=ALONE if _forward is contrast else {"draw_factor": ALONE["draw_factor"]},
    ))
