"""The stored programs: small programs that an implementation once failed, each in a file named by its content.

    {"program": {...}, "reason": "what it showed", "clause": "clip/gradient", "found": "mxnet 1.9.1, seed 1, level 2",
     "script": ["import mxnet as mx", ...]}

``clause`` is empty where no page has one yet; ``script`` shows the failure with NumPy and the library only, and is
absent where the program has steps that scripts lack.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .judging.reference import Program
from .programs.program import check_program, name_of, text_of

FOLDER = Path(__file__).with_name("corpus")
FIELDS = {"program", "reason", "clause", "found", "script"}


class Stored(NamedTuple):
    """One stored program."""

    name: str
    """The first digits of the program's SHA-256."""
    program: Program
    reason: str
    clause: str
    found: str
    script: tuple[str, ...] = ()


def read_stored(path: Path) -> Stored:
    """One file.

    Raises:
        ValueError: the file holds no stored program, or its name does not fit its content; the message names the file.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or set(data) - FIELDS or not {"program", "reason"} <= set(data):
            raise ValueError(f"the fields are {', '.join(sorted(FIELDS))}")
        program = check_program(data["program"])
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    name = name_of(program)
    if name != path.stem:
        raise ValueError(f"{path}: its content has the name {name}")
    return Stored(
        name, program, data["reason"], data.get("clause", ""), data.get("found", ""), tuple(data.get("script", ()))
    )


def corpus(level: int | None = None, folder: Path = FOLDER) -> Iterator[Stored]:
    """The stored programs in the order of their names.

    Args:
        level: only programs of this level; all by default.
        folder: their folder.

    Raises:
        ValueError: a file holds no stored program.
    """
    for path in sorted(folder.glob("*.json")):
        stored = read_stored(path)
        if level is None or stored.program["level"] == level:
            yield stored


def store(folder: Path, program: Program, **fields: Any) -> Path:
    """Write a program into a folder; returns its file.

    Args:
        folder: the folder.
        program: a checked program.
        fields: the fields of :class:`Stored` except the name.
    """
    path = folder / f"{name_of(program)}.json"
    lines = [f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(fields.items())]
    path.write_text("{\n" + ",\n".join([*lines, f'"program": {text_of(program)}']) + "\n}\n", encoding="utf-8")
    return path
