"""_image_to_tensor, _image_normalize, _image_crop, flips, _image_adjust_lighting: pictures made ready for a network.

[_image_to_tensor/value] a picture (height, width, channels), or a batch (n, height, width, channels), becomes float32
    with channels before height and width, every number divided by 255.
    >>> picture = [[[0, 51, 102], [153, 204, 255]]]
    >>> run("_image_to_tensor", picture, dtype="uint8")
    [[[0.0, 0.6]], [[0.2, 0.8]], [[0.4, 1.0]]]

[_image_to_tensor/gradient] each head, divided by 255, goes back to its number.
    >>> grad("_image_to_tensor", [[[1, 2], [3, 4]]], head=[[[255, 510]], [[765, 1020]]])
    [[[1.0, 3.0], [2.0, 4.0]]]

[_image_normalize/value] (data - mean) / std in every channel of (channels, height, width) or of a batch of such; whole
    numbers are computed as real ones and cut.
    >>> run("_image_normalize", [[[0, 1]], [[2, 3]], [[4, 5]]], mean=(1, 2, 3), std=(2, 4, 8))
    [[[-0.5, 0.0]], [[0.0, 0.25]], [[0.125, 0.25]]]
    >>> run("_image_normalize", [[[0, 1]], [[2, 3]], [[4, 5]]], mean=1, std=2)
    [[[-0.5, 0.0]], [[0.5, 1.0]], [[1.5, 2.0]]]

[_image_normalize/gradient] the head divided by std.
    >>> grad("_image_normalize", [[[0, 1]]], mean=1, std=2, head=[[[3, 5]]])
    [[[1.5, 2.5]]]

[_image_normalize/numbers] mean and std hold one number for all channels, or one for each. The defaults hold four, so
    both must be given.

[_image_crop/value] the part of a picture, or of each of a batch, that begins in column x and row y and is width wide
    and height high.
    >>> run("_image_crop", [[[1], [2], [3]], [[4], [5], [6]]], x=1, y=0, width=2, height=1)
    [[[2.0], [3.0]]]

[_image_crop/inside] the part lies in the picture, and has a pixel at least.

[_image_crop/gradient] heads go back to their places, the rest is 0.
    >>> grad("_image_crop", [[[1], [2], [3]]], x=1, y=0, width=1, height=1, head=[[[5]]])
    [[[0.0], [5.0], [0.0]]]

[image/flip] _image_flip_left_right turns the columns of a picture round, _image_flip_top_bottom the rows; heads are
    turned back.
    >>> run("_image_flip_left_right", [[[1], [2]], [[3], [4]]]), run("_image_flip_top_bottom", [[[1], [2]], [[3], [4]]])
    ([[[2.0], [1.0]], [[4.0], [3.0]]], [[[3.0], [4.0]], [[1.0], [2.0]]])
    >>> grad("_image_flip_left_right", [[[1], [2]]], head=[[[5], [6]]])
    [[[6.0], [5.0]]]

[image/random-flip] _image_random_flip_left_right and _image_random_flip_top_bottom turn a picture when a unit number,
    made of two draws of the device's one engine, is a half or more; heads are turned back.
    >>> [run("_image_random_flip_left_right", [[[1], [2]]]), run("_image_random_flip_top_bottom", [[[1]], [[2]]])]
    [[[[2.0], [1.0]]], [[[2.0]], [[1.0]]]]
    >>> grad("_image_random_flip_left_right", [[[1], [2]]], head=[[[5], [6]]])
    [[[6.0], [5.0]]]

[_image_adjust_lighting/value] the colours of a picture (red, green, blue) move along the three main directions in which
    those of photographs vary, by alpha in each; one that leaves the range of a whole-number type stops at its end.
    Gradients pass unchanged.
    >>> run("_image_adjust_lighting", [[[0, 0, 0]]], alpha=(1, 0, 0))
    [[[-31.473551, -32.211166, -32.366455]]]
    >>> run("_image_adjust_lighting", [[[0, 0, 0]]], alpha=(0, 1, 0))
    [[[3.447845, -0.021573, -3.330871]]]
    >>> run("_image_adjust_lighting", [[[0, 0, 0]]], alpha=(0, 0, 1))
    [[[0.460233, -0.934472, 0.482504]]]
    >>> run("_image_adjust_lighting", [[[0, 20, 250]]], alpha=(.1, .2, .3), dtype="uint8")
    [[[0.0, 16.0, 246.0]]]

[image/shape] pictures have three axes, batches (not for flips and lighting) a fourth before them. There are one or
    three channels; for lighting three, for _image_to_tensor any number.

[image/types] the output has data's type; that of _image_to_tensor is float32.
    >>> run("_image_crop", [[[7]]], x=0, y=0, width=1, height=1, dtype="int32")
    [[[7.0]]]
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Floats, Loop, Op, either, items, merge, register, require, same_type, scratch
from .foundation.facts import Sources
from .foundation.loops import GATHER, SCATTER, outer_side_inner, zero
from .shared.random_streams import TAKE, single_engine, unit_double
from .slice import places

# Directions in which the colours of photographs vary, times how much: (red, green, blue) by direction.
LIGHTING = (
    (55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009),
    (55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140),
    (55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203),
)


class NormalizeParams(NamedTuple):
    mean: Floats = (0.0, 0.0, 0.0, 0.0)
    std: Floats = (1.0, 1.0, 1.0, 1.0)


class CropParams(NamedTuple):
    x: int
    y: int
    width: int
    height: int


class LightingParams(NamedTuple):
    alpha: Floats


# --- shapes and types ---------------------------------------------------------------------------


def picture(shape, channel_axis, *, batch=True, channels=(1, 3)):
    """Refuse what is no picture."""
    if shape is None:
        return
    require("image/shape", len(shape) in ((3, 4) if batch else (3,)), f"data has shape {shape}, which is no picture")
    given = shape[channel_axis]
    require("image/shape", channels is None or given in (UNKNOWN, *channels), f"data {shape} has {given} channels")


def infer_tensor(p, ins, outs):
    (data,), (out,) = ins, outs
    if out is not None:
        picture(out, -3, channels=None)
        data = merge("image/shape", "data", data, (*out[:-3], out[-2], out[-1], out[-3]))
    if data is not None:
        picture(data, -1, channels=None)
        out = merge("image/shape", "output", out, (*data[:-3], data[-1], data[-3], data[-2]))
    return [data], [out]


def infer_normalize(p, ins, outs):
    shape = merge("image/shape", "data and output", ins[0], outs[0])
    picture(shape, -3)
    for name, values in (("mean", p.mean), ("std", p.std)):
        fits = len(values) in (1, 3 if shape is None else either(shape[-3], 3))
        require("_image_normalize/numbers", fits, f"{name} {values} must hold a number, or one per channel of {shape}")
    return [shape], [shape]


def infer_crop(p, ins, outs):
    require("_image_crop/inside", min(p.width, p.height) > 0 and min(p.x, p.y) >= 0, f"{p} holds no pixel")
    data, (out,) = ins[0], outs
    picture(data, -1)
    if data is None:
        return ins, outs
    for name, first, size, side in (("column", p.x, p.width, data[-2]), ("row", p.y, p.height, data[-3])):
        inside = side == UNKNOWN or first + size <= side
        require("_image_crop/inside", inside, f"{name}s {first} to {first + size} of {side}")
    return [data], [merge("image/shape", "output", out, (*data[:-3], p.height, p.width, data[-1]))]


def infer_plain(p, ins, outs):
    shape = merge("image/shape", "data and output", ins[0], outs[0])
    picture(shape, -1, batch=False)
    return [shape], [shape]


def infer_lighting(p, ins, outs):
    require("_image_adjust_lighting/value", len(p.alpha) == 3, f"alpha {p.alpha} must hold three numbers")
    shape = merge("image/shape", "data and output", ins[0], outs[0])
    picture(shape, -1, batch=False, channels=(3,))
    return [shape], [shape]


def infer_random(p, ins, outs):
    ins, out = infer_plain(p, ins, outs[:1])
    return ins, [*out, merge("image/random-flip", "turned", outs[1], (1,))]


def type_tensor(p, ins, outs):
    return ins, [np.dtype(np.float32)]


def type_random(p, ins, outs):
    ins, out = same_type(p, ins, outs[:1])
    return ins, [*out, np.dtype(np.float64)]


# --- loops --------------------------------------------------------------------------------------
# Pictures are (n, pixels, channels), or (n, channels, pixels).


def channels_first(data, out):
    for n, c, q in items(out.shape):
        out[n, c, q] = np.float32(data[n, q, c]) / np.float32(255)


def channels_last(head, d_data):
    for n, c, q in items(head.shape):
        d_data[n, q, c] = np.float64(head[n, c, q]) / 255


def normalize(data, out, c, mean, std):
    count, _, pixels = out.shape
    for n, q in items((count, pixels)):
        out[n, c, q] = (data[n, c, q] - mean) / std


def light(data, out, pixels, red, green, blue, low, high):
    for q in items(pixels):
        out[q * 3] = min(max(data[q * 3] + red, low), high)
        out[q * 3 + 1] = min(max(data[q * 3 + 1] + green, low), high)
        out[q * 3 + 2] = min(max(data[q * 3 + 2] + blue, low), high)


def decide(turned, words, n):
    for i in items(n):
        turned[i] = 1 if unit_double(words, i) >= 0.5 else 0


def turn(data, out, turned):
    """The middle one of three axes, from its end where ``turned`` says so."""
    _, side, inner = out.shape
    for o, i in items(out.shape[:2]):
        source = side - 1 - i if turned[0] > 0 else i
        for k in range(inner):
            out[o, i, k] = data[o, source, k]


CHANNELS_FIRST, CHANNELS_LAST, NORMALIZE, LIGHT = (
    Loop(channels_first), Loop(channels_last), Loop(normalize), Loop(light)
)
DECIDE, TURN = Loop(decide), Loop(turn)


# --- the operators ------------------------------------------------------------------------------


def channels_before(pictures):
    """Pictures (..., channels, height, width) as (n, channels, pixels)."""
    *many, channels, height, width = pictures.shape
    return pictures.reshape((prod(many), channels, height * width))


def channels_behind(pictures):
    """Pictures (..., height, width, channels) as (n, pixels, channels)."""
    *many, height, width, channels = pictures.shape
    return pictures.reshape((prod(many), height * width, channels))


def forward_tensor(p, data, out):
    CHANNELS_FIRST(channels_behind(data), channels_before(out))


def backward_tensor(p, head, d_data):
    if d_data is not None:
        CHANNELS_LAST(channels_before(head), channels_behind(d_data))


def forward_normalize(p, data, out):
    data, out = channels_before(data), channels_before(out)
    for c in range(data.shape[1]):
        mean, std = (np.float64(values[c % len(values)]) for values in (p.mean, p.std))
        NORMALIZE(data, out, c, mean, std)


def gradient_normalize(make, p, heads, inputs, outputs):
    return [make("_image_normalize", heads, mean=0.0, std=p.std)[0]]


def part(p, shape, device):
    """Where the pixels of a part lie."""
    ranges = [range(side) for side in shape]
    ranges[-3:-1] = range(p.y, p.y + p.height), range(p.x, p.x + p.width)
    return places(shape, ranges, device)


def forward_crop(p, data, out):
    GATHER(data, out, *part(p, data.shape, data.device))


def backward_crop(p, head, d_data):
    if d_data is not None:
        zero(d_data)
        SCATTER(head, d_data, *part(p, d_data.shape, head.device))


def flip(axis):
    def forward(p, data, out):
        ranges = [range(side) for side in data.shape]
        ranges[axis] = ranges[axis][::-1]
        GATHER(data, out, *places(data.shape, ranges, data.device))

    return forward


def gradient_flip(name):
    def gradient(make, p, heads, inputs, outputs):
        return [make(name, heads)[0]]

    return gradient


def random_flip(axis):
    def turned_by(source, target, turned):
        sides = outer_side_inner(source.shape, len(source.shape) + axis)
        TURN(source.reshape(sides), target.reshape(sides), turned)

    def forward(p, data, out, turned, *, rng):
        (words,) = scratch(turned, 2, dtype=np.uint32)
        TAKE(words, single_engine(data.device, rng), 2, 1, 2)
        DECIDE(turned, words, 1)
        turned_by(data, out, turned)

    def backward(p, head, turned, d_data):
        if d_data is not None:
            turned_by(head, d_data, turned)

    return {"forward": forward, "backward": backward}


def forward_lighting(p, data, out):
    moves = (sum(weight * alpha for weight, alpha in zip(row, p.alpha, strict=True)) for row in LIGHTING)
    whole = data.dtype.kind in "iu"
    ends = (np.iinfo(data.dtype).min, np.iinfo(data.dtype).max) if whole else (-np.inf, np.inf)
    LIGHT(data, out, data.size // 3, *(np.float64(number) for number in (*moves, *ends)))


def gradient_lighting(make, p, heads, inputs, outputs):
    return [make("_copy", heads)[0]]


def pictures(draw, *, batch=True):
    """A shape (height, width, channels), or one of a batch."""
    shape = (draw.integer(1, 4), draw.integer(1, 4), draw.choice((1, 3)))
    return (draw.integer(1, 3), *shape) if batch and draw.boolean() else shape


def cases_tensor(draw):
    return Case({}, {"data": draw.shape(3, 4)})


def cases_normalize(draw):
    *batch, high, wide, channels = pictures(draw)
    params = {
        name: tuple(draw.choice(values) for _ in range(draw.choice((1, channels))))
        for name, values in (("mean", (0.0, 0.25, -1.5)), ("std", (0.5, 1.0, -4.0)))
    }
    return Case(params, {"data": (*batch, channels, high, wide)})


def cases_crop(draw):
    shape = pictures(draw)
    high, wide = draw.integer(1, shape[-3]), draw.integer(1, shape[-2])
    params = {
        "x": draw.integer(0, shape[-2] - wide), "y": draw.integer(0, shape[-3] - high), "width": wide, "height": high,
    }
    return Case(params, {"data": shape})


def cases_lighting(draw):
    shape = (draw.integer(1, 4), draw.integer(1, 4), 3)
    return Case({"alpha": tuple(draw.choice((-0.5, 0.0, 0.125)) for _ in range(3))}, {"data": shape})


register(Op(
    name="_image_to_tensor", doc=__doc__, infer=infer_tensor, infer_type=type_tensor, forward=forward_tensor,
    backward=backward_tensor, cases=cases_tensor,
    differentiable=False,  # differences of float32 are too coarse
    refusals={"image/shape": {"shapes": {"data": (2, 3)}}}, tier=3, reports=Sources(whole=True),
))
register(Op(
    name="_image_normalize", doc=__doc__, params=NormalizeParams, infer=infer_normalize, forward=forward_normalize,
    gradient=gradient_normalize, inplace=((0, 0),), cases=cases_normalize,
    refusals={
        "image/shape": {"params": {"mean": 0, "std": 1}, "shapes": {"data": (2, 3, 3)}},
        "_image_normalize/numbers": {"shapes": {"data": (3, 2, 2)}},
    },
    tier=2, reports=Sources(),
))
register(Op(
    name="_image_crop", doc=__doc__, params=CropParams, infer=infer_crop, forward=forward_crop,
    backward=backward_crop, cases=cases_crop, tier=3, numbered_input=True,
    refusals={
        "image/shape": {"params": {"x": 0, "y": 0, "width": 1, "height": 1}, "shapes": {"data": (2, 3)}},
        "_image_crop/inside": {"params": {"x": 1, "y": 0, "width": 3, "height": 1}, "shapes": {"data": (2, 3, 3)}},
    },
))
for _name, _axis in (("_image_flip_left_right", -2), ("_image_flip_top_bottom", -3)):
    register(Op(
        name=_name, doc=__doc__, infer=infer_plain, forward=flip(_axis), gradient=gradient_flip(_name),
        cases=lambda draw: Case({}, {"data": pictures(draw, batch=False)}),
        refusals={"image/shape": {"shapes": {"data": (2, 2, 3, 3)}}},
        tier=3, numbered_input=True, reports=Sources(),
    ))
    register(Op(
        name=_name.replace("flip", "random_flip"), doc=__doc__, outputs=("output", "turned"), hidden=1,
        infer=infer_random, infer_type=type_random, **random_flip(_axis), needs=("turned",), random=True,
        cases=lambda draw: Case({}, {"data": pictures(draw, batch=False)}),
        refusals={"image/shape": {"shapes": {"data": (2, 2, 3, 3)}}},
        tier=3, numbered_input=True, reports=Sources(),
    ))
register(Op(
    name="_image_adjust_lighting", doc=__doc__, params=LightingParams, infer=infer_lighting, forward=forward_lighting,
    gradient=gradient_lighting, inplace=((0, 0),), cases=cases_lighting,
    refusals={
        "image/shape": {"params": {"alpha": (0, 0, 0)}, "shapes": {"data": (2, 2, 1)}},
        "_image_adjust_lighting/value": {"params": {"alpha": (0, 0)}, "shapes": {"data": (2, 2, 3)}},
    },
    tier=3, numbered_input=True, reports=Sources(),
))
