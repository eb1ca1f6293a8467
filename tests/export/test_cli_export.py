"""refimpl export, for ONNX files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from refimpl import cli
from refimpl.onnx import writing

from . import networks
from .onnx_running import mx


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Writes the checkpoint of a network of the fixtures, and works in its folder."""
    monkeypatch.chdir(tmp_path)

    def save(name):
        net = networks.NETWORKS[name][0](mx)
        arguments, states = networks.parameters(net, networks.NETWORKS[name][1])
        mx.model.save_checkpoint(
            name, 0, net, *({key: mx.nd.array(value) for key, value in part.items()} for part in (arguments, states))
        )
        return name

    return save


def run(capsys, *words):
    code = cli.run(["export", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.clause("Cli/export", "Onnx/checked")
def test_a_checkpoint_becomes_a_file(saved, capsys):
    code, out, _ = run(capsys, saved("lenet"), 0, "-o", "net.onnx", "--input", "data=2,1,28,28")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["layer", "operator", "elements"]
    assert [line.split()[0] for line in lines[1:12]] == [
        "conv1", "tanh1", "pool1", "conv2", "tanh2", "pool2", "flatten", "fc1", "tanh3", "fc2", "softmax",
    ]
    assert lines[-2:] == ["all 12 are within their bounds", "wrote net.onnx"]
    proto = writing.imported().load_model("net.onnx")
    assert [value.name for value in proto.graph.output] == ["softmax_output"]
    assert proto.opset_import[0].version == 17


@pytest.mark.clause("Cli/export", "Onnx/free-batch")
def test_a_file_for_batches_of_any_size(saved, capsys):
    words = (saved("lenet"), 0, "-o", "net.onnx", "--input", "data=2,1,28,28", "--batch", "any", "--opset", "20")
    assert run(capsys, *words)[0] == 0
    proto = writing.imported().load_model("net.onnx")
    assert proto.opset_import[0].version == 20
    assert writing.run(proto, {"data": np.zeros((5, 1, 28, 28), np.float32)})["softmax_output"].shape == (5, 10)


@pytest.mark.clause("Cli/export", "Export/until")
def test_a_part_without_a_check(saved, capsys):
    words = (saved("lenet"), 0, "-o", "net.onnx", "--input", "data=1,1,28,28", "--until", "fc1", "--no-check")
    assert run(capsys, *words)[:2] == (0, "wrote net.onnx\n")
    assert [value.name for value in writing.imported().load_model("net.onnx").graph.output] == ["fc1_output"]


@pytest.mark.clause("Export/custom", "Export/until")
def test_a_layer_in_python_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=2, kernel=(1, 1), name="boxes")
    graph = json.loads(net.tojson())
    graph["nodes"].append({"op": "Custom", "name": "own", "attrs": {"op_type": "mine"}, "inputs": [[3, 0, 0]]})
    graph["heads"] = [[4, 0, 0]]
    (tmp_path / "net-symbol.json").write_text(json.dumps(graph))
    mx.nd.save("net-0000.params", {"arg:boxes_weight": mx.nd.ones((2, 3, 1, 1)), "arg:boxes_bias": mx.nd.zeros(2)})
    words = ("net", 0, "-o", "net.onnx", "--input", "data=1,3,4,4")
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "layer own is a Custom operator, mine" in err
    assert "--until boxes" in err
    assert "[Export/custom]" in err
    assert run(capsys, *words, "--until", "boxes")[0] == 0


@pytest.mark.clause("Cli/export", "Onnx/checked")
def test_a_layer_that_differs_ends_with_1(saved, capsys, monkeypatch):
    from refimpl.onnx.rule_table import RULES
    plain = RULES["Pooling"]
    monkeypatch.setitem(RULES, "Pooling", lambda b, p, s, x: plain(b, p._replace(pool_type="avg"), s, x))
    code, out, _ = run(capsys, saved("lenet"), 0, "-o", "net.onnx", "--input", "data=1,1,28,28")
    assert code == 1
    assert "differ; the first is pool1 (Pooling)" in out


@pytest.mark.clause("Cli/export")
def test_pictures_are_checked_too(saved, capsys, tmp_path):
    pytest.importorskip("PIL")
    from PIL import Image
    for number in range(3):
        pixels = np.random.RandomState(number).randint(0, 256, (20, 30, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
    code, out, _ = run(
        capsys, saved("mobilenet-v1"), 0, "-o", "net.onnx", "--input", "data=2,3,32,32", "--mean", "120", "--std", "60",
        "--image", "0.png", "1.png", "2.png",
    )
    assert (code, out.splitlines()[-1]) == (0, "wrote net.onnx")


@pytest.mark.clause("Cli/export")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a file that ends in .onnx or .py"),
        (("-o", "net.txt"), "name a file that ends in .onnx or .py: -o net.onnx, not net.txt"),
        (("-o", "absent/net.onnx"), "its folder does not exist"),
        (("-o", "net.onnx", "--batch", "4"), "--batch takes any, not '4'"),
        (("-o", "net.onnx", "--size", "224,224"), "--size and --labels are for PyTorch modules"),
        (("-o", "net.py", "--size", "224,no"), "--size takes height,width such as 224,224, not '224,no'"),
        (("-o", "net.py", "--batch", "any"), "--batch and --opset are for ONNX files"),
        (("-o", "net.onnx", "--input", "data"), "--input takes a name and numbers"),
        (("-o", "net.onnx", "a.png"), "pictures stand behind --image"),
        (("-o", "net.onnx", "--opset", "16", "--input", "data=1,1,28,28"), "opset 16 is not written"),
        (("-o", "net.onnx", "--input", "data=1,1,28,28", "--until", "fc9"), "no layer has the name fc9"),
    ],
)
def test_refusals(saved, capsys, words, said):
    code, out, err = run(capsys, saved("lenet"), 0, *words)
    assert (code, out) == (2, "")
    assert said in err
