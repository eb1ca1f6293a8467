"""Scripts in the manner of 2015 to 2019, run unchanged by ``refimpl run``, lose what they lost under MXNet 1.9.1.

The numbers were printed by the same files under MXNet 1.9.1, with ``mx.gpu = mx.context.gpu = mx.cpu`` before they ran
(``dcgan.py`` with MXNET_MKLDNN_ENABLED=0: oneDNN fails in it).
"""

from __future__ import annotations

import ast
import logging
from pathlib import Path

import numba
import pytest

from refimpl import cli
from refimpl.name import NameManager

SCRIPTS = Path(__file__).parent / "scripts" / "unchanged"
LOSSES = {
    "custom_softmax": [
        1.886823, 2.685421, 1.53, 1.263333, 1.131313, 1.098527, 0.8465456, 0.7841003, 0.8193827, 0.6749181,
    ],
    "dcgan": [
        0.6930144, 0.6906817, 0.6879834, 0.6849368, 0.681708, 0.6781862, 0.6755368, 0.672864, 0.6724147, 0.6711236,
    ],
    "feed_forward": [
        1.871379, 1.130522, 0.8644857, 0.6248169, 0.3914393, 0.1636515, 0.06351165, 0.04530736, 0.02536931, 0.03503717,
    ],
    "lstm_bucketing": [
        2.203375, 2.173008, 2.123157, 2.072964, 2.017179, 1.976442, 1.858986, 1.9231, 1.786061, 1.610246,
    ],
    "python_loss": [
        1.156139, 1.076742, 0.6314817, 0.655192, 0.6312497, 0.5253452, 0.4651893, 0.6622195, 0.3769473, 0.2931571,
    ],
    "sparse_linear": [
        0.6912094, 0.7187562, 0.6666276, 0.7211193, 0.627891, 0.6606398, 0.6456097, 0.6656986, 0.6475146, 0.5953506,
    ],
    "ssd_like": [2.241635, 1.94569, 2.196335, 2.383815, 1.918915, 2.118906, 1.936702, 1.921578, 2.356953, 1.92863],
    "train_mlp": [
        3.582754, 2.779401, 1.538153, 1.30275, 1.214235, 0.6787874, 0.8992525, 0.6280881, 0.3063146, 1.084195,
    ],
}


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
    assert {file.stem for file in SCRIPTS.glob("*.py")} == set(LOSSES)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="training interpreted loops takes minutes")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.clause("run/import-mxnet")
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_ten_losses_are_those_of_mxnet(name, capsys):
    file = SCRIPTS / f"{name}.py"
    imported = {
        alias.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) for alias in node.names
    }
    assert "mxnet" in imported
    assert "refimpl" not in imported
    assert cli.run(["run", "--cpu", str(file)]) == 0
    out, err = capsys.readouterr()
    found = [float(word) for word in out.splitlines()[-1].split()[1:]]
    assert found == pytest.approx(LOSSES[name], rel=1e-4)
    assert "refimpl run: import mxnet was answered with refimpl" in err


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_nothing_is_missing_in_them(name, capsys):
    assert cli.run(["check", str(SCRIPTS / f"{name}.py")]) == 0
    assert " missing: 0;" in capsys.readouterr().out
