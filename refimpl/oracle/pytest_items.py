"""The functions of the pytest plugin's tests; see ``plugin``."""

from __future__ import annotations

import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from ..base import decides
from . import relations, report_files, reporting, stored
from .backends import Backend, declared_of
from .backends.isolate import isolate as isolated
from .backends.named import named, read
from .drawing.choices import Capabilities
from .expectations import Expectations, program_in
from .judging.comparing import Verdict, answers_of, judge, judge_answer
from .judging.reference import Program
from .programs.program import name_of, text_of
from .reaching import reached
from .results import Found
from .searching import search

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float:
    """A time such as ``60s``, ``5m`` or ``1h`` in seconds; ValueError where it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time: write 60s, 5m or 1h")
    return float(match[1]) * UNITS[match[2]]


def shard_of(text: str) -> tuple[int, int]:
    """``2/4`` as (1, 4): which part, from 0 on, and of how many; ValueError where it is none."""
    first, _, count = text.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise ValueError(f"{text!r} is no shard: write 1/4 to 4/4")
    return int(first) - 1, int(count)


@decides("oracle/budget")
def left_for_searching(began: float, end: float, *, report: bool) -> float:
    """The seconds that are left for searching: with a report, a quarter of all is kept to verify its scripts.

    Args:
        began: when the budget began, by ``time.monotonic``.
        end: when it ends.
        report: whether a report is written.
    """
    return max(0.0, began + (end - began) * (0.75 if report else 1.0) - time.monotonic())


def load(name: str, *, isolate: bool = False, python: str | None = None) -> Backend:
    """The implementation of a name; see ``backends.named``.

    Args:
        name: where it is; the current folder is searched too.
        isolate: whether it runs in a process of its own.
        python: the Python of that process; this one by default. One that is named isolates.

    Raises:
        ValueError: the name is none, or there is no such thing, or no such Python.
    """
    if python is not None and shutil.which(python) is None:
        raise ValueError(f"there is no Python {python}")
    if isolate or python:
        return isolated(read(name).text, python or sys.executable)
    if "" not in sys.path:
        sys.path.insert(0, "")
    return cast("Backend", named(name))


Outcome = str | tuple[list[dict[str, Any]], list[str]]
"""The report on a stored program, empty where it is right; or the causes of a search, and how far it came."""


def tests(config: Any) -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """The names of the plugin's tests and their functions.

    Args:
        config: pytest's configuration.
    """
    name = config.getoption("--oracle-backend")
    backend = load(name, isolate=config.getoption("--oracle-isolate"), python=config.getoption("--oracle-python"))
    path = Path(config.getoption("--oracle-config"))
    expectations = Expectations.read(path) if path.exists() else Expectations()
    for row, program in expectations.examples():
        yield f"expected[{row.get('id') or row['example']}]", partial(_expected, backend, row, program)
    folder = config.getoption("--oracle-corpus")
    if folder == "shipped":
        folder = stored.FOLDER
    if folder:
        for file in sorted(Path(folder).glob("*.json")):
            yield f"corpus[{file.stem}]", partial(replay, backend, file, expectations)
    yield "search", partial(_searched, config, backend, expectations)


def _searched(config: Any, backend: Backend, expectations: Expectations) -> Outcome:
    programs, folder = config.getoption("--oracle-programs"), config.getoption("--oracle-report")
    began = time.monotonic()
    end = None if programs else began + seconds_of(config.getoption("--oracle-budget"))
    seconds = None if end is None else left_for_searching(began, end, report=bool(folder))
    hunt = relations.search if config.getoption("--oracle-relations") else search
    offered, highest = backend.capabilities, config.getoption("--oracle-level")
    if highest is not None:
        others = tuple(level for level in offered.others if level <= highest)
        backend = limited(backend, offered._replace(level=min(offered.level, highest), others=others))
    result = hunt(
        backend, seed=config.getoption("--oracle-seed"), programs=programs, seconds=seconds,
        exclude=expectations.exclusions, expected=expectations.covers,
    )
    result.known = tuple(sorted(expectations.used))
    lines = [reporting.summary(result), *reached(result)]
    if folder:
        report_files.write(result, Path(folder), config.getoption("--oracle-backend"), until=end)
        lines += filter(None, [report_files.unverified(result)])
    return [_case(found) for found in result.found], lines


def limited(backend: Backend, capabilities: Capabilities) -> Backend:
    """A backend that offers less.

    Args:
        backend: the implementation.
        capabilities: what is left of its own.
    """
    class Limited:
        def __getattr__(self, name: str) -> Any:
            return capabilities if name == "capabilities" else getattr(backend, name)

    return cast("Backend", Limited())


@decides("oracle/junit")
def _case(found: Found) -> dict[str, Any]:
    """A cause as a test: its id, its report, and properties for JUnit's XML."""
    return {
        "id": str(found.cause).translate(str.maketrans("[]:/", "()--")), "text": reporting.text_of_found(found),
        "properties": {
            "program": name_of(found.program), "clause": found.clause, "level": str(found.program["level"]),
            "replay": text_of(found.program),
        },
    }


def replay(backend: Backend, file: Path, expectations: Expectations | None = None) -> str:
    """Run one stored program; the report is empty where it passes or fails as expected.

    Args:
        backend: the implementation.
        file: a program, or an object with a field ``program``.
        expectations: differences that are expected.

    Raises:
        ValueError: the file holds no program; the message names it.
    """
    program = program_in(file)
    verdict = judge(backend, program)
    if verdict.status != "failed" or (expectations and expectations.covers(program, verdict)):
        return ""
    return "\n".join([f"{file.stem}: {reporting.graph_text(program)}", *(m.text for m in verdict.mismatches)])


def replay_expected(
    backend: Backend, expectations: Expectations, *, crashing: bool = True
) -> Iterator[tuple[str, str]]:
    """Run the examples of ``oracle.toml`` at once; yields each row's name and status.

    The status is "expected", "stale" where the example passes, or "different" where it fails in a way that the row
    does not say.

    Args:
        backend: the implementation.
        expectations: the rows.
        crashing: whether to run examples that end the process.

    Raises:
        ValueError: an example is none.
    """
    rows = expectations.examples(crashing=crashing)
    answers = answers_of(backend, [program for _, program in rows])
    for (row, program), answer in zip(rows, answers, strict=True):
        verdict = judge_answer(program, answer, declared=declared_of(backend))
        yield row.get("id") or row["example"], _status(row, program, verdict)


def _status(row: dict[str, Any], program: Program, verdict: Verdict) -> str:
    if verdict.status != "failed":
        return "stale"
    return "expected" if Expectations([row]).covers(program, verdict) else "different"


def _expected(backend: Backend, row: dict[str, Any], program: Program) -> str:
    """The report on one row, empty if it fails as expected; a row that is out of date warns unless it is strict."""
    name = row.get("id") or row["example"]
    verdict = judge(backend, program)
    status = _status(row, program, verdict)
    if status == "different":
        return f"{name}: {verdict.reason}"
    if status == "stale":
        text = f"{name}: its example does not fail any more; remove the row"
        if row.get("strict"):
            return text
        warnings.warn(text, stacklevel=2)
    return ""
