"""Trains the same networks here and in other libraries, side by side, and prints who took how long.

    python -m tests.bench --mxnet-python PATH --torch-python PATH [--devices N] [--rounds N]

Each library runs in a server process of its own; the rounds are interleaved, so that whatever else the
machine does falls on all of them alike. The tiny workloads (2 * a + b bound, and a + b called, on two numbers) show
what handing over one call costs. This never gates anything: numbers are for reading.

``python -m tests.bench.compilation`` times first calls, page by page; ``python -m tests.bench.handling`` times what
is done in Python around the operators.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")
ROOT = SERVER.parent.parent.parent
WORKLOADS = ("tiny-forward", "tiny-add", "mlp", "lenet", "resnet-20")


class Peer:
    """A library in a process of its own."""

    def __init__(self, library: str, python: str, devices: int, **environment: str) -> None:
        self.name = library
        self.command = [python, str(SERVER), library, str(devices)]
        # A CPU type forced on OpenBLAS would slow the peers down.
        kept = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
        self.environment = {**kept, "OMP_NUM_THREADS": str(devices), **environment}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the server."""
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=self.environment, stderr=subprocess.DEVNULL,
        )

    def ask(self, **request: Any) -> Any:
        """Send one request and wait for the answer."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"the {self.name} server ended: {' '.join(self.command)}")
        return json.loads(answer)

    def stop(self) -> None:
        """End the server."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def first_step(self, workload: str) -> tuple[float, float]:
        """Seconds of import, and from the start of the process to the end of its first step."""
        self.start()
        answer = self.ask(build=workload)
        answer |= self.ask(steps=1)
        self.stop()
        return answer["import"], answer["since_start"]


def measure(peers: list[Peer], workload: str, rounds: int, seconds: float) -> dict[str, float]:
    """Median seconds per step, by library."""
    counts = {}
    for peer in peers:
        peer.start()
        peer.ask(build=workload)
        peer.ask(steps=3)
        once = peer.ask(steps=3)["seconds"] / 3
        counts[peer.name] = max(1, round(seconds / once))
    samples: dict[str, list[float]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            count = counts[peer.name]
            samples[peer.name].append(peer.ask(steps=count)["seconds"] / count)
    for peer in peers:
        peer.stop()
    return {library: statistics.median(found) for library, found in samples.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--mxnet-python", help="a Python that has MXNet 1.9.1")
    parser.add_argument("--torch-python", help="a Python that has PyTorch")
    parser.add_argument("--devices", type=int, default=1, help="contexts, and threads of the peers")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one round")
    parser.add_argument("--workloads", nargs="*", default=WORKLOADS, choices=WORKLOADS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        others = {"mxnet": options.mxnet_python, "torch": options.torch_python}
        peers = [Peer("refimpl", sys.executable, options.devices)]
        peers += [Peer(n, python, options.devices) for n, python in others.items() if python]
        print(f"{'workload':12}" + "".join(f"{p.name + ' ms/step':>18}{'ratio':>8}" for p in peers))
        for workload in options.workloads:
            found = measure(peers, workload, options.rounds, options.seconds)
            ours = found["refimpl"]
            cells = (f"{1e3 * found[p.name]:18.4f}{found[p.name] / ours:8.2f}" for p in peers)
            print(f"{workload:12}" + "".join(cells), flush=True)
        print("\nratio: time of that library / time of refimpl; above 1 means that refimpl is faster")
        cold = Peer("refimpl", sys.executable, options.devices, REFIMPL_CACHE_DIR=cache)
        print(f"\n{'first step of lenet':28}{'import s':>10}{'to the end of step 1, s':>26}")
        runs = [("refimpl, cold cache", cold), ("refimpl, warm cache", cold)]
        for label, peer in [*runs, *((p.name, p) for p in peers[1:])]:
            imported, total = peer.first_step("lenet")
            print(f"{label:28}{imported:10.2f}{total:26.2f}", flush=True)


if __name__ == "__main__":
    main()
