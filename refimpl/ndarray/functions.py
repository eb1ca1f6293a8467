"""``mx.nd.add``, ``mx.nd.equal`` and others: functions of two operands, each an array or a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ..base import numeric_types, refusal
from . import operators
from .ndarray import NDArray


class _Row(NamedTuple):
    """Names of the operators for (array, array), (array, number), (number, array); the function of two numbers."""

    arrays: str
    right: str
    left: str
    numbers: Callable[[Any, Any], Any]


def _symmetric(stem: str, numbers: Callable[[Any, Any], Any]) -> _Row:
    scalar = "plus" if stem == "add" else stem
    return _Row(f"broadcast_{stem}", f"_{scalar}_scalar", f"_{scalar}_scalar", numbers)


def _reversible(stem: str, scalar: str, numbers: Callable[[Any, Any], Any]) -> _Row:
    return _Row(f"broadcast_{stem}", f"_{scalar}_scalar", f"_r{scalar}_scalar", numbers)


def _mirrored(stem: str, mirror: str, numbers: Callable[[Any, Any], Any]) -> _Row:
    return _Row(f"broadcast_{stem}", f"_{stem}_scalar", f"_{mirror}_scalar", lambda a, b: int(numbers(a, b)))


class TwoSided(Protocol):
    """A function of two operands, each an array or a number."""

    def __call__(self, lhs: Any, rhs: Any) -> Any:
        """Apply the operator for these types of operands."""


def _function(name: str, row: _Row) -> TwoSided:
    def function(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, NDArray):
            return operators.binary(lhs, rhs, row.arrays, row.right)
        if isinstance(rhs, NDArray):
            return operators.binary(rhs, lhs, row.arrays, row.left)
        if isinstance(lhs, numeric_types) and isinstance(rhs, numeric_types):
            return row.numbers(lhs, rhs)
        raise refusal("nd/operand", "at least one operand must be an NDArray", TypeError)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"``{name}`` of two arrays, element by element after broadcasting, or of an array and a number.\n\n"
        "    Two numbers give a number.\n\n    Raises:\n        TypeError: an operand is neither.\n    "
    )
    return function


add = _function("add", _symmetric("add", operator.add))
subtract = _function("subtract", _reversible("sub", "minus", operator.sub))
multiply = _function("multiply", _symmetric("mul", operator.mul))
divide = _function("divide", _reversible("div", "div", operator.truediv))
modulo = _function("modulo", _reversible("mod", "mod", operator.mod))
_power = _function("power", _reversible("power", "power", operator.pow))
maximum = _function("maximum", _symmetric("maximum", max))
minimum = _function("minimum", _symmetric("minimum", min))
equal = _function("equal", _mirrored("equal", "equal", operator.eq))
not_equal = _function("not_equal", _mirrored("not_equal", "not_equal", operator.ne))
greater = _function("greater", _mirrored("greater", "lesser", operator.gt))
greater_equal = _function("greater_equal", _mirrored("greater_equal", "lesser_equal", operator.ge))
lesser = _function("lesser", _mirrored("lesser", "greater", operator.lt))
lesser_equal = _function("lesser_equal", _mirrored("lesser_equal", "greater_equal", operator.le))
logical_and = _function("logical_and", _mirrored("logical_and", "logical_and", lambda a, b: bool(a) and bool(b)))
logical_or = _function("logical_or", _mirrored("logical_or", "logical_or", lambda a, b: bool(a) or bool(b)))
logical_xor = _function("logical_xor", _mirrored("logical_xor", "logical_xor", lambda a, b: bool(a) != bool(b)))
true_divide = divide


def power(base: Any, exp: Any) -> Any:
    """``base`` to the power of ``exp``: two arrays, element by element after broadcasting, or an array and a number.

    Two numbers give a number.

    Raises:
        TypeError: an operand is neither an array nor a number.
    """
    return _power(base, exp)


__all__ = [
    "add", "divide", "equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and",
    "logical_or", "logical_xor", "maximum", "minimum", "modulo", "multiply", "not_equal", "power",
    "subtract", "true_divide",
]
