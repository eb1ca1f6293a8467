"""What the text of the package says without being run: lines of functions, who runs a page, who decides on a replay."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .frames import ROOT, Function

LINK = ROOT / "refimpl" / "kernels"  # to the folder of pages
FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}


# --- lines -----------------------------------------------------------------------------------------


def _span(node: ast.AST) -> range:
    """The lines of a function with its decorators, or of a docstring."""
    decorators = getattr(node, "decorator_list", [])
    return range(min(line.lineno for line in (node, *decorators)), node.end_lineno + 1)  # type: ignore[attr-defined]


@cache
def lines_of(file: str) -> tuple[dict[int, int], int]:
    """Code lines of each function of a file by its first line, and those outside of functions.

    A line of code has a token that is no comment and belongs to no docstring. It counts for the innermost function
    with a name.
    """
    text = (ROOT / file).read_text(encoding="utf-8")
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code.difference_update(_span(node))
    functions = {}
    for node in sorted((node for node in nodes if isinstance(node, FunctionNode)), key=lambda node: len(_span(node))):
        inside = code.intersection(_span(node))  # of an outer function: what the inner ones left
        functions[_span(node)[0]] = len(inside)
        code -= inside
    return functions, len(code)


def code_lines(functions: Iterable[Function]) -> int:
    """Code lines of functions; those of a lambda or a comprehension belong to the function around it."""
    return sum(lines_of(function.file)[0].get(function.line, 0) for function in functions if not function.is_nameless)


def lines_outside(files: Iterable[str]) -> int:
    """Code lines of files that stand in no function."""
    return sum(lines_of(file)[1] for file in files)


# --- who does what ---------------------------------------------------------------------------------


def trees(words: str) -> dict[str, ast.Module]:
    """Every file of the package in whose text a regular expression is found, parsed."""
    files = [file for folder in ("kernels", "refimpl") for file in sorted((ROOT / folder).rglob("*.py"))]
    texts = {file: file.read_text(encoding="utf-8") for file in files if LINK not in file.parents}
    return {
        file.relative_to(ROOT).as_posix(): ast.parse(text) for file, text in texts.items() if re.search(words, text)
    }


def _last_name(node: ast.AST) -> str:
    """The name of a variable, or of the attribute that an expression ends in; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _annotated(tree: ast.Module) -> set[str]:
    """Names of arguments, fields and variables that are annotated as operators."""
    found = set()
    for node in ast.walk(tree):
        kind = node.annotation if isinstance(node, (ast.arg, ast.AnnAssign)) else None
        if kind is not None and ast.unparse(kind).strip("'\"") in {"Op", "Op | None"}:
            found.add(node.arg if isinstance(node, ast.arg) else _last_name(node.target))
    return found


def _is_page_function(node: ast.AST, known: set[str]) -> bool:
    """Whether an expression is ``forward`` or ``backward`` of an operator.

    An operator is what is annotated as one or named ``op``, and what the registry's ``get`` returns.
    """
    if not isinstance(node, ast.Attribute) or node.attr not in {"forward", "backward"}:
        return False
    if isinstance(node.value, ast.Call):
        return _last_name(node.value.func) == "get"
    name = _last_name(node.value)
    return name in known or name == "op" or name.endswith("_op")


def runs_pages(tree: ast.Module) -> bool:
    """Whether a module calls ``forward`` or ``backward`` of an operator, or a variable that holds one of them."""
    known = _annotated(tree)
    held = {
        _last_name(target)
        for node in ast.walk(tree) if isinstance(node, ast.Assign)
        for target in node.targets
        if any(_is_page_function(part, known) for part in (node.value, *ast.iter_child_nodes(node.value)))
    }
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(_is_page_function(each, known) or _last_name(each) in held for each in called)


def decides_on_replay(tree: ast.Module) -> bool:
    """Whether a function reads which form of the loops runs, or both hooks that a replay would pass by.

    Those hooks are ``engine.attention``, what the engine asks for before a call, and those of the profiler. Whoever
    reads only one of them serves it, and decides on no replay.
    """
    for function in ast.walk(tree):
        if isinstance(function, FunctionNode):
            loaded = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
            read = {(_last_name(node.value), node.attr) for node in loaded if isinstance(node.ctx, ast.Load)}
            objects = {name for name, _ in read}
            if ("_CHOICE" in objects) or ("profiling_hook" in objects and ("engine", "attention") in read):
                return True
    return False


def writes_machine_code(tree: ast.Module) -> bool:
    """Whether a module imports the means to write LLVM's text: ``llvmlite.ir`` or ``intrinsic`` of Numba."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module is not None
        and {(node.module.partition(".")[0], alias.name) for alias in node.names}
        & {("llvmlite", "ir"), ("numba", "intrinsic")}
        for node in ast.walk(tree)
    )


def page_runners() -> list[str]:
    """Modules that run a page themselves."""
    return [file for file, tree in trees(r"\.(for|back)ward\b").items() if runs_pages(tree)]


def replay_deciders() -> list[str]:
    """Modules that decide on a replay; ``loop.py`` of the foundation has the switch, and only chooses a loop's form."""
    found = [file for file, tree in trees(r"\b(_CHOICE|attention)\b").items() if decides_on_replay(tree)]
    return [file for file in found if file != "kernels/foundation/loop.py"]


def machine_code_writers() -> list[str]:
    """Modules that write LLVM's text."""
    return [file for file, tree in trees(r"\b(llvmlite|intrinsic)\b").items() if writes_machine_code(tree)]


# --- the walks of ARCHITECTURE.md ------------------------------------------------------------------

_WALK = re.compile(r"^### (.+?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `([\w/.]+)` \| `([\w.]+)` \| .+ \|$", re.MULTILINE)


def walks() -> dict[str, list[tuple[str, str]]]:
    """The file and the function of each row, by the title of the walk."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Three walks")[2]
    return {title: _ROW.findall(body) for title, body in _WALK.findall(text)}


def ran(rows: Iterable[tuple[str, str]], entries: Iterable[Function]) -> Iterator[bool]:
    """For each row of a walk, whether its function is among the entries."""
    names = {(function.file, function.name) for function in entries}
    return ((Path(file).as_posix(), name) in names for file, name in rows)
