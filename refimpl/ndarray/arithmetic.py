"""What signs mean between arrays and numbers: one line per sign, operator names as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import decides
from . import operators

if TYPE_CHECKING:
    from .ndarray import NDArray


class Arithmetic:
    """Signs of :class:`NDArray`: between two arrays they broadcast, with a number they take the scalar form."""

    __slots__ = ()
    __hash__ = object.__hash__  # == compares elements, yet arrays are hashed by identity

    def __add__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_add", "_plus_scalar")

    __radd__ = __add__

    def __sub__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_sub", "_minus_scalar")

    def __rsub__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "", "_rminus_scalar")

    def __mul__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_mul", "_mul_scalar")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_div", "_div_scalar")

    def __rtruediv__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "", "_rdiv_scalar")

    def __mod__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_mod", "_mod_scalar")

    def __rmod__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "", "_rmod_scalar")

    def __pow__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_power", "_power_scalar")

    def __rpow__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "", "_rpower_scalar")

    @decides("NDArray/in-place")
    def __iadd__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_add", "_plus_scalar", out=self)

    def __isub__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_sub", "_minus_scalar", out=self)

    def __imul__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_mul", "_mul_scalar", out=self)

    def __itruediv__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_div", "_div_scalar", out=self)

    def __imod__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_mod", "_mod_scalar", out=self)

    def __neg__(self) -> NDArray:
        return operators.call("negative", self)

    def __abs__(self) -> NDArray:
        return operators.call("abs", self)

    def __eq__(self, other: object) -> Any:
        return operators.binary(self, other, "broadcast_equal", "_equal_scalar")

    def __ne__(self, other: object) -> Any:
        return operators.binary(self, other, "broadcast_not_equal", "_not_equal_scalar")

    def __gt__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_greater", "_greater_scalar")

    def __ge__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_greater_equal", "_greater_equal_scalar")

    def __lt__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_lesser", "_lesser_scalar")

    def __le__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_lesser_equal", "_lesser_equal_scalar")
