"""The results as Markdown: a summary, and a table for each group."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .interleaving import OURS
from .rows import GROUPS

PEERS = {"mxnet": "MXNet", "torch": "PyTorch"}
BEGIN = "<!-- written by: python -m tests.bench --write spec/records/speed.md -->"
END = "<!-- end of what is written -->"
SLOW = 1.5  # times as long as the best peer


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"
    raise AssertionError  # the last unit takes all


def best_peer(row: dict[str, Any]) -> float | None:
    """The time of the fastest peer over ours."""
    return min(row["ratio"].values()) if row.get("ratio") else None


def line(row: dict[str, Any], libraries: list[str], limited: bool = True) -> str:
    """One row of a table, with or without its fraction of the limit."""
    cells = [row["name"]]
    for name in libraries:
        value = row["median"].get(name)
        if name in row["errors"]:
            cells.append("failed")
        elif value is None:
            cells.append("")
        elif name == OURS:
            cells.append(f"{value:.0f} MB" if row["unit"] == "MB" else duration(value))
        else:
            cells.append(f"{row['ratio'][name]:.2f}" if row.get("ratio") else "")
    if limited:
        cells.append(f"{100 * row['limit']:.0f} %" if "limit" in row else "")
    return "| " + " | ".join(cells) + " |"


def tell(row: dict[str, Any]) -> None:
    """Say that a row is done, on standard error: a whole run takes minutes."""
    print(line(row, list(row["median"])), file=sys.stderr, flush=True)


def summary(found: dict[str, Any]) -> list[str]:
    """The number of slow operators, and what limits the others: arithmetic or memory."""
    peers = {row["name"]: best_peer(row) for row in found["rows"] if row["group"] == "operators"}
    compared = {name: ratio for name, ratio in peers.items() if ratio is not None}
    lines = []
    if compared:
        slow = sorted((ratio, name) for name, ratio in compared.items() if ratio < 1 / SLOW)
        faster = len([ratio for ratio in compared.values() if ratio >= 1])
        lines.append(
            f"Of {len(compared)} operator rows {faster} are at least as fast as the best peer, and {len(slow)} take"
            f" more than {SLOW} times as long{':' if slow else '.'}"
        )
        lines += [*([""] if slow else []), *(f"* {name}: {ratio:.2f}" for ratio, name in slow)]
    failed = [f"{row['name']} ({name}): {why}" for row in found["rows"] for name, why in row["errors"].items()]
    if failed:
        lines += ["", "Not measured:", "", *(f"* {each}" for each in failed)]
    return lines


def facts(found: dict[str, Any]) -> list[str]:
    """Machine, versions, date and limits."""
    versions = ", ".join(f"{PEERS.get(name, name)} {version}" for name, version in found["versions"].items())
    limits = found["limits"]
    copied = ", ".join(f"{value / 1e9:.0f} GB/s at {_bytes(int(size))}" for size, value in limits["copy"].items())
    measured = (
        f"Median of {found['rounds']} rounds, {'wall clock' if found['clock'] == 'wall' else 'processor time'};"
        f" {found['seconds'] / 60:.0f} minutes, load {found['load'][0]:.1f} before and {found['load'][1]:.1f} after."
    )
    peak = (
        f"One core: {limits['flops'] / 1e9:.0f} GF/s of FMA (the slowest of {limits['measured']} measurements in this"
        f" run saw {limits['least_flops_seen'] / 1e9:.0f}); copying one array into another reads and writes {copied}."
    )
    return [
        f"{found['date']}, {found['processor']}, {found['cores']} cores, {found['system']}. {versions}.",
        measured, *(["", peak] if limits["measured"] else []),
    ]


def _bytes(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def markdown(found: dict[str, Any]) -> str:
    """All of it."""
    lines = facts(found)
    more = summary(found)
    if more:
        lines += ["", *more]
    for group, about in GROUPS.items():
        rows = [row for row in found["rows"] if row["group"] == group]
        if not rows:
            continue
        asked = {name for row in rows for name in (*row["median"], *row["errors"])}
        libraries = [name for name in found["libraries"] if name in asked]
        limited = any("limit" in row for row in rows)
        heads = ["here" if name == OURS else f"{PEERS[name]} / here" for name in libraries]
        columns = [about.title, *heads, *(["of the limit"] if limited else [])]
        lines += ["", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        lines += [line(row, libraries, limited) for row in rows]
    return "\n".join(lines) + "\n"


def write(found: dict[str, Any], file: Path) -> None:
    """Put the tables between the two marks of a chapter. ``ValueError`` where it has no such marks."""
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{file} must have the lines {BEGIN!r} and {END!r}, in this order")
    file.write_text(f"{before}{BEGIN}\n\n{markdown(found)}\n{END}{after}", encoding="utf-8")
