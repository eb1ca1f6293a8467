"""Comparisons of both kinds of numbers with bounds, which note whether errors leave them undecided."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class Comparable:
    """A number with a ``value`` and an error; ``_split_from`` gives the value that it is compared with."""

    __array_ufunc__ = None  # so that NumPy's scalars leave arithmetic to this class
    __slots__ = ()
    value: Any

    def _split_from(self, other: Any) -> Any:
        """The other's value, after noting whether the two can be told apart."""
        raise TypeError(f"{type(self).__name__} cannot be compared with {other!r}")

    def __neg__(self) -> Any:
        raise TypeError(f"{type(self).__name__} has no negative")

    def _floor(self) -> Any:
        """The largest whole number that is not above this one."""
        raise TypeError(f"{type(self).__name__} cannot be rounded down")

    def __floordiv__(self, other: Any) -> Any:
        return (self / other)._floor()

    def __rfloordiv__(self, other: Any) -> Any:
        return (other / self)._floor()

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(f"{type(self).__name__} cannot be divided by {other!r}")

    def _whole(self, way: Callable[[Any], int]) -> int:
        """The number rounded to a whole one in one way, after noting whether its error leaves that open."""
        raise TypeError(f"{type(self).__name__} cannot be rounded by {way.__name__}")

    def __int__(self) -> int:
        return int(self._whole(math.trunc))

    __trunc__ = __index__ = __int__

    def __floor__(self) -> int:
        return int(self._whole(math.floor))

    def __ceil__(self) -> int:
        return int(self._whole(math.ceil))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self.value < 0 else self

    def __lt__(self, other: Any) -> bool:
        return self.value < self._split_from(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= self._split_from(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > self._split_from(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= self._split_from(other)

    def __eq__(self, other: object) -> bool:
        if other is self:  # x == x asks for NaN only
            return self.value == self.value
        return self.value == self._split_from(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # equal numbers may have other errors

    def __bool__(self) -> bool:
        return self != 0

    def __float__(self) -> float:
        raise TypeError("a number with an error must not be turned into a float: the error would be lost")
