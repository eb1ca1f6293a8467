"""What becomes of one program: its verdict, the smallest program that fails in its way, and where that goes wrong.

Each is a function of the program, the implementation and what is set aside, whatever else a search finds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .backends import Backend, declared_of
from .drawing.choices import Exclusions
from .excluding import set_aside
from .explaining.causes import Cause
from .explaining.clauses import clause_of
from .explaining.locating import Where, locate
from .explaining.neighbours import ATTEMPTS, Neighbour, neighbours
from .explaining.neighbours import CRASH_ATTEMPTS as CRASH_NEIGHBOURS
from .explaining.shrinking import SECONDS, shrink
from .judging.comparing import Answer, Verdict, answers_of, judge_answer
from .judging.reference import Program
from .programs.program import operators

CRASH_ATTEMPTS = 25
"""Programs that shrinking a crash may run: each starts a process."""
FEW = 3
"""Operators that a shrunk program may have before its first divergent node is tried alone."""
CRASH_SECONDS = 120.0
"""When shrinking a crash ends at the latest."""
LAST_SECONDS = 2.0
"""How long a program may be shrunk that is met when the time is nearly over."""


class Shrunk(NamedTuple):
    """A failure and its smallest program."""

    verdict: Verdict
    """Of the whole program; it has not failed where only the first bound was broken."""
    small: Program
    last: Verdict
    """Of the small program."""


class Explained(NamedTuple):
    """What is said of a cause beside its program."""

    where: Where
    neighbours: tuple[Neighbour, ...]
    clause: str


def judged(backend: Backend, programs: Sequence[Program]) -> Iterator[Verdict]:
    """The verdicts of some programs by the first bound, each when it is asked for.

    Args:
        backend: the implementation; it gets all programs at once if it has ``run_many``.
        programs: checked programs.
    """
    for some in [programs] if hasattr(backend, "run_many") else [[program] for program in programs]:
        for program, answer in zip(some, answers_of(backend, some), strict=True):
            yield judge_answer(program, answer, confirm=False, declared=declared_of(backend))


def shrunk(
    backend: Backend, program: Program, verdict: Verdict, exclude: Exclusions, left: float | None
) -> Shrunk:
    """The smallest program that fails in the same way; it or the whole program is confirmed by the second bound.

    Args:
        backend: the implementation.
        program: a program that fails.
        verdict: its verdict by the first bound.
        exclude: what is set aside.
        left: the seconds until the search ends; None where only attempts count.
    """
    smaller = _Shrinking(backend, exclude, left)
    small, last = smaller.of(program, set_aside(exclude, program, verdict), confirm=False)
    last = smaller.judged(small) if not last.confirmed else last
    if last.status != "failed":  # the first bound alone was broken
        verdict = smaller.judged(program)
        if verdict.status != "failed":
            return Shrunk(verdict, program, verdict)
        small, last = smaller.of(program, verdict, confirm=True)
    return Shrunk(verdict, small, last)


class _Shrinking:
    """Shrinking one program; see :func:`shrunk`."""

    def __init__(self, backend: Backend, exclude: Exclusions, left: float | None) -> None:
        self.backend, self.exclude = backend, exclude
        self.timed, self.end = left is not None, time.monotonic() + (math.inf if left is None else left)

    def judged(self, program: Program, answer: Answer | None = None, *, confirm: bool = True) -> Verdict:
        """The verdict of a program, without what is set aside; ``answer`` is the implementation's if it is known."""
        known = answers_of(self.backend, [program])[0] if answer is None else answer
        declared = declared_of(self.backend)
        verdict = judge_answer(program, known, confirm=confirm, declared=declared, loosely=not confirm)
        return set_aside(self.exclude, program, verdict)

    def limit(self, most: float) -> float | None:
        """For how many seconds a program may be shrunk."""
        return max(LAST_SECONDS, min(most, self.end - time.monotonic())) if self.timed else None

    def of(self, program: Program, verdict: Verdict, *, confirm: bool) -> tuple[Program, Verdict]:
        """The smallest program that fails in the same way, and its verdict."""
        kind = verdict.mismatches[0].kind
        shown, begun = verdict, time.monotonic()
        pack = getattr(self.backend, "pack", 1)  # of an implementation that compiles so many programs as one
        ready: dict[int, tuple[Program, Answer]] = {}

        def prepare(programs: list[Program]) -> None:
            ready.clear()
            if pack > 1:
                answers = answers_of(self.backend, programs)
                ready.update((id(each), (each, answer)) for each, answer in zip(programs, answers, strict=True))

        def still_fails(smaller: Program) -> bool:
            nonlocal shown
            answer = ready[id(smaller)][1] if id(smaller) in ready else answers_of(self.backend, [smaller])[0]
            again = self.judged(smaller, answer, confirm=confirm)
            if again.status != "failed" or again.mismatches[0].kind != kind:
                return False
            shown = again
            return True

        if kind == "crashed":
            return shrink(program, still_fails, seconds=self.limit(CRASH_SECONDS), attempts=CRASH_ATTEMPTS), shown
        small = shrink(program, still_fails, seconds=self.limit(pack * SECONDS), ahead=pack, prepare=prepare)
        if len(operators(small)) > FEW and program["level"] <= 2:
            where = locate(self.backend, small, shown)
            if where.program is not None and still_fails(where.program):
                left = self.limit(max(0.0, begun + 2 * pack * SECONDS - time.monotonic()))
                small = shrink(where.program, still_fails, seconds=left, ahead=pack, prepare=prepare)
        return small, shown


def explained(backend: Backend, cause: Cause, program: Program, verdict: Verdict) -> Explained:
    """The first wrong node or step of a shrunk program, the results of its variants, and the clause.

    Args:
        backend: the implementation.
        cause: the cause.
        program: the shrunk program.
        verdict: its verdict.
    """
    mismatch = verdict.mismatches[0]
    attempts = CRASH_NEIGHBOURS if mismatch.kind == "crashed" else ATTEMPTS
    where = locate(backend, program, verdict)
    variants = tuple(neighbours(backend, program, mismatch.name.partition("/")[2], attempts))
    passing = [each.change for each in variants if each.passes]
    return Explained(where, variants, clause_of(program, cause, where, passing, mismatch))
