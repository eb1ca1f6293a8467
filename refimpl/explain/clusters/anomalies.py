"""Each violation that a history of a cluster can show, in words: values that a correct server never returns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...kvstore.histories import History, Violation

Data = dict[str, Any]

WORDS: Mapping[str, str] = {
    "garbage": "A pull holds what nobody pushed: a number that is no count of pushes.",
    "wrong key": "A pull of one key holds a push that went to another key.",
    "duplicated": "A push counts twice.",
    "torn": "A push is in one part of an array, and never comes to another part.",
    "lost": "A push was acknowledged, and no pull ever holds it.",
    "out of order": "A pull holds a worker's later push to a key, and lacks an earlier one.",
    "read your writes": "A pull lacks a push that the same worker made before it.",
    "backwards": "A pull lacks what an earlier pull of the same worker held.",
    "early": "A pull was answered before all that it waits for was there, or holds what comes only later.",
    "incomparable": "Two pulls each hold what the other lacks: no order of pushes makes both.",
    "unanswered": "A pull waits for ever, though all that it waits for is there.",
    "residual": "With 2-bit compression, what a code left out never came with a later one.",
}
"""Name of a violation -> what it means."""

CLAUSES: Mapping[str, str] = {"unanswered": "History/wait", "residual": "History/residual"}
"""The clause that a violation breaks, where it is not History/check."""

_PULL = re.compile(r"worker (\d+)'s pull (\d+) of key ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+)")
_WAIT = re.compile(r"worker (\d+)'s pull of key ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+) was never answered")


def told(violation: Violation, history: History) -> Data:
    """A violation as plain data: its name, its words, its clause, and the pull that shows it with the pulled value."""
    found: Data = {
        "name": violation.name, "means": WORDS[violation.name], "explanation": violation.explanation,
        "clause": CLAUSES.get(violation.name, "History/check"), "pull": None, "columns": [],
    }
    pull, wait = _PULL.match(violation.explanation), _WAIT.match(violation.explanation)
    if pull is not None:
        worker, number, key = int(pull[1]), int(pull[2]), pull[3]
        given = [e.value for e in history.events if (e.kind, e.worker, repr(e.key)) == ("pull", worker, key)]
        value = given[number] if number < len(given) else None
        found["pull"] = {
            "worker": worker, "number": number, "key": key,
            "value": None if value is None else [[float(x) for x in row] for row in value],
        }
    elif wait is not None:
        found["pull"] = {"worker": int(wait[1]), "number": None, "key": wait[2], "value": None}
    found["columns"] = [history.named(column) for column in range(history.width)]
    return found
