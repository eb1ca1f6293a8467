"""A lab as a notebook: the task, the file to fill in as a cell, and a cell that judges it."""

from __future__ import annotations

import importlib
import json
import textwrap
from collections.abc import Iterator, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any

from ...base import decides
from .call_recorder import Watched
from .isolated import Result, of_verdicts, require_hypothesis
from .lab import Lab


@decides("Labs/notebook")
def notebook(lab: Lab) -> str:
    """The text of a notebook (nbformat 4.5)."""
    task, _, listed = lab.text().partition("Write your code into")
    rest = listed.partition("The chapter is")[2]
    cells = [
        ("markdown", f"{task.strip()}\n\nThe chapter is{rest}"), ("code", lab.code()),
        ("markdown", "Run the cell above when you have changed it, then this one, as often as you like:"),
        ("code", f'from refimpl.cli.labs.notebook import judged\n\nprint(judged("{lab.name}", globals()))'),
    ]
    made: list[dict[str, Any]] = [
        {"cell_type": kind, "id": f"{lab.name}-{number}", "metadata": {}, "source": text.rstrip()}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for number, (kind, text) in enumerate(cells)
    ]
    whole = {"cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def judged(name: str, names: Mapping[str, Any]) -> str:
    """The verdict on functions of this process; there is no time limit, the user interrupts a call that does not end.

    Args:
        name: the lab.
        names: the functions by name, such as ``globals()`` of a notebook.
    """
    require_hypothesis()
    lab = importlib.import_module("refimpl.cli.labs").LABS[name]
    judging = importlib.import_module("refimpl.cli.labs.judging")  # Hypothesis is an extra
    module = SimpleNamespace(**{key: value for key, value in names.items() if not key.startswith("_")})
    module.files = set(_files(names))
    verdicts = judging.judge(lab, Watched(module, 600), module)
    result = of_verdicts([verdict.plain() for verdict in verdicts])
    return "\n".join(report(lab, result, 100))


def _files(names: Mapping[str, Any]) -> Iterator[str]:
    """The cells that functions and methods were written in, as Python calls them."""
    own = [value for value in names.values() if getattr(value, "__module__", None) == names.get("__name__")]
    methods = [function for value in own if isinstance(value, type) for function in vars(value).values()]
    for function in [*own, *methods]:
        if isinstance(function, FunctionType):
            yield function.__code__.co_filename


@decides("Labs/unwritten")
def report(one: Lab, result: Result, width: int) -> Iterator[str]:
    """The lines that a student reads."""
    if result.passed:
        yield f"{one.name}: all {len(one.clauses)} rules are kept"
        return
    if result.unwritten:
        yield f"{one.name}: {result.unwritten} is not written yet"
        yield f"the chapter is {one.chapter}"
        return
    laws = [law.clause for law in one.laws]
    kept = [clause for clause in one.clauses if result.kept.count(clause) == laws.count(clause)]
    yield f"{one.name}: {len(kept)} of {len(one.clauses)} rules are kept"
    for clause in one.clauses:
        state = "broken" if clause == result.broken else "kept" if clause in kept else "not reached"
        yield f"  {state:<11} {clause}"
    if result.broken:
        yield ""
        yield from textwrap.wrap(f"[{result.broken}] {one.words[result.broken]}", width)
        yield ""
        yield "The smallest case that was found:"
        yield from (f"    {call}" for call in result.calls)
    if result.problem:
        yield result.problem
    if result.expected:
        yield f"    expected  {result.expected}"
        yield f"    got       {result.got}"
    if result.line:
        yield f"    {one.module}.py, {result.line}"
    yield f"`refimpl rule {result.broken}` tells more" if result.broken else f"the chapter is {one.chapter}"


__all__ = ["judged", "notebook", "report"]
