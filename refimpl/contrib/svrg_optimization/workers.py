"""How several workers add up their full gradients, in a store that all of them share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ... import ndarray as nd
from ...base import decides
from ...ndarray import NDArray
from .full_pass import summing_type
from .svrg_optimizer import ENDING


class Keys(NamedTuple):
    """The keys of a store in which workers add up: one for each parameter's full gradient, one for the rows."""

    gradients: dict[str, str]
    rows: str

    def listed(self) -> list[str]:
        """Return every key in one list."""
        return [*self.gradients.values(), self.rows]


def is_shared(store: Any) -> bool:
    """Whether several workers may share a store."""
    return store is not None and "dist" in store.type


def in_rounds(store: Any) -> bool:
    """Whether a store waits for a push of every worker, and adds these up."""
    return "_async" not in store.type


def accumulator_keys(names: Iterable[str]) -> Keys:
    """Keys for parameters of these names; none is a name of a parameter."""
    taken = set(names)

    def free(name: str) -> str:
        key = name + ENDING
        while key in taken:
            key += ENDING
        taken.add(key)
        return key

    return Keys({name: free(name) for name in sorted(taken)}, free("svrg_rows"))


@decides("SVRG/workers")
def start(store: Any, keys: Keys, parameters: dict[str, NDArray]) -> None:
    """Put accumulators of zeros into a store, for these parameters and for the rows."""
    for name, like in parameters.items():
        store.init(keys.gradients[name], nd.zeros(like.shape, like.context, summing_type(like.dtype)))
    store.init(keys.rows, _count(0))


@decides("SVRG/workers", "SVRG/async")
def add_up(store: Any, keys: Keys, sums: dict[str, NDArray], rows: float) -> float:
    """Replace every array of ``sums`` by the sum over the workers; return the sum of their ``rows``.

    In rounds all workers push at once, and the store adds up. Otherwise a push replaces what is there, so they take
    turns: each adds its own to what the one before has left.
    """
    count = _count(rows)
    mine = {**{keys.gradients[name]: total for name, total in sums.items()}, keys.rows: count}
    if in_rounds(store):
        for key, total in mine.items():
            store.push(key, total)
    else:
        for turn in range(store.num_workers):
            if turn == store.rank:
                for key, total in mine.items():
                    before = nd.zeros(total.shape, total.context, total.dtype)
                    if turn:
                        store.pull(key, out=before)
                    store.push(key, before + total)
            store._barrier()
    for key, total in mine.items():
        store.pull(key, out=total)
    return float(count.asscalar())


def _count(rows: float) -> NDArray:
    return nd.array([rows], dtype=np.float64)


__all__ = ["Keys", "accumulator_keys", "add_up", "in_rounds", "is_shared", "start"]
