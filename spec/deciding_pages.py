"""The functions that decide a clause of an operator's page where no code names it: those that the page registers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .deciding import Decision, called

ROLES = (
    # end of the slug of a clause that no code names, the operator's functions that decide it
    (re.compile(r"gradient$"), ("backward", "gradient")),
    (re.compile(r"(^|-)(types?|dtype|floating-point)$"), ("infer_type",)),
    (re.compile(r"(^|-)count$"), ("parse", "infer")),
    (re.compile(r"(^|-)names$"), ("outputs",)),
    (re.compile(r"(^|-)(shapes?|inputs|outputs|output-size|parameters|tail)$"), ("infer",)),
)


def roles(slug: str) -> tuple[str, ...]:
    """Which functions of an operator decide a clause of its page that no code names: ``forward`` where none fits."""
    return next((names for end, names in ROLES if end.search(slug)), ("forward",))


def concerned(clauses: Iterable[Any], operators: Iterable[Any]) -> dict[str, list[Any]]:
    """Clause of a page -> the operators of that page that it is about.

    Raises:
        ValueError: an operator's ``doc`` is not the docstring of a page.
    """
    from refimpl.op_registry import pages

    written = {clause.name for clause in clauses if clause.file.parts[0] == "kernels"}
    found: dict[str, list[Any]] = {name: [] for name in written}
    for op in operators:
        for clause in pages.clauses(op):
            if clause.name not in found:
                where = f"[{clause.name}] of its doc stands in no page's docstring"
                raise ValueError(f"{op.name}: {where}; register it with doc=__doc__")
            found[clause.name].append(op)
    return found


def of_page(clause: Any, operators: list[Any], root: Path) -> list[Decision]:
    """Where the operators that a clause of their page is about define the functions that decide it.

    Without such a function, as where nothing has a gradient, the page decides by what it registers.
    """
    found = {}
    for op in operators:
        for role in roles(clause.name.partition("/")[2]):
            code = getattr(getattr(op, role), "__code__", None)
            if code is not None:
                file, line = _in_checkout(Path(code.co_filename).resolve(), root), code.co_firstlineno
                found[file, line] = Decision(re.escape(clause.name), file, line, code.co_name, line, _end(code))
    return list(found.values()) or ([_registration(clause, root)] if operators else [])


def _registration(clause: Any, root: Path) -> Decision:
    """The statement by which a page registers its operators."""
    calls = [
        (statement, node) for statement in ast.parse((root / clause.file).read_text(encoding="utf-8")).body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(statement, (ast.Expr, ast.For)) and "register" in called(node)
    ]
    statement, call = calls[0]
    last = statement.end_lineno or statement.lineno
    return Decision(re.escape(clause.name), clause.file, call.lineno, called(call), statement.lineno, last, table=True)


def _in_checkout(file: Path, root: Path) -> Path:
    """Where a file of the package stands in the checkout, also if the package that runs is an installed one."""
    if file.is_relative_to(root):
        return file.relative_to(root)
    parts = file.parts[len(file.parts) - file.parts[::-1].index("refimpl") :]
    return Path(*parts) if parts[0] == "kernels" else Path("refimpl", *parts)


def _end(code: Any) -> int:
    return max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
