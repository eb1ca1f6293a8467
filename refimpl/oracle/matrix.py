"""Operators by runtimes: what searches of several implementations say, condensed from their files results.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..base import decides
from .drawing.drawn_graphs import drawable
from .expectations import Expectations
from .explaining.causes import ANY, Cause
from .results import counted_reason
from .triage_entries import Results

Runtime = dict[str, Any]
"""A line of the file: an implementation, its searches together, and what they say of each operator."""
STATES = ("differs", "fails", "digits", "right", "not reached", "not offered")
"""Of an operator with a runtime; of several causes the one named first here counts."""
TIERS = ("exact", "bounded", "statistical")
"""Of elements that were judged."""
REASONS = 5
"""Reasons of unsupported programs that a line keeps, beside those that name an operator that was not reached."""


def condensed(results: Sequence[Results], known: Expectations | None = None) -> Runtime:
    """What several searches of one implementation say.

    Args:
        results: the content of its files results.json.
        known: rows that explain causes, and the rows that the searches expected.

    Raises:
        ValueError: they are none or of several implementations, no graph was judged, or failures were expected by rows
            that ``known`` lacks.
    """
    if len({(data.get("backend", ""), data.get("runtime", "")) for data in results}) != 1:
        raise ValueError("the results are not of one implementation in one version")
    known, first = known or Expectations(), results[0]
    judged, unsupported, missing = _counted(results)
    graphs = sum(any(row[0] in drawable() for row in data["covered"]) for data in results)
    if not graphs:
        raise ValueError("no search judged a graph")
    unreached = [name for name in drawable() if missing[name] == graphs and not judged[name]]
    return {
        "runtime": first.get("runtime", ""), "backend": first.get("backend", ""), **_searched(results),
        "operators": {name: count for name, count in sorted(judged.items()) if name in drawable()},
        "causes": [*_expected(results, known), *_causes(results, known)],
        "unreached": {name: _reason(name, unsupported) for name in unreached},
        "left out": sorted({row["operator"] for data in results for row, _ in data["given"] if row.get("operator")}),
        "unsupported": dict(unsupported.most_common(REASONS)),
    }


def _searched(results: Iterable[Results]) -> Runtime:
    """When and how much was searched."""
    return {
        "date": max(data.get("date", "") for data in results),
        "levels": sorted({level for data in results for level in data["drawn"]["levels"]}),
        "searches": [
            [data["drawn"]["seed"], data["programs"], round(data["seconds"]), round(data.get("processor", 0.0))]
            for data in results
        ],
        "judged": sum(data["elements"].get(tier, 0) for data in results for tier in TIERS),
    }


def _counted(results: Iterable[Results]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """(programs with each operator, programs for each reason of no support, searches that missed an operator)."""
    judged, unsupported, missing = Counter[str](), Counter[str](), Counter[str]()
    for data in results:
        for name, *_, programs in data["covered"]:
            judged[name] += programs
        unsupported.update(data["unsupported"])
        missing.update(data["unreached"].get("operators", ()))
    return judged, unsupported, missing


def _causes(results: Iterable[Results], known: Expectations) -> list[dict[str, Any]]:
    """Each cause once, with the row that explains it."""
    found: dict[str, dict[str, Any]] = {}
    for data in results:
        for each in data["found"]:
            cause = Cause(**each["cause"])
            operator = (each.get("where") or {}).get("operator") or cause.operator
            text = str(cause)
            if text in found:
                found[text]["programs"] += 1 + each["again"]
                continue
            row = known.row_of(each["program"], cause.place)
            found[text] = {
                "operator": operator, "state": state_of(cause), "text": text, "programs": 1 + each["again"],
                "reason": row["reason"] if row else " ".join(each["reason"].split())[:200], "clause": each["clause"],
                "name": each["name"],
            }
    return list(found.values())


def _expected(results: Iterable[Results], known: Expectations) -> list[dict[str, Any]]:
    """What rows say of failures that the searches expected and do not list."""
    wanted = {name for data in results for name in data.get("known", ())}
    rows = {row.get("id", ""): row for row in known.rows}
    if lost := sorted(wanted - rows.keys()):
        raise ValueError(f"failures were expected by rows that are not there: {', '.join(lost) or 'without an id'}")
    return [
        {
            "operator": row.get("operator", ANY), "text": f"row {name}", "reason": row["reason"],
            "state": "fails" if row.get("trace") in ("refused", "crashed") else "differs",
            "clause": row.get("clause", ""), "name": "",
        }
        for name, row in rows.items() if name in wanted
    ]


def state_of(cause: Cause) -> str:
    """What a cause makes of its operator: "fails", "digits" where the numbers are right to a percent, or "differs"."""
    if cause.place in ("refused", "crashed"):
        return "fails"
    return "digits" if cause.look == "nearly right" else "differs"


def _reason(name: str, unsupported: Counter[str]) -> str:
    """The most frequent reason that names an operator; its numbers are not counted in a reason."""
    own = counted_reason(name)
    return next((text for text, _ in unsupported.most_common() if own in text.replace(",", " ").split()), "")


@decides("oracle/matrix")
def state(runtime: Runtime, operator: str) -> tuple[str, str]:
    """The state of an operator, one of STATES, and why.

    Args:
        runtime: a line of the file.
        operator: its name.
    """
    causes = [each for each in runtime["causes"] if each["operator"] == operator]
    if causes:
        kinds = {each["state"] for each in causes}
        why = "; ".join(f"{each['text']} ({each['reason']})" for each in causes)
        return next(name for name in STATES if name in kinds), why
    if count := runtime["operators"].get(operator):
        return "right", f"judged {count} times"
    if operator in runtime["unreached"] and operator not in runtime["left out"]:
        why = runtime["unreached"][operator]
        return ("not offered", why) if why else ("not reached", "no judged program had it")
    return "not offered", "left out" if operator in runtime["left out"] else "the adapter has no form of it"


def counts(runtime: Runtime) -> dict[str, int]:
    """State -> how many operators have it."""
    found = Counter(state(runtime, name)[0] for name in drawable())
    return {name: found[name] for name in STATES if found[name]}


def read(path: Path) -> list[Runtime]:
    """The lines of a file of this kind, none where it is not there.

    Raises:
        ValueError: it holds something else.
    """
    if not path.exists():
        return []
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for runtime in found:
            [state(runtime, name) for name in drawable()]
            [runtime[name] for name in ("runtime", "backend", "date", "levels", "searches", "judged", "unsupported")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no matrix: {error}") from error
    return found


def merged(old: Sequence[Runtime], new: Runtime) -> list[Runtime]:
    """The lines with another one, which takes the place of the same implementation's, also of another version.

    Args:
        old: the lines.
        new: the other one.
    """
    lines = {each["backend"]: each for each in old} | {new["backend"]: new}
    return sorted(lines.values(), key=lambda each: each["runtime"].lower())


def text_of(runtimes: Iterable[Runtime]) -> str:
    """The content of a file: a line of JSON for each runtime."""
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in runtimes)
