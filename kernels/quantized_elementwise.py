"""_contrib_quantized_elemwise_add, _contrib_quantized_elemwise_mul: sums and products of quantized numbers.

[quantized_elementwise/range] A and B are the larger absolute ends of the ranges of lhs and rhs. A step of int8 is worth
    A / 127.5 of its own range, one of uint8 A / 255.5. With min_calib_range and max_calib_range, both of them, the
    result has 8 bits and that range, of which C is the larger absolute end; without, it is int32.

[_contrib_quantized_elemwise_add/value] lhs a + rhs b in float32, rounded with halves to even and kept inside the type,
    where a = (s / R) / (t / A): s and R are the steps and the range of the result, t the steps of lhs; b likewise.
    With calibration R = C, and the result is uint8 where both inputs are, else int8. Without, a is (s A) / (R t), s is
    2^31, and the range is (-R, R), with R = A + B.
    >>> run("_contrib_quantized_elemwise_add", np.int8([64, -128]), np.int8([0, -128]), [-1], [1], [-3], [2],
    ...     min_calib_range=-4, max_calib_range=4)
    ([16.0, -128.0], [-4.0], [4.0])
    >>> run("_contrib_quantized_elemwise_add", np.int8([64]), np.int8([0]), [-1], [1], [-3], [2])
    ([269488160.0], [-4.0], [4.0])

[_contrib_quantized_elemwise_add/mixed] where one input is uint8 and one int8, the uint8 one times its factor is first
    rounded and kept inside int8. Without calibration that leaves no more of it than the number 127, of 2^31 steps.
    >>> run("_contrib_quantized_elemwise_add", np.int8([0]), np.uint8([200]), [-1.0], [1.0],
    ...     [-1.0], [1.0])
    ([127.0], [-2.0], [2.0])

[_contrib_quantized_elemwise_mul/value] lhs rhs as int32, with the range (-R, R), where R = (A / 127) (B / 127) 2^31.
    >>> run("_contrib_quantized_elemwise_mul", np.int8([100, -3]), np.int8([100, 5]), [-1.27], [1], [-1.27], [1])
    ([10000.0, -15.0], [-214748.359375], [214748.359375])

[_contrib_quantized_elemwise_mul/float] enable_float_output gives lhs rhs times 1 / ((127.5 / A) (127.5 / B)), and no
    range.
    >>> run("_contrib_quantized_elemwise_mul", np.int8([100, -3]), np.int8([100, 5]), [-1], [1], [-1], [1],
    ...     enable_float_output=True)
    [0.615148, -0.000923]

[_contrib_quantized_elemwise_mul/calibrated] with a calibrated range lhs rhs (127.5 / C) / ((127.5 / A) (127.5 / B)) is
    cut towards 0, and of what is left the last 8 bits are kept: 130 becomes -126. So C has to be large enough.
    >>> run("_contrib_quantized_elemwise_mul", np.int8([100, 100]), np.int8([100, -50]), [-1], [1], [-1], [1],
    ...     min_calib_range=-0.6, max_calib_range=0.6)
    ([-126.0, -65.0], [-0.6], [0.6])

[quantized_elementwise/shape] lhs, rhs and the output have one shape, ends of ranges (1,).

[quantized_elementwise/types] data is int8 or uint8, to be multiplied int8; ends of ranges are float32.

[quantized_elementwise/gradient] a sum has no gradient, as in MXNet; that of a product is zero.
"""

from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, items, merge_all, register
from .quantize import calibrated
from .shared.boxes import nothing
from .shared.quantized import (
    BYTE,
    BYTES,
    REACH_OF_PRODUCTS,
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
    to_int8,
    typed,
)

SHAPE, TYPES = "quantized_elementwise/shape", "quantized_elementwise/types"


class AddParams(NamedTuple):
    min_calib_range: float | None = None
    max_calib_range: float | None = None


class MulParams(NamedTuple):
    min_calib_range: float | None = None
    max_calib_range: float | None = None
    enable_float_output: bool = False


def infer(p, ins, outs):
    shape = merge_all(SHAPE, "operands", [*ins[:2], outs[0]])
    return [shape, shape, *ranges(SHAPE, ins[2:])], [shape, *ranges(SHAPE, outs[1:])]


def type_add(p, ins, outs):
    pair = typed(TYPES, [BYTES] * 2, ins[:2])
    if calibrated(p) is None:
        result = (WHOLE,)
    elif BYTE in pair:
        result = (BYTE,)
    else:
        result = BYTES if None in pair else (UNSIGNED,)
    return [*pair, *typed(TYPES, [(SINGLE,)] * 4, ins[2:])], typed(TYPES, [result, (SINGLE,), (SINGLE,)], outs)


def type_mul(p, ins, outs):
    result = SINGLE if p.enable_float_output else WHOLE if calibrated(p) is None else BYTE
    made = [(result,), (SINGLE,), (SINGLE,)][: len(outs)]
    return typed(TYPES, [(BYTE,)] * 2 + [(SINGLE,)] * 4, ins), typed(TYPES, made, outs)


def outputs(p):
    return ("output",) if getattr(p, "enable_float_output", False) else ("output", "min_output", "max_output")


# --- loops ----------------------------------------------------------------------------------------


class Steps(NamedTuple):
    """How many steps lhs, rhs and the result count from 0 to the ends of their ranges, as float32."""

    lhs: np.float32
    rhs: np.float32
    out: np.float32
    narrow_lhs: int = 0
    """1 where lhs is rounded to int8 before it is added."""
    narrow_rhs: int = 0
    calibrated: int = 0


def reach_of_sum(low_a, high_a, low_b, high_b, low, high):
    for _ in items(1):
        size = reach(low_a[0], high_a[0]) + reach(low_b[0], high_b[0])
        low[0] = -size
        high[0] = size


def add(a, b, low_a, high_a, low_b, high_b, low, high, out, s: Steps, n):
    size = reach(low[0], high[0])
    if s.calibrated:
        by_a = (s.out / size) / (s.lhs / reach(low_a[0], high_a[0]))
        by_b = (s.out / size) / (s.rhs / reach(low_b[0], high_b[0]))
    else:
        by_a = (s.out * reach(low_a[0], high_a[0])) / (size * s.lhs)
        by_b = (s.out * reach(low_b[0], high_b[0])) / (size * s.rhs)
    for i in items(n):
        left, right = np.float32(a[i]) * by_a, np.float32(b[i]) * by_b
        if s.narrow_lhs:
            left = np.float32(to_int8(left))
        if s.narrow_rhs:
            right = np.float32(to_int8(right))
        out[i] = formula(left + right)  # noqa: F821  # bound by Loop


def multiply(a, b, out, n):
    for i in items(n):
        out[i] = np.int64(a[i]) * np.int64(b[i])


def real_product(a, b, low_a, high_a, low_b, high_b, out, s: Steps, n):
    by = np.float64(s.lhs / reach(low_a[0], high_a[0])) * np.float64(s.rhs / reach(low_b[0], high_b[0]))
    scale = np.float32(1 / by)
    for i in items(n):
        out[i] = np.float32(np.int64(a[i]) * np.int64(b[i])) * scale


def narrow_product(a, b, low_a, high_a, low_b, high_b, low, high, out, s: Steps, n):
    by = np.float64(s.lhs / reach(low_a[0], high_a[0])) * np.float64(s.rhs / reach(low_b[0], high_b[0]))
    scale = np.float32(np.float64(s.out / reach(low[0], high[0])) / by)
    for i in items(n):
        value = np.float32(np.int64(a[i]) * np.int64(b[i])) * scale
        kept = np.int64(value) if abs(value) < 2147483648.0 else np.int64(0)
        out[i] = (kept + 128) % 256 - 128


SUM = {kind: Loop(add, formula=TO[kind]) for kind in (*BYTES, WHOLE)}
REACH_OF_SUM = Loop(reach_of_sum)
MULTIPLY, REAL_PRODUCT, NARROW_PRODUCT = Loop(multiply), Loop(real_product), Loop(narrow_product)


# --- the operators --------------------------------------------------------------------------------


def forward_add(p, a, b, low_a, high_a, low_b, high_b, out, low, high):
    given = low_a, high_a, low_b, high_b
    found = calibrated(p)
    if found is None:
        REACH_OF_SUM(*given, low, high)
    else:
        fill_range(found, low, high)
    narrow = [int(a.dtype != b.dtype and one.dtype == UNSIGNED) for one in (a, b)]
    steps = Steps(STEPS[a.dtype], STEPS[b.dtype], STEPS.get(out.dtype, SUMS), *narrow, int(found is not None))
    SUM[out.dtype](a, b, *given, low, high, out, steps, out.size)


def forward_mul(p, a, b, low_a, high_a, low_b, high_b, out, low=None, high=None):
    given = low_a, high_a, low_b, high_b
    found, steps = calibrated(p), Steps(*[STEPS[BYTE]] * 3)
    if p.enable_float_output:
        REAL_PRODUCT(a, b, *given, out, steps, out.size)
    elif found is not None:
        fill_range(found, low, high)
        NARROW_PRODUCT(a, b, *given, low, high, out, steps, out.size)
    else:
        MULTIPLY(a, b, out, out.size)
        REACH_OF_PRODUCTS(*given, low, high, WHOLE_STEPS[BYTE], WHOLE_STEPS[BYTE], SUMS)


INPUTS = ("lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max")
VALUES = {"lhs_min": "any", "lhs_max": "positive", "rhs_min": "any", "rhs_max": "positive"}


def calibration(draw):
    """A calibrated range, or none."""
    if draw.boolean():
        return {}
    return {"min_calib_range": draw.choice((-1.5, 0, 0.25)), "max_calib_range": draw.choice((0.5, 1.0))}


def cases_add(draw):
    kinds = {name: draw.choice(("int8", "uint8")) for name in ("lhs", "rhs")}
    values = {name: ("ints", -128, 127) if kind == "int8" else ("ints", 0, 255) for name, kind in kinds.items()}
    return Case(calibration(draw), {"lhs": draw.shape(1, 3)}, {**VALUES, **values}, kinds)


def cases_mul(draw):
    params = {**calibration(draw), "enable_float_output": draw.boolean()}
    values = {"lhs": ("ints", -128, 127), "rhs": ("ints", -128, 127), **VALUES}
    return Case(params, {"lhs": draw.shape(1, 3)}, values, {"lhs": "int8", "rhs": "int8"})


register(Op(
    name="_contrib_quantized_elemwise_add", doc=__doc__, params=AddParams, inputs=INPUTS, outputs=outputs, infer=infer,
    infer_type=type_add, forward=forward_add, no_gradient_clause="quantized_elementwise/gradient", cases=cases_add,
    refusals={
        SHAPE: {"shapes": {"lhs": (2, 3), "rhs": (3,)}},
        TYPES: {"shapes": {"lhs": (2,)}, "dtypes": {"lhs": "float32"}},
    },
    tier=3,
    runs_alone={"reach_of_sum": "the two ends of a range"},
))
register(Op(
    name="_contrib_quantized_elemwise_mul", doc=__doc__, params=MulParams, inputs=INPUTS, outputs=outputs, infer=infer,
    infer_type=type_mul, forward=forward_mul, gradient=nothing, differentiable=False, cases=cases_mul,
    tier=3, reports=Sources(2),
    runs_alone={"reach_of_products": "the two ends of a range"},
))
