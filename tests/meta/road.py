"""How far the text that is read is the text that runs: our own functions that a call, a step or ``fit`` goes through.

    python -m tests.meta.road         # prints each row: the number of today beside its goal
    python -m tests.meta.road fit     # lists the functions that ``fit`` runs, in the order of the run, by file and line

Each row is measured in a process of its own: a child of one that has imported the package and run nothing. The hook
is set before any thread starts (``frames.py``). Kernels are kept: where one had to be compiled, the row is measured
again, so that compiling counts nowhere.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numba.core.event
import numpy as np

import refimpl as mx
from refimpl.kernels.foundation.ahead import AHEAD

from . import road_sources
from .children import child
from .frames import Count, Hook

SECONDS = 120.0  # of processor time for one program, its kernels included
REPEATED = 10
RATES = {"learning_rate": 0.5, "momentum": 0.5}

Mark = Callable[[], None]


# --- the programs that are measured ----------------------------------------------------------------


def _two() -> list[mx.Context]:
    return [mx.cpu(0), mx.cpu(1)]


def _perceptron() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8)
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=3)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def _convolutional() -> mx.sym.Symbol:
    net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4)
    net = mx.sym.Activation(mx.sym.BatchNorm(net), act_type="relu")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=8), act_type="relu")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3), name="softmax")


def _batches(count: int, rows: int = 8) -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(np.ones((count * rows, 4), np.float32), np.zeros(count * rows), batch_size=rows)


def step(mark: Mark) -> None:
    """One mark after each ``forward_backward; update`` of the same batch."""
    for rows, times in ((4, 3), (8, REPEATED)):  # steps with other shapes load the kernels, those of a replay too
        module = mx.mod.Module(_perceptron(), context=_two())
        batches = _batches(1, rows)
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params()
        module.init_optimizer(kvstore="local", optimizer_params=RATES)
        batch = next(batches)
        mx.nd.waitall()
        mark()
        for _ in range(times):
            module.forward_backward(batch)
            module.update()
            mx.nd.waitall()
            mark()


def dot(mark: Mark) -> None:
    """One mark after each ``mx.nd.dot`` of the same arrays, then one after each with ``asnumpy``."""
    a, b = mx.nd.ones((4, 5)), mx.nd.ones((5, 4))
    for _ in range(3):  # loads the kernels
        mx.nd.dot(a, b)
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((3, 2))
    mark()
    for _ in range(REPEATED):
        mx.nd.dot(a, b)
        mark()
    for _ in range(REPEATED):
        mx.nd.dot(a, b).asnumpy()
        mark()


def batch_of_fit(mark: Mark) -> None:
    """One mark after each batch of ``fit``."""
    module = mx.mod.Module(_perceptron(), context=_two())
    module.fit(_batches(REPEATED + 2), num_epoch=1, optimizer_params=RATES, batch_end_callback=lambda _: mark())


def push(mark: Mark) -> None:
    """One mark after each push of two arrays, and one after each pull."""
    store = mx.kv.create("local")
    store.init("w", mx.nd.zeros((2,)))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    gradients, weight = [mx.nd.ones((2,), ctx=context) for context in _two()], mx.nd.zeros((2,))
    mark()
    for _ in range(REPEATED + 1):
        store.push("w", gradients)
        mark()
        store.pull("w", out=weight)
        mark()


def fit(mark: Mark) -> None:
    """One mark: training with a store, a score and a checkpoint."""
    random = np.random.RandomState(0)
    images, labels = random.uniform(-1, 1, (24, 1, 8, 8)), np.arange(24) % 3
    batches = mx.io.NDArrayIter(images, labels, batch_size=4)
    module = mx.mod.Module(_convolutional(), context=_two())
    module.fit(batches, num_epoch=2, kvstore="local", optimizer_params=RATES)
    module.score(batches, "acc")
    with tempfile.TemporaryDirectory() as folder:
        module.save_checkpoint(str(Path(folder) / "net"), 2)
    mark()


def measured(program: Callable[[Mark], None], *, fast: bool = True) -> list[Count]:
    """The counts between the marks of a program that runs in a child of this process."""

    def work() -> tuple[list[Count], int]:
        with (
            AHEAD.by(1), numba.core.event.install_recorder("numba:compile") as compiled,
            nullcontext() if fast else mx.util.fast_road(False),
        ):
            hook = Hook()
            program(hook.mark)
            return hook.end(), len(compiled.buffer)

    for _ in range(2):
        outcome, answer = child(work, SECONDS)
        if outcome != "done":
            raise RuntimeError(f"{program.__name__}: {outcome}, {answer}")
        counts, compilations = answer[0]
        if not compilations:
            break
    return counts


# --- the rows --------------------------------------------------------------------------------------


def _steps(name: str, counts: list[Count]) -> dict[str, int]:
    """Calls of equal steps: how many different numbers there are, and that of the last."""
    calls = [count.calls for count in counts]
    return {f"{name}: different numbers of calls": len(set(calls)), f"{name}: calls of the last": calls[-1]}


def _places(name: str, count: Count) -> dict[str, int]:
    """Where one step goes."""
    return {
        f"{name}: calls": count.calls,
        f"{name}: calls of lambdas and comprehensions among them": count.nameless,
        f"{name}: functions": len(count.entries),
        f"{name}: files": len(count.files),
        f"{name}: code lines outside functions in these files": road_sources.lines_outside(count.files),
    }


def _closure(count: Count) -> dict[str, int]:
    """What somebody reads who reads all of ``fit``."""
    return {
        "fit, fast road off: code lines of its functions": road_sources.code_lines(count.entries),
        "fit, fast road off: functions": sum(not function.is_nameless for function in count.entries),
        "fit, fast road off: files": len(count.files),
        "fit, fast road off: code lines outside functions in these files": road_sources.lines_outside(count.files),
        "fit, fast road off: calls of generated code": count.generated,
        "fit, fast road off: code lines of its loops": road_sources.code_lines(count.loops),
    }


def _left_out(title: str, counts: list[Count]) -> int:
    """How many rows of a walk do not run in these counts; ``fit`` itself is called once and all batches run in it."""
    rows = [row for row in road_sources.walks()[title] if row[1] != "BaseModule.fit"]
    return list(road_sources.ran(rows, [function for count in counts for function in count.entries])).count(False)


def measure() -> dict[str, int]:
    """Every row by its name; see ``test_road.ROWS`` for what each may be."""
    rows: dict[str, int] = {}
    whole = {}
    for fast, mode in ((True, ""), (False, ", fast road off")):
        counts = {program: measured(program, fast=fast) for program in (step, dot, batch_of_fit, push, fit)}
        steps, dots, warm = counts[step][-REPEATED:], counts[dot][1 : REPEATED + 1], counts[batch_of_fit][REPEATED]
        if fast:
            rows |= {f"step {number}: calls": count.calls for number, count in enumerate(steps, 1)}
            rows |= {f"dot {number}: calls": count.calls for number, count in enumerate(dots[:3], 1)}
            rows |= _places("warm batch of fit", warm) | _places("warm push", counts[push][-2])
        rows |= _steps(f"step{mode}", steps) | _steps(f"dot{mode}", dots)
        tenth = {"mx.nd.dot": counts[dot][-1:], "One batch of fit": [warm], "One push": counts[push][-2:]}
        for title, of_title in tenth.items():
            rows[f"walk {title!r}{mode}: rows that do not run in the tenth call"] = _left_out(title, of_title)
        whole[fast], = counts[fit]
    added = whole[True].entries.keys() - whole[False].entries.keys()
    rows |= _closure(whole[False])
    rows["fit: code lines of functions that run with the fast road only"] = road_sources.code_lines(added)
    rows["modules that run a page"] = len(road_sources.page_runners())
    rows["modules that decide on a replay"] = len(road_sources.replay_deciders())
    writers = road_sources.machine_code_writers()
    rows["files that write machine code"] = len(writers)
    rows["folders that hold them"] = len({Path(file).parent for file in writers})
    return rows


def _print_rows() -> None:
    from .test_road import ROWS  # it starts this module in a process of its own

    print(f"{'':75}{'today':>8}{'bound':>8}{'goal':>8}")
    for name, value in measure().items():
        bound, goal = ROWS.get(name, (None, None))
        print(f"{name:75}{value:8}{'-' if bound is None else bound:>8}{'-' if goal is None else goal:>8}")


def _print_fit() -> None:
    count, = measured(fit, fast=False)
    loops = set(count.loops)
    for function in count.order:
        if not function.is_nameless:
            lines = road_sources.code_lines([function])
            kind = "  loop" if function in loops else ""
            print(f"{function.file}:{function.line}  {function.name}  {lines} lines{kind}")
    for name, value in _closure(count).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    if sys.argv[1:] == ["fit"]:
        _print_fit()
    elif sys.argv[1:] == ["--json"]:
        print(json.dumps(measure()))
    else:
        _print_rows()
