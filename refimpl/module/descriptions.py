"""Names and descriptions of a module's inputs, and their checks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..base import decides, printable, refusal
from ..io import DataDesc

PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


@decides("Module/one-name")
def names_of(given: str | Sequence[str] | None) -> list[str]:
    """A list of names: empty for None, of one name for a string."""
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def _check_input_names(symbol: Any, names: Sequence[str], typename: str, throw: bool) -> None:
    """Compare names given to a module's constructor with the arguments of its symbol.

    Raises:
        ValueError: a name is not an argument and ``throw`` is set; without it, a UserWarning.
    """
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = [a for a in arguments if not a.endswith(PARAMETER_ENDINGS)]
        message = (  # scripts silence MXNet's warning by its first words
            f"You created Module with {typename}={list(names)}, and the symbol has no argument {name!r}; what is not"
            f" a parameter by its name: {', '.join(candidates) or 'nothing'}"
        )
        if throw:
            raise refusal("Module/input-names", message, ValueError)
        warnings.warn(printable(message), UserWarning, stacklevel=3)


@decides("Module/label-names")
def _check_names_match(
    names: Sequence[str], descriptions: Sequence[DataDesc], what: str, throw: bool
) -> None:
    """Compare the names of ``descriptions`` with the declared ``names``, in any order.

    Raises:
        ValueError: they differ and ``throw`` is set; without it, a UserWarning.
    """
    given = [description.name for description in descriptions]
    if sorted(names) == sorted(given):
        return
    message = (  # as above
        f"Data provided by {what}_shapes is called {given}, where {what}_names has {list(names)}: descriptions have the"
        " names that the Module was made with, in any order"
    )
    if throw:
        raise refusal("Module/data-names", message, ValueError)
    warnings.warn(printable(message), UserWarning, stacklevel=4)


def _as_descriptions(shapes: Any) -> list[DataDesc]:
    """DataDescs from DataDescs or (name, shape[, dtype[, layout]]) tuples."""
    described = (shape if isinstance(shape, DataDesc) else DataDesc(*shape) for shape in shapes)
    return [resized(description, description.shape) for description in described]


def _parse_data_desc(
    data_names: Sequence[str], label_names: Sequence[str], data_shapes: Any, label_shapes: Any
) -> tuple[list[DataDesc], list[DataDesc] | None]:
    """Descriptions of data and labels, with their names checked.

    Raises:
        ValueError: data names differ from the declared names. Label names only warn.
    """
    data = _as_descriptions(data_shapes)
    _check_names_match(data_names, data, "data", throw=True)
    labels = None if label_shapes is None else _as_descriptions(label_shapes)
    _check_names_match(label_names, labels or [], "label", throw=False)
    return data, labels


def check_labels(labels: Sequence[DataDesc], arguments: Sequence[str]) -> None:
    """Refuse a label that is not an argument of the symbol.

    Raises:
        KeyError: a label is not among ``arguments``; the message names it.
    """
    for label in labels:
        if label.name not in arguments:
            raise refusal(
                "ExecutorGroup/label-name",
                f"label {label.name!r} is not an argument of the symbol ({list(arguments)}); rename it, or "
                "bind without label_shapes",
                KeyError,
            )


def resized(description: DataDesc, shape: Sequence[int]) -> DataDesc:
    """The same description with another shape."""
    return DataDesc(description.name, tuple(shape), description.dtype, description.layout)


def with_batch_size(description: DataDesc, batch_size: int | None) -> DataDesc:
    """The same description with another number of rows; unchanged when it has no batch axis."""
    axis = DataDesc.get_batch_axis(description.layout)
    if axis == -1 or batch_size is None:
        return description
    shape = list(description.shape)
    shape[axis] = batch_size
    return resized(description, shape)
