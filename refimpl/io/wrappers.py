"""Iterators around other iterators: a fixed number of batches, and batches fetched ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..base import refusal
from .desc import DataBatch, DataDesc
from .iterator import DataIter


class _CurrentBatch(DataIter):
    """An iterator whose getters speak of a batch that ``iter_next`` has stored."""

    current_batch: DataBatch | None = None

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return self._current()

    def _current(self) -> DataBatch:
        if self.current_batch is None:
            raise refusal("DataIter/no-batch", "no batch yet: call next() first", AttributeError)
        return self.current_batch

    def getdata(self) -> Any:
        """Input arrays of the current batch."""
        return self._current().data

    def getlabel(self) -> Any:
        """Label arrays of the current batch."""
        return self._current().label

    def getindex(self) -> Any:
        """Identities of the samples in the current batch, or None."""
        return self._current().index

    def getpad(self) -> Any:
        """Number of rows in the current batch that only fill it up."""
        return self._current().pad


class ResizeIter(_CurrentBatch):
    """Epochs of exactly ``size`` batches out of another iterator, which starts again when it ends.

    With ``reset_internal`` False, a reset goes on where the other iterator stands.
    """

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label

    def reset(self) -> None:
        """Begin the next epoch of ``size`` batches."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Step to the next batch; False after ``size`` of them."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


class PrefetchingIter(_CurrentBatch):
    """Batches of one or more iterators side by side, each fetched by a thread one batch ahead.

    Args:
        iters: one iterator or a list; their batches are joined into one.
        rename_data, rename_label: for each iterator, a dict from its names to new ones.

    Raises:
        AssertionError: there is no iterator, or the iterators do not end or fill up together.
    """

    def __init__(
        self, iters: DataIter | Sequence[DataIter],
        rename_data: Sequence[dict[str, str]] | None = None,
        rename_label: Sequence[dict[str, str]] | None = None,
    ) -> None:
        self.iters: list[DataIter] = [iters] if isinstance(iters, DataIter) else list(iters)
        if not self.iters:
            raise refusal("PrefetchingIter/iters", "give at least one iterator", AssertionError)
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        self._threads = [ThreadPoolExecutor(1, "prefetch") for _ in self.iters]
        self._fetch()

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Descriptions of the data of all iterators, renamed."""
        return _renamed([i.provide_data for i in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Descriptions of the labels of all iterators, renamed."""
        return _renamed([i.provide_label for i in self.iters], self.rename_label)

    def _fetch(self) -> None:
        self._pending: list[Future] = [self._fetched(index) for index in range(self.n_iter)]

    def _fetched(self, index: int) -> Future:
        """The next batch of an iterator, at some time; now, when the system has no thread for that."""
        try:
            return self._threads[index].submit(_next_or_none, self.iters[index])
        except RuntimeError:
            # it keeps what it could not start, so that it must not start later
            self._threads[index] = ThreadPoolExecutor(1, "prefetch")
            fetched: Future = Future()
            try:
                fetched.set_result(_next_or_none(self.iters[index]))
            except Exception as error:  # noqa: BLE001  # it is raised where the batch is asked for
                fetched.set_exception(error)
            return fetched

    def __del__(self) -> None:
        for threads in getattr(self, "_threads", ()):
            threads.shutdown(wait=False)

    def reset(self) -> None:
        """Drop what was fetched and begin the next epoch."""
        for pending in self._pending:
            pending.exception()
        for iterator in self.iters:
            iterator.reset()
        self._fetch()

    def iter_next(self) -> bool:
        """Step to the next batch, and have the one after it fetched."""
        batches = [pending.result() for pending in self._pending]
        ended = [batch is None for batch in batches]
        if any(ended):
            if not all(ended):
                raise refusal(
                    "PrefetchingIter/lengths", "the iterators do not have the same number of batches",
                    AssertionError,
                )
            return False
        pads = [batch.pad for batch in batches]
        if any(pad != pads[0] for pad in pads):
            raise refusal(
                "PrefetchingIter/pads", f"the iterators fill up their batches differently: {pads}",
                AssertionError,
            )
        self.current_batch = DataBatch(
            [value for batch in batches for value in batch.data],
            [value for batch in batches for value in batch.label or ()],
            pads[0], batches[0].index,
            provide_data=self.provide_data, provide_label=self.provide_label,
        )
        self._fetch()
        return True


def _next_or_none(iterator: DataIter) -> DataBatch | None:
    try:
        return iterator.next()
    except StopIteration:
        return None


def _renamed(
    lists: Sequence[Sequence[DataDesc]], renamings: Sequence[dict[str, str]] | None
) -> list[DataDesc]:
    renamings = renamings if renamings is not None else [{}] * len(lists)
    return [
        DataDesc(renaming.get(d.name, d.name), d.shape, d.dtype, d.layout)
        for descriptions, renaming in zip(lists, renamings, strict=True)
        for d in (d if isinstance(d, DataDesc) else DataDesc(*d) for d in descriptions)  # plain pairs are common
    ]


__all__ = ["PrefetchingIter", "ResizeIter"]
