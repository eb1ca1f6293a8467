"""The progress of ``fit``, kept on the servers of a cluster: a restarted worker continues at the same batch.

Before each batch :meth:`KeptPlace.keep` hands the store all state that the rest of ``fit`` depends on and that running
the script again does not restore. After a restart, :meth:`KeptPlace.first` and the first batch restore this state. A
state that cannot be restored exactly is refused: spec/reference/stores/cluster.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..base import decides, require
from ..io import NDArrayIter
from ..kvstore import DistributedKVStore
from ..kvstore.distributed import PLACE
from ..kvstore.random_numbers import Differences
from ..monitor import Monitor
from ..ndarray import NDArray
from .remembering import memory_of, remember

AnyModule = TypeVar("AnyModule", bound=type)
KEEPING: set[type] = set()
"""The classes of modules in which ``fit`` keeps its progress."""


def keeps_place(klass: AnyModule) -> AnyModule:
    """Class decorator: ``fit`` keeps its progress, as executors and updates hold all that it trains. Not inherited."""
    KEEPING.add(klass)
    return klass


class KeptPlace:
    """The progress of ``fit``, kept on the servers; iterating over it yields the batches of an epoch.

    Args:
        module, store: the module that is trained, and the store whose servers keep its progress.
        train_data, eval_data: the iterators of ``fit``.
        monitor: the monitor of ``fit``, or None.
        others: metrics and callbacks, which may have state.
    """

    def __init__(
        self, module: Any, store: DistributedKVStore, train_data: Any, eval_data: Any, monitor: Monitor | None,
        others: Sequence[Any],
    ) -> None:
        self._module, self._store, self._data, self._eval_data = module, store, train_data, eval_data
        self._monitor, self._others = monitor, others
        store.fits += 1
        self._fit = store.fits
        self._epoch = -1
        self._back: dict[str, Any] | None = None  # the kept state to restore, until that is done
        self._place: Any = None
        self._note: dict[str, Any] = {}
        self._random = Differences(store.keep, f"fit {store.fits} places")
        # when an epoch ends, two fetches are kept between two batches
        self._fetches = Differences(store.keep, f"fit {store.fits} fetches", readable=2)
        self._epochs = Differences(store.keep, f"fit {store.fits} streams", readable=None)
        self._recalled: dict[str, Any] = {}
        self.number = 0

    # --- coming back -----------------------------------------------------------------------------

    @decides("Cluster/return-one-fit", "Cluster/return-data")
    def first(self, epoch: int) -> int:
        """The epoch to begin with, after a restart the kept one; moves the iterators to the beginning of that epoch."""
        self._epoch = epoch - 1
        self._recalled = recalled = self._store.recall()
        self._place = recalled.get(PLACE)
        if self._place is None or self._place["memory"]["fit"] < self._fit:
            return epoch
        self._back = memory = self._place["memory"]
        require(
            "Cluster/return-one-fit", memory["fit"] == self._fit,
            f"worker {self._store.rank} was in call {memory['fit']} of fit when it was ended, and cannot go on from"
            f" call {self._fit}: only one fit with a store can be returned to; start the job again, from a checkpoint",
        )
        self._epoch = memory["epoch"] - 1
        for before in range(epoch, memory["epoch"]):
            self._live_again(recalled[self._name(before) + " start"], recalled[self._name(before)])
        return int(memory["epoch"])

    def _live_again(self, start: Any, note: Mapping[str, Any]) -> None:
        """Run the iterators of a restarted process through an epoch that is already over, with its random numbers."""
        self._epochs.restore(start, self._recalled)
        _pass_through(self._data)
        if self._eval_data is not None:
            self._epochs.restore(note["score"], self._recalled)
            self._eval_data.reset()
            _pass_through(self._eval_data)
        self._epochs.restore(note["end"], self._recalled)
        self._module._end_epoch(self._data)

    # --- the batches of an epoch -----------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        if self._back is not None:
            self._epochs.restore(self._recalled[self._name(self._back["epoch"]) + " start"], self._recalled)
        self._epoch += 1
        self._note = {}
        if self._back is None:
            self._store.keep(self._name(self._epoch) + " start", self._epochs.tell())
        self._batches = iter(self._data)
        self._digest = self.number = 0
        return self

    @decides("Cluster/return-data")
    def __next__(self) -> Any:
        if self._back is None:
            return self._fetch()
        memory, self._back = self._back, None
        if memory["asked"] is not None:
            self._data.restore(memory["asked"])
            self._fetches.restore(memory["before"], self._recalled)
            self._digest = memory["sofar"]
        else:
            for _ in range(memory["batch"]):
                if type(self._data) is NDArrayIter:
                    self._data.iter_next()  # which makes no batch
                else:
                    self._digest = _digest(next(self._batches), self._digest)
        upcoming = self._fetch()
        require(
            "Cluster/return-data", self._digest == memory["digest"],
            f"worker {self._store.rank} reads other data than before it was ended, in batch {memory['batch']} of epoch"
            f" {self._epoch}: its {type(self._data).__name__} does not repeat itself; give it methods state() and"
            " restore(state), or start the job again, from a checkpoint",
        )
        self.number = memory["batch"]
        self._restore(memory)
        return upcoming

    def _fetch(self) -> Any:
        self._sofar = self._digest
        self._asked = self._before = None
        if _can_be_asked(self._data):
            self._asked, self._before = self._data.state(), self._fetches.tell()
        batch = next(self._batches)
        self._digest = _digest(batch, 0 if type(self._data) is NDArrayIter else self._digest)
        return batch

    # --- keeping ---------------------------------------------------------------------------------

    @decides("Cluster/keep")
    def keep(self, number: int) -> None:
        """Keep the state before batch ``number`` of this epoch, which has been fetched and is trained next."""
        group, updates = self._module._exec_group, self._module._updates
        memory = {
            "fit": self._fit, "epoch": self._epoch, "batch": number,
            "asked": self._asked, "before": self._before, "sofar": self._sofar, "digest": self._digest,
            "random": self._random.tell(),
            "arrays": [array.asnumpy() for array in self._arrays()],
            "updater": None if updates.updater is None else updates.updater.get_states(dump_optimizer=True),
            "monitor": None if self._monitor is None else (self._monitor.step, self._monitor.activated),
            "others": [memory_of(one) for one in self._others],
        }
        self._store.keep_place(memory, dict(zip(group.param_names, group.param_arrays, strict=True)))

    def _arrays(self) -> list[NDArray]:
        """The arrays beside the parameters that training reads before it writes them."""
        group = self._module._exec_group
        arrays = [array for copies in (*group.aux_arrays, *group.state_arrays) for array in copies]
        for name, copies in zip(group.param_names, group.grad_arrays, strict=True):
            if group.grad_req[name] == "add":
                arrays += copies
        return arrays

    def _restore(self, memory: Mapping[str, Any]) -> None:
        group, updates = self._module._exec_group, self._module._updates
        self._store.return_to_place(self._place, dict(zip(group.param_names, group.param_arrays, strict=True)))
        for array, numbers in zip(self._arrays(), memory["arrays"], strict=True):
            array[:] = numbers
        self._module._host_copy.stale = True
        if updates.updater is not None:
            updates.updater.set_states(memory["updater"], "what was kept")
            updates.optimizer = updates.updater.optimizer
        if self._monitor is not None:
            self._monitor.step, self._monitor.activated = memory["monitor"]
        for one, remembered in zip(self._others, memory["others"], strict=True):
            remember(one, remembered)
        self._random.restore(memory["random"], self._recalled)

    def scoring(self) -> None:
        """Note the state of the random streams at the beginning of an epoch's evaluation."""
        self._note["score"] = self._epochs.tell()

    def reset(self) -> None:
        """Keep the notes of this epoch on the servers, for :meth:`_live_again`; then reset the iterator."""
        self._store.keep(self._name(self._epoch), {**self._note, "end": self._epochs.tell()})
        self._data.reset()

    def _name(self, epoch: int) -> str:
        return f"fit {self._fit} epoch {epoch}"


class Evaluation:
    """The iterator ``eval_data`` of ``fit``, which notes the random streams when an evaluation begins."""

    def __init__(self, data: Any, place: KeptPlace) -> None:
        self._data, self._place = data, place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data)

    def reset(self) -> None:
        """Note the state of the random streams, and reset the iterator."""
        self._place.scoring()
        self._data.reset()


# --- iterators, and random numbers ----------------------------------------------------------------


def _can_be_asked(data: Any) -> bool:
    return callable(getattr(data, "state", None)) and callable(getattr(data, "restore", None))


def _pass_through(data: Any) -> None:
    """Run an iterator through an epoch, without using its batches."""
    if type(data) is not NDArrayIter:
        for _ in data:
            pass
        return
    while data.iter_next():  # moves on without making a batch
        if data.last_batch_handle != "pad" and data.cursor + data.batch_size > data.num_data:
            return


def _digest(batch: Any, before: int) -> int:
    """The CRC-32 of the arrays of a batch, or of a list of batches, starting from the CRC-32 ``before``."""
    for one in batch if isinstance(batch, list) else [batch]:
        for array in (*(one.data or ()), *(one.label or ())):
            before = zlib.crc32(np.ascontiguousarray(array.asnumpy()).reshape(-1).view(np.uint8).data, before)
    return before


__all__ = ["KEEPING", "Evaluation", "KeptPlace", "keeps_place"]
