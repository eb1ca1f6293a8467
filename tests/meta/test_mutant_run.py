"""The run over mutants: what it breaks, that it sees what a test lets pass, and (long) the run itself."""

from __future__ import annotations

import ast
import gc
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from refimpl.executor_manager.slicing import _split_input_slice

from . import mutants, regions

mutant_run = pytest.importorskip("tests.meta.mutant_run", reason="faults are made in forked processes")

SAMPLE = '''
def loop(a, out, n, low):
    """Text with 1."""
    for i in items(n):
        total = 0.5
        for j in range(n):
            total += a[j]
        for j in range(n):
            out[j] = 2
        if total < low:
            raise refusal("Sample/low", f"{total} is below {low - 1}")
        out[i] = total / n
    require("Sample/many", n > 3, "few")
    for x in a:
        if x:
            return [y for y in a if y]
'''


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    file = tmp_path / "sample.py"
    file.write_text(SAMPLE)
    return file


def test_every_kind_of_fault_is_made_where_it_can_be(sample: Path) -> None:
    found = [mutants.mutant(sample.parent, sample, place) for place in mutants.places(sample, lambda node: True)]
    assert sorted({(f.line, f.kind, f.before, f.after) for f in found if f.kind != mutants.OFFSET}) == [
        (6, "reverse a sum", "for j in range(n)", "for j in reversed(list(range(n)))"),
        (7, "drop", "total += a[j]", "pass"),
        (9, "drop", "out[j] = 2", "pass"),
        (10, "negate", "if total < low", "if not total < low"),
        (10, "swap", "total < low", "low < total"),
        (11, "drop", "raise refusal('Sample/low', f'{total} is below {low - 1}')", "pass"),
        (12, "drop", "out[i] = total / n", "pass"),
        (12, "swap", "total / n", "n / total"),
        (13, "drop", "require('Sample/many', n > 3, 'few')", "pass"),
        (13, "negate", "require('Sample/many', n > 3, 'few')", "require('Sample/many', not n > 3, 'few')"),
        (13, "swap", "n > 3", "3 > n"),
        (14, "reverse", "for x in a", "for x in reversed(list(a))"),
        (15, "negate", "if x", "if not x"),
        (16, "negate", "if y", "if not y"),
    ]
    assert sorted((f.line, f.before, f.after) for f in found if f.kind == mutants.OFFSET) == [
        (5, "0.5 in total = 0.5", "-0.5"), (5, "0.5 in total = 0.5", "1.5"),
        (9, "2 in out[j] = 2", "1"), (9, "2 in out[j] = 2", "3"),
        (13, "3 in n > 3", "2"), (13, "3 in n > 3", "4"),
    ]


@pytest.mark.parametrize(("body", "carried"), [
    ("total += a[j]", True),
    ("total = combine(total, a[j])", True),
    ("out[i] += a[j] * b", True),
    ("out[j] += a[j]", False),  # a sum of its own in every round
    ("k = j * 2; out[k] += a[j]", False),
    ("part = 0; part += a[j]", False),  # begun anew in every round
    ("top = max(top, a[j])", False),
    ("count += 1", False),
])
def test_a_loop_is_reversed_where_it_carries_a_sum(body: str, carried: bool) -> None:
    (loop,) = ast.parse(f"for j in range(n):\n    {body}").body
    assert isinstance(loop, ast.For)
    assert mutants.carries(loop) == carried


@pytest.fixture
def functions() -> Iterator[None]:
    mutants.loaded.cache_clear()
    yield
    mutants.loaded.cache_clear()
    gc.unfreeze()


def refuses_without_weights() -> None:
    try:
        _split_input_slice(4, [0, 0])
    except ZeroDivisionError as error:
        assert error.clause == "split/zero-weights"  # type: ignore[attr-defined]
    else:
        raise AssertionError("weights of 0 were taken")
    assert _split_input_slice(4, [1, 1]) == [slice(0, 2), slice(2, 4)]
    assert _split_input_slice(2, [1]) == [slice(0, 2)]


@pytest.mark.heavy
def test_a_test_that_can_fail_kills_and_an_idle_one_does_not(functions: None) -> None:
    judged = partial(mutant_run.Learnt, lines={}, left_out=[], seconds=1.0)
    good = judged([regions.Proof("good", refuses_without_weights)])
    idle = judged([regions.Proof("idle", lambda: _split_input_slice(4, [1, 1]))])
    places = regions.named_places("split/zero-weights")
    faults = [mutants.mutant(regions.ROOT, c.file, (c.node, c.kind, c.part)) for c in places if c.kind != mutants.SUM]
    assert {fault.kind for fault in faults} >= {"negate", "offset", "drop"}
    assert [fault for fault in faults if not mutant_run.killed(fault, good)] == []
    dropped = next(fault for fault in faults if fault.kind == "drop" and "raise" in fault.before)
    assert mutant_run.killed(dropped, idle) is False


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.meta.mutant_run", *arguments]
    return subprocess.run(command, cwd=regions.ROOT, capture_output=True, text=True, check=False)


@pytest.mark.heavy
def test_one_clause() -> None:
    done = run("--only", "dot/sum-order", "tests/unit/test_sum_orders.py")
    assert "1 of 1 clauses lose every mutant (1 of them sum orders)" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.long
def test_mutant_run() -> None:
    done = run("--seed", os.environ.get("REFIMPL_MUTANT_SEED", "1"), "--clauses", "100")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    orders = re.search(r"\((\d+) of them sum orders\)", done.stdout)
    assert orders is not None and int(orders[1]) >= 10, done.stdout[-2000:]
