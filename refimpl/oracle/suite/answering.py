"""Answers of a backend in Python to the cases of a suite."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..backends import Backend, Crashed, Refused, Unsupported
from ..drawing.choices import Capabilities
from ..judging.comparing import answers_of
from ..programs.program import check_program
from .elements import listed
from .verdicts import programs

CHUNK = 32
"""Programs that a backend in another process is handed at once."""


def answers(backend: Backend, folder: Path) -> Iterator[dict[str, Any]]:
    """The answers of a backend, in the order of the cases.

    Args:
        backend: the implementation. A case beyond its capabilities is unsupported.
        folder: the suite.

    Raises:
        ValueError: the folder holds no suite.
    """
    waiting: list[dict[str, Any]] = []
    for case in programs(folder):
        waiting.append(case)
        if len(waiting) == CHUNK:
            yield from _answered(backend, waiting)
            waiting = []
    yield from _answered(backend, waiting)


def _answered(backend: Backend, cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    beyond = {case["case"]: lacks(backend.capabilities, case) for case in cases}
    given = [check_program(case["program"]) for case in cases if not beyond[case["case"]]]
    made = iter(answers_of(backend, given))
    for case in cases:
        name = case["case"]
        yield {"case": name, "unsupported": beyond[name]} if beyond[name] else _answer(name, next(made))


def _answer(name: str, answer: Any) -> dict[str, Any]:
    if isinstance(answer, Unsupported):
        return {"case": name, "unsupported": str(answer)}
    if isinstance(answer, (Refused, Crashed)):
        return {"case": name, "refused": str(answer)}
    if isinstance(answer, Exception):
        raise answer
    return {"case": name, "trace": {key: listed(np.asarray(value)) for key, value in answer.items()}}


def lacks(able: Capabilities, case: dict[str, Any]) -> str:
    """What a case needs that a backend does not offer; empty where it offers everything.

    Args:
        able: the capabilities of the backend.
        case: the case.
    """
    program = case["program"]
    missing = [f"level {case['level']}"] if not able.offers(case["level"]) else []
    missing += [f"operator {name}" for name in case["operators"] if not able.has(name)]
    missing += [f"values {style}" for style in case["styles"] if style not in able.styles]
    missing += ["corners"] if case["corner"] and not able.corners else []
    dtypes = {spec["dtype"] for spec in program.get("arrays", {}).values() if spec["dtype"].startswith("float")}
    missing += [dtype for dtype in sorted(dtypes) if dtype not in able.dtypes] if case["level"] <= 2 else []
    asked = {each for step in program["steps"] for each in (step.get("requirements") or {}).values()}
    missing += [f"requirement {each}" for each in sorted(asked) if each not in able.requirements]
    return ", ".join(missing)


def write(backend: Backend, folder: Path, file: Path, note: Callable[[str], None] | None = None) -> int:
    """Write the answers of a backend to a file of JSON lines; returns their number.

    Args:
        backend: the implementation.
        folder: the suite.
        file: is replaced.
        note: is told the name of every case.
    """
    count = 0
    with file.open("w", encoding="utf-8", newline="\n") as out:
        for answer in answers(backend, folder):
            out.write(json.dumps(answer, separators=(",", ":"), allow_nan=False) + "\n")
            count += 1
            if note is not None:
                note(answer["case"])
    return count
