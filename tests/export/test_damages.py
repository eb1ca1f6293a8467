"""Six conversions that went wrong, each named at its layer: in an ONNX file and in a PyTorch module."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.symbol.prediction import prediction

SHAPE = (2, 3, 6, 6)
DAMAGES = {
    "no scale of 1/255": "scaled", "another pad": "conv1", "learnt gamma": "bn1", "another epsilon": "bn1",
    "NHWC": "flatten", "transposed weights": "fc2",
}


def parts():
    """A network with what is often converted wrongly, and its arrays; the file's gamma is not the fixed one."""
    net = mx.sym.Variable("data")
    net = mx.sym.broadcast_mul(net, mx.sym.Variable("scale_weight", shape=(1,)), name="scaled")
    net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 0), num_filter=3, name="conv1")
    net = mx.sym.BatchNorm(net, fix_gamma=True, eps=1e-3, name="bn1")
    net = mx.sym.Flatten(mx.sym.Activation(net, act_type="relu", name="relu1"), name="flatten")
    net = mx.sym.FullyConnected(net, num_hidden=72, name="fc1")
    net = mx.sym.FullyConnected(net, num_hidden=72, name="fc2")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    random = np.random.RandomState(5)
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=SHAPE)[0], strict=True))
    args = {
        name: random.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()
        if name not in ("data", "softmax_label")
    }
    args |= {"scale_weight": np.float32([1 / 255]), "bn1_gamma": np.float32([0.5, 1.5, 2.5])}
    states = {"bn1_moving_mean": np.float32([0.1, 0, -0.1]), "bn1_moving_var": np.float32([2e-3, 0.01, 4e-3])}
    return net, args, states


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The prefix of the network's checkpoint."""
    net, args, states = parts()
    prefix = str(tmp_path_factory.mktemp("damages") / "small")
    arrays = ({name: mx.nd.array(value) for name, value in held.items()} for held in (args, states))
    mx.model.save_checkpoint(prefix, 0, net, *arrays)
    return prefix


def told_by_verify(prefix, file, capsys):
    """The layer that ``refimpl verify`` names first, or None."""
    capsys.readouterr()
    code = cli.run(["verify", prefix, "0", str(file), "--shape", f"data={','.join(map(str, SHAPE))}", "--json"])
    first = json.loads(capsys.readouterr().out)["first"]
    assert code == int(first is not None)
    return first and first["layer"]


# --- ONNX ---------------------------------------------------------------------------------------------


def damage_model(onnx, proto, damage):
    """Change a model, as a wrong converter would have written it."""
    nodes = {name: node for node in proto.graph.node for name in node.output}
    stored = {value.name: value for value in proto.graph.initializer}

    def exchange(name, change):
        value = onnx.numpy_helper.to_array(stored[name])
        stored[name].CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(change(value)), name))

    def attribute(node, name):
        return next(each for each in node.attribute if each.name == name)

    if damage == "no scale of 1/255":
        exchange("scale_weight", np.ones_like)
    elif damage == "another pad":
        attribute(nodes["conv1_output"], "pads").ints[:] = [0, 1, 0, 1]
    elif damage == "learnt gamma":
        exchange(nodes["bn1_output"].input[1], lambda _: parts()[1]["bn1_gamma"])
    elif damage == "another epsilon":
        attribute(nodes["bn1_output"], "epsilon").f = 1e-5
    elif damage == "NHWC":
        place = list(proto.graph.node).index(nodes["flatten_output"])
        proto.graph.node.insert(
            place, onnx.helper.make_node("Transpose", ["relu1_output"], ["turned"], perm=[0, 2, 3, 1])
        )
        proto.graph.node[place + 1].input[0] = "turned"
    else:
        exchange("fc2_weight", np.transpose)


@pytest.mark.clause("Onnx/checked", "Verify/onnx")
@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_in_an_onnx_file(damage, saved, tmp_path, capsys):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install refimpl[onnx]")
    onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install refimpl[onnx]")
    from refimpl.export.onnx_check import check
    from refimpl.onnx import writing
    from refimpl.onnx.converting import converted

    found = prediction(*parts(), {"data": SHAPE})
    graph = converted(found.symbol, found.params, found.inputs)
    proto = writing.model(graph)
    if damage is not None:
        damage_model(onnx, proto, damage)
    given = {"data": np.random.RandomState(0).randint(0, 256, SHAPE).astype(np.float32)}
    wrong = [verdict.layer for verdict in check(found, graph, proto, given) if not verdict.ok]
    assert wrong[:1] == ([] if damage is None else [DAMAGES[damage]])
    onnx.save(proto, tmp_path / "net.onnx")
    assert told_by_verify(saved, tmp_path / "net.onnx", capsys) == DAMAGES.get(damage)


# --- PyTorch ------------------------------------------------------------------------------------------

TEXTS = {
    "another pad": ("padding=(1, 0)", "padding=(0, 1)"), "another epsilon": ("eps=0.001", "eps=1e-05"),
    "NHWC": (".flatten(1)", ".permute(0, 2, 3, 1).flatten(1)"),
}
WEIGHTS = {
    "no scale of 1/255": ("scale_weight", np.ones_like), "transposed weights": ("fc2.weight", np.transpose),
    "learnt gamma": ("bn1.weight", lambda _: parts()[1]["bn1_gamma"]),
}


@pytest.mark.clause("Torch/checked", "Verify/module")
@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_in_a_pytorch_module(damage, saved, tmp_path, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install refimpl[pytorch]")
    files = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    from refimpl.export.pytorch import check, write

    found, file = prediction(*parts(), {"data": SHAPE}), tmp_path / "net.py"
    write(found, file)
    if damage in TEXTS:
        text = file.read_text()
        assert text.count(TEXTS[damage][0]) == 1
        file.write_text(text.replace(*TEXTS[damage]))
    elif damage in WEIGHTS:
        name, change = WEIGHTS[damage]
        held = files.load_file(file.with_suffix(".safetensors"))
        changed = {name: np.ascontiguousarray(change(held[name]))}
        files.save_file(held | changed, file.with_suffix(".safetensors"))
    given = {"data": np.random.RandomState(0).randint(0, 256, SHAPE).astype(np.float32)}
    wrong = [verdict.layer for verdict in check(found, file, given, gradients=False).layers if not verdict.ok]
    assert wrong[:1] == ([] if damage is None else [DAMAGES[damage]])
    assert told_by_verify(saved, file, capsys) == DAMAGES.get(damage)
