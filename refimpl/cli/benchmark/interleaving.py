"""Asks the libraries for the same work in turn, so that other load of the machine slows all of them alike."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import machine
from .rows import GROUPS, ROWS, Group, Row

SERVER = Path(__file__).with_name("library_process.py")
PACKAGE = SERVER.parents[2]
OURS = "refimpl"
FIRST = next(number for number, row in enumerate(ROWS) if row.name == "lenet, one context")

Note = Callable[[dict[str, Any]], None]


class Wanted(NamedTuple):
    """The rows to be measured, and how."""

    groups: tuple[str, ...]
    pythons: dict[str, str]
    """Library -> its Python; ``refimpl`` is always one."""
    rounds: int = 5
    clock: str = "wall"
    """``cpu`` where the machine is busy; rows of several threads are measured by the wall all the same."""
    only: str = ""
    """Rows whose name has this in it."""
    most: int = 0
    """All sizes are at most this, unless it is 0: for trying out."""


class RowFailed(Exception):
    """A row that one library could not do."""


class Library:
    """A library in a process of its own."""

    def __init__(self, name: str, python: str, threads: int, environment: dict[str, str]) -> None:
        # A processor type that is forced on OpenBLAS would slow the others down, and our packages are not theirs.
        kept = {key: value for key, value in os.environ.items() if key not in {"OPENBLAS_CORETYPE", "PYTHONPATH"}}
        kept["OMP_NUM_THREADS"] = str(threads)
        if name == OURS:
            kept["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.name = name
        self.process = subprocess.Popen(  # noqa: S603  # the user's own Python
            [python, str(SERVER), name, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**kept, **environment}, stderr=subprocess.DEVNULL,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RowFailed("the process ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RowFailed(answer["error"])
        return answer

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Libraries:
    """The processes of one group; they are replaced where a row needs other threads or a fresh process."""

    def __init__(self, wanted: Wanted, group: Group) -> None:
        self.wanted, self.group = wanted, group
        self.threads = 0
        self.running: dict[str, Library] = {}

    def of(self, row: Row) -> dict[str, Library]:
        """The libraries for a row."""
        if self.group.fresh or row.threads != self.threads:
            self.stop()
        self.threads = row.threads
        for name, python in self.wanted.pythons.items():
            if name not in self.running:
                environment = {} if name == OURS else self.group.environment
                self.running[name] = Library(name, python, row.threads, environment)
        return dict(self.running)

    def drop(self, name: str) -> None:
        """Forget a library whose process may be damaged; the next row starts it anew."""
        self.running.pop(name).stop()

    def stop(self) -> None:
        """End all processes."""
        for name in list(self.running):
            self.drop(name)


def _clock(wanted: Wanted, row: Row) -> str:
    several = row.threads > 1 or row.numbers.get("contexts", 1) > 1
    return "wall" if several else wanted.clock


def measure(number: int, libraries: Libraries, wanted: Wanted) -> dict[str, Any]:
    """One row in all libraries: medians of the rounds, seconds for one item (or megabytes)."""
    row, group = ROWS[number], GROUPS[ROWS[number].group]
    found: dict[str, Any] = {"group": row.group, "name": row.name, "unit": group.unit, "errors": {}}
    found["contexts"] = row.numbers.get("contexts", 1)
    clock = _clock(wanted, row)
    counts: dict[str, int] = {}
    samples: dict[str, list[float]] = {}
    items: dict[str, int] = {}

    def attempt(library: Library, work: Callable[[Library], None]) -> None:
        try:
            work(library)
        except RowFailed as error:
            found["errors"][library.name] = str(error)
            counts.pop(library.name, None)
            samples.pop(library.name, None)
            libraries.drop(library.name)

    def begin(library: Library) -> None:
        made = library.ask(build=number, most=wanted.most)
        if made.get("absent"):
            return
        first = library.ask(steps=1)
        if library.name == OURS:
            found.update(flops=made["flops"], bytes=made["bytes"])
        items[library.name] = made["items"]
        if "value" in first:
            samples[library.name] = [first["value"]]
        else:
            library.ask(steps=1)  # the second step may be recorded, which takes longer than a later one
            counts[library.name] = max(1, round(group.seconds / library.ask(steps=1)["wall"]))
            samples[library.name] = []

    def once(library: Library) -> None:
        count = counts[library.name]
        samples[library.name].append(library.ask(steps=count)[clock] / count / items[library.name])

    present = libraries.of(row)
    for library in present.values():
        attempt(library, begin)
    for _ in range(wanted.rounds):
        for name in list(counts):
            attempt(present[name], once)
    found["median"] = {name: statistics.median(each) for name, each in samples.items()}
    found["least"] = {name: min(each) for name, each in samples.items()}
    if "flops" in found and not any((found["flops"], found["bytes"])):
        del found["flops"], found["bytes"]
    return found


def starting(name: str, wanted: Wanted) -> dict[str, Any]:
    """A row about whole processes: seconds of import, or until the end of a first step."""
    found: dict[str, Any] = {"group": "start", "name": name, "unit": "s", "errors": {}}
    samples: dict[str, list[float]] = {}
    cold, importing = "no compiled" in name, name.startswith("import")
    libraries = list(wanted.pythons) if name == "import" or not (cold or importing) else [OURS]
    with tempfile.TemporaryDirectory() as cache:
        def once(library: str) -> float:
            if name == "import of Numba alone":
                return _import_of_numba(wanted.clock)
            environment = {"REFIMPL_CACHE_DIR": cache} if library == OURS and not importing else {}
            process = Library(library, wanted.pythons[library], 1, environment)
            try:
                if not importing:
                    process.ask(build=FIRST, most=wanted.most)
                    process.ask(steps=1)
                answer = process.ask(about=1)
            finally:
                process.stop()
            return float(answer["import" if importing else "since_start"][wanted.clock])

        if not cold:
            once(OURS)  # bytecode and kernels are written
        for _ in range(1 if cold else min(wanted.rounds, 3)):
            for library in libraries:
                try:
                    samples.setdefault(library, []).append(once(library))
                except RowFailed as error:
                    found["errors"][library] = str(error)
    found["median"] = {library: statistics.median(each) for library, each in samples.items() if each}
    found["least"] = {library: min(each) for library, each in samples.items() if each}
    return found


def _import_of_numba(clock: str) -> float:
    now = {"wall": "perf_counter", "cpu": "process_time"}[clock]
    code = f"import time; began = time.{now}(); import numba; print(time.{now}() - began)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)  # noqa: S603


def numbers(wanted: Wanted) -> Iterable[int]:
    """The rows that are wanted, in the order of the groups."""
    chosen = [n for n, row in enumerate(ROWS) if row.group in wanted.groups and wanted.only in row.name]
    order = list(GROUPS)
    return sorted(chosen, key=lambda n: (order.index(ROWS[n].group), ROWS[n].threads))  # else as they stand


def run(wanted: Wanted, note: Note) -> dict[str, Any]:
    """Measure; ``note`` is called with each finished row. Returns the content of the JSON file."""
    began = time.perf_counter()
    found: dict[str, Any] = {
        **machine.described(), "rounds": wanted.rounds, "clock": wanted.clock, "rows": [],
        "libraries": list(wanted.pythons),
    }
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    limits = machine.Limits()
    for name, python in wanted.pythons.items():
        if name != OURS:
            library = Library(name, python, 1, {})
            try:
                found["versions"][name] = library.ask(about=1)["version"]
            except RowFailed as error:
                sys.exit(f"{python} cannot import {name}: {error}")
            finally:
                library.stop()
    chosen = list(numbers(wanted))
    for group in dict.fromkeys(ROWS[number].group for number in chosen):
        limits.measure()
        libraries = Libraries(wanted, GROUPS[group])
        try:
            for number in chosen:
                if ROWS[number].group != group:
                    continue
                start = ROWS[number].family is None
                row = starting(ROWS[number].name, wanted) if start else measure(number, libraries, wanted)
                _judge(row, limits, found["cores"])
                found["rows"].append(row)
                note(row)
        finally:
            libraries.stop()
    limits.measure()
    for row in found["rows"]:
        _judge(row, limits, found["cores"])  # with the best that was seen of the machine
    found.update(
        limits=limits.described(), load=[load, os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0],
        seconds=time.perf_counter() - began,
    )
    return found


def _judge(row: dict[str, Any], limits: machine.Limits, cores: int) -> None:
    """Add ratios to peers, and the fraction of the peak of the cores that the row's contexts may use."""
    ours = row["median"].get(OURS)
    if not ours:
        return
    row["ratio"] = {name: each / ours for name, each in row["median"].items() if name != OURS}
    if limits.seen and (row.get("flops") or row.get("bytes")):
        row["limit"] = limits.seconds(row["flops"], row["bytes"]) / ours / min(row["contexts"], cores)
