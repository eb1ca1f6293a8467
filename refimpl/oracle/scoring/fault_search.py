"""Search implementations with a fault, one after the other, and collect the results."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from ..backends import Backend, Crashed
from ..backends.isolate import SILENCE
from ..judging.comparing import Verdict, judge
from ..judging.reference import Program
from ..programs.program import operators
from ..results import Found, Result
from ..searching import search
from .copies import faulty
from .faults import CLASSES, Fault

Row = dict[str, Any]
SHRINK_SECONDS, SHRINK_NODES = 5.0, 3
"""What shrinking should keep to."""


def score_one(fault: Fault, right: Backend, seconds: float, seed: int = 0, programs: int | None = None) -> Row:
    """Search one faulty implementation until the first finding; returns a row of results.

    A failure counts if an implementation without the fault, which otherwise runs in the same way, passes the program.
    A program without an answer in time ends the search and is not shrunk.

    Args:
        fault: the fault.
        right: a copy without a fault.
        seconds: the processor time of the search.
        seed: the seed of the search.
        programs: the largest number of programs.
    """
    row: Row = {
        "id": fault.id, "class": fault.kind, "several": fault.several, "held": fault.held, "level": fault.level,
        "seed": seed,
    }
    try:
        with faulty(fault) as wrong:
            return row | row_of(fault, hunt(wrong, right, seconds, seed, programs))
    except Silent as error:
        result = error.result
        return row | {
            "status": "killed", "seconds": round(result.seconds, 3), "programs": result.programs,
            "statuses": dict(result.statuses), "cause": str(error), "named": None,
        }
    except Crashed as error:
        cause = f"no import: {error}"[:200]
        return row | {"status": "killed", "seconds": 0.0, "programs": 0, "cause": cause, "named": False}


class _Over(Exception):
    """The time of a search is over."""


class Silent(Exception):
    """A program that the right implementation passes got no answer in time; shrinking it would take hours."""

    def __init__(self, result: Result, text: str) -> None:
        super().__init__(text)
        self.result = result


def hunt(wrong: Backend, right: Backend, seconds: float, seed: int = 0, programs: int | None = None) -> Result:
    """Search ``wrong`` for one cause that ``right`` does not show; see :func:`score_one`.

    Returns:
        the finding, and its time before its program was shrunk. Times are processor time, of this process and that of
        ``wrong`` together, as on a machine without other load.

    Raises:
        Silent: ``wrong`` did not answer a program in time.
    """
    clock = _clock(wrong)
    began, first, last = clock(), [0.0], [Result()]

    def also_right(program: Program, verdict: Verdict) -> bool:
        first[0] = clock() - began
        if judge(right, program).status == "failed":
            return True
        if verdict.reason.startswith(SILENCE):
            last[0].seconds, last[0].programs = clock() - began, max(last[0].programs, 1)
            raise Silent(last[0], verdict.reason)
        return False

    def note(result: Result, found: Found | None) -> None:
        last[0] = result
        if found is None and clock() - began > seconds:
            raise _Over

    with suppress(_Over):
        search(
            wrong, seed=seed, programs=programs, level=wrong.capabilities.level, most=1, expected=also_right, note=note,
            explain=False,
        )
    result = last[0]
    result.seconds = clock() - began
    for found in result.found:
        found.seconds = first[0]
    return result


def _clock(backend: Backend) -> Callable[[], float]:
    """Seconds of processor time of this process, of its ended child processes, and of a backend's process."""

    def now() -> float:
        ended = os.times()
        live = sum(map(_processor_time, getattr(backend, "processes", ())))
        return time.process_time() + ended.children_user + ended.children_system + live

    return now if hasattr(time, "clock_gettime") and sys.platform == "linux" else time.monotonic


def _processor_time(process: int) -> float:
    """Seconds of processor time of another process; 0 where it has just ended."""
    try:
        return time.clock_gettime((~process << 3) | 2)  # the number of its clock, as clock_getcpuclockid computes it
    except OSError:
        return 0.0


def row_of(fault: Fault, result: Result) -> Row:
    """The result of a search for a fault.

    ``seconds`` go to the first counter-example (or to the end), ``shrinking`` from there to its cause; ``named`` says
    whether the suspected operator is one of the fault's, None for a fault that is in no operator; ``statuses``
    counts programs.
    """
    row: Row = {
        "status": "killed" if result.found else "survived", "seconds": round(result.seconds, 3),
        "programs": result.programs, "statuses": dict(result.statuses),
    }
    if not result.found:
        return row
    found = result.found[0]
    suspects = found.cause.operator.split("+")
    return row | {
        "seconds": round(found.seconds, 3), "shrinking": round(result.seconds - found.seconds, 3),
        "cause": str(found.cause), "named": bool(set(suspects) & set(fault.operators)) if fault.operators else None,
        "nodes": len(operators(found.program)), "number": found.number,
    }


def score(
    given: Sequence[Fault], results: Path, seconds: float = 60.0, seed: int = 0,
    note: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Search for each given fault that a file of results lacks, and append its row.

    Args:
        given: the faults.
        results: a file of JSON lines. Several processes may append to one.
        seconds: the processor time of each search.
        seed: the seed of the searches.
        note: called with every new row.

    Returns:
        the rows of the given faults, old and new.

    Raises:
        ValueError: a line of the file is no row of results.
    """
    known = {row["id"]: row for row in read(results)}
    missing = [fault for fault in given if fault.id not in known]
    if missing:
        with faulty(None) as right:
            for fault in missing:
                row = known[fault.id] = score_one(fault, right, seconds, seed)
                append(results, row)
                if note is not None:
                    note(row)
    return [known[fault.id] for fault in given]


def append(results: Path, row: Row) -> None:
    """Add a row to a file in one write, which lines of other processes do not cut in two.

    A line break ends a line that a killed process may have left unfinished.
    """
    torn = results.exists() and not results.read_bytes().endswith(b"\n") and results.stat().st_size > 0
    descriptor = os.open(results, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, b"\n" * torn + json.dumps(row).encode() + b"\n")
    finally:
        os.close(descriptor)


def read(results: Path) -> list[Row]:
    """The rows of a file of results, none where there is no file; incomplete lines are skipped.

    Raises:
        ValueError: the file holds something else.
    """
    if not results.exists():
        return []
    rows = []
    for number, line in enumerate(results.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("{"):
            raise ValueError(f"{results}, line {number}: no row of results")
        if not line.endswith("}"):
            continue
        try:
            row = json.loads(line)
            row["id"], row["status"], row["class"], row["seconds"]
        except (ValueError, KeyError) as error:
            raise ValueError(f"{results}, line {number}: no row of results ({error!r})") from error
        rows.append(row)
    return rows


def text_of(row: Row) -> str:
    """A row in one line."""
    took = f"after {row['seconds']:.1f} s and {row['programs']} programs"
    return f"{row['id']}: {row['status']} {took}: {row.get('cause', 'nothing found')}"


def summary(rows: Iterable[Row]) -> str:
    """The table of a score: killed by class, with times, how small programs got, the slowest, and who survived."""
    rows = list(rows)
    lines = ["class          killed        median s   operator named   nodes (median)"]
    for kind in (*CLASSES, "several", ""):
        own = [row for row in rows if kind in (row["class"], "") or (kind == "several" and row["several"])]
        if own:
            lines.append(_line(kind or "all", own))
    survived = [row for row in rows if row["status"] == "survived"]
    lines += [*_shrinking(rows), *_slowest(rows), ""]
    lines += [f"survived {row['id']}: {row['programs']} programs, {row.get('statuses')}" for row in survived]
    return "\n".join(lines).rstrip()


def _shrinking(rows: Sequence[Row]) -> list[str]:
    """How many programs were shrunk as fast and as far as they should be."""
    shrunk = [row for row in rows if "shrinking" in row]
    if not shrunk:
        return []
    fast = sum(row["shrinking"] <= SHRINK_SECONDS for row in shrunk)
    small = sum(row["nodes"] <= SHRINK_NODES for row in shrunk)
    return ["", (
        f"shrunk within {SHRINK_SECONDS:g} s: {fast}/{len(shrunk)}; "
        f"to at most {SHRINK_NODES} operators: {small}/{len(shrunk)}"
    )]


def _slowest(rows: Sequence[Row]) -> list[str]:
    """The tenth that took longest, with their seeds."""
    killed = sorted((row for row in rows if row["status"] == "killed"), key=lambda row: -row["seconds"])
    worst = killed[: len(rows) // 10]
    lines = [f"slow {row['id']}: {row['seconds']:.1f} s, seed {row.get('seed', 0)}" for row in worst]
    return ["", *lines] if lines else []


def _line(name: str, own: Sequence[Row]) -> str:
    killed = [row for row in own if row["status"] == "killed"]
    share = f"{len(killed)}/{len(own)} {len(killed) / len(own):.0%}"
    times = f"{median(row['seconds'] for row in killed):.2f}" if killed else "-"
    named = [row["named"] for row in killed if row.get("named") is not None]
    right = f"{sum(named)}/{len(named)}" if named else "-"
    sizes = [row["nodes"] for row in killed if "nodes" in row]
    return f"{name:14} {share:13} {times:10} {right:16} {f'{median(sizes):g}' if sizes else '-'}"
