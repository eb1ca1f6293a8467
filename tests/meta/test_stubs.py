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
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.op_registry.function import OperatorFunction
from spec import generated, stubs

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [ROOT / "tests" / "meta" / f"typed_{name}.py" for name in ("mistakes", "right", "script")]
WRONG = {
    (script.name, number) for script in SCRIPTS
    for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# error")
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
    assert len(functions) == len({(node.name, ast.unparse(node.args)) for node in functions})
    several = {name for name, times in Counter(node.name for node in functions).items() if times > 1}
    assert several == {node.name for node in functions if node.decorator_list}


@pytest.mark.parametrize("value", ["NDArray", "Symbol"])
def test_overloads_mark_what_is_required(value: str) -> None:
    found = [stub.split(")")[0] for stub in stubs.definition("LRN", stubs.signature(get("LRN"), value)).split("(")[1:]]
    assert len(found) == 2
    by_name, by_position = (text.replace("\n", " ") for text in found)
    assert re.search(r"knorm: Number \| None = 2.0, \*, +nsize: Whole,", by_name)
    assert re.search(r"knorm: Number \| None, nsize: Whole, \*,", by_position)


def argument(name: str) -> stubs.Argument:
    return stubs.Argument(name.removesuffix("="), "int", "1" if name.endswith("=") else "")


@pytest.mark.parametrize(("names", "lists"), [
    ("", [[]]),
    ("a b", [["a", "b"]]),
    ("a b=", [["a", "b="]]),
    ("a= b", [["a=", "*", "b"], ["a", "b"]]),
    ("a b= c d=", [["a", "b=", "*", "c", "d="], ["a", "b", "c", "d="]]),
    ("a= b c= d", [["a=", "*", "b", "c=", "d"], ["a", "b", "c=", "*", "d"], ["a", "b", "c", "d"]]),
    ("a= b c", [["a=", "*", "b", "c"], ["a", "b", "c"]]),
])
def test_overloads_allow_what_is_complete(names: str, lists: list[list[str]]) -> None:
    made = stubs.Signature([argument(name) for name in names.split()], [], "int").overloads()
    assert [[text.replace(": int", "").replace(" = 1", "=") for text in each] for each in made] == lists


# MXNet 1.9.1: NDArray.sum and Symbol.sum are functions of their classes, which dir() lists
@pytest.mark.parametrize("owner", [mx.nd.NDArray, mx.sym.Symbol, mx.nd.sparse.CSRNDArray])
@pytest.mark.parametrize("name", [op.method for op in distinct() if op.method])
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
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    lines = re.findall(r"^.*?(\w+\.py):(\d+): error", done.stdout, re.MULTILINE)
    assert {(name, int(line)) for name, line in lines} == WRONG, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_the_same() -> None:
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [each for each in found if each["severity"] == "error"]
    assert {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in errors} == WRONG, found
