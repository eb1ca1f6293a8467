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
from spec import generated, trace  # noqa: E402


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


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The rules that refimpl explain shows.")
    problems = generated.renew({rules.FILE: text()}, "rules", check=check)
    print(*(problems or ["fresh"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
