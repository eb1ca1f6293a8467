"""Other steps for a program, and the traces of both under the same names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backends import Backend, declared_of
from ..judging.reference import Expected, Program, expected_of
from .comparing import differences_beyond
from .registry import changed

Step = dict[str, Any]
Steps = Sequence[tuple[int | None, Step]]
"""The steps of a changed program; each with its number in the program, or None where it is new."""
Wanted = Callable[[str], bool]


def everything(name: str) -> bool:
    """All arrays are wanted."""
    del name
    return True


def kept(program: Program) -> list[tuple[int | None, Step]]:
    """All steps, unchanged."""
    return list(enumerate(program["steps"]))


def renamed(trace: dict[str, Any], steps: Steps) -> dict[str, Any]:
    """A trace of the changed program, by the numbers that its steps have in the program."""
    found = {}
    for name, value in trace.items():
        number, _, what = name.partition("/")
        before = steps[int(number)][0]
        if before is not None:
            found[f"{before}/{what}"] = value
    return found


def compared(
    backend: Backend, program: Program, steps: Steps, wanted: Wanted = everything, **others: Any,
) -> list[str]:
    """The differences between a program and one with other steps.

    Args:
        backend: the implementation.
        program: the program.
        steps: the steps of the changed program. Arrays of steps that it lacks are not compared.
        wanted: whether to compare an array, by its name.
        others: other fields of the changed program.
    """
    other = {**program, **others, "steps": [step for _, step in steps]}
    numbers = {str(number) for number, _ in steps}

    def of_both(trace: dict[str, Any]) -> dict[str, Any]:
        return {n: v for n, v in trace.items() if n.partition("/")[0] in numbers and wanted(n)}

    def bounds() -> list[dict[str, Expected]]:
        declared = declared_of(backend)
        return [expected_of(program, declared), renamed(expected_of(other, declared), steps)]

    first = of_both(backend.run(program))
    return differences_beyond(first, renamed(changed(backend, other), steps), bounds)
