"""Making sparse arrays: from parts, coordinates, dense sources, scipy matrices, or empty."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...base import decides, dtype_of, integer_types, refusal, require
from ...context import Context, current_context
from .. import classes
from ..convert import tostype
from ..creation import zeros as dense_zeros
from ..dense import sides_of
from ..ndarray import NDArray
from ..ndarray import array as dense_array
from ..ndarray import empty as dense_empty
from .base import BaseSparseNDArray, dense_of, from_parts
from .csr import CSRNDArray, is_scipy
from .row_sparse import RowSparseNDArray

_INDEX = np.dtype(np.int64)


@decides("Sparse/types")
def _type_of(source: Any, dtype: Any) -> np.dtype:
    """The type asked for, that of an array, or float32."""
    if dtype is not None:
        return dtype_of(dtype)
    if isinstance(source, (NDArray, np.ndarray)) or is_scipy(source):
        return dtype_of(source.dtype)
    return dtype_of(np.float32)


def _values(source: Any, dtype: np.dtype) -> np.ndarray:
    """A NumPy copy of an array, a list or a number."""
    if isinstance(source, NDArray):
        return source.asnumpy().astype(dtype)
    try:
        return np.array(source, dtype=dtype)
    except (TypeError, ValueError):
        raise refusal("Sparse/source", "values must be array like objects of numbers", TypeError) from None


def _dense(source: Any, ctx: Context | None, dtype: Any) -> NDArray:
    """A dense source on its way to another storage."""
    kind = _type_of(source, dtype)
    if isinstance(source, NDArray):
        return dense_array(source, ctx, kind)
    return dense_of(_values(source, kind), current_context() if ctx is None else ctx)


def _agree(found: Sequence[int], asked: Sequence[int] | None) -> None:
    if asked is not None and tuple(found) != tuple(asked):
        raise refusal("Sparse/shape", f"Shape mismatch detected. {tuple(found)} v.s. {tuple(asked)}", ValueError)


def _valid(holds: bool, message: str) -> None:
    require("Sparse/shape", holds, f"invalid shape: {message}", ValueError)


# --- csr ----------------------------------------------------------------------------------------


def csr_matrix(arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None) -> CSRNDArray:
    """A csr matrix.

    ``arg1`` is ``(data, indices, indptr)``; ``(data, (row, column))``, where values of one place are added;
    ``(rows, columns)``, which stores nothing; or a matrix to convert: a csr array, a sparse matrix of scipy, or
    anything dense. ``shape`` is that of the matrix, by default the smallest that holds every index. ``ctx`` is its
    context (default the current one). ``dtype`` defaults to that of an array or scipy matrix, and to float32.

    Raises:
        ValueError: lengths, ranks or shapes do not fit each other.
        TypeError: something is not made of numbers.
    """
    if not isinstance(arg1, tuple):
        return _csr_of(arg1, shape, ctx, dtype)
    if len(arg1) == 3:
        return _csr_from_definition(*arg1, shape, ctx, dtype)
    if len(arg1) != 2:
        raise refusal("Sparse/definition", f"Unexpected length of input tuple: {len(arg1)}", ValueError)
    if isinstance(arg1[1], tuple) and len(arg1[1]) == 2:
        return _csr_from_coordinates(arg1[0], *arg1[1], shape, ctx, dtype)
    _agree(arg1, shape)
    return empty("csr", arg1, ctx, dtype)  # type: ignore[return-value]  # of this storage


def _csr_of(source: Any, shape: Any, ctx: Context | None, dtype: Any) -> CSRNDArray:
    if isinstance(source, RowSparseNDArray):
        raise refusal("Sparse/cross-storage", "Unexpected input type: RowSparseNDArray", ValueError)
    if isinstance(source, CSRNDArray) or is_scipy(source):
        _agree(source.shape, shape)
        return array(source, ctx, dtype)  # type: ignore[return-value]  # of this storage
    dense = _dense(source, ctx, dtype)
    _agree(dense.shape, shape)
    return tostype(dense, "csr")  # type: ignore[return-value]  # of this storage


def _csr_from_definition(
    data: Any, indices: Any, indptr: Any, shape: Any, ctx: Context | None, dtype: Any
) -> CSRNDArray:
    values = _values(data, _type_of(data, dtype))
    columns, starts = _values(indices, _INDEX), _values(indptr, _INDEX)
    _valid(values.ndim == columns.ndim == starts.ndim == 1 and len(starts) > 0, "the three parts are lists")
    if shape is None:
        _valid(len(columns) > 0, "give shape= when nothing is stored")
        shape = (len(starts) - 1, int(columns.max()) + 1)
    _valid(len(shape) == 2, f"csr holds matrices, given {tuple(shape)}")
    return from_parts("csr", shape, values, (starts, columns), ctx)  # type: ignore[return-value]  # of this storage


def _csr_from_coordinates(
    data: Any, row: Any, column: Any, shape: Any, ctx: Context | None, dtype: Any
) -> CSRNDArray:
    values = data.asnumpy() if isinstance(data, NDArray) else np.asarray(data)
    kind = dtype_of(dtype if dtype is not None else values.dtype)
    rows, columns = _values(row, _INDEX), _values(column, _INDEX)
    _valid(values.shape == rows.shape == columns.shape and rows.ndim == 1, "as many rows and columns as values")
    if shape is None:
        _valid(len(rows) > 0, "give shape= when nothing is stored")
        shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    sides = sides_of(shape)
    _valid(
        len(sides) == 2 and bool(np.all((rows >= 0) & (rows < sides[0]) & (columns >= 0) & (columns < sides[1]))),
        f"an index of row or column lies outside {sides}",
    )
    places, where = np.unique(rows * sides[1] + columns, return_inverse=True)
    total = np.zeros(len(places), values.dtype)
    np.add.at(total, where, values)
    starts = np.searchsorted(places // max(sides[1], 1), np.arange(sides[0] + 1))
    made = from_parts("csr", sides, total.astype(kind), (starts, places % max(sides[1], 1)), ctx)
    return made  # type: ignore[return-value]  # of this storage


# --- row_sparse ---------------------------------------------------------------------------------


def row_sparse_array(arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None) -> RowSparseNDArray:
    """A row_sparse array.

    ``arg1`` is ``(data, indices)``, a shape of two sides or more, which stores nothing, or an array to convert: a
    row_sparse array or anything dense. ``shape`` is that of the array, by default the smallest that holds every row.
    ``ctx`` is its context (default the current one). ``dtype`` defaults to that of an array, and to float32.

    Raises:
        ValueError: ranks or shapes do not fit each other.
        TypeError: something is not made of numbers.
    """
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise refusal("Sparse/definition", f"Unexpected length of input tuple: {len(arg1)}", ValueError)
        if len(arg1) > 2 or all(isinstance(side, integer_types) for side in arg1):
            _agree(arg1, shape)
            return empty("row_sparse", arg1, ctx, dtype)  # type: ignore[return-value]  # of this storage
        return _rows_from_definition(arg1[0], arg1[1], shape, ctx, dtype)
    if isinstance(arg1, CSRNDArray):
        raise refusal("Sparse/cross-storage", "Unexpected input type: CSRNDArray", ValueError)
    if isinstance(arg1, RowSparseNDArray):
        _agree(arg1.shape, shape)
        return array(arg1, ctx, dtype)  # type: ignore[return-value]  # of this storage
    dense = _dense(arg1, ctx, dtype)
    _agree(dense.shape, shape)
    return tostype(dense, "row_sparse")  # type: ignore[return-value]  # of this storage


def _rows_from_definition(data: Any, indices: Any, shape: Any, ctx: Context | None, dtype: Any) -> RowSparseNDArray:
    values, rows = _values(data, _type_of(data, dtype)), _values(indices, _INDEX)
    _valid(rows.ndim == 1, "indices are a list")
    if shape is None:
        _valid(len(rows) > 0, "give shape= when nothing is stored")
        shape = (int(rows[-1]) + 1, *values.shape[1:])
    sides = sides_of(shape)
    _valid(values.ndim == len(sides) and prod(sides[1:]) > 0, f"values have {values.ndim} axes, shape is {sides}")
    return from_parts("row_sparse", sides, values, (rows,), ctx)  # type: ignore[return-value]  # of this storage


# --- any storage --------------------------------------------------------------------------------


def zeros(stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of zeros of storage ``stype``, of ``shape``, on ``ctx`` and of ``dtype``; row_sparse and csr store none.

    Raises:
        ValueError: there is no such storage.
        MXNetError: csr is asked for with a rank other than 2.
    """
    if stype == "default":
        return dense_zeros(shape, ctx=ctx, dtype=dtype, **kwargs)
    return empty(stype, shape, ctx, dtype)


def empty(stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array of storage ``stype``, of ``shape``, on ``ctx`` and of ``dtype``, that stores nothing: all zeros."""
    return dense_empty(shape, ctx, dtype, classes.sparse_class(stype)._STYPE)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> BaseSparseNDArray:
    """Copy a sparse array or a matrix of scipy, which becomes csr; dtype and storage stay unless asked otherwise.

    Columns of a scipy matrix are sorted, values of one place added.

    Raises:
        AssertionError: the source is a dense NDArray.
        ValueError: it is anything else.
    """
    place = current_context() if ctx is None else ctx
    if isinstance(source_array, BaseSparseNDArray):
        made = source_array.astype(_type_of(source_array, dtype))
        return made.as_in_context(place)  # type: ignore[return-value]  # sparse as its source
    if isinstance(source_array, NDArray):
        raise refusal(
            "Sparse/source", "an NDArray becomes sparse by array.tostype('csr') or array.tostype('row_sparse')",
            AssertionError,
        )
    return CSRNDArray._of_scipy(source_array, ctx, dtype)
