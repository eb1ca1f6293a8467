"""Ranges, rounding of real to whole numbers, shapes and types for the operators on quantized numbers.

A whole number of 8 bits stands for a real number, as a number of steps. A range (two arrays of one number each, the
least and the largest value) gives the size of a step. Only the larger absolute value of the two counts, so 0 always
stands for 0.
"""

from math import floor

import numpy as np

from ..foundation import Loop, items, merge, require, scalar
from ..foundation.loops import FILL

BYTE, UNSIGNED, WHOLE, SINGLE = np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int32), np.dtype(np.float32)
BYTES = (BYTE, UNSIGNED)
NAMED = {"int8": BYTE, "uint8": UNSIGNED}
STEPS = {BYTE: np.float32(127.5), UNSIGNED: np.float32(255.5)}
"""How many steps MXNet's oneDNN operators count from 0 to the end of a range."""
WHOLE_STEPS = {BYTE: np.float32(127), UNSIGNED: np.float32(255)}
"""The same for what is written as plain C++: quantize, requantize and the ranges of sums of products."""
SUMS = np.float32(2**31)
"""How many steps of an int32 there are from 0 to the end of its range."""


@scalar
def reach(low, high):
    """The larger absolute value of a range's two ends."""
    return max(abs(low), abs(high))


@scalar
def nearest(x):
    """The nearest whole number, of two equally near numbers the even one; ``x`` is finite."""
    below = floor(x)
    rest = x - np.float32(below)
    if rest > 0.5 or (rest == 0.5 and below % 2 == 1):
        return below + 1
    return below


@scalar
def to_int8(x):
    """The nearest int8; NaN counts as too large."""
    if not x < 127:
        return 127
    return nearest(x) if x > -128 else -128


@scalar
def to_uint8(x):
    """The nearest uint8; NaN counts as 0."""
    if not x > 0:
        return 0
    return nearest(x) if x < 255 else 255


@scalar
def to_int32(x):
    """The nearest int32; NaN counts as the least."""
    if not x > -2147483648.0:
        return -2147483648
    return nearest(x) if x < 2147483648.0 else 2147483647


@scalar
def as_int32(total):
    """The lower 32 bits of a whole number, as an int32."""
    return (total + 2147483648) % 4294967296 - 2147483648


def reach_of_products(low_a, high_a, low_b, high_b, low, high, steps_a, steps_b, sums):
    """The range of an int32 whose step is the product of the steps of both factors."""
    for _ in items(1):
        size = ((reach(low_a[0], high_a[0]) / steps_a) * (reach(low_b[0], high_b[0]) / steps_b)) * sums
        low[0] = -size
        high[0] = size


REACH_OF_PRODUCTS = Loop(reach_of_products)
TO = {BYTE: to_int8, UNSIGNED: to_uint8, WHOLE: to_int32}


def fill_range(found, low, high):
    """Write a calibrated range."""
    FILL(low, found[0], 1)
    FILL(high, found[1], 1)


# --- inference ------------------------------------------------------------------------------------


def ranges(clause, given):
    """Shapes of arrays of one number."""
    return [merge(clause, "the end of a range", shape, (1,)) for shape in given]


def typed(clause, wanted, given):
    """Types ``given``, completed where ``wanted`` allows one only; each of ``wanted`` is a tuple of dtypes."""
    found = []
    for position, (allowed, kind) in enumerate(zip(wanted, given, strict=True)):
        names = " or ".join(str(one) for one in allowed)
        require(
            clause, kind is None or kind in allowed,
            f"Type inconsistent: input or output {position} is {kind}, expected {names}",
        )
        found.append(allowed[0] if kind is None and len(allowed) == 1 else kind)
    return found


def types(clause, ins, outs):
    """An ``infer_type`` for the same types in every call; ``ins`` and ``outs`` hold tuples of allowed dtypes."""

    def infer_type(p, given, made):
        return typed(clause, ins, given), typed(clause, outs, made)

    return infer_type


def kept(clause):
    """An ``infer_type`` of operators on (data, least, largest) whose output has the 8-bit type of data."""

    def infer_type(p, ins, outs):
        data, *_ = typed(clause, [BYTES], [ins[0] or outs[0]])
        return [data, *typed(clause, [(SINGLE,)] * 2, ins[1:])], [
            *typed(clause, [(data,) if data else BYTES], outs[:1]), *typed(clause, [(SINGLE,)] * 2, outs[1:]),
        ]

    return infer_type
