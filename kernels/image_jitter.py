"""_image_random_hue, _image_random_color_jitter, _image_random_lighting: colours changed at random, several ways.

[_image_random_hue/value] the hue of every pixel is turned by the factor, where 1 is a whole turn; its lightness and
    saturation stay. The factor is drawn as image_random.py says. A picture of one channel stays as it is.
    >>> run("_image_random_hue", [[[255, 0, 0]]], min_factor=0.75, max_factor=0.75)
    [[[127.5, 0.0, 255.0]]]
    >>> run("_image_random_hue", [[[7], [9]]], min_factor=0.5, max_factor=0.5)
    [[[7.0], [9.0]]]

[_image_random_color_jitter/value] changes of brightness, contrast, saturation and hue follow each other in random
    order, each as the operator of its name makes it. The factors lie around 1 by up to brightness, contrast and
    saturation, that of hue around 0 by up to hue; an amount of 0 or less makes no change and draws no factor.
    >>> run("_image_random_color_jitter", [[[10, 20, 30]]], brightness=0, contrast=0, saturation=0, hue=-1)
    [[[10.0, 20.0, 30.0]]]

[_image_random_color_jitter/order] the order is drawn before the factors, by shuffling brightness, contrast, saturation,
    hue from the front as shuffle.py says.

[_image_random_lighting/value] the colours move as _image_adjust_lighting (image.py) moves them, by normal numbers times
    alpha_std.
    >>> run("_image_random_lighting", [[[10, 20, 30]]], alpha_std=0)
    [[[10.0, 20.0, 30.0]]]

[_image_random_lighting/draw] normal numbers come in pairs by the polar method (random_streams.py), of which the second
    is used first: the first pair gives the first two, the next pair the third.

[image-jitter/cut] numbers that leave the range of a whole-number type stop at its end after each change; the rest is
    cut.
    >>> run("_image_random_hue", [[[192, 67, 251]]], min_factor=0.1, max_factor=0.1, dtype="uint8")
    [[[250.0, 67.0, 199.0]]]

[image-jitter/gradient] heads pass unchanged.
    >>> grad("_image_random_hue", [[[1, 2, 3]]], min_factor=0.5, max_factor=0.5, head=[[[5, 6, 7]]])
    [[[5.0, 6.0, 7.0]]]

[image-jitter/shape] a picture has the shape (height, width, channels), with one or three channels; for lighting three.
"""

import math
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, require, scalar, scratch
from .image import LIGHTING
from .image_random import AVERAGE, FactorParams, cases, ends, fill_greys, gradient
from .image_random import infer as infer_factor
from .shared.random_streams import draw, single, single_engine
from .shuffle import below

BRIGHTNESS, CONTRAST, SATURATION, HUE, NOTHING = range(5)
SMALLEST = float(np.finfo(np.float32).eps)
"""The difference between the largest and the smallest number of a pixel up to which it has no hue."""


class JitterParams(NamedTuple):
    brightness: float
    contrast: float
    saturation: float
    hue: float


class LightingParams(NamedTuple):
    alpha_std: float = 0.0500000007


# --- shapes ---------------------------------------------------------------------------------------


def inferred(ins, outs, channels):
    shape = merge("image-jitter/shape", "data and output", ins[0], outs[0])
    if shape is not None:
        fits = len(shape) == 3 and shape[-1] in (UNKNOWN, *channels)
        wanted = " or ".join(map(str, channels))
        require("image-jitter/shape", fits, f"data {shape} is not (height, width, {wanted} channels)")
    return [shape], [shape]


def infer(p, ins, outs):
    return inferred(ins, outs, (1, 3))


def infer_lighting(p, ins, outs):
    return inferred(ins, outs, (3,))


# --- loops ----------------------------------------------------------------------------------------


@scalar
def between(state, least, most):
    return np.float32(least) + (np.float32(most) - np.float32(least)) * single(draw(state, 0))


@scalar
def exchange(order, i, j):
    kept = order[i]
    order[i] = order[j]
    order[j] = kept


def draw_turn(state, change, factor, least, most):
    for i in items(1):
        change[i] = HUE
        factor[i] = between(state, least, most)


def draw_jitter(state, change, factor, brightness, contrast, saturation, hue):
    """The changes in their order, and the factor of each."""
    for _ in items(1):
        for i in range(4):
            change[i] = i
        for i in range(1, 4):
            exchange(change, i, below(state, i + 1))
        for i in range(4):
            kind = change[i]
            amount = np.float32(hue)
            if kind == BRIGHTNESS:
                amount = np.float32(brightness)
            elif kind == CONTRAST:
                amount = np.float32(contrast)
            elif kind == SATURATION:
                amount = np.float32(saturation)
            if amount <= 0:
                change[i] = NOTHING
            else:
                around = 0.0 if kind == HUE else 1.0
                factor[i] = around + between(state, -amount, amount)


def draw_moves(state, alpha, deviation):
    for _ in items(1):
        for pair in range(2):
            x = y = r = np.float32(0)
            while not (r > 0 and r <= 1):
                x = np.float32(2 * single(draw(state, 0)) - 1)
                y = np.float32(2 * single(draw(state, 0)) - 1)
                r = x * x + y * y
            logarithm = np.float32(math.log(np.float64(r)))  # rounded once, alike on all platforms
            scale = np.float32(math.sqrt(np.float32(-2 * logarithm / r)))
            alpha[2 * pair] = y * scale * np.float32(deviation)
            if pair == 0:
                alpha[1] = x * scale * np.float32(deviation)


@scalar
def turned(pixel, i, factor, channel):
    """Number ``channel`` of the pixel that begins at ``i``, its hue turned by ``factor``."""
    red = np.float32(pixel[i]) / np.float32(255)
    green = np.float32(pixel[i + 1]) / np.float32(255)
    blue = np.float32(pixel[i + 2]) / np.float32(255)
    most, least = max(red, green, blue), min(red, green, blue)
    light, apart = (most + least) * np.float32(0.5), most - least
    if not apart > np.float32(SMALLEST):
        return light * np.float32(255)
    degrees = np.float32(60) / apart
    if most == red:
        hue = (green - blue) * degrees
    elif most == green:
        hue = (blue - red) * degrees + np.float32(120)
    else:
        hue = (red - green) * degrees + np.float32(240)
    if hue < 0:
        hue += np.float32(360)
    if light < np.float32(0.5):
        strength = apart / (most + least)
    else:
        strength = apart / (np.float32(2) - most - least)
    if light <= np.float32(0.5):
        high = light * (np.float32(1) + strength)
    else:
        high = light + strength - light * strength
    low = np.float32(2) * light - high
    place = ((hue + factor * np.float32(360)) * (np.float32(1) / np.float32(60))) % np.float32(6)
    sector = 0  # of the six between red, yellow, green, cyan, blue and magenta
    for edge in range(1, 6):
        sector += 1 if place >= np.float32(edge) else 0
    beyond = place - np.float32(sector)
    seen = (sector - 2 * channel) % 6  # as red sees it: it is high, falls, is low twice, rises, and is high
    value = high
    if seen == 1:
        value = low + (high - low) * (np.float32(1) - beyond)
    elif seen == 4:
        value = low + (high - low) * beyond
    elif seen in (2, 3):
        value = low
    return value * np.float32(255)


def alter(data, change, factor, grey, mean, out, step, pixels, channels, low, high):
    """Change number ``step`` of every pixel."""
    for q in items(pixels):
        kind, by, base = change[step], factor[step], q * channels
        first, second, third = np.float32(data[base]), np.float32(0), np.float32(0)
        if channels == 3:
            second, third = np.float32(data[base + 1]), np.float32(data[base + 2])
        if kind == HUE and channels == 3:
            first, second, third = turned(data, base, by, 0), turned(data, base, by, 1), turned(data, base, by, 2)
        elif kind == BRIGHTNESS:
            first, second, third = first * by, second * by, third * by
        elif kind == CONTRAST or (kind == SATURATION and channels == 3):
            other = (mean[0] if kind == CONTRAST else grey[q]) * (np.float32(1) - by)
            first, second, third = first * by + other, second * by + other, third * by + other
        out[base] = min(max(first, low), high)
        if channels == 3:
            out[base + 1] = min(max(second, low), high)
            out[base + 2] = min(max(third, low), high)


def move(data, alpha, out, pixels, channel, first, second, third, low, high):
    by = alpha[0] * first + alpha[1] * second + alpha[2] * third
    for q in items(pixels):
        out[q * 3 + channel] = min(max(np.float32(data[q * 3 + channel]) + by, low), high)


DRAW_TURN, DRAW_JITTER, DRAW_MOVES = Loop(draw_turn), Loop(draw_jitter), Loop(draw_moves)
ALTER, MOVE = Loop(alter), Loop(move)


# --- the operators --------------------------------------------------------------------------------


def lent(data, steps):
    """The kinds of changes and their factors, the greys of pixels and their mean: all float32, of one loan."""
    return scratch(data, steps, steps, max(data.size // data.shape[-1], 1), 1, dtype=np.float32)


def altered(data, out, change, factor, grey, mean):
    pixels, channels = data.size // data.shape[-1], data.shape[-1]
    for step in range(change.size):
        fill_greys(data, grey)
        AVERAGE(grey, mean, pixels)
        ALTER(data, change, factor, grey, mean, out, step, pixels, channels, *ends(data.dtype))
        data = out


def hue(p, data, out, *, rng):
    change, factor, *greys = lent(data, 1)
    DRAW_TURN(single_engine(data.device, rng), change, factor, p.min_factor, p.max_factor)
    altered(data, out, change, factor, *greys)


def jitter(p, data, out, *, rng):
    change, factor, *greys = lent(data, 4)
    DRAW_JITTER(single_engine(data.device, rng), change, factor, *p)
    altered(data, out, change, factor, *greys)


def lighting(p, data, out, *, rng):
    (alpha,) = scratch(data, 3, dtype=np.float32)
    DRAW_MOVES(single_engine(data.device, rng), alpha, p.alpha_std)
    for channel, weights in enumerate(LIGHTING):
        MOVE(data, alpha, out, data.size // 3, channel, *map(np.float32, weights), *ends(data.dtype))


def cases_jitter(draw):
    shape = (draw.integer(1, 4), draw.integer(1, 4), draw.choice((1, 3)))
    names = ("brightness", "contrast", "saturation", "hue")
    return Case({name: draw.choice((0.0, 0.25, 0.5)) for name in names}, {"data": shape})


def cases_lighting(draw):
    return Case({"alpha_std": draw.choice((0.0, 0.5))}, {"data": (draw.integer(1, 4), draw.integer(1, 4), 3)})


MEAN = {"average": "the average of a picture, a single number, added up in order"}
ALONE = {
    "hue": MEAN | {"draw_turn": "draws one number from the stream"},
    "color_jitter": MEAN | {"draw_jitter": "draws an order and up to four numbers, one after the other"},
    "lighting": {"draw_moves": "draws three numbers, one after the other"},
}
for _name, _params, _infer, _forward, _cases, _refusals in (
    ("hue", FactorParams, infer_factor, hue, cases, {
        "image-random/shape": {"params": {"min_factor": 1, "max_factor": 1}, "shapes": {"data": (2, 2)}},
        "image-random/least": {"params": {"min_factor": -1, "max_factor": 1}, "shapes": {"data": (2, 2, 3)}},
    }),
    ("color_jitter", JitterParams, infer, jitter, cases_jitter, {"image-jitter/shape": {
        "params": dict.fromkeys(JitterParams._fields, 1), "shapes": {"data": (2, 2)},
    }}),
    ("lighting", LightingParams, infer_lighting, lighting, cases_lighting, {
        "image-jitter/shape": {"params": {}, "shapes": {"data": (2, 2, 1)}},
    }),
):
    register(Op(
        name=f"_image_random_{_name}", doc=__doc__, params=_params, infer=_infer, forward=_forward,
        gradient=gradient, cases=_cases, random=True, refusals=_refusals,
        differentiable=False,  # heads pass unchanged, whatever is drawn
        tier=3, runs_alone=ALONE[_name],
    ))
