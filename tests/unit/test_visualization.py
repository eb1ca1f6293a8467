"""Tables and pictures of networks. The tables' numbers were printed by MXNet 1.9.1 for the same symbols."""

from __future__ import annotations

import builtins
import importlib.util

import pytest

import refimpl as mx
from refimpl.networks import lenet


def table(capsys: pytest.CaptureFixture[str], symbol: mx.sym.Symbol, **options: object) -> list[list[str]]:
    """Rows of the printed table, as words."""
    mx.viz.print_summary(symbol, **options)
    return [
        line.split() for line in capsys.readouterr().out.splitlines() if line.strip("_=")
    ]


def test_summary_of_lenet(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(capsys, lenet(10, (1, 8, 8)), shape={"data": (1, 1, 8, 8)}) == [
        ["Layer", "(type)", "Output", "Shape", "Param", "#", "Previous", "Layer"],
        ["data(null)", "1x8x8", "0"],
        ["conv1(Convolution)", "20x8x8", "200", "data"],
        ["tanh1(Activation)", "20x8x8", "0", "conv1"],
        ["pool1(Pooling)", "20x4x4", "0", "tanh1"],
        ["conv2(Convolution)", "50x4x4", "9050", "pool1"],
        ["tanh2(Activation)", "50x4x4", "0", "conv2"],
        ["pool2(Pooling)", "50x2x2", "0", "tanh2"],
        ["flatten(Flatten)", "200", "0", "pool2"],
        ["fc1(FullyConnected)", "500", "100500", "flatten"],
        ["tanh3(Activation)", "500", "0", "fc1"],
        ["fc2(FullyConnected)", "10", "5010", "tanh3"],
        ["softmax(SoftmaxOutput)", "10", "0", "fc2"],
        ["Total", "params:", "114760"],
    ]


def test_summary_of_branches(capsys: pytest.CaptureFixture[str]) -> None:
    a = mx.sym.Variable("a")
    total = mx.sym.elemwise_add(mx.sym.BatchNorm(a, name="bn"), a, name="add")
    both = mx.sym.Concat(total, a, name="both")
    assert table(capsys, both, shape={"a": (2, 3, 4, 4)})[1:] == [
        ["a(null)", "3x4x4", "0"],
        ["bn(BatchNorm)", "3x4x4", "6", "a"],
        ["add(elemwise_add)", "3x4x4", "0", "bn"],
        ["a"],
        ["both(Concat)", "6x4x4", "0", "add"],
        ["a"],
        ["Total", "params:", "6"],
    ]


def test_a_shared_weight_is_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    weight = mx.sym.Variable("w_weight")
    net = mx.sym.Variable("data")
    for name in ("one", "two"):
        net = mx.sym.FullyConnected(net, weight, num_hidden=3, no_bias=True, name=name)
    rows = table(capsys, net, shape={"data": (1, 3)})
    assert rows[-1] == ["Total", "params:", "9"]


@pytest.mark.clause("Visualization/parameters-need-shape")
def test_without_shapes_nothing_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(capsys, lenet(10, (1, 8, 8)))
    assert rows[2] == ["conv1(Convolution)", "data"]
    assert rows[-1][:3] == ["Total", "params:", "unknown,"]


@pytest.mark.clause("Visualization/symbol")
@pytest.mark.parametrize("function", [mx.viz.print_summary, mx.viz.plot_network])
def test_only_symbols(function: object) -> None:
    with pytest.raises(TypeError) as caught:
        function(3)
    assert caught.value.clause == "Visualization/symbol"


@pytest.mark.clause("Visualization/shape-complete")
@pytest.mark.filterwarnings("ignore:Cannot decide shape")
def test_shapes_must_suffice() -> None:
    net = mx.sym.Variable("a") + mx.sym.FullyConnected(mx.sym.Variable("b"), num_hidden=2)
    with pytest.raises(ValueError, match="do not determine") as caught:
        mx.viz.print_summary(net, shape={"a": (2, 2)})
    assert caught.value.clause == "Visualization/shape-complete"


@pytest.mark.clause("Visualization/graphviz")
def test_drawing_needs_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "graphviz" else found(name, *rest)
    )
    with pytest.raises(ImportError) as caught:
        mx.viz.plot_network(mx.sym.Variable("a"))
    assert caught.value.clause == "Visualization/graphviz"
    assert "pip install" in str(mx.visualization.graphviz_missing())


class FakeDigraph:
    """Stands in for graphviz.Digraph, which is an extra."""

    def __init__(self, name: str, format: str) -> None:  # noqa: A002  # graphviz's name
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, str]] = []

    def node(self, name: str, **attributes: str) -> None:
        self.nodes[name] = attributes

    def edge(self, tail: str, head: str, label: str, **attributes: str) -> None:
        self.edges.append((tail, head, label))


def test_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type("graphviz", (), {"Digraph": FakeDigraph, "__spec__": None})
    plain_import = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__",
        lambda name, *rest, **also: kind if name == "graphviz" else plain_import(name, *rest, **also),
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: object())
    picture = mx.viz.plot_network(lenet(10, (1, 8, 8)), shape={"data": (1, 1, 8, 8)})
    assert picture.nodes["conv1"]["label"] == "Convolution\n3x3/1, 20"
    assert picture.nodes["pool1"]["label"] == "Pooling\nmax, 2x2/2x2"
    assert picture.nodes["fc1"]["label"] == "FullyConnected\n500"
    assert picture.nodes["tanh1"]["label"] == "Activation\ntanh"
    assert "conv1_weight" not in picture.nodes
    assert ("pool1", "tanh1", "20x8x8") in picture.edges
    assert ("softmax", "fc2", "10") in picture.edges
    whole = mx.viz.plot_network(lenet(10, (1, 8, 8)), hide_weights=False, node_attrs={"width": "2"})
    assert whole.nodes["conv1_weight"]["shape"] == "oval"
    assert whole.nodes["conv1"]["width"] == "2"
