"""The programs of a search by number, each a function of the seed, its number, and the exclusions before it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..base import decides
from .drawing.choices import NOTHING, Capabilities, Exclusions, NothingToDraw
from .drawing.drawn_buckets import bucketing_program, svrg_program
from .drawing.drawn_clusters import cluster_program
from .drawing.drawn_executors import executor_program, forward_program
from .drawing.drawn_modules import module_program
from .drawing.drawn_optimizers import optimizer_program
from .drawing.drawn_stores import store_program
from .drawing.draws import Draw, SeededDraw
from .judging.reference import Program
from .traits import matched


def _bucketing_or_svrg(draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> Program:
    return (svrg_program if draw.one_in(4) else bucketing_program)(draw, capabilities, exclude)


DRAWERS: dict[int, Callable[[Draw, Capabilities, Exclusions], Program]] = {
    1: forward_program, 2: executor_program, 3: module_program, 4: _bucketing_or_svrg, 5: optimizer_program,
    6: store_program, 7: cluster_program,
}
"""Level -> how its programs are drawn."""
ATTEMPTS = 20
"""How often a program is drawn until it has none of the patterns that are excluded."""


@decides("oracle/program-i")
def program_of(
    seed: int, i: int, capabilities: Capabilities, exclude: Exclusions = NOTHING, level: int | None = None
) -> Program:
    """Program ``i``; see the module's text.

    Args:
        seed: the seed of the search.
        i: its number.
        capabilities: limits of drawing.
        exclude: patterns that are not drawn.
        level: its level; the highest of ``capabilities`` by default.
    """
    wanted = level or capabilities.usual
    program = DRAWERS[wanted](SeededDraw(f"{seed}/{wanted}/{i}"), capabilities, exclude)
    for attempt in range(1, ATTEMPTS):
        if not matched(exclude.patterns, program):
            break
        program = DRAWERS[wanted](SeededDraw(f"{seed}/{wanted}/{i}/{attempt}"), capabilities, exclude)
    return program


def levels_of(capabilities: Capabilities, level: int | None = None, exclude: Exclusions = NOTHING) -> list[int]:
    """The levels of a search: the named level, or all levels that the implementation offers and that can be drawn.

    Args:
        capabilities: those of the implementation.
        level: the level that was asked for, if any.
        exclude: patterns that are not drawn.

    Raises:
        NothingToDraw: no level has anything to draw.
    """
    if level is not None:
        return [level]
    found, reason = [], NothingToDraw("the capabilities offer no level")
    for each in sorted(DRAWERS):
        try:
            if capabilities.offers(each):
                program_of(0, 0, capabilities, exclude, each)
                found.append(each)
        except NothingToDraw as error:
            reason = error
    if not found:
        raise reason
    return found


def _round_after(programs: int) -> int:
    """The programs of the next round: few at the beginning, when causes are new, and more when most are known."""
    return max(8, min(256, programs // 8))


@decides("oracle/levels")
def in_rounds(
    seed: int, capabilities: Capabilities, levels: Sequence[int], excluded: Callable[[dict[int, int]], Exclusions], *,
    start: int = 0, step: int = 1, programs: int | None = None, first: Exclusions = NOTHING,
) -> Iterator[list[tuple[int, Program]]]:
    """Numbers and programs of a search, in rounds of one level, until there are enough or nothing is left to draw.

    Levels take turns: with a number of programs all have the same share of it, and no clock is read; without, the next
    round is of the level that has had the least time, so that quick programs do not keep slow ones away.

    Args:
        seed: the seed of the search.
        capabilities: limits of drawing.
        levels: the levels of the programs, see :func:`levels_of`.
        excluded: returns the exclusions from a number of each level on; it is called before a round is drawn.
        start: the number of the first program of each level.
        step: the distance between the numbers of programs.
        programs: the number of programs of all levels; None for no limit.
        first: the exclusions at the beginning.

    Raises:
        NothingToDraw: nothing could be drawn from the beginning.
    """
    counts = [math.inf if programs is None else share_of(programs, k, len(levels)) for k in range(len(levels))]
    left = {level: count for level, count in zip(levels, counts, strict=True) if count}
    place, spent = dict.fromkeys(left, start), dict.fromkeys(left, 0.0)
    while left:
        level = min(left, key=spent.__getitem__)
        count = int(min(_round_after((place[level] - start) // step), left[level]))
        begun = time.monotonic() if programs is None else 0.0
        exclude = excluded(dict(place))
        numbers = range(place[level], place[level] + count * step, step)
        try:
            drawn = [(i, program_of(seed, i, capabilities, exclude, level)) for i in numbers]
        except NothingToDraw:
            if exclude == first:
                raise
            del left[level]  # every operator has shown a cause
            continue
        place[level] += count * step
        yield drawn
        spent[level] += count if programs is not None else time.monotonic() - begun
        left[level] -= count
        if not left[level]:
            del left[level]


def share_of(programs: int, part: int, parts: int, levels: int = 1) -> int:
    """How many of ``programs`` a shard draws: those whose number at their level leaves the remainder ``part``.

    Args:
        programs: of all shards and levels.
        part: the shard, from 0 on.
        parts: the number of shards.
        levels: the number of levels, which take turns.
    """
    return sum(len(range(part, len(range(k, programs, levels)), parts)) for k in range(levels))


def as_lists(exclude: Exclusions) -> dict[str, Any]:
    """Exclusions as JSON."""
    return {
        "operators": sorted(exclude.operators), "requirements": sorted(map(list, exclude.requirements)),
        "many_readers": exclude.many_readers, "together": sorted(map(sorted, exclude.together)),
        "patterns": sorted(map(sorted, exclude.patterns)),
        "aside": sorted([sorted(traits), place] for traits, place in exclude.aside),
    }


def from_lists(data: dict[str, Any]) -> Exclusions:
    """Exclusions that :func:`as_lists` wrote."""
    return Exclusions(
        frozenset(data["operators"]), frozenset((name, asked) for name, asked in data["requirements"]),
        data["many_readers"], frozenset(map(frozenset, data["together"])),
        frozenset(map(frozenset, data.get("patterns", ()))),
        frozenset((frozenset(traits), place) for traits, place in data.get("aside", ())),
    )


def drawn_again(data: dict[str, Any], number: int, capabilities: Capabilities, level: int | None = None) -> Program:
    """Program ``number`` of a search, from its stored results.

    Args:
        data: ``results.json``.
        number: 0 or above.
        capabilities: those of the implementation.
        level: the level of the program; by default the highest of the search.
    """
    drawn = data["drawn"]
    level = level or max(drawn["levels"])
    exclude = from_lists(drawn["exclude"])
    for before, row, *_ in data["excluded"]:
        if before[str(level)] <= number:
            exclude = exclude.also(**row)
    return program_of(drawn["seed"], number, capabilities, exclude, level)
