"""Random NDArrays of any storage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..base import refusal
from ..context import Context
from ..ndarray import NDArray, sparse
from ..ndarray import array as nd_array
from .draw import assign_each, random_arrays
from .tolerance import default_dtype


def rand_ndarray(
    shape: tuple[int, ...], stype: str = "default", density: float | None = None, dtype: Any = None,
    modifier_func: Callable | None = None, shuffle_csr_indices: bool = False,
    distribution: str | None = None, ctx: Context | None = None,
) -> NDArray:
    """A random NDArray: standard normal when dense, else as :func:`rand_sparse_ndarray` draws it.

    Args:
        shape: shape of the array.
        stype: "default", "row_sparse" or "csr".
        density: the chance of each row, or of each element of a csr array, to be stored; drawn when None.
        dtype: type of the elements; None for float32.
        modifier_func: called on every stored value.
        shuffle_csr_indices: whether the columns of each row of a csr array come in random order.
        distribution: "uniform", or for csr "powerlaw"; None for uniform.
        ctx: where the array lives; None for the current context.
    """
    if stype == "default":
        return nd_array(random_arrays(shape), dtype=dtype, ctx=ctx)
    return rand_sparse_ndarray(
        shape, stype, density=density, modifier_func=modifier_func, dtype=dtype,
        shuffle_csr_indices=shuffle_csr_indices, distribution=distribution, ctx=ctx,
    )[0]


def rand_sparse_ndarray(
    shape: tuple[int, ...], stype: str, density: float | None = None, dtype: Any = None,
    distribution: str | None = None, data_init: float | None = None, rsp_indices: Any = None,
    modifier_func: Callable | None = None, shuffle_csr_indices: bool = False, ctx: Context | None = None,
) -> tuple[Any, tuple]:
    """A random sparse array and its parts.

    Args:
        shape: sides; two for csr.
        stype: "row_sparse" or "csr".
        density: the chance of each row, or of each element of a csr array, to be stored; drawn when None.
        dtype: element type, float32 by default.
        distribution: "uniform", or for csr "powerlaw": each row starts with twice as many elements as the
            one before, as far as ``density`` goes.
        data_init: this value instead of random ones between 0 and 1.
        rsp_indices: these rows instead of random ones.
        modifier_func: called on every stored value.
        shuffle_csr_indices: put the columns of each row in random order.
        ctx: where the array lives.

    Returns:
        The array, and (data, indices) as NumPy arrays for row_sparse, or (indptr, indices, data) as
        NDArrays for csr.

    Raises:
        AssertionError: the storage type or the distribution is unknown, or csr has not two sides.
        ValueError: a power law cannot have this density.
    """
    density = np.random.rand() if density is None else density
    kind = np.dtype(default_dtype() if dtype is None else dtype)
    distribution = distribution or "uniform"
    if stype == "row_sparse":
        _demand(distribution == "uniform", f"Distribution {distribution} not supported for row_sparse")
        return _row_sparse(shape, density, kind, data_init, rsp_indices, modifier_func, ctx)
    _demand(stype == "csr", f"unknown storage type {stype!r}, use row_sparse or csr")
    _demand(len(shape) == 2, f"a csr array has two sides, got shape {shape}")
    _demand(distribution in ("uniform", "powerlaw"), f"Distribution not supported: {distribution}")
    if distribution == "powerlaw":
        stored = _power_law(shape, density)
        values = 1 + np.random.uniform(0.001, 2, int(stored.sum()))
    else:
        stored = np.random.rand(*shape) < density
        values = np.random.rand(int(stored.sum()))
    made = _csr(shape, stored, _modified(values, data_init, modifier_func, kind), shuffle_csr_indices, ctx)
    return made, (made.indptr, made.indices, made.data)


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise refusal("test_utils/sparse", message, AssertionError)


def _modified(values: np.ndarray, data_init: Any, function: Callable | None, dtype: np.dtype) -> np.ndarray:
    if data_init is not None:
        values = np.full(values.shape, data_init, np.float64)
    return assign_each(values, function).astype(dtype)


def _row_sparse(
    shape: tuple[int, ...], density: float, dtype: np.dtype, data_init: Any, rows: Any,
    function: Callable | None, ctx: Context | None,
) -> tuple[NDArray, tuple[np.ndarray, np.ndarray]]:
    if rows is None:
        rows = np.flatnonzero(np.random.rand(shape[0]) < density)
    indices = np.asarray(rows, np.int64)
    _demand(len(indices) <= shape[0], f"{len(indices)} rows do not fit into shape {shape}")
    values = _modified(np.random.rand(len(indices), *shape[1:]), data_init, function, dtype)
    made = sparse.row_sparse_array((values, indices), shape=shape, dtype=dtype, ctx=ctx)
    return made, (values, indices)


def _csr(
    shape: tuple[int, ...], stored: np.ndarray, values: np.ndarray, shuffle: bool, ctx: Context | None
) -> Any:
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int64)
    columns = np.nonzero(stored)[1].astype(np.int64)
    if shuffle:
        _shuffle_rows(columns, indptr)
    return sparse.csr_matrix((values, columns, indptr), shape=shape, dtype=values.dtype, ctx=ctx)


def _power_law(shape: tuple[int, ...], density: float) -> np.ndarray:
    """Where a matrix has elements: one in each row, then twice as many per row until none are left."""
    rows, columns = shape
    stored = np.zeros(shape, bool)
    left = int(rows * columns * density) - rows
    if left >= 0:
        stored[:, 0] = True
    width = 2
    for row in range(rows):
        more = min(width - 1, columns - 1, left)
        if more <= 0:
            break
        stored[row, 1 : 1 + more] = True
        left -= more
        width *= 2
    if left != 0:
        raise refusal(
            "test_utils/power-law",
            f"not supported for this density: {density} for this shape ({rows},{columns})", ValueError,
        )
    return stored


def shuffle_csr_column_indices(csr: Any) -> None:
    """Put the column numbers within each row of a csr matrix (scipy's or ours) in random order, in place."""
    if isinstance(csr.indices, np.ndarray):
        _shuffle_rows(csr.indices, csr.indptr)
        return
    columns = csr.indices.asnumpy()
    _shuffle_rows(columns, csr.indptr.asnumpy())
    csr.indices[:] = columns


def _shuffle_rows(columns: np.ndarray, indptr: np.ndarray) -> None:
    for start, stop in pairwise(indptr):
        np.random.shuffle(columns[start:stop])


def create_sparse_array(
    shape: tuple[int, ...], stype: str, data_init: float | None = None, rsp_indices: Any = None,
    dtype: Any = None, modifier_func: Callable | None = None, density: float = 0.5,
    shuffle_csr_indices: bool = False,
) -> Any:
    """A random sparse array without its parts; see :func:`rand_sparse_ndarray`.

    Args:
        shape: shape of the array.
        stype: "row_sparse" or "csr".
        data_init: this value instead of random ones.
        rsp_indices: these rows of a row_sparse array instead of random ones.
        dtype: type of the elements; None for float32.
        modifier_func: called on every stored value.
        density: the chance of each row, or of each element of a csr array, to be stored.
        shuffle_csr_indices: whether the columns of each row of a csr array come in random order.

    Raises:
        AssertionError: the storage type is unknown.
    """
    _demand(stype in ("row_sparse", "csr"), f"Unknown storage type: {stype}")
    return rand_sparse_ndarray(
        shape, stype, density=density, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype,
        modifier_func=modifier_func, shuffle_csr_indices=shuffle_csr_indices,
    )[0]


def create_sparse_array_zd(
    shape: tuple[int, ...], stype: str, density: float, data_init: float | None = None,
    rsp_indices: Any = None, dtype: Any = None, modifier_func: Callable | None = None,
    shuffle_csr_indices: bool = False,
) -> Any:
    """:func:`create_sparse_array` for which no density is too small; row_sparse has the rows named, or none.

    ``shape``, ``stype``, ``density``, ``data_init``, ``rsp_indices``, ``dtype``, ``modifier_func`` and
    ``shuffle_csr_indices`` are those of :func:`create_sparse_array`.
    """
    if stype == "row_sparse" and (rsp_indices is None or density <= 0):
        rsp_indices = []
    return create_sparse_array(
        shape, stype, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype,
        modifier_func=modifier_func, density=density, shuffle_csr_indices=shuffle_csr_indices,
    )
