"""Clauses lead to the code that decides them: thirty, drawn by a seed, to lines that name them; names are unlike."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from spec import trace
from spec.deciding import Decision

SEED, COUNT = 30, 30


def chosen(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(f"{SEED} {name}".encode()).digest())[:COUNT]


def names_clause(decision: Decision, clause: trace.Clause) -> bool:
    """Whether the lines of a place name the clause, or are a function that the clause's own page registers."""
    lines = (trace.ROOT / decision.file).read_text(encoding="utf-8").splitlines()
    assert 0 < decision.first <= decision.line <= decision.last <= len(lines)
    text = "\n".join(lines[max(decision.first - 2, 0) : decision.last])  # a comment stands above its table
    whole = "\n".join(lines)
    slug = clause.name.partition("/")[2]
    if f'"{clause.name}"' in text or re.search(rf"# decides: .*{re.escape(clause.name)}\b", text):
        return True
    if re.search(rf'"{re.escape(slug)}"|/{re.escape(slug)}"', text):  # its slug, where the subject stands elsewhere
        return True
    if f'"{clause.name}"' in whole:  # a constant or a quirk of this file, used in these lines
        holding = re.findall(rf'^(\w+) = (?:declare\()?[^=]*?"{clause.name}"', whole, re.MULTILINE)
        return any(name in text for name in holding)
    page = (trace.ROOT / clause.file).read_text(encoding="utf-8")
    return clause.file.parts[0] == "kernels" and decision.function in text and "register" in page


def test_thirty_clauses_lead_to_lines_that_name_them(table: trace.Table) -> None:
    names = chosen([name for name, clause in table.clauses.items() if not clause.definition])
    assert len(names) == COUNT
    for name in names:
        places = table.decisions[name]
        assert places, f"{name} leads nowhere"
        for decision in places:
            assert names_clause(decision, table.clauses[name]), f"{name}: {decision.place} does not name it"


def test_no_two_names_differ_only_in_case(table: trace.Table) -> None:
    spelled = Counter(name.lower() for name in table.clauses)
    assert [name for name, count in spelled.items() if count > 1] == []


def test_no_clause_is_without_code(table: trace.Table) -> None:
    without = [name for name, clause in table.clauses.items() if not clause.definition and not table.decisions[name]]
    assert without == []
