"""row_sparse: some rows of an array of any rank, and their numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...base import decides, refusal
from ...kernels.foundation import reserving
from ..ndarray import NDArray
from .base import BaseSparseNDArray, dense_of


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which some rows are stored: row ``indices[i]`` is ``data[i]``, all others are zero.

    ``data`` has the shape (stored rows, *shape[1:]), ``indices`` is int64 and ascending.
    Made by ``mx.nd.sparse.row_sparse_array`` and by ``dense.tostype("row_sparse")``.
    """

    __slots__ = ()
    _STYPE: ClassVar[str] = "row_sparse"

    def _fault(self, *, full: bool) -> str:
        stored, rows = self._values.shape[0], self._indices[0].asnumpy() if full else self._indices[0]
        if self._indices[0].shape != (stored,) or self._values.shape[1:] != self._sides[1:]:
            return f"{self._indices[0].shape} indices belong to values of shape {self._values.shape}"
        if not full or not stored:
            return ""
        if rows.min() < 0 or rows.max() >= self._sides[0]:
            return f"indices lie between {rows.min()} and {rows.max()}, there are {self._sides[0]} rows"
        if bool((np.diff(rows) <= 0).any()):
            return "indices should be in ascending order, each once"
        return ""

    @decides("Sparse/order")
    def _sorted(self) -> RowSparseNDArray:
        rows = self._indices[0].asnumpy()
        order = np.argsort(rows, kind="stable")
        values = self._values.asnumpy()[order] if len(order) == len(self._values) else self._values.asnumpy()
        return RowSparseNDArray(dense_of(values, self._ctx), (dense_of(rows[order], self._ctx),), self._sides)

    def _fill(self, value: float) -> None:
        rows = self._sides[0]
        with reserving(self._sides, self.dtype):
            values = dense_of(np.full(self._sides, value, self.dtype), self._ctx)
        self._become(RowSparseNDArray(values, (dense_of(np.arange(rows), self._ctx),), self._sides, ordered=True))

    @decides("Sparse/retain-method")
    def retain(self, indices: Any) -> RowSparseNDArray:
        """Keep the rows that ``indices`` (an array, or whole numbers) list; see ``mx.nd.sparse.retain``."""
        from .dispatch import call

        if not isinstance(indices, NDArray):
            indices = dense_of(np.asarray(indices), self._ctx)
        return call("_sparse_retain", self, indices)

    def __getitem__(self, key: Any) -> NDArray:
        """``x[:]`` is the array itself; nothing else can be read by index.

        Raises:
            ValueError: any other key.
        """
        if isinstance(key, slice) and key == slice(None):
            return self
        raise refusal(
            "Sparse/row-index", f"RowSparseNDArray only supports [:] for __getitem__, got {key!r};"
            " use retain, or tostype('default')", ValueError,
        )
