"""A tree without the fast road works: every call runs its page, and every loop as it reads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import road_sources

ROOT = Path(__file__).parents[2]
FOLDERS = ("kernels/blocks", "kernels/tuned", "refimpl/replay")

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
assert mx.engine.fast_road.road is None

net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4)
net = mx.sym.Pooling(mx.sym.Activation(net, act_type="tanh"), kernel=(2, 2), stride=(2, 2), pool_type="max")
net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=2)
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=[mx.cpu(0), mx.cpu(1)])
mx.random.seed(1)
labels = np.arange(16) % 2
pictures = np.random.RandomState(1).uniform(-1, 1, (16, 1, 8, 8)) + labels[:, None, None, None]
batches = mx.io.NDArrayIter(pictures, labels, batch_size=8)
rates = {"learning_rate": 0.5, "momentum": 0.5}
module.fit(batches, num_epoch=8, initializer=mx.init.Xavier(), optimizer_params=rates)
assert module.score(batches, "acc")[0][1] == 1

slope = mx.nd.ones((3,))
slope.attach_grad()
for _ in range(3):
    with mx.autograd.record():
        loss = (slope * slope).sum()
    loss.backward()
assert slope.grad.asnumpy().tolist() == [2, 2, 2]

for page in ("argmax", "dot", "fully_connected", "layer_norm", "pooling", "softmax", "sort"):
    text = importlib.import_module(f"refimpl.kernels.{page}").__doc__
    found = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, globals(), page, None, 0))
    assert found.attempted > 0 == found.failed, page
for name in ("dot", "sum", "SoftmaxActivation"):
    laws.tuned_agrees(get(name), SeededDraw(0))
    laws.fills_outputs(get(name), SeededDraw(1))
print(len(distinct()), "operators")
"""


def _run_without(folders: tuple[str, ...], program: str, place: Path) -> str:
    """What a program prints in a copy of the tree that lacks these folders."""
    leave = shutil.ignore_patterns("__pycache__")
    for folder in ("kernels", "refimpl"):
        shutil.copytree(ROOT / folder, place / folder, symlinks=True, ignore=leave)
    for folder in folders:
        shutil.rmtree(place / folder)
    environment = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(place)], cwd=place, env=environment, capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_tree_without_the_fast_road(tmp_path: Path) -> None:
    """It imports, trains on two contexts, differentiates, and runs worked examples and laws."""
    assert _run_without(FOLDERS, PROGRAM, tmp_path).endswith(" operators\n")


def test_a_tree_without_machine_code_of_our_own(tmp_path: Path) -> None:
    """Nothing is replayed without the one folder that is written for LLVM."""
    program = "import refimpl as mx; assert mx.engine.fast_road.road is None; print((mx.nd.ones(2) + 1).asnumpy())"
    assert _run_without(("kernels/tuned",), program, tmp_path) == "[2. 2.]\n"
    assert {Path(file).parent.as_posix() for file in road_sources.machine_code_writers()} == {"kernels/tuned"}
