"""Which faults the exported suite meets: of drawn clauses about numbers, one fault each in the code behind it.

    python -m tests.oracle.suite_faults SUITE RESULTS.jsonl --seed 1 --clauses 100

A clause is about numbers if the code that decides it is on a page or in a module that computes (FOLDERS), and refuses
nothing. Its fault is the first one, in an order that the seed gives, with which a test of the clause fails
(``tests.meta.mutant_run``). The fault is made in a child of this process, which runs the cases of the operators of the
page, or of the levels that run the module, until one fails. The same case must pass without the fault.

    python -m tests.oracle.suite_faults SUITE RESULTS.jsonl --again

makes the faults of a file of results once more, and writes there which cases of another suite fail.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import refimpl
from refimpl.module.thread_pool import ThreadPool
from refimpl.oracle.programs import interpreter
from refimpl.oracle.suite import verdicts
from refimpl.oracle.suite.elements import listed
from spec import trace
from tests.meta import mutant_run, mutants, regions
from tests.meta.children import child, traced
from tests.meta.instead_of_tests import InsteadOfTests
from tests.oracle.fault_edits import SKIPPED
from tests.oracle.making_faults import operators_of, pages_of
from tests.oracle.telling_faults import NOT_NUMBERS

ROOT = regions.ROOT
FOLDERS = {
    "executor": (2,), "symbol/gradient.py": (2,), "symbol/passes.py": (2,), "symbol/memory.py": (2,),
    "module": (3, 4), "executor_manager": (3,), "metric": (3,), "contrib/svrg_optimization": (4,),
    "optimizer": (5, 3), "lr_scheduler.py": (5,), "kvstore": (6, 3),
}
"""What computes -> the levels of programs that run it, the ones that show most first."""
CLUSTERS = ("dist", "ray", "server", "history", "histories", "transport", "cluster", "simulat", "worker")
"""Parts of names of files that only several machines run: no program of levels 1 to 6 does."""
SECONDS = 120.0
"""Processor time that cases may take with a fault; one that takes longer is met, as an answer that never comes."""
TRIES = 40


def levels_of(file: Path) -> tuple[int, ...]:
    """The levels of programs that run a module of the package."""
    name = file.relative_to(ROOT / "refimpl").as_posix()
    if any(part in name for part in CLUSTERS):
        return ()
    return next((levels for start, levels in FOLDERS.items() if name.startswith(start)), ())


class Finder:
    """Finds a fault for each clause."""

    def __init__(self, book: mutant_run.Book) -> None:
        self.book = book
        rows = json.loads((ROOT / "refimpl" / "rules" / "index.json").read_text(encoding="utf-8"))
        self.decided = {row[0]: row[2] for row in rows}

    def learn(self, clause: trace.Clause) -> mutant_run.Learnt:
        """The quick tests of a clause that pass, and the lines that they run."""
        good, lines = [], {}
        for proof in self.book.proofs[clause.name]:
            if NOT_NUMBERS.search(proof.name) or mutant_run.SIDE_LAW in proof.name or len(good) == 4:
                continue
            how, answer = child(traced(proof.run), 4.0)
            if how == "done":
                good.append((answer[1], proof))
                for file, numbers in answer[0].items():
                    lines.setdefault(file, set()).update(numbers)
        good.sort(key=lambda pair: pair[0])
        return mutant_run.Learnt([proof for _, proof in good], lines, [], sum(seconds for seconds, _ in good))

    def fault(self, clause: trace.Clause, draw: random.Random) -> mutants.Mutant | None:
        """A fault in the code behind a clause with which one of its tests fails."""
        if not self.is_about_numbers(clause):
            return None
        learnt = self.learn(clause)
        found = self.places(clause, learnt) if learnt.proofs else []
        for fault in itertools.islice(mutant_run.chosen(found, draw), TRIES):
            if mutant_run.is_equivalent(clause.name, fault) or any(word in fault.function for word in SKIPPED):
                continue
            if mutant_run.killed(fault, learnt):
                return fault
        return None

    def is_about_numbers(self, clause: trace.Clause) -> bool:
        """Whether code that computes decides a clause, which cites it in no refusal."""
        if regions.named_places(clause.name) or not self.decided.get(clause.name):
            return False
        if mutant_run.on_page(clause):
            return clause.name not in self.book.absent
        return bool(self.functions(clause))

    def functions(self, clause: trace.Clause) -> list[tuple[Path, str]]:
        """(file, name) of what computes among the code that decides a clause of a chapter."""
        pairs = [place.split("::") for place in self.decided[clause.name]]
        return [(ROOT / file, name) for file, name in pairs if file.startswith("refimpl/") and levels_of(ROOT / file)]

    def places(self, clause: trace.Clause, learnt: mutant_run.Learnt) -> list[regions.Candidate]:
        """Where faults can be made: on lines that the clause's tests run."""
        if mutant_run.on_page(clause):
            others = [self.book.lines_of_examples(other) for other in self.book.neighbours(clause)]
            found = regions.run_places({ROOT / clause.file}, learnt.lines, others)
            return [c for c in found if c.kind != mutants.SUM]
        found = []
        for file, name in self.functions(clause):
            lines = lines_of(file, name) & learnt.lines.get(file, set())
            found += regions.run_places({file}, {file: lines}, ())
        return [c for c in found if c.kind != mutants.SUM]


def lines_of(file: Path, name: str) -> set[int]:
    """The lines of a function, method or class."""
    import ast

    nodes: Sequence[ast.AST] = mutants.parsed(file)[0].body
    for part in name.split("."):
        node: Any = next((n for n in nodes if getattr(n, "name", None) == part), None)
        if node is None:
            return set()
        nodes = node.body
    return set(range(node.lineno, node.end_lineno + 1))


# --- cases ----------------------------------------------------------------------------------------


class Cases:
    """The cases of a suite with their programs."""

    def __init__(self, folder: Path) -> None:
        self.wanted = verdicts.read_cases(folder)
        self.programs = {case["case"]: case["program"] for case in verdicts.programs(folder)}

    def of(self, file: Path, page: bool) -> list[str]:
        """The cases that may show a fault in a file, by name."""
        if page:
            names = {name for each in pages_of(file) for name in operators_of(each, called=False)}
            return [n for n, case in self.wanted.items() if case.level <= 2 and names & set(case.operators)]
        levels = levels_of(file)
        several = [n for n, case in self.wanted.items() if case.level in levels and (case.level > 2 or "-graph-" in n)]
        return sorted(several, key=lambda name: levels.index(self.wanted[name].level))

    def wrong(self, name: str) -> str:
        """How this implementation fails a case as it is now; empty where it passes."""
        try:
            got = interpreter.run(refimpl, self.programs[name])
        except interpreter.Refused as error:
            return f"refused: {error}"[:200]
        for array, wanted in self.wanted[name].trace.items():
            text = verdicts.difference(wanted, listed(got[array]) if array in got else None)
            if text:
                return f"{array}{text}"
        return ""


def met(cases: Cases, fault: mutants.Mutant, names: Sequence[str]) -> tuple[str, str]:
    """The first case that fails with a fault, and how; empty texts where none does."""

    def work() -> tuple[str, str]:
        mutants.apply(ROOT, fault)
        for name in names:
            text = cases.wrong(name)
            if text:
                return name, text
        return "", ""

    how, answer = child(work, SECONDS)
    return answer[0] if how == "done" else (names[0], f"{how}: {answer}"[:200])


# --- the run --------------------------------------------------------------------------------------


class Plugin(InsteadOfTests):
    """The run over clauses."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    def work(self, items: Sequence[pytest.Item], out: Callable[[str], None]) -> None:
        """Plant a fault for each clause, and run cases."""
        ThreadPool._start_threads = lambda self: None  # a child of this process has none of its threads
        mutants.loaded()
        cases = Cases(self.options.suite)
        known = {row["clause"]: row for row in rows_of(self.options.results)}
        finder = Finder(mutant_run.Book(items))
        count = 0
        for clause in drawn(finder, self.options.seed):
            if count == self.options.clauses:
                break
            row = known.get(clause.name)
            if row is None:
                row = self.row_of(finder, cases, clause)
                known[clause.name] = row
                with self.options.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            count += "met" in row
            out(f"{count} {clause.name}: {row.get('met') or row.get('note') or 'NO CASE FAILS'}")
        out(summary(known.values()))

    def row_of(self, finder: Finder, cases: Cases, clause: trace.Clause) -> dict[str, Any]:
        """The result of a clause."""
        fault = finder.fault(clause, random.Random(f"{self.options.seed} {clause.name}"))
        if fault is None:
            return {"clause": clause.name, "note": "no fault in numbers"}
        names = cases.of(ROOT / fault.file, mutant_run.on_page(clause))
        if not names:
            return {"clause": clause.name, "note": f"no cases for {fault.file}"}
        return {"clause": clause.name, "fault": str(fault), **outcome(cases, fault, names)}


def outcome(cases: Cases, fault: mutants.Mutant, names: Sequence[str]) -> dict[str, Any]:
    """What a row says of the cases."""
    name, text = met(cases, fault, names)
    if name:  # a child runs it: loops that this process has run would keep their code in later children
        how, right = child(lambda: cases.wrong(name), SECONDS)
        if how != "done" or right[0]:
            name, text = "", f"fails without the fault too: {right}"
    return {"cases": len(names), "met": name, "how": text}


def summary(rows: Iterable[dict[str, Any]]) -> str:
    """How many faults fail a case."""
    counted = [row for row in rows if "met" in row]
    return f"{sum(bool(row['met']) for row in counted)} of {len(counted)} faults fail a case"


def made_again(text: str) -> mutants.Mutant | None:
    """The fault that a row describes, at the line that is nearest; None where the code has no such place."""
    head, after = text.split("  ->  ")
    where, function, kind, before = head.split(": ", 3)
    name, _, line = where.partition(":")
    file = ROOT / name

    def wanted(node: Any) -> bool:
        return getattr(mutants.function_of(file, node), "name", "<lambda>") == function

    found = [mutants.mutant(ROOT, file, place) for place in mutants.places(file, wanted) if place[1] == kind]
    alike = [fault for fault in found if (fault.before, fault.after) == (before, after)]
    return min(alike, key=lambda fault: abs(fault.line - int(line)), default=None)


def again(options: argparse.Namespace) -> None:
    """Make the faults of the file of results once more, and write which cases fail."""
    rows = {row["clause"]: row for row in rows_of(options.results)}
    faults = {clause: made_again(row["fault"]) for clause, row in rows.items() if "fault" in row}
    for fault in filter(None, faults.values()):
        name = ".".join(fault.file.with_suffix("").parts)
        importlib.import_module(name if name.startswith("refimpl.") else f"refimpl.{name}")
    ThreadPool._start_threads = lambda self: None  # a child of this process has none of its threads
    mutants.loaded()
    cases = Cases(options.suite)
    for clause, fault in faults.items():
        row = rows[clause]
        if fault is None:
            print(f"{clause}: there is no such place any more: {row['fault']}", flush=True)
            continue
        names = cases.of(ROOT / fault.file, fault.file.parts[0] == "kernels")
        first = sorted(names, key=lambda name: name != row["met"])
        rows[clause] = {"clause": clause, "fault": str(fault), **outcome(cases, fault, first)}
        print(f"{clause}: {rows[clause]['met'] or 'NO CASE FAILS'}", flush=True)
    text = "".join(json.dumps(row) + "\n" for row in rows.values())
    options.results.write_text(text, encoding="utf-8", newline="\n")
    print(summary(rows.values()))


def drawn(finder: Finder, seed: int) -> Iterator[trace.Clause]:
    """The clauses about numbers in the order of the seed."""
    names = sorted(finder.book.clauses, key=lambda name: mutant_run.hashlib.sha256(f"{seed} {name}".encode()).digest())
    for name in names:
        clause = finder.book.clauses[name]
        if not name.endswith(mutant_run.SUM_ORDER) and finder.is_about_numbers(clause):
            yield clause


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of results; the last one of each clause counts."""
    return [json.loads(line) for line in _text(path).splitlines()]


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clauses", type=int, default=100)
    parser.add_argument("--again", action="store_true", help="make the faults of RESULTS again")
    options = parser.parse_args()
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.oracle.suite_faults", *sys.argv[1:]])
    logging.disable()
    warnings.simplefilter("ignore")
    options.suite, options.results = options.suite.resolve(), options.results.resolve()
    if options.again:
        again(options)
        return 0
    folders = [str(ROOT / "tests" / "unit"), str(ROOT / regions.trace.LAW_FILE)]
    return pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *folders], plugins=[Plugin(options)])


if __name__ == "__main__":
    sys.exit(main())
