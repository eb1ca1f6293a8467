"""The findings of a search: causes, counts, coverage, and everything by which its programs can be drawn again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .coverage import Cell
from .drawing.choices import NOTHING, Capabilities, Exclusions
from .explaining.causes import Cause
from .explaining.locating import Where
from .explaining.neighbours import Neighbour
from .judging.comparing import Verdict
from .judging.reference import Program
from .measuring import LARGE

FAITHFUL = "faithful: "
"""How a status begins that counts relations which were not asked; the clause that says why follows."""


@dataclass
class Found:
    """One cause of wrong results, with the smallest program that shows it."""

    cause: Cause
    program: Program
    verdict: Verdict
    number: int
    """The number, at its level, of the program that showed it first."""
    original: Program
    seconds: float
    """When it was found, in seconds from the start of the search."""
    again: int = 0
    """How many more programs showed the same."""
    where: Where | None = None
    """Where the program goes wrong first; None where that was not asked for."""
    neighbours: tuple[Neighbour, ...] = ()
    """The nearest programs, and which of them pass."""
    clause: str = ""
    """The clause that decides."""
    late: bool = False
    """Whether the time was over before the cause could be explained."""
    script: str = ""
    """What a fresh process said of the script that shows it, see ``report_files``; empty where none was written."""


class Excluded(NamedTuple):
    """Something that is not drawn any more, or not told any more, from some programs on."""

    before: dict[int, int]
    """Level -> the number of its first program for which this holds."""
    row: dict[str, Any]
    """What: arguments of ``Exclusions.also``."""
    share: float
    """The part of the drawing that it takes, at the level where it takes most; see ``measuring``."""


@dataclass
class Result:
    """The findings of a search."""

    found: list[Found] = field(default_factory=list)
    programs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    elements: Counter[str] = field(default_factory=Counter)
    covered: Counter[Cell] = field(default_factory=Counter)
    """Combination of operator, requirement, fan-out, dtype and mode -> how many programs."""
    levels: dict[int, Counter[str]] = field(default_factory=dict)
    """Level -> status -> how many programs."""
    unsupported: Counter[str] = field(default_factory=Counter)
    """What the implementation said of programs that it does not support -> how many."""
    seconds: float = 0.0
    last: int = 0
    """The number after that of the last program, at the level that came furthest."""
    exclusions: Exclusions = NOTHING
    """What is not drawn any more."""
    given: list[tuple[dict[str, Any], float]] = field(default_factory=list)
    """What was excluded from the beginning, and the part of the drawing that each takes."""
    excluded: list[Excluded] = field(default_factory=list)
    """How ``exclusions`` came about after that, in order: with it each program can be drawn again."""
    drawn: dict[str, Any] = field(default_factory=dict)
    """What the programs were drawn from: seed, levels, start, step, and the exclusions at first."""
    warnings: list[str] = field(default_factory=list)
    """What blinds the search, each in one line."""
    capabilities: Capabilities | None = None
    """What the implementation offers."""
    runtime: str = ""
    """The implementation's name and version, as it says them."""
    known: tuple[str, ...] = ()
    """The ids of the rows of oracle.toml that failures fitted."""
    processor: float = 0.0
    """Seconds of the processor, of this process and of those that it started and that have ended."""

    def large(self) -> list[tuple[dict[str, Any], float]]:
        """Exclusions that take more than LARGE of the drawing."""
        every = [*self.given, *((each.row, each.share) for each in self.excluded)]
        return [(row, share) for row, share in every if share > LARGE]


def counted_reason(text: str) -> str:
    """A reason without its numbers, in one line, so that two of one kind are equal."""
    plain = "".join("#" if c.isdigit() else c for c in " ".join(text.split()))
    while "##" in plain:
        plain = plain.replace("##", "#")
    return plain[:120]
