"""The findings of a search, for people (text, a script) and for programs (JSON); ``report_files`` writes them."""

from __future__ import annotations

import math
from itertools import islice
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
from .reaching import unreached
from .results import FAITHFUL, LARGE, Found, Result

VERSION = 3
"""Of results.json."""
FEW_NUMBERS = 32
"""Wrong elements of a cause that results.json keeps."""


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
        f"{_large(result)}"
    )


def _large(result: Result) -> str:
    """How many programs show nothing but what is set aside, and what exclusions take of the drawing."""
    known = result.statuses["known"]
    text = f"; {known} programs differ only in what is set aside" if known else ""
    if large := result.large():
        text += f"; {len(large)} exclusions take more than {LARGE:.0%} of the drawing"
    return text


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
    if found.late:
        lines.append("  where     not asked: the time was over")
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
        "version": VERSION, "runtime": result.runtime, "programs": result.programs, "seconds": round(result.seconds, 3),
        "processor": round(result.processor, 3), "known": list(result.known), "last": result.last,
        "drawn": result.drawn, "given": result.given, "excluded": [list(each) for each in result.excluded],
        "warnings": result.warnings, "statuses": dict(result.statuses), "elements": dict(result.elements),
        "levels": {level: dict(counts) for level, counts in result.levels.items()},
        "unsupported": dict(result.unsupported.most_common()), "unreached": unreached(result),
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
        "wrong": _wrong_numbers(found.verdict.mismatches[0]), "neighbours": told(found.neighbours),
        "tier": found.verdict.mismatches[0].tier,
        "confirmed": found.verdict.confirmed, "late": found.late, "script": found.script,
        "program": found.program, "original": found.original, "number": found.number,
        "seconds": round(found.seconds, 3), "again": found.again, "reason": found.verdict.reason,
        "name": name_of(found.program),
    }


def _wrong_numbers(mismatch: Mismatch) -> list[list[float | str]]:
    """Some wrong elements, each as what came and what is right; "nan" and "inf" are words in JSON."""
    if mismatch.expected is None or mismatch.got is None or mismatch.wrong is None:
        return []
    pairs = zip(mismatch.got[mismatch.wrong].flat, mismatch.expected[mismatch.wrong].flat, strict=True)
    some = [[float(got), float(right)] for got, right in islice(pairs, FEW_NUMBERS)]
    return [[each if math.isfinite(each) else str(each) for each in pair] for pair in some]


# --- scripts ------------------------------------------------------------------------------------

_BEGIN = """\
# {title}
import json
import math
from itertools import islice
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
        backend: the implementation as ``package.module:Name``, with arguments in brackets or without.
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
