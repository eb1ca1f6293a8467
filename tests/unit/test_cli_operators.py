"""``refimpl new-operator`` and ``refimpl check-operator``, and what usual mistakes on a page are told."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from refimpl import cli
from refimpl.cli import entry
from refimpl.cli.new_operator import Like, page_file, page_text
from refimpl.kernels import get
from refimpl.kernels.foundation import REGISTRY, MXNetError, Op, refusal, register
from refimpl.kernels.foundation.loop import python_loops
from refimpl.oracle.pages.compiled_math import given_compiled

ROOT = Path(__file__).resolve().parent.parent.parent
FILLED = {
    "BLANK: the formula in words": "sinh(x)", "BLANK: the rule as a sentence;": "The hyperbolic sine;",
    "    BLANK\n": "    ([0.0, 1.175201], [1.0, 1.543081])\n", "[1, 2]": "[0, 1]",
    "x  # BLANK: the value at x, such as math.exp(x)": "math.sinh(x)",
    "0 * x  # BLANK: head[i] times the slope at x": "math.cosh(x)", "  # BLANK: any, positive or apart?": "",
}

check_operator = importlib.import_module("refimpl.cli.check_operator")  # the package has the command by that name
new_operator = importlib.import_module("refimpl.cli.new_operator")
Written = Callable[[str], Op]


def filled() -> str:
    text = page_text("my_sinh", Like.unary)
    for blank, said in FILLED.items():
        assert blank in text
        text = text.replace(blank, said)
    return text


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    """Write a page beside the others, in effect: its operator is registered until the test ends."""
    before = set(REGISTRY)

    def load(text: str) -> Op:
        file = tmp_path / "my_sinh.py"
        file.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("refimpl.kernels.my_sinh", file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return REGISTRY["my_sinh"]

    yield load
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


def broken(op: Op, tmp_path: Path) -> dict[str, str]:
    with python_loops(given=given_compiled):  # what is compiled makes no difference, with its functions of math
        found = check_operator.verdicts(op, tmp_path / "my_sinh.py")
        return {verdict.check: verdict.problem for verdict in found if verdict.problem}


@pytest.mark.clause("Cli/check-operator")
def test_a_filled_page_keeps_all(written: Written, tmp_path: Path) -> None:
    assert broken(written(filled()), tmp_path) == {}


@pytest.mark.clause("Cli/check-operator", "Cli/new-operator")
@pytest.mark.parametrize("like", Like)
def test_blanks_are_told_with_their_lines(like: Like, written: Written, tmp_path: Path) -> None:
    text = page_text("my_sinh", like)
    told = broken(written(text), tmp_path)["page"].splitlines()
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "BLANK" in line]
    assert told == [f"{tmp_path / 'my_sinh.py'}:{number}: a blank is not filled in" for number in lines]
    assert len(lines) > 4


def line_of(text: str, piece: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if piece in line)


@pytest.mark.clause("Cli/check-operator")
@pytest.mark.parametrize(("right", "wrong", "check", "at", "told"), [
    ("math.cosh(x)", "math.sinh(x)", "gradient_is_slope", "def backward", "not the slope of forward"),
    ("out[i] =", "out[i] +=", "fills_outputs", "out[i] +=", "assign a first value with ="),
    ("math.sinh(x)", "math.shin(x)", "fills_outputs", "math.shin(x)", "module math has no shin; did you mean sinh?"),
    ("math.sinh(x)", "math.shin(x)", "examples", "math.shin(x)", "module math has no shin; did you mean sinh?"),
    ("math.sinh(x)", "sinh(x)", "fills_outputs", "= sinh(x)", "set nor imported on this page; did you mean math.sinh?"),
    ("data[i]\n", "dada[i]\n", "fills_outputs", "dada[i]", "the name dada is neither set nor imported on this page"),
    ("    cases=", "    cases=None,  # ", "page", "def forward", "give cases="),
])
def test_usual_mistakes_have_a_line_and_a_sentence(
    right: str, wrong: str, check: str, at: str, told: str, written: Written, tmp_path: Path
) -> None:
    text = filled().replace(right, wrong, 1)
    said = broken(written(text), tmp_path)[check]
    assert f"my_sinh.py:{line_of(text, at)}" in said
    assert told in said
    assert "Traceback" not in said


@pytest.mark.clause("contract/arguments")
@pytest.mark.parametrize(("right", "wrong", "told"), [
    ('infer=same_shape("my_sinh/shape")', "infer=lambda p, ins: (ins, ins)", "takes 2 arguments, it is called with 3"),
    ('needs=("data",)', "needs=()", "backward takes 4 arguments, it is called with 3 (p, 1 for heads, 0 for needs=()"),
    ("def forward(p, data, out)", "def forward(p, data)", "forward takes 2 arguments, it is called with 3"),
])
def test_wrong_numbers_of_arguments_are_refused_at_once(right: str, wrong: str, told: str, written: Written) -> None:
    with pytest.raises(MXNetError) as caught:
        written(filled().replace(right, wrong, 1))
    assert caught.value.clause == "contract/arguments"
    assert told in str(caught.value)
    assert "my_sinh.py:" in str(caught.value)


@pytest.mark.clause("contract/known-function")
def test_a_function_that_is_not_there_is_refused_before_numba(written: Written, tmp_path: Path) -> None:
    op = written(filled().replace("math.sinh(x)", "math.shin(x)"))
    verdicts = list(check_operator.verdicts(op, tmp_path / "my_sinh.py"))  # compiled, where loops are
    assert "[contract/known-function]" in verdicts[-1].problem or "has no attribute" in verdicts[-1].problem
    assert not hasattr(math, "shin")


@pytest.mark.clause("contract/unique-name")
def test_a_name_that_is_taken_names_the_other_file() -> None:
    with pytest.raises(MXNetError, match=r"relu is registered twice: by \S*unary\.py as relu, and by \S*dot\.py"):
        register(replace(get("dot"), name="relu", aliases=()))


@pytest.mark.parametrize("command", ["new-operator", "check-operator"])
@pytest.mark.clause("Cli/checkout")
def test_an_installed_package_is_no_checkout(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(new_operator.kernels, "__path__", [str(tmp_path / "kernels")])
    assert cli.run([command, "relu"]) == 2
    assert "[Cli/checkout]" in capsys.readouterr().err


@pytest.fixture
def empty_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A checkout with nothing to overwrite, should a refusal fail."""
    (tmp_path / "kernels" / "foundation").mkdir(parents=True)
    (tmp_path / "kernels" / "unary.py").touch()
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "stubs.py").touch()
    monkeypatch.setattr(new_operator.kernels, "__path__", [str(tmp_path / "kernels")])
    return tmp_path


@pytest.mark.clause("Cli/new-operator")
@pytest.mark.parametrize("name", ["relu", "two words", "unary", "foundation", "__"])
@pytest.mark.usefixtures("empty_checkout")
def test_names_that_no_new_operator_can_have(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["new-operator", name]) == 2
    assert "[Cli/new-operator]" in capsys.readouterr().err


@pytest.mark.clause("Cli/new-operator")
def test_the_file_is_written(empty_checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["new-operator", "ScaledSum", "--like", "binary"]) == 0
    assert "scaled_sum.py" in capsys.readouterr().out
    assert (empty_checkout / "kernels" / "scaled_sum.py").read_text() == page_text("ScaledSum", Like.binary)
    assert page_file("_contrib_X") == "contrib_x.py"


@pytest.mark.clause("Cli/check-operator")
def test_a_page_that_is_refused_at_import_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str) -> None:
        raise refusal("contract/arguments", f"my_sinh: infer takes 2 arguments: my_sinh.py:9 {name}")

    module = types.ModuleType("refimpl.cli")  # stands for a package whose import meets a wrong page
    module.__getattr__ = refused
    monkeypatch.setitem(sys.modules, "refimpl.cli", module)
    monkeypatch.setattr(sys, "argv", ["refimpl", "check-operator", "my_sinh"])
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "")  # set by the script, put back afterwards
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("refimpl: my_sinh: infer takes 2 arguments: my_sinh.py:9")


@pytest.mark.heavy
@pytest.mark.clause("Cli/check-operator")
def test_a_wrong_page_ends_the_script_in_one_line(tmp_path: Path) -> None:
    for folder in ("refimpl", "kernels"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True)
    text = filled().replace('needs=("data",)', "needs=()", 1)
    (tmp_path / "kernels" / "my_sinh.py").write_text(text, encoding="utf-8")
    script = tmp_path / "refimpl" / "cli" / "entry" / "__init__.py"
    code = f"import runpy; runpy.run_path({str(script)!r})['main']()"
    found = subprocess.run(
        [sys.executable, "-c", code, "check-operator", "my_sinh"], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )
    assert found.returncode == 2
    assert re.fullmatch(r"refimpl: my_sinh: backward takes 4 .*my_sinh\.py:\d+.*\n", found.stderr)
