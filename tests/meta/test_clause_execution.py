"""The tests of a clause call the code that decides it: a few here, all in the long lane."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from refimpl.kernels.foundation.loop import python_loops
from spec import trace
from spec.deciding import Decision

from . import regions

execution_run = pytest.importorskip("tests.meta.execution_run", reason="tests are watched in forked processes")

SEED = int(os.environ.get("REFIMPL_EXECUTION_SEED", "1"))
COUNT = int(os.environ.get("REFIMPL_EXECUTION_CLAUSES", "0"))
FEW = 12

FILE = Path("kernels/foundation/refusal.py")


def place(first: int, last: int, *, marked: bool = True, table: bool = False) -> Decision:
    return Decision("A/one", FILE, first, f"f{first}", first, last, marked=marked, table=table)


def test_every_marked_function_must_be_called() -> None:
    called = {(FILE, 12), (Path("kernels/dot.py"), 30)}
    assert execution_run.missing([place(10, 20)], called) == []
    assert execution_run.missing([place(10, 20), place(30, 40)], called) == [f"{FILE}:30 f30"]
    assert execution_run.missing([place(13, 20)], called) == [f"{FILE}:13 f13"]


def test_of_places_that_are_not_marked_one_is_enough() -> None:
    refusals = [place(10, 20, marked=False), place(30, 40, marked=False)]
    assert execution_run.missing(refusals, {(FILE, 35)}) == []
    assert execution_run.missing(refusals, {(FILE, 25)}) == [f"{FILE}:10 f10 or {FILE}:30 f30"]
    assert execution_run.missing([place(10, 20, marked=False, table=True)], {(FILE, 25)}) == []
    assert execution_run.missing([place(10, 20), *refusals], {(FILE, 15)}) == []


def test_calls_are_seen() -> None:
    from refimpl.kernels.foundation import require

    called = execution_run.calls_of(lambda: require("A/one", True, "never"))()
    [(file, line)] = called
    assert file == FILE
    assert "def require" in (trace.ROOT / file).read_text().splitlines()[line - 1]


def test_examples_of_a_few_clauses_call_what_decides_them(table: trace.Table) -> None:
    on_pages = [name for name, clause in table.clauses.items() if clause.example and clause.file.parts[0] == "kernels"]
    found = []
    for name in execution_run.drawn(on_pages, SEED, FEW):
        called: set[tuple[Path, int]] = set()
        with python_loops():
            for proof in regions.example_of(table.clauses[name]):
                called |= execution_run.calls_of(proof.run)()
        found += execution_run.missing(table.decisions[name], called)
    assert found == []


@pytest.mark.long
def test_tests_of_clauses_call_what_decides_them() -> None:
    """About twenty minutes for all; REFIMPL_EXECUTION_CLAUSES draws so many, by REFIMPL_EXECUTION_SEED."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.meta.execution_run", "--seed", str(SEED), "--clauses", str(COUNT)],
        cwd=trace.ROOT, capture_output=True, text=True, check=False,
    )
    print(run.stdout)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
