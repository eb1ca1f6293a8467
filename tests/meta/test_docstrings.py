"""A public callable with more than three arguments says what each of them is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "refimpl"
MANY = 4

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _callables(tree: ast.Module) -> Iterator[tuple[str, Function, str]]:
    """(name, function, docstring that explains it) of what a module offers; a constructor may use its class's."""
    for node in tree.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node, ast.get_docstring(node) or ""
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, Function) and (inner.name == "__init__" or not inner.name.startswith("_")):
                    text = ast.get_docstring(inner) or ""
                    if inner.name == "__init__":
                        text += ast.get_docstring(node) or ""
                    yield f"{node.name}.{inner.name}", inner, text


def _arguments(function: Function) -> list[str]:
    every = function.args
    names = [each.arg for each in (*every.posonlyargs, *every.args, *every.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def unexplained(text: str) -> dict[str, list[str]]:
    """Callable -> arguments that its docstring does not name, for a module's text."""
    found = {}
    for name, function, explanation in _callables(ast.parse(text)):
        given = _arguments(function)
        missing = [each for each in given if not re.search(rf"(?<!\w){re.escape(each)}(?!\w)", explanation)]
        if len(given) >= MANY and missing:
            found[name] = missing
    return found


def test_an_argument_without_explanation_is_noticed() -> None:
    text = 'def f(a, b, c, d):\n    """``a`` and b, with c."""\n\n\ndef g(x):\n    """Short."""\n'
    assert unexplained(text) == {"f": ["d"]}


def test_public_callables_explain_their_arguments() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {name} does not explain {', '.join(missing)}"
        for file in sorted(PACKAGE.rglob("*.py")) if "kernels" not in file.relative_to(PACKAGE).parts
        for name, missing in unexplained(file.read_text(encoding="utf-8")).items()
    ]
    assert not wrong, "\n".join(wrong)
