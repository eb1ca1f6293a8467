"""Let each call of a scenario fail in each way that it can, or the power go at each moment of it.

    python -m tests.faults.enumerate [--power] [NAME...] [--only=CALL,FAULT]

The process imports the package once and runs each scenario to warm it up; each fault then starts from a fork of it.
A line of JSON tells each fault that broke a promise, and how to see it again; a last line for each scenario has counts.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .power import Disk, Image, images, recorded
from .scenario import Left, Scenario, Told, broken
from .system_calls import FAULTS, Call, during, library, spelled

PATIENCE = 20
"""Seconds after which an act waits without bound."""


def enumerated(scenario: Scenario, only: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """For each call and each fault that it can meet: where, what, and the promises that broke."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        old, new, calls = _faultless(scenario, base)
        for call in once_a_file(calls):
            for how in FAULTS[call.kind]:
                if only in (None, [str(call.number), spelled(how)]):
                    found = _forked(lambda call=call, how=how: _faulty(scenario, base, call, how, old, new))
                    which = f"{call.number},{spelled(how)}"
                    yield {
                        "scenario": scenario.name, "kind": call.kind, "file": call.name.replace(str(base), ""),
                        "fault": spelled(how), "broken": found,
                        "again": f"python -m tests.faults.enumerate '{scenario.name}' --only={which}",
                    }


def without_power(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """For each image that the disk may hold after the power went: the promises that broke."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        old, new, _ = _faultless(scenario, base)
        folder = _fresh(scenario, base)
        before = Disk(folder)
        changes = recorded(lambda: scenario.act(folder), folder)
        for image in images(before, changes):
            last = changes[image.done - 1] if image.done else None
            yield {
                "scenario": scenario.name, "done": image.done, "last": f"{last.kind} {last.name}" if last else "",
                "without": image.without,
                "broken": _forked(lambda image=image: _after(scenario, folder, image, len(changes), old, new)),
            }


def _after(scenario: Scenario, folder: Path, image: Image, count: int, old: Any, new: Any) -> list[str]:
    shutil.rmtree(folder)
    folder.mkdir()
    image.disk.write(folder)
    try:
        seen = scenario.seen(folder)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told
        if getattr(error, "clause", None) in scenario.refused and (image.done < count or not scenario.durable):
            return []
        return [f"what is there cannot be read: {type(error).__name__}: {error}"]
    if image.done == count and scenario.durable:
        return [] if seen == new else ["what was done is lost"]
    return [] if seen in (old, new) or scenario.between(seen, new) else ["it is neither the old nor the new"]


def once_a_file(calls: list[Call]) -> list[Call]:
    """The calls that are tried: of the reads, states and closings of one file the first and the last."""
    alike: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        alike.setdefault((call.kind, call.name), []).append(call)
    chosen = set()
    for (kind, _), some in alike.items():
        chosen |= {some[0], some[-1]} if kind in ("read", "stat", "fstat", "close") else set(some)
    return [call for call in calls if call in chosen]


def _fresh(scenario: Scenario, base: Path) -> Path:
    folder = base / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    scenario.prepare(folder)
    return folder


def _faultless(scenario: Scenario, base: Path) -> tuple[Any, Any, list[Call]]:
    scenario.act(_fresh(scenario, base))  # warm: kernels compiled, modules imported
    folder = _fresh(scenario, base)
    old = scenario.seen(folder) if scenario.changes else None
    got: list[Any] = []
    calls = during(lambda: got.append(scenario.act(folder)))
    gc.collect()
    gc.freeze()  # so that a child looks through its own objects only
    return old, scenario.seen(folder) if scenario.changes else got[0], calls


def _faulty(scenario: Scenario, base: Path, call: Call, how: int, old: Any, new: Any) -> list[str]:
    folder = _fresh(scenario, base)
    before, error, got = Left.now(folder), None, []
    try:
        during(lambda: got.append(scenario.act(folder)), call.number, how)
    except BaseException as raised:  # noqa: BLE001  # whatever it is, it is told
        error = Told(type(raised).__name__, str(raised), getattr(raised, "clause", None))
    gc.collect()  # the error held what was open where it was raised
    found = broken(scenario, folder, error, call, how, old, new, before, got[0] if got else None)
    try:
        again = scenario.act(folder)
        if (scenario.seen(folder) if scenario.changes else again) != new:
            found.append("the same call, made again, does not do what it should")
        left = Left.now(folder)
        found += [f"it leaves {name}" for name in sorted(left.files) if ".part" in name]
    except Exception as raised:  # noqa: BLE001  # whatever it is, it is told
        found.append(f"the same call, made again, fails: {type(raised).__name__}: {raised}")
    return found


def _forked(act: Any) -> list[str]:
    """What ``act`` returns in a fork of this process."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        try:
            told = act()
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is told
            told = [f"the check itself failed: {type(error).__name__}: {error}"]
        os.write(writes, json.dumps(told).encode()[:60000])
        os._exit(0)
    os.close(writes)
    ready, _, _ = select.select([reads], [], [], PATIENCE)
    if not ready:
        os.kill(child, signal.SIGKILL)
    content = b"" if not ready else os.read(reads, 1 << 16)
    os.close(reads)
    _, status = os.waitpid(child, 0)
    if not ready:
        return ["it waits without bound"]
    return json.loads(content) if content else [f"the process ended with {status}"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What the command prints, from a process of its own into which the library is loaded first."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "LD_PRELOAD": str(library(Path(folder)))}
        command = [sys.executable, "-m", "tests.faults.enumerate", "--loaded", *arguments]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def results(*arguments: str) -> tuple[list[dict[str, Any]], dict[str, Counter[str]]]:
    """(the faults that broke a promise, how many of each scenario held and broke)."""
    done = run(*arguments)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not lines:
        raise RuntimeError(done.stdout + done.stderr)
    ends = [line for line in lines if "held" in line]
    counts = {line["scenario"]: Counter({"held": line["held"], "broken": line["failed"]}) for line in ends}
    return [line for line in lines if "broken" in line], counts


def main() -> None:
    if "--loaded" not in sys.argv:
        done = run(*sys.argv[1:])
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        raise SystemExit(done.returncode)
    from .scenarios import CARELESS, SCENARIOS

    os.environ.pop("LD_PRELOAD", None)
    options = [each for each in sys.argv[2:] if each.startswith("--")]
    chosen = [each for each in sys.argv[2:] if each not in options] or list(SCENARIOS)
    only = next((each.removeprefix("--only=").split(",") for each in options if each.startswith("--only=")), None)
    failed = False
    for name in chosen:
        scenario, counts = {**SCENARIOS, **CARELESS}[name], Counter[str]()
        for line in without_power(scenario) if "--power" in options else enumerated(scenario, only):
            counts["failed" if line["broken"] else "held"] += 1
            if line["broken"]:
                print(json.dumps(line), flush=True)
        print(json.dumps({"scenario": name, "held": counts["held"], "failed": counts["failed"]}), flush=True)
        failed |= counts["failed"] > 0
    raise SystemExit(failed)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
