"""The files of a report: ``results.json``, ``report.html``, a script for each cause, and ``index.html``."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from ..base import decides
from . import coverage
from .explaining.causes import Cause
from .judging.comparing import Mismatch
from .programs.program import name_of
from .reaching import reached
from .reporting import as_data, script_of, summary, text_of_found
from .results import Result

SCRIPT_SECONDS = 120.0
"""How long a script may take to show its fault in a fresh process."""
VERIFIED, PASSES, UNVERIFIED = "verified", "passes", "unverified"
"""What a fresh process said of a script: it fails as it should, it does not, or the time was over before."""


def verify(script: str, folder: Path | None = None, seconds: float = SCRIPT_SECONDS) -> str:
    """VERIFIED if a script fails in a fresh process as it should: while the program runs, or by its assertions.

    Args:
        script: its text.
        folder: where it runs, so that modules there are found; the current folder by default.
        seconds: how long it may take. A script that takes all of SCRIPT_SECONDS has shown that its program is endless.
    """
    if seconds <= 0:
        return UNVERIFIED
    where = str(folder or Path.cwd())
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "repro.py"
        path.write_text(script, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([where, os.environ.get("PYTHONPATH", "")])}
        try:
            ran = subprocess.run(  # noqa: S603  # this package wrote the script
                [sys.executable, str(path)], cwd=where, env=environment, capture_output=True, check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return VERIFIED if seconds >= SCRIPT_SECONDS else UNVERIFIED
    asserted = "assert " not in script or b"\nAssertionError: " in ran.stderr
    return VERIFIED if ran.returncode != 0 and ran.stdout.startswith(b"running") and asserted else PASSES


def write(
    result: Result, folder: Path, backend: str, *, part: str = "", until: float | None = None
) -> list[Path]:
    """Write the report and a script for every cause; a script that a fresh process does not confirm is left out.

    Args:
        result: of a search; the ``script`` of each cause becomes what a fresh process said of it.
        folder: made if it is not there.
        backend: the implementation as ``package.module:Name``.
        part: the folder in ``folder`` for one of several reports, empty for the only one.
        until: when verifying ends, by ``time.monotonic``; scripts that are not verified by then say so. No end without.

    Returns:
        the files; the last is the index of all reports in ``folder`` and in the folders in it.
    """
    whole, folder = folder, folder / part
    folder.mkdir(parents=True, exist_ok=True)
    files = _report(result, folder, backend)
    for found in result.found:  # last: each script runs, for up to SCRIPT_SECONDS
        script = script_of(found, backend)
        found.script = verify(script, seconds=min(SCRIPT_SECONDS, _left(until)))
        if found.script != PASSES:
            note = "" if found.script == VERIFIED else "# not verified: the time was over\n"
            files.append(_written(folder / f"{name_of(found.program)}.py", note + script))
    if result.found:
        _report(result, folder, backend)
    return [*files, index(whole)]


def unverified(result: Result) -> str:
    """What the time did not suffice for, in one line; empty where everything was explained and verified.

    Args:
        result: of a search.
    """
    late = sum(found.late for found in result.found)
    scripts = sum(found.script == UNVERIFIED for found in result.found)
    told = [f"{late} causes are not explained"] * bool(late) + [f"{scripts} scripts are not verified"] * bool(scripts)
    return f"the time was over: {' and '.join(told)}" if told else ""


def _left(until: float | None) -> float:
    return SCRIPT_SECONDS if until is None else until - time.monotonic()


def _report(result: Result, folder: Path, backend: str) -> list[Path]:
    data = {**as_data(result), "backend": backend, "date": datetime.now(timezone.utc).date().isoformat()}
    return [
        _written(folder / "results.json", json.dumps(data, indent=1)),
        _written(folder / "report.html", page(result, backend)),
    ]


def _written(path: Path, text: str) -> Path:
    unfinished = path.with_suffix(f"{path.suffix}.{os.getpid()}.tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    return path


# --- pages ----------------------------------------------------------------------------------------

_STYLE = (
    "body{font:16px/1.5 system-ui;max-width:70rem;margin:auto;padding:1rem;color-scheme:light dark}"
    "pre{overflow:auto;padding:.5rem;border:1px solid #8888}td,th{padding:0 .6rem;text-align:left}"
    ".numbers td,.numbers th{text-align:right;font-family:monospace}"
)


def whole_page(title: str, body: str) -> str:
    """A page of HTML that needs nothing else."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
        f"<main><h1>{html.escape(title)}</h1>{body}</main></html>"
    )


def _items(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}' for line in lines)}</ul>"


def page(result: Result, backend: str) -> str:
    """The report as one HTML page that needs nothing else."""
    warnings = f"<h2>Warnings</h2>{_items(result.warnings)}" if result.warnings else ""
    rows = "".join(
        f"<section id={name_of(found.program)}><h2>{html.escape(str(found.cause))}</h2>"
        f"<pre tabindex=0>{html.escape(text_of_found(found))}</pre>{_table(found.verdict.mismatches[0])}</section>"
        for found in result.found
    )
    return whole_page(f"Oracle: {backend}", (
        f"<p>{html.escape(summary(result))}</p>{warnings}{rows or '<p>Nothing differs.</p>'}"
        f"<h2>Reached</h2>{_items(reached(result))}<h2>Covered</h2>{_items(coverage.table(result.covered))}"
    ))


def _table(mismatch: Mismatch, most: int = 12) -> str:
    if mismatch.expected is None or mismatch.got is None or mismatch.bounds is None or mismatch.wrong is None:
        return ""
    rows = "".join(
        f"<tr><th scope=row>{list(at)}<td>{mismatch.expected[at]:.9g}<td>{mismatch.bounds[at]:.3g}"
        f"<td>{mismatch.got[at]:.9g}<td>{'wrong' if mismatch.wrong[at] else ''}"
        for at in list(np.ndindex(mismatch.expected.shape))[:most]
    )
    heads = "".join(f"<th scope=col>{name}" for name in ("element", "expected", "bound", "got", "verdict"))
    return f"<table class=numbers><caption>{html.escape(mismatch.name)}</caption><tr>{heads}{rows}</table>"


@decides("oracle/index")
def index(folder: Path) -> Path:
    """Write ``index.html``: the reports in a folder and in the folders in it, and each cause once.

    Args:
        folder: where ``results.json`` lies, or folders with it.
    """
    reports: list[str] = []
    causes: dict[Cause, list[str]] = {}
    for file in sorted([*folder.glob("results.json"), *folder.glob("*/results.json")]):
        data = json.loads(file.read_text(encoding="utf-8"))
        link = html.escape((file.parent.relative_to(folder) / "report.html").as_posix())
        name = html.escape(file.parent.relative_to(folder).as_posix().replace(".", "this folder", 1))
        levels = ", ".join(map(str, data["drawn"].get("levels", ())))
        warned = len(data.get("warnings", ()))
        numbers = (levels, data["programs"], f"{data['seconds']:.0f}", len(data["found"]), warned)
        cells = "".join(f"<td>{number}" for number in numbers)
        reports.append(f"<tr><th scope=row><a href='{link}'>{name}</a><td>{_code(data)}{cells}")
        for found in data["found"]:
            anchor = f"<a href='{link}#{found['name']}'>level {found['program']['level']} in {name}</a>"
            causes.setdefault(Cause(**found["cause"]), []).append(anchor)
    heads = ("report", "backend", "levels", "programs", "seconds", "causes", "warnings")
    head = "".join(f"<th scope=col>{name}" for name in heads)
    told = "".join(f"<li>{html.escape(str(cause))}: {', '.join(links)}" for cause, links in causes.items())
    body = (
        f"<table><caption>Reports</caption><tr>{head}{''.join(reports)}</table>"
        f"<h2>Causes</h2>{f'<ul>{told}</ul>' if told else '<p>Nothing differs.</p>'}"
    )
    return _written(folder / "index.html", whole_page("Oracle: reports", body))


def _code(data: dict[str, Any]) -> str:
    return f"<code>{html.escape(data.get('backend', ''))}</code>"
