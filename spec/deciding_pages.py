"""The functions that decide a clause of an operator's page where no code names it: those that the page registers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .deciding import Decision

SHAPES = re.compile(r"(^|-)(shapes?|types?|dtype|inputs|outputs|count|parameters|lengths)$")


def roles(slug: str) -> tuple[str, ...]:
    """Which functions of an operator decide a clause of its page that no code names."""
    if "gradient" in slug:
        return ("backward", "gradient")
    return ("infer", "infer_type") if SHAPES.search(slug) else ("forward",)


def concerned(clauses: Iterable[Any], operators: Iterable[Any]) -> dict[str, list[Any]]:
    """Clause of a page -> the operators of that page that it is about."""
    from refimpl.op_registry import pages

    written = {clause.name for clause in clauses if clause.file.parts[0] == "kernels"}
    found: dict[str, list[Any]] = {name: [] for name in written}
    for op in operators:
        for clause in pages.clauses(op):
            found[clause.name].append(op)
    return found


def of_page(clause: str, operators: Iterable[Any], root: Path) -> list[Decision]:
    """Where operators define the functions that decide a clause of their page."""
    found = {}
    for op in operators:
        for role in roles(clause.partition("/")[2]):
            code = getattr(getattr(op, role), "__code__", None)
            if code is not None:
                file = Path(code.co_filename).resolve()
                line = code.co_firstlineno
                found[file, line] = Decision(
                    re.escape(clause), file.relative_to(root), line, code.co_name, line, _end(code)
                )
    return list(found.values())


def _end(code: Any) -> int:
    return max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
