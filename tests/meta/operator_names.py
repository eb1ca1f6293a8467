"""Where modules name operators: in tables, one by one, or by importing their pages."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from refimpl.kernels.foundation import REGISTRY, Op, distinct
from refimpl.op_registry import facts

ROOT = Path(__file__).parents[2]
AMBIGUOUS = re.compile("[a-z]+")
"""Names that are words of English too, or names of parameters."""


def modules(*folders: str) -> Iterator[Path]:
    """Modules below folders of the checkout, each once: refimpl/kernels is a link to kernels."""
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if file.relative_to(ROOT).parts[:2] != ("refimpl", "kernels"):
                yield file


@cache
def text_words(file: Path) -> frozenset[str]:
    """The words of a module, read without parsing it."""
    return frozenset(re.findall(r"\w+", file.read_text(encoding="utf-8")))


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax of a module, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [each for each in body if not _is_text(each)]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a string by itself."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def words(node: ast.AST) -> set[str]:
    """The operators that strings below a node name, alone or among other words."""
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return {word for text in texts for word in text.split()} & REGISTRY.keys()


def tables(node: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """(line, operators that it names) of each outermost dict, set, list, tuple or string below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Constant)):
            yield child.lineno, words(child)
        else:
            yield from tables(child)


@cache
def pages() -> Mapping[str, frozenset[str]]:
    """Stem of a page -> names and aliases of its operators, and those that multilinear.py makes for gradients."""
    found: dict[str, set[str]] = defaultdict(set)
    for op in distinct():
        file = Path(facts.file_of(_differentiated(op)))
        if file.parts[0] == "kernels":
            found[file.stem] |= {op.name, *op.aliases}
    return {stem: frozenset(names) for stem, names in found.items()}


def _differentiated(op: Op) -> Op:
    """The operator whose gradient one of multilinear.py computes; any other itself."""
    if op.forward.__module__ != "refimpl.kernels.multilinear":
        return op
    rest = op.name.removeprefix("_backward_")
    return max((each for each in distinct() if rest.startswith(each.name)), key=lambda each: len(each.name))


def _imported(file: Path) -> set[str]:
    """Stems of pages that a module imports from."""
    found = set()
    here = file.relative_to(ROOT).parts[:-1]
    for node in ast.walk(parsed(file)):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = here[: len(here) + 1 - node.level] if node.level else ()
        path = [*base, *(node.module or "").split(".")]
        path = [part for part in path if part]
        path = path[1:] if path[:2] == ["refimpl", "kernels"] else path
        if path[:1] == ["kernels"]:
            found |= {path[1]} if len(path) == 2 else {alias.name for alias in node.names} if len(path) == 1 else set()
    return found & pages().keys()


@cache
def users() -> Mapping[str, tuple[str, ...]]:
    """Stem of a page -> the modules that import from it, or name one of its operators by an unmistakable name."""
    of = {name: stem for stem, names in pages().items() for name in names if not AMBIGUOUS.fullmatch(name)}
    found: dict[str, set[str]] = defaultdict(set)
    for file in modules("kernels", "refimpl", "spec"):
        path = file.relative_to(ROOT).as_posix()
        if not text_words(file) & (of.keys() | pages().keys()):
            continue  # which spares parsing it
        for stem in {of[name] for name in words(parsed(file)) & of.keys()} | _imported(file):
            if path != f"kernels/{stem}.py":
                found[stem].add(path)
    return {stem: tuple(sorted(found[stem])) for stem in pages()}
