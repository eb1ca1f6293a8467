"""Taking rows and columns out of csr matrices, and joining their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import require
from ...kernels.shared.starts import INDEX
from ...kernels.slice import entries
from .base import dense_of
from .csr import CSRNDArray


def sliced(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """slice of a csr matrix by rows and columns, without steps."""
    (array,) = arrays
    begins, ends = ((*entries(text), None, None) for text in (p.begin, p.end))
    bounds = [slice(begins[axis], ends[axis]).indices(side)[:2] for axis, side in enumerate(array.shape)]
    (top, bottom), (low, high) = bounds
    return array._part(np.arange(top, bottom), low, high)


def taken(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """take of rows, by numbers that are clipped or wrapped."""
    array, indices = arrays
    rows, side = np.trunc(indices.asnumpy()), array.shape[0]
    require(
        "take/raise", p.mode != "raise" or bool(np.all((rows >= 0) & (rows < side))),
        f"take: indices must lie between 0 and {side - 1} with mode='raise', given {rows[:8].tolist()}",
    )
    rows = np.mod(rows, side) if p.mode == "wrap" else np.clip(np.nan_to_num(rows), 0, side - 1)
    return array._part(rows.astype(INDEX), 0, array.shape[1])


def joined(p: Any, arrays: Sequence[Any]) -> CSRNDArray:
    """Concat of csr matrices, one below the other."""
    ctx = arrays[0].context
    values = np.concatenate([array._values.asnumpy() for array in arrays])
    columns = np.concatenate([array._indices[1].asnumpy() for array in arrays])
    lengths = np.concatenate([np.diff(array._indices[0].asnumpy()) for array in arrays])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(INDEX)
    shape = (sum(array.shape[0] for array in arrays), arrays[0].shape[1])
    return CSRNDArray(dense_of(values, ctx), (dense_of(starts, ctx), dense_of(columns, ctx)), shape, ordered=True)
