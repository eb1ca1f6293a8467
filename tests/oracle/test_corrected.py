"""Faults of old releases that newer ones corrected: a script each, which tells the two apart."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "tests/oracle/findings/corrected").glob("*.py"))
PYTHON = {"mlx": "MLX", "openvino": "ENGINES", "tract": "ENGINES", "onnx": "ENGINES"}
"""Library -> the word in the names of two variables: of the Python that has the newest release, and the old one."""


def test_each_line_has_a_script_that_needs_only_numpy_and_the_library():
    page = (ROOT / "spec/records/findings-corrected.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"/findings/corrected/(\w+\.py)\)", page)) == [path.name for path in SCRIPTS]
    for path in SCRIPTS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            name.split(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        }
        assert imported <= {"numpy", "onnx", "pathlib", "tempfile", path.stem.split("_")[0]}, path
        assert re.search(r"Found in .+ corrected ", " ".join(ast.get_docstring(tree).split())), path


@pytest.mark.peer
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
@pytest.mark.parametrize(("variable", "code"), [("REFIMPL_{}_PYTHON", 0), ("REFIMPL_OLD_{}_PYTHON", 1)])
def test_the_old_release_has_the_fault_and_the_newest_has_not(path, variable, code):
    python = os.environ.get(variable.format(PYTHON[path.stem.split("_")[0]]), "")
    if not python:
        pytest.skip("no Python has the library")
    ran = subprocess.run([python, str(path)], capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert ("AssertionError" in ran.stderr) == bool(code)
