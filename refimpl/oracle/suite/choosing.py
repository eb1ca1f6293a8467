"""The programs of a suite: of many that are drawn, those which add operators' parameters, types, shapes and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import refimpl

from ...kernels.foundation import distinct, get
from ..drawing.choices import Capabilities
from ..drawing.drawn_graphs import changing, drawable
from ..drawing.draws import SeededDraw
from ..drawing.random_numbers import random_operators, random_program
from ..judging.reference import Program
from ..judging.statistical import draws_numbers
from ..numbering import program_of
from ..programs.program import operators
from ..traits import traits_of

GROUPS = {1: "forward", 2: "graph", 3: "module", 4: "buckets", 5: "optimizer", 6: "store"}
"""Level -> how cases are named that are not of one operator."""
PER_LEVEL = {1: 0, 2: 24, 3: 16, 4: 10, 5: 40, 6: 24}
"""Level -> how many of them there are for each case that every operator has."""
DRAWN = 5
"""Programs that are drawn for each that is chosen."""
DTYPES = ("float32", "float32", "float32", "float64", "float16")
MASKS = ("Dropout",)
"""Operators that draw numbers and have a gradient."""
RANDOM_SIZE = 400
"""Numbers that an array has which an operator draws, about."""


class Chosen(NamedTuple):
    """One program."""

    name: str
    """Level, operator or group, and a number: ``2-relu-03``."""
    program: Program
    corner: bool
    """Whether it was drawn with ``Capabilities.corners``."""


def offered() -> tuple[str, ...]:
    """Names of all operators of which there are cases, in order."""
    return tuple(sorted({*drawable(), *changing(), *random_operators()}))


def chosen(
    seed: int, levels: Sequence[int], count: int, only: Iterable[str] | None, usable: Callable[[Program], bool]
) -> Iterator[Chosen]:
    """The programs of a suite.

    Args:
        seed: the seed of the drawing.
        levels: from 1 to 6.
        count: how many cases each operator has at level 2; at level 1 it has half as many.
        only: names of operators, or None for all and for programs of several.
        usable: whether a program can be a case; others are drawn in its place.
    """
    able = {*drawable(), *changing()}
    for level in levels:
        if level <= 2:
            for name in offered() if only is None else only:
                number = count if level == 2 or not get(name).has_gradient else (count + 1) // 2
                if level == 1 or (get(name).has_gradient and (name in able or name in MASKS)):
                    yield from _named(level, name, _best(_of_operator(seed, level, name), number, usable))
        if only is None:
            yield from _named(level, GROUPS[level], _best(_any(seed, level), count * PER_LEVEL[level], usable))


def _named(level: int, group: str, programs: Iterable[tuple[Program, bool]]) -> Iterator[Chosen]:
    for number, (program, corner) in enumerate(programs):
        yield Chosen(f"{level}-{group}-{number:02}", program, corner)


def _of_operator(seed: int, level: int, name: str) -> Iterator[tuple[Program, bool]]:
    """Programs of one operator, endlessly; every second one with corners."""
    draws = name in random_operators() and name not in drawable()
    alone = Capabilities(level=level, operators=frozenset((name,)), dtypes=DTYPES, most_operators=1)
    number = 0
    while True:
        if draws:
            draw = SeededDraw(f"suite/{seed}/{level}/{name}/{number}")
            yield random_program(draw, [name], level, RANDOM_SIZE), False
        else:
            corners = name in changing() or number % 2 == 1
            yield program_of(seed, number, alone._replace(corners=corners), level=level), corners
        number += 1


def _any(seed: int, level: int) -> Iterator[tuple[Program, bool]]:
    """Programs of any operators, endlessly."""
    number = 0
    while True:
        corners = number % 2 == 1
        yield program_of(seed, number, Capabilities(level=level, corners=corners), level=level), corners
        number += 1


def _best(
    drawn: Iterator[tuple[Program, bool]], count: int, usable: Callable[[Program], bool]
) -> Iterator[tuple[Program, bool]]:
    """Of DRAWN times as many programs those that add most to the ones before."""
    waiting = [(program, corner, _features(program)) for program, corner in _some(drawn, count * DRAWN)]
    seen: set[Any] = set()
    while count and waiting:
        best = max(range(len(waiting)), key=lambda i: len(waiting[i][2] - seen))  # the first of equal ones
        program, corner, features = waiting.pop(best)
        if usable(program):
            seen |= features
            count -= 1
            yield program, corner


def _some(drawn: Iterator[tuple[Program, bool]], count: int) -> Iterator[tuple[Program, bool]]:
    for _, (program, corner) in zip(range(count), drawn, strict=False):
        large = draws_numbers(program) and program["level"] > 2
        if not large and (program["level"] > 2 or operators(program)):
            yield program, corner


def _features(program: Program) -> set[Any]:
    """What a program has that others may lack: traits, parameters, and of each input its rank, style and kind."""
    found: set[Any] = set(traits_of(program))
    for node in program.get("nodes", ()):
        if node["op"] == "null":
            continue
        found.update((node["op"], key, value) for key, value in node.get("attrs", {}).items())
        for place, (number, _) in enumerate(node.get("inputs", ())):
            spec = program["arrays"].get(program["nodes"][number]["name"])
            if spec is not None and program["level"] <= 2:
                ones = tuple(side == 1 for side in spec["shape"])
                found.add((node["op"], place, len(spec["shape"]), any(ones), spec["dtype"]))
                found.add((node["op"], place, spec.get("style"), str(spec.get("kind"))))
    return found


def absent() -> tuple[str, ...]:
    """Names of the operators of which there are no cases: other parts of the library call them, or images."""
    return tuple(op.name for op in distinct() if op.name not in offered())


VERSION = refimpl.__version__
