"""row_sparse arrays in a store: sums row by row, and pulls of requested rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal, require
from ..context import Context
from ..kernels.foundation import as_buffer
from ..ndarray import NDArray
from ..ndarray import array as array_of
from ..ndarray.sparse import BaseSparseNDArray, RowSparseNDArray, add, stored_as
from ..ndarray.sparse.rules_elementwise import spread
from .pairs import require_shape


def require_rows(key: Any, arrays: Sequence[NDArray], stored: NDArray) -> None:
    """Check sparse arrays that are pushed.

    Raises:
        MXNetError: an array is csr, or has another shape or dtype than the stored array.
    """
    for array in arrays:
        if array.stype == "csr":
            raise refusal(
                "KVStore/push-csr",
                f"csr arrays cannot be pushed (key {key!r}); push array.tostype('default') or a row_sparse array",
            )
        if array.shape != stored.shape or array.dtype != stored.dtype:
            raise refusal(
                "KVStore/push-rows",
                f"the sparse arrays pushed to key {key!r} must be like the stored {stored.dtype.__name__}"
                f" {stored.shape}; got {array.dtype.__name__} {array.shape}",
            )


def require_dense(key: Any, arrays: Sequence[NDArray]) -> None:
    """Refuse to compress sparse arrays (MXNetError)."""
    require(
        "KVStore/compression-rows", not any(array.is_sparse for array in arrays),
        f"row_sparse gradients (key {key!r}) cannot be compressed; push dense ones",
    )


def summed(arrays: Sequence[NDArray], context: Context) -> NDArray:
    """The sum of arrays, at least one of them row_sparse, from the left, in new memory and the first's storage.

    A row_sparse sum stores every row that one of the arrays stores.
    """
    total, *rest = [array.as_in_context(context) for array in arrays]
    stype = total.stype
    for other in rest:
        total = add(total, other)
    if not rest:
        total = total.copy()
    return total if total.stype == stype else total.tostype(stype)


def listed(ids: NDArray) -> np.ndarray:
    """Row numbers as int64, ascending and once each; fractions are cut off."""
    return np.unique(np.trunc(ids.asnumpy()).astype(np.int64))


def paired(outs: Sequence[NDArray], row_ids: Any) -> list[NDArray]:
    """The row ids for every array of ``outs``, from a list with an array of ids each, or one array for all.

    Raises:
        AssertionError: the ids are no NDArrays, or their number is neither 1 nor the number of ``outs``.
    """
    given = list(row_ids) if isinstance(row_ids, (list, tuple)) else [row_ids]
    if not all(isinstance(ids, NDArray) for ids in given):
        raise refusal(
            "KVStore/row-ids", f"row_ids is an NDArray or a list of them, not {row_ids!r}", AssertionError
        )
    if len(given) not in (1, len(outs)):
        raise refusal(
            "KVStore/row-ids",
            f"{len(outs)} arrays need as many row_ids, there are {len(given)}", AssertionError,
        )
    return given if len(given) == len(outs) else given * len(outs)


@decides("KVStore/row-sparse-pull")
def pull(key: Any, stored: NDArray, out: NDArray, ids: NDArray) -> None:
    """Copy the rows ``ids`` of ``stored`` into ``out``, ascending and once each; a row that is not stored is zeros.

    Raises:
        MXNetError: ``out`` is not row_sparse, the shapes differ, or an id is out of range.
    """
    require(
        "KVStore/row-storage", out.stype == "row_sparse",
        f"row_sparse_pull expects row_sparse arrays for key {key!r}, got a {out.stype} one",
    )
    require_shape(key, stored.shape, out)
    rows = listed(ids)
    if len(rows) and not 0 <= rows[0] <= rows[-1] < stored.shape[0]:
        raise refusal(
            "KVStore/row-range", f"row_ids lie between {rows[0]} and {rows[-1]}, key {key!r} has {stored.shape[0]} rows"
        )
    if not stored.is_sparse:
        stored = stored_as(stored, "row_sparse")
    assert isinstance(stored, BaseSparseNDArray)
    stored = stored._ordered()
    held = stored._indices[0].asnumpy()
    places = np.searchsorted(held, rows)
    there = np.zeros(len(rows), bool)
    if len(held):
        there = held[np.minimum(places, len(held) - 1)] == rows
    context = stored.context
    values = spread(stored._values, as_buffer(np.where(there, places, -1), stored._values.handle.device))
    found = RowSparseNDArray(values, (array_of(rows, context, rows.dtype),), stored.shape, ordered=True)
    found.copyto(out)
