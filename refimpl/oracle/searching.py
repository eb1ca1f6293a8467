"""Searching for programs that an implementation gets wrong: draw, judge, shrink, name the cause, go on without it.

[oracle/program-i] Program ``i`` is a function of the seed, of ``i``, and of what was excluded before it. A
    budget of time decides only how many programs there are.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .backends import Backend
from .causes import Cause, cause_of
from .comparing import Verdict, judge
from .drawing.buckets import bucketing_program, svrg_program
from .drawing.draws import Draw, SeededDraw
from .drawing.executors import executor_program, forward_program
from .drawing.graphs import NOTHING, Capabilities, Exclusions
from .drawing.modules import module_program
from .drawing.optimizers import optimizer_program
from .drawing.stores import store_program
from .programs.program import operators
from .reference import Program
from .shrinking import shrink

def _bucketing_or_svrg(draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> Program:
    return (svrg_program if draw.one_in(3) else bucketing_program)(draw, capabilities, exclude)


DRAWERS: dict[int, Callable[[Draw, Capabilities, Exclusions], Program]] = {
    1: forward_program, 2: executor_program, 3: module_program, 4: _bucketing_or_svrg, 5: optimizer_program,
    6: store_program,
}
"""Level -> how its programs are drawn."""


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
    wanted = level or capabilities.level
    return DRAWERS[wanted](SeededDraw(f"{seed}/{wanted}/{i}"), capabilities, exclude)


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


def search(
    backend: Backend, *, seed: int = 0, programs: int | None = None, seconds: float | None = None, start: int = 0,
    level: int | None = None, exclude: Exclusions = NOTHING, expected: Callable[[Program, Verdict], bool] | None = None,
    most: int | None = None, note: Callable[[Result, Found | None], None] | None = None, repeats: int = 3,
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
    """
    began = time.monotonic()
    result = Result()
    capabilities = backend.capabilities
    by_cause: dict[Any, Found] = {}
    for i in _numbers(start, programs):
        if seconds is not None and time.monotonic() - began > seconds:
            break
        program = program_of(seed, i, capabilities, exclude, level)
        verdict = judge(backend, program)
        result.programs += 1
        result.last = i + 1
        result.statuses[verdict.status] += 1
        for tier in ("exact", "bounded", "free"):
            result.elements[tier] += getattr(verdict, tier)
        _cover(result, program, verdict)
        fresh: Found | None = None
        if verdict.status == "failed":
            if expected is not None and expected(program, verdict):
                result.statuses["failed"] -= 1
                result.statuses["expected"] += 1
            else:
                fresh = _explain(backend, program, verdict, i, time.monotonic() - began, by_cause)
                if fresh is None:
                    pass
                elif fresh.again:
                    if fresh.again >= repeats:
                        exclude = without(exclude, fresh)
                    fresh = None
                else:
                    result.found.append(fresh)
        result.seconds = time.monotonic() - began
        if note is not None:
            note(result, fresh)
        if most is not None and len(result.found) >= most:
            break
    result.seconds = time.monotonic() - began
    return result


def without(exclude: Exclusions, found: Found) -> Exclusions:
    """The exclusions and what shows a known cause."""
    cause = found.cause
    if cause.consumers == "many":
        return exclude.also(many_readers=True)
    for operator in cause.operator.split("+"):
        if cause.place != "gradient":
            exclude = exclude.also(operator=operator)
        else:
            for word in cause.requirement.split()[-1:]:
                exclude = exclude.also(operator=operator, requirement=word)
    return exclude


def _numbers(start: int, count: int | None) -> Iterator[int]:
    i = start
    while count is None or i < start + count:
        yield i
        i += 1


def _explain(
    backend: Backend, program: Program, verdict: Verdict, number: int, seconds: float, by_cause: dict[Any, Found]
) -> Found | None:
    """The cause of a failure; one that is known already has ``again`` counted up."""
    kind = verdict.mismatches[0].kind

    def still_fails(smaller: Program) -> bool:
        again = judge(backend, smaller)
        return again.status == "failed" and again.mismatches[0].kind == kind

    small = shrink(program, still_fails)
    last = judge(backend, small)
    if last.status != "failed":  # an implementation that is not the same on every run
        last = verdict
        small = program
    cause = cause_of(small, last)
    known = by_cause.get(cause.key)
    if known is not None:
        known.again += 1
        return known
    found = by_cause[cause.key] = Found(cause, small, last, number, program, seconds)
    return found


def _cover(result: Result, program: Program, verdict: Verdict) -> None:
    if verdict.status not in ("passed", "failed"):
        return
    requirements = {r for step in program["steps"] for r in (step.get("requirements") or {"": "none"}).values()}
    for name in set(operators(program)):
        for requirement in requirements or {"none"}:
            result.covered[name, requirement] += 1
