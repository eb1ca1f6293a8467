"""Which code decides a clause, and which tests are its own.

A clause that code names (in a refusal, a helper's call or a docstring tag) is decided by the condition there and
by what computes it. Any other clause of a page is decided by lines of the page that its tests run; those that
fewer other clauses of the page run come first. A chapter's clause that no code names is not drawn.
"""

from __future__ import annotations

import ast
import doctest
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from spec import deciding, trace

from . import mutants

ROOT = trace.ROOT
PACKAGES = ("kernels", "refimpl")

class Proof(NamedTuple):
    """One of a clause's own tests; ``run`` raises when it fails."""

    name: str
    run: Callable[[], None]


class Candidate(NamedTuple):
    """A place for a fault (see ``mutants.places``), and how many neighbouring clauses' examples run it."""

    shared_by: int
    file: Path
    node: int
    kind: str
    part: int


# --- code that names a clause --------------------------------------------------------------------


@cache
def sources() -> tuple[Path, ...]:
    """Every file of the package."""
    return tuple(file for folder in PACKAGES for file in sorted((ROOT / folder).rglob("*.py")))


@cache
def _constants(file: Path) -> dict[str, str]:
    """Clauses that a file gives a name of its own: ``CLAUSE = "Subject/slug"``."""
    return {
        node.targets[0].id: node.value.value for node in mutants.parsed(file)[0].body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def _names_clause(file: Path, node: ast.AST) -> str | None:
    """The clause that a call has as its first argument."""
    if not isinstance(node, ast.Call) or not node.args or deciding.called(node) == "decides":
        return None  # a whole function that decides a clause holds much that is none of it
    first = node.args[0]
    value = _constants(file).get(first.id) if isinstance(first, ast.Name) else getattr(first, "value", None)
    return value if isinstance(value, str) and re.fullmatch(trace.NAME, value) else None


@cache
def citations() -> dict[str, list[tuple[Path, ast.AST]]]:
    """Clause -> (file, node) of each call or docstring in a function that names it."""
    found: dict[str, list[tuple[Path, ast.AST]]] = {}
    for file in sources():
        for node in mutants.parsed(file)[1]:
            name = _names_clause(file, node)
            if name and mutants.function_of(file, node) is not None:
                found.setdefault(name, []).append((file, node))
            if isinstance(node, ast.FunctionDef):
                for tag in re.findall(rf"\[({trace.NAME})\]", ast.get_docstring(node) or ""):
                    found.setdefault(tag, []).append((file, node))
    return found


def _condition(file: Path, call: ast.AST) -> list[ast.AST]:
    """The smallest code around a refusal that decides whether it happens."""
    function = mutants.function_of(file, call)
    inside = []
    for node in mutants.above(file, call):
        if node is function:
            break
        inside.append(node)
    raising = next((n for n in inside if isinstance(n, ast.Raise)), None)
    statement = next((n for n in inside if isinstance(n, ast.stmt)), function)
    assert statement is not None
    if raising is None:
        return [statement]
    around = next((n for n in inside if isinstance(n, (ast.If, ast.For, ast.While, ast.ExceptHandler))), None)
    if isinstance(around, ast.If):
        return [around.test, raising]
    if isinstance(around, ast.ExceptHandler):
        return [raising]
    before = [n.test for n in ast.walk(function) if isinstance(n, ast.If) and n.lineno < raising.lineno]
    return [*before, raising]


def _made_names(node: ast.Assign | ast.AugAssign) -> set[str]:
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _makes(file: Path, node: ast.Assign | ast.AugAssign, names: set[str]) -> bool:
    """Whether an assignment, which names no clause, makes one of these."""
    return bool(_made_names(node) & names) and not any(_names_clause(file, n) for n in ast.walk(node))


def _with_feeding(file: Path, nodes: list[ast.AST]) -> set[ast.AST]:
    """Nodes, what is in them, and the assignments before them in their function that make the values they read.

    What makes an object of which they read an attribute is not among these, nor what names a clause itself.
    """
    function = mutants.function_of(file, nodes[0])
    inside = [n for top in nodes for n in ast.walk(top)]
    objects = {id(n.value) for n in inside if isinstance(n, ast.Attribute)}
    deciding = [n for top in nodes if not isinstance(top, ast.Raise) for n in ast.walk(top)]  # not what a message shows
    names = {n.id for n in deciding if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in objects}
    last = max(mutants.line_of(file, n) for n in nodes)
    feeding = [
        n for n in (ast.walk(function) if function is not None else ())
        if isinstance(n, (ast.Assign, ast.AugAssign)) and n.lineno < last and _makes(file, n, names)
    ]
    return {*inside, *(n for top in feeding for n in ast.walk(top))}


def named_places(clause: str) -> list[Candidate]:
    """Faults in the code that names the clause."""
    found = []
    for file, node in citations().get(clause, ()):
        if isinstance(node, ast.FunctionDef):
            region = set(ast.walk(node))
        else:
            nodes = _condition(file, node)
            region = _with_feeding(file, nodes) | {
                up for n in nodes for up in [mutants.parents(file).get(n)]
                if isinstance(up, ast.If) and up.test is n  # its negation
            }
        found += [Candidate(0, file, *place) for place in mutants.places(file, region.__contains__)]
    return found


# --- code that a clause's tests run ----------------------------------------------------------------


Lines = dict[Path, set[int]]


@cache
def _lines_of_refusals(file: Path) -> set[int]:
    """Lines of statements that name a clause: they are that clause's."""
    found: set[int] = set()
    for node in mutants.parsed(file)[1]:
        names = isinstance(node, (ast.Expr, ast.Assign, ast.Raise, ast.Return)) and any(
            _names_clause(file, n) for n in ast.walk(node)
        )
        if names:
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def run_places(files: Iterable[Path], own: Lines, others: Sequence[Lines]) -> list[Candidate]:
    """Faults in the lines of ``files`` that the clause's tests run; ``others`` are lines that its neighbours run."""
    found = []
    for file in sorted(set(files) & set(own)):
        for place in mutants.places(file, partial(_on, file, own[file] - _lines_of_refusals(file))):
            line = mutants.line_of(file, mutants.parsed(file)[1][place[0]])
            found.append(Candidate(sum(line in other.get(file, ()) for other in others), file, *place))
    return found


def _on(file: Path, lines: set[int], node: ast.AST) -> bool:
    return mutants.line_of(file, node) in lines


# --- worked examples -------------------------------------------------------------------------------


def _page_example(clause: trace.Clause) -> None:
    """Run the examples beneath a clause of a page, after whatever the page assigned before."""
    import numpy as np

    from refimpl.kernels import grad, run

    text = ast.get_docstring(mutants.parsed(ROOT / clause.file)[0], clean=False) or ""
    start, end = _section(trace.ON_PAGE, text, clause.name)
    scope: dict[str, Any] = {"run": run, "grad": grad, "np": np}
    test = doctest.DocTestParser().get_doctest(text, scope, clause.name, None, 0)
    first, last = text.count("\n", 0, start), text.count("\n", 0, end)
    for example in test.examples:
        if example.lineno < first and not example.want:
            with suppress(Exception):
                exec(example.source, scope)
    test.examples = [e for e in test.examples if first <= e.lineno < last]
    test.globs = scope
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def _section(pattern: re.Pattern[str], text: str, name: str) -> tuple[int, int]:
    starts = list(pattern.finditer(text))
    number = next(i for i, m in enumerate(starts) if m[1] == name)
    return starts[number].start(), starts[number + 1].start() if number + 1 < len(starts) else len(text)


def _chapter_example(clause: trace.Clause) -> None:
    """Run the blocks beneath a clause of a chapter, after those before; only the former can fail."""
    import numpy as np

    import refimpl as mx

    text = (ROOT / clause.file).read_text(encoding="utf-8")
    start, end = _section(trace.IN_CHAPTER, text, clause.name)
    heading = re.search(r"^#+ ", text[start:end], re.MULTILINE)
    end = start + heading.start() if heading else end
    scope: dict[str, Any] = {"mx": mx, "np": np, "__name__": clause.file.stem}
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        os.chdir(folder)
        for block in trace.BLOCK.finditer(text):
            if block.start() < start:
                with suppress(Exception):
                    _block(block[1], scope)
            elif block.start() < end:
                _block(block[1], scope)


def _block(code: str, scope: dict[str, Any]) -> None:
    if not code.lstrip().startswith(">>>"):
        exec(compile(code, "<chapter>", "exec"), scope)
        return
    test = doctest.DocTestParser().get_doctest(code, scope, "chapter", None, 0)
    doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    scope.update(test.globs)


def example_of(clause: trace.Clause) -> Iterator[Proof]:
    """The worked example beneath a clause, if there is one."""
    if clause.example:
        on_page = clause.file.parts[0] == "kernels"
        yield Proof("example", partial(_page_example if on_page else _chapter_example, clause))
