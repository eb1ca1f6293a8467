"""The chapter of tutorials, and the example scripts, run in MXNet 1.9.1 when one line is changed.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_tutorials.py

PATH is as in test_mxnet.py. The numbers in the chapter are asserted there as they are here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spec import trace

from .asking import PYTHON, needs_mxnet
from .test_formats import ask

ROOT = trace.ROOT
SCRIPTS = ROOT / "tests" / "examples" / "scripts"
OURS, THEIRS = "import refimpl as mx\n", "import mxnet as mx\n"
NETWORKS = {
    "char_lstm_bucketing": ["--epochs", "1", "--lines", "1000"],
    "lenet_digits": ["--epochs", "1"],
    "matrix_factorization": ["--epochs", "2"],
    "mlp_digits": ["--epochs", "2"],
    "gan_pair": ["--epochs", "3"],  # two nets that play against each other blow up the last bit later on
    "custom_loss": [], "model_parallel": [], "sparse_linear_regression": [],
}
pytestmark = [
    pytest.mark.peer,
    needs_mxnet,
]


def test_the_chapter_runs_in_mxnet(tmp_path):
    text = (ROOT / "spec/records/tutorials.md").read_text(encoding="utf-8")
    blocks = [block[1] for block in trace.BLOCK.finditer(text)]
    assert sum(block.count(OURS) for block in blocks) == 1
    program = "import numpy as np\n" + "\n".join(blocks).replace(OURS, THEIRS)
    assert ask(f"{program}\nanswer = {len(blocks)}", tmp_path) == len(blocks)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_script_finds_the_same_in_mxnet(name, tmp_path):
    """The values that are logged after each epoch agree to a thousandth, which is how far some are printed."""
    folder = tmp_path / SCRIPTS.relative_to(ROOT)
    folder.mkdir(parents=True)
    data = tmp_path / "refimpl" / "data"
    for path in SCRIPTS.glob("*.py"):
        text = path.read_text(encoding="utf-8").replace(OURS, THEIRS)
        text = text.replace("Path(mx.__file__).parent", f"Path({str(data.parent)!r})")
        (folder / path.name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "refimpl" / "data", data, ignore=shutil.ignore_patterns("*.py*"))
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | {"PYTHONPATH": ""}
    options = NETWORKS[name]
    theirs = _epochs([PYTHON, str(folder / f"{name}.py"), *options], environment)
    ours = _epochs([sys.executable, str(SCRIPTS / f"{name}.py"), *options], environment | {"PYTHONPATH": str(ROOT)})
    assert [line for line, _ in theirs]
    assert [line for line, _ in ours] == [line for line, _ in theirs]
    assert [value for _, value in ours] == pytest.approx([value for _, value in theirs], rel=1e-3, abs=1.1e-3)


def _epochs(command: list[str], environment: dict[str, str]) -> list[tuple[str, float]]:
    """What is logged of each epoch, except times: what it is, and its value."""
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = re.findall(r"(Epoch\[\d+\] (?!Time).*)", run.stderr)
    return [
        (f"{line.split()[0]} {name}", float(value))
        for line in lines for name, value in re.findall(r"([\w-]+)=([-+.\de]+)", line)
    ]


def test_the_scripts_are_those_of_the_folder():
    assert {path.stem for path in Path(SCRIPTS).glob("*.py")} >= set(NETWORKS)
