"""Runs of a cluster to look at: a built-in program whose pushes can be told apart, a script, or a log from a file."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base import decides, refusal, require
from ...kvstore.histories import Violation, check
from ...kvstore.messages import Rows
from ...kvstore.schedule import SOME, Faults
from ...kvstore.server import Step
from ...kvstore.server import step as sound
from ...kvstore.simulated import SimulatedCluster, simulate
from ...oracle.backends.simulated_cluster import Outcome, Scripts, run_tagged
from ..sources import as_worker
from . import anomalies
from .event_log import Recorder, read_events, recording
from .shrinking import shrunk

Data = dict[str, Any]
FEW = Faults(drops=2, duplicates=2, crashes=1)
"""The faults of the built-in program: few enough to follow each of them."""
SEED = 223
"""With this seed a message is lost, one comes twice, and a server is down while the other one goes on."""


def built_in(kind: str, workers: int, servers: int) -> Scripts:
    """Each worker pushes to two keys, twice to the first, and pulls."""
    script = [("push", "w"), ("pull", "w"), ("push", "b"), ("push", "w"), ("pull", "w")]
    return Scripts(kind, servers, {"w": 1, "b": 1}, [script] * workers)


@decides("Explain/cluster")
def cluster(
    seed: int = SEED, workers: int = 2, servers: int = 2, kind: str = "dist_sync", faults: Faults | bool = True,
    program: Scripts | None = None, server: Callable[[Scripts], Step] | None = None,
    threshold: float | None = None, spoil: Callable[[], Callable[[Any], None]] | None = None,
) -> Data:
    """Run a program with faults and without; return the events of both runs and whether they end with equal values.

    Args:
        seed: the seed from which faults are drawn; the page shows it.
        workers, servers: their numbers in the built-in program.
        kind: of the store, "dist_sync" or "dist_async".
        faults: the largest number of faults; True for a few.
        program: the steps of the workers; a built-in program by default.
        server: makes the servers' rules from the program; correct rules by default. If the history shows a violation,
            the schedule is shrunk.
        threshold: the threshold of 2-bit compression.
        spoil: makes the function that changes each worker's store before the run.

    Raises:
        ValueError: there is no worker or no server, or the kind is not ``dist_sync`` or ``dist_async``.
    """
    require("Explain/cluster", "dist" in kind, f"kind={kind!r}: give dist_sync or dist_async", ValueError)
    given = program or built_in(kind, workers, servers)
    weather = faults if isinstance(faults, Faults) else FEW if faults else Faults()

    def run(schedule: Sequence[int] | None, which: Faults) -> tuple[Outcome, Recorder]:
        with recording() as recorder:
            rules = sound if server is None else server(given)
            harm = (lambda _: None) if spoil is None else spoil()
            outcome = run_tagged(
                given, seed, which, schedule, rules, threshold=threshold, spoil=harm, waits=True,
                least=0 if threshold is not None else -4,
            )
        return outcome, recorder

    def found(schedule: Sequence[int]) -> list[Violation]:
        return check(run(schedule, weather)[0].history, given.kind, threshold)

    outcome, recorder = run(None, weather)
    violations = check(outcome.history, given.kind, threshold)
    made: Data = {
        "title": "A cluster, message by message", "source": "the built-in program", "seed": seed,
        "kind": given.kind, "workers": given.workers, "servers": given.servers, "violations": [], "shrunk": None,
    }
    name = "with faults"
    if violations:
        first, schedule = violations[0].name, outcome.cluster.schedule
        made["shrunk"] = shrunk(schedule, lambda it: any(v.name == first for v in found(it)))
        made["decisions"] = len(schedule)
        outcome, recorder = run(made["shrunk"], weather)
        violations = check(outcome.history, given.kind, threshold)
        made["violations"] = [anomalies.told(violation, outcome.history) for violation in violations]
        name = "the smallest schedule that shows it"
    quiet, calm = run([], Faults())
    made["runs"] = [
        _run(name, recorder, outcome.cluster), _run("in peace", calm, quiet.cluster),
    ]
    return made


@decides("Explain/cluster")
def cluster_script(
    path: str | os.PathLike[str], arguments: Sequence[str] = (), workers: int = 2, servers: int = 2, seed: int = SEED
) -> Data:
    """Run a script as each worker of a cluster, once with faults drawn from ``seed`` and once without.

    Args:
        path: the script; ``mx.kv.create`` gives it the store of its worker.
        arguments: the script's ``sys.argv[1:]``.
        workers, servers: their numbers.
        seed: the seed from which faults are drawn.

    Raises:
        ValueError: it makes no store of a cluster.
        OSError: it cannot be read.
    """
    file = Path(path)
    work = as_worker(file)
    runs = []
    for name, faults in (("with faults", SOME), ("in peace", Faults())):
        kept, folders, main = sys.argv, list(sys.path), sys.modules["__main__"]
        sys.argv, sys.path[0:0] = [str(file), *arguments], [str(file.absolute().parent)]
        try:
            with recording() as recorder:
                made = simulate(workers, servers, seed, faults, None if faults is SOME else [])
                made.run(work, kind=None)
        finally:
            sys.argv, sys.path[:], sys.modules["__main__"] = kept, folders, main
        runs.append(_run(name, recorder, made))
    tables = [table for state in made.states for table in state.tables.values()]
    if not tables:
        raise refusal(
            "Explain/cluster", f"{file} makes no store: mx.kv.create('dist_sync') is a worker's way into the cluster",
            ValueError,
        )
    return {
        "title": "A cluster, message by message", "source": file.name, "seed": seed,
        "kind": "dist_sync" if tables[0].sync else "dist_async", "workers": workers, "servers": servers,
        "violations": [], "shrunk": None, "runs": runs,
    }


def logged(path: str | os.PathLike[str]) -> Data:
    """The data of an event log of a simulated or real cluster: see ``read_events``."""
    found = read_events(path)
    return {
        "title": "A cluster, message by message", "source": Path(path).name, "seed": found.get("seed"),
        "kind": found.get("kind", "a cluster's"), "workers": found["workers"], "servers": found["servers"],
        "violations": [], "shrunk": None,
        "runs": [{
            "name": "as logged", "workers": found["workers"], "servers": found["servers"], "events": found["events"],
            "ends": None,
        }],
    }


def _run(name: str, recorder: Recorder, made: SimulatedCluster) -> Data:
    """One run as plain data; ``ends`` has the last value of each key as bytes in hexadecimal, and its first numbers."""
    return {
        "name": name, "workers": made.workers, "servers": made.servers, "events": list(recorder.events),
        "schedule": made.schedule,
        "ends": {
            key: value for state in made.states for table, kept in state.tables.items()
            for key, value in (
                (f"{part}" + (f" of store {table}" if table else ""), _end(held)) for part, held in kept.parts.items()
            )
        },
    }


def _end(held: Any) -> Data:
    value = held.value
    arrays = [value.ids, value.data] if isinstance(value, Rows) else [np.ascontiguousarray(value)]
    numbers = arrays[-1].ravel()[:8]
    return {
        "version": held.version,
        "bits": hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16],
        "first": [float(x) if np.isfinite(x) else None for x in numbers],
    }
