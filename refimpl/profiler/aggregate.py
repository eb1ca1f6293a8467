"""Sums as text: the table and the JSON that ``mx.profiler.dumps`` returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from ..base import decides
from .recorder import Recorder, Sums

_KEYS: dict[str, Callable[[Sums], float]] = {
    "total": lambda s: s.total, "avg": lambda s: s.average, "min": lambda s: s.least,
    "max": lambda s: s.greatest, "count": lambda s: s.count,
}
_TIME = ("Name", "Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
_VALUE = ("Name", "Total Count", "Min Value", "Max Value", "Avg Value")


def _sorted(group: dict[str, Sums], sort_by: str, ascending: bool) -> list[tuple[str, Sums]]:
    return sorted(group.items(), key=lambda item: _KEYS[sort_by](item[1]), reverse=not ascending)


def _row(fields: Sequence[str]) -> str:
    return f"{fields[0]:<25}{fields[1]:>16}" + "".join(f" {field:>16}" for field in fields[2:])


def _section(title: str, heads: Sequence[str], rows: list[tuple[str, Sums]], timed: bool) -> Iterator[str]:
    yield title
    yield "================="
    yield _row(heads)
    yield _row(["-" * len(head) for head in heads])
    for name, sums in rows:
        values = [*([sums.total] if timed else []), sums.least, sums.greatest, sums.average]
        yield _row([name, str(sums.count), *[f"{value:.4f}" for value in values]])
    yield ""


@decides("Profiler/table")
def as_table(found: Recorder, sort_by: str, ascending: bool) -> str:
    """One section per category: times in milliseconds, counters in their own unit."""
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    sections: list[tuple[str, Sequence[str], dict[str, Sums], bool]] = []
    sections += [(name, _TIME, group, True) for name, group in found.times.items()]
    sections += [(f"{name},counter", _VALUE, group, False) for name, group in found.counters.items()]
    for title, heads, group, timed in sorted(sections, key=lambda section: section[0]):
        lines += _section(title, heads, _sorted(group, sort_by, ascending), timed)
    return "\n".join(lines) + "\n"


def _entry(sums: Sums, timed: bool) -> dict[str, float]:
    """Sums under MXNet's names."""
    found: dict[str, float] = {"Count": sums.count}
    if timed:
        found["Total"] = round(sums.total, 6)
    return {**found, "Min": round(sums.least, 6), "Max": round(sums.greatest, 6), "Avg": round(sums.average, 6)}


@decides("Profiler/table")
def as_json(found: Recorder, sort_by: str, ascending: bool) -> str:
    """The same sums for a program: ``{"Time": {category: {name: {...}}}, ...}``."""
    tables: dict[str, tuple[dict[str, dict[str, Sums]], bool]] = {
        "Time": (found.times, True), "Memory": ({}, False), "Counter": (found.counters, False),
    }
    text: dict[str, object] = {
        title: {
            category: {name: _entry(sums, timed) for name, sums in _sorted(group, sort_by, ascending)}
            for category, group in sorted(table.items())
        }
        for title, (table, timed) in tables.items()
    }
    text["Unit"] = {"Time": "ms", "Memory": "kB"}
    return json.dumps(text, indent=4)
