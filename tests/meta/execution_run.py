"""Runs the tests of clauses and demands that they call the code that decides each.

    python -m tests.meta.execution_run                          every clause
    python -m tests.meta.execution_run --seed 1 --clauses 100   so many, drawn by the seed

Every function under ``@decides`` must be called, and of refusals, quirks and functions that a page registers, one. What
stands outside functions, such as a table, has run when its module was imported. Each test runs in a child of this
process; those of a clause for which a call is missing run a second time with loops as Python, so that these are seen.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from refimpl.kernels import distinct
from refimpl.kernels.foundation.loop import python_loops
from spec import trace
from spec.deciding import Decision

from .children import child
from .instead_of_tests import InsteadOfTests
from .mutant_run import Book, Proof
from .regions import PACKAGES, ROOT

SECONDS = 60.0  # for one test, as Python and watched
Called = Collection[tuple[Path, int]]

UNSEEN: dict[str, str] = {
    "Initializer/msra": "the initializer is made when tests are collected",
    "Quirks/environment": "the variable is read once, in a process of its own",
    "RecordIO/killed": "the process that writes is killed",
    "kernel-cache/concurrent": "several processes use one cache",
}
"""Clause -> why nobody sees its tests call the code."""


def calls_of(run: Callable[[], None]) -> Callable[[], set[tuple[Path, int]]]:
    """Run, and return (file, first line) of every function of the package that was called."""
    folders = tuple(str(ROOT / name) + os.sep for name in PACKAGES)

    def work() -> set[tuple[Path, int]]:
        codes: set[Any] = set()

        def called(frame: Any, event: str, _: object) -> None:
            if event == "call":
                codes.add(frame.f_code)

        threading.setprofile(called)  # some tests set a trace function of their own
        sys.setprofile(called)
        try:
            run()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # None ends it
        inside = (code for code in codes if code.co_filename.startswith(folders))
        return {(Path(code.co_filename).resolve().relative_to(ROOT), code.co_firstlineno) for code in inside}

    return work


def is_called(decision: Decision, called: Called) -> bool:
    """Whether a function of the lines of a decision was called."""
    return any(file == decision.file and decision.first <= line <= decision.last for file, line in called)


def missing(decisions: Iterable[Decision], called: Called) -> list[str]:
    """The places of a clause that its tests should have called."""
    decisions = [decision for decision in decisions if not decision.table]
    others = [decision for decision in decisions if not decision.marked]
    wanted = [*([decision] for decision in decisions if decision.marked), others]
    return [
        " or ".join(dict.fromkeys(decision.place for decision in group)) for group in wanted
        if group and not any(is_called(decision, called) for decision in group)
    ]


def drawn(names: Iterable[str], seed: int, count: int) -> list[str]:
    """``count`` names, all for 0; a seed draws the same ones whatever else is written."""
    mixed = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return mixed[: count or None]


def _with_python_loops(run: Callable[[], None]) -> Callable[[], None]:
    """The same test, only to see its calls: a last bit may differ from that of compiled loops."""
    def work() -> None:
        with python_loops(), contextlib.suppress(AssertionError):
            run()

    return work


def judge(name: str, decisions: list[Decision], proofs: Iterable[Proof]) -> list[str]:
    """What no test of a clause calls; the tests stop as soon as nothing is missing."""
    called: set[tuple[Path, int]] = set()
    notes: dict[str, None] = {}
    runs = [(proof.name, proof.run) for proof in proofs]
    for title, run in [*runs, *((title, _with_python_loops(run)) for title, run in runs)]:
        if not missing(decisions, called):
            return []
        how, answer = child(calls_of(run), SECONDS)
        if how == "done":
            called |= answer[0]
        else:
            notes[f"    {title}: {how} {answer or ''}"] = None
    left = missing(decisions, called)
    return [*(f"{name}: no test calls {place}" for place in left), *(notes if left else ())]


class Plugin(InsteadOfTests):
    """The run over clauses."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.found: list[str] | None = None

    def work(self, items: Sequence[pytest.Item], out: Callable[[str], None]) -> None:
        """Look for places that no test of their clause calls."""
        book, table, options = Book(items), trace.collect(ROOT, distinct()), self.options
        names = options.only or drawn(table.clauses, options.seed, options.clauses)
        self.found = []
        for name in names:
            if table.clauses[name].definition or name in UNSEEN:
                continue
            lines = judge(name, table.decisions[name], book.proofs[name])
            self.found += lines
            for line in lines:
                out(line)
        out(f"{len(names)} clauses")


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns 1 when a place is not called."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clauses", type=int, default=0, help="how many; 0 for all")
    parser.add_argument("--only", action="append", default=[], metavar="CLAUSE", help="this clause; may be repeated")
    parser.add_argument("tests", nargs="*", default=[str(ROOT / "tests")], help="where tests are collected")
    options = parser.parse_args(arguments)
    plugin = Plugin(options)
    everything = ["-m", "not peer and not gpu and not cuda_sim"]
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *everything, *options.tests], plugins=[plugin])
    return 1 if plugin.found is None or plugin.found else 0


if __name__ == "__main__":
    sys.exit(main())
