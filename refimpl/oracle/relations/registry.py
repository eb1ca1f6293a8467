"""The table of relations, and asking them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..backends import Backend, Crashed, Refused, Unsupported
from ..judging.reference import Program, Trace
from ..judging.statistical import draws_numbers
from .faithful import kept_on_purpose

Rule = Callable[[Backend, Program], list[str]]


@dataclass(frozen=True)
class Relation:
    """One relation; called with a backend and a program it returns the differences, one line for each array."""

    name: str
    levels: tuple[int, ...]
    """Of the programs that it can be asked of."""
    rule: Rule

    def __call__(self, backend: Backend, program: Program) -> list[str]:
        """The differences; none where the program is of another level, or the relation is broken on purpose."""
        if program["level"] not in self.levels or kept_on_purpose(self.name, program):
            return []
        if self.name != "again" and draws_numbers(program):  # each run draws others
            return []
        return self.rule(backend, program)


RELATIONS: dict[str, Relation] = {}
"""All relations by name."""


class Applied(NamedTuple):
    """A relation that a program breaks."""

    name: str
    program: Program
    differences: list[str]


class ChangedRefused(Exception):
    """The implementation runs a program, and not the changed one; the text is its error."""


def relation(name: str, *levels: int) -> Callable[[Rule], Rule]:
    """Register a relation under its name, for programs of some levels."""

    def register(rule: Rule) -> Rule:
        RELATIONS[name] = Relation(name, levels, rule)
        return rule

    return register


def changed(backend: Backend, program: Program) -> Trace:
    """Run a changed program, which the implementation must not refuse if it accepted the first one.

    Raises:
        ChangedRefused: it refuses or ends.
        Unsupported: it lacks a feature of the changed program.
    """
    try:
        return backend.run(program)
    except (Refused, Crashed) as error:
        raise ChangedRefused(" ".join(str(error).split())[:300]) from error


def broken(backend: Backend, program: Program, names: Sequence[str] | None = None) -> list[Applied]:
    """The relations that an implementation breaks on a program.

    Args:
        backend: the implementation.
        program: the program; relations change its requirements, heads and steps.
        names: names of relations; all by default.

    Raises:
        Unsupported, Refused, Crashed: as the implementation's ``run`` of the program itself.
    """
    found: list[Applied] = []
    for name in names or RELATIONS:
        try:
            differences = RELATIONS[name](backend, program)
        except ChangedRefused as error:
            differences = [f"the changed program is refused: {error}"]
        except Unsupported:
            if not found:
                backend.run(program)  # raises where it is the program itself
            continue
        if differences:
            found.append(Applied(name, program, differences))
    return found
