"""The findings of several searches, from their results.json alone: root causes, rows for oracle.toml, saturation.

Causes are clustered by their mechanism, as ``causes.gathered`` does while a search runs, so that a cluster can be
derived again from the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import coverage
from .explaining.causes import ANY, Cause
from .judging.reference import Program
from .programs.program import check_program, name_of, operators
from .stored import store
from .traits import pattern_of

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
            float(each["seconds"]), int(each["number"]), file,
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


def saturation(results: Sequence[Results]) -> list[tuple[float, int, int, int]]:
    """When causes were first seen: rows of seconds, programs until then, causes, root causes.

    Files are shards that ran side by side, each at an even speed: their programs up to a time are summed.

    Args:
        results: the content of files.
    """
    entries = sorted((e for data in results for e in entries_of(data)), key=lambda each: each.seconds)
    causes: set[Cause] = set()
    mechanisms: set[tuple[str, ...]] = set()
    rows = []
    for entry in entries:
        before = len(causes)
        causes.add(entry.cause)
        mechanisms.add(entry.cause.mechanism)
        if len(causes) > before:
            rows.append((entry.seconds, _programs_until(results, entry.seconds), len(causes), len(mechanisms)))
    end = max((data["seconds"] for data in results), default=0.0)
    rows.append((end, sum(data["programs"] for data in results), len(causes), len(mechanisms)))
    return rows


def _programs_until(results: Sequence[Results], seconds: float) -> int:
    shares = (min(seconds / data["seconds"], 1.0) if data["seconds"] else 1.0 for data in results)
    return round(sum(data["programs"] * share for data, share in zip(results, shares, strict=True)))


def rows(found: Iterable[Root], folder: Path | None = None) -> list[str]:
    """A row for oracle.toml for each distinct cause, as text.

    Args:
        found: root causes.
        folder: where to store the smallest program of each, which the row then names; none is stored without.
    """
    texts = []
    for root in found:
        for entry in root.entries:
            cause = entry.cause
            names = operators(entry.program)
            operator = cause.operator if cause.operator in names else ""
            several = cause.operator != ANY and (len(set(names)) > 1 or not names)
            traits = sorted(pattern_of(entry.program)) if several and entry.program["level"] < 7 else ()
            fields: dict[str, Any] = {
                "id": name_of(entry.program), "operator": operator,
                "traits": traits, "trace": cause.place, "requirement": cause.requirement.partition(" ")[0],
                "consumers": 7 if cause.consumers == "many" else "",
                "reason": cause.look or str(cause), "clause": entry.clause,
            }
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                told = {"reason": entry.reason, "clause": entry.clause, "found": entry.file}
                fields["example"] = store(folder, entry.program, **told).as_posix()
            lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if value]
            texts.append("\n".join(["[[expected]]", *lines]))
    return texts


def report(results: Sequence[Results], folder: Path | None = None) -> str:
    """Root causes, rows for oracle.toml, saturation and coverage: a text that is itself a valid oracle.toml.

    Args:
        results: the content of files.
        folder: see :func:`rows`.
    """
    found = roots(results)
    lines = [*(f"{text}\n" for text in rows(found, folder))]
    count = sum(len(root.entries) for root in found)
    lines.append(f"# {count} causes in {len(results)} files, {len(found)} root causes")
    for root in found:
        names = sorted({entry.cause.operator for entry in root.entries})
        first = root.entries[0]
        told = f"{len(root.entries)} causes in {', '.join(names)[:200]}"
        lines.append(f"# root cause: {first.cause}; {told}; {first.clause}")
    lines.append("# saturation: seconds, programs, causes, root causes")
    lines += ["# {:9.1f} {:9d} {:5d} {:5d}".format(*row) for row in saturation(results)]
    covered = [tuple(row[:-1]) for data in results for row in data["covered"]]
    lines += [f"# covered: {line}" for line in coverage.table(covered)]
    return "\n".join(lines)
