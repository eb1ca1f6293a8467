"""Differences that are expected: ``oracle.toml``.

    [[expected]]
    id = "clip-add"
    operator = "clip"            # a program with this operator ...
    traits = ["clip", "float64"] # ... and everything of this (``refimpl.oracle.traits``) ...
    requirement = "add"          # ... that asks for a gradient in this way ...
    trace = "gradient"           # ... and differs here: output, gradient, state, refused, crashed
    reason = "the initial gradient is overwritten"
    example = "corpus/7f3c2a90b1d4.json"   # beside this file; fails as long as the row is right
    strict = true                # refuse the row when its example passes, instead of a warning
    clause = "Executor/grad-req-add"

    [[excluded]]                 # never drawn
    operator = "_onehot_encode"
    reason = "ends the process"

A program is expected to differ when one row fits it whole. Rows whose example passes are out of date: ``refimpl oracle
replay`` says so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .drawing.choices import NOTHING, Exclusions
from .judging.comparing import Verdict
from .judging.reference import Program
from .programs.program import most_readers, operators, read
from .traits import matched

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIELDS = {
    "expected": {"id", "operator", "requirement", "trace", "reason", "example", "level", "consumers", "attrs",
                 "strict", "clause", "traits"},
    "excluded": {"operator", "requirement", "reason", "many_readers", "traits"},
}


def _has_node(row: dict[str, Any], program: Program) -> bool:
    return any(
        node["op"] == row.get("operator") and row["attrs"].items() <= node.get("attrs", {}).items()
        for node in program["nodes"]
    )


def _asks(row: dict[str, Any], program: Program) -> bool:
    return any(row["requirement"] in (step.get("requirements") or {}).values() for step in program["steps"])


_HOLDS: dict[str, Callable[[dict[str, Any], Program], bool]] = {
    "level": lambda row, program: row["level"] == program["level"],
    "operator": lambda row, program: row["operator"] in operators(program),
    "attrs": _has_node,
    "requirement": _asks,
    "traits": lambda row, program: matched([frozenset(row["traits"])], program),
    "consumers": lambda row, program: most_readers(program) >= row["consumers"],
}
"""What a field of a row demands of a program."""


@dataclass
class Expectations:
    """The rows of ``oracle.toml``."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    exclusions: Exclusions = NOTHING
    used: set[str] = field(default_factory=set)
    """The ids of rows that fitted a program."""
    folder: Path = Path()
    """Of the file: examples are named from there."""

    @classmethod
    def read(cls, path: Path) -> Expectations:
        """Read a file.

        Raises:
            ValueError: it is not TOML, or has other tables or fields than these; the message names the file.
        """
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {error}") from error
        for table, rows in data.items():
            if table not in FIELDS or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise ValueError(f"{path}: there is no table {table}; write [[expected]] or [[excluded]]")
            for row in rows:
                for name in set(row) - FIELDS[table]:
                    raise ValueError(f"{path}: [[{table}]] has no field {name}")
                if not row.get("reason"):
                    raise ValueError(f"{path}: [[{table}]] {row.get('id', row.get('operator', ''))} gives no reason")
        exclusions = Exclusions()
        for row in data.get("excluded", []):
            if not row.get("operator") and not row.get("many_readers") and not row.get("traits"):
                raise ValueError(
                    f"{path}: [[excluded]] leaves nothing out; name an operator or traits, or many_readers = true"
                )
            exclusions = exclusions.also(
                operator=row.get("operator", ""), requirement=row.get("requirement", ""),
                many_readers=row.get("many_readers", False), pattern=row.get("traits", ()),
            )
        return cls(data.get("expected", []), exclusions, folder=path.parent)

    def examples(self, *, crashing: bool = True) -> list[tuple[dict[str, Any], Program]]:
        """The rows that have an example, and the example.

        Args:
            crashing: whether to give those too that end the process.

        Raises:
            ValueError: an example is no stored program, or does not fit its row; the message names it.
        """
        found = []
        for row in self.rows:
            if "example" in row and (crashing or row.get("trace") != "crashed"):
                path = self.folder / row["example"]
                program = program_in(path)
                if "operator" in row and row["operator"] not in operators(program):
                    raise ValueError(f"{path}: no example of its row: it has no operator {row['operator']}")
                found.append((row, program))
        return found

    def covers(self, program: Program, verdict: Verdict) -> bool:
        """Whether every mismatch of a failure fits a row."""
        return bool(verdict.mismatches) and all(self._fits(program, m.name, m.kind) for m in verdict.mismatches)

    def _fits(self, program: Program, name: str, kind: str) -> bool:
        what = name.partition("/")[2].partition(":")[0].rstrip("0123456789") if kind == "value" else kind
        row = self.row_of(program, what)
        if row is not None:
            self.used.add(row.get("id", ""))
        return row is not None

    def row_of(self, program: Program, what: str) -> dict[str, Any] | None:
        """The first row that fits a failure, or None.

        Args:
            program: it.
            what: what differs, as the field ``trace`` of a row says it.
        """
        for row in self.rows:
            demands = (holds for key, holds in _HOLDS.items() if key in row)
            if row.get("trace", what) == what and all(holds(row, program) for holds in demands):
                return row
        return None


def program_in(file: Path) -> Program:
    """The program in a file: as it is, or in a field ``program``.

    Raises:
        ValueError: the file holds no program; the message names it.
    """
    try:
        text = file.read_text(encoding="utf-8")
        data = json.loads(text)
        return read(json.dumps(data["program"]) if isinstance(data, dict) and "program" in data else text)
    except (OSError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error
