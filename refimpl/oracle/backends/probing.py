"""The capabilities of a backend, found by trying each operator, requirement and type in programs of one operator.

    found = probe(backend)
    found.capabilities  # for drawing
    print(found.text)   # 158 of 334 operators, ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...kernels.foundation import get
from ..drawing.choices import Capabilities
from ..drawing.drawn_executors import executor_program, forward_program
from ..drawing.drawn_graphs import drawable
from ..drawing.draws import SeededDraw
from ..judging.reference import Program
from ..programs.program import operators
from .protocol import Backend, Crashed, Refused, Unsupported

TRIES = 4
"""Programs that are tried for an operator until one is not unsupported."""


class Probed(NamedTuple):
    """The result of probing."""

    capabilities: Capabilities
    unsupported: dict[str, str]
    """Operator -> what the backend says; those that it names itself as lacking are not tried and not here."""
    tried: int
    """Programs that were run."""
    refused: int
    """How many of them the backend supports, and yet refused or crashed on: findings, not lacks."""

    @property
    def text(self) -> str:
        """One line for a report's head."""
        own = self.capabilities
        reasons = Counter(self.unsupported.values()).most_common(3)
        named = "".join(f"; {count} say: {reason}" for reason, count in reasons)
        return (
            f"level {own.level}, {len(own.operators or ())} of {len(drawable())} operators, requirements"
            f" {' '.join(own.requirements)}, types {' '.join(own.dtypes)}; {len(self.unsupported)} operators turned out"
            f" unsupported in {self.tried} programs{named}"
        )


_FOUND: dict[tuple[str, str, Capabilities], Probed] = {}


def probe(backend: Backend) -> Probed:
    """Try everything that a backend's own ``capabilities`` leave open.

    The result is kept for the backend's class and version until the process ends.

    Args:
        backend: the backend. An operator stays in the capabilities if one of a few programs with it is not
            :class:`Unsupported`; so does a requirement or a floating type.
    """
    kind = f"{type(backend).__module__}.{getattr(backend, '__name__', type(backend).__name__)}"
    key = (kind, str(getattr(backend, "version", "")), backend.capabilities)
    if not key[1]:
        return _Probe(backend).result()  # without a version nothing says that it is the same
    if key not in _FOUND:
        _FOUND[key] = _Probe(backend).result()
    return _FOUND[key]


class _Probe:
    def __init__(self, backend: Backend) -> None:
        self.backend, self.tried, self.refused = backend, 0, 0
        self.reason = ""

    def result(self) -> Probed:
        said = self.backend.capabilities
        level = min(said.level, 2)
        plain = said._replace(requirements=said.requirements[:1], dtypes=said.dtypes[:1])
        names, unsupported = [], {}
        for name in drawable():
            if said.has(name):
                if self.any(_programs(name, plain, level)):
                    names.append(name)
                else:
                    unsupported[name] = self.reason
        requirements, dtypes = said.requirements, said.dtypes
        if names:
            simple = min(names, key=_simplicity)
            dtypes = tuple(t for t in dtypes if self.any(_programs(simple, plain._replace(dtypes=(t,)), level)))
            if level == 2:
                requirements = tuple(
                    r for r in requirements if self.any(_programs(simple, plain._replace(requirements=(r,)), level))
                )
        found = said._replace(operators=frozenset(names), requirements=requirements, dtypes=dtypes)
        return Probed(found, unsupported, self.tried, self.refused)

    def any(self, programs: Iterator[Program]) -> bool:
        """Whether one of some programs is supported."""
        for program in programs:
            self.tried += 1
            try:
                self.backend.run(program)
            except Unsupported as error:
                self.reason = str(error)
                continue
            except (Refused, Crashed):
                self.refused += 1
            return True
        return False


def _simplicity(name: str) -> tuple[bool, bool, str]:
    """Operators of one floating input with a gradient come first."""
    op = get(name)
    return not op.has_gradient, tuple(op.all_inputs) != ("data",), name


def _programs(name: str, capabilities: Capabilities, level: int) -> Iterator[Program]:
    """Programs of one operator and nothing else."""
    alone: dict[str, Any] = {"operators": frozenset({name}), "most_operators": 1}
    draw = forward_program if level == 1 else executor_program
    found = 0
    for seed in range(10 * TRIES):
        program = draw(SeededDraw(f"probe/{name}/{seed}"), capabilities._replace(**alone))
        if set(operators(program)) == {name} and found < TRIES:
            found += 1
            yield program
