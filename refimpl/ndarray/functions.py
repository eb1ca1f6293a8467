"""``mx.nd.add`` and its kin: functions that accept an array or a number on either side."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ..base import numeric_types, refusal
from . import operators
from .ndarray import NDArray


class _Row(NamedTuple):
    """Names of the operators for (array, array), (array, number), (number, array), and what two numbers give."""

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


ROWS: dict[str, _Row] = {
    "add": _symmetric("add", operator.add),
    "subtract": _reversible("sub", "minus", operator.sub),
    "multiply": _symmetric("mul", operator.mul),
    "divide": _reversible("div", "div", operator.truediv),
    "modulo": _reversible("mod", "mod", operator.mod),
    "power": _reversible("power", "power", operator.pow),
    "maximum": _symmetric("maximum", max),
    "minimum": _symmetric("minimum", min),
    "equal": _mirrored("equal", "equal", operator.eq),
    "not_equal": _mirrored("not_equal", "not_equal", operator.ne),
    "greater": _mirrored("greater", "lesser", operator.gt),
    "greater_equal": _mirrored("greater_equal", "lesser_equal", operator.ge),
    "lesser": _mirrored("lesser", "greater", operator.lt),
    "lesser_equal": _mirrored("lesser_equal", "greater_equal", operator.le),
    "logical_and": _mirrored("logical_and", "logical_and", lambda a, b: bool(a) and bool(b)),
    "logical_or": _mirrored("logical_or", "logical_or", lambda a, b: bool(a) or bool(b)),
    "logical_xor": _mirrored("logical_xor", "logical_xor", lambda a, b: bool(a) != bool(b)),
}


def _function(name: str, row: _Row) -> Callable[[Any, Any], Any]:
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


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {name: _function(name, row) for name, row in ROWS.items()}
FUNCTIONS["true_divide"] = FUNCTIONS["divide"]
