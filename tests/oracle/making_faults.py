"""Makes ``refimpl/oracle/scoring/faults.json``: ``python -m tests.oracle.making_faults --seed 14 FILE``.

The table is ``hand_faults.json``, which is written by hand, and then candidates of every class until it has QUOTA. A
candidate is one small change of the text of a page or of a module of the package, made in the syntax tree. Candidates
come in an order that the seed and their own text give, so that a change of one page moves no candidate of another.

A candidate is kept if somebody else than the oracle can tell it from the right code (``telling_faults``): nothing here
draws a program. On a page, calls of each operator, with the arrays of ``tests/laws`` and made straight to the page's
functions, give other bits; or else a test of the page's clauses, a law of its operators or a worked example fails. In a
module of the package, one of its unit tests fails. What none of them can tell is dropped: most of that changes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from refimpl.kernels.foundation import distinct, get
from refimpl.module.thread_pool import ThreadPool
from refimpl.oracle.drawing.drawn_graphs import drawable
from refimpl.oracle.drawing.random_numbers import random_operators
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.oracle.scoring.faults import CLASSES
from tests.meta import mutants, regions
from tests.meta.instead_of_tests import InsteadOfTests
from tests.oracle.fault_edits import Change, changed, places
from tests.oracle.telling_faults import Tests, calls_of, fails, result, shown_by_calls, with_fault

ROOT = Path(__file__).resolve().parents[2]
HAND = Path(__file__).with_name("hand_faults.json")
QUOTA = {
    "boundary": 36, "index": 36, "term": 37, "sign": 38, "memory": 38, "requirement": 34, "parameter": 38,
    "devices": 68, "bookkeeping": 37, "precision": 38,
}
"""Class -> how many faults it has, those written by hand among them."""
PAGES_OF_DEVICES = 24
"""Faults of the class devices that are on pages of several outputs."""
PER_FILE = {"kernels": 2, "refimpl": 9}
"""How many made faults of one class a file may have."""
OPERATORS = 6
"""Operators of a page, or of pages that share code, that are called. A fault that tests alone tell may be in any."""
CALL_SECONDS, TEST_SECONDS = 6.0, 6.0
"""Processor time that calls, and tests, may take with a fault; one that makes them endless is dropped."""

PACKAGE: dict[str, tuple[tuple[str, int, tuple[str, ...]], ...]] = {
    "requirement": tuple((f"{name}.py", 2, ("executor", "sharing", "memory_plan", "symbol", "graph")) for name in (
        "executor/program", "executor/steps", "executor/executor", "executor/step_runner", "executor/binding",
        "symbol/gradient", "executor/memory_pool", "symbol/memory", "symbol/passes",
    )),
    "devices": (
        *((f"module/{name}.py", 3, ("module", "data_parallel")) for name in (
            "executor_group", "arrays", "batches", "batch_shapes", "descriptions", "parameters", "updates",
        )),
        ("executor_manager/slicing.py", 3, ("executor_manager", "module", "data_parallel")),
        *((f"kvstore/{name}.py", 6, ("kvstore",)) for name in ("local", "values", "pairs", "rows")),
        ("contrib/svrg_optimization/workers.py", 4, ("svrg",)),
        ("contrib/svrg_optimization/full_pass.py", 4, ("svrg",)),
    ),
    "bookkeeping": (
        *((f"optimizer/{name}.py", 5, ("optimizer",)) for name in (
            "rule", "updater", "sgd", "nag", "adam", "adamax", "nadam", "adagrad", "adadelta", "rmsprop", "ftrl",
            "ftml", "lamb", "lars", "lbsgd", "dcasgd", "signum", "contrib", "states", "apply",
        )),
        ("lr_scheduler.py", 5, ("lr_scheduler",)),
        ("kvstore/compression.py", 6, ("kvstore",)), ("kvstore/optimizer_step.py", 6, ("kvstore",)),
        *((f"module/{name}.py", 3, ("module",)) for name in ("module", "base_module", "state_files", "updates")),
        ("module/bucketing_module.py", 4, ("bucket",)), ("module/buckets.py", 4, ("bucket",)),
        ("contrib/svrg_optimization/svrg_module.py", 4, ("svrg",)),
        ("contrib/svrg_optimization/svrg_optimizer.py", 4, ("svrg",)),
        *((f"metric/{name}.py", 3, ("metric",)) for name in ("metric", "classification", "regression", "composite")),
    ),
}
"""Class -> (file, the level of programs that run it, parts of names of its files of unit tests)."""


# --- candidates -----------------------------------------------------------------------------------


@cache
def pages_of(file: Path) -> tuple[Path, ...]:
    """The pages that a file is, or that use it."""
    if file.parent.name == "kernels":
        return (file,)
    names = {file.stem}
    for other in (ROOT / "kernels" / "shared").glob("*.py"):
        if f".{file.stem} import" in other.read_text(encoding="utf-8"):
            names.add(other.stem)
    return tuple(
        page for page in sorted((ROOT / "kernels").glob("*.py"))
        if any(f"shared.{name} import" in page.read_text(encoding="utf-8") for name in names)
    )


@cache
def operators_of(file: Path, called: bool = True) -> tuple[str, ...]:
    """The operators that a page, or what pages share, may change.

    Those that are called here are a fixed choice of OPERATORS, and always give the same numbers; others draw some, or
    may.
    """
    pages = pages_of(file)
    loaded = [sys.modules.get(f"refimpl.kernels.{page.stem}") for page in pages]
    docs = {module.__doc__ for module in loaded if module is not None}
    paths = {mutants.real_path(str(page)) for page in pages}
    can = {*drawable(), *random_operators()}
    found = [
        op.name for op in distinct() if op.name in can and not (called and op.random) and (
            op.doc in docs
            or mutants.real_path(getattr(getattr(op.forward, "__code__", None), "co_filename", "")) in paths
        )
    ]
    return tuple(sorted(found, key=lambda name: order("operators", name))[: OPERATORS if called else None])


def order(*parts: Any) -> bytes:
    """A place in an order that depends on nothing but the parts."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()


@cache
def has_several(name: str) -> bool:
    """Whether calls of an operator have several visible outputs."""
    op = get(name)
    draws = (SeededDraw(number) for number in range(4))
    return any(op.visible_count(example(op, draw).p) > 1 for draw in draws)


def page_places() -> Iterator[tuple[str, Path, int, str]]:
    """Every place of every page, see ``fault_edits.places``."""
    for folder in (ROOT / "kernels", ROOT / "kernels" / "shared"):
        for page in sorted(folder.glob("*.py")):
            if page.name != "__init__.py":
                yield from places(page)


def candidates(seed: int, kind: str, on_pages: bool) -> list[tuple[str, Path, int, str]]:
    """Places of a class in the order of the seed."""
    if on_pages:
        found = [place for place in all_page_places() if kind in ("devices", place[0])]
        if kind == "devices":
            found = [p for p in found if (own := operators_of(p[1])) and all(map(has_several, own))]
    else:
        found = [place for name, _, _ in PACKAGE[kind] for place in places(ROOT / "refimpl" / name, kind)]
    return sorted(found, key=lambda p: order(seed, kind, p[1].relative_to(ROOT), source_of(p[1], p[2]), p[3]))


@cache
def all_page_places() -> tuple[tuple[str, Path, int, str], ...]:
    """See :func:`page_places`."""
    return tuple(page_places())


def source_of(file: Path, number: int) -> str:
    """The text around a place, which tells it from others of one text."""
    node: Any = mutants.parsed(file)[1][number]
    function: Any = mutants.function_of(file, node)
    lines = file.read_text(encoding="utf-8").split("\n")
    return f"{function.name} {node.lineno - function.lineno} {node.col_offset} {lines[node.lineno - 1]}"


# --- making ---------------------------------------------------------------------------------------


class Maker:
    """Makes the table row by row."""

    def __init__(self, seed: int, tests: Tests, out: Callable[[str], None]) -> None:
        self.seed, self.tests, self.out = seed, tests, out
        self.rows: list[dict[str, Any]] = json.loads(HAND.read_text(encoding="utf-8"))
        self.taken = {(row["file"], row["old"]) for row in self.rows}
        self.ids = {row["id"] for row in self.rows}

    def make(self) -> list[dict[str, Any]]:
        """The whole table."""
        for kind in CLASSES:
            wanted = QUOTA[kind] - sum(row["class"] == kind for row in self.rows)
            if kind in PACKAGE:
                on_pages = PAGES_OF_DEVICES if kind == "devices" else 0
                self.some(kind, wanted - on_pages, on_pages=False)
                self.some(kind, on_pages, on_pages=True)
            else:
                self.some(kind, wanted, on_pages=True)
        return self.table()

    def some(self, kind: str, wanted: int, on_pages: bool) -> None:
        """Add made faults of a class."""
        if not wanted:
            return
        files: Counter[Path] = Counter()
        asked, by_calls, made = 0, 0, 0
        for place in candidates(self.seed, kind, on_pages):
            if made == wanted:
                break
            file = place[1]
            if files[file] >= PER_FILE[file.relative_to(ROOT).parts[0]]:
                continue
            change = changed(*place)
            name = str(file.relative_to(ROOT / ("" if on_pages else "refimpl")))
            if change is None or (name, change.old) in self.taken:
                continue
            asked += 1
            operators = self.operators(change) if on_pages else self.of_package(change)
            if operators is None:
                continue
            by_calls += bool(operators)
            files[file] += 1
            made += 1
            own = list(operators or operators_of(file, called=False) * on_pages)
            level = 2 if on_pages else next(level for path, level, _ in PACKAGE[kind] if path == name)
            if set(own) - set(drawable()):  # programs that draw random numbers are of level 1
                level = 1
            self.taken.add((name, change.old))
            number = next(n for n in range(1, 400) if f"{kind}/{file.stem.replace('_', '-')}-{n}" not in self.ids)
            row = {
                "id": f"{kind}/{file.stem.replace('_', '-')}-{number}", "class": kind, "file": name, "old": change.old,
                "new": change.new, "level": level, "operators": own,
                "several": kind == "devices",
            }
            self.ids.add(row["id"])
            self.rows.append(row)
        self.out(f"{kind}: {made} of {asked} candidates, {by_calls} by calls")

    def operators(self, change: Change) -> list[str] | None:
        """The operators of which calls tell a fault of a page, none where only tests do; None where nothing does."""
        own = operators_of(change.file)
        for name in own:
            calls_of(name)
        shown = with_fault(change, partial(shown_by_calls, own), CALL_SECONDS) if own else None
        if shown or shown is None:  # nothing can be asked of it, or it ended the child
            return shown
        proofs = [proof for page in pages_of(change.file)[:OPERATORS] for proof in self.tests.of_page(page)]
        return [] if with_fault(change, partial(fails, proofs), TEST_SECONDS) else None

    def of_package(self, change: Change) -> list[str] | None:
        """An empty list where unit tests tell a fault of a module, else None."""
        name = str(change.file.relative_to(ROOT / "refimpl"))
        parts = next(parts for path, _, parts in PACKAGE[change.kind] if path == name)
        return [] if with_fault(change, partial(fails, self.tests.of_module(parts)), TEST_SECONDS) else None

    def table(self) -> list[dict[str, Any]]:
        """The rows by class, every second of a class held."""
        found = []
        for kind in CLASSES:
            own = sorted((r for r in self.rows if r["class"] == kind), key=lambda r: order(self.seed, "held", r["id"]))
            held = {row["id"] for row in own[len(found) % 2::2]}
            found += [{**row, "held": row["id"] in held} for row in self.rows if row["class"] == kind]
        return found


def text_of(rows: Sequence[dict[str, Any]]) -> str:
    """The table as a file, a row in each line."""
    return "[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n"


class Plugin(InsteadOfTests):
    """Makes faults."""

    def __init__(self, seed: int, file: Path) -> None:
        self.seed, self.file = seed, file

    def work(self, items: Sequence[pytest.Item], out: Callable[[str], None]) -> None:
        """Make the table."""
        ThreadPool._start_threads = lambda self: None  # a child of this process has none of its threads
        for name in drawable():
            result(name, 0)  # loops are made when they first run
        mutants.loaded()
        rows = Maker(self.seed, Tests(items), out).make()
        self.file.write_text(text_of(rows), encoding="utf-8")


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.oracle.making_faults", *sys.argv[1:]])
    folders = [str(ROOT / "tests" / "unit"), str(ROOT / regions.trace.LAW_FILE)]
    return pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *folders], plugins=[
        Plugin(options.seed, options.file.resolve())
    ])


if __name__ == "__main__":
    sys.exit(main())
