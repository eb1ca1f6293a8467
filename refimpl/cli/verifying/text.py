"""What ``refimpl verify`` found, as text of at most 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...base import printable
from ...rules import rules
from .report import Data

_WIDTH = 80
_MOST = 8


def lines(found: Data) -> Iterator[str]:
    """The report in lines."""
    counts = Counter(row["verdict"] for row in found["outputs"])
    compared = counts["equal"] + counts["differs"] + counts["shape"]
    yield from _wrapped(f"{found['prefix']} against {found['reference']}: {compared} outputs of layers compared", "")
    for verdict, what in (("absent", "not in the reference"), ("skipped", "cannot be computed alone")):
        if counts[verdict]:
            yield from _wrapped(f"{what}: {_some([r['name'] for r in found['outputs'] if r['verdict'] == verdict])}")
    if found["unknown"]:
        yield from _wrapped(f"in the reference but not in the graph: {_some(found['unknown'])}")
    if found["first"] is None:
        yield from _wrapped("no layer differs by more than rounding", "")
        return
    yield from _first(found["first"], [row for row in found["outputs"] if row["verdict"] in ("differs", "shape")])


def _first(first: Data, rows: list[Data]) -> Iterator[str]:
    yield from _wrapped(f"the first layer that differs: {first['layer']} ({first['operator']})", "")
    row = rows[0]
    if row["verdict"] == "shape":
        yield from _wrapped(f"{row['name']} has shape {_tuple(first['shape'])}, here it is {_tuple(first['expected'])}")
    else:
        place = ", ".join(map(str, row["place"]))
        allowed = f"where {row['allowed']:.3g} are allowed" if row["allowed"] is not None else ""
        off = "no number" if row["difference"] is None else f"{row['difference']:.3g}"
        yield from _wrapped(f"{row['name']} is off by {off} at [{place}] {allowed}".rstrip())
    if len(first["suspects"]) > 1:
        yield from _wrapped(
            f"the reference lacks the outputs of {len(first['suspects']) - 1} layers before it:"
            f" {_some(first['suspects'][:-1])}"
        )
    yield from _wrapped(f"{first['kind']}: {first['text']}")
    if first["clause"] is not None:
        yield from _wrapped(f"rule {first['clause']}: {rules[first['clause']].text}")
    if len(rows) > 1:
        yield from _wrapped(f"fed with the reference's inputs these differ too: {_some([r['name'] for r in rows[1:]])}")


def _tuple(sides: list[int]) -> str:
    return f"({', '.join(map(str, sides))}{',' * (len(sides) == 1)})"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _wrapped(text: Any, indent: str = "  ") -> list[str]:
    return textwrap.wrap(printable(str(text)), _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


__all__ = ["lines"]
