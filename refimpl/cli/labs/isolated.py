"""Judging a student's file in a process of its own, which may loop, print and crash as it likes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base import decides
from ..errors import refuse
from .lab import Lab

PATIENCE = 300.0
"""Seconds after which a process is ended whatever it does: compiled code cannot be asked where it is."""
ENDINGS = {"verdicts", "unread", "borrowed", "overdue"}
"""What the process that judges says last."""


@dataclass
class Result:
    """The verdict of a check.

    Attributes:
        kept: the rules that every case kept, in order.
        broken: the rule that was broken; None where all are kept, or where the file could not be read.
        calls: the calls of the smallest case that broke it.
        expected, got: the expected and the actual result.
        line: the student's own line, where there is one to show.
        unwritten: the function that the student has not written yet.
        problem: a failure other than a broken rule: an error while the file was read, a call that does not end.
    """

    kept: list[str] = field(default_factory=list)
    broken: str | None = None
    calls: list[str] = field(default_factory=list)
    expected: str = ""
    got: str = ""
    line: str = ""
    problem: str = ""
    unwritten: str = ""

    @property
    def passed(self) -> bool:
        """Whether every rule is kept."""
        return self.broken is None and not self.problem


@decides("Labs/extra")
def require_hypothesis() -> None:
    """Refuse to judge without Hypothesis, which draws cases and makes them small."""
    if importlib.util.find_spec("hypothesis") is None:
        raise refuse(
            "Labs/extra", 'the package hypothesis is not installed; install it with: pip install "refimpl[lab]"'
        )


@decides("Labs/limit")
def check(lab: Lab, file: Path, patience: float = PATIENCE) -> Result:
    """Judge a file.

    Args:
        lab: the lab.
        file: the student's file.
        patience: seconds that the process may take in all.
    """
    require_hypothesis()
    command = [sys.executable, "-m", "refimpl.cli.labs.child", lab.name, str(file.resolve())]
    problem = ""
    try:
        with tempfile.TemporaryDirectory() as store:  # what Hypothesis keeps: not in the student's folder
            done = subprocess.run(  # noqa: S603  # this Python, and the file that the student named
                command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=patience,
                check=False, stdin=subprocess.DEVNULL, env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": store},
            )
        said, errors, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as error:
        said, errors, code = _text(error.stdout), "", 0
        problem = f"it did not end within {patience:.0f} seconds: is there an endless loop, in compiled code?"
    events = [json.loads(line) for line in said.splitlines()]
    result = _result(events)
    if not problem and not any(ENDINGS & event.keys() for event in events):
        problem = f"the process that ran it ended with exit code {code}: {(errors.strip().splitlines() or ['?'])[-1]}"
    result.problem = result.problem or problem
    return result


def _text(said: Any) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else said or ""


def _result(events: list[dict[str, Any]]) -> Result:
    tried = [event["trying"] for event in events if "trying" in event]
    result = Result(kept=tried[:-1])
    for event in events:
        if "unread" in event:
            result.problem = f"the file cannot be run: {event['unread']['error']}"
            result.line = event["unread"]["line"]
        elif "borrowed" in event:
            result.problem = f"the file uses {event['borrowed']}, which does what this lab asks for: write it yourself"
        elif "overdue" in event:
            late = event["overdue"]
            result.broken, result.calls, result.line = (tried or [None])[-1], late["calls"], late["line"]
            result.problem = f"this call did not end within {late['seconds']:.0f} seconds: is there an endless loop?"
        elif "verdicts" in event:
            result = of_verdicts(event["verdicts"])
    return result


def of_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> Result:
    """The verdict of a check from the verdicts on its laws, which are plain data."""
    result = Result([verdict["clause"] for verdict in verdicts if verdict["kept"]])
    for verdict in verdicts:
        if not verdict["kept"]:
            result.broken, result.calls = verdict["clause"], verdict["calls"]
            result.expected, result.got, result.line = verdict["expected"], verdict["got"], verdict["line"]
            result.unwritten = verdict["unwritten"]
    return result


__all__ = ["PATIENCE", "Result", "check", "of_verdicts", "require_hypothesis"]
