"""Relations of optimizers, level 5: states that are saved, and weights beside each other."""

from __future__ import annotations

from functools import partial

from ..backends import Backend
from ..judging.reference import Program
from .editing import Step, compared, kept
from .registry import relation


@relation("resume", 5)
def resumes(backend: Backend, program: Program) -> list[str]:
    """States and optimizer that go to bytes and back after every update change nothing."""
    steps: list[tuple[int | None, Step]] = []
    for number, step in kept(program):
        steps.append((number, step))
        if step["do"] == "update":
            steps.append((None, {"do": "resume", "whole": True}))
    return compared(backend, program, steps)


def _ends(end: str, name: str) -> bool:
    return name.endswith(end)


@relation("others' updates", 5)
def ignores_other_weights(backend: Backend, program: Program) -> list[str]:
    """A weight does not depend on the updates of other weights."""
    indices = [index for step in program["steps"] if step["do"] == "update" for index in step["indices"]]
    lines: list[str] = []
    for alone in dict.fromkeys(indices if len(set(indices)) > 1 else ()):
        steps: list[tuple[int | None, Step]] = []
        for number, step in kept(program):
            if step["do"] != "update":
                steps.append((number, step))
            elif alone in step["indices"]:
                at = step["indices"].index(alone)
                one = {field: [step[field][at]] for field in ("indices", "gradients", "rows") if step.get(field)}
                steps.append((number, {**step, **one}))
        found = compared(backend, program, steps, partial(_ends, f"/weight:{alone}"))
        lines += [f"alone: {difference}" for difference in found]
    return lines
