"""Where a function, class or table stands: found when somebody asks, so that no line number grows old."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder ``refimpl``; its neighbours are those of the checkout, where there is one."""


def file_of(name: str) -> Path:
    """The file that is called ``name`` in a checkout, such as ``kernels/pad.py``, here; it may not be there."""
    folder, _, rest = name.partition("/")
    inside = PACKAGE / (rest if folder == "refimpl" else name)  # kernels stands in the package, by a link or copied
    return inside if inside.is_file() else PACKAGE.parent / name


def found(place: str) -> tuple[int, str]:
    """The first line and the source of ``FILE::NAME``, of the whole file where it has nothing of that name.

    Raises:
        OSError: the file cannot be read.
    """
    file, _, name = place.partition("::")
    text = file_of(file).read_text(encoding="utf-8")
    first, last = _spans(text).get(name, (1, text.count("\n")))
    return first, "\n".join(text.splitlines()[first - 1 : last])


def has(text: str, name: str) -> bool:
    """Whether something in a file has that name."""
    return name in _spans(text)


def at(text: str, line: int) -> str:
    """The name of the innermost function, class or table of a file that has the line; "" outside all of them."""
    around = [(last - first, -len(name), name) for name, (first, last) in _spans(text).items() if first <= line <= last]
    return min(around, default=(0, 0, ""))[-1]


@cache
def _spans(text: str) -> dict[str, tuple[int, int]]:
    """Name -> first and last line, of everything in a file that has a name; the first of several has it."""
    spans: dict[str, tuple[int, int]] = {}
    for name, node, first in _named(ast.parse(text)):
        spans.setdefault(name, (first, node.end_lineno or first))
    return spans


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.stmt, int]]:
    """Functions and classes by qualified and plain name, tables by theirs, other statements by what they call."""
    pending: list[tuple[str, ast.stmt]] = [("", statement) for statement in reversed(tree.body)]
    while pending:
        above, node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield above + node.name, node, first
            if above:
                yield node.name, node, first
            pending += [(f"{above}{node.name}.", inner) for inner in reversed(node.body)]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for name in _assigned(node):
                yield above + name, node, node.lineno
        elif not above:
            for name in _called(node):
                yield name, node, node.lineno


def _assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for name in (target, *getattr(target, "elts", ())):
            if isinstance(name, ast.Name):
                yield name.id


def _called(node: ast.stmt) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            called = call.func
            yield called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
