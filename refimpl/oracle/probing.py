"""The capabilities of an implementation, found by one small program for each operator before a search.

An operator that is always refused is not drawn in graphs, and is no wrong result; the same holds for its gradient. An
operator that ends the process is a fault, and is not drawn either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..kernels.foundation import get
from .backends import Backend, Crashed, Refused, Unsupported
from .drawing.choices import NOTHING, Capabilities, Exclusions
from .drawing.drawn_executors import of_graph
from .drawing.drawn_graphs import FIT, Graph, drawable
from .drawing.draws import SeededDraw
from .judging.comparing import Answer, answers_of, judge
from .judging.reference import Program

TRIES = 4
"""Programs for each operator and level."""

ALONE = Exclusions(operators=frozenset(FIT)).also(requirement="repeated")
"""No other operator computes an input, and backward runs once."""


@dataclass
class Probed:
    """The result of probing."""

    refused: dict[str, str] = field(default_factory=dict)
    """Operators that no program could use, and what was said of the first."""
    no_gradient: dict[str, str] = field(default_factory=dict)
    """Operators that work, without gradients."""
    crashed: dict[str, Program] = field(default_factory=dict)
    """Operators that ended the process, and the program that did."""
    programs: int = 0

    def exclusions(self, known: Exclusions = NOTHING) -> Exclusions:
        """``known``, extended by exclusions for these operators."""
        for name in (*self.refused, *self.crashed):
            known = known.also(operator=name)
        for name in self.no_gradient:
            known = known.also(operator=name, requirement="write")
        return known

    def __str__(self) -> str:
        return (
            f"{len(self.refused)} operators refused, {len(self.no_gradient)} without a gradient, "
            f"{len(self.crashed)} end the process ({self.programs} programs)"
        )


def single(name: str, level: int, number: int, capabilities: Capabilities) -> Program | None:
    """A program with one operator; None where drawing gives none.

    Args:
        name: of the operator.
        level: 1 or 2; at level 2 every gradient is written once.
        number: which of its programs.
        capabilities: which types and styles may be drawn.
    """
    tame = capabilities._replace(
        requirements=("write",), styles=capabilities.styles[:3], dtypes=capabilities.dtypes[:1], corners=False
    )
    for attempt in range(5):
        draw = SeededDraw(f"probe/{name}/{number}/{attempt}")
        graph = Graph(draw, tame, ALONE)
        heads = graph.call(get(name))
        if heads:
            program = of_graph(level, draw, graph, heads, tame, ALONE)
            if level == 1 or any(step["do"] == "backward" for step in program["steps"]):
                return program
    return None


def probe(backend: Backend, operators: Sequence[str] | None = None, tries: int = TRIES) -> Probed:
    """Ask for every operator; see the module's text.

    Args:
        backend: the implementation.
        operators: names; all that ``backend.capabilities`` allows by default.
        tries: programs for each operator and level.
    """
    capabilities = backend.capabilities
    names = [n for n in drawable() if capabilities.has(n)] if operators is None else list(operators)
    found = Probed()
    answers = _asked(backend, names, 1, tries, found)
    for name, given in answers.items():
        _sort(backend, name, given, found.refused, found)
    if capabilities.level < 2:
        return found
    left = [name for name in answers if name not in found.refused and name not in found.crashed]
    for name, given in _asked(backend, left, 2, tries, found).items():
        _sort(backend, name, given, found.no_gradient, found)
    return found


def _asked(
    backend: Backend, names: Sequence[str], level: int, tries: int, found: Probed
) -> dict[str, list[tuple[Program, Answer]]]:
    drawn: list[tuple[str, Program]] = []
    for name in names:
        programs = [single(name, level, number, backend.capabilities) for number in range(tries)]
        drawn += [(name, program) for program in programs if program is not None]
    found.programs += len(drawn)
    answers: dict[str, list[tuple[Program, Answer]]] = {}
    for (name, program), answer in zip(drawn, answers_of(backend, [p for _, p in drawn]), strict=True):
        answers.setdefault(name, []).append((program, answer))
    return answers


def _sort(
    backend: Backend, name: str, given: list[tuple[Program, Answer]], refused: dict[str, Any], found: Probed
) -> None:
    for program, answer in given:
        if isinstance(answer, Crashed) and judge(backend, program).status == "failed":  # again, alone
            found.crashed[name] = program
            return
    if all(isinstance(answer, (Refused, Unsupported)) for _, answer in given):
        refused[name] = " ".join(str(given[0][1]).split())[:200]
