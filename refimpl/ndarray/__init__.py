"""mx.nd: dense arrays, and every operator as a function on them."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..publishing import publish as _publish
from . import operators
from .creation import concatenate, full, moveaxis, ones, waitall, zeros
from .file_format import load, load_frombuffer, save
from .ndarray import NDArray, array, empty


def arange(
    start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
    infer_range: bool = False, ctx: _Any = None, dtype: _Any = "float32",
) -> NDArray:
    """Evenly spaced values from ``start`` up to (not including) ``stop``, each ``repeat`` times."""
    return operators.call(
        "_arange", start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range,
        ctx=ctx, dtype=operators.dtype_of(dtype).name,
    )


_internal, op = _publish(__name__, globals(), operators.make_function)


def _two_ways(array_op: str, scalar_op: str, reverse_op: str) -> _Any:
    """A function that accepts arrays and numbers on either side (``mx.nd.add`` and its kin)."""

    def function(lhs: _Any, rhs: _Any) -> _Any:
        if isinstance(lhs, NDArray):
            return operators.binary(lhs, rhs, array_op, scalar_op)
        if isinstance(rhs, NDArray):
            return operators.binary(rhs, lhs, array_op, reverse_op)
        raise operators.refusal("nd/operand", "at least one operand must be an NDArray", TypeError)

    return function


add = _two_ways("broadcast_add", "_plus_scalar", "_plus_scalar")
subtract = _two_ways("broadcast_sub", "_minus_scalar", "_rminus_scalar")
multiply = _two_ways("broadcast_mul", "_mul_scalar", "_mul_scalar")
divide = true_divide = _two_ways("broadcast_div", "_div_scalar", "_rdiv_scalar")
modulo = _two_ways("broadcast_mod", "_mod_scalar", "_rmod_scalar")
power = _two_ways("broadcast_power", "_power_scalar", "_rpower_scalar")
maximum = _two_ways("broadcast_maximum", "_maximum_scalar", "_maximum_scalar")
minimum = _two_ways("broadcast_minimum", "_minimum_scalar", "_minimum_scalar")
equal = _two_ways("broadcast_equal", "_equal_scalar", "_equal_scalar")
not_equal = _two_ways("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar")
greater = _two_ways("broadcast_greater", "_greater_scalar", "_lesser_scalar")
greater_equal = _two_ways("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar")
lesser = _two_ways("broadcast_lesser", "_lesser_scalar", "_greater_scalar")
lesser_equal = _two_ways("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar")

from .. import random  # noqa: E402  # mx.nd.random is mx.random; it needs the functions above

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        """Operators are made from their pages, which a type checker cannot see."""


__all__ = [
    "NDArray", "add", "arange", "array", "concatenate", "divide", "empty", "equal", "full", "greater",
    "greater_equal", "lesser", "lesser_equal", "load", "load_frombuffer", "maximum", "minimum", "modulo",
    "moveaxis", "multiply", "not_equal", "ones", "power", "random", "save", "subtract", "true_divide",
    "waitall", "zeros",
]
