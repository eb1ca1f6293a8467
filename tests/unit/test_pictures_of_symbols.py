"""A symbol as a drawing: what notebooks show and ``refimpl plot`` writes, without Graphviz."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import refimpl as mx
from refimpl import cli
from refimpl.explain import symbol_drawing
from refimpl.model.networks import NETWORKS

SPACE = "{http://www.w3.org/2000/svg}"


def texts(drawing: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(drawing).iter(f"{SPACE}text")]


def network():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(mx.sym.BatchNorm(net, name="norm"), name="softmax")


@pytest.mark.clause("Visualization/svg", "Visualization/notebook")
def test_a_symbol_is_drawn():
    drawing = network()._repr_svg_()
    found = texts(drawing)
    for word in ("data", "fc", "FullyConnected 3", "weight", "bias", "norm", "BatchNorm", "moving_mean", "softmax"):
        assert word in found, word
    assert found.count("label") == 1
    edges = [one for one in ET.fromstring(drawing).iter(f"{SPACE}path") if one.get("class") == "edge"]
    assert len(edges) == 3 + 7  # three arrows between operators, and seven variables beside them
    assert sum("marker-end" in one.attrib for one in edges) == 3


@pytest.mark.clause("Visualization/svg")
def test_shapes_stand_at_the_arrows():
    found = texts(symbol_drawing.svg(network(), {"data": (4, 5)}))
    assert "4 \N{MULTIPLICATION SIGN} 5" in found
    assert found.count("4 \N{MULTIPLICATION SIGN} 3") == 3


@pytest.mark.clause("Visualization/svg")
def test_nothing_overlaps():
    drawing = ET.fromstring(symbol_drawing.svg(NETWORKS["resnet-20"](10, (1, 32, 32))))
    boxes = [
        [float(rect.get(side)) for side in ("x", "y", "width", "height")]
        for group in drawing.iter(f"{SPACE}g") for rect in group.iter(f"{SPACE}rect")
    ]
    assert len(boxes) > 150
    for number, (x, y, wide, tall) in enumerate(boxes):
        for x2, y2, wide2, tall2 in boxes[:number]:
            assert x + wide <= x2 or x2 + wide2 <= x or y + tall <= y2 or y2 + tall2 <= y
    assert max(x + wide for x, _, wide, _ in boxes) <= float(drawing.get("width"))


@pytest.mark.clause("Visualization/svg")
def test_names_are_escaped():
    hostile = '</text><script>alert("1")</script>&\0\x1b'
    drawing = (mx.sym.Variable(hostile) * 2)._repr_svg_()
    assert "<script" not in drawing
    assert any(one.startswith("</text><script>") for one in texts(drawing))


@pytest.mark.parametrize("made", [
    lambda x: x, lambda x: mx.sym.Group([x * 2, x + 1]), lambda x: (x * x).gradient("x"), lambda x: x[0],
])
def test_every_symbol_has_a_drawing(made):
    ET.fromstring(made(mx.sym.Variable("x"))._repr_svg_())


@pytest.mark.clause("Visualization/notebook")
def test_a_graph_that_nobody_can_see_is_shown_as_text(monkeypatch):
    assert symbol_drawing.MOST == 1000
    monkeypatch.setattr(symbol_drawing, "MOST", 20)
    net = mx.sym.Variable("x")
    for _ in range(symbol_drawing.MOST - 1):
        net = net + 1
    assert net._repr_svg_() is not None
    assert (net + 1)._repr_svg_() is None


@pytest.mark.clause("Visualization/symbol")
def test_what_is_no_symbol_is_refused():
    with pytest.raises(TypeError) as caught:
        symbol_drawing.svg("net")
    assert caught.value.clause == "Visualization/symbol"


@pytest.mark.clause("Visualization/svg")
def test_plot_writes_the_drawing_without_graphviz(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("refimpl.visualization.graphviz_missing", lambda: "Graphviz is missing")
    network().save("net-symbol.json")
    assert cli.run(["plot", "net", "--shape", "4,5"]) == 0
    assert capsys.readouterr().out == "wrote net.svg\n"
    assert Path("net.svg").read_text(encoding="utf-8") == symbol_drawing.svg(network(), {"data": (4, 5)})
    assert cli.run(["plot", "net", "-o", "net.png", "--shape", "4,5"]) == 0
    out = capsys.readouterr().out
    assert "Graphviz is missing" in out
    assert "fc(FullyConnected)" in out
    assert not Path("net.png").exists()
