"""The causes in files ``results.json``, and root causes: those that have one mechanism, as ``causes.gathered`` says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .explaining.causes import Cause
from .judging.reference import Program
from .programs.program import check_program

Results = dict[str, Any]


class Entry(NamedTuple):
    """One cause in one file."""

    cause: Cause
    program: Program
    clause: str
    reason: str
    seconds: float
    number: int
    file: str
    operator: str = ""
    """The first wrong operator, where one was located."""
    wrong: tuple[tuple[float, float], ...] = ()
    """Some wrong numbers: what came and what is right."""
    passes: tuple[str, ...] = ()
    """Changes with which the program passes."""
    fails: tuple[str, ...] = ()
    """Changes with which it fails too."""


class Root(NamedTuple):
    """One root cause: a mechanism, and each distinct cause that has it, with its smallest program."""

    mechanism: tuple[str, ...]
    entries: list[Entry]


def read(path: Path) -> Results:
    """A file results.json.

    Raises:
        ValueError: it holds no results; the message names it.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        entries_of(data, str(path))
        for name in ("programs", "seconds", "covered"):
            data[name]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no results: {error}") from error
    return dict(data)


def entries_of(data: Results, file: str = "") -> list[Entry]:
    """The causes of one file, in the order in which they were found.

    Raises:
        KeyError, TypeError, ValueError: these are no results.
    """
    return [
        Entry(
            Cause(**each["cause"]), check_program(each["program"]), each.get("clause", ""), each["reason"],
            float(each["seconds"]), int(each["number"]), file, (each.get("where") or {}).get("operator", ""),
            tuple((float(got), float(right)) for got, right in each.get("wrong", ())),
            *(tuple(each.get("neighbours", {}).get(kind, ())) for kind in ("passes", "fails")),
        )
        for each in data["found"]
    ]


def roots(results: Iterable[Results]) -> list[Root]:
    """Root causes of several files, in the order in which they were first seen.

    Args:
        results: the content of files.
    """
    entries = [entry for data in results for entry in entries_of(data, data.get("file", ""))]
    found: dict[tuple[str, ...], dict[Cause, Entry]] = {}
    for entry in sorted(entries, key=lambda each: each.seconds):
        alike = found.setdefault(entry.cause.mechanism, {})
        known = alike.get(entry.cause)
        if known is None or _size(entry.program) < _size(known.program):
            alike[entry.cause] = entry if known is None else entry._replace(seconds=known.seconds)
    return [Root(mechanism, list(alike.values())) for mechanism, alike in found.items()]


def _size(program: Program) -> tuple[int, int]:
    return len(program.get("nodes", [])), len(json.dumps(program))
