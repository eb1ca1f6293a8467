"""The shapes of a batch: whether they differ from the bound shapes, and the descriptions to reshape to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides, refusal
from ..io import DataDesc
from .descriptions import resized, with_batch_size


def _shapes(descriptions: Any) -> list[tuple[int, ...]]:
    """The shapes of DataDescs or (name, shape) pairs."""
    return [tuple(description[1]) for description in descriptions]


def _stacked(
    descriptions: Sequence[DataDesc], shapes: Sequence[tuple[int, ...]], batches: int
) -> list[DataDesc]:
    """The descriptions with the shapes of one batch, repeated ``batches`` times along the batch axis."""
    found = []
    for description, shape in zip(descriptions, shapes, strict=False):
        axis = DataDesc.get_batch_axis(description.layout)
        one = resized(description, shape)
        found.append(one if axis == -1 else with_batch_size(one, batches * shape[axis]))
    return found


def _require_one_each(shapes: list[Any], contexts: int) -> None:
    if len(shapes) != contexts or any(one != shapes[0] for one in shapes):
        raise refusal(
            "Module/batch-list",
            "a list has one batch for each context, all of one shape; "
            f"{contexts} contexts got {shapes}",
            AssertionError,
        )


@decides("Module/automatic-reshape")
def shapes_of_batch(
    data_batch: Any, data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None,
    contexts: int,
) -> tuple[Any, Any] | None:
    """Return (data, label) descriptions of a batch, or None when the bound descriptions fit.

    Args:
        data_batch: a batch, or a list with one batch per context, which together make one batch. A batch may have
            ``provide_data`` and ``provide_label``. For a batch without labels the label descriptions are None.
        data_shapes: the bound data descriptions.
        label_shapes: the bound label descriptions, or None.
        contexts: the number of contexts of the module.

    Raises:
        AssertionError: the batches of a list differ in shape, or their number is not the number of contexts.
        ValueError: the batch has too few data arrays.
    """
    together = isinstance(data_batch, list)
    batches = data_batch if together else [data_batch]
    shapes = [[array.shape for array in batch.data] for batch in batches]
    if together:
        _require_one_each(shapes, contexts)
    if len(shapes[0]) < len(data_shapes):
        raise refusal(
            "Module/batch-data",
            f"the batch has {len(shapes[0])} data arrays, the module was bound for "
            f"{[description.name for description in data_shapes]}",
            ValueError,
        )
    first = batches[0]
    data = _stacked(data_shapes, shapes[0], len(batches))
    if not together and getattr(first, "provide_data", None):
        data = first.provide_data
    if _shapes(data) == _shapes(data_shapes):
        return None
    if not together and getattr(first, "provide_label", None):
        return data, first.provide_label
    labels = getattr(first, "label", None)
    if labels and label_shapes:
        return data, _stacked(label_shapes, [array.shape for array in labels], len(batches))
    return data, None
