"""Breaks the code behind clauses, drawn by a seed, and demands that the clauses' own tests notice.

    python -m tests.meta.mutant_run --seed 1 --clauses 100

Tests are collected once, with loops as Python (``NUMBA_DISABLE_JIT=1``). Each fault is made in a child of this
process, which runs the clause's tests until one fails; a test that takes longer than the watchdog counts as failed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol

from spec import trace

from . import mutants, regions
from .children import WATCHDOG, child, traced, untraced
from .equivalent import EQUIVALENT
from .instead_of_tests import InsteadOfTests
from .regions import ROOT, Candidate, Lines, Proof

PER_CLAUSE = 5
BASELINE = 10.0  # a test that takes longer, as Python and traced, is left out
TRIES = 12  # faults that are made at most, where some are other clauses' business
SUM_ORDER = "/sum-order"
SIDE_LAW = "test_fills_outputs"  # proves shapes by running loops, which do not decide them
SUM_ORDERS = 0.1  # part of the draw
EXCUSED = 0.05  # part of the faults that may be listed as changing nothing


# --- tests of a clause ---------------------------------------------------------------------------------


def _run_item(item: pytest.Item) -> None:
    for report in runtestprotocol(item, log=False, nextitem=None):
        if report.failed:
            raise AssertionError(report.longreprtext[-300:])
        if report.skipped:
            raise pytest.skip.Exception("skipped")


class Learnt(NamedTuple):
    """A clause's tests that pass, the lines they reach, those left out, and the seconds that all take, traced."""

    proofs: list[Proof]
    lines: Lines
    left_out: list[str]
    seconds: float


class Book:
    """All clauses with their own tests, and what is learnt about those."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        from refimpl.kernels import distinct

        self.written = trace.written()
        self.clauses = {c.name: c for c in self.written}
        self.proofs: dict[str, list[Proof]] = defaultdict(list)
        by_name = {item.nodeid: item for item in items}
        for item in items:
            named = {name for mark in item.iter_markers("clause") for name in mark.args}
            for name in sorted(named & set(self.clauses)):
                self.proofs[name].append(self._proof(item))
        # "a gradient cannot be asked for", "all gradients are zero": there is no code to break
        zero = trace.SAYS_NOTHING["test_gradient_is_slope"]
        able = {op.forward.__module__.rpartition(".")[2] for op in distinct() if not zero(op)}
        self.absent = {c.name for c in self.written if c.name.endswith("/gradient") and c.file.stem not in able}
        laws = trace.LAW_FILE.as_posix()
        for op in distinct():
            for name in op.refusals:
                self._add(by_name, name, f"{laws}::test_refuses[{op.name}-{name}]")
        for clause in self.written:
            for op, law in trace.laws_for(clause, distinct()):
                self._add(by_name, clause.name, f"{laws}::{law}[{op.name}]")
            self.proofs[clause.name] += regions.example_of(clause)
        self._learnt: dict[str, Learnt] = {}
        self._examples: dict[str, Lines] = {}

    @staticmethod
    def _proof(item: pytest.Item) -> Proof:
        return Proof(item.nodeid, lambda: _run_item(item))

    def _add(self, by_name: dict[str, pytest.Item], clause: str, nodeid: str) -> None:
        if nodeid in by_name and clause in self.clauses:
            self.proofs[clause].append(self._proof(by_name[nodeid]))

    def learn(self, name: str) -> Learnt:
        """What is found out about a clause's tests on the unbroken code."""
        if name not in self._learnt:
            good: list[tuple[float, Proof]] = []
            lines: Lines = defaultdict(set)
            out = []
            for proof in self.proofs[name]:
                traces = on_page(self.clauses[name])  # a chapter's clause is decided where code names it
                how, answer = child(traced(proof.run) if traces else partial(untraced, proof.run), BASELINE)
                if how == "done":
                    reached, seconds = answer
                    good.append((seconds, proof))
                    for file, numbers in reached.items() if SIDE_LAW not in proof.name else ():
                        lines[file] |= numbers
                else:
                    out.append(f"{proof.name}: {how} {answer or ''}")
            good.sort(key=lambda pair: pair[0])
            took = sum(seconds for seconds, _ in good)
            self._learnt[name] = Learnt([proof for _, proof in good], dict(lines), out, took)
        return self._learnt[name]

    def neighbours(self, clause: trace.Clause) -> list[str]:
        """The other clauses of the same page."""
        return sorted(c.name for c in self.written if c.file == clause.file and c.name != clause.name)

    def lines_of_examples(self, name: str) -> Lines:
        """The lines that the worked example beneath a clause reaches."""
        if name not in self._examples:
            self._examples[name] = {}
            for proof in regions.example_of(self.clauses[name]):
                how, answer = child(traced(proof.run), BASELINE)
                if how == "done":
                    self._examples[name] = answer[0]
        return self._examples[name]

    def noticed_by_neighbours(self, clause: trace.Clause, fault: mutants.Mutant) -> bool:
        """Whether a test of another clause of the page fails with a fault."""
        for name in self.neighbours(clause):
            learnt = self.learn(name)
            if fault.line in learnt.lines.get(ROOT / fault.file, ()) and killed(fault, learnt):
                return True
        return False


# --- the run ---------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of one clause."""

    clause: str
    killed: list[mutants.Mutant]
    survived: list[mutants.Mutant]
    equivalent: list[mutants.Mutant]
    elsewhere: list[mutants.Mutant]  # other clauses of the page decide these
    note: str = ""


def candidates(book: Book, clause: trace.Clause) -> list[Candidate]:
    """Where faults can be made for a clause."""
    if clause.name.endswith(SUM_ORDER) and on_page(clause):
        own = book.learn(clause.name).lines
        for files in ({ROOT / clause.file}, {file for file in own if ROOT / "kernels" in file.parents}):
            found = [c for c in regions.run_places(files, own, ()) if c.kind == mutants.SUM]
            if found:  # on the page, or else in a loop that pages share
                return found
        return []
    found = regions.named_places(clause.name)
    if not found and on_page(clause) and clause.name not in book.absent:
        others = [book.lines_of_examples(other) for other in book.neighbours(clause)]
        found = regions.run_places({ROOT / clause.file}, book.learn(clause.name).lines, others)
    return [c for c in found if c.kind != mutants.SUM]


def chosen(found: list[Candidate], draw: random.Random) -> Iterator[mutants.Mutant]:
    """Faults, the most telling first: of each kind one, then more; one at each node."""
    draw.shuffle(found)
    found.sort(key=lambda candidate: candidate.shared_by)
    seen: set[tuple[Path, int]] = set()
    while found:
        kinds: set[str] = set()
        for candidate in list(found):
            at = candidate.file, candidate.node
            if at in seen:
                found.remove(candidate)
            elif candidate.kind not in kinds:
                kinds.add(candidate.kind)
                seen.add(at)
                found.remove(candidate)
                yield mutants.mutant(ROOT, candidate.file, (candidate.node, candidate.kind, candidate.part))


def _broken(fault: mutants.Mutant, proofs: Sequence[Proof]) -> Callable[[], str]:
    def work() -> str:
        if not mutants.apply(ROOT, fault):
            return "unmade"
        for proof in proofs:
            with contextlib.suppress(pytest.skip.Exception):
                proof.run()
        return "survived"

    return work


def killed(fault: mutants.Mutant, learnt: Learnt) -> bool | None:
    """Whether one of the tests fails with a fault; None where the fault cannot be made in loaded code."""
    how, answer = child(_broken(fault, learnt.proofs), min(WATCHDOG, 2 + 3 * learnt.seconds))
    return None if how == "done" and answer[0] == "unmade" else how != "done"


def is_equivalent(clause: str, fault: mutants.Mutant) -> bool:
    """Whether a fault is listed, for every clause or for this one."""
    text = fault.file.as_posix(), fault.function, fault.before, fault.after
    return ("", *text) in EQUIVALENT or (clause, *text) in EQUIVALENT


def judge(book: Book, clause: trace.Clause, draw: random.Random, out: Callable[[str], None]) -> Outcome:
    """Make a clause's faults one after another and run its tests."""
    learnt = book.learn(clause.name)
    outcome = Outcome(clause.name, [], [], [], [], "" if learnt.proofs else f"no test to run: {learnt.left_out}")
    if not learnt.proofs:
        return outcome
    shared = on_page(clause) and not clause.name.endswith(SUM_ORDER) and not regions.named_places(clause.name)
    for fault in itertools.islice(chosen(candidates(book, clause), draw), TRIES):
        if len(outcome.killed) + len(outcome.survived) + len(outcome.equivalent) == PER_CLAUSE:
            break
        if is_equivalent(clause.name, fault):
            outcome.equivalent.append(fault)
            continue
        dies = killed(fault, learnt)
        if dies is None:
            continue
        if dies:
            outcome.killed.append(fault)
        elif shared and book.noticed_by_neighbours(clause, fault):
            outcome.elsewhere.append(fault)
        else:
            outcome.survived.append(fault)
            out(f"SURVIVED  {clause.name}  {fault}")
    if outcome.elsewhere and not outcome.killed:  # its tests run code and notice nothing
        outcome.survived.extend(outcome.elsewhere)
        for fault in outcome.elsewhere:
            out(f"SURVIVED  {clause.name}  {fault}  (noticed by other clauses of the page only)")
    return outcome._replace(note="" if any(outcome[1:5]) else "no code to break")


def on_page(clause: trace.Clause) -> bool:
    """Whether a clause stands on an operator's page, not in a chapter."""
    return clause.file.parts[0] == "kernels"


def drawn(book: Book, seed: int) -> tuple[list[trace.Clause], list[trace.Clause]]:
    """Clauses that state the order of a sum, and the others, in the order of the draw."""
    names = [n for n, c in book.clauses.items() if on_page(c) or regions.named_places(n)]
    names.sort(key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())  # whatever else is written
    sums = [book.clauses[n] for n in names if n.endswith(SUM_ORDER)]
    return sums, [book.clauses[n] for n in names if not n.endswith(SUM_ORDER)]


def run(book: Book, seed: int, count: int, only: Sequence[str], out: Callable[[str], None]) -> list[Outcome]:
    """Judge ``count`` clauses, one in ten a sum order, or those that are named."""
    if only:
        groups = [([book.clauses[name] for name in only], len(only))]
    else:
        sums, others = drawn(book, seed)
        few = min(len(sums), round(count * SUM_ORDERS))
        groups = [(sums, few), (others, count - few)]
    outcomes = []
    for clauses, wanted in groups:
        found = 0
        for clause in clauses:
            if found == wanted:
                break
            outcome = judge(book, clause, random.Random(f"{seed} {clause.name}"), out)
            if outcome.note:
                out(f"passed over  {clause.name}: {outcome.note}")
                continue
            found += 1
            outcomes.append(outcome)
            made = len(outcome.killed) + len(outcome.survived)
            out(f"{clause.name}  {len(outcome.killed)} of {made}")
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> str:
    """The figures of a run."""
    killed, survived, same = (sum(map(len, column)) for column in list(zip(*outcomes, strict=True))[1:4])
    whole = [o for o in outcomes if not o.survived]
    orders = [o for o in whole if o.clause.endswith(SUM_ORDER) and o.killed]
    return (
        f"{len(whole)} of {len(outcomes)} clauses lose every mutant ({len(orders)} of them sum orders); "
        f"{killed} of {killed + survived} mutants die; {same} more are equivalent"
    )


class Plugin(InsteadOfTests):
    """The run over mutants."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.outcomes: list[Outcome] = []

    def work(self, items: Sequence[pytest.Item], out: Callable[[str], None]) -> None:
        """Break the code behind clauses."""
        mutants.loaded()
        options = self.options
        self.outcomes = run(Book(items), options.seed, options.clauses, options.only, out)
        out(summary(self.outcomes))


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns 1 when fewer clauses than demanded lose every mutant, or too many are excused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clauses", type=int, default=100)
    parser.add_argument("--only", action="append", default=[], metavar="CLAUSE", help="this clause; may be repeated")
    parser.add_argument("--least", type=int, default=98, help="clauses in a hundred that must lose every mutant")
    parser.add_argument("tests", nargs="*", default=[str(ROOT / "tests")], help="where tests are collected")
    options = parser.parse_args(arguments)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.meta.mutant_run", *(arguments or sys.argv[1:])])
    plugin = Plugin(options)
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *options.tests], plugins=[plugin])
    whole = sum(not outcome.survived for outcome in plugin.outcomes)
    excused = sum(len(outcome.equivalent) for outcome in plugin.outcomes)
    made = sum(len(outcome.killed) + len(outcome.survived) for outcome in plugin.outcomes)
    enough = whole * 100 >= options.least * len(plugin.outcomes) and excused <= EXCUSED * (made + excused)
    return 0 if plugin.outcomes and enough else 1


if __name__ == "__main__":
    sys.exit(main())
