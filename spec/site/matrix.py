"""The page of operators by runtimes: ``spec/records/matrix.jsonl`` as a table."""

from __future__ import annotations

import html
import re

from refimpl.oracle import matrix, matrix_page
from spec.trace import ROOT

FILE = "spec/records/matrix.jsonl"
SCRIPT = re.compile(r"\b(\w+\.py)\b")
FINDINGS = "tests/oracle/findings"
INTRODUCTION = """\
What searches of the oracle say of each operator in other libraries and runtimes on a CPU. A sign leads to the causes
beneath the table: what differs, the smallest program's first wrong number or the row of `oracle.toml` that knows it,
and the script that shows it. A sign says what these searches saw: a tick is no proof, and each search has its seed,
programs and time below. `refimpl oracle check --report` makes the results and `refimpl oracle matrix` condenses them,
for an implementation of your own too: see [its rule](spec/reference/tools/oracle-searches.md#a-matrix-of-runtimes).
"""


def text() -> str:
    """The page, as Markdown."""
    table = matrix_page.page(matrix.read(ROOT / FILE), _shown)
    return f"# Operators by runtimes\n\n{INTRODUCTION}\n```{{raw}} html\n{table}\n```\n"


def _shown(reason: str) -> str:
    """A reason as HTML; the names of scripts that show a fault lead to them."""
    def linked(found: re.Match[str]) -> str:
        if not (ROOT / FINDINGS / found[1]).is_file():
            return found[0]
        return f'<a href="code/{FINDINGS}/{found[1]}.html">{found[1]}</a>'

    return SCRIPT.sub(linked, html.escape(reason))
