"""Writes ``refimpl/rules/index.json``: which rules there are, what they say, what decides and what proves them.

    python spec/rules.py            writes the file
    python spec/rules.py --check    exit code 1 when the file is not what would be written

Neither the chapters nor the tests are installed with the package, so what ``mx.rules`` tells of them travels as data.
It names functions, never lines: the file changes only where a rule, its code or its tests get other names or words.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from refimpl.kernels import distinct  # noqa: E402
from refimpl.rules import places  # noqa: E402
from refimpl.rules.mapping import INDEX, Row  # noqa: E402
from spec import generated, trace  # noqa: E402

REFUSALS = "tests/laws/test_operators.py::test_refuses"
"""The law that calls what pages say they refuse."""
PAGES, CHAPTERS = "tests/examples/test_pages.py::test_examples_of", "tests/examples/test_chapters.py::test_chapter"
"""What runs the worked examples."""


def rows(root: Path = ROOT) -> Iterator[Row]:
    """Every rule by name."""
    table = trace.collect(root, distinct())
    texts = dict(_of_chapters(root))
    for name, clause in sorted(table.clauses.items()):
        decisions = sorted(table.decisions.get(name, ()), key=lambda decision: not decision.marked)
        decided = [_named(root, d.file.as_posix(), d.function, d.line) for d in decisions]
        decided = [place for place in decided if not place.endswith("::")] or decided
        proven = [_test(root, proof, clause.file.parts[0]) for proof in table.proofs[name]]
        yield Row(
            name, clause.file.as_posix(), list(dict.fromkeys(decided)), list(dict.fromkeys(proven)),
            *texts.get(name, ()),
        )


def _named(root: Path, file: str, name: str, line: int) -> str:
    """``FILE::NAME`` of what has a name in a file, or else of what stands in that line."""
    text = (root / file).read_text(encoding="utf-8")
    return f"{file}::{name if places.has(text, name) else places.at(text, line)}"


def _test(root: Path, proof: str, folder: str) -> str:
    """The test, or the table of tests, behind a proof of a rule that is written in ``folder``."""
    if proof == "example":
        return PAGES if folder == "kernels" else CHAPTERS
    if proof.startswith("refusals of "):
        return REFUSALS
    if "::" in proof:
        return proof
    file, _, line = proof.rpartition(":")
    return _named(root, file, "", int(line))


def _of_chapters(root: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Every rule of the chapters with its words, and the first example beneath it."""
    for file in trace.chapters(root):
        for start, beneath in trace._with_text(trace.IN_CHAPTER, file.read_text(encoding="utf-8")):
            section = re.split(r"^#+ ", beneath, maxsplit=1, flags=re.MULTILINE)[0]
            example = trace.BLOCK.search(section)
            paragraph = " ".join(section.strip().partition("\n\n")[0].split())
            yield start[1], (paragraph, example[1].rstrip() if example else "")


@cache
def text() -> str:
    """The whole file: one rule a line."""
    return "[\n" + ",\n".join(json.dumps(_short(row), ensure_ascii=False) for row in rows()) + "\n]\n"


def _short(row: Row) -> list[str | list[str]]:
    whole = list(row)
    while not whole[-1]:
        del whole[-1]
    return whole if len(whole) > 3 else list(row[:4])


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The rules that mx.rules tells.")
    problems = generated.renew({INDEX: text()}, "rules", check=check)
    print(*(problems or ["fresh"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
