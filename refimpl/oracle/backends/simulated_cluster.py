"""The reference of level 7, the simulated cluster; and how to run a program on any store with the calls of 1.x.

A backend of level 7 has ``capabilities = Capabilities(level=0, others=(7,))``, and its ``run(program)`` returns a
history as text, in the JSON lines of ``mx.kv.histories``, or as a ``History``. Where workers are functions of a store,
:func:`follow` does the program's steps and writes them down.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import refimpl

from ...base import MXNetError
from ...kvstore.histories import History
from ...kvstore.schedule import Faults
from ...kvstore.server import step as sound
from ...kvstore.simulated import SimulatedCluster
from ...ndarray.sparse import row_sparse_array
from ..drawing.choices import Capabilities
from ..judging.reference import Program
from ..programs.clusters import scripts_of

Action = tuple[str, Any]
"""("push", key), ("pull", key) or ("barrier", None)."""


@dataclass(frozen=True)
class Scripts:
    """Pushes of tags: keys with their numbers of rows, the steps of each worker, then a barrier and a pull of all."""

    kind: str
    servers: int
    keys: dict[Any, int]
    scripts: Sequence[Sequence[Action]]
    sparse: frozenset[Any] = frozenset()
    """Keys that are row_sparse (with all rows stored)."""

    @classmethod
    def of(cls, program: Program) -> Scripts:
        """The steps of the workers in a program of level 7."""
        settings = program["settings"]
        return cls(
            settings["kind"], settings["servers"], dict(map(tuple, settings["keys"])), scripts_of(program),
            frozenset(settings.get("sparse", ())),
        )

    @property
    def workers(self) -> int:
        """How many workers."""
        return len(self.scripts)

    @property
    def pushes(self) -> int:
        """The most pushes of a worker."""
        return max([1, *(sum(verb == "push" for verb, _ in script) for script in self.scripts)])

    def total(self, key: Any) -> int:
        """How many pushes a key gets."""
        return sum(action == ("push", key) for script in self.scripts for action in script)


def follow(
    scripts: Scripts, history: History, store: Any, gradient: Callable[[int], Any] = lambda rows: None,
    prepare: Callable[[Any], None] = lambda store: None, waits: bool = True,
) -> None:
    """Run the steps of one worker, and write the history.

    Args:
        scripts: the steps of the workers.
        history: the history to write to.
        store: this worker's store, with ``rank`` and the calls of ``mx.kvstore.KVStore``.
        gradient: a function of a number of rows that gives the array to push in place of a tag; None for the tag.
        prepare: called with the store after its optimizer is set.
        waits: whether a refused pull is written as a pull without an answer.

    Raises:
        MXNetError: of the store, if a wait cannot end.
    """
    rank = store.rank
    store.set_optimizer(refimpl.optimizer.create("test"))
    prepare(store)

    def array(key: Any, value: Any) -> Any:
        if key not in scripts.sparse:
            return refimpl.nd.array(value)
        return row_sparse_array((value, np.arange(len(value))), shape=np.shape(value), dtype="float32")

    def pull(key: Any) -> None:
        out = array(key, np.full((scripts.keys[key], history.width), -1.0))
        try:
            if key in scripts.sparse:
                store.row_sparse_pull(key, out=out, row_ids=refimpl.nd.arange(scripts.keys[key])[::-1])
            else:
                store.pull(key, out=out)
        except MXNetError:
            if waits:
                history.wait(rank, key)
            raise
        history.pull(rank, key, out.asnumpy())

    def barrier() -> None:
        store._barrier()
        history.barrier(rank)

    for key, rows in scripts.keys.items():
        store.init(key, array(key, np.zeros((rows, history.width))))
        history.init(rank, key)
    for verb, key in scripts.scripts[rank]:
        if verb == "push":
            rows = scripts.keys[key]
            store.push(key, array(key, history.push(rank, key, rows, gradient(rows))))
        elif verb == "pull":
            pull(key)
        else:
            barrier()
    barrier()
    for key in scripts.keys:
        pull(key)


@dataclass
class Outcome:
    """The result of a program."""

    cluster: SimulatedCluster
    history: History
    failures: list[MXNetError] = field(default_factory=list)
    results: list[str] | None = None

    @property
    def answers(self) -> list[tuple[Any, ...]]:
        """All that was pulled, as plain values."""
        return [(e.worker, e.key, e.value.tobytes()) for e in self.history.events if e.value is not None]


def run_tagged(
    program: Scripts, seed: int = 0, faults: Faults | bool = True, schedule: Sequence[int] | None = None,
    step: Any = sound, prepare: Callable[[Any], None] = lambda cluster: None, threshold: float | None = None,
    spoil: Callable[[Any], None] = lambda store: None, least: int = -4, waits: bool = False,
) -> Outcome:
    """Run a program in a simulated cluster; waits that cannot end are noted as failures.

    Args:
        program: the steps of the workers.
        seed: the seed of the decisions where there is no schedule.
        faults: the largest number of faults.
        schedule: the decisions.
        step: the function by which a server handles a request.
        prepare: called with the cluster before it runs.
        threshold: the threshold of 2-bit compression; gradients are then quarters instead of tags.
        spoil: called with each worker's store before it begins.
        least: the least gradient, in quarters.
        waits: whether pulls without an answer are in the history.
    """
    cluster = refimpl.kv.simulate(program.workers, program.servers, seed, faults, schedule, step)
    outcome = Outcome(cluster, History(program.workers, program.pushes))
    prepare(cluster)

    def work(store: Any) -> None:
        numbers = random.Random(f"{seed} {store.rank}")

        def gradient(rows: int) -> Any:
            if threshold is None:
                return None
            return [[numbers.randint(least, 4) / 4 for _ in range(outcome.history.width)] for _ in range(rows)]

        def ready(store: Any) -> None:
            if threshold is not None:
                store.set_gradient_compression({"type": "2bit", "threshold": threshold})
            spoil(store)

        try:
            follow(program, outcome.history, store, gradient, ready, waits)
        except MXNetError as failure:
            outcome.failures.append(failure)

    cluster.run(work, program.kind)
    return outcome


class Simulated:
    """The simulated cluster, with correct servers or others.

    Args:
        server: makes a server's rules from the steps of the workers; correct rules by default.
    """

    capabilities = Capabilities(level=0, others=(7,))

    def __init__(self, server: Callable[[Scripts], Any] | None = None) -> None:
        self.server = server

    def outcome(self, program: Program) -> Outcome:
        """Run a program of level 7."""
        settings, scripts = program["settings"], Scripts.of(program)
        return run_tagged(
            scripts, faults=Faults(**settings.get("faults", {})), schedule=settings.get("schedule", []),
            step=sound if self.server is None else self.server(scripts), waits=True,
        )

    def run(self, program: Program) -> str:
        """The history as text."""
        return self.outcome(program).history.text()


backend = Simulated
"""What ``--oracle-backend=refimpl.oracle.backends.simulated_cluster`` finds."""
