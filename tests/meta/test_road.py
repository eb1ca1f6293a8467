"""The text that is read stays the text that runs: each row of ``road.py`` stays within its bound."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading

import numba
import pytest

import refimpl as mx

from . import road_sources
from .frames import ROOT, Count, Function, Hook

# What each row may be, and what it shall become; None where only today's number counts.
# Python 3.11 counts these calls. Lower a bound whenever a row falls: `python -m tests.meta.road` prints them all.
# A steady step may take one call more where a thread has to be woken: a fourth number, once.
ROWS: dict[str, tuple[int, int | None]] = {
    "step 1: calls": (1462, None),
    "step 2: calls": (5844, None),
    "step 3: calls": (157, None),
    "step 4: calls": (157, None),
    "step 5: calls": (157, None),
    "step 6: calls": (157, None),
    "step 7: calls": (157, None),
    "step 8: calls": (157, None),
    "step 9: calls": (157, None),
    "step 10: calls": (157, None),
    "dot 1: calls": (96, None),
    "dot 2: calls": (195, None),
    "dot 3: calls": (18, None),
    "warm batch of fit: calls": (252, None),
    "warm batch of fit: calls of lambdas and comprehensions among them": (15, None),
    "warm batch of fit: functions": (95, 100),
    "warm batch of fit: files": (27, 28),
    "warm batch of fit: code lines outside functions in these files": (656, None),
    "warm push: calls": (83, 100),
    "warm push: calls of lambdas and comprehensions among them": (0, None),
    "warm push: functions": (50, 45),
    "warm push: files": (14, 11),
    "warm push: code lines outside functions in these files": (399, None),
    "step: different numbers of calls": (4, 3),
    "step: calls of the last": (156, None),
    "dot: different numbers of calls": (3, 3),
    "dot: calls of the last": (18, None),
    "walk 'mx.nd.dot': rows that do not run in the tenth call": (7, None),
    "walk 'One batch of fit': rows that do not run in the tenth call": (2, None),
    "walk 'One push': rows that do not run in the tenth call": (0, None),
    "step, fast road off: different numbers of calls": (2, 2),
    "step, fast road off: calls of the last": (1055, None),  # it varies by 2
    "dot, fast road off: different numbers of calls": (2, 2),
    "dot, fast road off: calls of the last": (56, None),
    "walk 'mx.nd.dot', fast road off: rows that do not run in the tenth call": (0, 0),
    "walk 'One batch of fit', fast road off: rows that do not run in the tenth call": (0, 0),
    "walk 'One push', fast road off: rows that do not run in the tenth call": (0, 0),
    "fit, fast road off: code lines of its functions": (6378, 5500),
    "fit, fast road off: functions": (768, None),
    "fit, fast road off: files": (109, 110),
    "fit, fast road off: code lines outside functions in these files": (2942, None),
    "fit, fast road off: calls of generated code": (26, None),
    "fit, fast road off: code lines of its loops": (217, None),
    "fit: code lines of functions that run with the fast road only": (893, 800),
    "modules that run a page": (1, 1),
    "modules that decide on a replay": (1, 1),
    "files that write machine code": (10, None),
    "folders that hold them": (1, 1),
}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the bounds are numbers of calls in Python 3.11")
@pytest.mark.skipif(numba.config.DISABLE_JIT or numba.config.ENABLE_CUDASIM, reason="the bounds are those of kernels")
def test_every_row_stays_within_its_bound() -> None:
    """The least of up to five measurements counts: on a busy machine a thread may wait, and then calls more."""
    rows = _rows()
    assert rows.keys() == ROWS.keys()
    for _ in range(4):
        if not _beyond(rows):
            break
        rows = {name: min(value, rows[name]) for name, value in _rows().items()}
    assert _beyond(rows) == {}


def _beyond(rows: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in rows.items() if value > ROWS[name][0]}


def _rows() -> dict[str, int]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REFIMPL_", "MXNET_"))}
    if "REFIMPL_CACHE_DIR" in os.environ:
        kept["REFIMPL_CACHE_DIR"] = os.environ["REFIMPL_CACHE_DIR"]
    command = [sys.executable, "-m", "tests.meta.road", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- the tools themselves --------------------------------------------------------------------------


def _counted(work: object) -> list[Count]:
    before = sys.getprofile()
    hook = Hook()
    try:
        work(hook)
    finally:
        counts = hook.end()
        sys.setprofile(before)
    return counts


def test_calls_are_counted_by_function_and_in_threads() -> None:
    def work(hook: Hook) -> None:
        mx.cpu(0)
        hook.mark()
        thread = threading.Thread(target=lambda: [mx.cpu(1), mx.cpu(2)])
        thread.start()
        thread.join()
        hook.mark()
        hook.mark()

    one, two, none = _counted(work)
    assert {function.name: times for function, times in one.entries.items()} == {"cpu": 1, "Context.__init__": 1}
    assert one.files == ["refimpl/context.py"]
    assert (one.calls, two.calls, none.calls) == (2, 4, 0)
    assert [function.name for function in one.order] == ["cpu", "Context.__init__"]


def test_lines_of_a_function_are_its_own(tmp_path, monkeypatch) -> None:
    head = '"""Text."""\n\nLIMIT = 1\n\n\n@mark\ndef outer():\n    """Text\n    of two lines."""\n'
    body = "    # a comment\n    def inner():\n        return [\n            1,\n        ]\n    return inner\n"
    (tmp_path / "a.py").write_text(head + body)
    monkeypatch.setattr(road_sources, "ROOT", tmp_path)
    monkeypatch.setattr(road_sources, "lines_of", road_sources.lines_of.__wrapped__)
    assert road_sources.lines_of("a.py") == ({6: 3, 11: 4}, 1)
    outer = Function("a.py", 6, "outer")
    assert road_sources.code_lines([outer, Function("a.py", 12, "outer.<locals>.inner.<listcomp>")]) == 3
    assert road_sources.lines_outside(["a.py"]) == 1


@pytest.mark.parametrize(
    "text", [
        "op.forward(p, a)", "self.op.backward(p)", "get('dot').forward(p, a)", "def f(page: Op): page.forward()",
        "function = op.forward\nfunction(p)", "function = op.forward if there else other\nfunction(p)",
    ],
)
def test_who_runs_a_page_is_found(text: str) -> None:
    assert road_sources.runs_pages(ast.parse(text))


@pytest.mark.parametrize(
    "text", ["executor.forward(True)", "there = op.backward is None", "runner.forward(op, p)", "reached(op.forward)"]
)
def test_who_only_asks_runs_no_page(text: str) -> None:
    assert not road_sources.runs_pages(ast.parse(text))


@pytest.mark.parametrize(
    ("text", "is_one"), [
        ("def f(): return _CHOICE.plain", True), ("def f(): return loop._CHOICE.python", True),
        ("def f(): return engine.attention or profiling_hook.symbolic", True),
        ("def f(): return engine.attention", False), ("def f(): profiling_hook.imperative()", False),
    ],
)
def test_who_decides_on_a_replay_is_found(text: str, is_one: bool) -> None:
    assert road_sources.decides_on_replay(ast.parse(text)) is is_one


def test_who_writes_machine_code_is_found() -> None:
    one, other, neither = "llvmlite import ir", "numba.core.extending import intrinsic", "llvmlite.binding import ffi"
    assert [road_sources.writes_machine_code(ast.parse(f"from {text}")) for text in (one, other)] == [True, True]
    assert not road_sources.writes_machine_code(ast.parse(f"from {neither}"))
