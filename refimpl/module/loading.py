"""Private functions of MXNet's ``module.executor_group`` that scripts import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides
from ..ndarray import NDArray
from .arrays import along, merged
from .bind_options import group_contexts


@decides("ExecutorGroup/load-general")
def _load_general(data: Sequence[Any], targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    """Copy each source to its target, cut along its axis of ``major_axis``.

    Args:
        data: the sources: arrays, or lists of arrays that are already cut.
        targets: for each source an array, a list of arrays (for a source that is a list), or a list of (slice, array).
        major_axis: for each source the axis that is cut; -1 copies the whole source to every target.
    """
    for source, target, axis in zip(data, targets, major_axis, strict=False):
        if isinstance(target, NDArray):
            source.copyto(target)
        elif isinstance(source, (list, tuple)):
            for part, array in zip(source, target, strict=True):
                part.copyto(array[1] if isinstance(array, tuple) else array)
        else:
            for part, array in target:
                source[along(axis, part)].copyto(array)


def _load_data(batch: Any, targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    """Copy ``batch.data`` to its targets."""
    _load_general(batch.data, targets, major_axis)


def _load_label(batch: Any, targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    """Copy ``batch.label`` to its targets."""
    _load_general(batch.label, targets, major_axis)


_merge_multi_context = merged
_prepare_group2ctxs = group_contexts

__all__ = ["_load_data", "_load_general", "_load_label", "_merge_multi_context", "_prepare_group2ctxs"]
