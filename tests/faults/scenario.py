"""What is done, and what must hold whichever call of the system fails while it is done."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .system_calls import HARMLESS, Call


class Scenario(NamedTuple):
    """An act on the files of a folder, and what a reader sees there.

    ``prepare`` makes what is there before, ``act`` is what fails, and ``seen`` reads the folder as a user would: what
    it returns is compared, and what it raises is the broken promise that files are readable.
    """

    name: str
    clauses: tuple[str, ...]
    prepare: Callable[[Path], object]
    act: Callable[[Path], object]
    seen: Callable[[Path], Any]
    changes: bool = True  # whether the act writes; else it reads, and returns what it read
    between: Callable[[Any, Any], bool] = lambda _seen, _new: False
    """Whether what is there after an error is neither old nor new and yet promised, as the first records of a file."""
    refused: tuple[str, ...] = ()
    """The clauses by which what is there may be refused when the power went before the act was done."""
    system_errors: bool = False  # whether it raises the system's own errors, as its docstring says
    durable: bool = True
    """Whether what the act has done survives that the power goes."""


class Told(NamedTuple):
    """The error that a user sees: its type, its text and the clause that it names."""

    type: str
    text: str
    clause: str | None


class Left(NamedTuple):
    """What a process holds that a call must not leave behind."""

    files: frozenset[str]
    descriptors: frozenset[str]
    threads: int

    @classmethod
    def now(cls, folder: Path) -> Left:
        found = (str(path.relative_to(folder)) for path in folder.rglob("*"))
        return cls(frozenset(found), frozenset(_descriptors()), threading.active_count())


def _descriptors() -> list[str]:
    listed = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            listed.append(f"{each.name} {each.readlink()}")
        except OSError:  # the one by which the folder was listed
            continue
    return listed


def broken(
    scenario: Scenario, folder: Path, error: Told | None, call: Call, how: int, old: Any, new: Any,
    before: Left, got: Any,
) -> list[str]:
    """The promises that do not hold after a fault, each as a sentence."""
    found = []
    if error is not None:
        found += _of_error(error, how, scenario.system_errors)
        if how in HARMLESS:
            found.append(f"it fails where the system asks to go on: {error.text}")
    elif call.kind == "flush" and how not in HARMLESS:
        found.append("a flush that failed is not told")
    if not scenario.changes:
        if error is None and got != new:
            found.append("what it returned is not what is there")
    else:
        try:
            seen = scenario.seen(folder)
        except Exception as refused:  # noqa: BLE001  # whatever it is, it is told
            found.append(f"what is there cannot be read: {type(refused).__name__}: {refused}")
        else:
            if error is None and seen != new:
                found.append("it tells no error, and did not do what it should")
            if error is not None and seen not in (old, new) and not scenario.between(seen, new):
                found.append("what is there is neither the old nor the new")
    after = Left.now(folder)
    for left in sorted(after.descriptors - before.descriptors):
        found.append(f"it leaves a file open: {left}")
    if after.threads > before.threads:
        found.append("it leaves a thread")
    return found


def _of_error(error: Told, how: int, system: bool) -> list[str]:
    if error.clause is None and not system:
        return [f"the error is of no clause: {error.type}: {error.text}"]
    if how not in HARMLESS and os.strerror(how) not in error.text:
        return [f"the error does not name the cause, {os.strerror(how)}: {error.text}"]
    return []
