"""Writes ``refimpl/rules/deviations.json``: the rows of the chapters on deviations, as data.

    python spec/deviations.py            writes the file
    python spec/deviations.py --check    exit code 1 when the file is not what would be written

The chapters are not installed with the package, so their rows travel as data.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from spec import generated  # noqa: E402

FILE = ROOT / "refimpl/rules/deviations.json"
CHAPTERS = ("spec/reference/porting/deviations.md", "spec/reference/porting/deviations-operators.md")
ROW = re.compile(r"^\| ([A-Za-z_][\w-]*/[\w-]+) \| (.+) \| (.+) \|$", re.MULTILINE)


def text(root: Path = ROOT) -> str:
    """The whole file."""
    rows = [match.groups() for name in CHAPTERS for match in ROW.finditer((root / name).read_text(encoding="utf-8"))]
    lines = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n"


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The rows of the deviations.")
    problems = generated.renew({FILE: text()}, "deviations", check=check)
    print(*(problems or ["fresh"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
