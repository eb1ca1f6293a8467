"""The arithmetic that implementations under test may use: half, single and double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Precision:
    """The arithmetic that the implementations under test are allowed to use.

    Args:
        unit: half the distance from 1 to the next number.
        bits: significant bits of a number.
        largest: the largest finite number.
        smallest: the smallest normal number; below it an implementation may flush to zero.
    """

    __slots__ = ("bits", "largest", "least", "lost", "smallest", "unit")

    def __init__(self, unit: float, bits: int, largest: float, smallest: float) -> None:
        self.unit, self.bits, self.largest, self.smallest = unit, bits, largest, smallest
        self.flush(True)

    def flush(self, is_allowed: bool) -> None:
        """Set ``lost``, the largest error of a result below ``smallest``, and ``least``: its multiples are exact."""
        self.lost = self.smallest if is_allowed else self.smallest * self.unit
        self.least = self.smallest if is_allowed else 2 * self.smallest * self.unit


HALF = Precision(2.0**-11, 11, 65504.0, 2.0**-14)
SINGLE = Precision(2.0**-24, 24, 3.4028234663852886e38, 2.0**-126)
DOUBLE = Precision(2.0**-53, 53, 1.7976931348623157e308, 2.0**-1022)


class Ulps(NamedTuple):
    """What a function may be wrong by: units in the last place of its result, and an absolute error."""

    constant: float
    slope: float = 0.0
    """Times the magnitude of the argument."""
    absolute: float = 0.0

    def is_correct(self) -> bool:
        """Whether results are rounded correctly."""
        return self.constant <= 0.5 and not self.slope and not self.absolute


class _Now:
    precision = SINGLE
    ulps: dict[str, Ulps] = {}  # noqa: RUF012  # function -> what is declared of it; replaced as a whole
    misplaced = False  # whether a whole number was not known, which may be the place where a loop writes
    undecided = False  # whether a branch was taken on numbers that their errors do not separate
    lean = 0  # which way such branches go: as the values say, or as if the first were larger (1) or smaller (-1)


NOW = _Now()
"""What holds for all numbers that are made: an argument of every operator cannot be had."""


def units_of(name: str, own: float, size: float = 0.0) -> tuple[float, float]:
    """Units of its result, and an absolute error, that a function may be wrong by.

    Args:
        name: of a function of ``math``, or div.
        own: units, where nothing is declared.
        size: the largest magnitude of the argument.
    """
    declared = NOW.ulps.get(name)
    if declared is None:
        return own, 0.0
    return 2 * (declared.constant + declared.slope * float(size)), declared.absolute  # an ulp is at most two units


def is_correct(name: str) -> bool:
    """Whether results that need no rounding are exact."""
    return name not in NOW.ulps or NOW.ulps[name].is_correct()


def can_divide_by(size: float) -> bool:
    """Whether a product with the reciprocal of this magnitude is as good, or division is rounded correctly."""
    return "div" not in NOW.ulps or is_correct("div") or NOW.precision.smallest <= size <= 1 / NOW.precision.smallest


def use(precision: Precision) -> Precision:
    """Choose the arithmetic of all numbers made from now on; returns the one before."""
    before, NOW.precision = NOW.precision, precision
    return before


@contextmanager
def watched_branches() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a branch within this block was undecided."""
    before, NOW.undecided = NOW.undecided, False
    try:
        yield lambda: NOW.undecided
    finally:
        NOW.undecided = before
