"""Scripts in the manner of 2015 to 2019, run unchanged by ``refimpl run``, give what they gave under MXNet 1.9.1.

The losses, what else is printed, and the weights that each saves were recorded from the same files under MXNet 1.9.1
(see ``recorded.py``); REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/examples runs them again.
"""

from __future__ import annotations

import ast
import logging
import re
from pathlib import Path

import numba
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.context import num_gpus
from refimpl.kernels.foundation.devices import SIMULATED
from refimpl.name import NameManager

from .recorded import (
    CLUSTERS,
    PEER,
    QUIRKS,
    RECORDED,
    SCRIPTS,
    assert_same,
    digests,
    printed,
    recorded,
    under_mxnet,
)

NAMES = sorted(file.stem for file in SCRIPTS.glob("*.py"))


def highest_gpu(name):
    """The number of the last GPU that a script names, or -1."""
    numbers = re.findall(r"gpu\((\d*)\)", (SCRIPTS / f"{name}.py").read_text(encoding="utf-8"))
    return max((int(number or 0) for number in numbers), default=-1)


@pytest.fixture(autouse=True)
def as_in_a_process(tmp_path, monkeypatch):
    """What a script leaves in a process that ends with it: names that were counted, and how the root logger writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    with NameManager():
        yield
    root.setLevel(level)
    root.handlers[:] = handlers


def test_every_script_is_recorded():
    assert sorted(file.stem for file in RECORDED.glob("*.json")) == NAMES
    for name in NAMES:
        assert len(recorded(name)["losses"]) >= 10, name
        assert recorded(name)["weights"], name


@pytest.mark.heavy
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="training interpreted loops takes minutes")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.clause("run/import-mxnet")
@pytest.mark.parametrize("name", NAMES)
def test_losses_and_weights_are_those_of_mxnet(name, capsys):
    run_and_compare(name, capsys, "--cpu")


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED or not num_gpus(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in NAMES if highest_gpu(name) >= 0])
def test_losses_and_weights_on_a_gpu(name, capsys):
    if highest_gpu(name) >= num_gpus():
        pytest.skip(f"needs {highest_gpu(name) + 1} CUDA devices; there are {num_gpus()}")
    run_and_compare(name, capsys)


def run_and_compare(name, capsys, *options):
    file = SCRIPTS / f"{name}.py"
    imported = {
        alias.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) for alias in node.names
    }
    assert "mxnet" in imported
    assert "refimpl" not in imported
    workers, servers = CLUSTERS.get(name, (None, None))
    cluster = ["-n", str(workers), "-s", str(servers)] if workers else []
    with mx.quirks(*QUIRKS.get(name, [])):
        assert cli.run(["run", *options, *cluster, str(file)]) == 0
    out, err = capsys.readouterr()
    weights = digests({
        f"{saved.stem} {array}": values.asnumpy()
        for saved in Path.cwd().glob("*.params") for array, values in mx.nd.load(str(saved)).items()
    })
    assert_same(printed(out) | {"weights": weights}, recorded(name))
    assert "refimpl run: import mxnet was answered with refimpl" in err


@pytest.mark.peer
@pytest.mark.skipif(not PEER, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1")
@pytest.mark.parametrize("name", NAMES)
def test_mxnet_still_says_so(name):
    assert_same(under_mxnet(name), recorded(name), loosest=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_missing_in_them(name, capsys):
    assert cli.run(["check", str(SCRIPTS / f"{name}.py")]) == 0
    assert " missing: 0;" in capsys.readouterr().out
