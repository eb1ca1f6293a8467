"""_cvimresize: a picture in another size, in the arithmetic of OpenCV 3.4.2.

[_cvimresize/nearest] interp=0: row i of h is row floor(i / (h / height)) of the picture, in float64; columns likewise.
    >>> run("_cvimresize", [[[1], [2]], [[3], [4]]], w=3, h=1, interp=0, dtype="uint8")
    [[[1.0], [1.0], [2.0]]]

[_cvimresize/linear] interp=1: pixel i of n lies at (i + 1/2) / (n / side) - 1/2, between two old ones, and is their
    mean by weights of float32: along rows first, then along columns. Beyond an edge is only the pixel at the edge.
    >>> run("_cvimresize", [[[0], [4]]], w=4, h=1, dtype="float32")
    [[[0.0], [1.0], [3.0], [4.0]]]

[_cvimresize/bytes] for uint8, each weight is a multiple of 1/2048. The sums along a row are cut to multiples of 1/128,
    their products with the weights of rows to multiples of 1/4, and the sum is rounded, half up.
    >>> run("_cvimresize", [[[10], [255]]], w=3, h=1, dtype="uint8")
    [[[10.0], [133.0], [255.0]]]

[_cvimresize/half] interp=1 to half of both sides is the mean of four pixels: ((a + b) + c) + d in the order of
    the picture, times 1/4. float32 adds (a + b) + (c + d) with four channels, and with one in columns up to the last
    multiple of 4. uint8 rounds a half up with 1, 3 or 4 channels, and to even otherwise.
    >>> run("_cvimresize", [[[1, 1], [2, 2]], [[3, 3], [4, 4]]], w=1, h=1, dtype="uint8")
    [[[2.0, 2.0]]]
    >>> run("_cvimresize", [[[1], [2]], [[3], [4]]], w=1, h=1, dtype="uint8")
    [[[3.0]]]

[_cvimresize/interp] interp is 0 or 1.

[_cvimresize/shape] a picture is (height, width, channels), with no side of 0 and 512 channels at most; the output is
    (h, w, channels).

[_cvimresize/types] the output has the picture's type: uint8, float32 or float64, and int8 or int32 for interp=0.

[_cvimresize/gradient] there is none, as in MXNet.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
    Case,
    Loop,
    Op,
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
from .foundation.loops import COPY
from .shared.resized import between, nearest, whole_weights

PAGE = "_cvimresize"
NEAREST, LINEAR = range(2)
TYPES = {NEAREST: ("uint8", "int8", "int32", "float32", "float64"), LINEAR: ("uint8", "float32", "float64")}
MOST_CHANNELS = 512


class Params(NamedTuple):
    w: Annotated[int, AtLeast(1)]
    h: Annotated[int, AtLeast(1)]
    interp: int = LINEAR


def infer(p, ins, outs):
    require(
        f"{PAGE}/interp", p.interp in TYPES,
        f"interp is {p.interp}: give 0 (nearest) or 1 (linear), which give the numbers of OpenCV exactly",
    )
    (data,), (out,) = ins, outs
    for name, shape in (("src", data), ("output", out)):
        sides = () if shape is None else shape
        fits = (shape is None or len(shape) == 3) and all(side > 0 for side in sides if told(side))
        fits = fits and not (sides and told(sides[-1]) and sides[-1] > MOST_CHANNELS)
        require(
            f"{PAGE}/shape", fits,
            f"{name} has shape {shape}, expected (height, width, channels) without 0, and {MOST_CHANNELS} channels"
            " at most",
        )
    channels = UNKNOWN if data is None else data[-1]
    out = merge(f"{PAGE}/shape", "output", out, (p.h, p.w, channels))
    return [merge(f"{PAGE}/shape", "src", data, (UNKNOWN, UNKNOWN, out[-1]))], [out]


@decides("_cvimresize/types")
def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    if kind is not None and np.dtype(kind).name not in TYPES[p.interp]:
        raise refusal(
            f"{PAGE}/types", f"src is {np.dtype(kind)}, interp={p.interp} takes {', '.join(TYPES[p.interp])}; use Cast",
        )
    return same_type(p, ins, outs)


# --- loops --------------------------------------------------------------------------------------


class Geometry(NamedTuple):
    """data is (height, width, channels), out (out_h, out_w, channels)."""

    width: int
    channels: int
    out_h: int
    out_w: int


def take(data, out, rows, columns, g: Geometry):
    for pixel in items(g.out_h * g.out_w):
        read = (rows[pixel // g.out_w] * g.width + columns[pixel % g.out_w]) * g.channels
        for c in range(g.channels):
            out[pixel * g.channels + c] = data[read + c]


def mix(data, out, above, below, low, high, left, right, near, far, g: Geometry):
    for pixel in items(g.out_h * g.out_w):
        i, j = pixel // g.out_w, pixel % g.out_w
        upper, lower = above[i] * g.width, below[i] * g.width
        for c in range(g.channels):
            a, b = data[(upper + left[j]) * g.channels + c], data[(upper + right[j]) * g.channels + c]
            first = a * near[j] + b * far[j]
            a, b = data[(lower + left[j]) * g.channels + c], data[(lower + right[j]) * g.channels + c]
            out[pixel * g.channels + c] = first * low[i] + (a * near[j] + b * far[j]) * high[i]


def mix_bytes(data, out, above, below, low, high, left, right, near, far, g: Geometry):
    for pixel in items(g.out_h * g.out_w):
        i, j = pixel // g.out_w, pixel % g.out_w
        upper, lower = above[i] * g.width, below[i] * g.width
        for c in range(g.channels):
            a, b = data[(upper + left[j]) * g.channels + c], data[(upper + right[j]) * g.channels + c]
            first = (low[i] * ((np.int64(a) * near[j] + np.int64(b) * far[j]) >> 4)) >> 16
            a, b = data[(lower + left[j]) * g.channels + c], data[(lower + right[j]) * g.channels + c]
            second = (high[i] * ((np.int64(a) * near[j] + np.int64(b) * far[j]) >> 4)) >> 16
            out[pixel * g.channels + c] = min((first + second + 2) >> 2, 255)


def halve(data, out, quarter, paired, g: Geometry):
    """Columns before ``paired`` add two sums of two."""
    for pixel in items(g.out_h * g.out_w):
        i, j = pixel // g.out_w, pixel % g.out_w
        read, step = (2 * i * g.width + 2 * j) * g.channels, g.width * g.channels
        for c in range(g.channels):
            top = data[read + c] + data[read + g.channels + c]
            third, fourth = data[read + step + c], data[read + step + g.channels + c]
            total = top + (third + fourth) if j < paired else top + third + fourth
            out[pixel * g.channels + c] = total * quarter


def halve_bytes(data, out, half_up, g: Geometry):
    for pixel in items(g.out_h * g.out_w):
        i, j = pixel // g.out_w, pixel % g.out_w
        read, step = (2 * i * g.width + 2 * j) * g.channels, g.width * g.channels
        for c in range(g.channels):
            total = np.int64(data[read + c]) + np.int64(data[read + g.channels + c])
            total += np.int64(data[read + step + c]) + np.int64(data[read + step + g.channels + c])
            out[pixel * g.channels + c] = (total + 2 if half_up else total + 1 + ((total >> 2) & 1)) >> 2


TAKE, MIX, MIX_BYTES = Loop(take), Loop(mix), Loop(mix_bytes)
HALVE, HALVE_BYTES = Loop(halve), Loop(halve_bytes)


# --- the operator -------------------------------------------------------------------------------


@decides("_cvimresize/half")
def half(data, out, g):
    if data.dtype == np.uint8:
        HALVE_BYTES(data, out, g.channels in (1, 3, 4), g)
        return
    # The vector instructions of OpenCV add four numbers at once; what they leave over is added one by one.
    vectors = {1: g.out_w // 4 * 4, 4: g.out_w} if data.dtype == np.float32 else {}
    HALVE(data, out, data.dtype.type(0.25), vectors.get(g.channels, 0), g)


@decides("_cvimresize/nearest", "_cvimresize/linear", "_cvimresize/bytes")
def forward(p, src, out):
    height, width, channels = src.shape
    g = Geometry(width, channels, p.h, p.w)
    down, across = 1 / (p.h / height), 1 / (p.w / width)
    if src.shape == out.shape:
        COPY(src, out, out.size)
    elif p.interp == NEAREST:
        rows, columns = nearest(height, p.h, down), nearest(width, p.w, across)
        TAKE(src, out, as_buffer(rows, src.device), as_buffer(columns, src.device), g)
    elif (height, width) == (2 * p.h, 2 * p.w):
        half(src, out, g)
    else:
        tables = [*between(height, p.h, down, split_edges=True), *between(width, p.w, across, split_edges=False)]
        if src.dtype == np.uint8:
            tables[2:4], tables[6:] = map(whole_weights, tables[2:4]), map(whole_weights, tables[6:])
        loop = MIX_BYTES if src.dtype == np.uint8 else MIX
        loop(src, out, *(as_buffer(table, src.device) for table in tables), g)


def cases(draw):
    interp = draw.choice((NEAREST, LINEAR))
    kind = draw.choice(TYPES[interp])
    h, w = draw.integer(1, 5), draw.integer(1, 5)
    high, wide = (2 * h, 2 * w) if draw.boolean() else (draw.integer(1, 5), draw.integer(1, 5))
    shape = (high, wide, draw.integer(1, 5))
    return Case({"w": w, "h": h, "interp": interp}, {"src": shape}, {"src": ("ints", 0, 100)}, {"src": kind})


register(Op(
    name=PAGE, doc=__doc__, params=Params, inputs=("src",), infer=infer, infer_type=infer_type, forward=forward,
    no_gradient_clause=f"{PAGE}/gradient", cases=cases,
    refusals={
        f"{PAGE}/interp": {
            "params": {"w": 2, "h": 2, "interp": 2}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "uint8"},
        },
        f"{PAGE}/shape": {"params": {"w": 2, "h": 2}, "shapes": {"src": (3, 3)}, "dtypes": {"src": "uint8"}},
        f"{PAGE}/types": {"params": {"w": 2, "h": 2}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "int32"}},
    },
))
