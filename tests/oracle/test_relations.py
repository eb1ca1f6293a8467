"""Relations: the reference keeps all of them, and each is broken by an implementation that is made to break it."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle import Capabilities, program_of
from refimpl.oracle.backends import Reference
from refimpl.oracle.relations import RELATIONS, broken

CAPABILITIES = Capabilities(level=2)
PROGRAMS = [program_of(9, i, CAPABILITIES) for i in range(24)]


@pytest.mark.clause("oracle/relations")
def test_the_reference_keeps_them() -> None:
    for program in PROGRAMS:
        found = broken(Reference(), program)
        assert not found, (found[0].name, found[0].differences)


class Wrong(Reference):
    """Spoils every gradient as ``spoil(gradient, program, variable)`` says."""

    def __init__(self, spoil) -> None:
        self.spoil, self.runs = spoil, 0

    def run(self, program):
        self.runs += 1
        return {
            name: self.spoil(self, value, program, name.partition(":")[2]) if "/gradient:" in name else value
            for name, value in super().run(program).items()
        }


def asked(program):
    return program["steps"][0]["requirements"]


SPOILT = {
    "add": lambda self, g, p, v: g * 2 if asked(p)[v] == "add" else g,
    "others' requirements": lambda self, g, p, v: g + sum(r != "null" for r in asked(p).values()),
    "heads": lambda self, g, p, v: g + 1,
    "eight readers": lambda self, g, p, v: g / 2 if len(p["heads"]) >= 8 else g,
    "everything is written": lambda self, g, p, v: g + bool(p["steps"][0].get("gradients")),
    "again": lambda self, g, p, v: g + self.runs,
    "names": lambda self, g, p, v: g + v.startswith("z"),
}


@pytest.mark.clause("oracle/relations")
@pytest.mark.parametrize("name", RELATIONS)
def test_each_is_broken_by_an_implementation_that_breaks_it(name) -> None:
    spoil = SPOILT[name]
    backend = Wrong(lambda *given: np.asarray(spoil(*given), given[1].dtype))
    found = [applied for program in PROGRAMS for applied in broken(backend, program, [name])]
    assert found
    assert all(applied.name == name and applied.differences for applied in found)


def test_a_program_of_another_level_says_nothing() -> None:
    program = program_of(0, 1, Capabilities(level=1), level=1)
    assert broken(Reference(), program) == []
