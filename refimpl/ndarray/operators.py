"""Operators on arrays: every page of ``kernels/`` as a function ``mx.nd.X(..., out=None)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import decides, dtype_of, numeric_types, refusal
from ..engine import fast_road
from ..kernels.foundation import Op, get, keeps
from ..op_registry.function import OperatorFunction
from . import classes, dense, dispatch

if TYPE_CHECKING:
    from .ndarray import NDArray

_CHOOSING = frozenset({"cast_storage", "dot"})


def _asks_for_sparse(op: Op, attrs: dict[str, Any]) -> bool:
    """Whether the parameters ask for a sparse result of dense inputs, which two operators can return."""
    return op.name in _CHOOSING and bool({attrs.get("stype"), attrs.get("forward_stype")} & {"csr", "row_sparse"})


def invoke(op: Op, inputs: list[NDArray], attrs: dict[str, Any], out: Any = None) -> Any:
    """Run ``op`` and return its visible outputs: one array, or a list of several.

    ``out`` (an array, or a list of them) receives the result, cast to its dtype, and is returned.

    Raises:
        MXNetError: a parameter, shape or dtype is refused, or the context is absent.
    """
    targets = [] if out is None else dense.listed_targets(op, out)
    is_sparse = [array.is_sparse for array in inputs]
    is_sparse += [array.is_sparse for array in targets]
    if True in is_sparse or (attrs and _asks_for_sparse(op, attrs)):
        return dispatch.invoke(op, inputs, attrs, out)
    return dense.invoke(op, inputs, attrs, targets, out)


def call(name: str, *inputs: Any, out: Any = None, **attrs: Any) -> Any:
    """Run the operator ``name``."""
    op = get(name)
    if out is None and fast_road.is_open():
        return fast_road.road.array_call(op, inputs, attrs, _as_given)
    return invoke(op, list(inputs), attrs, out)


def _as_given(_: Op, inputs: tuple, attrs: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    return list(inputs), attrs


def binary(left: Any, right: Any, array_op: str, scalar_op: str, out: Any = None) -> Any:
    """Run an arithmetic operator: ``array_op`` on two arrays, ``scalar_op`` on an array and a number.

    Raises:
        TypeError: ``right`` is neither an NDArray nor a number (a NumPy array, None, a string ...).
    """
    if out is None and fast_road.is_open():
        return fast_road.road.pair(left, right, array_op, scalar_op)
    op, inputs, attrs = operands(left, right, array_op, scalar_op)
    return invoke(op, inputs, attrs, out)


@decides("NDArray/arithmetic")
def operands(left: Any, right: Any, array_op: str, scalar_op: str) -> tuple[Op, list[Any], dict[str, Any]]:
    """(operator, input arrays, attributes) of an arithmetic operator on ``left`` and ``right``."""
    if isinstance(right, classes.ndarray):
        return get(array_op), [left, right], {}
    if isinstance(right, numeric_types) and not isinstance(right, np.ndarray):
        return get(scalar_op), [left], {"scalar": float(right)}
    raise refusal("nd/operand", f"type {type(right)} not supported, use an NDArray or a number", TypeError)


def _check_input(op: Op, name: str, value: Any) -> None:
    if not isinstance(value, classes.ndarray):
        raise refusal(
            "nd/input", f"{op.name}: {name} must be an NDArray, got {type(value).__name__}", AssertionError
        )


def _split_arguments(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """Positional and keyword arguments as (input arrays, attributes)."""
    kwargs.pop("name", None)
    if op.variadic:
        arrays = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
        for value in arrays:
            _check_input(op, "each input", value)
        return arrays, kwargs
    names = [*op.all_inputs, *op.params._fields]
    if len(args) > len(names):
        raise refusal("nd/arguments", f"{op.name} takes at most {len(names)} arguments", TypeError)
    by_name = {n: v for n, v in zip(names, args, strict=False) if keeps(op.params, n, v)}
    for key, value in kwargs.items():
        if key in by_name:
            raise refusal("nd/arguments", f"{op.name} got {key} twice", TypeError)
        by_name[key] = value
    arrays = []
    for name in op.all_inputs:
        value = by_name.pop(name, None)
        if value is None:
            continue
        _check_input(op, name, value)
        arrays.append(value)
    return arrays, {k: v for k, v in by_name.items() if keeps(op.params, k, v)}


def taken_apart(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """(input arrays, attributes) from the arguments of an operator's function."""
    arrays, attrs = _split_arguments(op, args, kwargs)
    if "dtype" in attrs and not isinstance(attrs["dtype"], str):
        attrs["dtype"] = dtype_of(attrs["dtype"]).name
    return arrays, attrs


class ArrayFunction(OperatorFunction):
    """An operator as a function on arrays."""

    value = "NDArray"

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Run the operator; ``out`` receives the result."""
        op = self.op
        if out is None and fast_road.is_open():
            return fast_road.road.array_call(op, args, kwargs, taken_apart)
        arrays, attrs = taken_apart(op, args, kwargs)
        return invoke(op, arrays, attrs, out)


def make_function(op: Op, name: str) -> Callable:
    """The public function of an operator under one of its names."""
    return ArrayFunction(op, name)
