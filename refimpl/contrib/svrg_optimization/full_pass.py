"""One pass over a data set: the sum of the gradients of all its rows, on each context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...base import decides
from ...executor_manager import _split_input_slice
from ...io import DataBatch
from ...module import Module
from ...module.arrays import along
from ...module.batch_shapes import shapes_of_batch
from ...module.executor_group import DataParallelExecutorGroup
from ...ndarray import NDArray, zeros
from . import svrg_quirks

Terms = list[dict[str, NDArray]]
"""For each context an array by the name of each parameter that is trained."""


class GradientSums(NamedTuple):
    """Gradients added up, and the rows that they belong to, for each context."""

    gradients: Terms
    rows: list[float]


def rows_of(group: DataParallelExecutorGroup) -> list[int]:
    """How many rows of a batch each context gets; data without a batch axis is one row everywhere."""
    if group.slices is None:
        return [1] * len(group.contexts)
    return [part.stop - part.start for part in group.slices]


def dense(array: NDArray) -> NDArray:
    """The same with every row."""
    return array.tostype("default") if array.is_sparse else array


def summing_type(dtype: Any) -> Any:
    """The type in which gradients of a type are added up."""
    return np.float32 if dtype == np.float16 else dtype


@decides("SVRG/loss-sums")
def summed_gradients(snapshot: Module, batches: Iterable[Any], start: Terms | None = None) -> GradientSums:
    """Add the gradients of every row of ``batches``, without padding, to ``start`` or else to zeros.

    Float16 gradients are added up in float32: a sum over a data set may be larger than float16 can hold.
    """
    group = snapshot._exec_group
    sums = GradientSums([{} for _ in group.contexts], [0] * len(group.contexts))
    for name, gradients in zip(group.param_names, group.grad_arrays, strict=True):
        for context, gradient in enumerate(gradients):
            if gradient is not None:
                empty = zeros(gradient.shape, gradient.context, summing_type(gradient.dtype))
                before = start[context].get(name, empty) if start else empty
                sums.gradients[context][name] = before.astype(empty.dtype, copy=False)
    padding = 0
    for batch in batches:
        padding = getattr(batch, "pad", None) or 0
        rows = batch if padding <= 0 or svrg_quirks.PADDING.active else _without_padding(snapshot, batch, padding)
        if rows is not None:
            _add(sums, snapshot, rows)
    if svrg_quirks.PADDING.active:
        whole = sum(sums.rows)
        sums = sums._replace(rows=[rows * (whole - padding) / whole for rows in sums.rows])
    return sums


def _add(sums: GradientSums, snapshot: Module, batch: Any) -> None:
    """Add the gradients of one batch."""
    module = _for_batch(snapshot, batch)
    module.forward(batch, is_train=True)
    module.backward()
    group = module._exec_group
    for name, gradients in zip(group.param_names, group.grad_arrays, strict=True):
        for totals, gradient in zip(sums.gradients, gradients, strict=False):
            if gradient is not None:
                totals[name] = totals[name] + dense(gradient).astype(totals[name].dtype, copy=False)
    for context, rows in enumerate(rows_of(group)):
        sums.rows[context] += rows


def _without_padding(snapshot: Module, batch: Any, padding: int) -> DataBatch | None:
    """The rows of a batch before its padding; None if there are none."""
    group = snapshot._exec_group
    sizes = [array.shape[axis] for array, axis in zip(batch.data, group.data_layouts, strict=False) if axis != -1]
    if not sizes:
        return batch
    part = slice(0, sizes[0] - padding)
    if part.stop <= 0:
        return None
    data, label = (
        [array[along(axis, part)] for array, axis in zip(arrays or [], axes, strict=False)]
        for arrays, axes in ((batch.data, group.data_layouts), (batch.label, group.label_layouts))
    )
    return DataBatch(data, label, pad=0)


def _for_batch(snapshot: Module, batch: Any) -> Module:
    """The snapshot itself, or the same on its first context if there are too few rows for all."""
    wanted = shapes_of_batch(batch, snapshot._data_shapes, snapshot._label_shapes, len(snapshot._context))
    if wanted is None:
        return snapshot
    group = snapshot._exec_group
    data, labels = wanted
    sizes = [shape[1][axis] for shape, axis in zip(data, group.data_layouts, strict=False) if axis != -1]
    if not sizes or _can_be_cut(sizes[0], group.workload):
        return snapshot
    first = Module(
        snapshot._symbol, snapshot._data_names, snapshot._label_names, snapshot.logger, snapshot._context[:1],
        fixed_param_names=snapshot._fixed_param_names, state_names=snapshot._state_names,
        group2ctxs=None if snapshot._group2ctxs is None else group.group2ctxs[:1],
    )
    first.bind(data, labels, grad_req=group.grad_req, shared_module=snapshot)
    return first


@decides("SVRG/few-rows")
def _can_be_cut(rows: int, workload: Any) -> bool:
    try:
        _split_input_slice(rows, workload)
    except ValueError:
        return False
    return True


__all__ = ["GradientSums", "Terms", "dense", "rows_of", "summed_gradients", "summing_type"]
