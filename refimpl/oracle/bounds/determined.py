"""Results that are determined where products are always, or never, fused with an addition.

Such a result is the single precision number that one multiplication, one addition, or one of each gives for exact
operands. It is kept beside the bound of a number, in ``only``. What is made of it by further operations is bounded as
always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

from ...base import decides
from .arithmetic import Arithmetic
from .precision import DOUBLE, NOW, SINGLE, Precision


class Only(NamedTuple):
    """What a number must be."""

    value: Fraction | None
    """The only right number; None of an exact operand whose results are open."""
    product: Fraction | None = None
    """Of a product that was not stored yet: what it is before it is rounded."""
    is_sum: bool = False


def nearest(value: Fraction, precision: Precision) -> Fraction | None:
    """The number of a precision that is nearest to ``value``, to even; None outside of its normal numbers."""
    if value == 0:
        return None
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    step = Fraction(2) ** (exponent - precision.bits + 1)
    found = round(value / step) * step
    return found if 2 * precision.smallest <= abs(found) <= precision.largest / 2 else None


def _only(x: Any) -> Only | None:
    return getattr(x, "only", None)


def _exact(x: Any) -> Fraction | None:
    """The value of an operand that is exact and no sum."""
    return Fraction(x.value) if x.grain is not None and not x.terms and x.value and _only(x) is None else None


@decides("oracle/declared-fused")
def _sum_of(x: Any, y: Any, sign: int, is_fused: bool) -> Only | None:
    """What the rounded sum of x and ``sign`` times y must be: of two exact numbers, or of one and one product."""
    values = [_exact(x), _exact(y)]
    for i, each in enumerate((x, y)):
        of = _only(each)
        if values[i] is None and values[1 - i] is not None and of is not None and not of.is_sum:
            values[i] = of.product if is_fused else of.value  # a fused product that was stored may be rounded or not
    if values[0] is None or values[1] is None:
        return None
    return Only(nearest(values[0] + sign * values[1], SINGLE), is_sum=True)


@contextmanager
def determined(arithmetic: Arithmetic, *, is_fused: bool) -> Iterator[None]:
    """Within this block the numbers of an arithmetic note what they must be.

    Args:
        arithmetic: of these numbers.
        is_fused: whether a product and its addition round once.
    """
    kind, number, cast = arithmetic.kind, arithmetic.number, arithmetic.cast
    plain = {name: getattr(kind, name) for name in REPLACED}

    def noted(made: Any, only: Only | None) -> Any:
        if only is not None and only.value is not None and made.grain is None and NOW.precision is SINGLE:
            made.only = only
        return made

    def product(self: Any, other: Any) -> Any:
        other = number(other)
        x, y = _exact(self), _exact(other)
        made = plain["__mul__"](self, other)
        if is_fused and made.grain is not None:  # another product of the same sum may be the one that is rounded
            made.only = Only(None)
        return made if x is None or y is None else noted(made, Only(nearest(x * y, SINGLE), x * y))

    def sums(name: str, sign: int) -> Callable[[Any, Any], Any]:
        def total(self: Any, other: Any) -> Any:
            other = number(other)
            made = plain[name](self, other)
            return made if made is self or made is other else noted(made, _sum_of(self, other, sign, is_fused))

        return total

    def pair(self: Any) -> tuple[float, float]:
        only = _only(self)
        return plain["pair"](self) if only is None or only.value is None else (float(only.value), 0.0)

    def stored(value: Any, precision: Precision) -> Any:
        made, only = cast(value, precision), _only(value)
        if precision is DOUBLE and made.grain is not None:
            made = kind(made.value, made.error, made.mass, made.terms, made.grain)
            made.only = Only(None)
        elif precision is SINGLE and only is not None and only.value is not None and made is not value:
            made.only = only._replace(product=None)
        return made

    methods = {
        "__mul__": product, "__rmul__": product, "__add__": sums("__add__", 1), "__radd__": sums("__add__", 1),
        "__sub__": sums("__sub__", -1), "__rsub__": lambda self, other: number(other) - self, "pair": pair,
    }
    try:
        for name, method in methods.items():
            setattr(kind, name, method)
        arithmetic.cast = stored
        yield
    finally:
        for name, method in plain.items():
            setattr(kind, name, method)
        arithmetic.cast = cast


REPLACED = ("__mul__", "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__", "pair")
