"""One rule: what it says, what decides it, what proves it, and where MXNet 1.9.1 does something else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..kernels.foundation.quirk import DECLARED, Quirk
from . import places, tests_of_wheel


class Place(NamedTuple):
    """A function, class or table: its file, its first line, its name and its source."""

    file: str
    line: int
    name: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


class Deviation(NamedTuple):
    """What MXNet 1.9.1 does, and what is done here instead, or why."""

    upstream: str
    here: str


@dataclass(frozen=True, repr=False)
class Rule:
    """A clause of the specification.

    Attributes:
        name: ``Subject/slug``.
        text: its words.
        written: the chapter or page that they stand in, as a path in a checkout.
        example: Python that shows it; empty where there is none.
        deviations: what MXNet 1.9.1 does instead, where it does.
    """

    name: str
    text: str
    written: str
    example: str
    deviations: tuple[Deviation, ...]
    decided: tuple[str, ...]
    """``FILE::NAME`` of the code that decides it; none for the definition of a term."""
    proven: tuple[str, ...]
    """``FILE::NAME`` of the tests that prove it, besides the example."""

    @cached_property
    def code(self) -> list[Place]:
        """The functions, classes and tables that decide the rule, as they are now."""
        return [_place(place) for place in self.decided]

    @cached_property
    def tests(self) -> list[Place]:
        """The tests that prove the rule: from the checkout, or as they were when the wheel was built."""
        return [
            _place(place) if places.file_of(place.partition("::")[0]).is_file() else Place(*tests_of_wheel.found(place))
            for place in self.proven
        ]

    @property
    def quirks(self) -> list[Quirk]:
        """The quirks (``mx.quirks``) that bring MXNet's own result back."""
        return [quirk for quirk in DECLARED.values() if quirk.clause == self.name]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"[{self.name}] {self.text}", f"    {self.written}"]
        if self.example:
            lines += ["", *("    " + line for line in self.example.splitlines())]
        lines += ["", *(f"decided by  {place}" for place in self.code), *(f"proven by   {test}" for test in self.tests)]
        for row in self.deviations:
            lines += [f"MXNet 1.9.1 {row.upstream}", f"here        {row.here}"]
        lines += [f"quirk       {quirk.name}: {quirk.upstream}" for quirk in self.quirks]
        return "\n".join(lines)


def _place(place: str) -> Place:
    file, _, name = place.partition("::")
    line, source = places.found(place)
    return Place(file, line, name, source)
