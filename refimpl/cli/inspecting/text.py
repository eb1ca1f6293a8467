"""The report of ``refimpl inspect`` as text of at most 80 columns."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ...base import decides, printable
from .files import Data
from .graph import spelled_shape

WIDTH = 80
_INDENT = "  "


@decides("Inspect/text")
def lines(found: Data, *, whole: bool = False) -> Iterator[str]:
    """The report in lines.

    Args:
        found: the report of :func:`inspected`.
        whole: print each deviation, not only its name.
    """
    return _lines(_printable(found), whole)


def _printable(found: Any) -> Any:
    """The same data without characters that steer a terminal."""
    if isinstance(found, dict):
        return {key: _printable(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [_printable(value) for value in found]
    return printable(found) if isinstance(found, str) else found


def _lines(found: Data, whole: bool) -> Iterator[str]:
    yield from _head(found)
    yield from _shaped("inputs", found["inputs"])
    yield from _shaped("outputs", found["outputs"])
    rows = [
        (one["operator"], one["name"], " ".join(map(spelled_shape, one["outputs"] or []))) for one in found["layers"]
    ]
    yield from _section("layers", ("operator", "name", "output shape"), rows)
    unknown = [one["name"] for one in found["inputs"] if one["shape"] is None or None in one["shape"]]
    if unknown and any(one["outputs"] is not None for one in found["layers"]):
        yield from _wrapped(f"? is not known; --shape NAME=... gives the shape of {', '.join(unknown)}")
    yield from _arrays("parameters", found["parameters"])
    yield from _arrays("auxiliary states", found["auxiliary"])
    yield ""
    problems = found["problems"]
    yield f"damaged or missing: {len(problems) or 'nothing'}"
    for problem in problems:
        yield from _wrapped(f"{problem['kind']}: {problem['message']}")
    for note in found["notes"]:
        yield from _wrapped(f"note, {note['kind']}: {note['message']}", "")
    yield from _touched(found, whole)


def _head(found: Data) -> Iterator[str]:
    which = "no parameters" if found["epoch"] is None else f"epoch {found['epoch']}"
    yield from _wrapped(f"checkpoint {found['prefix']}, {which}", "")
    if found["epochs"]:
        yield from _wrapped(f"epochs that are there: {', '.join(map(str, found['epochs']))}", "")
    if found["buckets"]:
        keys = ", ".join(map(str, found["buckets"]))
        yield from _wrapped(f"buckets: {keys}; this is bucket {found['bucket']}, --bucket shows another", "")
    if found["mxnet"] is not None:
        scope = ", under np_shape" if found["np_shape"] else ""
        yield from _wrapped(f"written by MXNet {found['mxnet']}{scope}", "")
    for part in ("symbol", "params", "states"):
        file = found[part]
        if file is not None and file["bytes"] is not None:
            yield from _wrapped(f"{file['file']}: {file['bytes']:,} bytes{_holds(file.get('holds'))}")


def _holds(held: Data | None) -> str:
    if held is None:
        return ""
    kind = f" of {held['optimizer']}" if held["optimizer"] else ""
    return f"; states{kind}: {len(held['keys'])} keys, {held['numbers']:,} numbers"


def _shaped(title: str, rows: Sequence[Data]) -> Iterator[str]:
    yield from _section(title, ("name", "shape"), [(row["name"], spelled_shape(row["shape"])) for row in rows])


def _arrays(title: str, rows: Sequence[Data]) -> Iterator[str]:
    numbers, size = (sum(row[what] for row in rows) for what in ("numbers", "bytes"))
    table = [(r["name"], spelled_shape(r["shape"]), r["dtype"], r["storage"]) for r in rows]
    heading = ("name", "shape", "dtype", "storage")
    yield from _section(title, heading, table, f": {numbers:,} numbers, {size:,} bytes")


def _section(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> Iterator[str]:
    """A titled table; a row that is too wide becomes a line per cell."""
    if not rows:
        return
    yield ""
    yield f"{title} ({len(rows)}){note}"
    most = 30 if len(heading) > 2 else 44
    table = [heading, *rows]
    widths = [min(max(len(row[i]) for row in table), most) for i in range(len(heading) - 1)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        line = _INDENT + _INDENT.join([*cells, row[-1]]).rstrip()
        if len(line) <= WIDTH:
            yield line
            continue
        for number, cell in enumerate(row):
            yield from _wrapped(cell, _INDENT * (2 if number else 1))


def _wrapped(text: str, indent: str = _INDENT) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + _INDENT)


def _touched(found: Data, whole: bool) -> Iterator[str]:
    """Quirks and deviations of the operators that the graph uses."""
    for quirk in found["quirks"]:
        yield ""
        yield from _wrapped(f"quirk {quirk['name']} of {', '.join(quirk['operators'])} [{quirk['clause']}]", "")
        yield from _wrapped(f"MXNet: {quirk['mxnet']}")
        yield from _wrapped(f"here: {quirk['here']}")
    if not found["deviations"]:
        return
    yield ""
    yield f"deviations from MXNet 1.9.1: {len(found['deviations'])}"
    if whole:
        for row in found["deviations"]:
            yield from _wrapped(f"{row['clause']} ({', '.join(row['operators'])})")
            yield from _wrapped(f"MXNet: {row['mxnet']}", _INDENT * 2)
            yield from _wrapped(f"here: {row['here']}", _INDENT * 2)
        return
    slugs: dict[str, list[Any]] = defaultdict(list)
    for row in found["deviations"]:
        subject, _, slug = row["clause"].partition("/")
        slugs[subject].append(slug)
    for subject, names in slugs.items():
        yield from _wrapped(f"{subject}: {', '.join(names)}")
    yield from _wrapped("--deviations prints each; `refimpl rule NAME` prints a rule")


__all__ = ["WIDTH", "lines"]
