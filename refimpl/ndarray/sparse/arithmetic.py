"""add, subtract, multiply and divide: equal shapes take the elementwise form, others the broadcast one."""

from __future__ import annotations

from typing import Any

from ...base import numeric_types, refusal
from ..ndarray import NDArray
from ..operators import call


def _apply(lhs: Any, rhs: Any, elementwise: str, stretched: str, scalar: str, reverse: str) -> NDArray:
    """The form of an operator that fits two operands, of which one at least is an array.

    Raises:
        TypeError: an operand is neither an array nor a number, or both are numbers.
    """
    arrays = isinstance(lhs, NDArray), isinstance(rhs, NDArray)
    if all(arrays):
        return call(elementwise if lhs.shape == rhs.shape else stretched, lhs, rhs)
    number, array = (rhs, lhs) if arrays[0] else (lhs, rhs)
    if not any(arrays) or not isinstance(number, numeric_types):
        raise refusal("nd/operand", f"type {type(number)} not supported, use an NDArray or a number", TypeError)
    return call(scalar if arrays[0] else reverse, array, scalar=float(number))


def add(lhs: Any, rhs: Any) -> NDArray:
    """lhs + rhs, broadcast where the shapes differ; csr + csr and row_sparse + row_sparse stay sparse."""
    return _apply(lhs, rhs, "elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar")


def subtract(lhs: Any, rhs: Any) -> NDArray:
    """lhs - rhs, broadcast where the shapes differ; csr - csr and row_sparse - row_sparse stay sparse."""
    return _apply(lhs, rhs, "elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar")


def multiply(lhs: Any, rhs: Any) -> NDArray:
    """lhs * rhs, broadcast where the shapes differ; stays sparse where storage-type inference says so."""
    return _apply(lhs, rhs, "elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar")


def divide(lhs: Any, rhs: Any) -> NDArray:
    """lhs / rhs, broadcast where the shapes differ; csr divided by a number, row or column stays csr."""
    return _apply(lhs, rhs, "elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar")
