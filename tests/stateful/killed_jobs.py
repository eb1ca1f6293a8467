"""Launches jobs and kills their processes: ``python -m tests.stateful.killed_jobs --seed 1 --kills 25``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import refimpl as mx
from refimpl.kvstore.histories import History

from . import training_to_launch

SCRIPT = Path(training_to_launch.__file__)
VICTIMS = [
    ["worker 0"], ["worker 1"], ["server 0"], ["server 1"], ["worker 0", "server 1"], ["worker 0", "worker 1"],
    ["server 0", "server 1"],
]
_RUNS = re.compile(r"^refimpl launch: ((?:worker|server) \d+) .*process (\d+)")


class Job:
    """A job of two workers and two servers that runs.

    Attributes:
        lines: what it has said.
        killed: who was killed.
    """

    def __init__(self, command: Sequence[str | Path], options: Sequence[str] = ()) -> None:
        words = [sys.executable, "-m", "refimpl.cli", "launch", "-n", "2", "-s", "2", *options, *map(str, command)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: list[str] = []
        self.killed: list[str] = []
        self._running: dict[str, int] = {}
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                found = _RUNS.search(line)
                if found:
                    self._running[found[1]] = int(found[2])
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def pid(self, who: str, patience: float = 60.0) -> int | None:
        """The process of a worker or server that runs; None when there is none and the job has ended."""
        with self._changed:
            self._changed.wait_for(lambda: who in self._running or not self._reader.is_alive(), patience)
            return self._running.get(who)

    def kill(self, victims: Sequence[str]) -> None:
        """Kill processes that run, at once."""
        pids = [self.pid(who) for who in victims]
        for who, pid in zip(victims, pids, strict=True):
            if pid is not None and self.process.poll() is None:
                with self._changed:
                    self._running.pop(who, None)
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:  # it had just ended by itself
                    continue
                self.killed.append(who)

    def end(self, patience: float = 600.0) -> int:
        """Wait for the end; the exit code."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            raise AssertionError("\n".join(["the job has not ended:", *self.lines])) from None
        self._reader.join(10)
        return code

    def written(self, word: str) -> list[str]:
        """The rest of each line that a worker began with ``word``."""
        found = [re.match(rf"worker \d+ \| {word} (.*)", line) for line in self.lines]
        return [one[1] for one in found if one]

    @property
    def results(self) -> list[Any]:
        """What the workers print at the end, by rank."""
        return sorted(map(json.loads, self.written("RESULT")))


def undisturbed(epochs: int) -> list[Any]:
    """What workers of a simulated cluster end with."""
    return mx.kv.simulate(2, 2, faults=False).run(lambda: training_to_launch.train(epochs, 0.0), kind=None)


def killed_job(
    seed: int, kills: int, gap: float, batch: float = 0.02, options: Sequence[str] = (), nodes: Nodes | None = None
) -> tuple[Job, int]:
    """A job in which processes are killed again and again, and how many epochs it trained."""
    epochs = max(2, int(kills * gap / (10 * batch)))
    job = Job([SCRIPT, str(epochs), str(batch)], [*options, *([] if nodes is None else ["--address", nodes.address])])
    kill_often(job, seed, kills, gap, nodes)
    return job, epochs


def kill_often(job: Job, seed: int, kills: int, gap: float, nodes: Nodes | None = None) -> None:
    """Kill processes of a job, and now and then one of its ``nodes``, until it ends."""
    drawn = random.Random(seed)
    for who in ("server 0", "server 1", "worker 0", "worker 1"):
        job.pid(who)
    while len(job.killed) < kills and job.process.poll() is None:
        time.sleep(gap * drawn.uniform(0.3, 1.7))
        if nodes is not None and drawn.random() < 0.5:
            nodes.kill()
            job.killed.append("raylet")
            continue
        victims = drawn.choice(VICTIMS)
        job.kill(victims[: kills - len(job.killed)])
    job.end()


def history_of(job: Job, folder: Path) -> History:
    """What the workers of ``histories_to_launch`` did."""
    lines = job.written("HISTORY")
    head = next(line for line in lines if "workers" in line)
    path = folder / "history.jsonl"
    path.write_text("\n".join([head, *[line for line in lines if line != head]]) + "\n")
    return History.load(path)


class Nodes:
    """A Ray cluster of two nodes on this machine, of which the second can be killed and comes again.

    Attributes:
        address: for ``--address``.
    """

    def __init__(self) -> None:
        self._before = dict(os.environ)
        self._folder = tempfile.mkdtemp(prefix="nodes-")
        Path(self._folder, "ray").mkdir()
        os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_TMPDIR=self._folder)
        self._cluster = importlib.import_module("ray.cluster_utils").Cluster(
            initialize_head=True, head_node_args={**self._options(), "include_dashboard": False}
        )
        self.address = self._cluster.address
        self._second = self._cluster.add_node(**self._options())

    def _options(self) -> dict[str, Any]:
        return {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}

    def kill(self) -> None:
        """Kill the raylet of the second node, and start another node."""
        (raylet,) = self._second.all_processes["raylet"]
        os.kill(raylet.process.pid, signal.SIGKILL)
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = self._cluster.add_node(**self._options())

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)
        os.environ.clear()
        os.environ.update(self._before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kills", type=int, default=25, help="in each job")
    parser.add_argument("--gap", type=float, default=2.5, help="seconds between kills, in the mean")
    parser.add_argument("--keep", default="process")
    parser.add_argument("--nodes", action="store_true", help="on two nodes of Ray, of which one is killed, too")
    args = parser.parse_args()
    total = same = 0
    for seed in range(args.seed, args.seed + args.jobs):
        with Nodes() if args.nodes else contextlib.nullcontext() as nodes:
            job, epochs = killed_job(seed, args.kills, args.gap, options=["--keep", args.keep], nodes=nodes)
        alike = job.results == undisturbed(epochs)
        total, same = total + len(job.killed), same + alike
        raylets = f" ({job.killed.count('raylet')} of raylets)" if args.nodes else ""
        found = f"{len(job.killed)} kills{raylets} in {epochs} epochs, same end: {alike}"
        print(f"seed {seed}: {found}", job.lines[-1], flush=True)
        if not alike:
            print("\n".join(job.lines), flush=True)
    print(f"{total} kills in {args.jobs} jobs, {same} with the same end", flush=True)


if __name__ == "__main__":
    main()
