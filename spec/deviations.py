"""Writes ``refimpl/cli/porting/deviations.json``: the rows of the chapters on deviations, for ``refimpl check``.

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
FILE = ROOT / "refimpl/cli/porting/deviations.json"
CHAPTERS = ("spec/deviations.md", "spec/deviations-operators.md")
ROW = re.compile(r"^\| ([A-Za-z_][\w-]*/[\w-]+) \| (.+) \| (.+) \|$", re.MULTILINE)


def text(root: Path = ROOT) -> str:
    """The whole file."""
    rows = [match.groups() for name in CHAPTERS for match in ROW.finditer((root / name).read_text(encoding="utf-8"))]
    lines = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n"


def main(arguments: list[str]) -> int:
    """Run the script; returns its exit code."""
    if arguments == ["--check"]:
        fresh = FILE.is_file() and FILE.read_text(encoding="utf-8") == text()
        print("fresh" if fresh else f"{FILE.relative_to(ROOT)} is not fresh: run python spec/deviations.py")
        return 0 if fresh else 1
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
