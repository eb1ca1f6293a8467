"""``refimpl warm``: what it runs, that nothing is left to compile afterwards, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.cli import warming

FIXTURES = Path(__file__).parents[1] / "fixtures"
RESIDUAL, DETECTOR = str(FIXTURES / "residual"), str(FIXTURES / "detector")


def small() -> mx.sym.Symbol:
    net = mx.sym.Variable("data")
    for number in range(3):  # the second and the third are used alike
        net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden=4, name=f"fc{number}"), act_type="relu")
    return mx.sym.SoftmaxOutput(net + net, name="softmax")


def test_each_use_of_an_operator_is_a_part() -> None:
    found = warming.parts(small(), {"data": (2, 6)}, {"data": np.float32})
    assert {name: len(uses) for name, uses in found.items()} == {
        "FullyConnected": 2, "Activation": 1, "elemwise_add": 1, "SoftmaxOutput": 1,
    }
    shapes = [dict(part.shapes) for part in found["FullyConnected"]]
    assert shapes == [{"in0": (2, width), "in1": (4, width), "in2": (4,)} for width in (6, 4)]
    (twice,) = found["elemwise_add"]
    assert twice.shapes == (("in0", (2, 4)),)
    assert dict(found["SoftmaxOutput"][0].types) == {"in0": "float32", "in1": "float32"}


def test_states_of_an_operator_follow_from_its_data() -> None:
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn")
    (part,) = warming.parts(net, {"data": (2, 3, 4, 4)}, {"data": np.float16})["BatchNorm"]
    assert dict(part.shapes) == {"in0": (2, 3, 4, 4), "in1": (3,), "in2": (3,)}
    assert dict(part.types) == {"in0": "float16", "in1": "float32", "in2": "float32"}
    bound = mx.sym.load_json(part.text).simple_bind(mx.cpu(), "null", dict(part.types), **dict(part.shapes))
    assert bound.forward()[0].shape == (2, 3, 4, 4)


@pytest.mark.parametrize("train", [False, True])
def test_a_part_is_run(monkeypatch: pytest.MonkeyPatch, train: bool) -> None:
    uses = warming.parts(small(), {"data": (2, 6)}, {"data": np.float32})["FullyConnected"]
    made, backward = [], mx.executor.Executor.backward
    monkeypatch.setattr(mx.executor.Executor, "backward", lambda *given: made.append(given) or backward(*given))
    assert warming.run(uses, train).kernels == 0  # this process does not listen
    assert len(made) == 2 * train


def test_a_part_without_inputs_is_run() -> None:
    """As the first states of cells that are unrolled."""
    data = mx.sym.Variable("data")
    for shape in ((2, 3), (0, 3)):  # 0: what the data says
        uses = warming.parts(data + mx.sym.zeros(shape, name="begin"), {"data": (2, 3)}, {"data": np.float32})
        assert [part.shapes for part in uses["_zeros"]] == [()]
        assert warming.run(uses["_zeros"], True).kernels == 0  # this process does not listen


@pytest.mark.clause("Cli/warm")
@pytest.mark.parametrize("words", [[RESIDUAL], [RESIDUAL, "4", "--train"]])
def test_a_network_is_run_whole(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert cli.run(["warm", *words, "--jobs", "1"]) == 0
    assert re.fullmatch(r"compiled \d+ kernels \(\d+\.\d s of compilation\) in \d+\.\d s\n", capsys.readouterr().out)


@pytest.mark.heavy
@pytest.mark.clause("Cli/warm")
def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    def warm(*words: str) -> int:
        environment = {**os.environ, "REFIMPL_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-m", "refimpl.cli", "warm", RESIDUAL, "4", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(re.findall(r"compiled (\d+) kernels", done.stdout)[0])

    assert warm("--train", "--jobs", "2") > 10
    assert warm("--train", "--jobs", "1") == 0
    code = (
        "import refimpl as mx, sys; from refimpl.cli.compiling import watched\n"
        "with watched(lambda watch: None) as watch:\n"
        f"    module = mx.mod.Module.load({RESIDUAL!r}, 4)\n"
        "    module.bind([('data', (1, 3, 16, 16))], [('softmax_label', (1,))])\n"
        "    module.init_optimizer(optimizer_params={'momentum': 0.9})\n"
        "    module.forward_backward(mx.io.DataBatch([mx.nd.ones((1, 3, 16, 16))], [mx.nd.ones(1)]))\n"
        "    module.update()\n"
        "    mx.nd.waitall()\n"
        "sys.exit(watch.done)\n"
    )
    environment = {**os.environ, "REFIMPL_CACHE_DIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.clause("Cli/warm-process")
def test_a_killed_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def killed(*unused: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(warming, "compile_parts", killed)
    assert cli.run(["warm", RESIDUAL, "--jobs", "2"]) == 2
    assert "[Cli/warm-process]" in capsys.readouterr().err


@pytest.mark.clause("Cli/optimizer", "Cli/input-shape", "Cli/checkpoint-exists", "Cli/fits-network", "Cli/input-name")
@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Cli/optimizer", [RESIDUAL, "--optimizer", "sdg"]),
        ("Cli/input-shape", [DETECTOR, "4"]),
        ("Cli/checkpoint-exists", ["gone"]),
        ("Cli/checkpoint-exists", [RESIDUAL, "5"]),
        ("Cli/fits-network", [RESIDUAL, "4", "--shape", "data=1,4,16,16"]),
        ("Cli/input-name", [RESIDUAL, "4", "--shape", "date=1,4,16,16"]),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], clause: str, words: list[str]) -> None:
    assert cli.run(["warm", *words]) == 2
    streams = capsys.readouterr()
    assert f"[{clause}]" in streams.err
    assert streams.err.count("\n") == 1
