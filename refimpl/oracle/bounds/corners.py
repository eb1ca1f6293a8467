"""Products and quotients of infinities and NaN, and quotients by 0, for either kind of numbers.

``number`` and ``rigorous`` make numbers in their own ways, and agree on the certain results among these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """How one kind of numbers is made; see the functions of these names in ``number``."""

    exactly: Callable[[Any], Any]
    free: Callable[[Any], Any]
    pole: Callable[[Any], Any]
    is_pole: Callable[[Any], bool]


def infinite_product(kind: Kind, a: Any, b: Any, value: Any) -> Any:
    """The product ``value`` of two numbers of which one is infinite or not a number."""
    certain = all(abs(x.value) > x.bound() or x.bound() == 0 for x in (a, b))
    if kind.is_pole(a) or kind.is_pole(b):
        certain = certain and not (math.isnan(value) or a.terms or b.terms)
        return kind.pole(value) if certain else kind.free(value)
    certain = certain or (math.isnan(value) and a.bound() + b.bound() == 0)
    return kind.exactly(value) if certain else kind.free(value)


def infinite_quotient(kind: Kind, a: Any, b: Any, value: Any) -> Any:
    """The quotient ``value`` of two numbers of which one is infinite, or the first is not a number."""
    if kind.is_pole(a) or (kind.is_pole(b) and type(a.value) is float and not math.isfinite(a.value)):
        return kind.free(value) if math.isnan(value) or b.terms else kind.pole(value)
    return kind.exactly(value) if a.bound() < math.inf and b.bound() < math.inf else kind.free(value)


def quotient_by_zero(kind: Kind, a: Any, b: Any) -> Any:
    """``a`` divided by a 0 that is exact."""
    if a.grain is None and not abs(a.value) > a.bound():  # also where it is not a number
        return kind.free(math.nan)
    if b.terms and a.value:  # the sign of a sum of zeros depends on whether it starts at 0
        return kind.free(math.inf)
    if a.value == 0 or math.isnan(a.value):
        return kind.exactly(math.nan)
    return kind.pole((math.inf if a.value > 0 else -math.inf) * math.copysign(1, b.value))
