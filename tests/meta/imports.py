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


def _for_types(tree: ast.AST) -> set[int]:
    """Ids of the nodes under ``if TYPE_CHECKING:``."""
    return {
        id(inner) for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).removeprefix("_") == "TYPE_CHECKING"
        for part in node.body for inner in ast.walk(part)
    }


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
        typing = _for_types(tree)
        inside = {id(node): title for title, function in functions(tree) for node in ast.walk(function)}
        parent = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for node in ast.walk(tree):
            if id(node) in typing:
                continue
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = parent.split(".")[: parent.count(".") + 2 - node.level] if node.level else []
                assert above or not node.level, f"{file} imports from outside of {package.name}/"
                base = ".".join([*above, *([node.module] if node.module else [])])
                whole = [f"{base}.{alias.name}" for alias in node.names]
                targets = [each if each in known or _is_module(package, each) else base for each in whole]
            else:
                continue
            found += [Import(name, target, node.lineno, inside.get(id(node), "")) for target in targets]
    return found


__all__ = ["Import", "functions", "imports", "modules"]
