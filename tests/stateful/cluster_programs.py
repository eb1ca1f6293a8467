"""What workers of a simulated cluster do in the tests: programs as data, and how to run them with their history."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.histories import History
from refimpl.oracle.backends.simulated_cluster import Action, Outcome
from refimpl.oracle.backends.simulated_cluster import Scripts as Program

BOUND = 24
"""Arrays of so many elements are split in these tests (MXNET_KVSTORE_BIGARRAY_BOUND)."""

def tagged_program(random: random.Random, kind: str, **given: Any) -> Program:
    """A program in which everybody pushes; in dist_sync in one order, in dist_async each as it likes."""
    workers = given.get("workers") or random.randint(1, 4)
    names = random.choice([["w", "b", "c"], [3, -1, 70000]])[: random.randint(1, 3)]
    keys = {name: given.get("rows") or random.choice([1, 1, 2, 3, 5]) for name in names}
    count = given.get("pushes") or random.randint(1, 4)
    common = [random.choice(names) for _ in range(count)]
    barriers = {at for at in range(count) if random.random() < 0.2 and given.get("barriers", True)}
    scripts = []
    for _ in range(workers):
        script: list[Action] = []
        for at in range(count):
            script.append(("push", common[at] if "_async" not in kind else random.choice(names)))
            script += [("pull", random.choice(names)) for _ in range(random.choice([0, 0, 1, 1, 2]))]
            script += [("barrier", None)] * (at in barriers)
        scripts.append(script)
    sparse = frozenset(name for name in names if random.random() < given.get("sparse", 0))
    return Program(kind, given.get("servers") or random.randint(1, 3), keys, scripts, sparse)


def everything(program: Program) -> dict[Any, np.ndarray]:
    """What each key holds when every push is in it."""
    ends = {key: np.zeros((rows, program.workers * program.pushes), np.float32) for key, rows in program.keys.items()}
    for worker, script in enumerate(program.scripts):
        for number, key in enumerate(key for verb, key in script if verb == "push"):
            ends[key][:, worker * program.pushes + number] += 1
    return ends


def last_reads(outcome: Outcome) -> dict[Any, list[np.ndarray]]:
    """What each worker's last pull of each key gave."""
    last = {(e.key, e.worker): e.value for e in outcome.history.events if e.kind == "pull"}
    return {key: [value for (k, _), value in last.items() if k == key] for key, _ in last}


# --- workers that go ------------------------------------------------------------------------------

FATES = ("stays", "returns early", "raises", "leaves", "is lost", "is lost and comes back")


class Quit(Exception):
    """What a worker raises that has had enough."""


def run_with_fates(
    kind: str, fates: Sequence[str], at: Sequence[int], rounds: int, seed: int, servers: int = 1, rows: int = 1,
    schedule: Sequence[int] | None = None,
) -> Outcome:
    """Each worker pushes and pulls ``rounds`` times, but worker w meets its fate before round ``at[w]``.

    Who is lost is lost by the last worker, before a round of its own.
    """
    workers = len(fates)
    cluster = mx.kv.simulate(workers, servers, seed, schedule=schedule)
    outcome = Outcome(cluster, History(workers, rounds))
    history, killer = outcome.history, workers - 1

    made = [0] * workers

    def go(store: Any) -> str:
        """Meet one's fate, and make others meet theirs."""
        rank = store.rank
        if fates[rank] == "raises":
            raise Quit
        if fates[rank] == "leaves":
            store.leave()
            history.leave(rank)
        return fates[rank]

    def lose_others(number: int) -> None:
        for other in range(killer):
            if fates[other].startswith("is lost") and at[other] == number:
                cluster.lose(other)
                history.lost(other)

    def live(store: Any) -> str:
        rank = store.rank
        store.set_optimizer(mx.optimizer.create("test"))
        store.init("w", nd.zeros((rows, history.width)))
        while made[rank] < rounds:
            if fates[rank] in ("returns early", "raises", "leaves") and made[rank] == at[rank]:
                return go(store)
            if rank == killer:
                lose_others(made[rank])
            gradient = history.push(rank, "w", rows)
            made[rank] += 1
            store.push("w", nd.array(gradient))
            out = nd.zeros((rows, history.width))
            store.pull("w", out=out)
            history.pull(rank, "w", out.asnumpy())
        store.leave()  # somebody who was lost meanwhile may be some rounds behind
        history.leave(rank)
        return "done"

    def work(store: Any) -> str:
        rank, steps = store.rank, [store._barrier]  # nobody is lost before it was there
        while True:
            try:
                while steps:
                    steps.pop()()
                return live(store)
            except mx.MXNetError as failure:
                outcome.failures.append(failure)
                if "was lost" not in str(failure) or fates[rank] != "is lost and comes back":
                    return "failed"
            cluster.connect(rank)
            store = cluster.store(rank, kind)

    try:
        outcome.results = cluster.run(work, kind)
    except Quit:
        outcome.results = None
    return outcome
