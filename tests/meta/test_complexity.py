"""Functions have few branches: no more than 15 ways through one of the stack, 20 elsewhere.

Counted are the ways that a reader follows (McCabe's number, as radon counts it): conditions inside expressions too,
which ruff's C901 leaves out. A function inside another counts for itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

STACK = 15
ELSEWHERE = 20
TOOLS = ("refimpl/cli", "refimpl/explain", "refimpl/oracle", "spec", "tests")
"""What is not the stack of ARCHITECTURE.md."""
ON_PURPOSE = ("refimpl/kernels", "tests/examples/scripts")
"""Operators have a limit of their own; scripts are as somebody wrote them."""
LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.alias)
"""Half of all nodes; nothing in them branches."""


def ways(tree: ast.AST) -> list[tuple[str, int]]:
    """(name, number of ways through it) of every function of a file."""
    found: list[list[Any]] = []
    waiting: list[tuple[ast.AST, list[Any]]] = [(tree, ["outside of functions", 1])]
    while waiting:
        node, function = waiting.pop()
        children: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function, children = [node.name, 1], node.body
            found.append(function)
        elif isinstance(node, ast.ClassDef):
            function = [node.name, 1]
        else:
            function[1] += _branches(node)
        waiting += [(child, function) for child in children if not isinstance(child, LEAVES)]
    return [(name, count) for name, count in found]


def _branches(node: ast.AST) -> int:
    """How many ways a node adds itself."""
    match node:
        case ast.If() | ast.IfExp() | ast.Assert():
            return 1
        case ast.For() | ast.AsyncFor() | ast.While():
            return 1 + bool(node.orelse)
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.Match():
            return sum(ast.unparse(case.pattern) != "_" for case in node.cases)
    return 0


def _files() -> Iterator[tuple[str, int]]:
    """Every file of the tree, and its limit."""
    for top in ("refimpl", "spec", "tests"):
        for file in (ROOT / top).rglob("*.py"):
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith(ON_PURPOSE):
                yield name, ELSEWHERE if name.startswith(TOOLS) else STACK


def test_functions_have_few_branches() -> None:
    above = set()
    files = list(_files())
    assert {limit for _, limit in files} == {STACK, ELSEWHERE}
    for name, limit in files:
        counted = ways(ast.parse((ROOT / name).read_text(encoding="utf-8")))
        above |= {f"{name} {function}: {count}" for function, count in counted if count > limit}
    assert not above


@pytest.mark.parametrize(("body", "count"), [
    ("pass", 1),
    ("if a: pass\n elif b: pass\n else: pass", 3),
    ("return a if b and c or d else e", 4),
    ("for a in b:\n  if a: break\n else: pass", 4),
    ("while a: pass", 2),
    ("try: pass\n except A: pass\n except B: pass\n else: pass\n finally: pass", 4),
    ("return [a for a in b if c if d]", 4),
    ("match a:\n  case 1: pass\n  case 2: pass\n  case _: pass", 3),
    ("def g():\n  if a: pass", 1),
    ("return lambda: a or b", 2),
])
def test_what_counts(body: str, count: int) -> None:
    assert ways(ast.parse(f"def f():\n {body}"))[0] == ("f", count)
