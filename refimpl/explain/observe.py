"""Watch one update: the weights before and after, the gradients, and the store's sums of them.

This module computes no numbers: it copies arrays, and the update itself is the module's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kvstore import KVStore
from ..kvstore.distributed import DistributedKVStore
from ..kvstore.messages import PartId
from ..ndarray import NDArray
from .watching import Round, flat

Copies = dict[str, list[np.ndarray]]


@dataclass
class Heard:
    """The arguments of an optimizer's update of one parameter on one device: the gradient, and the state before."""

    key: Any
    gradient: np.ndarray
    state: list[np.ndarray]
    state_after: list[np.ndarray] = field(default_factory=list)
    rates: dict[str, float] | None = None
    """Learning rate and decay, where a server's optimizer had them."""


@dataclass
class Update:
    """One update, as seen from outside: each list has one array per context.

    ``heard`` is indexed by (parameter, context); where the store updates, the context is 0.
    """

    before: Copies
    gradients: Copies
    heard: dict[tuple[str, int], Heard] = field(default_factory=dict)
    after: Copies = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    """By parameter: what servers added up; empty without servers."""


def observed(module: Any, update: Callable[[], None], rounds: Mapping[PartId, Round]) -> Update:
    """Call ``update``, which updates ``module``; note weights, gradients and states. Servers write to ``rounds``."""
    group = module._exec_group
    seen = Update(_copies(group, group.param_arrays), _copies(group, group.grad_arrays))
    with _listening(module, seen):
        update()
    seen.after = _copies(group, group.param_arrays)
    if isinstance(module._kvstore, DistributedKVStore):
        _join_rounds(seen, rounds, module._kvstore._table)
    return seen


def _join_rounds(seen: Update, rounds: Mapping[PartId, Round], table: int) -> None:
    """Put the parts of every parameter together again."""
    for name in seen.before:
        numbers = sorted(part.number for part in rounds if (part.table, part.key) == (table, name))
        parts = [rounds[PartId(table, name, number)] for number in numbers]
        if not parts:
            continue
        first = parts[0]
        seen.rounds[name] = joined = Round(
            first.number,
            [(rank, _joined([one.terms[at][1] for one in parts])) for at, (rank, _) in enumerate(first.terms)],
            _joined([one.total for one in parts]), first.updates, first.rates,
            [_joined(list(states)) for states in zip(*(one.state for one in parts), strict=True)],
            [_joined(list(states)) for states in zip(*(one.state_after for one in parts), strict=True)],
        )
        if joined.updates:
            seen.heard[name, 0] = Heard(name, joined.total, joined.state, joined.state_after, joined.rates)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _copies(group: Any, arrays: list[list[NDArray | None]]) -> Copies:
    """Arrays of the parameters that are trained, by name."""
    return {
        name: [one.asnumpy() for one in of_contexts if one is not None]
        for name, of_contexts, wanted in zip(group.param_names, arrays, group.grad_arrays, strict=True)
        if wanted[0] is not None
    }


class _Listener:
    """Replaces an updater: notes the arguments of each call and calls the updater."""

    def __init__(self, updater: Any, name_of: Callable[[Any], tuple[str, int]], seen: Update) -> None:
        self.updater, self.name_of, self.seen = updater, name_of, seen

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        many = isinstance(index, (list, tuple))
        pairs = list(zip(index, grad, strict=False)) if many else [(index, grad)]
        states = getattr(self.updater, "states", {})
        noted = []
        for key, gradient in pairs:
            plain = key.decode() if isinstance(key, bytes) else key
            heard = Heard(plain, gradient.asnumpy(), flat(states.get(plain)))
            self.seen.heard[self.name_of(plain)] = heard
            noted.append(heard)
        self.updater(index, grad, weight)
        for heard in noted:
            heard.state_after = flat(states.get(heard.key))


@contextmanager
def _listening(module: Any, seen: Update) -> Iterator[None]:
    """Listen where the optimizer runs: in the store, or beside the weights."""
    store = module._kvstore
    if not module._update_on_kvstore:
        count, names = module._updates.indices_per_name(module._exec_group), module._updates.names
        kept = module._updater
        module._updater = _Listener(kept, lambda key: (names[key // count], key % count), seen)
        try:
            yield
        finally:
            module._updater = kept
    elif isinstance(store, KVStore) and store._updater is not None:
        kept = store._updater
        store.set_updater(_Listener(kept, lambda key: (str(key), 0), seen))
        try:
            yield
        finally:
            store.set_updater(kept)
    else:  # a store of somebody else's: what it adds up is its own affair
        yield
