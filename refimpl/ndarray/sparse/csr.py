"""csr: the values of a matrix row by row, their columns, and where each row begins."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...base import decides, refusal
from ..ndarray import NDArray
from .base import BaseSparseNDArray, dense_of


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
            from scipy import sparse as scipy_sparse  # type: ignore[import-untyped]  # an optional guest
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
        from .rows import rows_between

        made = rows_between(self._ordered(), first, last)
        return self._recorded("slice", made, begin=(first, 0), end=(last, self._sides[1]))
