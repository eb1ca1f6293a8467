"""The data of a walk from operator to operator: written values, live memory, and overwritten values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import decides
from ..executor.steps import BackwardStep, ForwardStep
from ..symbol.inference import Key
from .structure import Names

Data = dict[str, Any]


@decides("Explain/values")
def add_steps(nodes: list[Data], names: Names, seen: Mapping[int, tuple[Any, list[Data]]]) -> None:
    """Add to each operator of ``nodes`` the values that its step wrote, live memory, and the values that it overwrote.

    ``seen`` maps the identity of each executor step to the values that it wrote in this run.
    """
    by_id = {node["id"]: node for node in nodes}
    program = names.program
    for step in [*program.forward_steps, *program.backward_steps]:
        if isinstance(step, (ForwardStep, BackwardStep)) and id(step) in seen:
            _, written = seen[id(step)]
            kept = [value for value in by_id[names.of[id(step.node)]]["values"] if value["kept"]]
            for value, shown in zip(kept, written, strict=False):
                value["seen"] = shown
    live, gone = _walk(names)
    for name, node in by_id.items():
        if name in live:
            node["live"], node["overwrites"] = live[name], gone[name]


def _walk(names: Names) -> tuple[dict[str, int], dict[str, list[str]]]:
    """By operator: bytes of the arenas that hold a value somebody still reads, and the values that lost bytes to it."""
    program = names.program
    steps = [*names.forward, *names.backward]
    lies: list[tuple[Any, int, int, str]] = []  # (memory, begin, end, value): what can still be found where
    gone: dict[str, list[str]] = {}
    for node in steps:
        name, lost = names.of[id(node)], list[str]()
        for index in range(node.output_count()):
            key: Key = (id(node), index)
            place = program.plan.place.get(key)
            if place is None or key in program.plan.views:
                continue
            where = str(place.context), place.output
            begin, end = place.offset, place.offset + names.size(key)
            hit = [one for one in lies if one[0] == where and one[1] < end and begin < one[2]]
            lost += [value for *_, value in hit]
            lies = [one for one in lies if one not in hit]
            lies.append((where, begin, end, node.entry_name(index)))
        gone[name] = list(dict.fromkeys(lost))
    return dict(zip((names.of[id(node)] for node in steps), _live(program.plan, len(steps)), strict=True)), gone


def _live(plan: Any, steps: int) -> list[int]:
    """For each step, the bytes of the arenas that are in use: values that take turns in a place count once."""
    taken = {
        (str(place.context), place.offset, place.size, *plan.lifetimes[key])
        for key, place in plan.place.items() if place.output is None
    }
    changes = np.zeros(steps + 1, np.int64)
    for _, _, size, first, last in taken:
        changes[first] += size
        changes[min(last + 1, steps)] -= size
    return [int(size) for size in np.cumsum(changes)[:steps]]
