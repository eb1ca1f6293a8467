"""The states of a process's random generators as plain values, for a process that replaces another."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..base import decides
from ..resource import remembered_streams, restore_streams


def random_numbers() -> Any:
    """The states of all random generators: the streams of contexts, NumPy's and Python's."""
    version, numbers, gauss = random.getstate()
    return remembered_streams(), np.random.get_state(), (version, np.array(numbers, np.uint64), gauss)  # noqa: NPY002  # iterators draw there


def set_random_numbers(state: Any) -> None:
    """Restore the states that :func:`random_numbers` returned."""
    streams, numbers, (version, others, gauss) = state
    restore_streams(streams)
    np.random.set_state(numbers)  # noqa: NPY002
    random.setstate((version, tuple(int(number) for number in others), gauss))


class Differences:
    """The states of random generators as differences from a base state, which is large and rarely kept.

    Args:
        keep: called with a name and plain values, keeps them.
        name: the beginning of the names of bases.
        readable: how many results of :meth:`tell` before the last one can be restored: bases take turns with
            ``readable + 1`` names. None is all: each base has its own name.
    """

    def __init__(self, keep: Callable[[str, Any], None], name: str, *, readable: int | None = 1) -> None:
        self._keep, self._called, self._readable = keep, name, readable
        self._number, self._base = 0, list[Any]()

    def tell(self) -> Any:
        """The states of the random generators, as plain values: differences from the base, which is kept if new."""
        (seed, streams), *others = random_numbers()
        base = self._base
        alike = [one[:2] for one in base] == [one[:2] for one in streams]
        found = [
            (places := np.flatnonzero(now != before), now[places])
            for (*_, before), (*_, now) in zip(base, streams, strict=True)
        ] if alike else []
        if not alike or sum(len(places) for places, _ in found) * 8 > sum(len(now) for *_, now in streams):
            self._number, self._base = self._number + 1, streams
            self._keep(self._name(self._number), [list(one) for one in streams])
            found = [(np.zeros(0, np.int64), now[:0]) for *_, now in streams]
        return self._number, seed, found, others

    @decides("Cluster/keep")
    def restore(self, told: Any, kept: Mapping[str, Any]) -> None:
        """Restore the states ``told`` by :meth:`tell`; ``kept`` has the kept bases by name."""
        self._number, seed, found, others = told
        self._base = [tuple(one) for one in kept.get(self._name(self._number), [])]
        streams = []
        for (kind, device, before), (places, numbers) in zip(self._base, found, strict=True):
            now = np.array(before)
            now[places] = numbers
            streams.append((kind, device, now))
        set_random_numbers(((seed, streams), *others))

    def _name(self, number: int) -> str:
        return f"{self._called} {number if self._readable is None else number % (self._readable + 1)}"


__all__ = ["Differences", "random_numbers", "set_random_numbers"]
