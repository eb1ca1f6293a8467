"""Searching for programs on which an implementation breaks a relation."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from ..backends import Backend, Crashed, Refused, Unsupported
from ..coverage import cells_of
from ..drawing.choices import NOTHING, Exclusions
from ..excluding import leaves_out, without
from ..explaining.causes import Cause, suspect_of
from ..explaining.shrinking import shrink
from ..judging.comparing import RELATION, Mismatch, Verdict
from ..judging.reference import Program
from ..numbering import in_rounds, levels_of
from ..results import FAITHFUL, Found, Result, counted_reason
from .faithful import kept_on_purpose
from .registry import RELATIONS, Applied, broken


def search(
    backend: Backend, *, seed: int = 0, programs: int | None = None, seconds: float | None = None, start: int = 0,
    step: int = 1, level: int | None = None, exclude: Exclusions = NOTHING, names: Sequence[str] | None = None,
    expected: Callable[[Program, Verdict], bool] | None = None, most: int | None = None,
    note: Callable[[Result, Found | None], None] | None = None, repeats: int = 3,
) -> Result:
    """Draw programs, and ask every relation of each, until a number of them, a time, or a number of causes is reached.

    Args:
        backend: the implementation.
        seed: of the search.
        programs: the number of programs; None for no limit.
        seconds: the time; None for no limit.
        start: the number of the first program.
        step: from one program's number to the next one's.
        level: the level of the programs; by default all that are offered and that have relations, in turns.
        exclude: patterns that are not drawn.
        names: names of relations; all by default.
        expected: whether a broken relation is known already; it is counted and not reported.
        most: the largest number of causes.
        note: called after every program, with the cause that it showed first, if any.
        repeats: the number of further programs that show a known cause before it is excluded.

    Returns:
        the findings; ``statuses`` counts programs as ``refused``, and as FAITHFUL and a clause those that a relation
        was not asked of because it is broken on purpose.
    """
    began = time.monotonic()
    levels = _levels(backend, level, exclude)
    result = Result(
        exclusions=exclude, capabilities=backend.capabilities, levels={each: Counter() for each in levels}
    )
    known: dict[Any, Found] = {}
    rounds = in_rounds(
        seed, backend.capabilities, levels, lambda _: result.exclusions, start=start, step=step, programs=programs,
        first=exclude,
    )
    for number, program in chain.from_iterable(rounds):
        result.seconds = time.monotonic() - began
        if (seconds is not None and result.seconds > seconds) or (most is not None and len(result.found) >= most):
            break
        status, applied = "excluded", list[Applied]()
        if not leaves_out(result.exclusions, program):  # by a cause of the same round
            status, applied = _asked(backend, program, names, result)
        first = None
        if applied and expected is not None and all(expected(program, _verdict(each)) for each in applied):
            status, applied = "expected", []
        for each in applied:
            found = _found(backend, each, number, time.monotonic() - began)
            if found.cause.key in known:
                found = known[found.cause.key]
                found.again += 1
                if found.again >= repeats:
                    result.exclusions = without(
                        result.exclusions, found.cause, found.program, times=found.again - repeats
                    )
                continue
            known[found.cause.key] = found
            result.found.append(found)
            first = first or found
        result.statuses[status] += 1
        result.programs += 1
        result.levels[program["level"]][status] += 1
        result.last = max(result.last, number + 1)
        if status in ("passed", "failed"):
            result.covered.update(cells_of(program))
        result.seconds = time.monotonic() - began
        if note is not None:
            note(result, first)
    return result


def _levels(backend: Backend, level: int | None, exclude: Exclusions) -> list[int]:
    """The level that was asked for, or all that are offered and have relations."""
    related = {each for relation in RELATIONS.values() for each in relation.levels}
    return [each for each in levels_of(backend.capabilities, level, exclude) if each == level or each in related]


def _asked(
    backend: Backend, program: Program, names: Sequence[str] | None, result: Result
) -> tuple[str, list[Applied]]:
    for name in names or RELATIONS:
        if program["level"] in RELATIONS[name].levels:
            result.statuses.update({f"{FAITHFUL}{row.clause}" for row in kept_on_purpose(name, program)})
    try:
        applied = broken(backend, program, names)
    except Unsupported as error:
        result.unsupported[counted_reason(str(error))] += 1
        return "unsupported", []
    except (Refused, Crashed):  # which are not what relations are about
        return "refused", []
    return "failed" if applied else "passed", applied


def _found(backend: Backend, applied: Applied, number: int, seconds: float) -> Found:
    """The cause of a broken relation, with the smallest program that breaks it."""
    last = applied

    def still_broken(smaller: Program) -> bool:
        nonlocal last
        try:
            again = broken(backend, smaller, [applied.name])
        except (Unsupported, Refused, Crashed, KeyError, IndexError):
            return False
        if not again or _place(again[0]) != _place(applied):
            return False
        last = again[0]
        return True

    shrink(applied.program, still_broken, attempts=300)
    verdict = _verdict(last)
    cause = Cause(suspect_of(last.program), verdict.mismatches[0].kind, "", "", _place(last), "")
    return Found(cause, last.program, verdict, number, applied.program, seconds)


def _verdict(applied: Applied) -> Verdict:
    mismatches = [Mismatch("", f"{RELATION}{applied.name}", text) for text in applied.differences]
    return Verdict("failed", mismatches, reason=mismatches[0].text)


def _place(applied: Applied) -> str:
    """Which kind of array differs: output, gradient, argument, ..., or refused."""
    text = applied.differences[0]
    if "is refused" in text:
        return "refused"
    what = text.removeprefix("alone: ").partition("[")[0].partition(" ")[0]
    return (what.partition("/")[2] or "gradient").partition(":")[0].rstrip("0123456789@")


__all__ = ["search"]
