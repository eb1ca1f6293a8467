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
    steps,
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
    require_picture,
    whole_weights,
)

PAGE = "_cvimresize"
NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
REAL = ("uint8", "float32", "float64")
TYPES = {
    NEAREST: ("uint8", "int8", "int32", "float32", "float64"), **dict.fromkeys((LINEAR, CUBIC, AREA, LANCZOS), REAL),
}


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
    require_picture(f"{PAGE}/shape", "src", data)
    require_picture(f"{PAGE}/shape", "output", out)
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
# data is (height, width, channels), out (h, w, channels). Tables say for every row i of out, and every column j, which
# rows and columns of data it is made of, and how much they weigh.


def take(data, out, rows, columns):
    for i, j, c in items(out.shape):
        out[i, j, c] = data[rows[i], columns[j], c]


def mix(data, out, above, below, low, high, left, right, near, far):
    """out[i, j, c] = low[i] . upper + high[i] . lower: rows above[i] and below[i], each mixed by near[j] and far[j]."""
    for i, j, c in items(out.shape):
        upper = data[above[i], left[j], c] * near[j] + data[above[i], right[j], c] * far[j]
        lower = data[below[i], left[j], c] * near[j] + data[below[i], right[j], c] * far[j]
        out[i, j, c] = upper * low[i] + lower * high[i]


def mix_bytes(data, out, above, below, low, high, left, right, near, far):
    for i, j, c in items(out.shape):
        one, two = np.int64(data[above[i], left[j], c]), np.int64(data[above[i], right[j], c])
        three, four = np.int64(data[below[i], left[j], c]), np.int64(data[below[i], right[j], c])
        upper, lower = one * near[j] + two * far[j], three * near[j] + four * far[j]
        mixed = ((low[i] * (upper >> 4)) >> 16) + ((high[i] * (lower >> 4)) >> 16)
        out[i, j, c] = min((mixed + 2) >> 2, 255)


def halve(data, out, quarter, paired):
    """Columns before ``paired`` add two sums of two."""
    for i, j, c in items(out.shape):
        top = data[2 * i, 2 * j, c] + data[2 * i, 2 * j + 1, c]
        third, fourth = data[2 * i + 1, 2 * j, c], data[2 * i + 1, 2 * j + 1, c]
        total = top + (third + fourth) if j < paired else top + third + fourth
        out[i, j, c] = total * quarter


def halve_bytes(data, out, half_up):
    for i, j, c in items(out.shape):
        total = np.int64(data[2 * i, 2 * j, c]) + np.int64(data[2 * i, 2 * j + 1, c])
        total += np.int64(data[2 * i + 1, 2 * j, c]) + np.int64(data[2 * i + 1, 2 * j + 1, c])
        out[i, j, c] = (total + 2 if half_up else total + 1 + ((total >> 2) & 1)) >> 2


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
def in_row(data, y, c, columns, wide, begin, end):
    """Sum over k from begin to end of wide[k] . data[y, columns[k], c]."""
    total = data[y, columns[begin], c] * wide[begin]
    for k in range(begin + 1, end):
        total += data[y, columns[k], c] * wide[k]
    return total


def weigh(data, out, row_begin, rows, high, col_begin, columns, wide, as_bytes):
    """out[i, j, c] = sum over k, l of high[k] . wide[l] . data[rows[k], columns[l], c].

    The rows of i are those from row_begin[i] to row_begin[i + 1], and so are the columns of j.
    """
    for i, j, c in items(out.shape):
        begin, end = col_begin[j], col_begin[j + 1]
        first = row_begin[i]
        total = in_row(data, rows[first], c, columns, wide, begin, end) * high[first]
        for k in range(first + 1, row_begin[i + 1]):
            total += in_row(data, rows[k], c, columns, wide, begin, end) * high[k]
        out[i, j, c] = as_byte(total) if as_bytes else total


def weigh_bytes(data, out, row_begin, rows, high, shares, col_begin, columns, wide, real):
    """As weigh. Elements of a row of out before ``real`` add up rows in float32, with the weights ``shares``."""
    for i, j, c in items(out.shape):
        begin, end = col_begin[j], col_begin[j + 1]
        if j * out.shape[2] + c < real:
            first = row_begin[i]
            mixed = np.float32(in_row(data, rows[first], c, columns, wide, begin, end)) * shares[first]
            for k in range(first + 1, row_begin[i + 1]):
                mixed += np.float32(in_row(data, rows[k], c, columns, wide, begin, end)) * shares[k]
            out[i, j, c] = as_byte(mixed)
        else:
            total = np.int64(1 << 21)
            for k in range(row_begin[i], row_begin[i + 1]):
                total += in_row(data, rows[k], c, columns, wide, begin, end) * high[k]
            out[i, j, c] = min(max(total >> 22, 0), 255)


def block(data, out, zero, share, down, across, whole, as_bytes):
    """Pixels are means of ``down`` times ``across`` old ones: their sum times ``share``.

    The first ``whole`` of them are added four by four, the others one by one.
    """
    for i, j, c in items(out.shape):
        total, part, count = zero, zero, 0
        for y, x in steps((down, across)):
            part += data[i * down + y, j * across + x, c]
            count += 1
            if count == 4 or y * across + x >= whole:
                total += part
                part, count = zero, 0
        out[i, j, c] = as_byte(np.float32(total) * share) if as_bytes else total * share


TAKE, MIX, MIX_BYTES = Loop(take), Loop(mix), Loop(mix_bytes)
WEIGH, WEIGH_BYTES, BLOCK = Loop(weigh), Loop(weigh_bytes), Loop(block)
HALVE, HALVE_BYTES = Loop(halve), Loop(halve_bytes)


# --- the operator -------------------------------------------------------------------------------


@decides("_cvimresize/half")
def half(data, out):
    _, width, channels = out.shape
    if data.dtype == np.uint8:
        HALVE_BYTES(data, out, channels in (1, 3, 4))
        return
    # The vector instructions of OpenCV add four numbers at once; what they leave over is added one by one.
    vectors = {1: width // 4 * 4, 4: width} if data.dtype == np.float32 else {}
    HALVE(data, out, data.dtype.type(0.25), vectors.get(channels, 0))


@decides("_cvimresize/cubic", "_cvimresize/lanczos")
def weighted(p, data, out, down, across):
    weights, taps = (cubic_weights, 4) if p.interp == CUBIC else (lanczos_weights, 8)
    row_begin, rows, high = around(data.shape[0], p.h, down, weights, taps)
    col_begin, columns, wide = around(data.shape[1], p.w, across, weights, taps)
    if data.dtype != np.uint8:
        high, wide = high.astype(data.dtype), wide.astype(data.dtype)
        call(WEIGH, data, out, row_begin, rows, high, col_begin, columns, wide, 0)
        return
    high, wide = whole_weights(high), whole_weights(wide)
    # The vector instructions of OpenCV sum eight bytes at once in float32, for the cubic only.
    real = p.w * data.shape[2] // 8 * 8 if p.interp == CUBIC else 0
    shares = high.astype(np.float32) / np.float32(1 << 22)
    call(WEIGH_BYTES, data, out, row_begin, rows, high, shares, col_begin, columns, wide, real)


@decides("_cvimresize/area")
def area(p, data, out, down, across):
    as_bytes = int(data.dtype == np.uint8)
    real = np.float64 if data.dtype == np.float64 else np.float32
    if down == round(down) and across == round(across):
        down, across = round(down), round(across)
        share = (np.float64 if as_bytes else real)(np.float32(1) / np.float32(down * across))
        whole = down * across // 4 * 4
        BLOCK(data, out, np.int64(0) if as_bytes else real(0), real(share), down, across, whole, as_bytes)
        return
    row_begin, rows, high = covered(data.shape[0], p.h, down)
    col_begin, columns, wide = covered(data.shape[1], p.w, across)
    call(WEIGH, data, out, row_begin, rows, high.astype(real), col_begin, columns, wide.astype(real), as_bytes)


def call(loop, data, out, *more):
    """Run a loop, with tables where the data are."""
    loop(data, out, *(as_buffer(one, data.device) if isinstance(one, np.ndarray) else one for one in more))


@decides("_cvimresize/nearest", "_cvimresize/linear", "_cvimresize/bytes")
def forward(p, src, out):
    height, width, _ = src.shape
    down, across = 1 / (p.h / height), 1 / (p.w / width)
    shrinks = down >= 1 and across >= 1
    if src.shape == out.shape:
        COPY(src, out, out.size)
    elif p.interp == NEAREST:
        call(TAKE, src, out, nearest(height, p.h, down), nearest(width, p.w, across))
    elif p.interp in (CUBIC, LANCZOS):
        weighted(p, src, out, down, across)
    elif (height, width) == (2 * p.h, 2 * p.w):
        half(src, out)
    elif p.interp == AREA and shrinks:
        area(p, src, out, down, across)
    else:
        lie = partly_covered if p.interp == AREA else between
        tables = [*lie(height, p.h, down, split_edges=True), *lie(width, p.w, across, split_edges=False)]
        if src.dtype == np.uint8:
            tables[2:4], tables[6:] = map(whole_weights, tables[2:4]), map(whole_weights, tables[6:])
        call(MIX_BYTES if src.dtype == np.uint8 else MIX, src, out, *tables)


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
