"""The exclusions that a search adds for a known cause: as narrow as the shrunk program allows.

The first exclusion is a pattern, with the parameters of operators, types, styles and orders of steps that the shrunk
program needs. If the cause appears again, exclusions become broader: without parameters, styles and orders, and at last
the operator or its gradients as a whole. An exclusion that takes more than a tenth of the drawing is narrowed. If it
cannot be narrowed, its programs are drawn and their wrong arrays of that place are set aside; else the search warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..base import decides
from .drawing.choices import Exclusions, of_type
from .explaining.causes import ADDING, ANY, Cause, cause_of, place_of
from .explaining.neighbours import Neighbour
from .judging.comparing import Verdict
from .judging.reference import Program
from .programs.program import most_readers, operators
from .traits import TYPES, all_traits_of, matched, pattern_of, usual_traits_of

FINE = 2
"""How often a cause is left out by all traits that a program needs, and again by fewer, before its operator is."""
LARGE = 0.1
"""An exclusion that takes more than this part of the drawing blinds a search."""
FEW_READERS = 6
"""Readers of one value that are no crowd."""
GRAPHS = 2
"""The highest level whose programs are graphs of drawn operators, and little else."""
HISTORIES = 7
"""The level whose programs are answered by a history, of which no part can be set aside."""


class Measuring(Protocol):
    """What measures exclusions: ``measuring.Sample``."""

    def share(self, row: dict[str, Any]) -> float:
        """The part of the supported programs that an exclusion takes."""

    def share_of_all(self, row: dict[str, Any]) -> float:
        """The part of all programs that an exclusion takes; none is run."""


def without(exclude: Exclusions, cause: Cause, program: Program, *, times: int = 0) -> Exclusions:
    """The exclusions, extended by a known cause.

    Args:
        exclude: the exclusions so far.
        cause: the known cause.
        program: the shrunk program that shows it.
        times: how often it was excluded before.
    """
    row = exclusion_of(cause, program, times=times)
    return exclude.also(**row) if row else exclude


def exclusion_of(
    cause: Cause, program: Program, shown: Sequence[Neighbour] = (), *, times: int = 0
) -> dict[str, Any]:
    """The exclusion of the programs that show a cause: arguments of ``Exclusions.also``; none where no trait fits.

    Args:
        cause: the known cause.
        program: the shrunk program that shows it.
        shown: its variants, if they were run.
        times: how often the cause was excluded before.
    """
    if cause.consumers == "many":
        return {"many_readers": True}
    if "repeated" in cause.requirement:  # what an executor does, whichever operators it has
        return {"requirement": "repeated"}
    names = sorted(set(operators(program)))
    if program["level"] > 2 or (names and times < 2 * FINE):
        fine = times < FINE and cause.look not in ADDING
        found = pattern_of(program, _gradient(cause), needless(shown), fine=fine)
        return {"pattern": sorted(found)} if program["level"] < 7 else {}
    if not names:
        return {}
    if len(names) > 1:  # each alone does well: what is left after shrinking fails together
        return {"together": names}
    dtype = _type_of(program)
    operator = of_type(cause.operator, dtype) if dtype not in ("", "float32") else cause.operator
    if cause.place != "gradient":
        return {"operator": operator}
    return {"operator": operator, "requirement": cause.requirement.split()[-1]}


def _gradient(cause: Cause) -> str | None:
    """The trait of the wrong gradient: empty where an output is wrong, None where any gradient may be at fault.

    Faults in the memory of gradients do not depend on the input.
    """
    if cause.place in ("refused", "crashed"):
        return None
    if cause.place != "gradient":
        return ""
    asked = cause.requirement.split()[0]
    known = cause.input.isdigit() and "+" not in cause.operator and cause.look not in ADDING
    return f"gradient of {cause.operator.split('+')[0]}{f' {cause.input}' if known else ''} with {asked}"


def needless(shown: Sequence[Neighbour]) -> list[str]:
    """Traits without which neighbours of a program fail as well.

    Args:
        shown: the neighbours.
    """
    found: list[str] = []
    for each in shown:
        if each.passes:
            continue
        name, word, attr = each.change.partition(" without ")
        if word:
            found.append(f"{name} {attr}")
        elif each.change in TYPES:
            found += TYPES
        elif each.change in ("dyadic values", "smooth values"):
            found += ["special", "wide"]
    return found


def _type_of(program: Program) -> str:
    """The floating type of all its arrays, "" where they have several."""
    found = {spec["dtype"] for spec in program.get("arrays", {}).values() if spec["dtype"].startswith("float")}
    return found.pop() if len(found) == 1 else ""


def is_excluded(exclude: Exclusions, program: Program, verdict: Verdict) -> bool:
    """Whether drawing would leave a failing program out now."""
    if leaves_out(exclude._replace(many_readers=False, aside=frozenset()), program):
        return True
    return exclude.many_readers and cause_of(program, verdict).operator == ANY


def leaves_out(exclude: Exclusions, program: Program) -> bool:
    """Whether exclusions leave a program out, or something of it.

    Args:
        exclude: exclusions.
        program: a checked program.
    """
    names = set(operators(program))
    names |= {of_type(name, _type_of(program)) for name in names}
    if names & exclude.operators or any(pair <= names for pair in exclude.together):
        return True
    if matched([*exclude.patterns, *(pattern for pattern, _ in exclude.aside)], program):
        return True
    if exclude.many_readers and most_readers(program) > FEW_READERS:
        return True
    asked = {r for step in program["steps"] for r in (step.get("requirements") or {}).values()} - {"null"}
    if sum(step["do"] == "backward" for step in program["steps"]) > 1:
        asked.add("repeated")
    if asked:
        asked.add("write")
    return not all(exclude.allowed(requirement, sorted(names)) for requirement in asked)


def set_aside(exclude: Exclusions, program: Program, verdict: Verdict) -> Verdict:
    """A verdict without the mismatches that are set aside; its status is "known" where none is left.

    Args:
        exclude: exclusions.
        program: a checked program.
        verdict: the verdict on it.
    """
    if verdict.status != "failed" or not exclude.aside:
        return verdict
    traits = all_traits_of(program)
    places = {place for pattern, place in exclude.aside if pattern <= traits}
    left = [mismatch for mismatch in verdict.mismatches if place_of(mismatch) not in places]
    if len(left) == len(verdict.mismatches):
        return verdict
    return replace(verdict, status="failed" if left else "known", mismatches=left, reason=left[0].text if left else "")


@decides("oracle/large-exclusions")
def narrowed(
    row: dict[str, Any], cause: Cause, program: Program, sample: Measuring, *, times: int = 0
) -> tuple[dict[str, Any], float]:
    """An exclusion that takes as little of the drawing as it can, and the part that it takes.

    If it takes more than LARGE, it first gets all traits of the shrunk program, those too that say little by
    themselves. If it is still large, or the cause came again, it depends on the level. Programs of levels 1 and 2 are
    left out nevertheless: graphs of the other operators take their place. Above, hardly anything would take their
    place, so that they go on being drawn, and what is wrong of the cause's place in them is set aside; but a program
    that is refused or ends the process shows nothing else.

    Args:
        row: arguments of ``Exclusions.also``.
        cause: the known cause.
        program: the shrunk program that shows it.
        sample: measures exclusions, see ``measuring``.
        times: how often the cause was excluded before.
    """
    if cause.place in ("refused", "crashed") or program["level"] == HISTORIES:
        return row, sample.share_of_all(row)
    part = sample.share(row)
    if part <= LARGE or "pattern" not in row:
        return row, part
    if times < FINE:
        narrow = {"pattern": sorted(pattern_of(program, _gradient(cause)) | usual_traits_of(program))}
        if (small := sample.share(narrow)) <= LARGE:
            return narrow, small
    return (row if program["level"] <= GRAPHS else {**row, "aside": cause.place}), part
