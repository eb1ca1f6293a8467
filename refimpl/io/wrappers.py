"""Iterators around other iterators: a fixed number of batches, and batches fetched ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import RLock
from typing import Any

from ..base import decides, refusal
from ..kernels.foundation.forks import hold_while_forking, own_lock, renew_in_child
from .iterator import DataBatch, DataDesc, DataIter


class _CurrentBatch(DataIter):
    """An iterator whose getters speak of a batch that ``iter_next`` has stored."""

    current_batch: DataBatch | None = None
    _place: str
    """The attribute that counts delivered batches."""

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end. A batch that was not delivered comes again."""
        self._finish_reset()
        before = {name: getattr(self, name) for name in ("current_batch", self._place)}
        try:
            if self.iter_next():
                return self._current()
        except BaseException:
            vars(self).update(before)
            raise
        raise StopIteration

    def _finish_reset(self) -> None:
        """Do what a reset that was interrupted has left to do."""

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


@decides("ResizeIter/size")
class ResizeIter(_CurrentBatch):
    """Epochs of exactly ``size`` batches out of another iterator, which starts again when it ends.

    With ``reset_internal`` False, a reset goes on where the other iterator stands.
    """

    _place = "cur"

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self._taken: tuple[int, DataBatch] | None = None  # the last batch of the other iterator, and its number
        self._to_reset = False
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label

    def reset(self) -> None:
        """Begin the next epoch of ``size`` batches; if this is interrupted, the next call begins it."""
        self._to_reset = True
        self._finish_reset()

    def _finish_reset(self) -> None:
        if not self._to_reset:
            return
        taken = self._taken if self._taken is not None and self._taken[0] == self.cur else None  # not delivered
        if self.reset_internal:
            self.data_iter.reset()
            taken = None
        vars(self).update(cur=0, _taken=taken and (0, taken[1]), _to_reset=False)

    def iter_next(self) -> bool:
        """Step to the next batch; False after ``size`` of them."""
        self._finish_reset()
        if self.cur == self.size:
            return False
        if self._taken is None or self._taken[0] != self.cur:
            self._taken = self.cur, self._from_inside()
        vars(self).update(current_batch=self._taken[1], cur=self.cur + 1)
        return True

    def _from_inside(self) -> DataBatch:
        """The next batch of the other iterator, which begins again when it has ended."""
        try:
            return self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            return self.data_iter.next()


@decides("PrefetchingIter/joined")
class PrefetchingIter(_CurrentBatch):
    """Batches of one or more iterators side by side, each fetched by a thread one batch ahead.

    Args:
        iters: one iterator or a list; their batches are joined into one.
        rename_data, rename_label: for each iterator, a dict from its names to new ones.

    Raises:
        AssertionError: there is no iterator, or the iterators do not end or fill up together.
    """

    _place = "_number"

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
        self._turn = own_lock()
        self._threads = [ThreadPoolExecutor(1, "prefetch") for _ in self.iters]
        self._to_reset: list[DataIter] = []
        self._ahead = [_Ahead(iterator) for iterator in self.iters]
        self._number = 0  # that of the batch to be delivered next
        self._pending: tuple[int, list[Future]] | None = None  # what was last begun, and for which batch
        renew_in_child(self)
        self._fetch(0)

    @decides("PrefetchingIter/forked")
    def after_fork(self) -> None:
        """Start threads anew: the child has none of these, and fetches itself what was not begun."""
        self._threads = [ThreadPoolExecutor(1, "prefetch") for _ in self.iters]
        self._pending = None

    @property
    def provide_data(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Descriptions of the data of all iterators, renamed."""
        return _renamed([i.provide_data for i in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:  # type: ignore[override]  # read-only here
        """Descriptions of the labels of all iterators, renamed."""
        return _renamed([i.provide_label for i in self.iters], self.rename_label)

    def _fetch(self, number: int) -> list[Future]:
        """Have every iterator fetch a batch, unless it has begun; to begin twice does no harm."""
        if self._pending is None or self._pending[0] != number:
            self._pending = number, [self._begun(index, number) for index in range(self.n_iter)]
        return self._pending[1]

    def _begun(self, index: int, number: int) -> Future:
        """The fetching of a batch, at some time; now, when the system has no thread for that."""
        ahead = self._ahead[index]
        try:
            return self._threads[index].submit(ahead.fetch, number)
        except RuntimeError:
            # it keeps what it could not start, so that it must not start later
            self._threads[index] = ThreadPoolExecutor(1, "prefetch")
            fetched: Future = Future()
            try:
                ahead.fetch(number)
            except Exception as error:  # noqa: BLE001  # it is raised where the batch is asked for
                fetched.set_exception(error)
            else:
                fetched.set_result(None)
            return fetched

    def __del__(self) -> None:
        for threads in getattr(self, "_threads", ()):
            threads.shutdown(wait=False)

    def reset(self) -> None:
        """Drop what was fetched and begin the next epoch; if this is interrupted, the next call begins it."""
        with self._turn:
            self._to_reset = list(self.iters)
            self._finish_reset()
            self._fetch(0)

    def _finish_reset(self) -> None:
        if not self._to_reset:
            return
        for ahead in self._ahead:
            ahead.drop()
        self._number, self._pending = 0, None
        while self._to_reset:
            self._to_reset[0].reset()
            del self._to_reset[0]

    @decides("PrefetchingIter/turns")
    def next(self) -> DataBatch:
        """Return the next batch, each to one thread; StopIteration at the end."""
        with self._turn:
            return super().next()

    def iter_next(self) -> bool:
        """Step to the next batch, and have the one after it fetched."""
        self._finish_reset()
        number = self._number
        try:
            for pending in self._fetch(number):
                pending.result()
        except BaseException:
            self._pending = None  # what failed is tried again
            raise
        found = [ahead.batches[number] for ahead in self._ahead]
        batches = [batch for batch in found if batch is not None]
        if len(batches) < len(found):
            if batches:
                raise refusal(
                    "PrefetchingIter/lengths", "the iterators do not have the same number of batches",
                    AssertionError,
                )
            return False
        pads = [batch.pad for batch in batches]
        if len(set(pads)) > 1:
            raise refusal(
                "PrefetchingIter/pads", f"the iterators fill up their batches differently: {pads}",
                AssertionError,
            )
        current = DataBatch(
            [value for batch in batches for value in batch.data],
            [value for batch in batches for value in batch.label or ()],
            pads[0], batches[0].index,
            provide_data=self.provide_data, provide_label=self.provide_label,
        )
        self._fetch(number + 1)
        vars(self).update(current_batch=current, _number=number + 1)
        return True


@decides("PrefetchingIter/errors")
class _Ahead:
    """What an iterator has fetched ahead of time: ``batches`` by number, None for the end."""

    def __init__(self, iterator: DataIter) -> None:
        self.iterator = iterator
        self.batches: dict[int, DataBatch | None] = {}
        self._lock = RLock()  # the iterator may fork
        hold_while_forking(self._lock)

    def fetch(self, number: int) -> None:
        """Fetch batch ``number`` unless it is there; the one before may have to be delivered again."""
        with self._lock:
            if number in self.batches:
                return
            ended = number - 1 in self.batches and self.batches[number - 1] is None
            batch = None
            if not ended:
                with suppress(StopIteration):
                    batch = self.iterator.next()
            self.batches = {n: one for n, one in self.batches.items() if n == number - 1} | {number: batch}

    def drop(self) -> None:
        """Forget all batches, once none is being fetched."""
        with self._lock:
            self.batches = {}


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
