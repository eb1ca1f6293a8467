"""Prints which clause is written where, which code decides it and which test proves it.

    python spec/trace.py                     the table, and the size of every file
    python spec/trace.py --check             only what is wrong; exit code 1 when anything is
    python spec/trace.py --check --static    the same without running the chapters' Python

Wrong is: a clause that no code decides (``spec/deciding.py`` says how code names them; a definition needs none), that
nothing proves, that is written twice, or like another but for its case; a clause that code or a test names and nobody
wrote; a file of more than 400 lines (500 if most of it is one class, which only a base class of its own could split);
a chapter whose Python does not run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import gc
import io
import itertools
import os
import re
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from spec import deciding, deciding_pages  # noqa: E402
from spec.deciding import NAME, Decision, called  # noqa: E402

LINES_AT_MOST, WITH_ONE_CLASS = 400, 500
ON_PAGE = re.compile(rf"^\[({NAME})\]", re.MULTILINE)
IN_TABLE = re.compile(rf"^\| ({NAME}) \|", re.MULTILINE)  # rows of deviations.md
IN_CHAPTER = re.compile(rf"^\*\*\[({NAME})\]\*\*(?P<definition> \(definition\))?", re.MULTILINE)
ANY_MARK = re.compile(r"\bclause\(")
PLAIN_MARK = re.compile(rf'^ *@pytest\.mark\.clause\(((?:\s*"{NAME}",?)+)\s*\)$', re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # what the block before it prints

# A clause on an operator's page that ends so is proven by laws over every operator with cases.
LAWS = {
    "shape": ("test_infers_fixed_point", "test_infers_from_parts", "test_fills_outputs"),
    "gradient": ("test_gradient_is_slope",),
    "momentum": ("test_changes_states",),
    "step": ("test_changes_states",),
}
SAYS_NOTHING = {  # operators for which a law holds whatever they do
    "test_gradient_is_slope": lambda op: not (op.has_gradient and op.differentiable),
    "test_changes_states": lambda op: not op.mutates,
}
LAW_FILE = Path("tests/laws/test_operators.py")


class Clause(NamedTuple):
    """Where a clause is written, whether a worked example stands beneath it, and whether it only defines a term."""

    name: str
    file: Path
    line: int
    example: bool
    definition: bool = False

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _with_text(clause: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each clause in a text with what stands beneath it, up to the next clause."""
    starts = list(clause.finditer(text))
    for start, after in itertools.zip_longest(starts, starts[1:]):
        yield start, text[start.end() : after.start() if after else None]


def _sources(root: Path, *folders: str) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            yield file.relative_to(root), file.read_text(encoding="utf-8")


def chapters(root: Path = ROOT) -> list[Path]:
    """Every text whose Python is run."""
    return [f for f in (root / "README.md", *sorted((root / "spec").rglob("*.md"))) if f.is_file()]


def written(root: Path = ROOT) -> list[Clause]:
    """Every clause: on a page at the start of a line of its docstring, in a chapter in bold."""
    found = []
    for file, text in _sources(root, "kernels"):
        docstring = ast.get_docstring(ast.parse(text), clean=False) or ""
        offset = text.find(docstring)
        found += [
            Clause(m[1], file, _line(text, offset + m.start()), ">>> " in beneath)
            for m, beneath in _with_text(ON_PAGE, docstring)
        ]
    for path in chapters(root):
        text = path.read_text(encoding="utf-8")
        for m, beneath in _with_text(IN_CHAPTER, text):
            section = re.split(r"^#+ ", beneath, maxsplit=1, flags=re.MULTILINE)[0]
            proven = any(re.search(r"\bassert |>>> ", code) for code in BLOCK.findall(section))
            line, meaning = _line(text, m.start()), bool(m["definition"])
            found.append(Clause(m[1], path.relative_to(root), line, proven, meaning))
    return found


class Mention(NamedTuple):
    """A clause's name in a test or a table. One built from parts (an f-string) is a pattern."""

    pattern: str
    place: str
    must_exist: bool


def deviations(root: Path) -> list[Mention]:
    """Clauses that rows of deviations.md and its part about operators name."""
    texts = {
        file.relative_to(root): file.read_text(encoding="utf-8")
        for file in sorted((root / "spec").rglob("deviations*.md"))
    }
    return [
        Mention(re.escape(m[1]), f"{file}:{_line(text, m.start())}", must_exist=True)
        for file, text in texts.items()
        for m in IN_TABLE.finditer(text)
    ]


def _pattern(node: ast.expr) -> str | None:
    """A regular expression for the clauses that a string expression may name; None for other strings."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value) if re.fullmatch(NAME, node.value) else None
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"[\w-]+" for p in node.values
        ]
        return "".join(parts) if any("/" in p for p in parts) else None
    return None


def marks(root: Path, subjects: set[str]) -> list[Mention]:
    """Clauses that tests are marked with: ``@pytest.mark.clause("Subject/slug")``.

    Where a mark is built from a table (``clause(row[0])``), every clause named in that file counts.
    """
    found = []
    for file, text in _sources(root, "tests"):
        plain = list(PLAIN_MARK.finditer(text))
        if len(plain) == len(ANY_MARK.findall(text)):  # most files need no parser
            for mark in plain:
                found += [
                    Mention(re.escape(m[1]), f"{file}:{_line(text, mark.start(1) + m.start())}", must_exist=True)
                    for m in re.finditer(rf'"({NAME})"', mark[1])
                ]
            continue
        nodes = list(ast.walk(ast.parse(text)))
        arguments = [
            argument for node in nodes if isinstance(node, ast.Call) and called(node) == "clause"
            for argument in node.args
        ]
        from_table = any(_pattern(argument) is None for argument in arguments)
        for node in nodes if from_table else arguments:
            if isinstance(node, ast.expr) and (pattern := _pattern(node)):
                subject = pattern.partition("/")[0].replace("\\", "")
                must_exist = not from_table or subject in subjects
                found.append(Mention(pattern, f"{file}:{node.lineno}", must_exist))
    return found


def laws_for(clause: Clause, operators: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    """(operator of the clause's page, law that proves the clause for it)."""
    laws = LAWS.get(clause.name.partition("/")[2], ())
    if not laws or clause.file.parts[0] != "kernels":
        return
    for op in operators:
        if op.cases is not None and op.forward.__module__.rpartition(".")[2] == clause.file.stem:
            for law in laws:
                if law not in SAYS_NOTHING or not SAYS_NOTHING[law](op):
                    yield op, law


def by_operators(operators: Iterable[Any], clauses: Iterable[Clause]) -> dict[str, list[str]]:
    """What the pages themselves prove: an example, an entry in ``refusals``, a law."""
    proofs: dict[str, list[str]] = defaultdict(list)
    operators = list(operators)
    for op in operators:
        for clause in op.refusals:
            proofs[clause].append(f"refusals of {op.name}")
    for written in clauses:
        found = dict.fromkeys(law for _, law in laws_for(written, operators))
        proofs[written.name] += [f"{LAW_FILE}::{law}" for law in found]
    return proofs


def run_chapter(file: Path, namespace: dict[str, Any] | None = None) -> int:
    """Run a chapter's Python blocks in order, in one namespace and an empty folder; returns how many.

    A block of text that follows one is compared with what it printed.
    """
    import numpy as np

    import refimpl as mx

    text = file.read_text(encoding="utf-8")
    scope = {"mx": mx, "np": np, "__name__": file.stem} if namespace is None else namespace
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        os.chdir(folder)
        try:
            blocks = list(BLOCK.finditer(text))
            for block in blocks:
                line = _line(text, block.start(1))
                out.seek(out.truncate(0))
                if block[1].lstrip().startswith(">>>"):
                    test = doctest.DocTestParser().get_doctest(
                        block[1], scope, file.name, str(file), line - 1
                    )
                    doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
                    scope.update(test.globs)
                else:
                    exec(compile("\n" * (line - 1) + block[1], str(file), "exec"), scope)  # noqa: S102  # our own text
                said = None if os.environ.get("NUMBA_DISABLE_JIT") else PRINTED.match(text, block.end())  # no tables
                assert not said or out.getvalue() == said[1], f"{file}:{line} prints:\n{out.getvalue()}"
        finally:
            os.chdir(before)
    return len(blocks)


def sizes(root: Path = ROOT) -> dict[Path, int]:
    """Lines of every Python file."""
    return {f: t.count("\n") for f, t in _sources(root, "kernels", "refimpl", "tests", "spec")}


def _lines_at_most(file: Path) -> int:
    """How many lines a file may have: more where most of them are one class."""
    text = file.read_text(encoding="utf-8")
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    longest = max(((node.end_lineno or 0) - node.lineno for node in classes), default=0)
    return WITH_ONE_CLASS if longest > text.count("\n") / 2 else LINES_AT_MOST


class Table(NamedTuple):
    """Everything that the script knows."""

    clauses: dict[str, Clause]
    decisions: Mapping[str, list[Decision]]
    proofs: Mapping[str, list[str]]
    problems: list[str]

    @property
    def code(self) -> dict[str, list[str]]:
        """Clause -> the places that decide it: file, line, function, and the type of error where it refuses."""
        return {name: list(dict.fromkeys(d.place for d in found)) for name, found in self.decisions.items()}


def _matching(pattern: str, clauses: Mapping[str, Clause]) -> list[str]:
    plain = pattern.replace("\\", "")
    return [plain] if plain in clauses else [name for name in clauses if re.fullmatch(pattern, name)]


def _written_nowhere(place: str, pattern: str) -> str:
    plain = pattern.replace(r"[\w-]+", "*").replace("\\", "")
    return f"{place}: names {plain}, which is written nowhere"


def _collect_decisions(
    root: Path, clauses: Mapping[str, Clause], operators: Iterable[Any], problems: list[str]
) -> dict[str, list[Decision]]:
    """The code that decides each clause; what names a clause that is not written becomes a problem."""
    subjects = {name.partition("/")[0] for name in clauses}
    found: dict[str, list[Decision]] = defaultdict(list)
    for decision in deciding.decisions(_sources(root, "kernels", "refimpl")):
        named = _matching(decision.pattern, clauses)
        for name in named if decision.decides else ():
            found[name].append(decision)
        if not named and (decision.must_exist or decision.pattern.partition("/")[0].replace("\\", "") in subjects):
            problems.append(_written_nowhere(f"{decision.file}:{decision.line}", decision.pattern))
    for name, ops in deciding_pages.concerned(clauses.values(), operators).items():
        if not any(not decision.table for decision in found[name]):
            found[name] += deciding_pages.of_page(clauses[name], ops, root)
    problems += [
        f"{clause.place}: no code decides {name}" for name, clause in clauses.items()
        if not found[name] and not clause.definition
    ]
    return found


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection: half the time of parsing goes into looking for garbage among nodes."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@_no_collection()
def collect(root: Path, operators: Iterable[Any]) -> Table:
    """Read a tree: clauses, the code that decides them, what proves them, and what is wrong."""
    everything, operators = written(root), list(operators)
    clauses: dict[str, Clause] = {}
    folded: dict[str, Clause] = {}
    problems = []
    for clause in everything:
        other = folded.setdefault(clause.name.lower(), clause)
        if clause.name in clauses:
            problems.append(f"{clause.place}: {clause.name} also stands at {clauses[clause.name].place}")
            continue
        if other is not clause:
            problems.append(f"{clause.place}: {clause.name} differs from {other.name} only in case")
        clauses[clause.name] = clause
    decisions = _collect_decisions(root, clauses, operators, problems)
    subjects = {name.partition("/")[0] for name in clauses}
    proofs = by_operators(operators, everything)
    aside: dict[str, list[str]] = defaultdict(list)
    for found, into in ((marks(root, subjects), proofs), (deviations(root), aside)):
        for mention in found:
            named = _matching(mention.pattern, clauses)
            for name in named:
                into[name].append(mention.place)
            if not named and mention.must_exist:
                problems.append(_written_nowhere(mention.place, mention.pattern))
    for clause in everything:
        if clause.example:
            proofs[clause.name].append("example")
    problems += [
        f"{clause.place}: nothing proves {name}" for name, clause in clauses.items()
        if not proofs[name]
    ]
    problems += [
        f"{file}: {lines} lines, more than {most}" for file, lines in sizes(root).items()
        if lines > LINES_AT_MOST and lines > (most := _lines_at_most(root / file))
    ]
    return Table(clauses, decisions, proofs, problems)


def _failing_chapters(root: Path) -> list[str]:
    found = []
    for file in chapters(root):
        try:
            run_chapter(file)
        except Exception as error:  # noqa: BLE001  # whatever a chapter raises is the finding
            here = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
            line = here[-1].lineno if here else "?"
            text = " ".join(str(error).split()) or "no message"
            found.append(f"{file.relative_to(root)}:{line}: {type(error).__name__}: {text}")
    return found


def _show(table: Table, root: Path) -> None:
    width = max((len(name) for name in table.clauses), default=0)
    for name, clause in sorted(table.clauses.items()):
        code = "none, a definition" if clause.definition else ", ".join(table.code.get(name, ())) or "NOTHING"
        tests = ", ".join(table.proofs[name]) or "NOTHING"
        print(f"{name:{width}}  {clause.place}  code: {code}  proof: {tests}")
    measured = sorted(sizes(root).items(), key=lambda item: -item[1])
    print()
    for file, lines in measured:
        print(f"{lines:5d}  {file}")
    definitions = sum(clause.definition for clause in table.clauses.values())
    lines = sum(n for _, n in measured)
    print(f"{len(table.clauses)} clauses, {definitions} of them definitions; {lines} lines in {len(measured)} files")


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description="Clause, code, test.")
    parser.add_argument("--check", action="store_true", help="print problems only")
    parser.add_argument("--static", action="store_true", help="do not run the chapters' Python")
    options = parser.parse_args(arguments)
    from refimpl.kernels import distinct

    table = collect(ROOT, distinct())
    if options.check:
        problems = [*table.problems, *([] if options.static else _failing_chapters(ROOT))]
        for problem in problems:
            print(problem)
        print(f"{len(table.clauses)} clauses, {len(problems)} problems")
        return 1 if problems else 0
    _show(table, ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
