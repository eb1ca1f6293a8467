"""Whether a history fits a program of level 7, and the pulled values in it that no correct server returns."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from ...base import MXNetError
from ...kvstore.histories import History, check
from ..programs.clusters import expected_events, pushes_of
from .reference import Program

UNREADABLE, INCOMPLETE = "unreadable", "incomplete"
"""What a history may be beside the names of ``mx.kv.histories``: no history, or not one of the program."""
MARKS = ("init", "leave", "lost")
"""Events that stand for no step."""


def history_of(answer: Any) -> History:
    """The history that a backend returned: itself, its text, or a trace with the text's bytes as ``history``.

    Raises:
        MXNetError: it is none of these, or its text holds something else.
    """
    if isinstance(answer, History):
        return answer
    if isinstance(answer, dict) and "history" in answer:
        answer = np.asarray(answer["history"], np.uint8).tobytes()
    if isinstance(answer, str):
        answer = answer.encode()
    if not isinstance(answer, bytes):
        raise MXNetError(f"a history is expected as JSON lines, not {type(answer).__name__}")
    return History.read(BytesIO(answer))


def violations_of(program: Program, answer: Any) -> tuple[list[tuple[str, str]], int]:
    """The violations in the answer to a program of level 7, with names and explanations, and the number of its pulls.

    Args:
        program: a checked program.
        answer: the backend's answer.
    """
    try:
        history = history_of(answer)
        other = _other(program, history)
        if other:
            return [(INCOMPLETE, other)], 0
        found = check(history, program["settings"]["kind"])
    except MXNetError as error:
        return [(UNREADABLE, str(error))], 0
    unended = [] if found else _unended(program, history)
    reads = sum(event.kind == "pull" for event in history.events)
    return [*((violation.name, violation.explanation) for violation in found), *unended], reads


def _events(history: History) -> list[list[tuple[str, Any]]]:
    made: list[list[tuple[str, Any]]] = [[] for _ in range(history.workers)]
    for event in history.events:
        if event.kind not in MARKS:
            made[event.worker].append((event.kind, event.key))
    return made


def _other(program: Program, history: History) -> str:
    """Why a history is not one of the program; empty where it is the program's, or the beginning of it."""
    settings = program["settings"]
    if (history.workers, history.pushes) != (settings["workers"], pushes_of(program)):
        return (
            f"it is of {history.workers} workers with {history.pushes} pushes, not of {settings['workers']} with"
            f" {pushes_of(program)}"
        )
    rows = dict(map(tuple, settings["keys"]))
    for event in history.events:
        if event.value is not None and (event.kind == "push" or len(event.value) != rows.get(event.key)):
            return f"worker {event.worker} has another value for key {event.key!r} than a tag of its rows"
    for worker, (made, wanted) in enumerate(zip(_events(history), expected_events(program), strict=True)):
        for number, (one, due) in enumerate(zip(made, wanted, strict=False)):
            waits = one[0] == "wait" and number == len(made) - 1
            if (("pull", one[1]) if waits else one) != due:
                return f"worker {worker} did {_told(one)} where the program has {_told(due)}, its step {number}"
        if len(made) > len(wanted):
            return f"worker {worker} did {_told(made[len(wanted)])} after the program's end"
    return ""


def _unended(program: Program, history: History) -> list[tuple[str, str]]:
    """Workers whose history ends before the program does, though no pull of theirs waits."""
    events = _events(history)
    if all(len(made) >= len(wanted) for made, wanted in zip(events, expected_events(program), strict=True)):
        return []
    for worker, (made, wanted) in enumerate(zip(events, expected_events(program), strict=True)):
        if len(made) < len(wanted) and (not made or made[-1][0] != "wait"):
            return [(INCOMPLETE, f"worker {worker} did not come to {_told(wanted[len(made)])}, its step {len(made)}")]
    return []


def _told(event: tuple[str, Any]) -> str:
    kind, key = event
    return "a barrier" if kind == "barrier" else f"a {kind} of key {key!r}"
