"""_contrib_quantize, _contrib_quantize_v2, _contrib_requantize, _contrib_dequantize: real numbers as 8 bits, and back.

[quantize/range] a range is two arrays of one float32, and R the larger absolute value of the two. Halves are rounded to
    the even neighbour; what lies beyond the type becomes its end, NaN 127 or 0. Scales are float32.

[_contrib_quantize/value] data times 127 / R as int8, or 255 / R as uint8, in which a negative number becomes 0. int8
    gives the range (-R, R), uint8 the one that was given.
    >>> run("_contrib_quantize", [-1.5, -1, 0.25, 1], [-1], [0.5], out_type="int8")
    ([-128.0, -127.0, 32.0, 127.0], [-1.0], [1.0])
    >>> run("_contrib_quantize", [-1.5, -1, 0.25, 1], [-1], [0.5])
    ([0.0, 0.0, 64.0, 255.0], [-1.0], [0.5])

[_contrib_quantize_v2/value] data times 127.5 / R as int8, or 255.5 / R as uint8. The range is the calibrated one where
    both its ends are given, else the least and the largest element of data, of which NaN is none. int8 gives
    (-R, R), uint8 the range itself.
    >>> run("_contrib_quantize_v2", [-2, 0.5, 1])
    ([-128.0, 32.0, 64.0], [-2.0], [2.0])
    >>> run("_contrib_quantize_v2", [-2, 0.5, 1], out_type="uint8", min_calib_range=0, max_calib_range=1)
    ([0.0, 128.0, 255.0], [0.0], [1.0])

[_contrib_quantize_v2/auto] out_type auto is uint8 where the calibrated range has no negative number, else int8.
    >>> run("_contrib_quantize_v2", [-2, 0.5, 1], out_type="auto", min_calib_range=0, max_calib_range=1)
    ([0.0, 128.0, 255.0], [0.0], [1.0])

[_contrib_quantize_v2/quantized] data that is int8 or uint8 is copied, bit for bit, with the calibrated range as it is,
    or without one (-127.5, 127.5) or (0, 255.5).
    >>> run("_contrib_quantize_v2", [0, 127, 200], out_type="uint8", dtype="uint8")
    ([0.0, 127.0, 200.0], [0.0], [255.5])

[_contrib_requantize/value] int32 data of range R, one step of which is R / 2^31, as int8 (127 steps) or uint8 (255
    steps, negative numbers become 0) of the calibrated range where both its ends are given, else of the range that
    data needs. The range is (-R, R) for int8, (0, R) for uint8. out_type auto is as in _contrib_quantize_v2.
    >>> run("_contrib_requantize", np.array([1 << 30, -(1 << 28)], np.int32), [-1.0], [1.0])
    ([127.0, -32.0], [-0.5], [0.5])
    >>> run("_contrib_requantize", np.array([1 << 30, -(1 << 28)], np.int32), [-1.0], [1.0], out_type="uint8")
    ([255.0, 0.0], [0.0], [0.5])

[_contrib_dequantize/value] int8 data times R / 127.5, uint8 data times R / 255.5.
    >>> run("_contrib_dequantize", np.int8([-128, 51]), [-1.0], [0.5])
    [-1.003922, 0.4]

[quantize/shape] the first output has the shape of data; either is inferred from the other. Ends of ranges have (1,).

[quantize/types] data is float32 for _contrib_quantize, float32, int8 or uint8 for _contrib_quantize_v2, int32 for
    _contrib_requantize, int8 or uint8 for _contrib_dequantize. Ends of ranges are float32.

[quantize/empty] a range that is taken from data needs an element of data.

[quantize/gradient] all gradients are zero, as in MXNet.
"""

from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, known, merge, register, require
from .foundation.loops import COPY
from .shared.boxes import nothing
from .shared.quantized import (
    BYTE,
    BYTES,
    NAMED,
    SINGLE,
    STEPS,
    SUMS,
    TO,
    UNSIGNED,
    WHOLE,
    WHOLE_STEPS,
    fill_range,
    ranges,
    reach,
    typed,
)


class Params(NamedTuple):
    out_type: Literal["int8", "uint8"] = "uint8"


class CalibratedParams(NamedTuple):
    out_type: Literal["auto", "int8", "uint8"] = "int8"
    min_calib_range: float | None = None
    max_calib_range: float | None = None


class DequantizeParams(NamedTuple):
    out_type: Literal["float32"] = "float32"


def calibrated(p):
    """The calibrated range as float32, or None."""
    if p.min_calib_range is None or p.max_calib_range is None:
        return None
    with np.errstate(over="ignore"):
        return np.float32(p.min_calib_range), np.float32(p.max_calib_range)


def result_type(p):
    """The type of the first output."""
    if p.out_type in NAMED:
        return NAMED[p.out_type]
    return UNSIGNED if calibrated(p) is not None and p.min_calib_range >= 0 else BYTE


def infer(p, ins, outs):
    data = merge("quantize/shape", "data", ins[0], outs[0])
    return [data, *ranges("quantize/shape", ins[1:])], [data, *ranges("quantize/shape", outs[1:])]


def infer_found(p, ins, outs):
    ins, outs = infer(p, ins, outs)
    require(
        "quantize/empty", calibrated(p) is not None or not known(ins[0]) or prod(ins[0]) > 0,
        "data has no element from which a range could be taken; give min_calib_range and max_calib_range",
    )
    return ins, outs


def kinds(first, result):
    """An ``infer_type``: data is one of ``first``, the output ``result(p)``, what comes after either float32."""

    def infer_type(p, ins, outs):
        given = [first, *[(SINGLE,)] * (len(ins) - 1)]
        made = [(result(p),), *[(SINGLE,)] * (len(outs) - 1)]
        return typed("quantize/types", given, ins), typed("quantize/types", made, outs)

    return infer_type


# --- loops ----------------------------------------------------------------------------------------
# low and high are the ends of a range, steps how many steps a type counts from 0 to R.


def quantize(data, low, high, out, steps, n):
    scale = steps / reach(low[0], high[0])
    for i in items(n):
        out[i] = formula(data[i] * scale)  # noqa: F821  # bound by Loop


def requantize(data, low, high, out_low, out_high, out, steps, sums, n):
    scale = (reach(low[0], high[0]) / sums) * (steps / reach(out_low[0], out_high[0]))
    for i in items(n):
        out[i] = formula(np.float32(data[i]) * scale)  # noqa: F821  # bound by Loop


def dequantize(data, low, high, out, steps, n):
    scale = reach(low[0], high[0]) / steps
    for i in items(n):
        out[i] = np.float32(data[i]) * scale


def ends(data, low, high, greatest, n):
    """The least and the largest element; no item is NaN's."""
    for _ in items(1):
        low[0] = greatest
        high[0] = -greatest
        for i in range(n):
            low[0] = data[i] if data[i] < low[0] else low[0]
            high[0] = data[i] if data[i] > high[0] else high[0]


def symmetric(low, high, out_low, out_high, unsigned):
    """(-R, R), or (0, R)."""
    for _ in items(1):
        size = reach(low[0], high[0])
        out_low[0] = 0 if unsigned else -size
        out_high[0] = size


def needed(data, low, high, out_low, out_high, sums, unsigned, n):
    """The range that int32 data fills."""
    for _ in items(1):
        most = np.int64(0)
        for i in range(n):
            most = max(most, abs(np.int64(data[i])))
        size = (reach(low[0], high[0]) / sums) * np.float32(most)
        out_low[0] = 0 if unsigned else -size
        out_high[0] = size


QUANTIZE = {kind: Loop(quantize, formula=TO[kind]) for kind in BYTES}
REQUANTIZE = {kind: Loop(requantize, formula=TO[kind]) for kind in BYTES}
DEQUANTIZE, ENDS, SYMMETRIC, NEEDED = Loop(dequantize), Loop(ends), Loop(symmetric), Loop(needed)
MOST = np.finfo(np.float32).max


# --- the operators --------------------------------------------------------------------------------


def forward(p, data, low, high, out, out_low, out_high):
    kind = out.dtype
    QUANTIZE[kind](data, low, high, out, WHOLE_STEPS[kind], data.size)
    if kind == BYTE:
        SYMMETRIC(low, high, out_low, out_high, 0)
    else:
        COPY(low, out_low, 1)
        COPY(high, out_high, 1)


def forward_v2(p, data, out, low, high):
    kind, found = out.dtype, calibrated(p)
    if found is None and data.dtype in BYTES:
        unsigned = data.dtype == UNSIGNED
        found = np.float32(0) if unsigned else -STEPS[BYTE], STEPS[data.dtype]
    if found is not None:
        fill_range(found, low, high)
    else:
        ENDS(data, low, high, MOST, data.size)
    if data.dtype in BYTES:
        COPY(data, out, data.size)
        return
    QUANTIZE[kind](data, low, high, out, STEPS[kind], data.size)
    if kind == BYTE:
        SYMMETRIC(low, high, low, high, 0)


def forward_requantize(p, data, low, high, out, out_low, out_high):
    unsigned = int(out.dtype == UNSIGNED)
    found = calibrated(p)
    if found is not None:
        fill_range(found, out_low, out_high)
        SYMMETRIC(out_low, out_high, out_low, out_high, unsigned)
    else:
        NEEDED(data, low, high, out_low, out_high, SUMS, unsigned, data.size)
    steps = WHOLE_STEPS[out.dtype]
    REQUANTIZE[out.dtype](data, low, high, out_low, out_high, out, steps, SUMS, data.size)


def forward_dequantize(p, data, low, high, out):
    DEQUANTIZE(data, low, high, out, STEPS[data.dtype], data.size)


def range_values(names, draw):
    """Ends of ranges, whatever their order."""
    return dict.fromkeys(names, draw.choice(("any", "positive")))


def cases(draw):
    values = {"data": "any", **range_values(("min_range", "max_range"), draw)}
    return Case({"out_type": draw.choice(("int8", "uint8"))}, {"data": draw.shape(1, 3)}, values, {"data": "float32"})


def calibration(draw):
    """Parameters of a calibrated operator."""
    found = {"out_type": draw.choice(("auto", "int8", "uint8"))}
    if draw.boolean():
        found.update(min_calib_range=draw.choice((-1.5, 0, 0.25)), max_calib_range=draw.choice((0.5, 1.0)))
    return found


def cases_v2(draw):
    params, kind = calibration(draw), draw.choice(("float32", "int8", "uint8"))
    values = "any" if kind == "float32" else ("ints", 0, 127)
    return Case(params, {"data": draw.shape(1, 3)}, {"data": values}, {"data": kind})


def cases_requantize(draw):
    values = {"data": ("ints", -(2**31), 2**31 - 1), **range_values(("min_range", "max_range"), draw)}
    return Case(calibration(draw), {"data": draw.shape(1, 3)}, values, {"data": "int32"})


def cases_dequantize(draw):
    kind = draw.choice(("int8", "uint8"))
    ints = ("ints", -128, 127) if kind == "int8" else ("ints", 0, 255)
    values = {"data": ints, **range_values(("min_range", "max_range"), draw)}
    return Case({}, {"data": draw.shape(1, 3)}, values, {"data": kind})


RANGED = ("data", "min_range", "max_range")
THREE = ("output0", "output1", "output2")
SHAPES = {"data": (2, 3), "min_range": (2,)}
TWO_ENDS = "the two ends of a range"
for name, params, inputs, outputs, shapes_of, allowed, result, computed, drawn, refusals, alone in (
    (
        "_contrib_quantize", Params, RANGED, THREE, infer, (SINGLE,), result_type, forward, cases,
        {
            "quantize/shape": {"shapes": SHAPES},
            "quantize/types": {"shapes": {"data": (2,)}, "dtypes": {"data": "float64"}},
        },
        {"symmetric": TWO_ENDS},
    ),
    (
        "_contrib_quantize_v2", CalibratedParams, ("data",), THREE, infer_found, (SINGLE, *BYTES), result_type,
        forward_v2, cases_v2, {"quantize/empty": {"shapes": {"data": (0,)}}},
        {"ends": "the least and the largest element, two numbers", "symmetric": TWO_ENDS},
    ),
    (
        "_contrib_requantize", CalibratedParams, RANGED, THREE, infer_found, (WHOLE,), result_type,
        forward_requantize, cases_requantize, {"quantize/empty": {"shapes": {"data": (0,)}}},
        {"needed": "the largest element, a single number", "symmetric": TWO_ENDS},
    ),
    (
        "_contrib_dequantize", DequantizeParams, RANGED, ("output",), infer, BYTES, lambda p: SINGLE,
        forward_dequantize, cases_dequantize, {}, {},
    ),
):
    register(Op(
        name=name, doc=__doc__, params=params, inputs=inputs, outputs=outputs, infer=shapes_of,
        infer_type=kinds(allowed, result), forward=computed, gradient=nothing, differentiable=False, cases=drawn,
        refusals=refusals,
        tier=2 if computed is forward_dequantize else 3, runs_alone=alone,
    ))
