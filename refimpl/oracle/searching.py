"""Searching for programs that an implementation gets wrong: draw, judge, shrink, name the cause, go on without it.

Program ``i`` of a level is a function of the seed, the level, ``i``, and the exclusions before it. A budget of time
decides only the number of programs. Programs are drawn in rounds, whose causes are excluded after the last of them.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..kernels.foundation import collector_pause as collection
from .backends import Backend
from .coverage import cells_of
from .drawing.choices import NOTHING, Exclusions
from .examining import Shrunk
from .excluding import LARGE, exclusion_of, is_excluded, narrowed, set_aside
from .explaining.causes import cause_of
from .judging.comparing import Verdict, judge
from .judging.reference import Program
from .measuring import Sample, rows_of, told
from .numbering import as_lists, in_rounds, levels_of
from .programs.program import operators
from .results import Excluded, Found, Result, counted_reason
from .stored import corpus as stored_programs
from .workers import Alone, Shrink, Workers


def search(
    backend: Backend, *, seed: int = 0, programs: int | None = None, seconds: float | None = None, start: int = 0,
    level: int | None = None, exclude: Exclusions = NOTHING, expected: Callable[[Program, Verdict], bool] | None = None,
    most: int | None = None, note: Callable[[Result, Found | None], None] | None = None, repeats: int = 3,
    corpus: bool = False, step: int = 1, explain: bool = True, workers: Workers | None = None,
) -> Result:
    """Draw and judge programs until a number of them, a time, or a number of causes is reached.

    With ``programs`` the result does not depend on time: only attempts limit how far a failure is shrunk.

    Args:
        backend: the implementation.
        seed: the seed of the search.
        programs: the number of programs; None for no limit.
        seconds: the time; None for no limit.
        start: the number of the first program.
        level: the level of the programs; by default all that the implementation offers, in turns.
        exclude: patterns that are not drawn.
        expected: whether a failure is known already; it is counted and not reported.
        most: the largest number of causes.
        note: called after every program, with the cause that it showed first, if any.
        repeats: the number of further programs that show a known cause before it is excluded.
        corpus: whether to run the stored programs of that level first; their numbers are negative.
        step: the distance between the numbers of programs: shard i of n has the numbers ``start + i``, ``start + i +
            n``, ... with step n.
        explain: whether to locate the first wrong node of a program, and to run its variants.
        workers: who judges and shrinks; this process by default. The result is the same.
    """
    for name in getattr(backend, "leaves_out", ()):
        exclude = exclude.also(operator=name)
    levels = levels_of(backend.capabilities, level, exclude)
    hunt = _Hunt(
        backend, exclude, expected, repeats, seconds, explain=explain, timed=programs is None,
        workers=workers or Alone(backend), sample=Sample(backend, seed, levels, exclude),
    )
    hunt.result.drawn = {"seed": seed, "levels": levels, "start": start, "step": step, "exclude": as_lists(exclude)}
    if corpus:
        for each in levels:
            hunt.replay(each, note)
    rounds = in_rounds(
        seed, backend.capabilities, levels, hunt.adopt, start=start, step=step, programs=programs, first=exclude
    )
    garbage = collection.Seldom()
    with collection.paused():  # to look for garbage after each few nodes takes a tenth of the time
        for drawn in rounds:
            for number, program, verdict, shrink in hunt.judged(drawn, hunt.is_new):
                if hunt.late():
                    return hunt.ended()
                fresh = hunt.take(number, program, verdict, shrink)
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
        seconds: float | None, *, explain: bool, timed: bool, sample: Sample, workers: Workers,
    ) -> None:
        self.backend, self.exclude, self.sample, self.workers = backend, exclude, sample, workers
        self.expected, self.repeats = expected, repeats
        self.explain, self.timed = explain, timed
        self.began = time.monotonic()
        self.end = math.inf if seconds is None else self.began + seconds
        self.result = Result(
            capabilities=backend.capabilities, levels={level: Counter() for level in sample.levels},
            runtime=str(getattr(backend, "version", "")),
        )
        self.by_cause: dict[Any, Found] = {}
        self.waiting: list[tuple[dict[str, Any], float]] = []  # excluded since programs were drawn last
        self.result.given += [(row, sample.share_of_all(row)) for row in rows_of(exclude)]
        self._warn(self.result.given, "from the beginning")

    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.end

    def adopt(self, numbers: dict[int, int]) -> Exclusions:
        """Apply exclusions before the programs of these numbers are drawn."""
        self.result.excluded += [Excluded(numbers, row, share) for row, share in self.waiting]
        self.waiting.clear()
        return self.exclude

    def left(self) -> float | None:
        """The seconds until the end; None where only attempts count."""
        return self.end - time.monotonic() if self.timed else None

    def judged(
        self, drawn: Sequence[tuple[int, Program]], wanted: Callable[[Program, Verdict], bool]
    ) -> Iterator[tuple[int, Program, Verdict, Shrink]]:
        """The numbers, programs and verdicts of a round, each with the function that shrinks the program.

        Args:
            drawn: the round.
            wanted: whether a program will be shrunk, as far as is known.
        """
        programs = [program for _, program in drawn]
        answers = self.workers.judged(programs, wanted, self.exclude, self.left)
        for (number, program), (verdict, shrink) in zip(drawn, answers, strict=True):
            yield number, program, verdict, shrink

    def is_new(self, program: Program, verdict: Verdict) -> bool:
        """Whether a verdict is of a failure that is neither expected nor excluded."""
        verdict = set_aside(self.exclude, program, verdict)
        if verdict.status != "failed" or (self.expected is not None and self.expected(program, verdict)):
            return False
        return not is_excluded(self.exclude, program, verdict)

    def _warn(self, given: Sequence[tuple[dict[str, Any], float]], why: str) -> None:
        """Say in a line for all which exclusions take much of the drawing, beginning with the one that takes most."""
        large = sorted(((share, row) for row, share in given if share > LARGE), key=lambda pair: -pair[0])
        for aside in sorted({row.get("aside", "") for _, row in large}):
            how = f"is judged without its {aside}" if aside else "is left out"
            alike = [(share, told(row)) for share, row in large if row.get("aside", "") == aside]
            (most, first), *rest = alike
            others = "".join(f"; {share:.0%}: {name}" for share, name in rest)
            self.result.warnings.append(f"{most:.0%} of what can be drawn {how}, {why}: {first}{others}")

    def ended(self) -> Result:
        """The result, with the time that it took."""
        self.result.seconds = time.monotonic() - self.began
        self.result.exclusions = self.exclude
        return self.result

    def replay(self, level: int, note: Callable[[Result, Found | None], None] | None) -> None:
        """Run the stored programs of a level that the implementation's operators allow."""
        has = self.backend.capabilities.has
        stored = [s.program for s in stored_programs(level) if all(map(has, operators(s.program)))]
        numbered = [(i - len(stored), each) for i, each in enumerate(stored)]
        for number, program, verdict, _ in self.judged(numbered, lambda *_: False):  # they are small already
            if self.late():
                return
            proved = judge(self.backend, program) if verdict.status == "failed" else verdict
            fresh = self.take(number, program, proved, partial(Shrunk, proved, program, proved))
            if note is not None:
                note(self.result, fresh)

    def take(self, number: int, program: Program, verdict: Verdict, shrink: Shrink) -> Found | None:
        """Count a program; returns the cause that it is the first to show.

        Args:
            number: the number of the program.
            program: the program.
            verdict: its verdict, with suspects that are not confirmed.
            shrink: gives the smallest program that fails in the same way.
        """
        result = self.result
        result.programs += 1
        result.last = max(result.last, number + 1)
        verdict = set_aside(self.exclude, program, verdict)
        status = verdict.status
        fresh = None
        if status == "failed":
            if self.expected is not None and self.expected(program, verdict):
                status = "expected"
            elif is_excluded(self.exclude, program, verdict):  # drawn before another program's cause was excluded
                status = "excluded"
            else:
                verdict, shown = self._explained(number, program, shrink)
                status = verdict.status
                if verdict.status == "failed" and shown is None:
                    status = "expected"
                elif shown is not None:
                    found, small = shown
                    fresh = None if found.again else found
                    status = "failed" if found.verdict.confirmed else "unconfirmed"
                    if found.again >= self.repeats:
                        self._leave_out(found, small)
        if verdict.status in ("passed", "failed", "known"):
            result.covered.update(cells_of(program))
        for tier in ("exact", "bounded", "statistical", "free", "spared"):
            result.elements[tier] += getattr(verdict, tier)
        result.statuses[status] += 1
        result.levels[program["level"]][status] += 1
        if status == "unsupported":
            result.unsupported[counted_reason(verdict.reason)] += 1
        result.seconds = time.monotonic() - self.began
        return fresh

    def _leave_out(self, found: Found, small: Program) -> None:
        """Exclude the pattern of a shrunk program."""
        shown = found.neighbours if small == found.program else ()
        times = found.again - self.repeats
        row = exclusion_of(found.cause, small, shown, times=times)
        if not row:
            return
        row, share = narrowed(row, found.cause, small, self.sample, times=times)
        more = self.exclude.also(**row)
        if more != self.exclude:
            self.exclude = more
            self.waiting.append((row, share))
            self._warn([(row, share)], f"because of the cause {found.cause}")

    def _explained(
        self, number: int, program: Program, shrink: Shrink
    ) -> tuple[Verdict, tuple[Found, Program] | None]:
        """The verdict, and if it is confirmed, the cause and the shrunk program; a known cause counts ``again`` up.

        A program whose shrunk form is expected to fail has no cause: its other mismatches follow from the expected one.
        """
        verdict, small, last = shrink()
        if verdict.status != "failed":
            return verdict, None
        if small != program and self.expected is not None and self.expected(small, last):
            return verdict, None
        cause = cause_of(small, last)
        known = self.by_cause.get(cause.key)
        if known is not None:
            known.again += 1
            return verdict, (known, small)
        found = Found(cause, small, last, number, program, time.monotonic() - self.began)
        found.late = self.explain and self.late()
        if self.explain and not found.late:
            found.where, found.neighbours, found.clause = self.workers.explained(cause, small, last)
        self.by_cause[cause.key] = found
        self.result.found.append(found)
        return verdict, (found, small)
