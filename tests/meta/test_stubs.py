"""The stubs of operator functions are fresh, and with them a type checker finds mistakes in scripts."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import refimpl as mx
from refimpl.op_registry import methods
from refimpl.op_registry.function import OperatorFunction
from spec import generated, stubs

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "meta" / "typed_script.py"
WRONG = {
    number for number, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# error")
}


def test_the_files_are_fresh() -> None:
    assert [str(file) for file in generated.outdated(stubs.files())] == [], "run python spec/stubs.py"


def test_a_file_that_is_out_of_date_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(stubs, "HEADING", "# Another heading.\n")
    assert stubs.main(["--check"]) == 1
    assert "refimpl/ndarray/op.pyi is out of date: run python spec/stubs.py" in capsys.readouterr().out


@pytest.mark.parametrize("file", stubs.files(), ids=lambda file: "/".join(file.parts[-2:]))
def test_a_stub_has_no_name_twice(file: Path) -> None:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = [node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.FunctionDef)]
    assert functions
    assert len(functions) == len({node.name for node in functions})


# MXNet 1.9.1: NDArray.sum and Symbol.sum are functions of their classes, which dir() lists
@pytest.mark.parametrize("owner", [mx.nd.NDArray, mx.sym.Symbol, mx.nd.sparse.CSRNDArray])
@pytest.mark.parametrize("name", methods.NAMES)
def test_operator_methods_are_attributes_of_the_class(owner: type, name: str) -> None:
    method = getattr(owner, name)
    assert callable(method)
    assert name in dir(owner)
    assert method.__doc__
    assert inspect.signature(method).parameters
    assert method.__name__ == name


def test_a_method_of_the_class_can_be_called() -> None:
    assert mx.nd.NDArray.sum(mx.nd.array([[1, 2], [3, 4]]), axis=1).asnumpy().tolist() == [3, 7]
    assert mx.sym.Symbol.exp(mx.sym.Variable("x"), name="e").name == "e"


# mx.nd.__all__ of MXNet 1.9.1 holds the operators too; a type checker shows of an installed package what is in it
@pytest.mark.parametrize("module", [
    mx.nd, mx.nd.contrib, mx.nd.image, mx.nd.linalg, mx.nd.op, mx.nd.sparse,
    mx.sym, mx.sym.contrib, mx.sym.image, mx.sym.linalg, mx.sym.op, mx.sym.sparse,
], ids=lambda module: module.__name__)
def test_operators_are_exported(module: ModuleType) -> None:
    made = {name for name, each in vars(module).items() if isinstance(each, OperatorFunction)}
    assert made <= set(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason='mypy is not installed: pip install -e ".[lint]"')
def test_mypy_finds_the_mistakes_of_a_script_and_no_others(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--no-error-summary", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    lines = re.findall(rf"^.*{SCRIPT.name}:(\d+): error", done.stdout, re.MULTILINE)
    assert {int(line) for line in lines} == WRONG, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_the_same() -> None:
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"} == WRONG, found
