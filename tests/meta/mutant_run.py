"""Breaks the code behind clauses, drawn by a seed, and demands that the clauses' own tests notice.

    python -m tests.meta.mutant_run --seed 1 --clauses 100

Tests are collected once, with loops as Python (``NUMBA_DISABLE_JIT=1``). Each fault is made in a child of this
process, which runs the clause's tests until one fails; a test that takes longer than the watchdog counts as failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import random
import select
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from spec import trace

from . import mutants, regions
from .equivalent import EQUIVALENT
from .regions import ROOT, Lines, Proof

PER_CLAUSE = 5
WATCHDOG = 30.0  # seconds
BASELINE = 20.0  # a test that takes longer, as Python and traced, is left out
NEIGHBOURS = 8  # clauses of the same page or chapter that tell common lines from a clause's own
SUM_ORDERS = 0.1  # part of the draw


# --- children --------------------------------------------------------------------------------------


def child(work: Callable[[], Any], seconds: float) -> tuple[str, Any]:
    """("done", result), ("failed", error) or ("late", None) of work done in a child of this process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            answer: tuple[str, Any] = ("done", work())
        except BaseException as error:  # noqa: BLE001  # a broken program may raise anything
            answer = ("failed", repr(error)[:300])
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    end, data = time.monotonic() + seconds, b""
    with os.fdopen(read, "rb") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return "late", None
            chunk = os.read(pipe.fileno(), 1 << 20)
            if not chunk:
                break
            data += chunk
    os.waitpid(pid, 0)
    return pickle.loads(data) if data else ("failed", "the process died")


def traced(run: Callable[[], None]) -> Callable[[], Lines]:
    """Run and return the lines of the package that were reached."""
    folders = tuple(str(ROOT / name) + os.sep for name in regions.PACKAGES)

    def work() -> Lines:
        found: dict[str, set[int]] = defaultdict(set)

        def line(frame: Any, event: str, _: object) -> Any:
            if event == "line":
                found[frame.f_code.co_filename].add(frame.f_lineno)
            return line

        def call(frame: Any, event: str, _: object) -> Any:
            return line if frame.f_code.co_filename.startswith(folders) else None

        threading.settrace(call)
        sys.settrace(call)
        try:
            run()
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]  # None ends it
        return {Path(file): lines for file, lines in found.items()}

    return work


# --- tests of a clause ---------------------------------------------------------------------------------


def _run_item(item: pytest.Item) -> None:
    for report in runtestprotocol(item, log=False, nextitem=None):
        if report.failed:
            raise AssertionError(report.longreprtext[-300:])
        if report.skipped:
            raise pytest.skip.Exception("skipped")


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
        laws = trace.LAW_FILE.as_posix()
        for op in distinct():
            for name in op.refusals:
                self._add(by_name, name, f"{laws}::test_refuses[{op.name}-{name}]")
        pages = {op.name: op.forward.__module__.rpartition(".")[2] for op in distinct() if op.cases is not None}
        for clause in self.written:
            for law in trace.LAWS.get(clause.name.partition("/")[2], ()):
                for op, page in pages.items():
                    if clause.file.parts[0] == "kernels" and page == clause.file.stem:
                        self._add(by_name, clause.name, f"{laws}::{law}[{op}]")
            self.proofs[clause.name] += regions.example_of(clause)
        self._learnt: dict[str, tuple[list[Proof], Lines, list[str]]] = {}

    @staticmethod
    def _proof(item: pytest.Item) -> Proof:
        return Proof(item.nodeid, lambda: _run_item(item))

    def _add(self, by_name: dict[str, pytest.Item], clause: str, nodeid: str) -> None:
        if nodeid in by_name and clause in self.clauses:
            self.proofs[clause].append(self._proof(by_name[nodeid]))

    def learn(self, name: str) -> tuple[list[Proof], Lines, list[str]]:
        """A clause's tests that pass on the unbroken code, the lines they reach, and the tests left out."""
        if name not in self._learnt:
            good: list[tuple[float, Proof]] = []
            lines: Lines = defaultdict(set)
            out = []
            for proof in self.proofs[name]:
                begun = time.monotonic()
                how, reached = child(traced(proof.run), BASELINE)
                if how == "done":
                    good.append((time.monotonic() - begun, proof))
                    for file, numbers in reached.items():
                        lines[file] |= numbers
                else:
                    out.append(f"{proof.name}: {how} {reached or ''}")
            good.sort(key=lambda pair: pair[0])
            self._learnt[name] = [proof for _, proof in good], dict(lines), out
        return self._learnt[name]

    def neighbours(self, clause: trace.Clause, draw: random.Random) -> list[Lines]:
        """Lines that the tests of other clauses of the same page or chapter reach."""
        near = sorted(c.name for c in self.written if c.file == clause.file and c.name != clause.name)
        return [self.learn(name)[1] for name in draw.sample(near, min(NEIGHBOURS, len(near)))]


# --- the run ---------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of one clause."""

    clause: str
    killed: list[mutants.Mutant]
    survived: list[mutants.Mutant]
    equivalent: list[mutants.Mutant]
    note: str = ""


def chosen(book: Book, clause: trace.Clause, draw: random.Random) -> Iterator[mutants.Mutant]:
    """Faults for a clause, the most telling first: of each kind one, then more."""
    order = clause.name.endswith("/sum-order")
    named = [] if order else [(0, *place) for place in regions.named_places(clause.name)]
    places = named
    if not places:
        own = book.learn(clause.name)[1]
        others = [] if order else book.neighbours(clause, draw)
        files = regions.home(clause, book.written)
        places = regions.run_places(files, own, others)
        if order:
            places = [p for p in places if p[2][1] == mutants.REVERSE]
        if not places:  # what its page calls
            beside = {file for file in own if file.relative_to(ROOT).parts[0] == clause.file.parts[0]}
            places = regions.run_places(beside - {ROOT / "kernels" / "foundation"}, own, others)
            if order:
                places = [p for p in places if p[2][1] == mutants.REVERSE]
    draw.shuffle(places)
    places.sort(key=lambda place: place[0])
    rest = list(places)
    seen: set[int] = set()
    while rest:
        kinds: set[str] = set()
        for entry in list(rest):
            _, file, place = entry
            if place[0] in seen or place[1] in kinds:
                continue
            kinds.add(place[1])
            seen.add(place[0])
            rest.remove(entry)
            yield mutants.mutant(ROOT, file, place)
        if not kinds:
            return


def _broken(fault: mutants.Mutant, proofs: Sequence[Proof]) -> Callable[[], str]:
    def work() -> str:
        if not mutants.apply(ROOT, fault):
            return "unmade"
        for proof in proofs:
            with contextlib.suppress(pytest.skip.Exception):
                proof.run()
        return "survived"

    return work


def judge(book: Book, clause: trace.Clause, draw: random.Random, out: Callable[[str], None]) -> Outcome:
    """Make a clause's faults one after another and run its tests."""
    proofs, _, left_out = book.learn(clause.name)
    outcome = Outcome(clause.name, [], [], [], "" if proofs else f"no test to run: {left_out}")
    if not proofs:
        return outcome
    for fault in chosen(book, clause, draw):
        if len(outcome.killed) + len(outcome.survived) + len(outcome.equivalent) == PER_CLAUSE:
            break
        if (str(fault.file), fault.function, fault.before, fault.after) in EQUIVALENT:
            outcome.equivalent.append(fault)
            continue
        how, what = child(_broken(fault, proofs), WATCHDOG)
        if what == "unmade":
            continue
        (outcome.survived if how == "done" else outcome.killed).append(fault)
        if how == "done":
            out(f"SURVIVED  {clause.name}  {fault}")
    return outcome._replace(note="" if any(outcome[1:4]) else "no code to break")


def drawn(book: Book, seed: int) -> tuple[list[trace.Clause], list[trace.Clause]]:
    """Clauses that state the order of a sum, and the others, in the order of the draw."""
    names = sorted(book.clauses)
    random.Random(seed).shuffle(names)
    sums = [book.clauses[n] for n in names if n.endswith("/sum-order")]
    return sums, [book.clauses[n] for n in names if not n.endswith("/sum-order")]


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
    killed, survived, same = (sum(len(o[i]) for o in outcomes) for i in (1, 2, 3))
    whole = [o for o in outcomes if not o.survived]
    orders = [o for o in whole if o.clause.endswith("/sum-order") and o.killed]
    return (
        f"{len(whole)} of {len(outcomes)} clauses lose every mutant ({len(orders)} of them sum orders); "
        f"{killed} of {killed + survived} mutants die; {same} more are equivalent"
    )


class Plugin:
    """Replaces pytest's loop over tests by the run over mutants."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.outcomes: list[Outcome] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        settings.register_profile("mutants", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        capture = session.config.pluginmanager.getplugin("capturemanager")

        def out(line: str) -> None:
            with capture.global_and_fixture_disabled():
                print(line, flush=True)

        options = self.options
        self.outcomes = run(Book(session.items), options.seed, options.clauses, options.only, out)
        out(summary(self.outcomes))
        return True


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns 1 when fewer clauses than demanded lose every mutant."""
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
    return 0 if plugin.outcomes and whole * 100 >= options.least * len(plugin.outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
