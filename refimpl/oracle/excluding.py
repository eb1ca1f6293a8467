"""The exclusions that a search adds for a known cause: as narrow as the shrunk program allows.

The first exclusion is a pattern, with the parameters of operators, types, styles and orders of steps that the shrunk
program needs. If the cause appears again, exclusions become broader: without parameters, styles and orders, and at last
the operator or its gradients as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .drawing.choices import Exclusions, of_type
from .explaining.causes import ADDING, ANY, Cause, cause_of
from .explaining.neighbours import Neighbour
from .judging.comparing import Verdict
from .judging.reference import Program
from .programs.program import operators
from .traits import TYPES, matched, pattern_of

FINE = 2
"""How often a cause is left out by all traits that a program needs, and again by fewer, before its operator is."""


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
    names = set(operators(program))
    names |= {of_type(name, _type_of(program)) for name in names}
    if names & exclude.operators or any(pair <= names for pair in exclude.together):
        return True
    if matched(exclude.patterns, program):
        return True
    if exclude.many_readers and cause_of(program, verdict).operator == ANY:
        return True
    asked = {r for step in program["steps"] for r in (step.get("requirements") or {}).values()} - {"null"}
    if sum(step["do"] == "backward" for step in program["steps"]) > 1:
        asked.add("repeated")
    if asked:
        asked.add("write")
    return not all(exclude.allowed(requirement, sorted(names)) for requirement in asked)
