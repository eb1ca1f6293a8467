"""Whether somebody else than the oracle can tell a fault from the right code: calls of an operator, or tests."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refimpl.kernels.foundation import get
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw, example
from tests.meta import mutants
from tests.meta.children import child, untraced
from tests.meta.mutant_run import Book, _run_item
from tests.meta.regions import ROOT, Proof
from tests.oracle.fault_edits import Change

CALLS = 48
"""Calls of each operator that may tell a fault from the right code."""
TEST_ALONE = 1.0
"""A test that takes longer, in seconds of the processor, is not asked."""
NOT_NUMBERS = re.compile(
    r"refus|error|raise|message|warn|repr|print|text|docs|signature|told|names|stub|pictur|interrupt"
)
"""Names of tests of what a trace does not have."""


# --- what calls of an operator give ---------------------------------------------------------------


@cache
def calls_of(operator: str) -> tuple[tuple[int, Any], ...]:
    """(number, what it gives) of calls that are valid."""
    found = ((number, result(operator, number)) for number in range(CALLS))
    return tuple((number, given) for number, given in found if not isinstance(given, str))


def result(operator: str, number: int) -> Any:
    """Outputs, states and gradients of a drawn call, or how it failed."""
    op = get(operator)
    draw = SeededDraw(f"faults/{operator}/{number}")  # type: ignore[arg-type]  # a seed of Python's own generator
    try:
        with np.errstate(all="ignore"):
            return laws.both_ways(example(op, draw), is_train=number % 3 > 0)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001  # a fault may do anything
        return type(error).__name__


def differs(right: Sequence[Any], found: Any) -> bool:
    """Whether other numbers came of a call; an error is no number."""
    return not isinstance(found, str) and not all(
        (a is None and b is None) or (
            a is not None and b is not None and a.shape == b.shape and a.dtype == b.dtype
            and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        ) for a, b in zip(right, found, strict=True)
    )


def shown_by_calls(operators: Sequence[str]) -> list[str]:
    """The operators of which some call gives other numbers now."""
    return [
        name for name in operators if any(differs(right, result(name, number)) for number, right in calls_of(name))
    ]


def apply(change: Change) -> int:
    """Give the loaded functions of the file their changed code, in this process; returns how many."""
    texts = change.file.read_text(encoding="utf-8"), change.whole
    before, after = (
        [*mutants._codes(compile(text, str(change.file), "exec", dont_inherit=True))] for text in texts
    )
    pairs = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
    return mutants._swap(mutants.real_path(str(change.file)), pairs)


def with_fault(change: Change, work: Callable[[], Any], seconds: float) -> Any:
    """What ``work`` returns in a child of this process that has the fault; None where it fails or takes too long."""

    def run() -> Any:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        return work() if apply(change) else None

    how, answer = child(run, seconds)
    return answer[0] if how == "done" else None


# --- what tests say -------------------------------------------------------------------------------


class Tests:
    """The project's tests, by what they are of."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self.book = Book(items)
        self.unit: dict[str, list[Proof]] = {}
        for item in items:
            if item.path.parent.name == "unit" and not NOT_NUMBERS.search(item.nodeid):
                self.unit.setdefault(item.path.stem, []).append(Proof(item.nodeid, partial(_run_item, item)))
        self._quick: dict[str, list[Proof]] = {}

    def of_page(self, page: Path) -> list[Proof]:
        """Tests of the clauses of a page, quick ones."""
        name = page.relative_to(ROOT).as_posix()
        found = {
            proof.name: proof for clause in self.book.written if clause.file.as_posix() == name
            for proof in self.book.proofs[clause.name] if not NOT_NUMBERS.search(proof.name)
        }
        return self.quick(name, found.values())

    def of_module(self, parts: Sequence[str]) -> list[Proof]:
        """Unit tests of a module of the package, quick ones."""
        files = [name for name in sorted(self.unit) if any(part in name for part in parts)]
        return [proof for name in files for proof in self.quick(name, self.unit[name])]

    def quick(self, key: str, proofs: Iterable[Proof]) -> list[Proof]:
        """Those that pass in TEST_ALONE seconds of processor time, in their order."""
        if key not in self._quick:
            self._quick[key] = [
                proof for proof in proofs if child(partial(untraced, proof.run), TEST_ALONE)[0] == "done"
            ]
        return self._quick[key]


def fails(proofs: Sequence[Proof]) -> bool:
    """Whether one of some tests fails now."""
    for proof in proofs:
        try:
            with suppress(pytest.skip.Exception):
                proof.run()
        except BaseException:  # noqa: BLE001  # a fault may do anything
            return True
    return False
