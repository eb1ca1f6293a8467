"""Every operator has MXNet 1.9.1's parameters: names, which must be given, and defaults, or a row of the deviations."""

from __future__ import annotations

from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from refimpl.kernels.foundation import REGISTRY, REQUIRED, get

ROOT = Path(__file__).parents[2]
RECORDED = (ROOT / "tests" / "fixtures" / "parameters.txt").read_text(encoding="utf-8")  # by make_parameters.py there
ROWS = (ROOT / "spec/reference/porting/deviations.md").read_text(encoding="utf-8")
MISSING = "must be given"


def default_there(text: str) -> Any:
    """A default that MXNet printed: None as text is None, and a shape is a tuple; an ellipsis where it prints none."""
    try:
        value = literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a number that has no literal, such as inf
    return None if value == "None" else tuple(value) if isinstance(value, list) else value


def default_here(value: Any) -> Any:
    """A default of ours, in the same form; the slices of an operator are read from text."""
    return MISSING if value is REQUIRED else {"None": None, "()": ()}.get(value, value)


def same(theirs: Any, ours: Any) -> bool:
    """Whether two defaults mean the same: MXNet prints real numbers with nine digits, and truth values as numbers."""
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        return ours == pytest.approx(theirs, rel=1e-6, abs=0)
    return theirs is ... or theirs in (ours, str(ours)) or (theirs == () and ours is None)


def differences(line: str) -> list[str]:
    """The parameters of a line of the file that have another default here, or none."""
    name, _, text = line.rstrip(")").partition("(")
    kinds = get(name).params
    here = getattr(kinds, "_field_defaults", {})
    found = []
    for parameter, equals, default in (part.partition("=") for part in text.split("; ") if part):
        if parameter not in getattr(kinds, "_fields", ()):
            found.append(f"{name} takes no {parameter}")
            continue
        ours = default_here(here.get(parameter, REQUIRED))
        if not same(default_there(default) if equals else MISSING, ours):
            found.append(f"{name}: {parameter} is {ours} here and {default or MISSING} there")
    return found


def rows_of(name: str) -> list[str]:
    """The names by which a row speaks of an operator's function."""
    return [f"`nd._internal.{name}`", f"`nd.contrib.{name.removeprefix('_contrib_')}`", f"`nd.{name}`"]


@pytest.mark.clause("conventions/signatures")
def test_parameters_have_the_defaults_of_mxnet() -> None:
    lines = [line for line in RECORDED.splitlines() if line.partition("(")[0] in REGISTRY]
    assert len(lines) > 500
    assert [
        each for line in lines if not any(row in ROWS for row in rows_of(line.partition("(")[0]))
        for each in differences(line)
    ] == []


@pytest.mark.parametrize(("line", "said"), [
    ("LRN(alpha=9.99999975e-05; beta=0.75; knorm=2; nsize)", []),
    ("LRN(alpha=0.0002; beta=0.75; knorm=2; nsize=5)", ["alpha is 9.99999975e-05 here", "nsize is must be given here"]),
    ("LRN(alpha; gamma=1)", ["alpha is 9.99999975e-05 here and must be given there", "LRN takes no gamma"]),
])
def test_a_difference_is_told(line: str, said: list[str]) -> None:
    found = differences(line)
    assert len(found) == len(said)
    assert all(words in each for words, each in zip(said, found, strict=True))
