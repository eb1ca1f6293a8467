"""What the files of a package import, read from their text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One name that a file imports; imports for type checkers alone are left out."""

    source: str
    """The module that imports."""
    target: str
    """The module that is imported, of this package or another."""
    line: int
    function: str
    """The function that the import stands in, ``Class.method``; empty for one at the top of the file."""


def modules(package: Path) -> dict[str, Path]:
    """The files of a package by the name of the module, ``refimpl.symbol.ir``."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = [package.name, *file.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def _is_module(package: Path, name: str) -> bool:
    """Whether a name is that of a module which :func:`modules` leaves out: a folder beneath a link, or only a stub."""
    place = package.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".pyi").is_file()


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _is_for_types(statement: ast.AST) -> bool:
    """Whether it is ``if TYPE_CHECKING:``."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test).removeprefix("_") == "TYPE_CHECKING"


def _imports_in(
    block: list[ast.AST], within: str = "", function: str = ""
) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Each import for the running program, with the outermost function around it; expressions are not looked into."""
    for node in block:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, function
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        outermost = function or (within + node.name if is_function else "")
        inside = f"{within}{node.name}." if isinstance(node, ast.ClassDef) else within
        for name in BLOCKS[_is_for_types(node) :]:
            yield from _imports_in(getattr(node, name, []), inside, outermost)


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every outermost function or method of a file with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{within}{node.name}.")
        else:
            yield from functions(node, within)


@cache
def imports(package: Path) -> list[Import]:
    """Every import of a package; one of a name of a module counts as that of the module."""
    known = modules(package)
    found: list[Import] = []
    for name, file in known.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        parent = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for node, function in _imports_in(tree.body):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            else:
                above = parent.split(".")[: parent.count(".") + 2 - node.level] if node.level else []
                assert above or not node.level, f"{file} imports from outside of {package.name}/"
                base = ".".join([*above, *([node.module] if node.module else [])])
                whole = [f"{base}.{alias.name}" for alias in node.names]
                targets = [each if each in known or _is_module(package, each) else base for each in whole]
            found += [Import(name, target, node.lineno, function) for target in targets]
    return found


__all__ = ["Import", "functions", "imports", "modules"]
