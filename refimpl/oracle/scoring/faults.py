"""The faults: each is one text of one file of this package that is replaced by another.

``faults.json`` holds 400. Most were made by a generator, which chose places by a seed and kept a change if some
program gave other bits; others were written by hand, where the change of one expression does not do. Half of them
("held") are not for tuning the drawing: run these last. ``training_faults.json`` holds 60 more of the code that trains,
each with a user's call that shows it (``shown``).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLASSES = {
    "boundary": "a wrong branch, or a boundary off by one",
    "index": "a wrong axis, stride or index",
    "term": "a term dropped or counted twice",
    "sign": "a wrong sign or scale",
    "memory": "memory left as it was, or added to instead of written",
    "requirement": "a requirement, a mode or a state not kept to",
    "parameter": "a parameter ignored",
    "devices": "several devices or several outputs",
    "bookkeeping": "an optimizer, a store, a module or a metric counts or keeps wrongly",
    "precision": "too few bits",
}
"""The classes of faults, and what they are."""
TABLE = Path(__file__).with_name("faults.json")
TRAINING = Path(__file__).with_name("training_faults.json")
"""Faults of the code that trains, planted by somebody who had not seen what the oracle draws."""
PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    """One fault."""

    id: str
    kind: str
    """Its class, one of ``CLASSES``."""
    file: str
    """Relative to the folder of the package: ``kernels/clip.py``, ``module/arrays.py``."""
    old: str
    """Text that the file has once."""
    new: str
    level: int
    """Of the programs that show it."""
    operators: tuple[str, ...]
    """The operators that it can show in; none where it is in no operator."""
    several: bool
    """Whether it is one of several devices or outputs."""
    held: bool
    """Whether it is for the last run, not for tuning."""

    def apply(self, root: Path) -> None:
        """Put the fault into a copy of the package; the file is replaced, as copies may share files.

        Args:
            root: the copy's folder.

        Raises:
            ValueError: the file does not have the old text exactly once; the table is older than the code.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"fault {self.id}: {self.file} has its old text {count} times, not once")
        text = text.replace(self.old, self.new)
        if "np." in self.new:  # else the fault would be that a name is not known
            text = _with_numpy(text)
        path.unlink()
        path.write_text(text, encoding="utf-8")


def _with_numpy(text: str) -> str:
    """A file that imports NumPy: as it is, or with a line before its first import but features of Python."""
    imports = [node for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if any(name.asname == "np" for node in imports for name in node.names):
        return text
    first = next(node for node in imports if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"))
    lines = text.splitlines(keepends=True)
    lines.insert(first.lineno - 1, "import numpy as np\n")
    return "".join(lines)


def faults(table: Path | None = None) -> list[Fault]:
    """All faults, in the order of the tables.

    Args:
        table: a file of the form of ``TABLE``; None for ``TABLE`` and then ``TRAINING``.

    Raises:
        ValueError: the file is none of faults; the message names the row.
    """
    if table is None:
        return [*faults(TABLE), *faults(TRAINING)]
    rows: list[dict[str, Any]] = json.loads(table.read_text(encoding="utf-8"))
    found = []
    for row in rows:
        try:
            found.append(Fault(
                row["id"], row["class"], row["file"], row["old"], row["new"], row["level"], tuple(row["operators"]),
                row["several"], row["held"],
            ))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{table}: row {len(found)} is no fault: {error!r}") from error
    return found


def shard(given: Iterable[Fault], text: str) -> list[Fault]:
    """Every n-th fault from the i-th on, for ``i/n`` with i from 1 to n; all shards together have each fault once.

    Args:
        given: the faults.
        text: ``i/n``.

    Raises:
        ValueError: the text is not of that form.
    """
    first, _, count = text.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise ValueError(f"{text!r} is no shard: write 1/4 to 4/4")
    return list(given)[int(first) - 1 :: int(count)]
