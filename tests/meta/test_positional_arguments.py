"""Loops take buffers and one NamedTuple of named numbers, not a long row of arguments told apart by their places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "kernels"
MOST = 11

MXNETS_SIGNATURES: dict[tuple[str, str], str] = {}
"""(file, function) -> which function of MXNet has these arguments; nothing else may have more than ``MOST``."""


def too_long(source: str) -> Iterator[tuple[str, int, str]]:
    """(name, line, what is wrong) of each function, lambda or call with too many positional arguments.

    A starred argument is one argument. The name is that of the function that is defined or called.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            taken = node.args
            count = len(taken.posonlyargs) + len(taken.args) + (taken.vararg is not None)
            name, what = getattr(node, "name", "lambda"), "takes"
        elif isinstance(node, ast.Call):
            count, name, what = len(node.args), ast.unparse(node.func), "is called with"
        else:
            continue
        if count > MOST:
            yield name, node.lineno, f"{what} {count} positional arguments"


@pytest.mark.parametrize("file", sorted(KERNELS.rglob("*.py")), ids=lambda file: file.relative_to(KERNELS).as_posix())
def test_positional_arguments(file: Path) -> None:
    path = file.relative_to(KERNELS).as_posix()
    found = [
        f"kernels/{path}:{line}: {name} {what}; give it a NamedTuple of named numbers"
        for name, line, what in too_long(file.read_text(encoding="utf-8")) if (path, name) not in MXNETS_SIGNATURES
    ]
    assert not found, "\n".join(found)


def test_exceptions_are_needed() -> None:
    for path, name in MXNETS_SIGNATURES:
        assert name in {found for found, _, _ in too_long((KERNELS / path).read_text(encoding="utf-8"))}


TWELVE = ", ".join(f"a{i}" for i in range(12))


@pytest.mark.parametrize("source", [
    f"def f({TWELVE}): pass",
    f"async def f({TWELVE}): pass",
    f"class C:\n    def f(self, {TWELVE[4:]}): pass",
    f"def f(a0, /, {TWELVE[4:]}): pass",
    f"def f({TWELVE[4:]}, *rest): pass",
    f"f({TWELVE})",
    f"f({TWELVE[4:]}, *rest)",
    f"x.f({TWELVE})",
])  # fmt: skip
def test_twelve_are_found(source: str) -> None:
    assert [name.rpartition(".")[2] for name, _, _ in too_long(source)] == ["f"]


def test_twelve_in_a_lambda_are_found() -> None:
    assert [name for name, _, _ in too_long(f"lambda {TWELVE}: 0")] == ["lambda"]


@pytest.mark.parametrize("source", [
    f"def f({TWELVE[4:]}): pass",
    f"def f({TWELVE[4:]}, *, b=0): pass",
    f"f({TWELVE[4:]}, b=0)",
    "f(*many)",
])
def test_eleven_are_not(source: str) -> None:
    assert not list(too_long(source))
