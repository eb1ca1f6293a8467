"""Tables and pictures of networks. The tables' numbers were printed by MXNet 1.9.1 for the same symbols."""

from __future__ import annotations

import builtins
import importlib.util

import pytest

import refimpl as mx
from refimpl import operator
from refimpl.model.networks import lenet


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


def block() -> mx.sym.Symbol:
    """A residual block with grouped convolution and batch normalization."""
    data = mx.sym.Variable("data")
    net = mx.sym.Activation(mx.sym.BatchNorm(data, name="bn"), act_type="relu", name="relu")
    net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=8, num_group=2, no_bias=True, name="conv")
    net = mx.sym.elemwise_add(net, mx.sym.Convolution(data, kernel=(1, 1), num_filter=8, name="short"), name="add")
    return mx.sym.Pooling(
        mx.sym.LeakyReLU(net, name="leaky"), global_pool=True, kernel=(1, 1), pool_type="avg", name="pool"
    )


def recurrent() -> mx.sym.Symbol:
    """Words, cut into steps: operators with several outputs."""
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=100, output_dim=16, name="words")
    steps = mx.sym.SliceChannel(words, num_outputs=3, axis=1, squeeze_axis=True, name="steps")
    hidden = mx.sym.FullyConnected(steps[0], num_hidden=8, name="i2h")
    return mx.sym.Concat(hidden, steps[2], dim=1, name="both")


def test_summary_of_a_residual_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(capsys, block(), shape={"data": (2, 4, 8, 8)})[1:] == [
        ["data(null)", "4x8x8", "0"],
        ["bn(BatchNorm)", "4x8x8", "8", "data"],
        ["relu(Activation)", "4x8x8", "0", "bn"],
        ["conv(Convolution)", "8x8x8", "144", "relu"],
        ["short(Convolution)", "8x8x8", "40", "data"],
        ["add(elemwise_add)", "8x8x8", "0", "conv"],
        ["short"],
        ["leaky(LeakyReLU)", "8x8x8", "0", "add"],
        ["pool(Pooling)", "8x1x1", "0", "leaky"],
        ["Total", "params:", "192"],
    ]


@pytest.mark.clause("Visualization/several-outputs")
def test_summary_behind_several_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    # MXNet shows no shape for steps, and 8 parameters of i2h: those of its bias
    assert table(capsys, recurrent(), shape={"data": (5, 3)})[1:] == [
        ["data(null)", "3", "0"],
        ["words(Embedding)", "3x16", "1600", "data"],
        ["steps(SliceChannel)", "16", "0", "words"],
        ["i2h(FullyConnected)", "8", "136", "steps"],
        ["both(Concat)", "24", "0", "i2h"],
        ["steps"],
        ["Total", "params:", "1736"],
    ]


def test_layout_of_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    mx.viz.print_summary(lenet(10, (1, 8, 8)), {"data": (1, 1, 8, 8)}, line_length=60, positions=[20, 30, 40, 60])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "_" * 60
    assert lines[1] == "Layer (type)        Output Sha" + "Param #   " + "Previous Layer      "
    assert lines[2] == "=" * 60
    assert lines[5] == "conv1(Convolution)  20x8x8    200       data                "
    assert lines[-1] == "_" * 60


class FakeDigraph:
    """Stands in for graphviz.Digraph, which is an extra."""

    def __init__(self, name: str, format: str) -> None:  # noqa: A002  # graphviz's name
        self.name, self.format = name, format
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, str]] = []

    def node(self, name: str, **attributes: str) -> None:
        self.nodes[name] = attributes

    def edge(self, tail: str, head: str, label: str, **attributes: str) -> None:
        self.edges.append((tail, head, label))


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type("graphviz", (), {"Digraph": FakeDigraph, "__spec__": None})
    plain_import = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__",
        lambda name, *rest, **also: kind if name == "graphviz" else plain_import(name, *rest, **also),
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: object())


@pytest.mark.usefixtures("_fake")
def test_picture() -> None:
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


@pytest.mark.usefixtures("_fake")
def test_labels() -> None:
    picture = mx.viz.plot_network(block(), title="net", save_format="svg", dtype={"data": "float32"}, shape={
        "data": (2, 4, 8, 8),
    })
    assert (picture.name, picture.format) == ("net", "svg")
    assert picture.nodes["leaky"]["label"] == "LeakyReLU\nLeaky"
    assert picture.nodes["pool"]["label"] == "Pooling\navg, 1x1/1"
    assert picture.nodes["bn"]["fillcolor"] == "#bebada"
    assert picture.edges == [
        ("bn", "data", "4x8x8(float32)"), ("relu", "bn", "4x8x8(float32)"), ("conv", "relu", "4x8x8(float32)"),
        ("short", "data", "4x8x8(float32)"), ("add", "conv", "8x8x8(float32)"), ("add", "short", "8x8x8(float32)"),
        ("leaky", "add", "8x8x8(float32)"), ("pool", "leaky", "8x8x8(float32)"),
    ]
    # without shapes an arrow says the type alone
    assert mx.viz.plot_network(block(), dtype={"data": "float64"}).edges[0] == ("bn", "data", "(float64)")


@pytest.mark.clause("Visualization/several-outputs")
@pytest.mark.usefixtures("_fake")
def test_arrows_from_several_outputs() -> None:
    picture = mx.viz.plot_network(recurrent(), shape={"data": (5, 3)})
    assert ("both", "steps", "16") in picture.edges


@pytest.mark.usefixtures("_fake")
def test_two_nodes_of_one_name() -> None:
    with pytest.warns(RuntimeWarning, match="drawn as one: a"):
        mx.viz.plot_network(mx.sym.Variable("a") + mx.sym.Variable("a"))


@pytest.mark.usefixtures("_fake")
def test_custom_operators_show_their_type() -> None:
    @operator.register("test_drawn")
    class Drawn(operator.CustomOpProp):
        pass

    picture = mx.viz.plot_network(mx.sym.Custom(mx.sym.Variable("a"), op_type="test_drawn", name="c"))
    assert picture.nodes["c"]["label"] == "test_drawn"
    assert Drawn.__name__ == "Drawn"
