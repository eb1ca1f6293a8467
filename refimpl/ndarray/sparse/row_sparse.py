"""row_sparse: some rows of an array of any rank, and their numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...base import decides, refusal, require
from ...context import Context
from ...kernels.cast_storage import GATHER_ROWS, SCATTER_ROWS, rows_of
from ...kernels.foundation import Buffer, allocate, reserving
from ...kernels.foundation.loops import FILL
from ...kernels.shared.starts import INDEX
from .. import classes, operators
from ..convert import copy_into
from ..ndarray import NDArray, Shape
from .base import BaseSparseNDArray, dense_of, from_parts
from .values import narrowed, widened


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which some rows are stored: row ``indices[i]`` is ``data[i]``, all others are zero.

    ``data`` has the shape (stored rows, *shape[1:]), ``indices`` is int64 and ascending.
    Made by ``mx.nd.sparse.row_sparse_array`` and by ``dense.tostype("row_sparse")``.
    """

    __slots__ = ()
    _STYPE: ClassVar[str] = "row_sparse"

    @classmethod
    def _of_dense(cls, array: NDArray) -> RowSparseNDArray:
        ctx = array.context
        values, rows = rows_of(widened(array))
        return RowSparseNDArray(narrowed(values, array.dtype, ctx), (NDArray(rows, ctx),), array.shape, ordered=True)

    @classmethod
    def _empty(cls, shape: Shape, ctx: Context | None, dtype: np.dtype) -> BaseSparseNDArray:
        require("Sparse/row-rank", len(shape) >= 1, "row_sparse arrays have at least one axis")
        return from_parts("row_sparse", shape, np.zeros((0, *shape[1:]), dtype), (np.zeros(0, INDEX),), ctx)

    def _dense(self) -> NDArray:
        array = self._ordered()
        values = widened(array._values)
        dense = allocate(self._sides, values.dtype, values.device)
        FILL(dense, 0.0, dense.size)
        scatter(values, array._indices[0]._data, dense)
        return narrowed(dense, self.dtype, self._ctx)

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
        if not isinstance(indices, NDArray):
            indices = dense_of(np.asarray(indices), self._ctx)
        return operators.call("_sparse_retain", self, indices)

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


classes.SPARSE["row_sparse"] = RowSparseNDArray


def stored_as(array: NDArray, stype: str) -> NDArray:
    """``array`` in another storage; a dense one that becomes row_sparse stores every row, as updates need it.

    It may share memory with ``array``, and is to be copied from only.
    """
    if array.is_sparse or stype != "row_sparse":
        return array.tostype(stype)
    every = dense_of(np.arange(array.shape[0], dtype=INDEX), array.context)
    return RowSparseNDArray(array, (every,), array.shape, ordered=True)


def scatter(values: Buffer, rows: Buffer, dense: Buffer) -> None:
    """Write the listed rows of ``dense``."""
    stored = rows.size
    SCATTER_ROWS(values, rows, dense, stored, values.size // stored if stored else 0)


def put(source: NDArray, target: NDArray, rows: np.ndarray | None) -> None:
    """Give ``target`` the values of a dense array; a row_sparse one stores ``rows``, ascending, whatever they hold.

    Without ``rows`` it stores those that differ from zero.
    """
    if rows is None or not isinstance(target, RowSparseNDArray):
        copy_into(source, target)
        return
    source = source.as_in_context(target.context)
    wide = widened(source)
    places = dense_of(rows.astype(INDEX), target.context)
    taken = allocate((len(rows), *wide.shape[1:]), wide.dtype, wide.device)
    if len(rows):
        GATHER_ROWS(wide, places._data, taken, len(rows), taken.size // len(rows))
    values = narrowed(taken, source.dtype, target.context)
    target._become(RowSparseNDArray(values, (places,), target.shape, ordered=True))
