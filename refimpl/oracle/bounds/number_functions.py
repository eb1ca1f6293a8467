"""The functions of ``math`` over numbers with errors; see ``number``.

The clause oracle/functions of ``spec/reference/tools/oracle.md`` says how the error of a result is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from ...base import decides
from . import number as numbers
from .ieee import plain
from .number import INFINITE, Number, exactly, free, is_pole, number, pole, rounded
from .precision import is_correct, units_of

UNITS: dict[str, float] = {
    "sqrt": 2, "fabs": 0, "gamma": 32, "lgamma": 32, "erfc": 16, "tan": 8, "sinh": 8, "cosh": 8, "asin": 8,
}
OTHER_UNITS = 4.0
"""Units of its result, as in oracle/sum-order, that any other function may be wrong by."""

_TURNS_AT_ZERO = {"cosh", "fabs"}  # even functions, smallest at 0
_BOUNDED_SLOPE = {"sin": 1.0, "cos": 1.0}  # not monotone, but never steeper than this


@decides("oracle/functions")
def _lifted(name: str) -> Callable[[Any], Any]:
    function: Callable[[float], float] = getattr(math, name)
    own = UNITS.get(name, OTHER_UNITS)

    def inexact(x: Number, value: float, error: float) -> Number:
        units, absolute = units_of(name, own, abs(x.value) + x.bound())
        return rounded(value, error + absolute, units)

    def of_exact(x: Number, value: float) -> Number:
        """The result where the argument is without error."""
        if math.isnan(value):
            return exactly(value)
        if not is_correct(name):
            return inexact(x, value, 0.0) if math.isfinite(value) else pole(value)
        if name == "sqrt" and Fraction(value) ** 2 == Fraction(x.value):  # the product of floats may be rounded
            return exactly(value)
        if value in (0.0, 1.0) and name not in ("gamma", "lgamma"):
            return exactly(value)  # exp(0), cos(0), tanh(0): every library has these right
        return inexact(x, value, 0.0) if math.isfinite(value) else pole(value)

    def lifted(x: Any) -> Any:
        x = number(x)
        if not math.isfinite(x.value):
            found = plain(function, x.value)
            return free(found) if x.bound() else pole(found) if is_pole(x) and math.isinf(found) else exactly(found)
        value, error = plain(function, x.value), x.bound()
        if error == 0:
            return of_exact(x, value)
        if error == INFINITE:
            return free(value)
        if name in _BOUNDED_SLOPE:
            return inexact(x, value, error * _BOUNDED_SLOPE[name])
        least = max(x.value - error, 0.0) if name == "sqrt" and x.value >= 0 else x.value - error
        low, high = plain(function, least), plain(function, x.value + error)
        if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(value)):
            return free(value)
        spread = max(abs(low - value), abs(high - value))
        if name in _TURNS_AT_ZERO and abs(x.value) < error:
            spread = max(spread, abs(value - function(0.0)))
        if name in ("gamma", "lgamma", "tan"):  # neither monotone nor bounded everywhere: only where nearly straight
            bend = abs(low + high - 2 * value)
            if bend > 0.1 * spread + 1e-12 * abs(value):
                return free(value)
            spread *= 1.2
        return inexact(x, value, spread)

    return lifted


def _hypot(a: Any, b: Any) -> Number:
    a, b = number(a), number(b)
    return rounded(math.hypot(a.value, b.value), a.bound() + b.bound(), 4)


def with_sign_of(a: Any, b: Any) -> Any:
    """``a`` with the sign of ``b``: numbers of either arithmetic."""
    negative = b < 0 or (b.value == 0 and math.copysign(1.0, b.value) < 0)
    return -abs(a) if negative else abs(a)


def _copysign(a: Any, b: Any) -> Number:
    return with_sign_of(number(a), number(b))


def _fmod(a: Any, b: Any) -> Number:
    a, b = number(a), number(b)
    if b.value == 0 or not math.isfinite(a.value):
        return exactly(math.nan) if a.bound() == b.bound() == 0 else free(math.nan)
    if not math.isfinite(b.value):
        return a
    turns = math.trunc(a / b)
    return a - b * turns


def _atan2(a: Any, b: Any) -> Number:
    a, b = number(a), number(b)
    away = math.hypot(a.value, b.value)
    error = math.hypot(a.bound(), b.bound())
    if error >= away:
        return exactly(math.atan2(a.value, b.value)) if error == 0 else free(0.0)
    return rounded(math.atan2(a.value, b.value), error / (away - error), OTHER_UNITS)


def _isnan(x: Any) -> bool:
    return number(x).value != number(x).value


def _isinf(x: Any) -> bool:
    return math.isinf(number(x).value)


def larger(*values: Any) -> Any:
    """``max`` of Python: it is continuous, so undecided comparisons do no harm."""
    return _extremal(values, 1.0)


def smaller(*values: Any) -> Any:
    """``min`` of Python."""
    return _extremal(values, -1.0)


def _extremal(values: tuple[Any, ...], sign: float) -> Any:
    if not any(type(value) is Number for value in values):
        return max(values) if sign > 0 else min(values)
    best = number(values[0])
    for value in values[1:]:
        other = number(value)
        close = abs(best.value - other.value) <= best.bound() + other.bound()
        chosen = other if sign * other.value > sign * best.value else best
        if close and not (best.grain is not None and other.grain is not None):
            chosen = Number(chosen.value, max(best.bound(), other.bound()), abs(chosen.value), 0, None)
        best = chosen
    return best


OF_ONE_NUMBER = (
    "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma",
)
"""Functions of ``math`` whose results are rounded."""
MATH = SimpleNamespace(**{
    **{name: value for name, value in vars(math).items() if not callable(value)},
    **{name: _lifted(name) for name in (*OF_ONE_NUMBER, "fabs")},
    "hypot": _hypot, "copysign": _copysign, "fmod": _fmod, "atan2": _atan2, "isnan": _isnan, "isinf": _isinf,
    "isfinite": lambda x: math.isfinite(number(x).value), "pow": numbers.power, "floor": numbers.floor,
    "ceil": numbers.ceil, "trunc": lambda x: exactly(float(int(number(x)))), "prod": math.prod,
})
"""What loops get for ``math``."""
