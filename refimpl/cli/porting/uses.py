"""Reads which names of MXNet a script uses, without running it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...base import decides
from . import python_2
from .imports import own_module
from .instead import OTHER


class Use(NamedTuple):
    """A dotted name of MXNet such as ``mxnet.sym.FullyConnected``, and the first line that has it."""

    name: str
    line: int


class Uses(NamedTuple):
    """The names of MXNet in one file. ``python_2`` is a line of advice where Python 3 cannot read the file."""

    file: Path
    names: list[Use]
    words: frozenset[str]
    """Texts of the file: names of optimizers and metrics are given as texts."""
    python_2: str = ""


def _dotted(node: ast.AST) -> list[str] | None:
    """The parts of ``a.b.c``; None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else None


def _own_names(function: ast.AST) -> set[str]:
    """The names that a function binds, other than by imports: they hide those outside."""
    found = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    return found | {
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


class _Reader(ast.NodeVisitor):
    """Follows the names of a file. ``bound`` maps a name to a dotted name of MXNet."""

    def __init__(self) -> None:
        self.bound: dict[str, str] = {}
        self.found: dict[str, int] = {}
        self.words: set[str] = set()
        self.stars: list[str] = []
        self.foreign_star = False

    def use(self, name: str, line: int) -> None:
        self.found.setdefault(name, line)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top == OTHER:
                self.use(alias.name, node.lineno)
                self.bound[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] != OTHER:
            self.foreign_star |= any(alias.name == "*" for alias in node.names)
            return
        for alias in node.names:
            if alias.name == "*":
                self.use(module, node.lineno)
                self._star(module)
                continue
            name = f"{module}.{alias.name}"
            self.use(name, node.lineno)
            self.bound[alias.asname or alias.name] = name

    def _star(self, module: str) -> None:
        own = own_module(module)
        self.stars.append(module)
        if own is not None:
            public = getattr(own, "__all__", [name for name in vars(own) if not name.startswith("_")])
            self.bound.update((name, f"{module}.{name}") for name in public)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        parts = _dotted(node.value)
        known = None if parts is None else self._name(parts)
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self.visit(target)
            elif known is not None and own_module(known) is not None:
                self.bound[target.id] = known
            else:
                self.bound.pop(target.id, None)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        outside = dict(self.bound)
        if not isinstance(node, ast.Lambda):
            for outer in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(outer)
        for name in _own_names(node):
            self.bound.pop(name, None)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        for one in body:
            self.visit(one)
        inside, self.bound = self.bound, outside
        for name, stands in inside.items():  # an import in one function often serves the next
            self.bound.setdefault(name, stands)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function  # noqa: N815  # names of the standard library

    def _name(self, parts: list[str]) -> str | None:
        stands = self.bound.get(parts[0])
        return None if stands is None else ".".join([stands, *parts[1:]])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts = _dotted(node)
        name = None if parts is None else self._name(parts)
        if name is not None:
            self.use(name, node.lineno)
        elif parts is None:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self.bound:
            self.use(self.bound[node.id], node.lineno)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.words.add(node.value)


def _unbound(tree: ast.AST) -> Iterator[ast.Name]:
    """Names that are read and bound nowhere in a file."""
    bound = set(dir(builtins)) | {"__file__", "__name__"} | _own_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    yield from (
        node for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound
    )


@decides("check/names")
def _of_tree(tree: ast.AST, file: Path) -> Uses:
    reader = _Reader()
    reader.visit(tree)
    if len(reader.stars) == 1 and not reader.foreign_star:  # an unbound name can come from nowhere else
        for node in _unbound(tree):
            if node.id not in reader.bound:
                reader.use(f"{reader.stars[0]}.{node.id}", node.lineno)
    names = [Use(name, line) for name, line in reader.found.items()]
    return Uses(file, sorted(names, key=lambda use: (use.line, use.name)), frozenset(reader.words))


# --- Python 2: by the look of lines ------------------------------------------------------------------

_TEXTS = re.compile(r"('''|\"\"\")(?:\\.|.)*?\1|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|#[^\n]*", re.DOTALL)
_CHAIN = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PARENTHESES = re.compile(r"(\bimport\s*)\(([^)]*)\)")
_IMPORT = re.compile(r"^\s*(?:import\s+mxnet|from\s+mxnet[\w.]*\s+import)\b.*$")


@decides("check/python-2")
def _of_lines(text: str, file: Path, said: str) -> Uses:
    """Reads imports line by line, then chains of names; scopes of functions are not distinguished."""
    words = frozenset(match[0][1:-1] for match in _TEXTS.finditer(text) if match[0][0] in "'\"")
    reader = _Reader()
    bare = _TEXTS.sub(lambda match: "\n" * match[0].count("\n"), text.replace("\\\n", " \f"))
    bare = _PARENTHESES.sub(lambda match: match[1] + match[2].replace("\n", "\f").rstrip(", \f"), bare)
    number = 0
    for line in bare.split("\n"):
        number += 1
        if _IMPORT.match(line):
            try:
                statement = ast.parse(line.replace("\f", " ").strip())
            except SyntaxError:
                continue
            for node in ast.walk(statement):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    node.lineno = number
                    reader.visit(node)
            number += line.count("\f")
            continue
        for chain in _CHAIN.findall(line):
            name = reader._name(chain.split("."))
            if name is not None:
                reader.use(name, number)
        number += line.count("\f")
    names = [Use(name, line) for name, line in reader.found.items()]
    return Uses(file, sorted(names, key=lambda use: (use.line, use.name)), words, said)


def uses(file: Path) -> Uses:
    """The names of MXNet that a file uses. For a file that neither Python reads, none, and a line that says so."""
    data = file.read_bytes()
    try:
        return _of_tree(ast.parse(data, str(file)), file)
    except SyntaxError as error:
        text = data.decode("utf-8", "replace")
        if python_2.is_syntax(error):
            return _of_lines(text, file, python_2.explanation(error))
        return _of_lines(text, file, f"{file}:{error.lineno}: Python cannot read this: {error.msg}")
    except ValueError as error:  # zero bytes, before Python 3.12
        return Uses(file, [], frozenset(), f"{file}: Python cannot read this: {error}")


def scripts(paths: Iterable[Path]) -> Iterator[Path]:
    """The Python files that are named, and those in folders that are named, in order."""
    for path in paths:
        if path.is_dir():
            yield from (file for file in sorted(path.rglob("*.py")) if file.is_file())
        else:
            yield path


__all__ = ["Use", "Uses", "scripts", "uses"]
