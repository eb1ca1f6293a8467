"""Batches out of rows that are read again and again: what becomes of a last batch that is not full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides, require
from ..kernels.foundation import reserving
from ..ndarray import NDArray, array
from ..ndarray.undo import delivered
from .iterator import DataBatch, DataDesc, MXDataIter


class RoundIter(MXDataIter):
    """Base of iterators over ``count`` rows in rounds, cut into batches.

    A round is one pass over all rows. With ``round_batch`` a last batch that is not full takes its missing
    rows from the round after, and the next epoch goes on behind them. Otherwise it is filled up with the rows
    of the batch before, which stay where they stood, or zeros.

    A subclass gives :meth:`_rows` and may give :meth:`_order`.
    """

    def __init__(
        self, batch_size: int, count: int, data: DataDesc, label: DataDesc, *, round_batch: bool = True
    ) -> None:
        super().__init__(batch_size)
        self.num_data = count
        self.provide_data = [data]
        self.provide_label = [label]
        self._round_batch = round_batch
        self._began = False
        self._ended = True
        self._taken = 0  # rows of the current round that the epoch before has used
        self._round = np.arange(0)
        self._current: DataBatch | None = None
        self._before: tuple[Any, Any, Any] | None = None  # arrays of the batch before, in this epoch

    # --- what a subclass says ---

    def _rows(self, rows: Sequence[int]) -> tuple[Any, Any]:
        """(data, label) of these rows: NumPy arrays, or a csr array for the data or label."""
        raise NotImplementedError

    def _order(self) -> np.ndarray:
        """The rows of the round that begins, in their order."""
        return np.arange(self.num_data)

    def _ids(self, rows: np.ndarray) -> np.ndarray:
        """What ``batch.index`` calls these rows."""
        return rows.astype(np.uint64)

    # --- the protocol ---

    @decides("MXDataIter/reset")
    def reset(self) -> None:
        """Begin the next epoch, behind the rows that the last batch of the one before has taken."""
        delivered(self, self._begin)

    def _begin(self) -> None:
        if self._taken:
            self._at = self._taken
        else:
            self._round, self._at = self._order(), 0
        self._taken = 0
        self._began, self._ended = True, False
        self._current = self._before = None

    def iter_next(self) -> bool:
        """Step to the next batch; False when the round is over."""
        return delivered(self, self._step)  # type: ignore[no-any-return]  # what the step returns

    def _step(self) -> bool:
        if not self._began:
            self._begin()
        if self._ended or self._at >= len(self._round):
            self._ended, self._current = True, None
            return False
        rows = self._round[self._at : self._at + self.batch_size]
        self._at += len(rows)
        missing = self.batch_size - len(rows)
        if missing and self._round_batch:
            rows = np.concatenate([rows, self._ahead(missing)])
        self._current = self._batch(rows, missing)
        return True

    @decides("MXDataIter/round-batch")
    def _ahead(self, missing: int) -> np.ndarray:
        """The first rows of the rounds to come; the next epoch begins behind them."""
        pieces: list[np.ndarray] = []
        while missing:
            self._round = self._order()
            pieces.append(self._round[:missing])
            self._taken = len(pieces[-1])
            missing -= self._taken
        self._at = len(self._round)  # this epoch is over
        if self._taken == len(self._round):
            self._taken = 0
        return np.concatenate(pieces)

    @decides("MXDataIter/no-round-batch")
    def _batch(self, rows: np.ndarray, pad: int) -> DataBatch:
        data, label = self._rows([int(row) for row in rows])
        index = self._ids(rows)
        if len(rows) < self.batch_size:
            before = self._before
            data, label, index = (
                np.concatenate([new, old[len(new) :]])
                for new, old in zip((data, label, index), before or self._zeros(data, label, index), strict=True)
            )
        self._before = (data, label, index)
        return DataBatch([_on_device(data)], [_on_device(label)], pad=pad, index=index)

    def _zeros(self, *arrays: np.ndarray) -> list[np.ndarray]:
        made = []
        for one in arrays:
            shape = (self.batch_size, *one.shape[1:])
            with reserving(shape, one.dtype):
                made.append(np.zeros(shape, one.dtype))
        return made

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: the epoch is over; ``reset`` begins the next one.
        """
        return delivered(self, self._next)  # type: ignore[no-any-return]  # what the step returns

    def _next(self) -> DataBatch:
        if self.iter_next():
            return self._here()
        raise StopIteration

    def _here(self) -> DataBatch:
        require(
            "MXDataIter/no-batch", self._current is not None,
            "there is no current batch: call next() first, or reset() at the end",
        )
        assert self._current is not None
        return self._current

    def getdata(self) -> NDArray:
        """Data of the current batch."""
        return self._here().data[0]  # type: ignore[no-any-return]  # a list of arrays

    def getlabel(self) -> NDArray:
        """Labels of the current batch."""
        return self._here().label[0]  # type: ignore[no-any-return]  # a list of arrays

    def getindex(self) -> np.ndarray:
        """Which rows the current batch holds: uint64 of shape ``(batch_size,)``."""
        return self._here().index  # type: ignore[no-any-return]  # an array

    def getpad(self) -> int:
        """Rows at the end of the current batch that only fill it up."""
        return self._here().pad or 0


def _on_device(values: Any) -> NDArray:
    return values if isinstance(values, NDArray) else array(values, dtype=values.dtype)


__all__ = ["RoundIter"]
