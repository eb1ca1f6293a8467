"""Modules run in PyTorch: layers and gradients within their bounds, damages named at their layer, no refimpl needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.base import MXNetError
from refimpl.export.judging import Verdict
from refimpl.export.pytorch import RULES, check, drawn, write
from refimpl.kernels.foundation import get
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol import Symbol
from refimpl.symbol.ir import Entry, Node
from refimpl.symbol.prediction import Prediction, prediction

from . import networks
from .residual_networks import resnet

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")
networks.register_custom(mx)
NAMES = [name for name in networks.NETWORKS if name not in networks.REFUSED]
QUICK = ("lenet", "resnet-v2", "ssd", "fused-lstm", "bert")
ALONE = """
import runpy, sys
sys.modules["refimpl"], sys.argv = None, ["net.py", "picture.png"]
runpy.run_path("net.py", run_name="__main__")
"""
HELD = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters"}
PAGES = sorted(name for name in RULES if get(name).cases is not None)


def thin(name: str) -> tuple[Prediction, dict[str, np.ndarray]]:
    net, args, aux = networks.network(mx, name)
    found = prediction(net, args, aux, networks.shapes_of(name))
    given = networks.inputs(name)
    return found, {key: given[key].astype(kind) for key, (_, kind) in found.inputs.items()}


def wrong(verdicts: list[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if not verdict.ok]


def holds(name: str, folder: Path) -> None:
    found, given = thin(name)
    write(found, folder / "net.py", name)
    checked = check(found, folder / "net.py", given, name)
    layers = [node.name for node in found.symbol.order() if node.op is not None]
    assert [verdict.layer for verdict in checked.layers] == layers
    assert wrong(checked.layers) == []
    assert wrong(checked.gradients) == []
    assert all(verdict.elements for verdict in checked.layers)


@pytest.mark.clause("Torch/checked", "Torch/gradients")
@pytest.mark.parametrize("name", QUICK)
def test_every_layer_and_gradient_is_within_its_bound(name: str, tmp_path: Path) -> None:
    holds(name, tmp_path)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name in NAMES if name not in QUICK])
def test_so_is_that_of_every_other_network(name: str, tmp_path: Path) -> None:
    holds(name, tmp_path)


# --- rules --------------------------------------------------------------------------------------------


def drawn_layer(name: str, seed: int) -> tuple[Prediction, dict[str, np.ndarray]]:
    """One layer as its page draws it, with the arrays that a network would learn as parameters."""
    op = get(name)
    case = example(op, SeededDraw(seed), untied=True)
    inputs = [Node(None, f"layer_{slot}" if slot in HELD else f"given_{i}") for i, slot in enumerate(case.names)]
    node = Node(op, "layer", {}, [Entry(each, 0) for each in inputs], params=case.p)
    net = Symbol([Entry(node, index) for index in range(node.visible_count())])
    params, given = {}, {}
    for slot, each, value in zip(case.names, inputs, map(np.array, case.arrays), strict=True):
        if slot not in HELD:
            given[each.name] = value
        elif slot == "gamma" and getattr(case.p, "fix_gamma", False):
            params[each.name] = np.ones_like(value)
        else:
            params[each.name] = np.abs(value) if slot == "moving_var" else value
    taken = {key: (value.shape, value.dtype) for key, value in given.items()}
    return Prediction(net, params, taken, net.list_outputs()), given


@pytest.mark.heavy
@pytest.mark.clause("Torch/checked")
@pytest.mark.parametrize("name", PAGES)
def test_a_rule_holds_for_what_its_page_draws(name: str, tmp_path: Path) -> None:
    held = 0
    for seed in range(8):
        found, given = drawn_layer(name, seed)
        if getattr(found.symbol.entries[0].node.params, "dtype", None) == "float64":
            continue  # of inputs in single precision
        try:
            write(found, tmp_path / "net.py")
        except MXNetError as refused:
            assert getattr(refused, "clause", None) == "Torch/no-form"
            continue
        checked = check(found, tmp_path / "net.py", given, seed=seed)
        assert wrong(checked.layers) == []
        assert wrong(checked.gradients) == []
        held += len(checked.layers)
    assert held


# --- damages ------------------------------------------------------------------------------------------


def small() -> Prediction:
    """A network with what is often converted wrongly."""
    net = mx.sym.Variable("data")
    net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 0), num_filter=3, name="conv1")
    net = mx.sym.BatchNorm(net, fix_gamma=True, eps=1e-3, name="bn1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.FullyConnected(net, num_hidden=3 * 6 * 4, name="fc1")
    net = mx.sym.FullyConnected(net, num_hidden=3 * 6 * 4, name="fc2")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    args, aux = networks.parameters(net, {"data": (2, 3, 6, 6)})
    return prediction(net, args, aux, {"data": (2, 3, 6, 6)})


def damaged(folder: Path, *, text: tuple[str, str] | None = None, weights: Any = None) -> list[str]:
    """The layers that differ after a change of the file, or of its weights."""
    from safetensors.numpy import load_file, save_file

    found, file = small(), folder / "net.py"
    write(found, file)
    if text is not None:
        before = file.read_text()
        assert before.count(text[0]) == 1
        file.write_text(before.replace(*text))
    if weights is not None:
        held = load_file(str(file.with_suffix(".safetensors")))
        save_file(weights(held), str(file.with_suffix(".safetensors")))
    return [verdict.layer for verdict in wrong(check(found, file).layers)]


@pytest.mark.clause("Torch/checked")
def test_a_file_as_it_is_written_differs_nowhere(tmp_path: Path) -> None:
    assert damaged(tmp_path) == []


@pytest.mark.clause("Torch/checked")
@pytest.mark.parametrize(("layer", "text"), [
    ("conv1", ("padding=(1, 0)", "padding=(0, 1)")),
    ("bn1", ("eps=0.001", "eps=1e-05")),
    ("conv1", ("self.conv1(data)", "self.conv1(data.permute(0, 2, 3, 1).reshape(data.shape))")),
    ("conv1", ("self.conv1(data)", "self.conv1(data / 255)")),
    ("fc1", ("self.fc1(relu1.flatten(1))", "self.fc1(relu1.permute(0, 2, 3, 1).flatten(1))")),
])
def test_a_damage_of_the_text_is_named_at_its_layer(layer: str, text: tuple[str, str], tmp_path: Path) -> None:
    assert damaged(tmp_path, text=text)[0] == layer


@pytest.mark.clause("Torch/checked")
def test_a_damage_of_the_weights_is_named_at_its_layer(tmp_path: Path) -> None:
    def transposed(held: dict) -> dict:
        return {**held, "fc2.weight": np.ascontiguousarray(held["fc2.weight"].T)}

    def learnt(held: dict) -> dict:
        return {**held, "bn1.weight": held["bn1.weight"] * np.float32(1.5)}

    assert damaged(tmp_path, weights=transposed) == ["fc2"]
    assert damaged(tmp_path, weights=learnt) == ["bn1"]


@pytest.mark.clause("Torch/gradients")
def test_a_gradient_that_is_lost_or_wrong_is_named_at_its_layer(tmp_path: Path) -> None:
    found, file = small(), tmp_path / "net.py"
    twice = "F.linear(fc1, self.fc2.weight * 2 - self.fc2.weight.detach(), self.fc2.bias)"
    for before, after, layers in (
        ("self.fc1(relu1", "self.fc1(relu1.detach()", {"conv1", "bn1"}), ("self.fc2(fc1)", twice, {"fc2"}),
    ):
        write(found, file)
        text = file.read_text()
        assert text.count(before) == 1
        file.write_text(text.replace(before, after))
        checked = check(found, file)
        assert wrong(checked.layers) == []
        assert {verdict.layer for verdict in wrong(checked.gradients)} == layers


# --- the program --------------------------------------------------------------------------------------


@pytest.mark.clause("Torch/module", "Torch/program")
def test_the_file_prints_classes_in_a_folder_without_refimpl(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    net = resnet(2, (1, 1, 1, 1), (4, 8, 8, 16, 16), 6)
    args, aux = networks.parameters(net, {"data": (1, 3, 32, 32)})
    found = prediction(net, args, aux, {"data": (1, 3, 32, 32)})
    labels = ["ant", "bee", "cow", "dog", "elk", "fox"]
    write(found, tmp_path / "net.py", mean=[100, 110, 120], std=[50, 60, 70], size=[32, 32], labels=labels)
    pixels = np.random.RandomState(0).randint(0, 256, (32, 32, 3), np.uint8)
    image.fromarray(pixels).save(tmp_path / "picture.png")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    data = ((pixels - np.float32([100, 110, 120])) / np.float32([50, 60, 70])).transpose(2, 0, 1)[None]
    held = {**{key: mx.nd.array(value) for key, value in args.items()}, "data": mx.nd.array(data)}
    held["softmax_label"] = mx.nd.zeros((1,))
    executor = net.bind(
        mx.cpu(), held, aux_states={key: mx.nd.array(value) for key, value in aux.items()}, grad_req="null"
    )
    scores = executor.forward()[0].asnumpy()[0]
    printed = [re.split(r" ", line, maxsplit=1) for line in done.stdout.splitlines()]
    assert [label for _, label in printed] == [labels[number] for number in np.argsort(-scores)[:5]]
    np.testing.assert_allclose([float(score) for score, _ in printed], np.sort(scores)[::-1][:5], atol=1e-3)


@pytest.mark.clause("Torch/file")
def test_a_file_that_is_no_module_of_the_network_is_refused(tmp_path: Path) -> None:
    found, file = small(), tmp_path / "net.py"
    with pytest.raises(MXNetError, match="has no class Net"):
        write(found, file)
        file.write_text("import torch\n")
        check(found, file)
    write(found, file)
    file.with_suffix(".safetensors").unlink()
    with pytest.raises(MXNetError, match=r"net\.safetensors does not exist"):
        check(found, file)


# --- verify -------------------------------------------------------------------------------------------


def saved(folder: Path) -> str:
    """A checkpoint of the small network."""
    found = small()
    args = {key: mx.nd.array(value) for key, value in found.params.items() if "moving" not in key}
    aux = {key: mx.nd.array(value) for key, value in found.params.items() if "moving" in key}
    mx.model.save_checkpoint(str(folder / "small"), 0, found.symbol, args, aux)
    write(found, folder / "net.py")
    return str(folder / "small")


@pytest.mark.clause("Verify/module")
def test_verify_takes_a_module_that_export_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix, file = saved(tmp_path), tmp_path / "net.py"
    command = ["verify", prefix, "0", str(file), "--shape", "data=2,3,6,6"]
    assert cli.run(command) == 0
    assert "6 outputs of layers compared" in " ".join(capsys.readouterr().out.split())
    file.write_text(file.read_text().replace("eps=0.001", "eps=0.1"))
    assert cli.run(command) == 1
    assert "the first layer that differs: bn1 (BatchNorm)" in capsys.readouterr().out


@pytest.mark.clause("Verify/module")
def test_verify_takes_a_module_that_somebody_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix, file = saved(tmp_path), tmp_path / "own.py"
    file.write_text("""
import torch
from torch import nn


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.ModuleDict({"conv1": nn.Conv2d(3, 3, 3, padding=(1, 0)), "bn1": nn.BatchNorm2d(3, eps=EPS)})
        self.fc1, self.fc2 = nn.Linear(72, 72), nn.Linear(72, 72)

    def forward(self, x):
        x = torch.relu(self.body["bn1"](self.body["conv1"](x))).flatten(1)
        return torch.softmax(self.fc2(self.fc1(x)), 1)
""".replace("EPS", "1e-3"))
    state = {name.replace("conv1.", "body.conv1.").replace("bn1.", "body.bn1."): value for name, value in
             _state(tmp_path / "net.safetensors").items()}
    torch.save(state, file.with_suffix(".pt"))
    command = ["verify", prefix, "0", str(file), "--shape", "data=2,3,6,6"]
    assert cli.run(command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "5 outputs of layers compared" in said
    assert "not in the reference: relu1_output" in said
    file.write_text(file.read_text().replace("padding=(1, 0)", "padding=(0, 1)").replace("1e-3", "0.1"))
    assert cli.run(command) == 1
    assert "the first layer that differs: conv1 (Convolution)" in capsys.readouterr().out


def _state(path: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(str(path))


@pytest.mark.clause("Verify/onnx")
def test_verify_takes_an_onnx_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    prefix, file = saved(tmp_path), tmp_path / "net.onnx"
    assert cli.run(["export", prefix, "0", "-o", str(file), "--input", "data=2,3,6,6", "--no-check"]) == 0
    assert cli.run(["verify", prefix, "0", str(file), "--shape", "data=2,3,6,6"]) == 0
    assert "no layer differs by more than rounding" in capsys.readouterr().out


@pytest.mark.clause("Verify/reference")
def test_verify_refuses_an_epoch_behind_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = saved(tmp_path)
    assert cli.run(["verify", prefix, "0", str(tmp_path / "net.py"), "3"]) != 0
    assert "an epoch belongs to a second checkpoint" in capsys.readouterr().err


def test_what_is_fed_suits_the_layers_that_read_it() -> None:
    found, _ = thin("bert")
    given = drawn(found)
    assert given["data"].max() < 20
    assert set(np.unique(given["token_types"])) <= {0, 1}
    assert {name: value.shape for name, value in given.items()} == {n: s for n, (s, _) in found.inputs.items()}
