"""Scripts in the manner of 2015 to 2019, run unchanged by ``refimpl run``, lose what they lost under MXNet 1.9.1.

The numbers were printed by the same files under MXNet 1.9.1, run by ``UNDER_MXNET``;
REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/examples runs them again (see tests/peers).
"""

from __future__ import annotations

import ast
import logging
import os
import subprocess
from pathlib import Path

import numba
import pytest

from refimpl import cli
from refimpl.name import NameManager

SCRIPTS = Path(__file__).parent / "scripts" / "unchanged"
PEER = os.environ.get("REFIMPL_MXNET_PYTHON", "")
UNDER_MXNET = """
import runpy, sys
import mxnet as mx
mx.gpu = mx.context.gpu = mx.cpu
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
SETTINGS = {"dcgan": {"MXNET_MKLDNN_ENABLED": "0"}}
"""dcgan: oneDNN fails in it."""
LOSSES = {
    "actor_critic": [
        1.322578, 0.9947723, 1.059429, 1.069351, 0.9221103, 1.146948, 0.9785326, 1.416848, 1.470059, 1.399242,
    ],
    "autoencoder": [
        0.7574392, 0.7686014, 0.6975754, 0.6192872, 0.5358231, 0.5615225, 0.6162859, 0.4732054, 0.4824457, 0.5327559,
    ],
    "autograd_loop": [
        1.30433, 0.3467541, 0.280042, 0.3443886, 0.2372284, 0.1606674, 0.1011786, 0.1452367, 0.08987135, 0.05887267,
    ],
    "custom_softmax": [
        1.886823, 2.685421, 1.53, 1.263333, 1.131313, 1.098527, 0.8465456, 0.7841003, 0.8193827, 0.6749181,
    ],
    "dcgan": [
        0.6930144, 0.6906817, 0.6879834, 0.6849368, 0.681708, 0.6781862, 0.6755368, 0.672864, 0.6724147, 0.6711236,
    ],
    "factorization_machine": [
        0.6858174, 0.6417435, 0.6600602, 0.6326412, 0.7029678, 0.7019375, 0.6295115, 0.641903, 0.7641708, 0.6449846,
    ],
    "feed_forward": [
        1.871379, 1.130522, 0.8644857, 0.6248169, 0.3914393,
        0.1636515, 0.06351165, 0.04530736, 0.02536931, 0.03503717,
    ],
    "lstm_bucketing": [
        2.203375, 2.173008, 2.123157, 2.072964, 2.017179, 1.976442, 1.858986, 1.9231, 1.786061, 1.610246,
    ],
    "matrix_fact": [
        1.5952017344, 0.876677355161, 0.968277564588, 1.00370637063, 0.812934173852,
        0.839147913408, 0.75321495808, 0.936492162634, 0.942905799036, 0.960632647007,
    ],
    "python_loss": [
        1.156139, 1.076742, 0.6314817, 0.655192, 0.6312497, 0.5253452, 0.4651893, 0.6622195, 0.3769473, 0.2931571,
    ],
    "resnet_like": [
        1.434993, 1.072319, 1.25432, 1.021142, 0.977163, 0.950272, 0.7012587, 0.7357879, 0.66199, 0.62973,
    ],
    "rfcn_like": [
        1.694207, 1.399501, 1.723194, 1.388487, 1.456699, 1.331102, 1.506331, 1.339059, 1.244014, 1.253308,
    ],
    "sparse_linear": [
        0.6912094, 0.7187562, 0.6666276, 0.7211193, 0.627891, 0.6606398, 0.6456097, 0.6656986, 0.6475146, 0.5953506,
    ],
    "ssd_like": [
        2.241635, 1.94569, 2.196335, 2.383815, 1.918915, 2.118906, 1.936702, 1.921578, 2.356953, 1.92863,
    ],
    "text_cnn": [
        0.5650355, 0.2922986, 0.7175829, 0.6555354, 0.7854203, 0.7424476, 0.8355997, 0.6325273, 0.6928714, 0.6294459,
    ],
    "train_mlp": [
        3.582754, 2.779401, 1.538153, 1.30275, 1.214235, 0.6787874, 0.8992525, 0.6280881, 0.3063146, 1.084195,
    ],
}
FLOAT64 = {"matrix_fact"}


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
    assert found == pytest.approx(LOSSES[name], rel=1e-6 if name in FLOAT64 else 1e-4)
    assert "refimpl run: import mxnet was answered with refimpl" in err


@pytest.mark.peer
@pytest.mark.skipif(not PEER, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1")
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_mxnet_still_says_so(name):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | SETTINGS.get(name, {})
    done = subprocess.run(
        [PEER, "-c", UNDER_MXNET, SCRIPTS / f"{name}.py"], capture_output=True, text=True, env=environment, check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [float(word) for word in done.stdout.splitlines()[-1].split()[1:]]
    assert found == pytest.approx(LOSSES[name], rel=1e-6)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_nothing_is_missing_in_them(name, capsys):
    assert cli.run(["check", str(SCRIPTS / f"{name}.py")]) == 0
    assert " missing: 0;" in capsys.readouterr().out
