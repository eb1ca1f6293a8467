"""Writes ``refimpl/explain/rules.json``: the rules of the chapters that ``refimpl explain`` shows.

    python spec/rules.py            writes the file
    python spec/rules.py --check    exit code 1 when the file is not what would be written

The chapters are not installed with the package, so their words travel as data. Which rules, says ``CITED`` of
``refimpl/explain/rules.py``.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from refimpl.explain import rules  # noqa: E402
from spec import trace  # noqa: E402


def words(root: Path = ROOT) -> dict[str, list[str]]:
    """Every cited rule with its words, its chapter, and the first example beneath it."""
    cited = {name for names in rules.CITED.values() for name in names}
    found = {}
    for file in trace.chapters(root):
        for start, beneath in trace._with_text(trace.IN_CHAPTER, file.read_text(encoding="utf-8")):
            if start[1] not in cited:
                continue
            section = re.split(r"^#+ ", beneath, maxsplit=1, flags=re.MULTILINE)[0]
            example = trace.BLOCK.search(section)
            paragraph = " ".join(section.strip().partition("\n\n")[0].split())
            found[start[1]] = [paragraph, str(file.relative_to(root).as_posix()), example[1] if example else ""]
    return dict(sorted(found.items()))


def text() -> str:
    """The whole file."""
    return json.dumps(words(), indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Run the script; returns its exit code."""
    if arguments == ["--check"]:
        fresh = rules.FILE.read_text(encoding="utf-8") == text()
        print("fresh" if fresh else f"{rules.FILE.relative_to(ROOT)} is not fresh: run python spec/rules.py")
        return 0 if fresh else 1
    rules.FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {rules.FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
