"""The house has floors: what a room imports lies below it."""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "refimpl"

UPWARD = {
    ("ndarray", "autograd"): "MXNet's methods attach_grad and backward",
    ("symbol", "executor"): "MXNet's methods bind and simple_bind",
    ("symbol", "executor_v2"): "MXNet's methods _bind and _simple_bind",
}
"""Imports inside functions that reach up, and why."""


def _imports(file: Path, root: Path) -> Iterator[tuple[str, bool]]:
    """(room, whether the import stands inside a function) for each relative import of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    hidden: set[int] = set()
    typing: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            hidden.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            typing.update(map(id, ast.walk(node)))
    folder = file.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in typing:
            above = len(folder) - node.level + 1
            assert above >= 0, f"{file} imports from outside of {root.name}/"
            path = (*folder[:above], *(node.module or "").split("."))
            for name in [path[0]] if path[0] else [alias.name for alias in node.names]:
                yield name, id(node) in hidden


def _rooms() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Room -> rooms that it imports, when it is imported and later."""
    first: dict[str, set[str]] = defaultdict(set)
    later: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room in ("__init__", "kernels"):
            continue
        for other, hidden in _imports(file, PACKAGE):
            if other not in (room, "kernels"):
                (later if hidden else first)[room].add(other)
    return first, later


def _below(rooms: dict[str, set[str]], room: str) -> set[str]:
    found, new = {room}, [room]
    while new:
        more = rooms.get(new.pop(), set()) - found
        found |= more
        new += more
    return found


def test_no_room_imports_from_above() -> None:
    first, later = _rooms()
    tuple(graphlib.TopologicalSorter(first).static_order())  # CycleError names the rooms of a circle
    upward = {(room, other) for room, others in later.items() for other in others if room in _below(first, other)}
    assert upward == set(UPWARD)


def test_rooms_are_listed_ground_floor_first() -> None:
    first, _ = _rooms()
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    listed: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level and not node.module:
            listed += [alias.name for alias in node.names if alias.name not in listed]
    for number, room in enumerate(listed):
        assert first[room] & set(listed[number + 1 :]) == set(), room


def test_kernels_know_nothing_of_the_machine() -> None:
    pages = ROOT / "kernels"
    for file in pages.rglob("*.py"):
        assert "refimpl" not in {name for name, _ in _imports(file, pages)}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").split(".")[0] != "refimpl", file
            if isinstance(node, ast.Import):
                assert all(alias.name.split(".")[0] != "refimpl" for alias in node.names), file
