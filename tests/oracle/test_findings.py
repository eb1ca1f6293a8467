"""The chapters on findings: rows of the deviations, programs that show them, scripts about other libraries."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from refimpl.oracle.backends import isolate
from refimpl.oracle.expectations import Expectations
from refimpl.oracle.pytest_items import replay_expected
from refimpl.oracle.stored import corpus, read_stored
from refimpl.rules import rules
from refimpl.rules.deviations import CHAPTERS, ROW

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^\| ([\w-]+/[\w-]+) \| (.+?) \| (yes|replayed|) ?\| ([\w, ]+) \|$", re.MULTILINE)


def _table():
    text = (ROOT / "spec/records/findings-mxnet.md").read_text(encoding="utf-8")
    part = text[text.index("## Wrong values and crashes within reach"):]
    return part, [match.groups() for match in LINE.finditer(part)]


def test_each_line_is_a_row_of_the_deviations():
    chapters = [(ROOT / name).read_text(encoding="utf-8") for name in CHAPTERS]
    rows = [match.groups() for text in chapters for match in ROW.finditer(text)]
    _, table = _table()
    assert len(table) > 130
    for clause, begins, *_ in table:
        assert sum(row[0] == clause and row[1].startswith(begins) for row in rows) == 1, (clause, begins)
    assert len({line[:2] for line in table}) == len(table)


def test_each_program_is_stored_and_shows_its_clause():
    stored = {one.name: one for one in corpus()}
    _, table = _table()
    for clause, _, drawn, names in table:
        programs = [] if names == "none" else [stored[name] for name in names.split(", ")]
        assert all(one.clause == clause for one in programs), clause
        if drawn:
            assert any("seed" in one.found for one in programs), clause


def test_the_numbers_in_the_text_are_those_of_the_table():
    text, table = _table()
    shown = sum(names != "none" for *_, names in table)
    drawn = sum(drawn == "yes" for _, _, drawn, _ in table)
    replayed = sum(drawn == "replayed" for _, _, drawn, _ in table)
    assert f"{len(table)} rows; programs show {shown} of them" in " ".join(text.split())
    assert f"drawn without knowing of it in {drawn}" in " ".join(text.split())
    assert f"in {replayed} more" in " ".join(text.split())
    assert shown >= 0.8 * len(table)


def test_there_are_enough_stored_programs_at_every_level():
    levels = [one.program["level"] for one in corpus()]
    assert len(levels) >= 150
    assert set(levels) == {1, 2, 3, 4, 5, 6}
    assert all(one.reason and one.found for one in corpus())


# --- other libraries ------------------------------------------------------------------------------

SCRIPTS = sorted((ROOT / "tests/oracle/findings").glob("*.py"))
ROWS = {file.parent.name: file for file in sorted((ROOT / "tests/oracle/libraries").glob("*/oracle.toml"))}
ENGINES = {
    "mnn": "'mnn', opset=18", "onnx": "'reference'", "openvino": "'openvino'", "tinygrad": "'tinygrad'",
    "tract": "'tract'",
}
"""Engine of ONNX models -> how its backend is made."""
FILES = {"onnx", "tempfile"}
"""What a script imports to hand over a model: it is built with onnx, and some engines read files only."""
IMPORTS = {"onnxruntime": {"onnx", "onnxruntime"}, **{name: FILES | {name} for name in ENGINES}}
IMPORTS["mnn"] = FILES | {"MNN", "_tools"}
"""What scripts import where it is more than the library."""


def _python_of(library):
    """The Python that has a library; skips where none is named."""
    named = "ENGINES" if library in ENGINES else {"onnxruntime": "ONNX"}.get(library, library.upper())
    path = os.environ.get(f"REFIMPL_{named}_PYTHON", "")
    if not path:
        pytest.skip("no Python has the library")
    return path


def _linked():
    """The lines of the tables that link a script, by the script's name."""
    pages = [ROOT / f"spec/records/findings-{name}.md" for name in ("libraries", "engines")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    links = [(re.search(r"\((?:\.\./)*tests/oracle/findings/(\w+\.py)\)", line), line) for line in lines]
    return {match.group(1): line for match, line in links if match}


def test_each_fault_of_a_library_has_a_script_that_needs_only_numpy_and_the_library():
    assert set(_linked()) == {path.name for path in SCRIPTS}
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        report = len((ast.get_docstring(ast.parse(text)) or "").splitlines())
        assert len(text.splitlines()) - report <= 30, path
        imported = {
            name.split(".")[0] for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        }
        library = path.stem.split("_")[0]
        assert imported <= {"math", "numpy", *IMPORTS.get(library, {library})}, path


@pytest.mark.peer
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_library_still_has_its_fault(path):
    python = _python_of(path.stem.split("_")[0])
    ran = subprocess.run([python, str(path)], capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "AssertionError" in ran.stderr


def test_each_script_belongs_to_a_row_with_a_clause_and_a_stored_program():
    named = set()
    for name, file in ROWS.items():
        known = Expectations.read(file)
        assert len(known.examples()) == len(known.rows) == len(list(file.parent.glob("*.json"))), name
        for row in known.rows:
            stored = read_stored(file.parent / row["example"])
            assert (row["clause"], row["strict"]) == (stored.clause, True), row["id"]
            assert row["clause"] in rules, row["id"]
            named |= set(re.findall(r"\((\w+\.py)\)", row["reason"]))
    without = {name for name, line in _linked().items() if line.endswith((" avoided |", " read |"))}
    assert not named & without
    assert named | without == {path.name for path in SCRIPTS}


@pytest.mark.peer
@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_a_library_still_says_what_it_does(name):
    made = f"onnx:on({ENGINES[name]})" if name in ENGINES else f"{name}:backend"
    with isolate(f"refimpl.oracle.backends.{made}", python=_python_of(name), limit=60.0) as backend:
        found = dict(replay_expected(backend, Expectations.read(ROWS[name])))
    assert set(found.values()) == {"expected"}, found
