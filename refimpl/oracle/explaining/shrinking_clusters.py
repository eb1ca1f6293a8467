"""Programs of level 7 that are one cut smaller: fewer workers, steps, keys, servers and faults, a calmer schedule."""

from __future__ import annotations

from collections.abc import Iterator

from ..judging.reference import Program


def cluster_cuts(program: Program) -> Iterator[Program]:
    """The largest cuts first."""
    settings, steps = program["settings"], program["steps"]
    for worker in range(settings["workers"] - 1, -1, -1):
        if settings["workers"] > 1:
            yield _without_worker(program, worker)
    for number in range(len(steps)):
        yield {**program, "steps": [*steps[:number], *steps[number + 1 :]]}
    for key, _ in settings["keys"]:
        if len(settings["keys"]) > 1 and all(step.get("key") != key for step in steps):
            kept = [pair for pair in settings["keys"] if pair[0] != key]
            yield _set(program, keys=kept, sparse=[k for k in settings.get("sparse", []) if k != key])
    yield from _simpler_settings(program)


def _set(program: Program, **changed: object) -> Program:
    return {**program, "settings": {**program["settings"], **changed}}


def _without_worker(program: Program, worker: int) -> Program:
    steps = []
    for step in program["steps"]:
        who = step.get("worker")
        if who != worker:
            steps.append({**step, "worker": who - 1} if who is not None and who > worker else step)
    return _set({**program, "steps": steps}, workers=program["settings"]["workers"] - 1)


def _simpler_settings(program: Program) -> Iterator[Program]:
    settings = program["settings"]
    faults, schedule = settings.get("faults", {}), settings.get("schedule", [])
    if settings["servers"] > 1:
        yield _set(program, servers=1)
    if settings.get("sparse"):
        yield _set(program, sparse=[])
    if any(rows > 1 for _, rows in settings["keys"]):
        yield _set(program, keys=[[key, 1] for key, _ in settings["keys"]])
    if faults:
        yield _set(program, faults={})
        for name, count in faults.items():
            yield _set(program, faults={n: c for n, c in faults.items() if n != name})
            if count > 1:
                yield _set(program, faults={**faults, name: 1})
    for length in sorted({0, len(schedule) // 2, len(schedule) * 3 // 4, max(0, len(schedule) - 1)}):
        if length < len(schedule):
            yield _set(program, schedule=schedule[:length])
    size = len(schedule) // 2
    while size:  # long calm stretches before single decisions
        for begin in range(0, len(schedule), size):
            if any(schedule[begin : begin + size]):
                calm = [*schedule[:begin], *[0] * len(schedule[begin : begin + size]), *schedule[begin + size :]]
                yield _set(program, schedule=calm)
        size //= 2
    for place, decision in enumerate(schedule):
        if decision > 1:
            yield _set(program, schedule=[*schedule[:place], 1, *schedule[place + 1 :]])
