"""csr: the values of a matrix row by row, their columns, and where each row begins."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...base import decides, dtype_of, refusal, require
from ...context import Context
from ...kernels.cast_storage import SPREAD_CSR, csr_of
from ...kernels.foundation import allocate, as_buffer, reserving
from ...kernels.shared.csr_rows import part_of
from ...kernels.shared.starts import INDEX
from .. import classes
from ..ndarray import NDArray, Shape
from .base import BaseSparseNDArray, dense_of, from_parts
from .values import narrowed, widened


def is_scipy(source: Any) -> bool:
    """Whether ``source`` is a sparse matrix or array of scipy, told without importing scipy."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "tocsr")


class CSRNDArray(BaseSparseNDArray):
    """A matrix whose row ``i`` holds ``data[indptr[i]:indptr[i + 1]]`` in columns ``indices[...]``, else zeros.

    ``indices`` (ascending in a row) and ``indptr`` (rows + 1 of them) are int64.
    Made by ``mx.nd.sparse.csr_matrix`` and by ``dense.tostype("csr")``.
    """

    __slots__ = ()
    _STYPE: ClassVar[str] = "csr"

    @property
    @decides("Sparse/parts")
    def indptr(self) -> NDArray:
        """A copy of where each row begins among the values, int64."""
        return self._indices[0].copy()

    @indptr.setter
    def indptr(self, value: Any) -> None:
        raise refusal("Sparse/parts-read-only", ".indptr cannot be assigned; make a new array", NotImplementedError)

    @classmethod
    def _of_dense(cls, array: NDArray) -> CSRNDArray:
        ctx = array.context
        values, columns, starts = csr_of(widened(array))
        parts = (NDArray(starts, ctx), NDArray(columns, ctx))
        return CSRNDArray(narrowed(values, array.dtype, ctx), parts, array.shape, ordered=True)

    @classmethod
    def _empty(cls, shape: Shape, ctx: Context | None, dtype: np.dtype) -> BaseSparseNDArray:
        require("Sparse/csr-rank", len(shape) == 2, f"csr arrays have 2 axes, the shape is {shape}")
        with reserving((shape[0] + 1,), INDEX):
            starts = np.zeros(shape[0] + 1, INDEX)
        return from_parts("csr", shape, np.zeros(0, dtype), (starts, np.zeros(0, INDEX)), ctx)

    @classmethod
    def _of_scipy(cls, source: Any, ctx: Context | None, dtype: Any) -> CSRNDArray:
        """A sparse matrix of scipy, with sorted columns and the values of one place added.

        Raises:
            ValueError: ``source`` is anything else.
        """
        if not is_scipy(source):
            raise refusal(
                "Sparse/source",
                f"source_array is a sparse array or matrix, given {type(source)}; use mx.nd.array", ValueError,
            )
        canonical = source.tocsr(copy=True)
        canonical.sum_duplicates()
        canonical.sort_indices()
        values = np.asarray(canonical.data).astype(dtype_of(source.dtype if dtype is None else dtype))
        made = from_parts("csr", canonical.shape, values, (canonical.indptr, canonical.indices), ctx)
        assert isinstance(made, CSRNDArray)
        return made

    def _dense(self) -> NDArray:
        array = self._ordered()
        starts, columns = array._indices
        values = widened(array._values)
        dense = allocate(self._sides, values.dtype, values.device)
        SPREAD_CSR(values, columns._data, starts._data, dense, *self._sides)
        return narrowed(dense, self.dtype, self._ctx)

    def _fault(self, *, full: bool) -> str:
        starts, columns = self._indices
        rows, width = self._sides
        if starts.shape != (rows + 1,) or columns.shape != self._values.shape or self._values.ndim != 1:
            return (
                f"{rows} rows need an indptr of {rows + 1}, and as many indices as values: given"
                f" {starts.shape}, {columns.shape} and {self._values.shape}"
            )
        return self._index_fault(starts.asnumpy(), columns.asnumpy(), width) if full else ""

    @staticmethod
    def _index_fault(starts: np.ndarray, columns: np.ndarray, width: int) -> str:
        if starts[0] != 0 or starts[-1] != len(columns) or bool((np.diff(starts) < 0).any()):
            return f"indptr should start with 0, never fall and end with {len(columns)}, the number of indices"
        if not len(columns):
            return ""
        if columns.min() < 0 or columns.max() >= width:
            return f"indices lie between {columns.min()} and {columns.max()}, there are {width} columns"
        falls = np.flatnonzero(np.diff(columns) <= 0) + 1
        if not np.isin(falls, starts).all():
            return "indices should be in ascending order in each row, each once"
        return ""

    @decides("Sparse/order")
    def _sorted(self) -> CSRNDArray:
        starts, columns = (part.asnumpy() for part in self._indices)
        values, lengths = self._values.asnumpy(), np.diff(starts)
        if starts[0] == 0 and (lengths >= 0).all() and starts[-1] == len(columns) == len(values):
            order = np.lexsort((columns, np.repeat(np.arange(len(lengths)), lengths)))
            values, columns = values[order], columns[order]
        parts = (self._indices[0], dense_of(columns, self._ctx))
        return CSRNDArray(dense_of(values, self._ctx), parts, self._sides)

    def _fill(self, value: float) -> None:
        raise refusal(
            "Sparse/assign-value", "Assigning numeric types to CSRNDArray is not supported; assign an array", ValueError
        )

    def asscipy(self) -> Any:
        """The same matrix as a ``scipy.sparse.csr_matrix``, values copied.

        Raises:
            ImportError: scipy is not installed.
        """
        try:
            from scipy import sparse as scipy_sparse  # type: ignore[import-untyped]  # an optional package
        except ImportError:
            raise refusal(
                "Sparse/scipy", "scipy could not be imported; asscipy needs it: pip install scipy", ImportError
            ) from None
        starts, columns = (part.asnumpy() for part in self._indices)
        return scipy_sparse.csr_matrix((self._values.asnumpy(), columns, starts), shape=self._sides)

    @decides("Sparse/rows")
    def __getitem__(self, key: Any) -> NDArray:
        """``x[i]`` (one row) and ``x[i:j]`` are csr matrices; ``x[:]`` is the array itself.

        Raises:
            IndexError: the row is out of range, or the slice is empty.
            ValueError: a step, several axes, or a key of another kind.
        """
        if isinstance(key, (int, np.integer)):
            if not -self._sides[0] <= key < self._sides[0]:
                raise refusal("Sparse/row-range", f"row {key} is out of range, there are {self._sides[0]}", IndexError)
            first = int(key) % self._sides[0]
            return self._rows(first, first + 1)
        if not isinstance(key, slice):
            raise refusal(
                "Sparse/slice", f"a CSRNDArray is indexed by a row number or a slice of rows, got {key!r}", ValueError
            )
        if key.step is not None:
            raise refusal("Sparse/slice", "CSRNDArray only supports continuous slicing on axis 0", ValueError)
        if key == slice(None):
            return self
        first, last, _ = key.indices(self._sides[0])
        if last <= first:
            raise refusal("Sparse/row-range", f"no row is left by {key}, there are {self._sides[0]}", IndexError)
        return self._rows(first, last)

    def _rows(self, first: int, last: int) -> NDArray:
        made = self._ordered()._part(np.arange(first, last), 0, self._sides[1])
        return self._recorded("slice", made, begin=(first, 0), end=(last, self._sides[1]))

    def _ordered(self) -> CSRNDArray:
        found = super()._ordered()
        assert isinstance(found, CSRNDArray)
        return found

    def _part(self, rows: np.ndarray, low: int, high: int) -> CSRNDArray:
        """The listed rows of this matrix, whose indices ascend, and of them columns ``low`` to ``high`` - 1."""
        values = widened(self._values)
        starts, columns = self._indices
        places = as_buffer(rows.astype(INDEX), values.device)
        taken, kept, begins = part_of(values, columns._data, starts._data, places, low, high)
        parts = (NDArray(begins, self._ctx), NDArray(kept, self._ctx))
        shape = (len(rows), high - low)
        return CSRNDArray(narrowed(taken, self.dtype, self._ctx), parts, shape, ordered=True)


classes.SPARSE["csr"] = CSRNDArray
