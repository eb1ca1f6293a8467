"""The functions of the pytest plugin's tests; see ``plugin``."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from . import relations, reporting, stored
from .backends import Backend
from .backends.isolate import isolate as isolated
from .backends.named import named, read
from .expectations import Expectations, program_in
from .judging.comparing import Verdict, answers_of, judge, judge_answer
from .judging.reference import Program
from .numbering import DRAWERS
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


def share_of(programs: int, part: int, parts: int) -> int:
    """The number of ``programs`` in a part: those whose number leaves the remainder ``part``."""
    return len(range(part, programs, parts))


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


def tests(config: Any, shards: int) -> Iterator[tuple[str, Callable[[], str]]]:
    """The names of the plugin's tests and their functions; each returns its report, empty without differences.

    Args:
        config: pytest's configuration.
        shards: the number of shards for each level.
    """
    name = config.getoption("--oracle-backend")
    backend = load(name, isolate=config.getoption("--oracle-isolate"), python=config.getoption("--oracle-python"))
    highest = config.getoption("--oracle-level") or max(DRAWERS)
    levels = [level for level in sorted(DRAWERS) if level <= highest and backend.capabilities.offers(level)]
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
    share = 1.0 / (len(levels) * shards)
    programs = config.getoption("--oracle-programs")
    for level in levels:
        for shard in range(shards):
            count = programs and max(1, round(programs * share))
            run = partial(_searched, config, backend, level, shard, share, count, expectations)
            yield f"level{level}[{shard}]", run


def _searched(
    config: Any, backend: Backend, level: int, shard: int, share: float, programs: int | None,
    expectations: Expectations,
) -> str:
    hunt = relations.search if config.getoption("--oracle-relations") else search
    result = hunt(
        backend, seed=config.getoption("--oracle-seed"), level=level, programs=programs,
        seconds=None if programs else seconds_of(config.getoption("--oracle-budget")) * share,
        start=shard * 1_000_000, exclude=expectations.exclusions, expected=expectations.covers,
    )
    folder = config.getoption("--oracle-report")
    if folder:
        reporting.write(result, Path(folder) / f"level{level}-{shard}", config.getoption("--oracle-backend"))
    if not result.found:
        return ""
    return "\n\n".join([*map(reporting.text_of_found, result.found), reporting.summary(result)])


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
        yield row.get("id") or row["example"], _status(row, program, judge_answer(program, answer))


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
