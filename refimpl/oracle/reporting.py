"""The findings of a search, for people (text, HTML, a script) and for programs (JSON)."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import coverage
from .backends.named import read
from .drawing.choices import Capabilities
from .explaining.neighbours import told
from .judging.comparing import RELATION, Mismatch
from .judging.reference import trace_of
from .programs.clusters import VERBS
from .programs.program import LEVELS, name_of, operators, text_of
from .searching import FAITHFUL, Found, Result

VERSION = 2
"""Of results.json."""
SCRIPT_SECONDS = 120
"""How long a script may take to show its fault in a fresh process."""


def summary(result: Result) -> str:
    """One line on a search."""
    elements = result.elements
    judged = elements["exact"] + elements["bounded"]
    per_second = result.programs / result.seconds if result.seconds else 0.0
    return (
        f"{result.programs} programs in {result.seconds:.1f} s ({per_second:.0f}/s): "
        f"{result.statuses['passed']} passed, {result.statuses['failed']} failed with {len(result.found)} causes, "
        f"{result.statuses['expected']} failed as expected, {result.statuses['unsupported']} unsupported, "
        f"{result.statuses['discarded']} discarded; {judged} elements judged ({elements['exact']} exactly), "
        f"{elements['statistical']} by their distribution, "
        f"{elements['free']} free ({elements['spared']} spared by the second bound), "
        f"{result.statuses['unconfirmed']} failures unconfirmed; {coverage.short(result.covered)}{_kept(result)}"
    )


def _kept(result: Result) -> str:
    """Which relations were not asked, because MXNet breaks them and the reference keeps its numbers."""
    clauses = [f"{s.removeprefix(FAITHFUL)} {n}" for s, n in sorted(result.statuses.items()) if s.startswith(FAITHFUL)]
    return f"; relations not asked, because MXNet's number is kept: {', '.join(clauses)}" if clauses else ""


def progress(result: Result, capabilities: Capabilities | None = None) -> str:
    """Where a search is, in a few words: programs, their rate, causes and coverage."""
    rate = result.programs / result.seconds if result.seconds else 0.0
    causes = f"{len(result.found)} cause{'s' * (len(result.found) != 1)}"
    return f"{result.programs} programs, {rate:.0f}/s, {causes}, {coverage.short(result.covered, capabilities)}"


def graph_text(program: dict[str, Any]) -> str:
    """The graph in one line: ``n1=relu(a); heads n1``."""
    nodes = program.get("nodes", [])

    def entry(pair: list[int]) -> str:
        name = nodes[pair[0]]["name"]
        return f"{name}[{pair[1]}]" if pair[1] else name

    parts = []
    for node in nodes:
        if node["op"] != "null":
            given = [entry(e) for e in node.get("inputs", [])]
            given += [f"{key}={value}" for key, value in node.get("attrs", {}).items()]
            parts.append(f"{node['name']}={node['op']}({', '.join(given)})")
    heads = ", ".join(entry(h) for h in program.get("heads", []))
    return "; ".join([*parts, f"heads {heads}"]) if nodes else f"{len(program['steps'])} steps"


def text_of_found(found: Found) -> str:
    """A cause in a few lines: the difference, the program, and the kind of the wrong numbers."""
    program = found.program
    mismatch = found.verdict.mismatches[0]
    arrays = ", ".join(
        f"{name} {spec['dtype']}{spec['shape']}" for name, spec in list(program.get("arrays", {}).items())[:8]
    )
    lines = [
        f"{found.cause}",
        (f"  level {program['level']} ({LEVELS[program['level']]}), tier {mismatch.tier}, {_word(found)}; "
         f"program {found.number}, "
         f"{len(operators(found.original))} operators, shrunk to {len(operators(program))}"),
        f"  program   {graph_text(program)}",
        f"  arrays    {arrays}",
        f"  steps     {' '.join(_step_text(step) for step in program['steps'])}",
        f"  differs   {found.verdict.reason}",
    ]
    lines += [f"  also      {other.text}" for other in found.verdict.mismatches[1:4]]
    if found.where is not None:
        lines.append(f"  where     {found.where.text}")
    words = told(found.neighbours)
    if words["passes"]:
        lines.append(f"  control   passes with {' · passes with '.join(words['passes'])}")
    if words["fails"]:
        lines.append(f"            fails too with {', '.join(words['fails'])}")
    if found.clause:
        lines.append(f"  clause    {found.clause}")
    if found.again:
        lines.append(f"  again     {found.again} more programs showed it")
    text = text_of(program)
    lines.append(f"  replay    {text}" if len(text) < 2000 else f"  name      {name_of(program)}")
    return "\n".join(lines)


def _word(found: Found) -> str:
    """Whether the second bound says the same as the first; see the clause oracle/confirmed."""
    return "confirmed" if found.verdict.confirmed else "unconfirmed"


def _step_text(step: dict[str, Any]) -> str:
    if "key" in step and step["do"] in VERBS:
        return f"{step['do']}({step['key']!r}{'' if step.get('worker') is None else ' by ' + str(step['worker'])})"
    told = {**(step.get("requirements") or {}), **({"train": True} if step.get("train") else {})}
    return step["do"] + (f"({', '.join(f'{k}={v}' for k, v in told.items())})" if told else "")


def as_data(result: Result) -> dict[str, Any]:
    """The result of a search as JSON, from which its causes can be derived again and its programs drawn again."""
    return {
        "version": VERSION, "programs": result.programs, "seconds": round(result.seconds, 3), "last": result.last,
        "drawn": result.drawn, "excluded": [list(each) for each in result.excluded],
        "statuses": dict(result.statuses), "elements": dict(result.elements),
        "axes": list(coverage.Cell._fields),
        "covered": [[*key, count] for key, count in sorted(result.covered.items())],
        "found": [_found_data(found) for found in result.found],
    }


def _found_data(found: Found) -> dict[str, Any]:
    where = found.where
    return {
        "cause": found.cause._asdict(), "mechanism": list(found.cause.mechanism), "clause": found.clause,
        "where": None if where is None else {
            "node": where.node, "operator": where.operator, "part": where.part, "step": where.step, "text": where.text,
        },
        "neighbours": told(found.neighbours), "tier": found.verdict.mismatches[0].tier,
        "confirmed": found.verdict.confirmed,
        "program": found.program, "original": found.original, "number": found.number,
        "seconds": round(found.seconds, 3), "again": found.again, "reason": found.verdict.reason,
        "name": name_of(found.program),
    }


# --- scripts ------------------------------------------------------------------------------------

_BEGIN = """\
# {title}
import json
import numpy as np
from {module} import {name}

backend = {made}
program = json.loads({program!r})
print("running", flush=True)
trace = backend.run(program)
"""
_VALUES = """\
got = trace[{key!r}]
expected = np.array({expected}, dtype=float).reshape({shape})
bound = np.array({bound}, dtype=float).reshape({shape})
wrong = ~((abs(got - expected) <= bound) | (np.isnan(got) & np.isnan(expected)) | (got == expected))
print("got", got[wrong], "expected", expected[wrong])
assert not wrong.any(), {title!r}
"""
_FORM = """\
got = trace.get({key!r})
assert got is not None and (got.shape, str(got.dtype)) == {form}, {title!r}
"""
_RELATION_SCRIPT = """\
# {title}
import json
from refimpl.oracle import relations
from {module} import {name}

backend = {made}
program = json.loads({program!r})
print("running", flush=True)
found = relations.broken(backend, program, [{relation!r}])
print(found)
assert not found, {title!r}
"""
_HISTORY_SCRIPT = """\
# {title}
import json
from refimpl.oracle import judge
from {module} import {name}

backend = {made}
print("running", flush=True)
verdict = judge(backend, json.loads({program!r}))
print(verdict.reason)
assert verdict.status != "failed", {title!r}
"""


def script_of(found: Found, backend: str) -> str:
    """A script that shows a cause with NumPy and the implementation only; relations and histories need this package.

    Args:
        found: the cause.
        backend: the implementation as ``package.module:Name``.
    """
    source = _source(backend)
    mismatch = found.verdict.mismatches[0]
    title = str(found.cause)
    if mismatch.kind.startswith(RELATION):
        return _RELATION_SCRIPT.format(
            title=title, program=text_of(found.program), relation=mismatch.kind.removeprefix(RELATION), **source
        )
    if found.program["level"] == 7:
        return _HISTORY_SCRIPT.format(title=title, program=text_of(found.program), **source)
    begin = _BEGIN.format(title=title, program=text_of(found.program), **source)
    if mismatch.expected is not None and mismatch.bounds is not None:
        return begin + _VALUES.format(
            key=mismatch.name, expected=_literal(mismatch.expected), bound=_literal(mismatch.bounds),
            shape=tuple(mismatch.expected.shape), title=title,
        )
    if mismatch.name:
        like = trace_of(found.program)[mismatch.name]
        return begin + _FORM.format(key=mismatch.name, form=(like.shape, str(like.dtype)), title=title)
    return begin.rstrip() + f"  # raises: {' '.join(mismatch.text.split())[:100]}\n"


def _source(backend: str) -> dict[str, str]:
    """The module and the name that a script imports for a backend, and how it makes the backend of them."""
    _, module, name, arguments = read(backend if ":" in backend else f"{backend}:backend")
    if arguments is None:
        made = f'{name} if hasattr({name}, "run") and not isinstance({name}, type) else {name}()'
    else:
        options = [f"{key}={value!r}" for key, value in arguments[1].items()]
        made = f"{name}({', '.join([*map(repr, arguments[0]), *options])})"
    return {"module": module, "name": name, "made": made}


def _literal(values: np.ndarray) -> str:
    words = [repr(float(v)) for v in values.reshape(-1)]
    return "[" + ", ".join(f'float("{w}")' if w in ("nan", "inf", "-inf") else w for w in words) + "]"


def verified(script: str, folder: Path | None = None) -> bool:
    """Whether a script fails in a fresh process as it should: while the program runs, or by its assertions.

    Args:
        script: its text.
        folder: where it runs, so that modules there are found; the current folder by default.
    """
    where = str(folder or Path.cwd())
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "repro.py"
        path.write_text(script, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([where, os.environ.get("PYTHONPATH", "")])}
        try:
            ran = subprocess.run(  # noqa: S603  # this file wrote the script
                [sys.executable, str(path)], cwd=where, env=environment, capture_output=True, check=False,
                timeout=SCRIPT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return True
    asserted = "assert " not in script or b"\nAssertionError: " in ran.stderr
    return ran.returncode != 0 and ran.stdout.startswith(b"running") and asserted


def write(result: Result, folder: Path, backend: str) -> list[Path]:
    """Write ``results.json`` and ``report.html``, then a script for every cause that a fresh process confirms.

    Args:
        result: of a search.
        folder: made if it is not there.
        backend: the implementation as ``package.module:Name``.

    Returns:
        the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [
        _written(folder / "results.json", json.dumps(as_data(result), indent=1)),
        _written(folder / "report.html", page(result, backend)),
    ]
    for found in result.found:  # last: each script runs, for up to SCRIPT_SECONDS
        script = script_of(found, backend)
        if verified(script):
            files.append(_written(folder / f"{name_of(found.program)}.py", script))
    return files


def _written(path: Path, text: str) -> Path:
    unfinished = path.with_suffix(path.suffix + ".tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    return path


def page(result: Result, backend: str) -> str:
    """The report as one HTML page that needs nothing else."""
    rows = "".join(
        f"<section><h2>{html.escape(str(found.cause))}</h2><pre>{html.escape(text_of_found(found))}</pre>"
        f"{_table(found.verdict.mismatches[0])}</section>"
        for found in result.found
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Oracle: {html.escape(backend)}</title><style>body{{font:16px/1.5 system-ui;max-width:70rem;"
        "margin:auto;padding:1rem;color-scheme:light dark}pre{overflow:auto;padding:.5rem;border:1px solid #8888}"
        "td,th{padding:0 .6rem;text-align:right;font-family:monospace}.wrong{font-weight:bold}</style>"
        f"<h1>{html.escape(backend)}</h1><p>{html.escape(summary(result))}</p>"
        f"{rows or '<p>Nothing differs.</p>'}<h2>Covered</h2><ul>"
        f"{''.join(f'<li>{html.escape(line)}' for line in coverage.table(result.covered))}</ul></html>"
    )


def _table(mismatch: Mismatch, most: int = 12) -> str:
    if mismatch.expected is None or mismatch.got is None or mismatch.bounds is None or mismatch.wrong is None:
        return ""
    rows = "".join(
        f"<tr{' class=wrong' if mismatch.wrong[at] else ''}><td>{list(at)}<td>{mismatch.expected[at]:.9g}"
        f"<td>{mismatch.bounds[at]:.3g}<td>{mismatch.got[at]:.9g}"
        for at in list(np.ndindex(mismatch.expected.shape))[:most]
    )
    return f"<table><tr><th>element<th>expected<th>bound<th>got{rows}</table>"
