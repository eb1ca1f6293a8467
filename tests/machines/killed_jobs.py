"""Launches jobs and kills their processes: ``python -m tests.machines.killed_jobs --seed 1 --kills 25``."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import refimpl as mx

from . import training_to_launch

SCRIPT = Path(training_to_launch.__file__)
VICTIMS = [
    ["worker 0"], ["worker 1"], ["server 0"], ["server 1"], ["worker 0", "server 1"], ["worker 0", "worker 1"],
    ["server 0", "server 1"],
]
_RUNS = re.compile(r"((?:worker|server) \d+) .*process (\d+)")


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

    @property
    def results(self) -> list[Any]:
        """What the workers print at the end, by rank."""
        return sorted(json.loads(line.partition(" ")[2]) for line in self.lines if line.startswith("RESULT "))


def undisturbed(epochs: int) -> list[Any]:
    """What workers of a simulated cluster end with."""
    return mx.kv.simulate(2, 2, faults=False).run(lambda: training_to_launch.train(epochs, 0.0), kind=None)


def killed_job(seed: int, kills: int, gap: float, batch: float = 0.02, options: Sequence[str] = ()) -> tuple[Job, int]:
    """A job in which processes are killed again and again, and how many epochs it trained."""
    epochs = max(2, int(kills * gap / (10 * batch)))
    job, drawn = Job([SCRIPT, str(epochs), str(batch)], options), random.Random(seed)
    for who in ("server 0", "server 1", "worker 0", "worker 1"):
        job.pid(who)
    while len(job.killed) < kills and job.process.poll() is None:
        time.sleep(gap * drawn.uniform(0.3, 1.7))
        victims = drawn.choice(VICTIMS)
        job.kill(victims[: kills - len(job.killed)])
    job.end()
    return job, epochs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kills", type=int, default=25, help="in each job")
    parser.add_argument("--gap", type=float, default=2.5, help="seconds between kills, in the mean")
    parser.add_argument("--keep", default="process")
    args = parser.parse_args()
    total = same = 0
    for seed in range(args.seed, args.seed + args.jobs):
        job, epochs = killed_job(seed, args.kills, args.gap, options=["--keep", args.keep])
        alike = job.results == undisturbed(epochs)
        total, same = total + len(job.killed), same + alike
        print(f"seed {seed}: {len(job.killed)} kills in {epochs} epochs, same end: {alike}", job.lines[-1], flush=True)
        if not alike:
            print("\n".join(job.lines), flush=True)
    print(f"{total} kills in {args.jobs} jobs, {same} with the same end", flush=True)


if __name__ == "__main__":
    main()
