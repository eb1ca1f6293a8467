"""The part of the drawing that an exclusion takes, measured on a sample of programs.

What was excluded from the beginning is measured on programs that are drawn and not run. What a search excludes is
measured on programs that the implementation supports: a pattern that takes a twentieth of all programs may take
everything that is left to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from .backends import Backend, Unsupported
from .drawing.choices import NOTHING, Exclusions, NothingToDraw
from .excluding import LARGE, leaves_out
from .judging.comparing import answers_of
from .judging.reference import Program
from .numbering import program_of

DRAWN = 200
"""Programs of each level that are drawn for a sample."""
SUPPORTED = 40
"""Programs of each level that are enough, if the implementation supports them."""


class Sample:
    """Programs of each level, with numbers below 0, which no search has; each level is drawn when it is needed.

    Args:
        backend: the implementation.
        seed: the seed of the search.
        levels: the levels of the search.
        first: the exclusions from the beginning: what they leave out is not run.
    """

    def __init__(self, backend: Backend, seed: int, levels: Sequence[int], first: Exclusions) -> None:
        self.backend, self.seed, self.levels, self.first = backend, seed, levels, first
        self.drawn, self.supported = cache(self._drawn), cache(self._supported)

    def _drawn(self, level: int, exclude: Exclusions = NOTHING) -> list[Program]:
        capabilities = self.backend.capabilities
        try:
            return [program_of(self.seed, -1 - i, capabilities, exclude, level) for i in range(DRAWN)]
        except NothingToDraw:
            return []

    def _supported(self, level: int) -> list[Program]:
        """Programs of a level that the implementation supports, SUPPORTED of them or as many as there are."""
        drawn, found = self._drawn(level, self.first), list[Program]()
        for begin in range(0, len(drawn), SUPPORTED):
            some = drawn[begin : begin + SUPPORTED]
            answers = answers_of(self.backend, some)
            found += [p for p, answer in zip(some, answers, strict=True) if not isinstance(answer, Unsupported)]
            if len(found) >= SUPPORTED:
                break
        return found

    def share(self, row: dict[str, Any]) -> float:
        """The part of the supported programs that an exclusion takes, at the level where it takes most.

        Args:
            row: arguments of ``Exclusions.also``.
        """
        levels = {int(trait.removeprefix("level ")) for trait in row.get("pattern", ()) if trait.startswith("level ")}
        graphs = set(self.levels) & {1, 2, 3, 4}
        return _most(NOTHING.also(**row), self.supported, levels or graphs or self.levels)

    def share_of_all(self, row: dict[str, Any]) -> float:
        """The part of all programs that an exclusion takes, at the level where it takes most; none is run.

        Args:
            row: arguments of ``Exclusions.also``.
        """
        exclude = NOTHING.also(**row)
        if "/" not in row.get("operator", ""):
            return _most(exclude, self.drawn, self.levels)
        pairs = {level: zip(self.drawn(level), self._drawn(level, exclude), strict=False) for level in self.levels}
        return max(_part([one != other for one, other in several]) for several in pairs.values())


def _most(exclude: Exclusions, programs: Callable[[int], list[Program]], levels: Sequence[int] | set[int]) -> float:
    return max((_part([leaves_out(exclude, each) for each in programs(level)]) for level in levels), default=0.0)


def _part(taken: Sequence[bool]) -> float:
    return sum(taken) / len(taken) if taken else 0.0


def rows_of(exclude: Exclusions) -> Iterator[dict[str, Any]]:
    """Exclusions one by one, as arguments of ``Exclusions.also``, in a fixed order.

    Args:
        exclude: any exclusions.
    """
    yield from ({"operator": name} for name in sorted(exclude.operators))
    yield from ({"operator": name, "requirement": asked} for name, asked in sorted(exclude.requirements))
    if exclude.many_readers:
        yield {"many_readers": True}
    yield from ({"together": names} for names in sorted(map(sorted, exclude.together)))
    yield from ({"pattern": traits} for traits in sorted(map(sorted, exclude.patterns)))
    for traits, place in sorted((sorted(traits), place) for traits, place in exclude.aside):
        yield {"pattern": traits, "aside": place}


def told(row: dict[str, Any]) -> str:
    """An exclusion in a few words.

    Args:
        row: arguments of ``Exclusions.also``.
    """
    if row.get("many_readers"):
        return "values with more than six readers"
    if "together" in row:
        return f"{' and '.join(row['together'])} together"
    if "pattern" in row:
        return f"programs with {', '.join(row['pattern'])}"
    asked = f" with the requirement {row['requirement']}" if row.get("requirement") else ""
    return (row["operator"] or "any operator") + asked


__all__ = ["DRAWN", "LARGE", "SUPPORTED", "Sample", "rows_of", "told"]
