"""The findings of several searches, from their results.json alone: mechanisms, rows for oracle.toml, saturation.

Causes of one mechanism are one root cause (``triage_entries``); root causes of several operators may have one mechanism
too (``mechanisms``). Both are derived from the files, so that they can be derived again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import coverage
from .explaining.causes import ANY, Cause
from .mechanisms import mechanisms
from .programs.program import name_of, operators
from .stored import store
from .traits import pattern_of
from .triage_entries import Results, Root, entries_of, read, roots


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
    ran: Counter[str] = Counter()
    for data in results:
        for name, *_, programs in data["covered"]:
            ran[name] += programs
    merged = mechanisms(found, ran)
    lines.append(f"# {count} causes in {len(results)} files, {len(merged)} root causes")
    for each in merged:
        entries = [entry for root in each.roots for entry in root.entries]
        clauses = dict.fromkeys(entry.clause for entry in entries if entry.clause)
        names = ", ".join(each.operators)[:200]
        told = f"{len(entries)} causes in {names}; {', '.join(clauses)}"
        lines.append(f"# root cause: {each.text or entries[0].cause}; {told}")
    lines.append("# saturation: seconds, programs, causes, root causes")
    lines += ["# {:9.1f} {:9d} {:5d} {:5d}".format(*row) for row in saturation(results)]
    covered = [tuple(row[:-1]) for data in results for row in data["covered"]]
    lines += [f"# covered: {line}" for line in coverage.table(covered)]
    return "\n".join(lines)


__all__ = ["read", "report", "roots", "rows", "saturation"]
