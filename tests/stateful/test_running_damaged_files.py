"""Damaged files of every kind: what loads is bound and run, by processes with 4 GiB of memory and a clock.

    python -m pytest tests/stateful/test_running_damaged_files.py             200 files
    python -m pytest -m long tests/stateful/test_running_damaged_files.py     20,000 files

REFIMPL_DAMAGE_SEED is the seed of the long run. A failure names the line that runs its file again.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHARES = {"graphs": 90, "states": 45, "commands": 25, "params": 15, "data": 25}
"""Files of each kind in the default run; the long one has a hundred times as many."""
AT_ONCE = 400
"""Files for one process: a later one takes up after what brought it down."""
PATIENCE = 1800
"""Seconds for one process, whatever else the machine does; the clock inside counts processor time."""



def ends(seed: str, shares: list[str], environment: dict[str, str]) -> dict[str, dict]:
    """What became of each file, by ``KIND:NUMBER``; of one that brought the process down, how that ended."""
    command = [sys.executable, "-m", "tests.stateful.damaged_runs", seed, *shares]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )
    lines = done.stdout.splitlines()
    found = {name: json.loads(end) for name, end in zip(lines[::2], lines[1::2], strict=False)}
    if done.returncode:
        name = lines[-1] if len(lines) % 2 else "the start"
        found[name] = {"end": "failed", "error": f"exit status {done.returncode}", "trace": done.stderr[-3000:]}
    return found


def demand(seed: str, found: dict[str, dict]) -> None:
    """No file failed, and enough of them were run, so that this says something."""
    failed = {name: end for name, end in found.items() if end["end"] == "failed"}
    told = [
        f"python -m tests.stateful.damaged_runs {seed} {name}:1\n{end['error']}\n{end['trace']}"
        for name, end in list(failed.items())[:5]
    ]
    assert not failed, f"{len(failed)} of {len(found)} files failed:\n" + "\n".join(told)
    ran = collections.Counter(name.partition(":")[0] for name, end in found.items() if end["end"] == "ran")
    assert all(ran[kind] * 20 > share for kind, share in SHARES.items()), ran


@pytest.mark.clause("params-file/valid", "symbol-file/valid", "States/valid", "States/fits", "Command/attributes")
def test_damaged_files_are_refused_or_run() -> None:
    found = ends("0", [f"{kind}:0:{count}" for kind, count in SHARES.items()], {})
    assert len(found) == sum(SHARES.values())
    demand("0", found)


@pytest.mark.long
@pytest.mark.parametrize("kind", SHARES)
def test_many_damaged_files_are_refused_or_run(kind: str) -> None:
    seed, last = os.environ.get("REFIMPL_DAMAGE_SEED", "1"), 100 * SHARES[kind]
    found: dict[str, dict] = {}
    while len(found) < last:
        first = len(found)
        # every kernel looks at its indices: an access outside an array is an IndexError
        found |= ends(seed, [f"{kind}:{first}:{min(AT_ONCE, last - first)}"], {"NUMBA_BOUNDSCHECK": "1"})
        if len(found) == first:
            pytest.fail(f"nothing was run: {found}")
    demand(seed, found)
