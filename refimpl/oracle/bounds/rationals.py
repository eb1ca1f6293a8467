"""Exact rationals with the zeros, infinities and NaN of IEEE 754: the values of ``rigorous``.

A value is a ``Fraction``; zeros keep their sign, so they are floats, as infinities and NaN are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from . import number as numbers

Value = Any
"""A Fraction; or 0.0, -0.0, NaN or an infinity."""
BITS = 160
"""Longer values are cut to so many bits; what is cut off counts as error."""


def finite(value: Value) -> bool:
    """Whether a value is neither infinite nor NaN."""
    return type(value) is not float or math.isfinite(value)


def size_of(value: Value) -> Value:
    """The magnitude, which is a float only where it is not finite."""
    return abs(Fraction(value)) if finite(value) else abs(value)


def sign_of(value: Value) -> float:
    """A float that behaves as the value does beside zeros, infinities and NaN."""
    return value if type(value) is float else 1.0 if value > 0 else -1.0


def plus(a: Value, b: Value) -> Value:
    """Their sum."""
    if a == 0 != b:
        return b
    if b == 0 != a:
        return a
    if type(a) is float or type(b) is float:
        return sign_of(a) + sign_of(b)
    return (a + b) or 0.0


def times(a: Value, b: Value) -> Value:
    """Their product."""
    return sign_of(a) * sign_of(b) if type(a) is float or type(b) is float else a * b


def over(a: Value, b: Value) -> Value:
    """``b`` is not 0."""
    return sign_of(a) / sign_of(b) if type(a) is float or type(b) is float else Fraction(a, b)


def to_float(value: Value) -> float:
    """The nearest double."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def below(value: Value) -> float:
    """The largest double that is not above ``value``."""
    near = to_float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def above(value: Value) -> float:
    """The smallest double that is not below ``value``."""
    return -below(-value)


def cut(value: Fraction, away: bool) -> Fraction:
    """At most BITS bits of a value, and no smaller if ``away``."""
    shift = BITS - value.numerator.bit_length() + value.denominator.bit_length()
    if value.numerator.bit_length() <= BITS and value.denominator & (value.denominator - 1) == 0:
        return value
    scaled = value * Fraction(2) ** shift
    return Fraction(math.ceil(scaled) if away else math.floor(scaled)) / Fraction(2) ** shift


def up(error: Value) -> Value:
    """An error, rounded up to BITS bits."""
    return error if type(error) is float or not error else cut(Fraction(error), True)


def value_of(value: float) -> Value:
    """A float as a value."""
    return Fraction(value) if value and math.isfinite(value) else float(value)


def lowest_bit(value: Value) -> int | None:
    """As ``number.lowest_bit``; None for a rational that is no multiple of any power of 2."""
    if type(value) is float:
        return numbers.lowest_bit(value)
    if value.denominator & (value.denominator - 1):
        return None
    top = value.numerator
    return (top & -top).bit_length() - value.denominator.bit_length()
