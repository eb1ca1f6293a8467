"""What signs mean between symbols and numbers, and the names MXNet gives the nodes they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import NotImplementedForSymbol, numeric_types, refusal
from ..kernels.foundation import get
from .compose import call

if TYPE_CHECKING:
    from .symbol import Symbol


class Arithmetic:
    """Signs of :class:`Symbol`: between two symbols the elementwise operator, with a number its scalar form."""

    __slots__ = ()

    def _binary(self, other: Any, array_op: str, called: str, scalar_op: str, scalar_called: str) -> Symbol:
        if isinstance(other, Arithmetic) and array_op:
            return call(get(array_op), called, [self, other], {})
        if isinstance(other, numeric_types) and not isinstance(other, np.ndarray):
            return call(get(scalar_op), scalar_called, [self], {"scalar": other})
        raise refusal("Symbol/operand", f"type {type(other)} not supported", TypeError)

    def __add__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_add", "_Plus", "_plus_scalar", "_PlusScalar")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_sub", "_Minus", "_minus_scalar", "_MinusScalar")

    def __rsub__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rminus_scalar", "_RMinusScalar")

    def __mul__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_mul", "_Mul", "_mul_scalar", "_MulScalar")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self._binary(other, "elemwise_div", "_Div", "_div_scalar", "_DivScalar")

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rdiv_scalar", "_RDivScalar")

    def __mod__(self, other: Any) -> Symbol:
        return self._binary(other, "_mod", "_Mod", "_mod_scalar", "_ModScalar")

    def __rmod__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rmod_scalar", "_RModScalar")

    def __pow__(self, other: Any) -> Symbol:
        return self._binary(other, "_power", "_Power", "_power_scalar", "_PowerScalar")

    def __rpow__(self, other: Any) -> Symbol:
        return self._binary(other, "", "", "_rpower_scalar", "_rpower_scalar")

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __eq__(self, other: object) -> Any:
        return self._binary(other, "_equal", "_equal", "_equal_scalar", "_equal_scalar")

    def __ne__(self, other: object) -> Any:
        return self._binary(other, "_not_equal", "_not_equal", "_not_equal_scalar", "_not_equal_scalar")

    def __gt__(self, other: Any) -> Symbol:
        return self._binary(other, "_greater", "_greater", "_greater_scalar", "_greater_scalar")

    def __ge__(self, other: Any) -> Symbol:
        return self._binary(
            other, "_greater_equal", "_greater_equal", "_greater_equal_scalar", "_greater_equal_scalar"
        )

    def __lt__(self, other: Any) -> Symbol:
        return self._binary(other, "_lesser", "_lesser", "_lesser_scalar", "_lesser_scalar")

    def __le__(self, other: Any) -> Symbol:
        return self._binary(
            other, "_lesser_equal", "_lesser_equal", "_lesser_equal_scalar", "_lesser_equal_scalar"
        )

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol(self.__bool__, self)

    def __iadd__(self, other: Any) -> Symbol:
        raise NotImplementedForSymbol(self.__iadd__, self, other)

    __isub__ = __imul__ = __itruediv__ = __imod__ = __iadd__
