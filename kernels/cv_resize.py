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

[_cvimresize/cubic] interp=2: a new pixel lies as for interp=1, and is the sum of four old ones in each direction,
    weighted by the cubic with a = -0.75; the last weight is 1 less the others. A row is summed left to right, then
    the four rows from the top. Beyond an edge stands the pixel at the edge. For uint8 weights
    are multiples of 1/2048; sums of rows are whole, and rounded to even from float32 in the elements before the last
    multiple of 8 of a row of the output, and half up from whole numbers in those after it.
    >>> run("_cvimresize", [[[0], [8]]], w=4, h=1, interp=2, dtype="float32")
    [[[-0.84375], [1.8125], [6.1875], [8.84375]]]

[_cvimresize/area] interp=3: where no side grows, each pixel is the mean of the old ones that it covers, weighted in
    float32 (float64 for float64) by how much of each it covers; if it covers whole pixels only, their sum is taken
    four by four and multiplied by 1 / count. If a side grows, pixels are mixed as for interp=1, but weight
    the right one by how much of the new pixel lies on it.
    >>> run("_cvimresize", [[[0], [4], [8]]], w=1, h=1, interp=3, dtype="float32")
    [[[4.0]]]

[_cvimresize/lanczos] interp=4: as interp=2 with eight pixels in each direction, weighted by Lanczos' window of 4; for
    uint8 all sums are whole numbers, and rounded half up.
    >>> run("_cvimresize", [[[7], [7]]], w=3, h=1, interp=4, dtype="uint8")
    [[[7.0], [7.0], [7.0]]]

[_cvimresize/interp] interp is 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos).

[_cvimresize/shape] a picture is (height, width, channels), with no side of 0 and 512 channels at most; the output is
    (h, w, channels).

[_cvimresize/types] the output has the picture's type: uint8, float32 or float64, and int8 or int32 for interp=0.

[_cvimresize/gradient] there is none, as in MXNet.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    AtLeast,
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
    scalar,
    told,
)
from .foundation.loops import COPY
from .shared.resized import (
    around,
    between,
    covered,
    cubic_weights,
    lanczos_weights,
    nearest,
    partly_covered,
    whole_weights,
)

PAGE = "_cvimresize"
NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
REAL = ("uint8", "float32", "float64")
TYPES = {
    NEAREST: ("uint8", "int8", "int32", "float32", "float64"), **dict.fromkeys((LINEAR, CUBIC, AREA, LANCZOS), REAL),
}
MOST_CHANNELS = 512


class Params(NamedTuple):
    w: Annotated[int, AtLeast(1)]
    h: Annotated[int, AtLeast(1)]
    interp: int = LINEAR


def infer(p, ins, outs):
    require(
        f"{PAGE}/interp", p.interp in TYPES,
        f"interp is {p.interp}: give 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos)",
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


@scalar
def as_byte(value):
    """Round to even, and keep within 0 .. 255."""
    below = math.floor(value)
    rest = value - below
    whole = np.int64(below)
    if rest > 0.5 or (rest == 0.5 and whole % 2 != 0):
        whole += 1
    return min(max(whole, 0), 255)


@scalar
def in_row(data, row, columns, weights, begin, taps, c, g):
    """The weighted sum of ``taps`` pixels of a row."""
    total = data[(row * g.width + columns[begin]) * g.channels + c] * weights[begin]
    for k in range(begin + 1, begin + taps):
        total += data[(row * g.width + columns[k]) * g.channels + c] * weights[k]
    return total


def mix_many(data, out, rows, high, columns, wide, taps, g: Geometry):
    """As mix, of ``taps`` rows and columns, whose weights are ``high`` and ``wide``."""
    for element in items(g.out_h * g.out_w * g.channels):
        pixel, c = element // g.channels, element % g.channels
        down, across = pixel // g.out_w * taps, pixel % g.out_w * taps
        total = in_row(data, rows[down], columns, wide, across, taps, c, g) * high[down]
        for k in range(down + 1, down + taps):
            total += in_row(data, rows[k], columns, wide, across, taps, c, g) * high[k]
        out[element] = total


def mix_many_bytes(data, out, rows, high, shares, columns, wide, taps, real, g: Geometry):
    """Elements of a row before ``real`` are summed in float32, with the weights ``shares`` of rows."""
    for element in items(g.out_h * g.out_w * g.channels):
        pixel, c = element // g.channels, element % g.channels
        down, across = pixel // g.out_w * taps, pixel % g.out_w * taps
        if element % (g.out_w * g.channels) < real:
            first = in_row(data, rows[down], columns, wide, across, taps, c, g)
            mixed = np.float32(first) * shares[down]
            for k in range(down + 1, down + taps):
                mixed += np.float32(in_row(data, rows[k], columns, wide, across, taps, c, g)) * shares[k]
            out[element] = as_byte(mixed)
        else:
            total = np.int64(1 << 21)
            for k in range(down, down + taps):
                total += in_row(data, rows[k], columns, wide, across, taps, c, g) * high[k]
            out[element] = min(max(total >> 22, 0), 255)


def cover(data, out, row_begin, rows, high, col_begin, columns, wide, as_bytes, g: Geometry):
    """Pixel (i, j) covers ``rows`` and ``columns`` from their begin i or j to the one after, as much as they weigh."""
    for element in items(g.out_h * g.out_w * g.channels):
        pixel, c = element // g.channels, element % g.channels
        i, j = pixel // g.out_w, pixel % g.out_w
        begin, taps = col_begin[j], col_begin[j + 1] - col_begin[j]
        down = row_begin[i]
        total = in_row(data, rows[down], columns, wide, begin, taps, c, g) * high[down]
        for k in range(down + 1, row_begin[i + 1]):
            total += in_row(data, rows[k], columns, wide, begin, taps, c, g) * high[k]
        out[element] = as_byte(total) if as_bytes else total


def block(data, out, zero, share, down, across, as_bytes, g: Geometry):
    """Pixels are means of ``down`` times ``across`` old ones: their sum, by four, times ``share``."""
    for element in items(g.out_h * g.out_w * g.channels):
        pixel, c = element // g.channels, element % g.channels
        corner = ((pixel // g.out_w * down) * g.width + pixel % g.out_w * across) * g.channels + c
        count, total = down * across, zero
        for k in range(0, count // 4 * 4, 4):
            four = data[corner + (k // across * g.width + k % across) * g.channels] + zero
            for n in range(k + 1, k + 4):
                four += data[corner + (n // across * g.width + n % across) * g.channels]
            total += four
        for n in range(count // 4 * 4, count):
            total += data[corner + (n // across * g.width + n % across) * g.channels]
        out[element] = as_byte(np.float32(total) * share) if as_bytes else total * share


TAKE, MIX, MIX_BYTES = Loop(take), Loop(mix), Loop(mix_bytes)
MIX_MANY, MIX_MANY_BYTES, COVER, BLOCK = Loop(mix_many), Loop(mix_many_bytes), Loop(cover), Loop(block)
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


@decides("_cvimresize/cubic", "_cvimresize/lanczos")
def weighted(p, data, out, down, across, g):
    weights, taps = (cubic_weights, 4) if p.interp == CUBIC else (lanczos_weights, 8)
    rows, high = around(data.shape[0], p.h, down, weights, taps)
    columns, wide = around(data.shape[1], p.w, across, weights, taps)
    if data.dtype != np.uint8:
        call(MIX_MANY, data, out, rows, high.astype(data.dtype), columns, wide.astype(data.dtype), taps, g)
        return
    high, wide = whole_weights(high), whole_weights(wide)
    # The vector instructions of OpenCV sum eight bytes at once in float32, for the cubic only.
    real = g.out_w * g.channels // 8 * 8 if p.interp == CUBIC else 0
    shares = high.astype(np.float32) / np.float32(1 << 22)
    call(MIX_MANY_BYTES, data, out, rows, high, shares, columns, wide, taps, real, g)


@decides("_cvimresize/area")
def area(p, data, out, down, across, g):
    as_bytes = int(data.dtype == np.uint8)
    real = np.float64 if data.dtype == np.float64 else np.float32
    if down == round(down) and across == round(across):
        down, across = round(down), round(across)
        share = (np.float64 if as_bytes else real)(np.float32(1) / np.float32(down * across))
        BLOCK(data, out, np.int64(0) if as_bytes else real(0), real(share), down, across, as_bytes, g)
        return
    row_begin, rows, high = covered(data.shape[0], p.h, down)
    col_begin, columns, wide = covered(data.shape[1], p.w, across)
    call(COVER, data, out, row_begin, rows, high.astype(real), col_begin, columns, wide.astype(real), as_bytes, g)


def call(loop, data, out, *more):
    """Run a loop, with tables where the data are."""
    loop(data, out, *(as_buffer(one, data.device) if isinstance(one, np.ndarray) else one for one in more))


@decides("_cvimresize/nearest", "_cvimresize/linear", "_cvimresize/bytes")
def forward(p, src, out):
    height, width, channels = src.shape
    g = Geometry(width, channels, p.h, p.w)
    down, across = 1 / (p.h / height), 1 / (p.w / width)
    shrinks = down >= 1 and across >= 1
    if src.shape == out.shape:
        COPY(src, out, out.size)
    elif p.interp == NEAREST:
        call(TAKE, src, out, nearest(height, p.h, down), nearest(width, p.w, across), g)
    elif p.interp in (CUBIC, LANCZOS):
        weighted(p, src, out, down, across, g)
    elif (height, width) == (2 * p.h, 2 * p.w):
        half(src, out, g)
    elif p.interp == AREA and shrinks:
        area(p, src, out, down, across, g)
    else:
        lie = partly_covered if p.interp == AREA else between
        tables = [*lie(height, p.h, down, split_edges=True), *lie(width, p.w, across, split_edges=False)]
        if src.dtype == np.uint8:
            tables[2:4], tables[6:] = map(whole_weights, tables[2:4]), map(whole_weights, tables[6:])
        call(MIX_BYTES if src.dtype == np.uint8 else MIX, src, out, *tables, g)


def cases(draw):
    interp = draw.choice(tuple(TYPES))
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
            "params": {"w": 2, "h": 2, "interp": 5}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "uint8"},
        },
        f"{PAGE}/shape": {"params": {"w": 2, "h": 2}, "shapes": {"src": (3, 3)}, "dtypes": {"src": "uint8"}},
        f"{PAGE}/types": {"params": {"w": 2, "h": 2}, "shapes": {"src": (3, 3, 3)}, "dtypes": {"src": "int32"}},
    },
    tier=2, reports=Sources(1),
))
