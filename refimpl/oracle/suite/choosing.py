"""The programs of a suite: of many that are drawn, those which add operators' parameters, types, shapes and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from typing import Any, NamedTuple

import refimpl

from ...kernels.foundation import get
from ..drawing.choices import Capabilities
from ..drawing.drawn_graphs import changing, drawable
from ..drawing.draws import SeededDraw
from ..drawing.random_numbers import random_operators, random_program
from ..judging.reference import Program
from ..judging.statistical import draws_numbers
from ..numbering import program_of
from ..programs.program import operators
from ..programs.values import STYLES
from ..traits import traits_of
from .random_cases import FEW, certain_dropout, shares

GROUPS = {1: "forward", 2: "graph", 3: "module", 4: "buckets", 5: "optimizer", 6: "store"}
"""Level -> how cases are named that are not of one operator."""
PER_LEVEL = {1: 0, 2: 24, 3: 16, 4: 10, 5: 40, 6: 24}
"""Level -> how many of them there are for each case that every operator has."""
DRAWN = 5
"""Programs that are drawn for each that is chosen."""
DTYPES = ("float32", "float32", "float32", "float64", "float16")
PLAIN = tuple(style for style in STYLES if style != "special")


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
    seed: int, levels: Sequence[int], cases: int, only: Iterable[str] | None, usable: Callable[[Program], bool]
) -> Iterator[Chosen]:
    """The programs of a suite.

    Args:
        seed: the seed of the drawing.
        levels: from 1 to 6.
        cases: how many cases each operator has at level 2; at level 1 it has half as many.
        only: names of operators, or None for all and for programs of several.
        usable: whether a program can be a case; others are drawn in its place.
    """
    able = {*drawable(), *changing()}
    for level in levels:
        if level <= 2:
            for name in offered() if only is None else only:
                number = cases if level == 2 or not get(name).has_gradient else (cases + 1) // 2
                if level == 1 or (get(name).has_gradient and (name in able or name == "Dropout")):
                    yield from _named(level, name, _both(partial(_of_operator, seed, level, name), number, usable))
        if only is None:
            number = cases * PER_LEVEL[level]
            yield from _named(level, GROUPS[level], _both(partial(_any, seed, level), number, usable))


def _named(level: int, group: str, programs: Iterable[tuple[Program, bool]]) -> Iterator[Chosen]:
    for number, (program, corner) in enumerate(programs):
        yield Chosen(f"{level}-{group}-{number:02}", program, corner)


def _both(
    stream: Callable[[bool], Iterator[tuple[Program, bool]]], number: int, usable: Callable[[Program], bool]
) -> Iterator[tuple[Program, bool]]:
    """Plain programs, which most implementations can run, and as many of all kinds."""
    seen: set[Any] = set()
    yield from _best(stream(False), (number + 1) // 2, usable, seen)
    yield from _best(stream(True), number // 2, usable, seen)


def _of_operator(seed: int, level: int, name: str, rich: bool) -> Iterator[tuple[Program, bool]]:
    """Programs of one operator, endlessly; rich ones have other types and special values, every second one corners."""
    draws, always = name in random_operators(), name not in drawable()
    alone = Capabilities(level=level, operators=frozenset((name,)), most_operators=1, styles=PLAIN)
    if rich:
        alone = alone._replace(styles=STYLES, dtypes=DTYPES)
    for number in count(10_000 * rich):
        if draws and (always or number % 4 == 0):
            yield _random(SeededDraw(f"suite/{seed}/{level}/{name}/{number}"), level, name, number, rich), False
        else:
            corners = name in changing() or (rich and number % 2 == 1)
            yield program_of(seed, number, alone._replace(corners=corners), level=level), corners


def _random(draw: SeededDraw, level: int, name: str, number: int, rich: bool) -> Program:
    """A program whose numbers are counted, or one of which their ranges are known, or Dropout without chance."""
    if name == "Dropout" and number % 3 == 0:
        return certain_dropout(draw, level)
    return random_program(draw, [name], level, FEW) if level == 2 or number % 2 else shares(draw, name, double=rich)


def _any(seed: int, level: int, rich: bool) -> Iterator[tuple[Program, bool]]:
    """Programs of any operators, endlessly; rich ones have special values and corners."""
    able = Capabilities(level=level, corners=rich, styles=STYLES if rich else PLAIN)
    for number in count(10_000 * rich):
        yield program_of(seed, number, able, level=level), rich


def _best(
    drawn: Iterator[tuple[Program, bool]], number: int, usable: Callable[[Program], bool], seen: set[Any]
) -> Iterator[tuple[Program, bool]]:
    """Of DRAWN times as many programs those that add most to what was seen."""
    waiting = [(program, corner, _features(program)) for program, corner in _some(drawn, number * DRAWN)]
    while number and waiting:
        best = max(range(len(waiting)), key=lambda i: len(waiting[i][2] - seen))  # the first of equal ones
        program, corner, features = waiting.pop(best)
        if usable(program):
            seen |= features
            number -= 1
            yield program, corner


def _some(drawn: Iterator[tuple[Program, bool]], number: int) -> Iterator[tuple[Program, bool]]:
    for program, corner in islice(drawn, number):
        large = draws_numbers(program) and program["level"] > 2
        if not large and (program["level"] > 2 or operators(program)):
            yield program, corner


def _features(program: Program) -> set[Any]:
    """What a program has that others may lack: traits, parameters, and of each input its rank, style and kind."""
    found: set[Any] = set(traits_of(program))
    for step in program["steps"]:
        if "optimizer" in step:
            found.update((step["optimizer"], spec["dtype"]) for spec in program.get("arrays", {}).values())
            found.update((step["optimizer"], *each) for each in step.get("parameters", {}).items())
    for node in program.get("nodes", ()):
        if node["op"] == "null":
            continue
        given = node.get("attrs", {})
        found.update((node["op"], key, value) for key, value in given.items())
        words = {key: value if value[:1].isalpha() else "" for key, value in given.items()}
        found.add((node["op"], *sorted(words.items())))  # which are given, and which words go together
        for place, (number, _) in enumerate(node.get("inputs", ())):
            spec = program["arrays"].get(program["nodes"][number]["name"])
            if spec is not None and program["level"] <= 2:
                ones = tuple(side == 1 for side in spec["shape"])
                found.add((node["op"], place, len(spec["shape"]), any(ones), spec["dtype"]))
                found.add((node["op"], place, spec.get("style"), str(spec.get("kind"))))
    return found



VERSION = refimpl.__version__
