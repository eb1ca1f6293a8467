"""The lab on the memory plan: which values may lie in one buffer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...oracle.drawing.draws import Draw
from .lab import Lab, Law, demand

STUB = '''
"""Which values of a graph share memory.

{rules}
"""


def plan(steps, held):
    """Give the output of each step a buffer: a dict from the name of the output to the number of its buffer.

    Args:
        steps: what runs, one after the other. A step has three fields: step.output, the name of what it writes;
            step.reads, a tuple of the names that it reads; step.over, those of them that its operator allows to be
            overwritten by its output. Names that no step writes are the caller's arrays: they need no buffer, and
            nothing may overwrite them. All values have the same size.
        held: names of outputs that somebody reads after the last step: the backward pass, or the caller.

    Buffers are numbered from 0 in the order in which they are first used. Take as few as you can.

    >>> from refimpl.cli.labs.in_place_lab import Step
    >>> steps = [Step("a", ("x",), ()), Step("b", ("a",), ("a",)), Step("c", ("b",), ())]
    >>> plan(steps, {"c"})
    {'a': 0, 'b': 0, 'c': 1}
    """
    raise NotImplementedError("write this function")
'''


class Step(NamedTuple):
    """A step of a graph: the value that it writes, its inputs, and the inputs that it may overwrite."""

    output: str
    reads: tuple[str, ...]
    over: tuple[str, ...]


def drawn(draw: Draw) -> tuple[list[Step], set[str]]:
    """Steps, and the values that must stay until the end."""
    names, steps = ["x", "y"], list[Step]()
    for number in range(draw.integer(1, 7)):
        near = names[-3:] if draw.boolean() else names
        reads = tuple(dict.fromkeys(draw.choice(near[::-1]) for _ in range(draw.integer(1, 2))))
        over = tuple(name for name in reads if draw.boolean() and name not in ("x", "y"))
        steps.append(Step("abcdefg"[number], reads, over))
        names.append(steps[-1].output)
    return steps, {steps[-1].output, *(step.output for step in steps if draw.one_in(4))}


def last_reads(steps: list[Step], held: set[str]) -> dict[str, int]:
    """The last step that needs each value: its last reader, or its writer if no step reads it."""
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        last[step.output] = number
        last.update(dict.fromkeys(step.reads, number))
    return {**last, **dict.fromkeys(held, len(steps))}


def _asked(student: Any, draw: Draw) -> tuple[list[Step], set[str], dict[str, int]]:
    steps, held = drawn(draw)
    found = student.plan(steps, held)
    whole = isinstance(found, dict) and set(found) == {step.output for step in steps}
    demand(whole, "a buffer for the output of each step", found)
    return steps, held, found


def _pairs(steps: list[Step], found: dict[str, int]) -> list[tuple[str, int, Step]]:
    """(value, step, step's fields) wherever a step writes over a value."""
    inside: dict[int, str] = {}
    pairs = []
    for number, step in enumerate(steps):
        before = inside.get(found[step.output])
        if before is not None:
            pairs.append((before, number, step))
        inside[found[step.output]] = step.output
    return pairs


def _lifetime(student: Any, draw: Draw) -> None:
    steps, held, found = _asked(student, draw)
    last = last_reads(steps, held)
    for value, number, step in _pairs(steps, found):
        until = "the end" if last[value] == len(steps) else f"step {steps[min(last[value], len(steps) - 1)].output}"
        got = f"{step.output} in its place: {found}"
        demand(last[value] <= number, f"{value} to stay until {until} has read it", got)


def _in_place(student: Any, draw: Draw) -> None:
    steps, held, found = _asked(student, draw)
    last = last_reads(steps, held)
    for value, number, step in _pairs(steps, found):
        allowed = last[value] < number or value in step.over or value not in step.reads
        demand(allowed, f"{step.output} not over {value}, which its operator reads and may not overwrite", found)
    for number, step in enumerate(steps):
        free = [name for name in step.over if last[name] == number]
        if free:
            kept = any(found[name] == found[step.output] for name in free)
            demand(kept, f"{step.output} over {' or '.join(free)}, which nobody reads afterwards", found)


def fewest(steps: list[Step], held: set[str]) -> int:
    """A sufficient number of buffers: a step overwrites an input if it may, else takes a free or a new buffer."""
    last, place, free, count = last_reads(steps, held), dict[str, int](), list[int](), 0
    for number, step in enumerate(steps):
        done = [name for name in (*step.reads, step.output) if last[name] == number and name not in ("x", "y")]
        over = next((name for name in step.over if name in done), None)
        if over is not None:
            done.remove(over)
            place[step.output] = place[over]
        elif free:
            place[step.output] = free.pop()
        else:
            place[step.output], count = count, count + 1
        free += [place[name] for name in done]
    return count


def _few(student: Any, draw: Draw) -> None:
    steps, held, found = _asked(student, draw)
    enough = fewest(steps, held)
    demand(len(set(found.values())) <= enough, f"{enough} buffers, since others are free again", found)


def run(steps: list[Step], buffers: dict[str, int]) -> dict[str, list[float]]:
    """Run steps in buffers; returns the content of each output at the end.

    A step that may not overwrite its input writes back to front while it reads front to back.
    """
    places: dict[Any, np.ndarray] = {name: np.array([1.0, 2, 4, 8]) * (1 + (name == "y")) for name in ("x", "y")}
    for step in steps:
        where = buffers.get(step.output, step.output)
        target = places.setdefault(where, np.full(4, np.nan))
        sources = [places[buffers.get(name, name)] for name in step.reads]
        turned = [name not in step.over for name in step.reads]
        for at in range(4):
            target[at] = sum(
                (source[3 - at] if back else source[at]) for source, back in zip(sources, turned, strict=True)
            ) / 2 + 1
    return {step.output: places[buffers.get(step.output, step.output)].tolist() for step in steps}


def _changes_nothing(student: Any, draw: Draw) -> None:
    steps, held, found = _asked(student, draw)
    alone, shared = run(steps, {}), run(steps, found)
    for name in sorted(held):
        got = f"{shared[name]} with {found}"
        demand(shared[name] == alone[name], f"{name} = {alone[name]}, as without a plan", got)


LAB = Lab(
    name="in-place", title="Who lies where, and for how long", chapter="spec/reference/running/memory.md",
    task="""
A graph writes many values, and most are read once. A plan decides, before anything runs, which of them lie in one
buffer. Write the plan. What is written over too early is lost without a word; what is kept too long costs memory.
""",
    stub=STUB,
    words={
        "memory/lifetime": "A value keeps its buffer from the step that writes it to the last step that reads it; a"
        " value that is held keeps it for good. From then on the buffer is free for the outputs of later steps, and a"
        " new one is taken only where none is free.",
        "memory/inplace": "A step writes its output over an input that its operator allows to be overwritten, where"
        " no later step reads that input and nobody holds it.",
        "memory/plan-changes-nothing": "Whoever runs the steps in these buffers gets the numbers that every value in"
        " a buffer of its own gives.",
    },
    laws=(
        Law(_lifetime, "memory/lifetime", 300), Law(_in_place, "memory/inplace", 300),
        Law(_changes_nothing, "memory/plan-changes-nothing", 200), Law(_few, "memory/lifetime", 300),
    ),
)
"""The lab."""
