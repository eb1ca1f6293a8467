"""The functions of ``math`` over enclosures; see ``rigorous``.

A function is evaluated in double precision at both ends of its argument. The C library's own error there is at most
a few units in the last place of a double; SLACK, 2**-48 of the value, is assumed, and 2**-38 for the gamma functions,
which Python computes itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from . import rigorous
from .ieee import plain
from .number_functions import OTHER_UNITS, UNITS, with_sign_of
from .precision import is_correct, units_of
from .rationals import Value, above, below, finite, plus, to_float, value_of
from .rigorous import SLACK, Enclosure, exactly, free, is_pole, number, rounded, whole

GAMMA_SLACK = Fraction(1, 2**38)
FALLING = ("acos", "erfc")
LIPSCHITZ = ("sin", "cos")
LOWEST_GAMMA = Fraction("1.4616321449683623")
"""Where gamma and its logarithm are smallest, to 16 digits; the slack covers the others."""


def _ends(function: Callable[..., float], low: float, high: float, slack: Fraction) -> tuple[Value, Value] | None:
    """A lower and an upper limit of a rising function between two floats, or None where one is not finite."""
    ends = plain(function, low), plain(function, high)
    if not all(map(math.isfinite, ends)):
        return None
    a, b = map(Fraction, ends)
    tiny = Fraction(5e-324)
    return a - abs(a) * slack - tiny, b + abs(b) * slack + tiny


def _range(name: str, low: float, high: float) -> tuple[Value, Value] | None:
    """Limits of a function between two floats, or None where they cannot be told."""
    function = getattr(math, name)
    if name in FALLING:
        found = _ends(function, high, low, SLACK)
        return found and (min(found), max(found))
    if name in ("cosh", "fabs"):
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return _ends(function, nearest, max(abs(low), abs(high)), SLACK)
    if name == "tan":
        turns = low / math.pi + 0.5, high / math.pi + 0.5
        near = min(abs(turn - round(turn)) for turn in turns) < 1e-9
        return None if near or math.floor(turns[0]) != math.floor(turns[1]) else _ends(function, low, high, SLACK)
    if name in ("gamma", "lgamma"):
        if low <= 0 and low != high:
            return None
        if high <= LOWEST_GAMMA:
            found = _ends(function, high, low, GAMMA_SLACK)
        elif low >= LOWEST_GAMMA:
            found = _ends(function, low, high, GAMMA_SLACK)
        else:
            found = _ends(function, float(LOWEST_GAMMA), max(low, high, key=function), GAMMA_SLACK)
        return found and (found[0] - GAMMA_SLACK, found[1] + GAMMA_SLACK)
    return _ends(function, low, high, SLACK)


def _lifted(name: str) -> Callable[[Any], Enclosure]:
    function: Callable[[float], float] = getattr(math, name)
    own = UNITS.get(name, OTHER_UNITS)

    def inexact(x: Enclosure, value: Value, error: Value) -> Enclosure:
        units, absolute = units_of(name, own, above(abs(x.value) + x.bound()))
        return rounded(value, error + Fraction(absolute), units)

    def of_exact(x: Enclosure, near: float) -> Enclosure | None:
        """The result where the argument is without error, if it is known exactly."""
        if not math.isfinite(near):
            return exactly(near) if math.isnan(near) else rigorous.pole(near)
        if name == "fabs":
            return abs(x)
        if not is_correct(name):
            return None
        if name == "sqrt" and Fraction(near) ** 2 == x.value:
            return exactly(near)
        if x.value in (0, 1) and near in (0.0, 1.0) and name not in ("gamma", "lgamma"):
            return exactly(near)  # exp(0), cos(0), log(1): every library has these right
        return None

    def lifted(x: Any) -> Enclosure:
        x = number(x)
        error = x.bound()
        if not finite(x.value):
            found = plain(function, x.value)
            if error:
                return free(found)
            return rigorous.pole(found) if is_pole(x) and math.isinf(found) else exactly(found)
        near = plain(function, to_float(x.value))
        if error == 0 and (known := of_exact(x, near)) is not None:
            return known
        if error == math.inf or not math.isfinite(near):
            return free(near)
        middle = value_of(near)
        if name in LIPSCHITZ:  # never steeper than 1
            off = abs(Fraction(to_float(x.value)) - Fraction(x.value))
            return inexact(x, middle, error + off + abs(Fraction(near)) * SLACK)
        low, high = below(x.value - error), above(x.value + error)
        if name == "sqrt" and x.value >= 0:
            low = max(low, 0.0)
        limits = _range(name, low, high)
        if limits is None:
            return free(near)
        return inexact(x, middle, max(abs(limit - Fraction(middle)) for limit in limits))

    return lifted


def _hypot(a: Any, b: Any) -> Enclosure:
    a, b = number(a), number(b)
    near = math.hypot(to_float(a.value), to_float(b.value))
    if not math.isfinite(near):
        return free(near) if math.inf in (a.bound(), b.bound()) else exactly(near)
    return rounded(value_of(near), a.bound() + b.bound() + Fraction(near) * SLACK, 4)


def _copysign(a: Any, b: Any) -> Enclosure:
    return with_sign_of(number(a), number(b))


def _fmod(a: Any, b: Any) -> Enclosure:
    a, b = number(a), number(b)
    if b.value == 0 or not finite(a.value):
        return exactly(math.nan) if a.bound() == b.bound() == 0 else free(math.nan)
    return a if not finite(b.value) else a - b * math.trunc(a / b)


def _atan2(a: Any, b: Any) -> Enclosure:
    a, b = number(a), number(b)
    near = math.atan2(to_float(a.value), to_float(b.value))
    if not (finite(a.value) and finite(b.value)):
        return exactly(near) if a.bound() == b.bound() == 0 else free(near)
    error = a.bound() + b.bound()
    away = Fraction(below(math.hypot(to_float(a.value), to_float(b.value)))) * (1 - SLACK)
    if error == 0 and near == 0:
        return exactly(near)
    turns = b.value - b.bound() < 0 and abs(a.value) <= a.bound() != 0  # from pi to -pi
    if not error < away or turns:
        return free(near)
    return rounded(value_of(near), error / (away - error) + abs(Fraction(near)) * SLACK, OTHER_UNITS)


def _extremal(sign: float) -> Callable[..., Any]:
    def extremal(*values: Any) -> Any:
        if not any(type(value) is Enclosure for value in values):
            return max(values) if sign > 0 else min(values)
        best = number(values[0])
        for value in values[1:]:
            other = number(value)
            chosen = other if sign * other.value > sign * best.value else best
            if not (best.grain is not None and other.grain is not None):
                apart = abs(plus(best.value, -other.value))
                if not apart > best.bound() + other.bound():
                    error = max(best.bound(), other.bound())
                    chosen = Enclosure(chosen.value, error, abs(chosen.value) + error, 0, None)
            best = chosen
        return best

    return extremal


larger, smaller = _extremal(1.0), _extremal(-1.0)
MATH = SimpleNamespace(**{
    **{name: value for name, value in vars(math).items() if not callable(value)},
    **{name: _lifted(name) for name in (
        "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
        "acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "fabs",
    )},
    "hypot": _hypot, "copysign": _copysign, "fmod": _fmod, "atan2": _atan2, "pow": rigorous.power,
    "isnan": lambda x: math.isnan(number(x).value), "isinf": lambda x: math.isinf(number(x).value),
    "isfinite": lambda x: finite(number(x).value), "floor": rigorous.floor, "ceil": rigorous.ceil,
    "trunc": lambda x: exactly(float(whole(number(x), math.trunc))), "prod": math.prod,
})
"""What loops get for ``math``."""
