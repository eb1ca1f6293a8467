"""The backends in JavaScript and C find nothing when they are right, and a planted fault is found and shrunk."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import refimpl
from refimpl.cli import main
from refimpl.oracle import check_program, search
from refimpl.oracle.backends import Refused, Unsupported
from refimpl.oracle.backends.isolate import command
from refimpl.oracle.programs.program import operators

FOLDER = Path(refimpl.__file__).parent / "oracle/languages"
CHAPTER = Path(refimpl.__file__).parents[1] / "spec/reference/tools/oracle-protocol.md"


def line_of(folder, language, edit=lambda text: text):
    """The command that runs a backend, from an empty folder; ``edit`` plants a fault."""
    tool = {"js": "node", "c": "cc"}[language]
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    source = folder / f"backend.{language}"
    source.write_text(edit((FOLDER / source.name).read_text(encoding="utf-8")), encoding="utf-8")
    if language == "js":
        return f"node {source}"
    build = ["cc", "-O2", "-std=c99", "-Wall", "-Werror", str(source), "-lm", "-o", str(folder / "backend")]
    subprocess.run(build, check=True, timeout=120)
    return str(folder / "backend")


def replaced(old, new):
    def edit(text):
        assert text.count(old) == 1
        return text.replace(old, new)

    return edit


@pytest.mark.parametrize("language", ["js", "c"])
def test_a_right_backend_shows_nothing(tmp_path, language):
    with command(line_of(tmp_path, language)) as backend:
        for level in (1, 2):
            result = search(backend, level=level, programs=60)
            assert (result.found, result.statuses["passed"]) == ([], 60)


FAULTS = [
    ("js", "(y.values[i] > 0 ? 1 : y.values[i])", "(y.values[i] >= 0 ? 1 : y.values[i])", "relu", "gradient"),
    ("c", "(value > 0 ? 1 : value)", "(value >= 0 ? 1 : value)", "relu", "gradient"),
    ("js", "[m, k] = w.shape;\n      const n = size(x.shape) / k;\n      const flat",
     "[m, k] = w.shape;\n      const n = size(x.shape) / k - 1;\n      const flat", "FullyConnected", "shape"),
    ("c", "i % side(out, back) * step", "i % side(out, back) * 1", None, "output"),
    ("js", '=== "add" ? add(old, slopes[number])', '=== "add" ? add(old, old)', None, "gradient"),
    ("c", "1 - value * value", "1 - value", "tanh", "gradient"),
]


@pytest.mark.parametrize(("language", "old", "new", "operator", "place"), FAULTS, ids=lambda value: str(value)[:12])
def test_a_planted_fault_is_found_and_shrunk(tmp_path, language, old, new, operator, place):
    with command(line_of(tmp_path, language, replaced(old, new))) as backend:
        result = search(backend, level=2, programs=200, most=1)
    found = result.found[0]
    assert len(operators(found.program)) == 1
    assert found.cause.place.startswith(place)
    assert operator in (None, found.cause.operator)


SPEC = {"shape": [2], "dtype": "float32", "elements": [1.0, -2.0]}


@pytest.mark.parametrize("language", ["js", "c"])
def test_what_a_backend_lacks_is_unsupported(tmp_path, language):
    program = {
        "version": 1, "level": 2, "heads": [[1, 0]], "arrays": {'a"\u00e9\\': SPEC},
        "steps": [{"do": "bind"}, {"do": "seed", "value": 1}],
        "nodes": [{"op": "null", "name": 'a"\u00e9\\'}, {"op": "relu", "name": "n", "inputs": [[0, 0]]}],
    }
    check_program(program)
    with command(line_of(tmp_path, language)) as backend:
        with pytest.raises(Unsupported, match="step seed"):
            backend.run(program)
        with pytest.raises(Unsupported, match="operator sign"):
            backend.run({**program, "nodes": [program["nodes"][0], {"op": "sign", "name": "n", "inputs": [[0, 0]]}]})
        with pytest.raises(Unsupported, match="without a forward pass"):
            backend.run({**program, "steps": [{"do": "bind"}, {"do": "backward", "heads": [SPEC]}]})
        trace = backend.run({**program, "steps": [
            {"do": "bind", "requirements": {'a"\u00e9\\': "write"}}, {"do": "forward"}, {"do": "outputs"},
            {"do": "read"}, {"do": "backward", "heads": [SPEC]},
        ]})
        assert {name: array.tolist() for name, array in trace.items()} == {
            "1/output0": [1, 0], "2/output0": [1, 0], '3/argument:a"\u00e9\\': [1, -2], '4/gradient:a"\u00e9\\': [1, 0],
        }
        starts = backend.starts
        with pytest.raises((Refused, Unsupported)):
            backend.run({**program, "steps": [{"do": "bind"}, {"do": "forward"}, {"do": "backward"}]})
        assert backend.starts == starts == 1


def test_every_file_is_printed(capsys, monkeypatch):
    def printed(*arguments):
        monkeypatch.setattr(sys, "argv", ["refimpl", "oracle", "file", *arguments])
        try:
            code = main()
        except SystemExit as error:
            code = error.code
        return code or 0, capsys.readouterr()

    code, said = printed()
    assert code == 0
    assert said.out.split() == "backend.c backend.js answer.json hello.json program.json request.json".split()
    for name in said.out.split():
        assert printed(name)[1].out == next(FOLDER.parent.glob(f"*/{name}")).read_text(encoding="utf-8")
    code, said = printed("backend.rs")
    assert code == 2
    assert "there is no file 'backend.rs'" in said.err


def test_the_chapter_says_how_they_are_run():
    text = CHAPTER.read_text(encoding="utf-8")
    for source in FOLDER.iterdir():
        assert re.search(rf"^refimpl oracle file {source.name} > {source.name}$", text, re.MULTILINE)
    assert "cc -O2 -std=c99 backend.c -lm -o backend\n" in text
