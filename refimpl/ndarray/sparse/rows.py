"""Taking rows and columns out of csr matrices, and joining their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import require
from ...kernels.cast_storage import INDEX
from ...kernels.foundation import as_buffer
from ...kernels.shared.csr_rows import part_of
from ...kernels.slice import entries
from ..ndarray import NDArray
from .base import dense_of
from .csr import CSRNDArray
from .values import narrowed, widened


def part(array: Any, rows: np.ndarray, low: int, high: int) -> CSRNDArray:
    """The csr matrix of the listed rows of a csr matrix, columns ``low`` to ``high`` - 1."""
    ctx = array.context
    values = widened(array._values)
    places = as_buffer(rows.astype(INDEX), values.device)
    taken, columns, starts = part_of(values, array._indices[1]._data, array._indices[0]._data, places, low, high)
    parts = (NDArray(starts, ctx), NDArray(columns, ctx))
    return CSRNDArray(narrowed(taken, array.dtype, ctx), parts, (len(rows), high - low), ordered=True)


def rows_between(array: Any, first: int, last: int) -> CSRNDArray:
    """Rows ``first`` to ``last`` - 1."""
    return part(array, np.arange(first, last), 0, array.shape[1])


def sliced(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """slice of a csr matrix by rows and columns, without steps."""
    (array,) = arrays
    begins, ends = ((*entries(text), None, None) for text in (p.begin, p.end))
    bounds = [slice(begins[axis], ends[axis]).indices(side)[:2] for axis, side in enumerate(array.shape)]
    (top, bottom), (low, high) = bounds
    return part(array, np.arange(top, bottom), low, high)


def taken(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """take of rows, by numbers that are clipped or wrapped."""
    array, indices = arrays
    rows, side = np.trunc(indices.asnumpy()), array.shape[0]
    require(
        "take/raise", p.mode != "raise" or bool(np.all((rows >= 0) & (rows < side))),
        f"take: indices must lie between 0 and {side - 1} with mode='raise', given {rows[:8].tolist()}",
    )
    rows = np.mod(rows, side) if p.mode == "wrap" else np.clip(np.nan_to_num(rows), 0, side - 1)
    return part(array, rows.astype(INDEX), 0, array.shape[1])


def joined(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """Concat of csr matrices, one below the other."""
    ctx = arrays[0].context
    values = np.concatenate([array._values.asnumpy() for array in arrays])
    columns = np.concatenate([array._indices[1].asnumpy() for array in arrays])
    lengths = np.concatenate([np.diff(array._indices[0].asnumpy()) for array in arrays])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(INDEX)
    shape = (sum(array.shape[0] for array in arrays), arrays[0].shape[1])
    return CSRNDArray(dense_of(values, ctx), (dense_of(starts, ctx), dense_of(columns, ctx)), shape, ordered=True)
