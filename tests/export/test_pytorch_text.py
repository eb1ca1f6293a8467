"""The text of PyTorch modules, without PyTorch: short, with the network's names, repeated blocks once."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.base import MXNetError
from refimpl.export.pytorch import check, write
from refimpl.export.pytorch.helpers import sources
from refimpl.export.pytorch.module import Picture, module
from refimpl.export.pytorch.weights import arrays, changed, rnn_places
from refimpl.model.networks import lenet
from refimpl.symbol.prediction import Prediction, prediction

from . import networks
from .residual_networks import resnet

networks.register_custom(mx)
NAMES = [name for name in networks.NETWORKS if name not in networks.REFUSED]


def predicted(net: mx.sym.Symbol, **shapes: Any) -> Prediction:
    args, aux = networks.parameters(net, shapes)
    return prediction(net, args, aux, shapes)


def thin(name: str) -> Prediction:
    net, args, aux = networks.network(mx, name)
    return prediction(net, args, aux, networks.shapes_of(name))


def text(found: Prediction, name: str = "net", picture: Picture | None = None) -> str:
    return module(found, name, f"{name}.safetensors", picture).text


def code(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if line.strip()]


@pytest.mark.clause("Torch/one-class")
@pytest.mark.parametrize("version", [1, 2])
def test_resnet_50_has_at_most_120_lines(version: int) -> None:
    found = text(predicted(resnet(version), data=(1, 3, 224, 224)), "resnet-50")
    assert len(found.splitlines()) <= 120
    assert re.findall(r"^class (\w+)", found, re.MULTILINE) == ["Unit", "ResNet50"]
    assert found.count("nn.Sequential(") == 4
    assert "for _ in range(5)" in found


@pytest.mark.clause("Torch/one-class")
def test_lenet_has_at_most_30_lines_of_code() -> None:
    found = text(predicted(lenet(10, (1, 28, 28)), data=(1, 1, 28, 28)), "lenet")
    assert len(code(found)) <= 30
    inside = found[found.index("class LeNet"):found.index("if __name__")]
    assert inside.strip() == """
class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.fc1 = nn.Linear(800, 500)
        self.fc2 = nn.Linear(500, 10)

    def forward(self, data):
        pool1 = F.max_pool2d(torch.tanh(self.conv1(data)), 2)
        pool2 = F.max_pool2d(torch.tanh(self.conv2(pool1)), 2)
        tanh3 = torch.tanh(self.fc1(pool2.flatten(1)))
        return F.softmax(self.fc2(tanh3), -1)
""".strip()


@pytest.mark.clause("Torch/names")
@pytest.mark.parametrize("name", NAMES)
def test_every_network_is_written_with_names_of_its_own(name: str) -> None:
    found = thin(name)
    made = text(found, name)
    tree = ast.parse(made)
    assert made == text(found, name)
    assert max(len(line) for line in made.splitlines()) <= 120
    words = {word for node in found.symbol.order() for word in re.split(r"\W|_", node.name)}
    words |= {word.rstrip("0123456789") for word in words}
    own = {one for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in _assigned(node)}
    assert own
    assert {one for one in own if not set(one.split("_")) <= words | _ARGUMENTS} == set()


_ARGUMENTS = {
    "channels", "filters", "kernel", "stride", "padding", "groups", "features", "hidden", "conv", "norm", "act",
    "dense",
}
"""Words for a layer whose name is that of its block, and for the numbers in which blocks differ."""


def _assigned(owner: ast.ClassDef) -> set[str]:
    """Variables and attributes that a class sets; ``layer_`` stands before a digit."""
    targets = [
        target for node in ast.walk(owner) if isinstance(node, ast.Assign) for target in node.targets
    ]
    names = {target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "") for target in targets}
    return {name.removeprefix("layer_").rstrip("_") for name in names if name}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_a_file_reads_is_there(name: str) -> None:
    tree = ast.parse(text(thin(name), name))
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    imported = {
        (alias.asname or alias.name).split(".")[0] for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names
    }
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert read <= stored | defined | imported | set(dir(builtins)) | {"__file__"}
    unused = imported - read
    assert unused == set()


@pytest.mark.clause("Torch/one-class")
def test_a_block_that_repeats_is_one_class_with_its_differences_as_arguments() -> None:
    made = text(thin("se-resnet"), "se-resnet")
    assert re.findall(r"^class (\w+)", made, re.MULTILINE) == ["Unit", "SeResNet"]
    assert "if with_sc else None" in made
    assert "(self.sc_bn(self.sc(x)) if self.sc_bn is not None else x)" in made
    made = text(thin("bert"), "bert")
    assert made.count("self.qkv = nn.Linear") == 1
    assert "self.layer1 = Layer()" in made


@pytest.mark.clause("Torch/one-class")
def test_a_layer_that_runs_at_every_step_is_made_once() -> None:
    made = text(thin("unrolled-lstm"))
    assert made.count("nn.Linear(") == 3
    assert made.count("self.l0_i2h(") == 3


@pytest.mark.clause("Torch/one-class")
def test_layers_that_have_one_parameter_share_it() -> None:
    data, weight = mx.sym.Variable("data"), mx.sym.Variable("table_weight")
    rows = mx.sym.Embedding(data, weight, input_dim=9, output_dim=4, name="embed")
    net = mx.sym.FullyConnected(rows, weight, num_hidden=9, no_bias=True, flatten=False, name="decode")
    made = module(predicted(net, data=(2, 3)), "tied", "tied.safetensors")
    assert "self.decode.weight = self.embed.weight" in made.text
    assert {name: held.parameter for name, held in made.state.items()} == {
        "embed.weight": "table_weight", "decode.weight": "table_weight",
    }


@pytest.mark.clause("Torch/program")
def test_the_program_has_the_size_the_mean_the_scale_and_the_labels() -> None:
    net = lenet(3, (3, 32, 32))
    picture = Picture((24, 20), (1.0, 2.0, 3.0), (0.5, 0.25, 4.0), ("cat", "dog", "it's"))
    program = text(predicted(net, data=(1, 3, 32, 32)), "lenet", picture).partition("LABELS = ")[2]
    assert ast.literal_eval(program.partition("]")[0] + "]") == ["cat", "dog", "it's"]
    assert 'ImageOps.fit(Image.open(sys.argv[1]).convert("RGB"), (20, 24))\n' in program
    assert "mean = torch.tensor([1.0, 2.0, 3.0])\n    std = torch.tensor([0.5, 0.25, 4.0])\n" in program
    assert "data = (pixels.reshape(24, 20, 3) - mean) / std\n" in program
    cropped = text(predicted(net, data=(1, 3, 32, 32)), "lenet", picture._replace(resize=26))
    assert "(26, 26)).crop((3, 1, 23, 25))" in cropped
    assert ".topk(3)" in program


@pytest.mark.clause("Torch/no-form")
def test_operators_without_a_form_are_listed_with_the_part_that_can_be_exported() -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc")
    net = mx.sym.linalg.gelqf(net, name="lq")[0]
    with pytest.raises(MXNetError, match=r"_linalg_gelqf: there is no rule for it \(lq\)") as refused:
        text(predicted(net, data=(2, 4)))
    assert "the part before the first can be exported: --until fc" in str(refused.value)


@pytest.mark.clause("Torch/weights")
def test_parameters_take_the_form_of_their_layers() -> None:
    assert changed(np.float32([3, 4]), "ones").tolist() == [1, 1]
    assert changed(np.float32([3, 4]), "each 2").tolist() == [3, 3, 4, 4]
    places = rnn_places(3, 2, 1, 0, "gru", both=False)
    assert places == {
        "weight_ih_l0": (0, (6, 3)), "weight_hh_l0": (18, (6, 2)), "bias_ih_l0": (30, (6,)), "bias_hh_l0": (36, (6,)),
    }
    vector = np.arange(42, dtype=np.float32)
    assert changed(vector, "rnn weight_hh_l0 3 2 1 0 gru 0")[0].tolist() == [18, 19]
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), fix_gamma=True, name="bn")
    found = predicted(net, data=(2, 3, 4, 4))
    made = arrays(module(found, "norm", "norm.safetensors").state, found.params)
    assert made["bn.weight"].tolist() == [1, 1, 1]
    assert made["bn.running_mean"].tolist() == found.params["bn_moving_mean"].tolist()
    assert made["bn.num_batches_tracked"].dtype == np.int64


@pytest.mark.clause("Torch/extra")
def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = thin("lenet")
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(MXNetError, match=r"written with safetensors; install it: pip install .refimpl\[pytorch\]"):
        write(found, tmp_path / "net.py")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MXNetError, match=r"run by PyTorch; install it: pip install .refimpl\[pytorch\]"):
        check(found, tmp_path / "net.py")


def test_helpers_are_whole_functions_that_name_only_each_other() -> None:
    found = sources()
    for name, each in found.items():
        tree = ast.parse(each)
        assert isinstance(tree.body[0], (ast.FunctionDef, ast.ClassDef))
        assert tree.body[0].name == name
        assert ast.get_docstring(tree.body[0])
