"""Whether a student's code keeps the laws of a lab, and the smallest case in which it does not.

Hypothesis draws the cases and makes a failing one small: choices are whole numbers, and smaller ones make simpler
cases (``refimpl.oracle.drawing.draws``).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from hypothesis import HealthCheck, Verbosity, given, settings
from hypothesis import strategies as st

from ...base import decides
from ...oracle.strategies import HypothesisDraw
from .call_recorder import Watched, own_line
from .lab import Broken, Lab, Law


@dataclass
class Verdict:
    """The verdict on a law.

    Attributes:
        clause: the rule.
        kept: whether every case kept it.
        calls: the calls of the smallest case that did not.
        expected, got: the expected and the actual result.
        line: the line of the student's file that raised an error.
        unwritten: the student's function that raised NotImplementedError, as every function of a stub does.
    """

    clause: str
    kept: bool = True
    calls: list[str] = field(default_factory=list)
    expected: str = ""
    got: str = ""
    line: str = ""
    unwritten: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


@decides("Labs/check")
def judge(lab: Lab, student: Watched, module: Any, told: Callable[[str], object] = str) -> list[Verdict]:
    """Try the laws in their order, up to the first that is broken.

    Args:
        lab: the lab.
        student: the code, watched.
        module: the code itself, whose file errors are looked for in.
        told: called with the rule that is tried next.
    """
    verdicts: list[Verdict] = []
    for law in lab.laws:
        told(law.clause)
        verdicts.append(_tried(law, student, module))
        if not verdicts[-1].kept:
            break
    return verdicts


def _tried(law: Law, student: Watched, module: Any) -> Verdict:
    """Draw cases; Hypothesis runs the smallest failing case last, so that its record is the one that stays."""
    last = Verdict(law.clause)

    @settings(
        max_examples=law.examples, derandomize=True, database=None, deadline=None, verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False, print_blob=False,
    )
    @given(st.data())
    def cases(data: st.DataObject) -> None:
        nonlocal last
        student.begin()
        try:
            law.holds(student, HypothesisDraw(data.draw))
        except Broken as error:
            last = Verdict(law.clause, False, list(student.lines), error.expected, error.got)
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = own_line(frames, module)
            if not line and not isinstance(error, (AssertionError, AttributeError)):  # a bug of ours, or of the drawing
                raise
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            unwritten = frames[-1].name if line and isinstance(error, NotImplementedError) else ""
            last = Verdict(law.clause, False, list(student.lines), "a result, not an error", said, line, unwritten)
            raise Broken(last.expected, said) from error

    try:
        cases()
    except Exception:  # Hypothesis has its own for code that fails now and then
        if last.kept:
            raise
    return last


__all__ = ["Verdict", "judge"]
