"""Rules of operators on whole rows: conversion, slices, sums, retain, lookups and lazy updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import engine
from ...base import decides, refusal, require
from ...kernels.foundation import Op, as_buffer, distinct
from ...kernels.shared.csr_rows import chosen, summed
from ...kernels.slice import entries
from ...kernels.sparse_retain import wanted_rows
from ...op_registry.storage_rules import Rule, add_rule, always
from ..convert import tostype
from ..creation import zeros as dense_zeros
from ..ndarray import NDArray
from . import csr_rows
from .base import BaseSparseNDArray, dense_of
from .row_sparse import RowSparseNDArray, scatter
from .rules_elementwise import SPARSE, on_union, spread, through_dense
from .values import narrowed, on_dense, widened

# --- conversion, slices, joining ----------------------------------------------------------------


def cast(p: Any, arrays: Sequence[NDArray]) -> NDArray:
    """cast_storage."""
    return tostype(arrays[0], p.stype)


def _across(p: Any, arrays: Sequence[NDArray]) -> bool:
    return "default" not in (arrays[0].stype, p.stype) and arrays[0].stype != p.stype


def refuse_cast(p: Any, arrays: Sequence[NDArray]) -> NDArray:
    """From one sparse storage to the other is refused by operators with MXNetError."""
    raise refusal(
        "Sparse/cross-storage",
        f"cast_storage from {arrays[0].stype} to {p.stype} is not supported; go through default",
    )


def _no_step(p: Any, arrays: Sequence[NDArray]) -> bool:
    return not entries(p.step)


def _along_rows(p: Any, arrays: Sequence[NDArray]) -> bool:
    return p.dim == 0


def _takes_rows(p: Any, arrays: Sequence[NDArray]) -> bool:
    return p.axis == 0 and arrays[1].ndim == 1


# --- reductions ---------------------------------------------------------------------------------


def _one_axis(p: Any, arrays: Sequence[NDArray]) -> bool:
    """Whether one axis of a csr matrix of real numbers is summed."""
    return len(p.axis or ()) == 1 and not p.exclude and np.dtype(arrays[0].dtype).kind == "f"


def count_stored(p: Any, arrays: Sequence[Any]) -> NDArray:
    """How many elements a csr matrix stores, zeros among them: in all, by column (axis 0) or by row (axis 1)."""
    (array,) = arrays
    starts, columns = (part.asnumpy() for part in array._indices)
    if p.axis == 0:
        counts = np.bincount(columns, minlength=array.shape[1])
    else:
        counts = starts[-1:] if p.axis is None else np.diff(starts)
    return dense_of(counts.astype(np.int64), array.context)


def sum_of(*, mean: bool) -> Any:
    """The rule of sum or mean over one axis of a csr matrix."""

    def run(p: Any, arrays: Sequence[Any]) -> NDArray:
        (array,) = arrays
        axis = p.axis[0] % 2
        divisor = array.shape[axis] if mean else 1
        values, columns, starts = array._values, array._indices[1]._data, array._indices[0]._data
        out = summed(widened(values), columns, starts, axis, array.shape, divisor)
        if p.keepdims:
            out = out.reshape((1, array.shape[1]) if axis == 0 else (array.shape[0], 1))
        return narrowed(out, array.dtype, array.context)

    return run


def _of_everything(p: Any, arrays: Sequence[NDArray]) -> bool:
    return not p.axis and p.ord == 2


def norm(p: Any, arrays: Sequence[Any]) -> NDArray:
    """The norm of all elements is that of the stored ones."""
    (array,) = arrays
    shape = (1,) * array.ndim if p.keepdims else (1,)
    if not array._values.size:
        return dense_zeros(shape, array.context, p.out_dtype or array.dtype)
    return on_dense("norm", p._replace(axis=None, keepdims=False), [array._values.reshape((-1,))]).reshape(shape)


def _over_rows(p: Any, arrays: Sequence[NDArray]) -> bool:
    return p.axis in ((0,), (1,)) and not p.exclude and arrays[0].ndim == 2


def _rows_stay(p: Any, arrays: Sequence[NDArray]) -> bool:
    return _over_rows(p, arrays) and p.axis == (1,) and p.keepdims


def square_sum(p: Any, arrays: Sequence[Any]) -> NDArray:
    """Squares of the stored rows, summed; rows that are not stored have the sum zero."""
    (array,) = arrays
    shape = (array.shape[0], 1) if p.axis == (1,) else (1, array.shape[1])
    if p.axis == (1,):
        if len(array._values):
            sums = on_dense("_square_sum", {"axis": (1,), "keepdims": True}, [array._values])
        else:
            sums = dense_of(np.zeros((0, 1), array.dtype), array.context)
        made = RowSparseNDArray(sums, array._indices, shape, ordered=True)
        return made if p.keepdims else tostype(made, "default").reshape((shape[0],))
    if not len(array._values):
        return dense_zeros(shape if p.keepdims else shape[1:], array.context, array.dtype)
    return on_dense("_square_sum", p, [array._values])


# --- rows ---------------------------------------------------------------------------------------


@decides("Sparse/retain")
def retain(p: Any, arrays: Sequence[Any]) -> RowSparseNDArray:
    """The rows asked for, in ascending order: stored as zeros where the array stores none.

    Of an array that stores nothing nothing is kept.
    """
    array, indices = arrays
    asked = wanted_rows(indices._data, array.shape[0]).to_numpy()
    stored = array._indices[0].asnumpy()
    asked = asked if len(stored) else asked[:0]
    places = np.searchsorted(stored, asked)
    found = np.zeros(len(asked), bool) if not len(stored) else stored[np.minimum(places, len(stored) - 1)] == asked
    device = array._values._data.device
    values = spread(array._values, as_buffer(np.where(found, places, -1), device))
    return RowSparseNDArray(values, (dense_of(asked, array.context),), array.shape, ordered=True)


def refuse_retain(p: Any, arrays: Sequence[Any]) -> NDArray:
    """Rows of other storages are not retained."""
    raise refusal("Sparse/retain-storage", f"retain is for row_sparse arrays, given {arrays[0].stype}")


def added(p: Any, arrays: Sequence[Any]) -> NDArray:
    """Row_sparse arrays added one after the other."""
    total = arrays[0].copy()
    add = on_union("elemwise_add")
    for array in arrays[1:]:
        total = add({}, [total, array])
    return total


def where(p: Any, arrays: Sequence[Any]) -> NDArray:
    """where with a csr condition of the shape of x and y."""
    condition, x, y = arrays
    ctx = condition.context
    x, y = x.as_in_context(ctx), y.as_in_context(ctx)
    columns, starts = condition._indices[1]._data, condition._indices[0]._data
    out = chosen(widened(condition._values), columns, starts, widened(x), widened(y))
    return narrowed(out, y.dtype, ctx)


def _whole_matrix(p: Any, arrays: Sequence[NDArray]) -> bool:
    return arrays[0].shape == arrays[1].shape == arrays[2].shape and arrays[1].dtype == arrays[2].dtype


# --- optimizers ---------------------------------------------------------------------------------


def lazily(name: str) -> Any:
    """The rule of an update that touches the rows of the gradient only, in weight and states."""

    def run(p: Any, arrays: Sequence[Any], target: NDArray) -> None:
        gradient = arrays[1]
        touched = gradient._indices[0]._data
        if not touched.size:
            return
        weight, states = _memory(arrays[0]), [_memory(state) for state in arrays[2:]]
        parts = [spread(array, touched) for array in (weight, *states)]
        result = on_dense(name, p, [parts[0], gradient._values, *parts[1:]])
        for whole, part in zip((_memory(target), *states), (result, *parts[1:]), strict=True):
            _put_rows(part, touched, whole)

    return run


def entirely(name: str) -> Any:
    """The rule of an update with lazy_update=False: rows that the gradient lacks have gradient zero."""

    def run(p: Any, arrays: Sequence[Any], target: NDArray) -> None:
        gradient = arrays[1].tostype("default")
        weight, states = _memory(arrays[0]), [_memory(state) for state in arrays[2:]]
        for state in states:
            engine.overwrite(state._data)
        result = on_dense(name, p, [weight, gradient, *states])
        result.copyto(_memory(target))

    return run


def _memory(array: NDArray) -> NDArray:
    """All rows of an array, to be read and written.

    Raises:
        MXNetError: it is a row_sparse array that lacks rows.
    """
    if not isinstance(array, BaseSparseNDArray):
        return array
    stored, rows = len(array._values), array.shape[0]
    require(
        "Sparse/update-rows", stored == rows,
        f"an update needs every row of row_sparse weights and states stored, given {stored} of {rows}",
    )
    return array._values


def _put_rows(part: NDArray, places: Any, whole: NDArray) -> None:
    memory = whole._data
    engine.overwrite(memory)
    wide = widened(whole)
    scatter(widened(part), places, wide)
    if wide is not memory:
        memory.copy_from(wide)


@decides("Optimizer/lazy", "Sparse/lazy")
def _lazy(p: Any, arrays: Sequence[NDArray]) -> bool:
    return p.lazy_update


@decides("Sparse/not-lazy")
def _not_lazy(p: Any, arrays: Sequence[NDArray]) -> bool:
    return not p.lazy_update


def _add_update(op: Op) -> None:
    """The rules of an update, whose second input is a row_sparse gradient."""
    chooses = "lazy_update" in op.params._fields
    when, words = (_lazy, "lazy_update") if chooses else (always, "")
    for stype in op.row_updates:
        inputs = (stype, "row_sparse", *[stype] * (len(op.all_inputs) - 2))
        add_rule(Rule(op.name, inputs, stype, lazily(op.name), when, words, updates=True))
        if chooses:
            add_rule(Rule(op.name, inputs, stype, entirely(op.name), _not_lazy, "lazy_update=False", updates=True))


def _register() -> None:
    for stype in SPARSE:
        add_rule(Rule("cast_storage", (stype,), "stype", refuse_cast, _across, "the other one: refused", refuses=True))
    for stype in (*SPARSE, "default"):
        add_rule(Rule("cast_storage", (stype,), "stype", cast))
    add_rule(Rule("slice", ("csr",), "csr", csr_rows.sliced, _no_step, "no step"))
    add_rule(Rule("Concat", ("csr", ...), "csr", csr_rows.joined, _along_rows, "dim = 0"))
    add_rule(Rule("take", ("csr", "default"), "csr", csr_rows.taken, _takes_rows, "axis = 0, one list of indices"))
    for name in ("sum", "mean"):
        run = sum_of(mean=name == "mean")
        add_rule(Rule(name, ("csr",), "default", run, _one_axis, "one axis, real numbers"))
    for stype in SPARSE:
        add_rule(Rule("norm", (stype,), "default", norm, _of_everything, "ord = 2, no axis"))
    add_rule(Rule("_contrib_getnnz", ("csr",), "default", count_stored))
    add_rule(Rule("_square_sum", ("row_sparse",), "row_sparse", square_sum, _rows_stay, "axis = 1, keepdims"))
    add_rule(Rule("_square_sum", ("row_sparse",), "default", square_sum, _over_rows, "axis = 0 or 1"))
    add_rule(Rule("_sparse_retain", ("row_sparse", "default"), "row_sparse", retain))
    add_rule(Rule("_sparse_retain", ("csr", "default"), "default", refuse_retain, condition="refused", refuses=True))
    add_rule(Rule("add_n", ("row_sparse", ...), "row_sparse", added))
    add_rule(Rule("where", ("csr", "default", "default"), "default", where, _whole_matrix, "one shape, one type"))
    for name in ("Embedding", "_contrib_SparseEmbedding"):
        add_rule(Rule(name, ("default", "row_sparse"), "default", through_dense(name), dense=True))
    for op in distinct():
        _add_update(op)


_register()
