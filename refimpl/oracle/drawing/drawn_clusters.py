"""Programs of level 7: workers of a parameter server, their pushes and pulls, and the faults of the network."""

from __future__ import annotations

from typing import Any

from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .draws import Draw

Step = dict[str, Any]

FEATURES = frozenset({
    "cluster/dist_async", "cluster/dist_sync", "cluster/rows", "cluster/barrier", "cluster/drops",
    "cluster/duplicates", "cluster/crashes",
})
"""What ``exclude.operators`` may name: programs are then drawn without it. Where ``capabilities.operators`` is a set,
only those that are in it are drawn."""
MOST_DECISIONS = 120
RAREST = 11
"""Decisions are 0 to this: the simulated cluster lets a fault happen where the last of twelve is chosen."""


def cluster_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 7: in dist_sync everybody pushes to the same keys in the same order, in dist_async each as it likes."""
    def may(feature: str) -> bool:
        name = f"cluster/{feature}"
        return capabilities.has(name) and name not in exclude.operators

    kinds = [kind for kind in ("dist_sync", "dist_async") if may(kind)] or ["dist_sync"]
    kind, workers = draw.choice(kinds), draw.integer(1, 4)
    alike: tuple[list[Any], ...] = (["w", "b", "c"], [3, -1, 70000])
    names = draw.choice(alike)[: draw.integer(1, 3)]
    keys = [[name, draw.choice((1, 1, 2, 3, 5))] for name in names]
    sparse = [name for name in names if may("rows") and draw.one_in(5)]
    steps: list[Step] = []
    for _ in range(draw.integer(1, 4)):
        steps += _round(draw, kind, workers, names)
        if may("barrier") and draw.one_in(5):
            steps.append({"do": "barrier"})
    most = {"drops": 8, "duplicates": 8, "crashes": 2}
    faults = {fault: draw.integer(0, count) for fault, count in most.items() if may(fault)}
    schedule = [draw.integer(0, RAREST) for _ in range(draw.integer(0, MOST_DECISIONS))]
    settings: Step = {
        "kind": kind, "workers": workers, "servers": draw.integer(1, 3), "keys": keys, "schedule": schedule,
        "faults": {fault: count for fault, count in faults.items() if count},
    }
    if sparse:
        settings["sparse"] = sparse
    return {"version": VERSION, "level": 7, "steps": steps, "settings": settings}


def _round(draw: Draw, kind: str, workers: int, names: list[Any]) -> list[Step]:
    """A push of every worker, and pulls of some."""
    if kind == "dist_sync":
        steps: list[Step] = [{"do": "push", "key": draw.choice(names)}]
    else:
        steps = [{"do": "push", "key": draw.choice(names), "worker": worker} for worker in range(workers)]
    for worker in range(workers):
        for _ in range(draw.choice((0, 0, 1, 1, 2))):
            steps.append({"do": "pull", "key": draw.choice(names), "worker": worker})
    return steps
