"""Helpers of loops over batches: the first batches, batches fetched one ahead, epochs of a restart, and callbacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from ..base import refusal
from ..kvstore import DistributedKVStore
from ..quirks import declare
from .returning import KEEPING, Evaluation, KeptPlace

_EXTRA = declare(
    "score-extra-batch", "Module/num-batch",
    "score, predict and iter_predict with num_batch=n take n + 1 batches from the iterator",
    "the caller goes on with batch n + 1",
)


def first(count: int | None, batches: Iterable[Any]) -> Iterator[Any]:
    """The first ``count`` batches of an iterator, or all."""
    source = iter(batches)
    yield from islice(source, count)
    if count is not None and _EXTRA.active:
        next(source, None)


class Lookahead:
    """The batches of an epoch with their numbers. The body of the loop calls :meth:`fetch` for the next batch.

    Raises:
        StopIteration: there is no batch.
    """

    def __init__(self, source: Iterable[Any]) -> None:
        self._batches = iter(source)
        if self.fetch() is None:
            raise refusal(
                "Module/fit-exhausted", "train_data has no batch left; call its reset() before fit()", StopIteration,
            )

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        kept = self._batches if isinstance(self._batches, KeptPlace) else None
        for number in count(0 if kept is None else kept.number):  # a restarted worker begins with a later batch
            if self._upcoming is None:
                return
            if kept is not None:
                kept.keep(number)
            yield number, self._upcoming

    def fetch(self) -> Any:
        """Fetch the next batch; None after the last."""
        self._upcoming = next(self._batches, None)
        return self._upcoming


def resumed(
    module: Any, epochs: range, train_data: Any, eval_data: Any, monitor: Any, others: Sequence[Any]
) -> tuple[range, Any, Any]:
    """(epochs, training iterator, evaluation iterator) that ``fit`` uses; the given ones where workers never restart.

    Where the workers of a store may be restarted, the iterators keep the progress of ``fit``; in a restarted worker
    they continue at the kept batch, and finished epochs are left out.
    """
    store = getattr(module, "_kvstore", None)
    if not isinstance(store, DistributedKVStore) or not store.returning or type(module) not in KEEPING:
        return epochs, train_data, eval_data
    place = KeptPlace(module, store, train_data, eval_data, monitor, others)
    evaluation = None if eval_data is None else Evaluation(eval_data, place)
    return range(place.first(epochs.start), epochs.stop), place, evaluation


def call_all(callbacks: Any, *arguments: Any) -> None:
    """Call ``callbacks``: a function, a list of functions, or None."""
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        callback(*arguments)
