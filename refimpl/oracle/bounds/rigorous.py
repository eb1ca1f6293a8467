"""The second bound: numbers like those of ``number``, whose bound is proved instead of estimated to first order.

Implementations have the same freedoms as in ``number``. But a value is an exact rational instead of a result in double
precision, an error counts every product of errors, the magnitudes of a sum include the errors of its terms, and every
rounding here is outwards. This is tens of times slower, so only suspects are computed in this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .comparable import Comparable
from .corners import Kind, infinite_product, infinite_quotient, quotient_by_zero
from .ieee import plain
from .number import EXPONENT_OF_ZERO, INFINITE, SHORT, fits, gathered
from .precision import NOW, Precision, can_divide_by, is_correct, units_of
from .rationals import (
    Value,
    above,
    below,
    cut,
    finite,
    lowest_bit,
    over,
    plus,
    size_of,
    times,
    to_float,
    up,
    value_of,
)

SLACK = Fraction(1, 2**48)
"""What a function of the C library may be wrong by in double precision, as part of its result."""

MOST = 1_000_000
"""Numbers that a program may need before it is given up: about half a minute."""


class TooLong(Exception):
    """A program needs more numbers than MOST."""


class _Made:
    numbers = 0


made = _Made()
"""How many enclosures were made since somebody set this to 0."""


class Enclosure(Comparable):
    """A value and the largest error of any legitimate computation of it; the fields are those of ``number.Number``."""

    __slots__ = ("error", "grain", "mass", "only", "terms", "value")

    def __init__(self, value: Value, error: Value, mass: Value, terms: int, grain: int | None) -> None:
        made.numbers += 1
        if made.numbers > MOST:
            raise TooLong(f"more than {MOST} numbers")
        self.value, self.error, self.mass, self.terms, self.grain = value, error, mass, terms, grain

    def bound(self) -> Value:
        """How far a correct result may be from ``value``."""
        if self.grain is not None:
            return 0
        if self.error == INFINITE or not self.terms:
            return self.error
        unit, lost = Fraction(NOW.precision.unit), Fraction(NOW.precision.lost)
        if self.terms == 1:
            size = abs(Fraction(self.value))
            flushed = lost if size + self.error and size - self.error < 2 * NOW.precision.smallest else 0
            return up(self.error + unit * (size + self.error) + flushed)
        # n additions in any order are wrong by n * unit * mass (Jeannerod and Rump, 2013), and may flush n results
        return up(self.error + self.terms * (unit * Fraction(self.mass) * (1 + self.terms * unit) + 2 * lost))

    def split(self) -> Value:
        """How far this may be off as a factor; see ``Number.split``."""
        if not self.terms or self.error == INFINITE:
            return self.bound()
        count, unit, lost = self.terms + 1, Fraction(NOW.precision.unit), Fraction(NOW.precision.lost)
        return up(self.error + count * (unit * Fraction(self.mass) * (1 + (count + 1) * unit) + 2 * lost))

    def pair(self) -> tuple[float, float]:
        """The value in double precision, and a bound of the distance from that."""
        value, error = to_float(self.value), self.bound()
        if error == INFINITE or not math.isfinite(value):
            return value, to_float(error)
        error += abs(Fraction(self.value) - Fraction(value))
        return value, above(error) if error else 0.0

    def __repr__(self) -> str:
        return f"{to_float(self.value)!r} ± {to_float(self.bound()):.3g}"

    # --- sums -----------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Enclosure:
        return _sum(self, number(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Enclosure:
        return _sum(self, -number(other))

    def __rsub__(self, other: Any) -> Enclosure:
        return _sum(number(other), -self)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.value, self.error, self.mass, self.terms, self.grain)

    # --- products -------------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Enclosure:
        return _product(self, number(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Enclosure:
        return _quotient(self, number(other))

    def __rtruediv__(self, other: Any) -> Enclosure:
        return _quotient(number(other), self)

    def __pow__(self, exponent: Any) -> Enclosure:
        if isinstance(exponent, int) and 0 <= exponent <= 8:
            return math.prod([self] * exponent, start=number(1))
        return power(self, exponent)

    def __rpow__(self, base: Any) -> Enclosure:
        return power(base, self)

    def _floor(self) -> Enclosure:
        return floor(self)

    def __mod__(self, other: Any) -> Enclosure:
        return _remainder(self, number(other))

    def __rmod__(self, other: Any) -> Enclosure:
        return _remainder(number(other), self)

    # --- branches -------------------------------------------------------------------------------

    def _split_from(self, other: Any) -> Value:
        other = number(other)
        if self.grain is None or other.grain is None:
            apart = plus(self.value, -other.value)
            error = self.bound() + other.bound()
            if error == INFINITE or not (abs(apart) > error or math.isnan(apart)):
                NOW.undecided = True
                return -INFINITE * NOW.lean if NOW.lean else other.value
        return other.value

    def _whole(self, way: Callable[[Any], int]) -> int:
        return whole(self, way)


# --- how numbers are made ------------------------------------------------------------------------


def exactly(value: Value) -> Enclosure:
    """A number without error; a rational that needs too many bits becomes a number with a tiny error."""
    value = value_of(value) if type(value) is float else value
    grain = lowest_bit(value)
    return rounded(value, 0, 0) if grain is None else Enclosure(value, 0, size_of(value), 0, grain)


def free(value: Value) -> Enclosure:
    """A number of which nothing is known."""
    return Enclosure(value_of(to_float(value)), INFINITE, Fraction(0), 0, None)


def pole(value: float) -> Enclosure:
    """An infinity that was computed; see ``number.pole``."""
    return Enclosure(value, 0, INFINITE, 0, None)


def is_pole(x: Enclosure) -> bool:
    """See ``number.is_pole``."""
    return x.grain is None and x.error == 0 and type(x.value) is float and math.isinf(x.value)


_KIND = Kind(exactly, free, pole, is_pole)


def number(value: Any) -> Enclosure:
    """A constant: exact if it has few bits, else rounded as an implementation may round it."""
    if type(value) is Enclosure:
        return value
    value = value_of(float(value))
    grain = lowest_bit(value)
    assert grain is not None
    if type(value) is float or abs(value) <= Fraction(2) ** (grain + NOW.precision.bits):
        return Enclosure(value, 0, size_of(value), 0, grain)
    error = abs(value) * Fraction(NOW.precision.unit)
    return Enclosure(value, error, abs(value) + error, 0, None)


def covering(one: Enclosure, *others: Enclosure) -> Enclosure:
    """See ``number.covering``."""
    if one.grain is not None and all(o.grain is not None and repr(o.value) == repr(one.value) for o in others):
        return one
    if any(not finite(x.value) or x.bound() == INFINITE for x in (one, *others)):
        return free(one.value)
    apart = sum(abs(Fraction(one.value) - Fraction(other.value)) + other.bound() for other in others)
    error = up(max(one.bound(), apart))
    return Enclosure(one.value, error, up(abs(one.value) + error), 0, None)


def rounded(value: Value, error: Value, units: float = 1) -> Enclosure:
    """The result of an operation whose operands put it wrong by ``error``, itself rounded to ``units`` units.

    ``units`` rounding errors one after the other, if they are several.
    """
    now = NOW.precision
    if not finite(value) or error == INFINITE or not abs(value) + error <= now.largest:
        return exactly(value) if error == 0 and not finite(value) else free(value)
    near = value if type(value) is float else cut(value, False)
    error = Fraction(error) + abs(Fraction(value) - Fraction(near))
    size = abs(Fraction(near)) + error
    total = error + Fraction(units) * Fraction(now.unit) * size * (1 + Fraction(units) * Fraction(now.unit))
    if abs(near) - total < 2 * now.smallest:
        total += 2 * Fraction(now.lost)
    total = up(total)
    if not abs(near) + total <= now.largest:
        return free(value)
    return Enclosure(near or 0.0, total, up(abs(near) + total), 0, None)


def cast(value: Any, precision: Precision) -> Enclosure:
    """``value`` stored in an array of another precision."""
    value = number(value)
    if is_pole(value):
        return value
    size, error = abs(value.value), value.bound()
    if value.grain is not None and not finite(size):
        return exactly(value.value)
    if value.grain is not None and (size == 0 or (
        size < Fraction(2) ** (value.grain + precision.bits) and size <= precision.largest
        and (precision.smallest <= size or Fraction(2) ** value.grain >= precision.least)
    )):
        return value  # as in number.cast
    if not finite(size) or not size + error <= precision.largest:
        return free(value.value)
    error = error + Fraction(precision.unit) * (Fraction(size) + error)
    if size - error < 2 * precision.smallest:
        error += 2 * Fraction(precision.lost)
    error = up(error)
    return Enclosure(value.value, error, up(size + error), 0, None)


# --- arithmetic ----------------------------------------------------------------------------------


def _sum(a: Enclosure, b: Enclosure) -> Enclosure:
    value = plus(a.value, b.value)
    for zero, other in ((a, b), (b, a)):
        if zero.grain is not None and zero.mass == 0 and value:
            return other  # nothing is rounded where 0 is added
    mass, terms = a.mass + b.mass, a.terms + b.terms + 1
    if a.grain is not None and b.grain is not None and fits(mass, min(a.grain, b.grain)):
        return Enclosure(value, 0, mass, terms, min(a.grain, b.grain))
    if not mass <= NOW.precision.largest:  # also not a number
        others = [x for x in (a, b) if not is_pole(x)]
        if len(others) == 1 and others[0].mass <= NOW.precision.largest and others[0].error < INFINITE:
            return pole(value)
        certain = any(x.grain is not None and not finite(x.value) for x in (a, b))
        return exactly(value) if certain and INFINITE not in (a.bound(), b.bound()) else free(value)
    if INFINITE in (a.error, b.error) or not finite(value):
        return free(value)
    return Enclosure(value, up(a.error + b.error), up(mass), terms, None)


def _product(a: Enclosure, b: Enclosure) -> Enclosure:
    value = times(a.value, b.value)
    if a.grain is not None and b.grain is not None and finite(a.value) and finite(b.value):
        grain, mass = a.grain + b.grain, max(a.mass * size_of(b.value), b.mass * size_of(a.value))
        if fits(mass, grain):  # as in Number
            return Enclosure(value, 0, mass, gathered(max(a.terms, b.terms), value), grain)
    for zero, other in ((a, b), (b, a)):
        if zero.value == 0 == zero.bound() and zero.mass == 0 and finite(other.value) and other.bound() < INFINITE:
            return Enclosure(value, 0, Fraction(0), 1, EXPONENT_OF_ZERO)  # the sign of either may be open
    if not (finite(a.value) and finite(b.value)):
        return infinite_product(_KIND, a, b, value)
    error_a, error_b = a.split(), b.split()
    if INFINITE in (error_a, error_b):
        return free(value)
    x, y, terms = size_of(a.value), size_of(b.value), a.terms + b.terms
    if 0 < terms <= SHORT:
        flushed = (x * b.terms + y * a.terms) * 2 * Fraction(NOW.precision.lost)  # in what is not taken apart
        mass = max(Fraction(a.mass) * (y + error_b), Fraction(b.mass) * (x + error_a))
        return _short_sum(value, x * b.error + y * a.error + error_a * error_b + flushed, mass, terms, 1)
    return rounded(value, up(x * error_b + y * error_a + error_a * error_b))


def _short_sum(value: Value, error: Value, mass: Value, terms: int, units: float) -> Enclosure:
    """See ``number``: ``mass`` is of the terms before they are rounded."""
    now = NOW.precision
    near = value if type(value) is float else cut(value, False)
    off = Fraction(units) * Fraction(now.unit) * mass * (1 + Fraction(units) * Fraction(now.unit))
    total = error + abs(Fraction(value) - Fraction(near)) + off
    if abs(near) - total < 2 * now.smallest:
        total += (terms + 1) * 2 * Fraction(now.lost)
    if not mass + total <= now.largest:
        return free(value)
    return Enclosure(near or 0.0, up(total), up(mass + off), terms, None)


def _quotient(a: Enclosure, b: Enclosure) -> Enclosure:
    error = b.bound()
    if b.value == 0 and b.grain is not None:
        return quotient_by_zero(_KIND, a, b)
    if not abs(b.value) > error:
        return exactly(math.nan) if b.grain is not None and math.isnan(b.value) else free(math.nan)
    value = over(a.value, b.value)
    if a.grain is not None and a.value == 0 == a.mass and finite(b.value) and error < INFINITE:
        return Enclosure(value, 0, Fraction(0), a.terms, EXPONENT_OF_ZERO)
    if not finite(b.value) or not finite(a.value):
        return infinite_quotient(_KIND, a, b, value)
    mass, size = Fraction(a.mass) / abs(Fraction(b.value)), size_of(value)
    if a.grain is not None and b.grain is not None and is_correct("div") and abs(math.frexp(b.value)[0]) == 0.5:
        grain = a.grain - math.frexp(b.value)[1] + 1
        if fits(mass, grain):  # type: ignore[arg-type]  # of either arithmetic
            return Enclosure(value, 0, mass, gathered(a.terms, value), grain)
    off = a.split()
    if off == INFINITE or not can_divide_by(abs(b.value)):
        return free(value)
    near, units = abs(b.value) - error, units_of("div", 2)[0]  # 2, because a product with the reciprocal is as good
    if 0 < a.terms <= SHORT:
        return _short_sum(value, (a.error + size * error) / near, Fraction(a.mass) / near, a.terms, units)
    return rounded(value, up((off + size * error) / near), units)


def _remainder(a: Enclosure, b: Enclosure) -> Enclosure:
    """Python's ``%``: the remainder has the sign of ``b``."""
    if a.grain is not None and b.grain is not None:
        if b.value == 0 or not finite(a.value):
            return exactly(math.nan)
        if math.isinf(b.value):
            return exactly(to_float(a.value) % b.value)
    return a - floor(a / b) * b


def whole(x: Enclosure, way: Callable[[Any], int]) -> int:
    """``x`` rounded to a whole number in one way; undecided where its error reaches over a step."""
    if not finite(x.value):
        NOW.undecided = NOW.misplaced = True
        return -(2**63)
    error = x.bound()
    if error and (error == INFINITE or way(x.value - error) != way(x.value + error)):
        NOW.undecided = NOW.misplaced = True
        if NOW.lean and error != INFINITE:
            return way(x.value + NOW.lean * error)
    return way(x.value)


def floor(x: Any) -> Enclosure:
    """The largest whole number not above ``x``."""
    x = number(x)
    return exactly(float(whole(x, math.floor))) if finite(x.value) else x


def ceil(x: Any) -> Enclosure:
    """The smallest whole number not below ``x``."""
    x = number(x)
    return exactly(float(whole(x, math.ceil))) if finite(x.value) else x


def power(base: Any, exponent: Any) -> Enclosure:
    """``base`` to any power; it rises or falls in each of the two, so the corners bound it."""
    base, exponent = number(base), number(exponent)
    near = plain(math.pow, to_float(base.value), to_float(exponent.value))
    if not (finite(base.value) and finite(exponent.value)):
        certain = base.grain is not None and abs(exponent.value) > exponent.bound()
        return exactly(near) if certain else free(near)
    certain = base.grain is not None and exponent.grain is not None
    if certain and not math.isfinite(near):
        return exactly(near) if math.isnan(near) else pole(near)
    if not certain and (not base.value > base.bound() or exponent.bound() == math.inf or not math.isfinite(near)):
        return free(near)
    corners = {plain(math.pow, x, y) for x in _hull(base) for y in _hull(exponent)}
    if not all(map(math.isfinite, corners)):
        return free(near)
    off = max(abs(Fraction(corner) - Fraction(near)) + abs(Fraction(corner)) * SLACK for corner in corners)
    log = 0 if certain else abs(math.log(to_float(base.value))) * abs(to_float(exponent.value))
    return rounded(value_of(near), off, 16 + log)  # exp(exponent * log(base)) is as good


def _hull(x: Enclosure) -> tuple[float, float]:
    return below(x.value - x.bound()), above(x.value + x.bound())
