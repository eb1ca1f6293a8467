"""A tree without the folders of twins works: every loop runs as its page reads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TWINS = ("blocks", "tuned")

PROGRAM = """
import doctest
import importlib
import sys

import numpy as np

import refimpl as mx
from refimpl.kernels import distinct, get, grad, run
from refimpl.kernels.foundation import LOOPS
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw

assert mx.__file__.startswith(sys.argv[1]), mx.__file__
assert not any(loop._tuned or loop._by_blocks for loop in LOOPS)

net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4)
net = mx.sym.Pooling(mx.sym.Activation(net, act_type="tanh"), kernel=(2, 2), stride=(2, 2), pool_type="max")
net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=2)
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
mx.random.seed(1)
labels = np.arange(16) % 2
pictures = np.random.RandomState(1).uniform(-1, 1, (16, 1, 8, 8)) + labels[:, None, None, None]
batches = mx.io.NDArrayIter(pictures, labels, batch_size=8)
rates = {"learning_rate": 0.5, "momentum": 0.5}
module.fit(batches, num_epoch=8, initializer=mx.init.Xavier(), optimizer_params=rates)
assert module.score(batches, "acc")[0][1] == 1

for page in ("argmax", "dot", "fully_connected", "layer_norm", "pooling", "softmax", "sort"):
    text = importlib.import_module(f"refimpl.kernels.{page}").__doc__
    found = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, globals(), page, None, 0))
    assert found.attempted > 0 == found.failed, page
for name in ("dot", "sum", "SoftmaxActivation"):
    laws.tuned_agrees(get(name), SeededDraw(0))
    laws.fills_outputs(get(name), SeededDraw(1))
print(len(distinct()), "operators")
"""


def test_a_tree_without_twins(tmp_path: Path) -> None:
    """It imports, trains, and runs worked examples and laws."""
    leave = shutil.ignore_patterns("__pycache__", *TWINS)
    for folder in ("kernels", "refimpl"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=leave)
    assert not any((tmp_path / "refimpl" / "kernels" / folder).exists() for folder in TWINS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" operators\n")
