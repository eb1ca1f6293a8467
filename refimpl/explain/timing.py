"""How long each step of the executors takes, measured by the profiler.

The step that a page shows may be the first of a process, in which kernels are compiled. Forward and backward therefore
run a few times more, all contexts side by side as in training. The page shows the clock of the fastest run; the least
time of each step over all runs is the step's own time, without waiting for others. Gradients and auxiliary states are
restored after these runs; operators that draw random numbers draw more of them.
"""

from __future__ import annotations

import time
from typing import Any

from ..base import decides
from ..engine import profiling_hook
from ..executor.step_runner import touched
from ..profiler.recorder import Recorder

Row = dict[str, Any]

FEWEST, MOST, SECONDS = 3, 40, 1.0
"""Runs are repeated until there were ``MOST``, or ``FEWEST`` and so many seconds have passed."""


@decides("Explain/looks-only")
def timed(group: Any) -> dict[str, Any]:
    """Times of every step by context, in microseconds since the first of them began."""
    kept = [
        (array, array.copy()) for executor in group.execs
        for array in [*(executor.grad_arrays or []), *executor.aux_arrays, *executor.outputs] if array is not None
    ]
    best: list[list[Row]] = []
    least: list[list[float]] = []
    repeats, end = 0, time.monotonic() + SECONDS
    while repeats < FEWEST or (repeats < MOST and time.monotonic() < end):
        rows = _once(group)
        repeats += 1
        took = [[row["dur"] for row in of_context] for of_context in rows]
        least = [[min(pair) for pair in zip(*both, strict=True)] for both in zip(least or took, took, strict=True)]
        if not best or _span(rows) < _span(best):
            best = rows
    for array, value in kept:
        value.copyto(array)
    begin = min(row["ts"] for rows in best for row in rows)
    return {
        "repeats": repeats,
        "span": _span(best),
        "contexts": [
            {"context": str(context), "total": sum(fewest), "steps": _listed(executor, rows, fewest, begin)}
            for context, executor, rows, fewest in zip(group.contexts, group.execs, best, least, strict=True)
        ],
    }


def _steps(executor: Any) -> list[tuple[str, Any]]:
    """(phase, step) of everything that an executor runs."""
    program = executor.program
    return [("forward", s) for s in program.forward_steps] + [("backward", s) for s in program.backward_steps]


def _once(group: Any) -> list[list[Row]]:
    """Run forward and backward of all contexts, as the group does; the events of each."""
    recorders = [Recorder() for _ in group.execs]

    def work(index: int) -> None:
        executor = group.execs[index]
        steps = [step for _, step in _steps(executor)]
        profiling_hook.run_steps(recorders[index], steps, True, group.contexts[index])

    group.thread_pool.run(work)
    return [recorder.rows for recorder in recorders]


def _span(rows: list[list[Row]]) -> float:
    """Microseconds from the first beginning to the last end."""
    every = [row for of_context in rows for row in of_context]
    return max(row["ts"] + row["dur"] for row in every) - min(row["ts"] for row in every)


def _listed(executor: Any, rows: list[Row], least: list[float], begin: float) -> list[dict[str, Any]]:
    return [
        {
            "name": touched(step).name, "operator": row["name"], "phase": phase, "began": row["ts"] - begin,
            "took": row["dur"], "least": fewest,
        }
        for (phase, step), row, fewest in zip(_steps(executor), rows, least, strict=True)
    ]
