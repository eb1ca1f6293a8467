"""The programs of a search by number, each a function of the seed, its number, and the exclusions before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def in_chunks(
    seed: int, capabilities: Capabilities, level: int | None, excluded: Callable[[int], Exclusions], *,
    start: int = 0, step: int = 1, programs: int | None = None, chunk: int = 1, first: Exclusions = NOTHING,
) -> Iterator[list[tuple[int, Program]]]:
    """Numbers and programs of a search, in chunks, until there are as many as requested or nothing is left to draw.

    Args:
        seed: the seed of the search.
        capabilities: limits of drawing.
        level: the level of the programs; the highest of ``capabilities`` by default.
        excluded: returns the exclusions from a number on; it is called once for each chunk, before the chunk is drawn.
        start: the number of the first program.
        step: the distance between the numbers of programs.
        programs: the number of programs; None for no limit.
        chunk: the number of programs in a chunk.
        first: the exclusions at the beginning.

    Raises:
        NothingToDraw: nothing could be drawn from the beginning.
    """
    last = None if programs is None else start + programs * step
    while last is None or start < last:
        stop = start + chunk * step if last is None else min(start + chunk * step, last)
        exclude = excluded(start)
        try:
            drawn = [(i, program_of(seed, i, capabilities, exclude, level)) for i in range(start, stop, step)]
        except NothingToDraw:
            if exclude == first:
                raise
            return  # every operator has shown a cause
        yield drawn
        start = stop


def as_lists(exclude: Exclusions) -> dict[str, Any]:
    """Exclusions as JSON."""
    return {
        "operators": sorted(exclude.operators), "requirements": sorted(map(list, exclude.requirements)),
        "many_readers": exclude.many_readers, "together": sorted(map(sorted, exclude.together)),
        "patterns": sorted(map(sorted, exclude.patterns)),
    }


def from_lists(data: dict[str, Any]) -> Exclusions:
    """Exclusions that :func:`as_lists` wrote."""
    return Exclusions(
        frozenset(data["operators"]), frozenset((name, asked) for name, asked in data["requirements"]),
        data["many_readers"], frozenset(map(frozenset, data["together"])),
        frozenset(map(frozenset, data.get("patterns", ()))),
    )


def drawn_again(data: dict[str, Any], number: int, capabilities: Capabilities) -> Program:
    """Program ``number`` of a search, from its stored results.

    Args:
        data: ``results.json``.
        number: 0 or above.
        capabilities: those of the implementation.
    """
    drawn = data["drawn"]
    exclude = from_lists(drawn["exclude"])
    for before, row, _ in data["excluded"]:
        if before <= number:
            exclude = exclude.also(**row)
    return program_of(drawn["seed"], number, capabilities, exclude, drawn["level"])
