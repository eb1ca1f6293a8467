"""ARCHITECTURE.md: the picture is fresh, and its walks name the functions that are really called, in their order."""

from __future__ import annotations

import os
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from spec import figures, generated, picture, trace

from .road_sources import walks

TEXT = (picture.ROOT / picture.FILE).read_text(encoding="utf-8")
WALKS = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", TEXT.partition("## Three walks")[2], re.MULTILINE | re.DOTALL))

Call = tuple[str, str]


def test_the_picture_is_fresh() -> None:
    assert picture.written() == TEXT, "run python spec/picture.py"


def test_everything_named_is_there() -> None:
    assert picture.missing() == []


@cache
def _name(code: CodeType) -> Call:
    return os.path.realpath(code.co_filename), getattr(code, "co_qualname", code.co_name)  # Python 3.10: no class


def _row(file: str, name: str) -> Call:
    return os.path.realpath(picture.ROOT / file), name if sys.version_info >= (3, 11) else name.rpartition(".")[2]


def _calls(text: str) -> list[Call]:
    """Every call that a text makes, in any thread, in its order."""
    found: list[Call] = []

    def profile(frame: Any, event: str, _: object) -> None:
        if event == "call":
            found.append(_name(frame.f_code))

    before = sys.getprofile()
    program = compile(text, str(picture.FILE), "exec")
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        exec(program, {"mx": mx, "np": np})
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]  # None ends it
    return found


@pytest.mark.parametrize("title", ["mx.nd.dot", "One batch of fit", "One push"])
def test_a_walk_goes_where_it_says(title: str) -> None:
    program, = trace.BLOCK.findall(WALKS[title])
    rows = [_row(file, name) for file, name in walks()[title]]
    assert len(rows) > 6
    calls = iter(_calls(program))
    for row in rows:
        assert row in calls, f"{row[1]} of {row[0]} is not called, or not after the row above"  # moves on in calls


def test_floors_follow_from_imports(tmp_path: Path) -> None:
    files = {
        "low": "", "a": "from . import b", "b": "def later():\n    from . import a, low\n",
        "top/__init__": "from .. import a\nfrom ..low import x", "top/inner": "from ..b import y",
    }
    for name, text in files.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n")
    below, up = picture.parts(tmp_path)
    assert below == {"low": set(), "a": {"b"}, "b": {"low"}, "top": {"a", "b", "low"}}
    assert up == {"b": {"a"}}
    assert picture.floors(below) == {("low",): 0, ("b",): 1, ("a",): 2, ("top",): 3}
    assert picture.floors({"x": {"y"}, "y": {"x", "z"}, "z": set()}) == {("z",): 0, ("x", "y"): 1}


def test_the_pictures_of_readme_are_those_of_their_numbers() -> None:
    assert generated.outdated(figures.files()) == [], "run python spec/figures.py"
    readme = (picture.ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"spec/figures/{file.name}" in readme for file in figures.files())
