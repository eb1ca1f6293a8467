"""Two workers and two servers on this machine, beside MXNet's: push and pull, in turn.

    python -m tests.bench.cluster --mxnet-python PATH [--rounds 3] [--keep none process disk] [--optimizer] [--module]

Each number is the median over the rounds, of medians within a round; the last columns are MXNet's time divided by ours.
This never gates anything: both share the machine with whatever else runs there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("cluster_worker.py")


def ours(keep: str, arguments: list[str]) -> dict[str, float]:
    """What a job of ours finds."""
    words = [sys.executable, "-m", "refimpl.cli", "launch", "-n", "2", "-s", "2", "--keep", keep, str(WORKER)]
    said = subprocess.run([*words, *arguments], capture_output=True, text=True, check=False)
    return _found(said.stdout, said.stderr)


def mxnets(python: str, arguments: list[str]) -> dict[str, float]:
    """What MXNet's processes find, started as its launcher does: a scheduler, servers, workers."""
    environment = {
        **os.environ, "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(random.randrange(20000, 30000)),
        "DMLC_NUM_WORKER": "2", "DMLC_NUM_SERVER": "2", "DMLC_NODE_HOST": "127.0.0.1", "CLUSTER_BENCH": "mxnet",
    }
    for name in ("OPENBLAS_CORETYPE", "PYTHONPATH"):
        environment.pop(name, None)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    others = [
        subprocess.Popen([python, "-c", "import mxnet"], env={**environment, "DMLC_ROLE": role}, **quiet)
        for role in ("scheduler", "server", "server")
    ]
    workers = [
        subprocess.Popen(
            [python, str(WORKER), *arguments], env={**environment, "DMLC_ROLE": "worker"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) for _ in range(2)
    ]
    try:
        return _found("".join(worker.communicate(timeout=300)[0] for worker in workers), "")
    finally:
        for each in (*workers, *others):
            each.kill()
            each.wait()


def _found(out: str, errors: str) -> dict[str, float]:
    for line in out.splitlines():
        if line.startswith("FOUND "):
            found = json.loads(line.removeprefix("FOUND "))
            found.pop("rank")
            return found
    raise SystemExit(f"no result:\n{out}\n{errors}")


def main() -> None:
    """Measure and print."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description=__doc__, formatter_class=form)
    parser.add_argument("--mxnet-python", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", nargs="+", default=["none", "process"])
    parser.add_argument("--optimizer", action="store_true", help="SGD with momentum on the servers")
    parser.add_argument("--module", action="store_true", help="batches of Module.fit with the parameters of ResNet-50")
    options = parser.parse_args()
    arguments = ["sgd"] if options.optimizer else ["fit"] if options.module else []
    rows: dict[str, list[dict[str, float]]] = {"MXNet": [], **{f"keep {keep}": [] for keep in options.keep}}
    for _ in range(options.rounds):
        rows["MXNet"].append(mxnets(options.mxnet_python, arguments))
        for keep in options.keep:
            rows[f"keep {keep}"].append(ours(keep, arguments))
    medians = {who: {n: statistics.median(one[n] for one in found) for n in found[0]} for who, found in rows.items()}
    print(f"{'':26}", *[f"{who:>14}" for who in rows], *[f"{'x ' + who:>16}" for who in list(rows)[1:]])
    for name, theirs in medians["MXNet"].items():
        mine = [each[name] for each in list(medians.values())[1:]]
        print(
            f"{name:26}", f"{theirs:14,.1f}", *[f"{one:14,.1f}" for one in mine],
            *[f"{theirs / one:16.2f}" for one in mine],
        )


if __name__ == "__main__":
    main()
