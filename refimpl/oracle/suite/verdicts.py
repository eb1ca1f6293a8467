"""Judging answers that were made elsewhere: no program runs here, and nothing of a file is trusted.

An answer is one object: ``{"case": "2-relu-03", "trace": {"1/output0": {"shape", "dtype", "elements"}}}``, or with
``"refused": text`` or ``"unsupported": text`` instead of the trace.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base import decides
from ..programs.values import DTYPES as OF_PROGRAMS
from .elements import rounded

LONGEST_LINE = 64 << 20
"""Bytes that a case or an answer may have."""
LARGEST_MANIFEST = 8 << 20
MOST_FILES = 10_000
"""Files that a folder of answers may have."""
STATUSES = ("passed", "failed", "unsupported", "missing")
FORMS = ("trace", "refused", "unsupported")
DTYPES = (*OF_PROGRAMS, "bool")
SHOWN = 20
"""Failed cases that a report lists."""


class Wanted(NamedTuple):
    """An expected array."""

    shape: list[int]
    dtype: str
    values: np.ndarray | None
    """None where everything is free."""
    bounds: np.ndarray
    """Infinite for free elements."""


class Case(NamedTuple):
    """What a case demands."""

    name: str
    level: int
    operators: tuple[str, ...]
    clauses: tuple[str, ...]
    trace: dict[str, Wanted]


@dataclass
class Report:
    """The verdicts of a suite."""

    statuses: dict[str, str] = field(default_factory=dict)
    """Case -> one of ``STATUSES``."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Failed and unsupported cases -> why."""
    cases: dict[str, Case] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether a case fails."""
        return "failed" in self.statuses.values()

    def counts(self) -> Counter[str]:
        """How many cases have each status."""
        return Counter(self.statuses.values())

    def by(self, part: str) -> dict[str, Counter[str]]:
        """The statuses by ``operators`` or ``clauses``; a case counts for each that it has."""
        found: dict[str, Counter[str]] = {}
        for name, status in self.statuses.items():
            for each in getattr(self.cases[name], part):
                found.setdefault(each, Counter())[status] += 1
        return dict(sorted(found.items()))


# --- reading ------------------------------------------------------------------------------------


def read_cases(folder: Path) -> dict[str, Case]:
    """The cases of a suite by name.

    Raises:
        ValueError: the folder holds no suite, or one that was changed; the message names the file.
    """
    manifest = _manifest(folder)
    found: dict[str, Case] = {}
    for entry in manifest["files"]:
        path = folder / entry["file"]
        found.update((case.name, case) for case in map(_case, _lines(path, entry["sha256"])))
    if not found:
        raise ValueError(f"{folder} has no cases")
    return found


def programs(folder: Path) -> Iterator[dict[str, Any]]:
    """The cases of a suite as they are written, programs included.

    Raises:
        ValueError: as by :func:`read_cases`.
    """
    for entry in _manifest(folder)["files"]:
        yield from _lines(folder / entry["file"], entry["sha256"])


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            raise ValueError(f"{path} is larger than {LARGEST_MANIFEST} bytes")
        manifest = _parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise ValueError(f"{folder} holds no suite: {error}") from error
    if manifest.get("suite") != 1 or not isinstance(manifest.get("files"), list):
        raise ValueError(f"{path} is no manifest of a suite of version 1")
    for entry in manifest["files"]:
        name = entry.get("file") if isinstance(entry, dict) else None
        if not isinstance(name, str) or Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"{path}: a file of cases has a path inside the folder")
    return manifest


def _lines(path: Path, wanted: str | None = None) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, one after the other; empty lines do not count."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                digest.update(line)
                if len(line) > LONGEST_LINE:
                    raise ValueError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes")
                if line.strip():
                    yield _parsed(line, f"{path}, line {number}")
    except OSError as error:
        raise ValueError(f"{path}: {error}") from error
    if wanted is not None and digest.hexdigest() != wanted:
        raise ValueError(f"{path} is not the file that the manifest names: its SHA-256 is another one")


def _parsed(text: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ValueError(f"{where}: no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{where}: not an object")  # noqa: TRY004  # a file is at fault, not a caller
    return value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON; write the text \"{'nan' if word == 'NaN' else word.lower()[:-5]}\"")


def _case(data: dict[str, Any]) -> Case:
    trace = {name: wanted_of(array) for name, array in data["trace"].items()}
    return Case(data["case"], data["level"], tuple(data["operators"]), tuple(data["clauses"]), trace)


def wanted_of(array: dict[str, Any]) -> Wanted:
    """An expected array of a case, from its JSON."""
    shape, bound = array["shape"], array["bound"]
    size = math.prod(shape)
    if bound == "free":
        return Wanted(shape, array["dtype"], None, np.full(size, np.inf))
    listed = bound if isinstance(bound, list) else [bound] * size
    bounds = np.array([np.inf if each == "free" else each for each in listed], np.float64)
    return Wanted(shape, array["dtype"], rounded(array["elements"], "float64"), bounds)


def answers_in(path: Path) -> Iterator[dict[str, Any]]:
    """The answers of a file of JSON lines, or of the files ``*.json`` and ``*.jsonl`` of a folder.

    Raises:
        ValueError: there is no such file, or it holds something else.
    """
    if not path.is_dir():
        yield from _lines(path)
        return
    files = sorted(each for each in path.iterdir() if each.suffix in (".json", ".jsonl"))
    if len(files) > MOST_FILES:
        raise ValueError(f"{path} has more than {MOST_FILES} files")
    for file in files:
        yield from _lines(file) if file.suffix == ".jsonl" else [_whole(file)]


def _whole(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LONGEST_LINE:
        raise ValueError(f"{path}: larger than {LONGEST_LINE} bytes")
    return _parsed(path.read_bytes(), str(path))


# --- judging ------------------------------------------------------------------------------------


def judge(folder: Path, answers: Path) -> Report:
    """Judge the answers to a suite.

    Args:
        folder: the suite.
        answers: a file of JSON lines, or a folder.

    Raises:
        ValueError: the suite or an answer has another form, or a case is answered twice; the message names the place.
    """
    return judged(read_cases(folder), answers_in(answers), str(answers))


def judged(cases: dict[str, Case], answers: Iterable[dict[str, Any]], where: str) -> Report:
    """Judge answers to some cases.

    Args:
        cases: what is demanded.
        answers: objects as the module's text describes them.
        where: what error messages begin with.

    Raises:
        ValueError: an answer has another form.
    """
    report = Report(cases=cases)
    for answer in answers:
        name = answer.get("case")
        if not isinstance(name, str) or name not in cases:
            raise ValueError(f"{where}: the suite has no case {_short(name)}")
        if name in report.statuses:
            raise ValueError(f"{where}: case {name} is answered twice")
        form = [each for each in FORMS if each in answer]
        if len(form) != 1:
            raise ValueError(f"{where}: the answer to {name} has one of trace, refused and unsupported")
        status, reason = _verdict(cases[name], form[0], answer[form[0]])
        report.statuses[name] = status
        if reason:
            report.reasons[name] = reason
    if cases and not report.statuses:
        raise ValueError(f"{where}: no case is answered")
    for name in cases:
        report.statuses.setdefault(name, "missing")
    return report


def _verdict(case: Case, form: str, given: Any) -> tuple[str, str]:
    if form == "unsupported":
        return "unsupported", _short(given)
    if form == "refused":
        return "failed", f"refused: {_short(given)}"
    if not isinstance(given, dict):
        return "failed", "the trace is no object"
    for name, wanted in case.trace.items():
        wrong = difference(wanted, given.get(name))
        if wrong:
            return "failed", f"{name}{wrong}"
    return "passed", ""


@decides("oracle/suite-rule")
def difference(wanted: Wanted, got: Any) -> str:
    """What is wrong with an array of an answer; empty where nothing is.

    Args:
        wanted: the expected array.
        got: the array, as JSON.
    """
    if got is None:
        return " is not in the trace"
    if not isinstance(got, dict) or got.get("shape") != wanted.shape:
        return f" has not the shape {wanted.shape}"
    if got.get("dtype") != wanted.dtype or wanted.dtype not in DTYPES:
        return f" has not the type {wanted.dtype}"
    try:
        values = rounded(got.get("elements"), wanted.dtype)
    except ValueError as error:
        return f": {error}"
    if values.size != wanted.bounds.size:
        return f" has {values.size} elements, not {wanted.bounds.size}"
    if wanted.values is None:
        return ""
    right = wanted.values
    with np.errstate(invalid="ignore"):
        near = np.abs(values - right) <= wanted.bounds
        same = values == rounded(right.tolist(), wanted.dtype)
    wrong = np.flatnonzero(~(np.isinf(wanted.bounds) | near | same | (np.isnan(values) & np.isnan(right))))
    if not wrong.size:
        return ""
    at = int(wrong[0])
    within = f"within {wanted.bounds[at]:g}" if wanted.bounds[at] else "exactly"
    return f"[{at}] is {values[at]:.9g}, expected {right[at]:.9g} {within}; {wrong.size} of {values.size} are wrong"


def _short(text: Any) -> str:
    return " ".join(str(text)[:200].split())


# --- reporting ----------------------------------------------------------------------------------


def text_of(report: Report) -> str:
    """A report: failed cases, and counts by level, operator and clause where not everything passed."""
    failed = [name for name, status in report.statuses.items() if status == "failed"]
    lines = [f"failed {name}: {report.reasons[name]}" for name in failed[:SHOWN]]
    if len(failed) > SHOWN:
        lines.append(f"... and {len(failed) - SHOWN} more cases that failed")
    for part in ("operators", "clauses"):
        rows = {name: row for name, row in report.by(part).items() if set(row) - {"passed"}}
        if rows:
            lines += ["", f"{part:50} " + " ".join(f"{status:>11}" for status in STATUSES)]
            for name, row in rows.items():
                lines.append(f"{name:50} " + " ".join(f"{row[status]:11}" for status in STATUSES))
    counts = report.counts()
    lines += ["", f"{len(report.cases)} cases: " + ", ".join(f"{counts[status]} {status}" for status in STATUSES)]
    return "\n".join(lines).lstrip("\n")
