"""The arithmetic that implementations under test may use: half, single and double precision."""

from __future__ import annotations


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
