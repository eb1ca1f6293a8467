"""Searching for programs that an implementation gets wrong: draw, judge, shrink, name the cause, go on without it.

Program ``i`` is a function of the seed, of ``i``, and of what was excluded before it. A
budget of time decides only how many programs there are. An implementation in another process answers CHUNK programs
at once; what one of them shows is excluded after the last of them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..base import decides
from .backends import Backend
from .causes import ANY, Cause, cause_of
from .comparing import Verdict, answers_of, judge, judge_answer
from .drawing.buckets import bucketing_program, svrg_program
from .drawing.clusters import cluster_program
from .drawing.draws import Draw, SeededDraw
from .drawing.executors import executor_program, forward_program
from .drawing.graphs import NOTHING, Capabilities, Exclusions
from .drawing.modules import module_program
from .drawing.optimizers import optimizer_program
from .drawing.stores import store_program
from .programs.program import operators
from .reference import Program
from .shrinking import shrink
from .stored import corpus as stored_programs


def _bucketing_or_svrg(draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> Program:
    return (svrg_program if draw.one_in(3) else bucketing_program)(draw, capabilities, exclude)


DRAWERS: dict[int, Callable[[Draw, Capabilities, Exclusions], Program]] = {
    1: forward_program, 2: executor_program, 3: module_program, 4: _bucketing_or_svrg, 5: optimizer_program,
    6: store_program, 7: cluster_program,
}
"""Level -> how its programs are drawn."""


@decides("oracle/program-i")
def program_of(
    seed: int, i: int, capabilities: Capabilities, exclude: Exclusions = NOTHING, level: int | None = None
) -> Program:
    """Program ``i``; see the module's text.

    Args:
        seed: of the whole search.
        i: its number.
        capabilities: what may be drawn.
        exclude: what is not drawn.
        level: its level; the highest of ``capabilities`` by default.
    """
    wanted = level or capabilities.usual
    return DRAWERS[wanted](SeededDraw(f"{seed}/{wanted}/{i}"), capabilities, exclude)


CHUNK = 32
"""Programs that are drawn and run before the first of them is judged, if the implementation has ``run_many``."""
CRASH_ATTEMPTS = 25
"""Programs that shrinking a crash may run: each starts a process."""
CRASH_SECONDS = 120.0
"""When shrinking a crash ends at the latest."""


@dataclass
class Found:
    """One cause of wrong results, with the smallest program that shows it."""

    cause: Cause
    program: Program
    verdict: Verdict
    number: int
    """The number of the program that showed it first."""
    original: Program
    seconds: float
    """When it was found, in seconds from the start of the search."""
    again: int = 0
    """How many more programs showed the same."""


@dataclass
class Result:
    """What a search found."""

    found: list[Found] = field(default_factory=list)
    programs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    elements: Counter[str] = field(default_factory=Counter)
    covered: Counter[Any] = field(default_factory=Counter)
    """(operator, requirement) -> how many programs."""
    seconds: float = 0.0
    last: int = 0
    """The number after that of the last program."""
    exclusions: Exclusions = NOTHING
    """What is not drawn any more."""


def search(
    backend: Backend, *, seed: int = 0, programs: int | None = None, seconds: float | None = None, start: int = 0,
    level: int | None = None, exclude: Exclusions = NOTHING, expected: Callable[[Program, Verdict], bool] | None = None,
    most: int | None = None, note: Callable[[Result, Found | None], None] | None = None, repeats: int = 3,
    corpus: bool = False,
) -> Result:
    """Draw and judge programs until a number of them, a time, or a number of causes is reached.

    Args:
        backend: the implementation.
        seed: of the search.
        programs: how many programs; None for no limit.
        seconds: for how long; None for no limit.
        start: the number of the first program.
        level: of the programs; the highest that the implementation offers by default.
        exclude: what is not drawn.
        expected: whether a failure is known already; it is counted and not reported.
        most: how many causes to find at most.
        note: called after every program, with the cause that it showed first, if any.
        repeats: how many further programs may show a cause that is known, before drawing leaves it out.
        corpus: whether to run the stored programs of that level first; their numbers are negative.
    """
    hunt = _Hunt(backend, seed, level, exclude, expected, repeats, seconds)
    if corpus:
        hunt.replay(level or backend.capabilities.usual, note)
    chunk = CHUNK if hasattr(backend, "run_many") else 1
    last = None if programs is None else start + programs
    while last is None or start < last:
        stop = start + chunk if last is None else min(start + chunk, last)
        drawn = [
            (i, program_of(seed, i, backend.capabilities, hunt.exclude, level)) for i in range(start, stop)
        ]
        for (i, program), answer in zip(drawn, answers_of(backend, [p for _, p in drawn]), strict=True):
            if hunt.late():
                return hunt.ended()
            fresh = hunt.take(i, program, judge_answer(program, answer))
            if note is not None:
                note(hunt.result, fresh)
            if most is not None and len(hunt.result.found) >= most:
                return hunt.ended()
        start = stop
    return hunt.ended()


class _Hunt:
    """A search while it runs."""

    def __init__(
        self, backend: Backend, seed: int, level: int | None, exclude: Exclusions,
        expected: Callable[[Program, Verdict], bool] | None, repeats: int, seconds: float | None,
    ) -> None:
        self.backend, self.seed, self.level, self.exclude = backend, seed, level, exclude
        self.expected, self.repeats, self.seconds = expected, repeats, seconds
        self.began = time.monotonic()
        self.result = Result()
        self.by_cause: dict[Any, Found] = {}

    def late(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and time.monotonic() - self.began > self.seconds

    def ended(self) -> Result:
        """The result, with the time that it took."""
        self.result.seconds = time.monotonic() - self.began
        self.result.exclusions = self.exclude
        return self.result

    def replay(self, level: int, note: Callable[[Result, Found | None], None] | None) -> None:
        """Run the stored programs of a level that the implementation's operators allow."""
        has = self.backend.capabilities.has
        stored = [s for s in stored_programs(level) if all(map(has, operators(s.program)))]
        for number, (one, answer) in enumerate(
            zip(stored, answers_of(self.backend, [s.program for s in stored]), strict=True)
        ):
            fresh = self.take(number - len(stored), one.program, judge_answer(one.program, answer))
            if note is not None:
                note(self.result, fresh)

    def take(self, number: int, program: Program, verdict: Verdict) -> Found | None:
        """Count a program; returns the cause that it is the first to show."""
        result = self.result
        result.programs += 1
        result.last = max(0, number + 1)
        status = verdict.status
        fresh = None
        _cover(result, program, verdict)
        for tier in ("exact", "bounded", "free"):
            result.elements[tier] += getattr(verdict, tier)
        if status == "failed":
            if self.expected is not None and self.expected(program, verdict):
                status = "expected"
            elif is_excluded(self.exclude, program, verdict):  # drawn before another program's cause was excluded
                status = "excluded"
            else:
                found = self._explained(number, program, verdict)
                fresh = None if found.again else found
                if found.again >= self.repeats:
                    self.exclude = without(self.exclude, found)
        result.statuses[status] += 1
        result.seconds = time.monotonic() - self.began
        return fresh

    def _explained(self, number: int, program: Program, verdict: Verdict) -> Found:
        """The cause of a failure; one that is known already has ``again`` counted up."""
        small, last = _shrunk(self.backend, program, verdict) if number >= 0 else (program, verdict)
        cause = cause_of(small, last)
        known = self.by_cause.get(cause.key)
        if known is not None:
            known.again += 1
            return known
        found = Found(cause, small, last, number, program, time.monotonic() - self.began)
        self.by_cause[cause.key] = found
        self.result.found.append(found)
        return found


def without(exclude: Exclusions, found: Found) -> Exclusions:
    """The exclusions and what shows a known cause."""
    cause = found.cause
    if cause.consumers == "many":
        return exclude.also(many_readers=True)
    if "repeated" in cause.requirement:
        return exclude.also(requirement="repeated")
    names = sorted(set(operators(found.program)))
    if not names:
        return exclude
    if len(names) > 1:  # each alone does well: what is left after shrinking fails together
        return exclude.also(together=names)
    if cause.place != "gradient":
        return exclude.also(operator=cause.operator)
    return exclude.also(operator=cause.operator, requirement=cause.requirement.split()[-1])


def is_excluded(exclude: Exclusions, program: Program, verdict: Verdict) -> bool:
    """Whether drawing would leave a failing program out now."""
    names = set(operators(program))
    if names & exclude.operators or any(pair <= names for pair in exclude.together):
        return True
    if exclude.many_readers and cause_of(program, verdict).operator == ANY:
        return True
    asked = {r for step in program["steps"] for r in (step.get("requirements") or {}).values()} - {"null"}
    if sum(step["do"] == "backward" for step in program["steps"]) > 1:
        asked.add("repeated")
    if asked:
        asked.add("write")
    return not all(exclude.allowed(requirement, sorted(names)) for requirement in asked)


def _shrunk(backend: Backend, program: Program, verdict: Verdict) -> tuple[Program, Verdict]:
    """The smallest program that fails in the same way, and what it shows."""
    kind = verdict.mismatches[0].kind
    shown = verdict

    def still_fails(smaller: Program) -> bool:
        nonlocal shown
        again = judge(backend, smaller)
        if again.status != "failed" or again.mismatches[0].kind != kind:
            return False
        shown = again
        return True

    if kind == "crashed":
        return shrink(program, still_fails, seconds=CRASH_SECONDS, attempts=CRASH_ATTEMPTS), shown
    return shrink(program, still_fails), shown


def _cover(result: Result, program: Program, verdict: Verdict) -> None:
    if verdict.status not in ("passed", "failed"):
        return
    requirements = {r for step in program["steps"] for r in (step.get("requirements") or {"": "none"}).values()}
    for name in set(operators(program)):
        for requirement in requirements or {"none"}:
            result.covered[name, requirement] += 1
