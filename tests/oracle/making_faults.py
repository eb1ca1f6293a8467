"""Makes candidates for ``refimpl/oracle/scoring/faults.json``: ``python -m tests.oracle.making_faults FILE [SEED]``.

A candidate is one small change of the text of a page or of a module of the package, made in the syntax tree and
chosen by a seed. It is kept if programs of the changed code give other numbers, bit by bit, in a child of this
process: no bound and no tolerance has a part in that. Faults that programs of these sorts cannot show are written by
hand into the table, as are those that need more than one change of one expression.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

os.environ["NUMBA_DISABLE_JIT"] = "1"

from refimpl.kernels.foundation import distinct, get
from refimpl.module.thread_pool import ThreadPool
from refimpl.oracle.drawing import buckets, modules, optimizers, stores
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.drawing.executors import executor_program, of_graph
from refimpl.oracle.drawing.graphs import Capabilities, Graph, drawable
from refimpl.oracle.reference import trace_of
from tests.meta import mutants
from tests.oracle.fault_edits import Change, changed, places

ROOT = Path(__file__).resolve().parents[2]
CALLS = 8
"""Calls of each operator that must tell a fault from the right code."""
LIVES = 12
"""Programs of each level, for faults outside pages."""
QUOTA = {
    "boundary": 40, "index": 44, "term": 44, "sign": 42, "memory": 40, "parameter": 40, "precision": 40,
    "bookkeeping": 22, "requirement": 18, "devices": 34,
}
"""Class -> how many candidates to make."""
PER_FILE = {"kernels": 2, "refimpl": 9}
"""How many faults of one class a file may have."""
PACKAGE = {
    "requirement": (
        "executor/program.py", "executor/steps.py", "executor/executor.py", "executor/step_runner.py",
        "executor/binding.py",
        "symbol/gradient.py", "executor/memory_pool.py", "symbol/memory.py", "symbol/passes.py",
        "symbol/common_expressions.py", "symbol/dead_branches.py",
    ),
    "devices": (
        "executor_manager/slicing.py", "module/executor_group.py", "module/arrays.py", "module/batches.py",
        "module/batch_shapes.py", "module/descriptions.py", "module/parameters.py", "module/updates.py",
        "kvstore/sums.py", "kvstore/local.py", "kvstore/values.py", "kvstore/pairs.py", "kvstore/rows.py",
        "model/multi_device.py", "model/updating.py", "symbol/devices.py", "kvstore/optimizer_step.py",
        "contrib/svrg_optimization/workers.py", "contrib/svrg_optimization/full_pass.py",
    ),
    "bookkeeping": (
        "optimizer/rule.py", "optimizer/updater.py", "optimizer/sgd.py", "optimizer/nag.py", "optimizer/adam.py",
        "optimizer/adamax.py", "optimizer/nadam.py", "optimizer/adagrad.py", "optimizer/adadelta.py",
        "optimizer/rmsprop.py", "optimizer/ftrl.py", "optimizer/ftml.py", "optimizer/lamb.py", "optimizer/lars.py",
        "optimizer/lbsgd.py", "optimizer/dcasgd.py", "optimizer/signum.py", "optimizer/contrib.py",
        "optimizer/states.py", "optimizer/apply.py", "optimizer/grouped.py", "lr_scheduler.py",
        "kvstore/compression.py", "kvstore/optimizer_step.py", "module/module.py", "module/base_module.py",
        "module/bucketing_module.py", "module/buckets.py", "module/state_files.py", "module/updates.py",
        "contrib/svrg_optimization/svrg_module.py", "contrib/svrg_optimization/svrg_optimizer.py",
        "metric/metric.py", "metric/classification.py", "metric/regression.py", "metric/composite.py",
    ),
}


# --- whether numbers change -----------------------------------------------------------------------


@cache
def calls_of(operator: str) -> tuple[Any, ...]:
    """Programs of one operator, and what they give."""
    found = []
    for i in range(CALLS):
        draw = SeededDraw(f"direct/{operator}/{i}")
        graph = Graph(draw, Capabilities())
        try:
            outputs = graph.call(get(operator))
            if outputs is not None:
                program = of_graph(2, draw, graph, outputs, Capabilities())
                found.append((operator, 2, program, trace_of(program)))
        except Exception:  # noqa: BLE001  # Python's numbers cannot do everything that machine code does
            continue
    return tuple(found)


@cache
def lives_of(level: int) -> tuple[Any, ...]:
    """Programs of one level, and what they give."""
    drawers = {
        2: (executor_program,), 3: (modules.module_program,), 4: (buckets.bucketing_program, buckets.svrg_program),
        5: (optimizers.optimizer_program, optimizers.optimizer_program), 6: (stores.store_program,),
    }[level]
    found = []
    for drawer in drawers:
        for i in range(LIVES):
            try:
                program = drawer(SeededDraw(f"direct/{level}/{i}/{len(found)}"), Capabilities(level=level))
                found.append(("", level, program, trace_of(program)))
            except Exception:  # noqa: BLE001  # as above
                continue
    return tuple(found)


def differs(program: Any, right: dict[str, np.ndarray]) -> str:
    """How what a program gives now differs: "value", "error" or ""."""
    try:
        found = trace_of(program)
    except Exception:  # noqa: BLE001  # a fault may do anything
        return "error"
    same = found.keys() == right.keys() and all(
        found[name].shape == right[name].shape and found[name].dtype == right[name].dtype
        and np.array_equal(found[name], right[name], equal_nan=right[name].dtype.kind == "f") for name in right
    )
    return "" if same else "value"


def _apply(change: Change) -> int:
    texts = change.file.read_text(encoding="utf-8"), change.whole
    before, after = (
        [*mutants._codes(compile(text, str(change.file), "exec", dont_inherit=True))] for text in texts
    )
    pairs = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
    return mutants._swap(mutants.real_path(str(change.file)), pairs)


def shown(change: Change, programs: tuple[Any, ...]) -> Counter[tuple[str, int, str]]:
    """(operator, level, how) -> how many programs differ, found in a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        found: Counter[tuple[str, int, str]] = Counter()
        try:
            signal.setitimer(signal.ITIMER_PROF, 5)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            if _apply(change):
                for operator, level, program, right in programs:
                    if not found[operator, level, "value"] and (operator or not found):
                        found[operator, level, differs(program, right)] += 1
                        found = +found
                        found.pop((operator, level, ""), None)
            os.write(writing, json.dumps([[*k, v] for k, v in found.items()]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return Counter({(a, b, c): n for a, b, c, n in json.loads(text or b"[]")})


# --- choosing -------------------------------------------------------------------------------------


@cache
def operators_of(file: Path) -> tuple[str, ...]:
    """The operators that a page, or what pages share, may change."""
    if file.parent.name == "kernels":
        pages = {file}
    else:
        names = {file.stem}
        for other in (ROOT / "kernels" / "shared").glob("*.py"):
            if f".{file.stem} import" in other.read_text(encoding="utf-8"):
                names.add(other.stem)
        pages = {
            page for page in (ROOT / "kernels").glob("*.py")
            if any(f"shared.{name} import" in page.read_text(encoding="utf-8") for name in names)
        }
    loaded = [sys.modules.get(f"refimpl.kernels.{page.stem}") for page in pages]
    docs = {module.__doc__ for module in loaded if module is not None}
    paths = {mutants.real_path(str(page)) for page in pages}
    can = set(drawable())
    return tuple(
        op.name for op in distinct() if op.name in can and (
            op.doc in docs
            or mutants.real_path(getattr(getattr(op.forward, "__code__", None), "co_filename", "")) in paths
        )
    )


def _entry(change: Change, found: Counter[tuple[str, int, str]], number: int) -> dict[str, Any] | None:
    values = Counter({(o, level): n for (o, level, how), n in found.items() if how == "value"})
    if not values:
        return None
    level = max((2, 3, 4, 5, 6), key=lambda each: sum(n for (_, own), n in values.items() if own == each))
    operators = sorted({o for o, _ in values if o})
    return {
        "id": f"{change.kind}-{change.file.stem}-{number}", "class": change.kind,
        "file": str(change.file.relative_to(ROOT)), "old": change.old, "new": change.new, "level": level,
        "operators": operators,
    }


def make(seed: int) -> list[dict[str, Any]]:
    """Candidates of every class."""
    source = random.Random(seed)
    ThreadPool._start_threads = lambda self: None  # a child of this process has none of its threads
    for name in drawable():
        calls_of(name)
    for level in (2, 3, 4, 5, 6):
        lives_of(level)
    mutants.loaded()  # last, because loops are made when they first run
    pages = [
        page for page in sorted((ROOT / "kernels").glob("*.py")) + sorted((ROOT / "kernels" / "shared").glob("*.py"))
        if page.name != "__init__.py"
    ]
    by_class: dict[str, list[tuple[str, Path, int, str]]] = {}
    for page in pages:
        for place in places(page):
            by_class.setdefault(place[0], []).append(place)
    for kind, files in PACKAGE.items():
        for name in files:
            by_class.setdefault(kind, []).extend(places(ROOT / "refimpl" / name, kind))
    print("enumerated", {kind: len(each) for kind, each in by_class.items()}, file=sys.stderr, flush=True)
    made: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text()) if Path(sys.argv[1]).exists() else []
    for kind, wanted in QUOTA.items():
        candidates = by_class[kind]
        source.shuffle(candidates)
        files: Counter[Path] = Counter()
        texts = {f"{ROOT / row['file']}{row['old']}" for row in made}
        count, tried = sum(row["class"] == kind for row in made), 0
        for place in candidates:
            if count >= wanted:
                break
            if files[place[1]] >= PER_FILE[place[1].relative_to(ROOT).parts[0]] or (change := changed(*place)) is None:
                continue
            area = change.file.relative_to(ROOT).parts[0]
            if (key := f"{change.file}{change.old}") in texts:
                continue
            if area == "kernels":
                programs = tuple(each for name in operators_of(change.file)[:6] for each in calls_of(name))
            else:
                levels = {"requirement": (2,), "devices": (6, 3), "bookkeeping": (5, 6)}[kind]
                programs = tuple(each for level in levels for each in lives_of(level))
            if not programs:
                continue
            tried += 1
            entry = _entry(change, shown(change, programs), count + 1)
            if entry is not None:
                files[change.file] += 1
                texts.add(key)
                count += 1
                made.append(entry)
                Path(sys.argv[1]).write_text(json.dumps(made, indent=1), encoding="utf-8")
        print(kind, f"{count} of {tried} tried, {len(candidates)} possible", file=sys.stderr, flush=True)
    return made


if __name__ == "__main__":
    make(int(sys.argv[2]) if len(sys.argv) > 2 else 14)
