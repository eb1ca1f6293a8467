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

from .test_formats import PYTHON, ask

ROOT = trace.ROOT
SCRIPTS = ROOT / "tests" / "examples" / "scripts"
OURS, THEIRS = "import refimpl as mx\n", "import mxnet as mx\n"
NETWORKS = {
    "char_lstm_bucketing": ["--epochs", "1", "--lines", "1000"],
    "lenet_digits": ["--epochs", "1"],
    "matrix_factorization": ["--epochs", "2"],
    "mlp_digits": ["--epochs", "2"],
}
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(not PYTHON, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1"),
]


def test_the_chapter_runs_in_mxnet(tmp_path):
    text = (ROOT / "spec" / "tutorials.md").read_text(encoding="utf-8")
    blocks = [block[1] for block in trace.BLOCK.finditer(text)]
    assert sum(block.count(OURS) for block in blocks) == 1
    program = "import numpy as np\n" + "\n".join(blocks).replace(OURS, THEIRS)
    assert ask(f"{program}\nanswer = {len(blocks)}", tmp_path) == len(blocks)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_script_finds_the_same_in_mxnet(name, tmp_path):
    """The values that are logged after each epoch agree to a thousandth."""
    for path in SCRIPTS.glob("*.py"):
        text = path.read_text(encoding="utf-8").replace(OURS, THEIRS)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "refimpl" / "data", tmp_path / "data", ignore=shutil.ignore_patterns("*.py*"))
    options = [*NETWORKS[name], *(["--data", str(tmp_path / "data")] if "digits" in name else [])]
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | {"PYTHONPATH": ""}
    theirs = _epochs([PYTHON, str(tmp_path / f"{name}.py"), *options], environment)
    ours = _epochs([sys.executable, str(SCRIPTS / f"{name}.py"), *options], environment | {"PYTHONPATH": str(ROOT)})
    assert theirs
    assert ours == pytest.approx(theirs, rel=1e-3)


def _epochs(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    found = re.findall(r"(Epoch\[\d+\] (?:Train|Validation)-\S+)=(\S+)", run.stderr)
    return {key: float(value) for key, value in found}


def test_the_scripts_are_those_of_the_folder():
    assert {path.stem for path in Path(SCRIPTS).glob("*.py")} >= set(NETWORKS)
