"""A number with a bound of its error: the range of results of any correct program in limited precision.

A page's loop that runs over these numbers gives for every result a bound of its distance from the exact result, for any
implementation that rounds every operation to ``unit`` (2**-24 in single precision), adds the terms of a sum in any
order, and fuses or splits products.

The terms of a sum are collected instead of being rounded one by one. The clauses oracle/sum-order, oracle/exact and
oracle/branch of ``spec/reference/tools/oracle.md`` define sums, exact numbers and undecided branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...base import decides
from .comparable import Comparable
from .corners import Kind, infinite_product, infinite_quotient, quotient_by_zero
from .ieee import plain
from .precision import DOUBLE, NOW, Precision, can_divide_by, is_correct, units_of

EXPONENT_OF_ZERO = 4096
INFINITE = math.inf
SURELY_FINITE = 1e300
SHORT = 1
"""Additions of a short sum: the terms of its products may be added one by one to what a product is added to."""


@lru_cache(maxsize=1 << 16)  # the same few quarters are read again and again
def lowest_bit(value: float) -> int:
    """The exponent of the lowest bit that is set: ``value`` is a whole multiple of 2 to this power."""
    if value == 0 or not math.isfinite(value):
        return EXPONENT_OF_ZERO
    top, denominator = value.as_integer_ratio()
    return (top & -top).bit_length() - denominator.bit_length()


class Number(Comparable):
    """See the module's text.

    ``value`` is the result in double precision. ``error`` bounds the roundings so far, without those of the current
    sum; ``mass`` and ``terms`` describe this sum: the magnitudes of its terms, and the number of its additions;
    ``grain`` is the exponent of the lowest bit of all its terms, or None when the number is not exact.
    """

    __slots__ = ("error", "grain", "mass", "only", "terms", "value")  # for only see determined

    def __init__(self, value: float, error: float, mass: float, terms: int, grain: int | None) -> None:
        self.value, self.error, self.mass, self.terms, self.grain = value, error, mass, terms, grain

    def bound(self) -> float:
        """How far a correct result may be from ``value``."""
        if self.grain is not None:
            return 0.0
        if self.terms == 1:  # one addition rounds its result, however large the terms are
            return self.error + NOW.precision.unit * (abs(self.value) + self.error)
        return self.error + self.terms * NOW.precision.unit * self.mass if self.terms else self.error

    def split(self) -> float:
        """How far this may be off as a factor: a product with a sum may be taken term by term, each of them rounded."""
        if self.terms and math.isfinite(self.mass):
            return self.error + (self.terms + 1) * NOW.precision.unit * self.mass
        return self.bound()

    def pair(self) -> tuple[float, float]:
        """The value, and a bound of its distance from a correct result."""
        # in double precision the value was rounded as often as that result
        return self.value, self.bound() * (2 if NOW.precision is DOUBLE else 1)

    def __repr__(self) -> str:
        return f"{self.value!r} ± {self.bound():.3g}"

    # --- sums -----------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Number:
        if type(other) is not Number:
            other = number(other)
        return _sum(self, other, self.value + other.value)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Number:
        if type(other) is not Number:
            other = number(other)
        return _sum(self, other, self.value - other.value)

    def __rsub__(self, other: Any) -> Number:
        other = number(other)
        return _sum(self, other, other.value - self.value)

    def __neg__(self) -> Number:
        return Number(-self.value, self.error, self.mass, self.terms, self.grain)

    # --- products -------------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Number:
        if type(other) is not Number:
            other = number(other)
        a, b = self.value, other.value
        value = a * b
        if self.grain is not None and other.grain is not None:
            grain, mass = self.grain + other.grain, max(self.mass * abs(b), other.mass * abs(a))
            if fits(mass, grain):  # term by term, and so are sums of these terms with others
                return Number(value, 0.0, mass, gathered(max(self.terms, other.terms), value), grain)
        if value and -SURELY_FINITE < value < SURELY_FINITE:  # neither is 0, infinite, or not a number
            if not (self.terms or other.terms):
                return rounded(value, abs(a) * other.error + abs(b) * self.error + self.error * other.error)
            return _inexact_product(self, other, value)
        error_a, error_b = self.bound(), other.bound()
        none_a, none_b = a == 0 == error_a and self.mass == 0, b == 0 == error_b and other.mass == 0
        if (none_a and abs(b) + error_b < INFINITE) or (none_b and abs(a) + error_a < INFINITE):
            return Number(value, 0.0, 0.0, 1, EXPONENT_OF_ZERO)  # the other's sign may be open, so this one's is
        if not (math.isfinite(a) and math.isfinite(b)):
            return infinite_product(_KIND, self, other, value)
        return _inexact_product(self, other, value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Number:
        return _quotient(self, number(other))

    def __rtruediv__(self, other: Any) -> Number:
        return _quotient(number(other), self)

    def __pow__(self, exponent: Any) -> Number:
        if isinstance(exponent, int) and 0 <= exponent <= 8:
            result = number(1)
            for _ in range(exponent):
                result = result * self
            return result
        return power(self, exponent)

    def __rpow__(self, base: Any) -> Number:
        return power(number(base), self)

    def _floor(self) -> Number:
        return floor(self)

    def __mod__(self, other: Any) -> Number:
        return _remainder(self, number(other))

    def __rmod__(self, other: Any) -> Number:
        return _remainder(number(other), self)

    # --- branches -------------------------------------------------------------------------------

    @decides("oracle/branch")
    def _split_from(self, other: Any) -> float:
        """The other's value, after noting whether the two can be told apart."""
        if type(other) is Number:
            if self.grain is None or other.grain is None:
                apart, error = abs(self.value - other.value), self.bound() + other.bound()
                if apart <= error or error == INFINITE:  # a free number may be shown as NaN
                    NOW.undecided = True
                    return -INFINITE * NOW.lean if NOW.lean else other.value
            return other.value
        if self.grain is None and (abs(self.value - other) <= self.bound() or self.error == INFINITE):
            NOW.undecided = True
            return -INFINITE * NOW.lean if NOW.lean else other
        return other

    def _whole(self, way: Callable[[float], int]) -> int:
        return _whole(self, way)


@decides("oracle/exact")
def fits(mass: float, grain: int) -> bool:
    """Whether multiples of 2**grain below ``mass`` have no more bits than a number has, and stay in its range."""
    if mass == 0:
        return True
    now = NOW.precision
    if not mass <= now.largest:  # also where it is not a number
        return False
    # less, not equal: in double precision a mass of 2**53 may have been rounded down to that
    return mass < _power_of_two(grain + now.bits) and _power_of_two(grain) >= now.least


@lru_cache(maxsize=1 << 13)
def _power_of_two(exponent: int) -> float:
    return math.ldexp(1.0, min(max(exponent, -1074), 1023))


@decides("oracle/sum-order")
def _sum(a: Number, b: Number, value: float) -> Number:
    mass, grain, other = a.mass + b.mass, a.grain, b.grain
    if value and ((grain is not None and a.mass == 0) or (other is not None and b.mass == 0)):
        of = b if a.mass == 0 and grain is not None else a  # nothing is rounded where 0 is added
        return of if of.value == value else -of
    if grain is not None and other is not None:
        grain = min(grain, other)
        if fits(mass, grain):
            return Number(value, 0.0, mass, a.terms + b.terms + 1, grain)
    if not mass <= NOW.precision.largest:  # also not a number
        return _extreme(value, a, b)
    return Number(value, a.error + b.error, mass, a.terms + b.terms + 1, None)


@decides("oracle/sum-order")
def gathered(terms: int, value: Any) -> int:
    """How many additions are still open in a product of a sum of so many; of a zero some are, for its sign is open."""
    return terms if terms <= SHORT or not value else 0


def _inexact_product(a: Number, b: Number, value: float) -> Number:
    """The product of two finite numbers that is rounded: of both themselves, or of one with each term of the other."""
    x, y, terms = abs(a.value), abs(b.value), a.terms + b.terms
    error_a, error_b = a.split(), b.split()
    if 0 < terms <= SHORT:
        error = x * b.error + y * a.error + error_a * error_b
        return _short_sum(value, error, max(a.mass * y, b.mass * x), terms, 1)
    return rounded(value, x * error_b + y * error_a + error_a * error_b)


def _short_sum(value: float, error: float, mass: float, terms: int, units: float) -> Number:
    """A sum of few terms that were rounded to ``units`` units each, and put wrong by ``error`` together before."""
    now = NOW.precision
    if not mass + error <= now.largest:
        return free(value)
    total = error * (1 + 4 * now.unit) + units * now.unit * (mass + error)
    if abs(value) - total < now.smallest:
        total += (terms + 1) * now.lost
    return Number(value, total, mass, terms, None)


def _extreme(value: float, *inputs: Number) -> Number:
    """A result near or beyond the largest number: certain where an operand was infinite or not a number already."""
    poles = [x for x in inputs if is_pole(x)]
    if len(poles) == 1 and sum(x.mass <= NOW.precision.largest and x.bound() < INFINITE for x in inputs) == 1:
        return pole(value)
    certain = any(x.grain is not None and not math.isfinite(x.value) for x in inputs)
    if certain and not any(x.bound() == INFINITE for x in inputs):
        return exactly(value)
    return Number(value, INFINITE, abs(value), 0, None)


def _quotient(a: Number, b: Number) -> Number:
    below, error = abs(b.value), b.bound()
    if b.value == 0 and b.grain is not None:
        return quotient_by_zero(_KIND, a, b)
    if not below > error:
        if b.grain is not None and b.value != b.value:
            return exactly(math.nan)
        return free(a.value / b.value if b.value else math.nan)
    value = a.value / b.value
    if a.grain is not None and a.value == 0 == a.mass and below + error < INFINITE:
        return Number(value, 0.0, 0.0, a.terms, EXPONENT_OF_ZERO)
    is_halved = math.isfinite(value) and abs(math.frexp(b.value)[0]) == 0.5 and is_correct("div")
    if a.grain is not None and b.grain is not None and is_halved:
        grain, mass = a.grain - lowest_bit(b.value), a.mass / below
        if fits(mass, grain):
            return Number(value, 0.0, mass, gathered(a.terms, value), grain)
    if math.isinf(b.value) or not math.isfinite(a.value):
        return infinite_quotient(_KIND, a, b, value)
    if not can_divide_by(below):
        return free(value)
    units, near = units_of("div", 2)[0], below - error  # 2, because a product with the reciprocal is as good
    if 0 < a.terms <= SHORT:
        return _short_sum(value, (a.error + abs(value) * error) / near, a.mass / near, a.terms, units)
    return rounded(value, (a.split() + abs(value) * error) / near, units)


def _remainder(a: Number, b: Number) -> Number:
    """Python's ``%``: the remainder has the sign of ``b``."""
    if a.grain is not None and b.grain is not None:
        if b.value == 0 or not math.isfinite(a.value):
            return exactly(math.nan)
        if math.isinf(b.value):
            return exactly(a.value % b.value)
    return a - floor(a / b) * b


def exactly(value: float) -> Number:
    """A number without error."""
    return Number(value, 0.0, abs(value), 0, lowest_bit(value))


def pole(value: float) -> Number:
    """An infinity computed from finite numbers: it stays one, but a sum with it is not known."""
    return Number(value, 0.0, INFINITE, 0, None)


def is_pole(x: Number) -> bool:
    """Whether a number is an infinity that was computed."""
    return x.grain is None and x.error == 0 and math.isinf(x.value)


def free(value: float) -> Number:
    """A number of which nothing is known."""
    return Number(value, INFINITE, 0.0, 0, None)


_KIND = Kind(exactly, free, pole, is_pole)


def number(value: Any) -> Number:
    """A constant: exact if it has few bits, else rounded as an implementation may round it."""
    if type(value) is Number:
        return value
    value = float(value)
    grain = lowest_bit(value)
    if grain == EXPONENT_OF_ZERO or abs(value) <= math.ldexp(1.0, min(grain + NOW.precision.bits, 1023)):
        return Number(value, 0.0, abs(value), 0, grain)
    return Number(value, abs(value) * NOW.precision.unit, abs(value), 0, None)


def covering(one: Number, *others: Number) -> Number:
    """``one`` with an error that reaches all others together: an implementation may compute any of them."""
    if one.grain is not None and all(o.grain is not None and repr(o.value) == repr(one.value) for o in others):
        return one
    apart = sum(abs(one.value - other.value) + other.bound() for other in others)
    if not one.bound() + apart < INFINITE:  # also where one is not a number
        return free(one.value)
    return Number(one.value, max(one.bound(), apart), abs(one.value), 0, None)


def rounded(value: float, error: float, units: float = 1) -> Number:
    """The result of an operation whose operands put it wrong by ``error``, itself rounded to ``units`` units."""
    size = abs(value)
    if not size + error <= NOW.precision.largest:
        return exactly(value) if error == 0 and not math.isfinite(value) else free(value)
    total = error * (1 + 4 * NOW.precision.unit) + units * NOW.precision.unit * (size + error)
    if size - error < NOW.precision.smallest:
        total += NOW.precision.lost
    return Number(value, total, size, 0, None)


def cast(value: Any, precision: Precision) -> Number:
    """``value`` stored in an array of another precision."""
    if type(value) is not Number:
        value = number(value)
    if value.grain is not None:
        size = abs(value.value)
        if not math.isfinite(size):
            return exactly(value.value)
        if size == 0 or (
            value.grain >= math.frexp(size)[1] - precision.bits and size <= precision.largest
            and (precision.smallest <= size or _power_of_two(value.grain) >= precision.least)
        ):
            return value  # still the sum that it is: what is added later may have been added first
    if is_pole(value):
        return value
    size, error = abs(value.value), value.bound()
    if not size + error <= precision.largest:
        return free(value.value)
    error += precision.unit * (size + error) + (precision.lost if size - error < precision.smallest else 0.0)
    return Number(value.value, error, size, 0, None)


def _whole(x: Number, way: Callable[[float], int]) -> int:
    """``x`` rounded to a whole number in one way; undecided where its error reaches over a step."""
    if not math.isfinite(x.value):  # machines differ here
        NOW.undecided = NOW.misplaced = True
        return -(2**63)
    error = x.bound()
    if error and (not math.isfinite(error) or way(x.value - error) != way(x.value + error)):
        NOW.undecided = NOW.misplaced = True
        if NOW.lean and math.isfinite(error):
            return way(x.value + NOW.lean * error)
    return way(x.value)


def floor(x: Any) -> Number:
    """The largest whole number not above ``x``, as loops use ``math.floor``."""
    x = number(x)
    return exactly(float(_whole(x, math.floor))) if math.isfinite(x.value) else x


def ceil(x: Any) -> Number:
    """The smallest whole number not below ``x``."""
    x = number(x)
    return exactly(float(_whole(x, math.ceil))) if math.isfinite(x.value) else x


def power(base: Any, exponent: Any) -> Number:
    """``base`` to any power; the corners of both errors bound the result."""
    base, exponent = number(base), number(exponent)
    if not (math.isfinite(base.value) and math.isfinite(exponent.value)):
        certain = base.grain is not None and abs(exponent.value) > exponent.bound()
        return exactly(plain(math.pow, base.value, exponent.value)) if certain else free(math.nan)
    if base.grain is not None and exponent.grain is not None:
        value = plain(math.pow, base.value, exponent.value)
        if math.isfinite(value):
            return rounded(value, 0.0, 16)
        return exactly(value) if math.isnan(value) else pole(value)
    if not base.value > base.bound():
        return free(math.nan)
    value = plain(math.pow, base.value, exponent.value)
    corners = [
        plain(math.pow, base.value + s * base.bound(), exponent.value + t * exponent.bound())
        for s in (-1, 1) for t in (-1, 1)
    ]
    log = abs(math.log(base.value)) * abs(exponent.value)  # exp(exponent * log(base)) is as good
    return rounded(value, max(abs(c - value) for c in corners), 16 + log)
