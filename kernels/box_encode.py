"""_contrib_box_encode and _contrib_box_decode: boxes as offsets from anchors, and back.

[_contrib_box_encode/value] for anchor i whose sample is above 0.5, output0 says where box matches[i] of refs
    lies from it: ((x - x') / width', (y - y') / height', log(width / width'), log(height / height')), less
    means, divided by stds, where x and y are centers and ' marks the anchor; output1 is 1. Both are 0
    elsewhere.
    >>> boxes = [[0, 0, 2, 2], [0, 0, 2, 1]], [[1, 1, 3, 5]]
    >>> run("_contrib_box_encode", [[1, -1]], [[0, 0]], [boxes[0]], [boxes[1]], [0, 0, 0, 0], [1, .5, 1, 1])
    ([[[0.5, 2.0, 0.0, 0.693147], [0.0, 0.0, 0.0, 0.0]]], [[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]])

[_contrib_box_encode/matches] the whole part of matches counts, kept inside 0 .. boxes - 1; without boxes
    nothing is chosen.
    >>> run("_contrib_box_encode", [[1]], [[7]], [[[0, 0, 2, 2]]], [[[2, 0, 4, 2]]], [0, 0, 0, 0], [1, 1, 1, 1])[0]
    [[[1.0, 0.0, 0.0, 0.0]]]

[_contrib_box_encode/empty] nothing guards against empty boxes: their offsets are infinite or NaN.
    >>> run("_contrib_box_encode", [[1]], [[0]], [[[0, 0, 1, 1]]], [[[0, 0, 0, 1]]], [0, 0, 0, 0], [1, 1, 1, 1])[0]
    [[[-0.5, 0.0, -inf, 0.0]]]

[_contrib_box_encode/shapes] samples and matches (batch, anchors), anchors (batch, anchors, 4), refs (batch,
    boxes, 4), both as corners; means and stds (4,). Both outputs are (batch, anchors, 4).

[_contrib_box_encode/floating-point] all inputs have one floating-point type.

[_contrib_box_encode/gradient] all gradients are zero.
    >>> box = [[[0, 0, 2, 2]]]
    >>> grad("_contrib_box_encode", [[1]], [[0]], box, box, [0, 0, 0, 0], [1, 1, 1, 1])
    (None, None, None, None, None, None)

[_contrib_box_decode/value] offsets times std0 .. std3 move and stretch the anchors; the result has corners.
    It undoes _contrib_box_encode with the same stds and means of 0. clip above 0 is the largest exponent.
    >>> run("_contrib_box_decode", [[[.5, 2, 0, 0]]], [[[1, 1, 2, 2]]], std1=.5)
    [[[1.0, 2.0, 3.0, 4.0]]]
    >>> run("_contrib_box_decode", [[[1, 0, 0, .5]], [[0, 1, 9, 0]]], [[[0, 0, 2, 4]]], std0=.5, std2=.25, clip=.3)
    [[[0.0, -2.699718, 2.0, 2.699718]], [[-1.349859, 2.0, 1.349859, 6.0]]]

[_contrib_box_decode/format] anchors are (x, y, width, height) around a center, or corners with
    format="corner".
    >>> run("_contrib_box_decode", [[[1, 0, 0, 0]]], [[[0, 0, 2, 4]]], format="corner")
    [[[2.0, 0.0, 4.0, 4.0]]]

[_contrib_box_decode/shapes] data is (batch, anchors, 4), anchors (1, anchors, 4), the output as data.

[_contrib_box_decode/floating-point] both inputs have one floating-point type.

[_contrib_box_decode/gradient] both gradients are zero.
    >>> grad("_contrib_box_decode", [[[0, 0, 0, 0]]], [[[1, 1, 2, 2]]])
    (None, None)
"""

from math import exp
from typing import Literal, NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, outputs_only, register
from .foundation.loops import clipped
from .shared.boxes import floating, log_ratio, nothing

ENCODE, DECODE = "_contrib_box_encode/shapes", "_contrib_box_decode/shapes"


class DecodeParams(NamedTuple):
    std0: float = 1.0
    std1: float = 1.0
    std2: float = 1.0
    std3: float = 1.0
    clip: float = -1.0
    format: Literal["center", "corner"] = "center"


def infer_encode(p, ins, outs):
    samples, matches, anchors, refs, means, stds = ins
    both = merge(ENCODE, "matches", matches, merge(ENCODE, "samples", samples, (UNKNOWN, UNKNOWN)))
    boxes = (*both, 4)
    for name, shape in zip(("anchors", "output0", "output1"), (anchors, *outs), strict=True):
        boxes = merge(ENCODE, name, shape, boxes)
    refs = merge(ENCODE, "refs", refs, (boxes[0], UNKNOWN, 4))
    boxes = (refs[0], *boxes[1:])
    vectors = [merge(ENCODE, n, s, (4,)) for n, s in zip(("means", "stds"), (means, stds), strict=True)]
    return [boxes[:2], boxes[:2], boxes, refs, *vectors], [boxes, boxes]


def infer_decode(p, ins, outs):
    data = merge(DECODE, "output", outs[0], merge(DECODE, "data", ins[0], (UNKNOWN, UNKNOWN, 4)))
    anchors = merge(DECODE, "anchors", ins[1], (1, data[1], 4))
    data = (data[0], *anchors[1:])
    return [data, anchors], [data]


# --- loops --------------------------------------------------------------------------------------


def encode(samples, matches, anchors, refs, means, stds, targets, masks):
    """Along each axis, targets[n, i] = ((middle - middle') / side' - mean) / std and (log(side / side') - mean) / std.

    The middle and the side are those of the box in refs that anchor i is matched with, and ' marks those of the anchor.
    """
    for n, i in items(samples.shape):
        chosen = samples[n, i] > 0.5 and refs.shape[1] > 0
        for k in range(4):
            targets[n, i, k] = 0
            masks[n, i, k] = chosen
        if chosen:
            box = clipped(matches[n, i], refs.shape[1])
            for axis in range(2):
                side = anchors[n, i, axis + 2] - anchors[n, i, axis]
                length = refs[n, box, axis + 2] - refs[n, box, axis]
                middle = np.float64(anchors[n, i, axis]) + side * 0.5
                shift = (np.float64(refs[n, box, axis]) + length * 0.5 - middle) / side
                targets[n, i, axis] = (shift - means[axis]) / stds[axis]
                targets[n, i, axis + 2] = (log_ratio(length, side) - means[axis + 2]) / stds[axis + 2]


def decode(data, anchors, out, corner, std0, std1, std2, std3, clip):
    """Along each axis, the middle of out[n, i] is middle' + p . std . side', and its side is exp(p' . std') . side'."""
    for n, i in items(out.shape[:2]):
        for axis in range(2):
            side = anchors[0, i, axis + 2] - anchors[0, i, axis] if corner else anchors[0, i, axis + 2]
            middle = np.float64(anchors[0, i, axis]) + (side * 0.5 if corner else 0)
            middle += data[n, i, axis] * (std1 if axis else std0) * side
            power = data[n, i, axis + 2] * (std3 if axis else std2)
            power = clip if clip > 0 and power > clip else power
            half = exp(power) * side * 0.5
            out[n, i, axis] = middle - half
            out[n, i, axis + 2] = middle + half


ENCODE_LOOP, DECODE_LOOP = Loop(encode), Loop(decode)


# --- the operators ------------------------------------------------------------------------------


def forward_encode(p, samples, matches, anchors, refs, means, stds, targets, masks):
    ENCODE_LOOP(samples, matches, anchors, refs, means, stds, targets, masks)


def forward_decode(p, data, anchors, out):
    DECODE_LOOP(data, anchors, out, p.format == "corner", p.std0, p.std1, p.std2, p.std3, p.clip)


def cases_encode(draw):
    batch, n, m = draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 3)
    shapes = {"samples": (batch, n), "anchors": (batch, n, 4), "refs": (batch, m, 4)}
    values = {"matches": ("labels", m), "samples": ("ints", -1, 1), "stds": "positive"}
    return Case({}, shapes, values)


def cases_decode(draw):
    batch, n = draw.integer(1, 2), draw.integer(1, 4)
    params = {f"std{k}": draw.choice((0.5, 1, 2)) for k in range(4)}
    params |= {"clip": draw.choice((-1, 0.5)), "format": draw.choice(("center", "corner"))}
    return Case(params, {"data": (batch, n, 4), "anchors": (1, n, 4)})


ENCODED = {"samples": (2, 3), "matches": (2, 3), "anchors": (2, 3, 4), "refs": (2, 5, 4)}
DECODED = {"data": (2, 3, 4), "anchors": (1, 3, 4)}
register(Op(
    name="_contrib_box_encode", doc=__doc__,
    inputs=("samples", "matches", "anchors", "refs", "means", "stds"), outputs=("output0", "output1"),
    infer=infer_encode, infer_type=floating("_contrib_box_encode/floating-point"),
    forward=forward_encode, gradient=nothing, cases=cases_encode, differentiable=False,
    refusals={
        ENCODE: {"shapes": {**ENCODED, "anchors": (2, 2, 4)}},
        "_contrib_box_encode/floating-point": {
            "shapes": ENCODED, "dtypes": dict.fromkeys(ENCODED, "int32"),
        },
    },
    tier=3,
))
register(Op(
    name="_contrib_box_decode", doc=__doc__, params=DecodeParams, inputs=("data", "anchors"),
    infer=infer_decode, infer_type=floating("_contrib_box_decode/floating-point"),
    forward=forward_decode, gradient=nothing, cases=cases_decode, differentiable=False,
    refusals={
        DECODE: {"shapes": {**DECODED, "anchors": (2, 3, 4)}},
        "_contrib_box_decode/floating-point": {
            "shapes": DECODED, "dtypes": dict.fromkeys(DECODED, "int32"),
        },
    },
    tier=3, reports=outputs_only,
))
