"""Searching for programs that an implementation gets wrong: draw, judge, shrink, name the cause, go on without it.

Program ``i`` is a function of the seed, of ``i``, and of the exclusions before it. A budget of time decides only the
number of programs. An implementation in another process answers CHUNK programs at once; their causes are excluded after
the last of them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..kernels.foundation import collector_pause as collection
from .backends import Backend
from .coverage import Cell, cells_of
from .drawing.choices import NOTHING, Exclusions
from .excluding import exclusion_of, is_excluded
from .explaining.causes import Cause, cause_of
from .explaining.clauses import clause_of
from .explaining.locating import Where, locate
from .explaining.neighbours import ATTEMPTS, Neighbour, neighbours
from .explaining.neighbours import CRASH_ATTEMPTS as CRASH_NEIGHBOURS
from .explaining.shrinking import SECONDS, shrink
from .judging.comparing import Verdict, answers_of, judge, judge_answer
from .judging.reference import Program
from .numbering import as_lists, in_chunks
from .programs.program import name_of, operators
from .sharing import Shared
from .stored import corpus as stored_programs

CHUNK = 32
"""Programs that are drawn and run before the first of them is judged, if the implementation has ``run_many``."""
FAITHFUL = "faithful: "
"""How a status begins that counts relations which were not asked; the clause that says why follows."""
CRASH_ATTEMPTS = 25
"""Programs that shrinking a crash may run: each starts a process."""
FEW = 3
"""Operators that a shrunk program may have before its first divergent node is tried alone."""
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
    where: Where | None = None
    """Where the program goes wrong first; None where that was not asked for."""
    neighbours: tuple[Neighbour, ...] = ()
    """The nearest programs, and which of them pass."""
    clause: str = ""
    """The clause that decides."""


class Excluded(NamedTuple):
    """Something that is not drawn any more, from one program on."""

    before: int
    """The number of the first program that is drawn without it."""
    row: dict[str, Any]
    """What: arguments of ``Exclusions.also``."""
    by: str
    """Who found it: empty for this search, else the name of the process that shared it."""


@dataclass
class Result:
    """The findings of a search."""

    found: list[Found] = field(default_factory=list)
    programs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    elements: Counter[str] = field(default_factory=Counter)
    covered: Counter[Cell] = field(default_factory=Counter)
    """Combination of operator, requirement, fan-out, dtype and mode -> how many programs."""
    seconds: float = 0.0
    last: int = 0
    """The number after that of the last program."""
    exclusions: Exclusions = NOTHING
    """What is not drawn any more."""
    excluded: list[Excluded] = field(default_factory=list)
    """How ``exclusions`` came about, in order: with it each program can be drawn again."""
    drawn: dict[str, Any] = field(default_factory=dict)
    """What the programs were drawn from: seed, level, start, step, and the exclusions at first."""


def search(
    backend: Backend, *, seed: int = 0, programs: int | None = None, seconds: float | None = None, start: int = 0,
    level: int | None = None, exclude: Exclusions = NOTHING, expected: Callable[[Program, Verdict], bool] | None = None,
    most: int | None = None, note: Callable[[Result, Found | None], None] | None = None, repeats: int = 3,
    corpus: bool = False, step: int = 1, shared: Shared | None = None, explain: bool = True,
) -> Result:
    """Draw and judge programs until a number of them, a time, or a number of causes is reached.

    With ``programs`` the result does not depend on time: only attempts limit how far a failure is shrunk.

    Args:
        backend: the implementation.
        seed: the seed of the search.
        programs: the number of programs; None for no limit.
        seconds: the time; None for no limit.
        start: the number of the first program.
        level: the level of the programs; the highest that the implementation offers by default.
        exclude: patterns that are not drawn.
        expected: whether a failure is known already; it is counted and not reported.
        most: the largest number of causes.
        note: called after every program, with the cause that it showed first, if any.
        repeats: the number of further programs that show a known cause before it is excluded.
        corpus: whether to run the stored programs of that level first; their numbers are negative.
        step: the distance between the numbers of programs: shard i of n has the numbers ``start + i``, ``start + i +
            n``, ... with step n.
        shared: a file through which processes share their exclusions.
        explain: whether to locate the first wrong node of a program, and to run its variants.
    """
    for name in getattr(backend, "leaves_out", ()):
        exclude = exclude.also(operator=name)
    hunt = _Hunt(backend, exclude, expected, repeats, seconds, shared=shared, explain=explain, timed=programs is None)
    hunt.result.drawn = {
        "seed": seed, "level": level or backend.capabilities.usual, "start": start, "step": step,
        "exclude": as_lists(exclude),
    }
    if corpus:
        hunt.replay(level or backend.capabilities.usual, note)
    chunks = in_chunks(
        seed, backend.capabilities, level, hunt.adopt, start=start, step=step, programs=programs,
        chunk=CHUNK if hasattr(backend, "run_many") else 1, first=exclude,
    )
    garbage = collection.Seldom()
    with collection.paused():  # to look for garbage after each few nodes takes a tenth of the time
        for drawn in chunks:
            for (i, program), answer in zip(drawn, answers_of(backend, [p for _, p in drawn]), strict=True):
                if hunt.late():
                    return hunt.ended()
                verdict = judge_answer(program, answer, confirm=False)
                fresh = hunt.take(i, program, verdict, partial(judge_answer, program, answer))
                garbage.done()
                if note is not None:
                    note(hunt.result, fresh)
                if most is not None and len(hunt.result.found) >= most:
                    return hunt.ended()
    return hunt.ended()


class _Hunt:
    """A search while it runs."""

    def __init__(
        self, backend: Backend, exclude: Exclusions, expected: Callable[[Program, Verdict], bool] | None, repeats: int,
        seconds: float | None, *, shared: Shared | None, explain: bool, timed: bool,
    ) -> None:
        self.backend, self.exclude = backend, exclude
        self.expected, self.repeats, self.seconds = expected, repeats, seconds
        self.shared, self.explain, self.timed = shared, explain, timed
        self.began = time.monotonic()
        self.result = Result()
        self.by_cause: dict[Any, Found] = {}
        self.waiting: list[dict[str, Any]] = []  # excluded since programs were drawn last

    def late(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and time.monotonic() - self.began > self.seconds

    def adopt(self, number: int) -> Exclusions:
        """Apply exclusions, of this and of other processes, before program ``number`` is drawn."""
        self.result.excluded += [Excluded(number, row, "") for row in self.waiting]
        self.waiting.clear()
        for by, row in self.shared.news() if self.shared is not None else ():
            more = self.exclude.also(**row)
            if more != self.exclude:
                self.exclude = more
                self.result.excluded.append(Excluded(number, row, by))
        return self.exclude

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
            verdict = judge_answer(one.program, answer)
            fresh = self.take(number - len(stored), one.program, verdict, partial(judge_answer, one.program, answer))
            if note is not None:
                note(self.result, fresh)

    def take(
        self, number: int, program: Program, verdict: Verdict, prove: Callable[[], Verdict]
    ) -> Found | None:
        """Count a program; returns the cause that it is the first to show.

        Args:
            number: the number of the program.
            program: the program.
            verdict: its verdict, with suspects that are not confirmed.
            prove: judges the program again and confirms suspects, for the case that no shrunk program is confirmed.
        """
        result = self.result
        result.programs += 1
        result.last = max(0, number + 1)
        status = verdict.status
        fresh = None
        if status == "failed":
            if self.expected is not None and self.expected(program, verdict):
                status = "expected"
            elif is_excluded(self.exclude, program, verdict):  # drawn before another program's cause was excluded
                status = "excluded"
            else:
                verdict, shown = self._explained(number, program, verdict, prove)
                status = verdict.status
                if verdict.status == "failed" and shown is None:
                    status = "expected"
                elif shown is not None:
                    found, small = shown
                    fresh = None if found.again else found
                    status = "failed" if found.verdict.confirmed else "unconfirmed"
                    if found.again >= self.repeats:
                        self._leave_out(found, small)
        if verdict.status in ("passed", "failed"):
            result.covered.update(cells_of(program))
        for tier in ("exact", "bounded", "statistical", "free", "spared"):
            result.elements[tier] += getattr(verdict, tier)
        result.statuses[status] += 1
        result.seconds = time.monotonic() - self.began
        return fresh

    def _leave_out(self, found: Found, small: Program) -> None:
        """Exclude the pattern of a shrunk program, in this process and in others."""
        shown = found.neighbours if small is found.program else ()
        row = exclusion_of(found.cause, small, shown, times=found.again - self.repeats)
        more = self.exclude.also(**row) if row else self.exclude
        if more != self.exclude:
            self.exclude = more
            self.waiting.append(row)
            if self.shared is not None:
                self.shared.tell(row, {"cause": str(found.cause), "program": name_of(small)})

    def _explained(
        self, number: int, program: Program, verdict: Verdict, prove: Callable[[], Verdict]
    ) -> tuple[Verdict, tuple[Found, Program] | None]:
        """The verdict, and if it is confirmed, the cause and the shrunk program; a known cause counts ``again`` up.

        A program whose shrunk form is expected to fail has no cause: its other mismatches follow from the expected one.
        """
        small, last = program, verdict
        if number >= 0:
            small, last = _shrunk(self.backend, program, verdict, timed=self.timed, confirm=False)
            last = judge(self.backend, small) if not last.confirmed else last
            if last.status != "failed":  # the first bound alone was broken
                verdict = prove()
                if verdict.status != "failed":
                    return verdict, None
                small, last = _shrunk(self.backend, program, verdict, timed=self.timed, confirm=True)
        if small is not program and self.expected is not None and self.expected(small, last):
            return verdict, None
        cause = cause_of(small, last)
        known = self.by_cause.get(cause.key)
        if known is not None:
            known.again += 1
            return verdict, (known, small)
        found = Found(cause, small, last, number, program, time.monotonic() - self.began)
        if self.explain:
            _add_explanation(self.backend, found)
        self.by_cause[cause.key] = found
        self.result.found.append(found)
        return verdict, (found, small)


def _add_explanation(backend: Backend, found: Found) -> None:
    """The first wrong node or step of the program, the results of its variants, and the clause."""
    mismatch = found.verdict.mismatches[0]
    attempts = CRASH_NEIGHBOURS if mismatch.kind == "crashed" else ATTEMPTS
    found.where = locate(backend, found.program, found.verdict)
    found.neighbours = tuple(neighbours(backend, found.program, mismatch.name.partition("/")[2], attempts))
    passing = [each.change for each in found.neighbours if each.passes]
    found.clause = clause_of(found.program, found.cause, found.where, passing)


def _shrunk(
    backend: Backend, program: Program, verdict: Verdict, *, timed: bool, confirm: bool
) -> tuple[Program, Verdict]:
    """The smallest program that fails in the same way, and its verdict; shrinking does not confirm suspects."""
    kind = verdict.mismatches[0].kind
    shown, begun = verdict, time.monotonic()
    pack = getattr(backend, "pack", 1)  # of an implementation that compiles so many programs as one
    ready: dict[int, tuple[Program, Any]] = {}

    def prepare(programs: list[Program]) -> None:
        ready.clear()
        if pack > 1:
            answers = answers_of(backend, programs)
            ready.update((id(each), (each, answer)) for each, answer in zip(programs, answers, strict=True))

    def still_fails(smaller: Program) -> bool:
        nonlocal shown
        answer = ready[id(smaller)][1] if id(smaller) in ready else answers_of(backend, [smaller])[0]
        again = judge_answer(smaller, answer, confirm=confirm)
        if again.status != "failed" or again.mismatches[0].kind != kind:
            return False
        shown = again
        return True

    if kind == "crashed":
        limit = CRASH_SECONDS if timed else None
        return shrink(program, still_fails, seconds=limit, attempts=CRASH_ATTEMPTS), shown
    limit = pack * SECONDS if timed else None
    small = shrink(program, still_fails, seconds=limit, ahead=pack, prepare=prepare)
    if len(operators(small)) > FEW and program["level"] <= 2:
        where = locate(backend, small, shown)
        if where.program is not None and still_fails(where.program):
            left = max(0.0, begun + 2 * pack * SECONDS - time.monotonic()) if timed else None
            small = shrink(where.program, still_fails, seconds=left, ahead=pack, prepare=prepare)
    return small, shown
