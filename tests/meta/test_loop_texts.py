"""Texts of pages stay readable: loops name axes instead of splitting flat indices, and functions have few branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "kernels"
MOST_DIVISIONS = 100
"""Lines of loops that divide. Groups of channels, strides and halves need some; an address is split by axes."""
MOST_BRANCHES = 12
BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.match_case)


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each function of a page, or of what pages share, with its name and place."""
    for file in sorted([*KERNELS.glob("*.py"), *KERNELS.glob("shared/*.py")]):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{file.relative_to(KERNELS.parent).as_posix()}:{node.lineno} {node.name}", node


def calls(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(ast.Name(called)):
            return called == name
    return False


def divisions(function: ast.FunctionDef) -> set[int]:
    """The lines with ``//``, ``%`` or ``divmod`` of a function that loops over items."""
    inside = [*ast.walk(function)]
    if not any(calls(node, "items") for node in inside):
        return set()
    return {
        node.lineno for node in inside
        if calls(node, "divmod")
        or (isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.FloorDiv, ast.Mod)))
    }


def complexity(function: ast.FunctionDef) -> int:
    """McCabe's number: 1, and 1 for each branch and each loop."""
    return 1 + sum(isinstance(node, BRANCHES) for node in ast.walk(function))


def test_what_is_counted() -> None:
    text = """
def loop(a, n, side):
    for t in items(n):
        row, i = divmod(t, side)
        at = t // side * side + t % side
        t //= 2
        if a[at] > 0 and i % 2:
            while row: row -= 1
        elif row: pass
"""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert divisions(function) == {4, 5, 6, 7}
    assert complexity(function) == 5
    plain = ast.parse(text.replace("items(n)", "range(n)")).body[0]
    assert isinstance(plain, ast.FunctionDef)
    assert divisions(plain) == set()


def test_loops_name_axes() -> None:
    lines = {name: count for name, function in functions() if (count := len(divisions(function)))}
    most = sorted(lines.items(), key=lambda row: -row[1])[:8]
    assert sum(lines.values()) <= MOST_DIVISIONS, (
        f"{sum(lines.values())} lines of loops divide, more than {MOST_DIVISIONS}: subscript arrays by axes"
        f" (kernels/foundation/loop.py); most in {most}"
    )


def test_functions_have_few_branches() -> None:
    wrong = {name: number for name, function in functions() if (number := complexity(function)) > MOST_BRANCHES}
    assert not wrong, f"more than {MOST_BRANCHES} ways through a function; make functions of its phases: {wrong}"
