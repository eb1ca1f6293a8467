"""What goes over batches: the first ones of an iterator, and what is called after each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ..base import _as_list
from ..quirks import declare

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


def call_all(callbacks: Any, *arguments: Any) -> None:
    """Call one callback, several, or none."""
    for callback in _as_list(callbacks) if callbacks is not None else ():
        callback(*arguments)
