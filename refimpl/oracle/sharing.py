"""A file of JSON lines through which several processes that search one implementation share their exclusions.

Each line is an exclusion of one process, so that the others do not search for its cause again. A line is written in one
write; a process reads new lines before it draws programs, and notes them in its results.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FIELDS = {"operator": str, "requirement": str, "many_readers": bool, "together": list, "pattern": list, "aside": str}
"""What a row may have, see ``Exclusions.also``."""


class NotShared(ValueError):
    """A file that is not of that form."""


class Shared:
    """One process's end of the file.

    Args:
        path: the file; the first exclusion makes it.
        name: a name that no other process has.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._read = 0  # bytes

    def tell(self, row: dict[str, Any], why: dict[str, Any]) -> None:
        """Share an exclusion.

        Args:
            row: arguments of ``Exclusions.also``.
            why: the cause and the program, for people.
        """
        line = json.dumps({"by": self.name, "row": row, **why}) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())  # one write: lines of several processes do not mix
        finally:
            os.close(descriptor)

    def news(self) -> list[tuple[str, dict[str, Any]]]:
        """The exclusions of other processes since the last call.

        Raises:
            NotShared: a line of the file is no exclusion.
        """
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]  # the last line may be unfinished
        self._read += len(whole)
        found = []
        for line in whole.splitlines():
            by, row = self._parsed(line)
            if by != self.name:
                found.append((by, row))
        return found

    def _parsed(self, line: bytes) -> tuple[str, dict[str, Any]]:
        try:
            entry = json.loads(line)
            by, row = entry["by"], entry["row"]
            right = isinstance(by, str) and isinstance(row, dict) and row and all(
                name in FIELDS and isinstance(value, FIELDS[name]) for name, value in row.items()
            ) and all(isinstance(name, str) for name in (*row.get("together", ()), *row.get("pattern", ())))
        except (ValueError, KeyError, TypeError) as error:
            raise NotShared(f"{self.path}: {line[:80]!r} says nothing that is excluded ({error!r})") from error
        if not right:
            raise NotShared(f"{self.path}: {line[:80]!r} says nothing that is excluded")
        return by, row
