"""The rows of the chapters on deviations from MXNet 1.9.1.

The chapters are not installed with the package: the wheel's build (``spec/wheel.py``) writes their rows to
``deviations.json``, which a checkout does not have.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("deviations.json")
CHAPTERS = ("spec/reference/porting/deviations.md", "spec/reference/porting/deviations-operators.md")
ROW = re.compile(r"^\| ([A-Za-z_][\w-]*/[\w-]+) \| (.+) \| (.+) \|$", re.MULTILINE)


def of_chapters(root: Path) -> list[tuple[str, ...]]:
    """(rule, what MXNet 1.9.1 does, what is done here or why) of every row in a checkout, in the chapters' order."""
    texts = ((root / name).read_text(encoding="utf-8") for name in CHAPTERS)
    return [row.groups() for text in texts for row in ROW.finditer(text)]


@cache
def rows() -> list[tuple[str, ...]]:
    """The same rows, from the checkout or else from the wheel's file; none where neither is there."""
    if (ROOT / CHAPTERS[0]).is_file():
        return of_chapters(ROOT)
    return [tuple(row) for row in json.loads(FILE.read_text(encoding="utf-8"))] if FILE.is_file() else []
