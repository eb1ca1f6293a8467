"""mx.nd.contrib.foreach, while_loop and cond as Python loops over arrays, each step recorded like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from . import operators
from .creation import zeros
from .ndarray import NDArray, array
from .nesting import flatten, nest, to_scalar


def _row(data: Any, index: int) -> Any:
    return data[index] if isinstance(data, NDArray) else [_row(part, index) for part in data]


@decides("control-flow/foreach")
def foreach(body: Callable, data: Any, init_states: Any) -> tuple[Any, Any]:
    """Run ``outputs, states = body(row, states)`` for each row along the first axis of ``data``.

    ``data``, the states and the outputs are arrays or nested lists of arrays. Returns the outputs of all steps,
    stacked along a new first axis, and the last states.

    Raises:
        AssertionError: an item of ``data``, the states or the outputs is not an array.
        MXNetError: there are no rows, or two arrays of ``data`` have different numbers of rows.
    """
    arrays, _ = flatten(data, NDArray, "foreach input")
    flatten(init_states, NDArray, "foreach states")
    lengths = {a.shape[0] for a in arrays}
    require(
        "control-flow/rows", len(lengths) == 1 and 0 not in lengths,
        f"foreach: the arrays of data need one number of rows, 1 or more; their shapes are {[a.shape for a in arrays]}",
    )
    states = init_states
    steps = []
    form: Any = []
    for index in range(lengths.pop()):
        outputs, states = body(_row(data, index), states)
        items, form = flatten(outputs, NDArray, "foreach output")
        steps.append(items)
    stacked = [operators.call("stack", *items) for items in zip(*steps, strict=True)]
    return nest(stacked, form), states


def _listed(value: Any) -> list:
    """The arrays that a body returned, as a list: empty for None, of one item for one array."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


@decides("control-flow/while-loop")
def while_loop(
    cond: Callable, func: Callable, loop_vars: Any, max_iterations: int | None = None
) -> tuple[Any, Any]:
    """Run ``outputs, loop_vars = func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most ``max_iterations`` times.

    Returns the outputs of all steps, stacked and filled up with zeros to ``max_iterations`` rows (an empty list
    when no step ran), and the last variables.

    Raises:
        ValueError: ``max_iterations`` is missing or no number, there are no variables, the condition is not a
            scalar, or ``func`` returns another number of variables or of outputs than before.
    """
    if max_iterations is None:
        raise refusal("control-flow/max-iterations", "max_iterations should be specified", ValueError)
    most = to_scalar(max_iterations, int, "max_iteration")
    single = isinstance(loop_vars, NDArray)
    values = _listed(loop_vars)
    if not values:
        raise refusal("control-flow/loop-vars", "loop_vars should contain at least one element", ValueError)
    steps: list[list[NDArray]] = []
    form: Any = []
    while len(steps) < most and to_scalar(cond(*values), bool, "Return value of cond"):
        outputs, made = func(*values)
        made = _listed(made)
        if len(made) != len(values):
            raise refusal(
                "control-flow/loop-vars", "The length of loop_vars should be consistent during the loop: func got"
                f" {len(values)} and returned {len(made)}", ValueError,
            )
        values = made
        items, form = flatten([] if outputs is None else outputs, NDArray, "while output")
        steps.append(items)
        if len(items) != len(steps[0]):
            raise refusal(
                "control-flow/step-outputs", "Number of elements in step_output should be the same in each step:"
                f" {len(steps[0])} at first, then {len(items)}", ValueError,
            )
    stacked = [_filled_up(list(items), most) for items in zip(*steps, strict=True)]
    return nest(stacked, form), values[0] if single else values


def _filled_up(items: list[NDArray], rows: int) -> NDArray:
    """The items as rows of one array, with rows of zeros after them up to ``rows``."""
    parts = [item.expand_dims(axis=0) for item in items]
    if len(items) < rows:
        first = items[0]
        parts.append(zeros((rows - len(items), *first.shape), first.context, first.dtype))
    return operators.call("Concat", *parts, dim=0)


@decides("control-flow/cond")
def cond(pred: Any, then_func: Callable, else_func: Callable) -> Any:
    """``then_func()`` if ``pred``, an array of one element, is true; else ``else_func()``.

    Raises:
        ValueError: ``pred`` is an array of several elements.
    """
    return then_func() if to_scalar(pred, bool, "pred") else else_func()


@decides("boolean_mask/rows")
def boolean_mask(
    data: NDArray, index: NDArray, axis: int = 0, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """The rows of ``data`` at which ``index``, an array of one axis, is not zero.

    ``out`` receives the rows; ``name`` is accepted, as by every operator, and not used.
    The number of rows depends on values, so the rows are selected first, and only ``take`` is recorded; the gradient
    of a row that is not selected is zero. Without a selected row the result has no rows.

    Raises:
        MXNetError: ``axis`` is not 0, or ``index`` does not have one element per row.
    """
    del name
    require("boolean_mask/axis", axis == 0, f"boolean_mask: axis must be 0, it is {axis}")
    require(
        "boolean_mask/index", index.shape == data.shape[:1],
        f"boolean_mask: index needs one axis with an element per row; data is {data.shape}, index {index.shape}",
    )
    places = np.flatnonzero(index.asnumpy())
    return operators.call("take", data, array(places, data.context, "int64"), out=out)


@decides("contrib/not-finite")
def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, else 0."""
    return abs(data) == np.inf


@decides("contrib/not-finite")
def isfinite(data: NDArray) -> NDArray:
    """1 where an element is a finite number, 0 where it is infinite or NaN."""
    return operators.call("_logical_and", abs(data) != np.inf, data == data)  # noqa: PLR0124  # NaN is not itself


@decides("contrib/not-finite")
def isnan(data: NDArray) -> NDArray:
    """1 where an element is NaN, else 0."""
    return data != data  # noqa: PLR0124  # NaN is not itself


__all__ = ["boolean_mask", "cond", "foreach", "isfinite", "isinf", "isnan", "while_loop"]
