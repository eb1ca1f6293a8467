"""The arithmetic that implementations under test may use: half, single and double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Precision:
    """The arithmetic that the implementations under test are allowed to use.

    Args:
        unit: half the distance from 1 to the next number.
        bits: significant bits of a number.
        largest: the largest finite number.
        smallest: the smallest normal number; below it an implementation may flush to zero.
    """

    __slots__ = ("bits", "largest", "smallest", "unit")

    def __init__(self, unit: float, bits: int, largest: float, smallest: float) -> None:
        self.unit, self.bits, self.largest, self.smallest = unit, bits, largest, smallest


HALF = Precision(2.0**-11, 11, 65504.0, 2.0**-14)
SINGLE = Precision(2.0**-24, 24, 3.4028234663852886e38, 2.0**-126)
DOUBLE = Precision(2.0**-53, 53, 1.7976931348623157e308, 2.0**-1022)


class _Now:
    precision = SINGLE
    undecided = False  # whether a branch was taken on numbers that their errors do not separate
    lean = 0  # which way such branches go: as the values say, or as if the first were larger (1) or smaller (-1)


NOW = _Now()
"""What holds for all numbers that are made: an argument of every operator cannot be had."""


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
