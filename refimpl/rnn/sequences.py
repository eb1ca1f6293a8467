"""A sequence of inputs or outputs: one symbol with an axis of times, or a list with a symbol for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import symbol
from ..base import decides, require
from ..symbol import Symbol

States = list[Symbol]
Steps = Symbol | Sequence[Symbol]  # what a network unrolled over times takes; merge_outputs says which it gives


def time_axis(layout: str) -> int:
    """Position of ``T`` in a layout such as ``NTC``.

    Raises:
        AssertionError: there is none.
    """
    axis = layout.find("T")
    require("rnn/layout", axis >= 0, f"layout {layout} has no T, the axis of times", AssertionError)
    return axis


def checked(length: int | None, inputs: Any) -> Steps:
    """The inputs of an unrolled network, as they were given.

    Raises:
        AssertionError: there are none, or not one for each time.
    """
    require(
        "rnn/inputs", inputs is not None,
        "inputs is None: give a symbol, such as mx.sym.Variable('data'), or a list with one for each time",
        AssertionError,
    )
    require(
        "rnn/inputs", isinstance(inputs, Symbol) or length is None or len(inputs) == length,
        f"{length} times need as many inputs, got {inputs if isinstance(inputs, Symbol) else len(inputs)}",
        AssertionError,
    )
    return inputs


def as_list(length: int | None, inputs: Any, layout: str) -> list[Symbol]:
    """One symbol for each time.

    Raises:
        AssertionError: the inputs do not fit the length, or are several outputs grouped in one symbol.
    """
    inputs, axis = checked(length, inputs), time_axis(layout)
    if not isinstance(inputs, Symbol):
        return list(inputs)
    require(
        "rnn/inputs", len(inputs.list_outputs()) == 1 and length is not None,
        "inputs is one symbol with an axis of times, which needs the length, or a list: of a group give list(inputs)",
        AssertionError,
    )
    assert length is not None  # required above
    return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))


def as_one(length: int | None, inputs: Any, layout: str) -> Symbol:
    """One symbol with an axis of times.

    Raises:
        AssertionError: the inputs do not fit the length.
    """
    inputs, axis = checked(length, inputs), time_axis(layout)
    if isinstance(inputs, Symbol):
        return inputs
    return symbol.Concat(*[symbol.expand_dims(step, axis=axis) for step in inputs], dim=axis)


@decides("rnn/merge")
def as_asked(length: int | None, inputs: Any, layout: str, merge: bool | None) -> Steps:
    """One symbol if ``merge`` is True, a list if it is False, and as they are if it is None."""
    if merge is None:
        time_axis(layout)
        return checked(length, inputs)
    return (as_one if merge else as_list)(length, inputs, layout)


__all__ = ["States", "Steps", "as_asked", "as_list", "as_one", "checked", "time_axis"]
