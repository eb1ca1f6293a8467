"""Watch a training from outside: values of executors, corrections of SVRG, sums of servers.

During a block some functions of the package are replaced by functions that copy the arrays they are called with and
then call the original. This module computes no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..contrib.svrg_optimization.svrg_module import SVRGModule
from ..executor import executor as running
from ..executor.step_runner import run_one, touched
from ..kvstore import server_table
from ..kvstore.distributed import DistributedKVStore
from ..kvstore.messages import PartId
from ..kvstore.server_arithmetic import dense
from ..kvstore.simulated import SimulatedCluster
from ..kvstore.worker_threads import worker_here
from ..module import BucketingModule, Module
from ..module.life_cycle import demand
from ..ndarray import NDArray
from .windows import GLANCE, window

Data = dict[str, Any]


@dataclass
class Correction:
    """A gradient of SVRG on one context, before and after: gradient - snapshot + mean = corrected."""

    gradient: np.ndarray
    snapshot: np.ndarray
    mean: np.ndarray | None
    corrected: np.ndarray


@dataclass
class Round:
    """One round of one part on a server: the workers' terms, their sum, and the update of the server's optimizer."""

    number: int
    terms: list[tuple[int, np.ndarray]]
    total: np.ndarray
    updates: bool
    rates: dict[str, float] = field(default_factory=dict)
    state: list[np.ndarray] = field(default_factory=list)
    state_after: list[np.ndarray] = field(default_factory=list)


@dataclass
class Watched:
    """The values that were noted last.

    ``values`` maps the identity of an executor's step to the values that it wrote, ``corrections`` the identity of a
    gradient's array to its correction. Both keep these steps and arrays alive.
    """

    values: dict[int, tuple[Any, list[Data]]] = field(default_factory=dict)
    corrections: dict[int, tuple[NDArray, Correction]] = field(default_factory=dict)
    rounds: dict[PartId, Round] = field(default_factory=dict)
    buckets: BucketingModule | None = None
    workers: int = 0
    servers: int = 0


Take = Callable[[Module, Callable[[], None], int, Watched], None]


class Ended(BaseException):
    """Ends a program: its training step has been seen. No ``except Exception`` of the program stops it."""


class _Watch:
    """Counts updates, and notes the values of the requested one."""

    def __init__(self, number: int, take: Take) -> None:
        self.number, self.take, self.count = number, take, 0
        self.seen = Watched()
        self._summed: tuple[Any, list[Any]] = (None, [])

    @property
    def looks(self) -> bool:
        """Whether the next update is the one."""
        return self.count == self.number - 1

    def update(self, original: Callable[[Module], None], module: Module) -> None:
        """Replaces ``Module.update``."""
        if not _first_worker():
            original(module)
            return
        demand(module, "update")
        self.count += 1
        if self.count != self.number:
            original(module)
            return
        self.count -= 1  # what the update does is looked at too
        self._require_rounds(module)
        store = module._kvstore
        if isinstance(store, DistributedKVStore):
            self.seen.workers, self.seen.servers = store.num_workers, store._transport.servers
        try:
            self.take(module, lambda: original(module), self.number, self.seen)
        finally:
            self.count += 1

    @staticmethod
    @decides("Explain/rounds")
    def _require_rounds(module: Module) -> None:
        kind = getattr(module._kvstore, "type", "")
        if "dist" in kind and "_async" in kind:
            raise refusal(
                "Explain/rounds",
                f"explain shows what a round of a dist_sync store adds up; in {kind!r} each push is an update of its"
                " own. Run the script with dist_sync, or see `refimpl explain --cluster` for the order of pushes",
                ValueError,
            )

    def update_bucket(self, original: Callable[[Any], None], module: BucketingModule) -> None:
        """Replaces ``BucketingModule.update``."""
        self.seen.buckets = module
        original(module)
        self.seen.buckets = None

    def run_steps(self, original: Callable[..., None], steps: Sequence[Any], is_train: bool, *place: Any) -> None:
        """Replaces ``run_steps`` of executors: runs one step after the other and copies the values of each."""
        if not self.looks or not _first_worker():
            original(steps, is_train, *place)
            return
        for step in steps:
            run_one(step, is_train, place[0])
            where = getattr(step, "context", place[0])
            written = [window(NDArray(buffer, where).asnumpy(), GLANCE) for buffer in touched(step).writes]
            self.seen.values[id(step)] = step, written

    def correct(self, original: Callable[..., NDArray], gradient: NDArray, old: NDArray, mean: Any) -> NDArray:
        """Replaces SVRG's correction of a gradient."""
        if not self.looks or not _first_worker():
            return original(gradient, old, mean)
        before, snapshot = gradient.asnumpy(), old.asnumpy()
        added = None if mean is None else mean.asnumpy()
        result = original(gradient, old, mean)
        self.seen.corrections[id(gradient)] = gradient, Correction(before, snapshot, added, gradient.asnumpy())
        return result

    def add_up(self, original: Callable[..., Any], values: Sequence[Any], *wide: Any) -> Any:
        """Replaces a server's sum over the workers."""
        total = original(values, *wide)
        self._summed = total, list(values)
        return total

    def settle(self, original: Callable[..., Any], table: Any, members: frozenset[int], part: PartId) -> Any:
        """Replaces the function that a server calls after a push, which knows the waiting pushes."""
        self._ranks = sorted(table.parts[part].queues)
        return original(table, members, part)

    def applied(
        self, original: Callable[..., Any], table: Any, part: PartId, held: Any, total: Any, replaces: bool
    ) -> Any:
        """Replaces the function that gives a server's part its new value."""
        after = original(table, part, held, total, replaces)
        if self.looks and not replaces and total is self._summed[0]:
            optimizer = after.optimizer
            found = Round(
                held.version + 1,
                [(rank, dense(term).copy()) for rank, term in zip(self._ranks, self._summed[1], strict=False)],
                dense(total).copy(), optimizer is not None,
            )
            if optimizer is not None:
                found.rates = {"lr": float(optimizer._get_lr(part.key)), "wd": float(optimizer._get_wd(part.key))}
                found.state, found.state_after = flat(held.state), flat(after.parts[part].state)
            self.seen.rounds[part] = found
        return after

    @staticmethod
    def move(original: Callable[[Any], bool], cluster: SimulatedCluster) -> bool:
        """Replaces a move of a simulated cluster; the move in which a worker ends the program is the last."""
        moved = original(cluster)
        for worker in cluster._running:
            failure = worker.failure
            if failure is not None and (isinstance(failure, Ended) or _clause(failure) == "Explain/rounds"):
                raise failure
        return moved


def _clause(error: BaseException) -> str:
    return getattr(error, "clause", "")


def _first_worker() -> bool:
    """Whether this runs as worker 0 of a cluster, or in none."""
    worker = worker_here()
    return worker is None or worker.rank == 0


def flat(state: Any) -> list[np.ndarray]:
    """The arrays of an optimizer's state, however they are nested."""
    if isinstance(state, NDArray):
        return [state.asnumpy()]
    return [array for part in state for array in flat(part)] if isinstance(state, (list, tuple)) else []


@contextmanager
def standing_in(
    owner: Any, name: str, stand_in: Callable[..., Any], kind: Callable[[Any], Any] = lambda made: made
) -> Iterator[None]:
    """A block in which ``stand_in(original, ...)`` is called in the place of ``owner.name``."""
    kept, original = vars(owner)[name], getattr(owner, name)
    setattr(owner, name, kind(lambda *given, **named: stand_in(original, *given, **named)))
    try:
        yield
    finally:
        setattr(owner, name, kept)


@contextmanager
@decides("Explain/looks-only")
def watching(number: int, take: Take) -> Iterator[None]:
    """Call ``take`` in the place of update ``number`` of the modules that train within the block.

    In a cluster the updates of worker 0 count.
    """
    watch = _Watch(number, take)

    with ExitStack() as stack:
        for owner, name, stand_in in (
            (Module, "update", watch.update), (BucketingModule, "update", watch.update_bucket),
            (running, "run_steps", watch.run_steps), (server_table, "add_up", watch.add_up),
            (server_table, "_settle", watch.settle), (server_table, "_applied", watch.applied),
            (SimulatedCluster, "_move", watch.move),
        ):
            stack.enter_context(standing_in(owner, name, stand_in))
        stack.enter_context(standing_in(SVRGModule, "_svrg_grads_update_rule", watch.correct, staticmethod))
        yield
