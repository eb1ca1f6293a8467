"""Loops and branches in symbol files. tests/fixtures/make_loops.py made the files and the numbers with MXNet 1.9.1."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx

FOLDER = Path(__file__).parent.parent / "fixtures"
LOOPS = mx.sym.contrib
EXPECTED: list[tuple[str, dict[str, Any], list, dict[str, list]]] = [
    (
        "foreach", {"x": [[0, 1], [2, 3], [4, 5]], "s": [1, 2], "w": [2, 3]},
        [[[0, 2], [8, 39], [72, 405]], [76, 491]],
        {"x": [[35, 71], [12, 24], [19, 82]], "s": [136, 415], "w": [168, 724]},
    ),
    (
        "while", {"i": [2], "s": [1]}, [[[2], [15], [56], [0], [0], [0]], [5], [30]], {"i": [91], "s": [10]},
    ),
    ("cond", {"x": [1, 2], "s": [3, 4]}, [[3, 8]], {"x": [3, 4], "s": [1, 2]}),
    ("cond", {"x": [3, 6], "s": [9, 12]}, [[18, 48]], {"x": [6, 12], "s": [1, 1]}),
    (
        "nested",
        {
            "x": [[[0, 1], [2, 3]], [[1, 0], [2, 1]]], "s": [1, 2], "fc_weight": [[1, 0], [1, -1]], "fc_bias": [1, 2],
            "w": [2, 3],
        },
        [[[[2, 6], [12, 9]], [[20, 36], [42, 63]]], [10, 10]],
        {
            "x": [[[47, -28], [43, -28]], [[39, -22], [37, -22]]], "s": [19, 25],
            "fc_weight": [[77, 79], [122, 134]], "fc_bias": [66, 100], "w": [38, 38],
        },
    ),
]


def text_of(name: str) -> str:
    """A file that MXNet wrote."""
    return (FOLDER / f"symbol-{name}.json").read_text(encoding="utf-8")


@pytest.mark.clause("symbol-file/control-flow")
@pytest.mark.parametrize(("name", "values", "outputs", "slopes"), EXPECTED)
def test_a_file_of_mxnet_computes_what_it_computed_there(
    name: str, values: dict[str, Any], outputs: list, slopes: dict[str, list]
) -> None:
    net = mx.sym.load_json(text_of(name))
    arrays = {key: mx.nd.array(value) for key, value in values.items()}
    found = {key: mx.nd.zeros(value.shape) for key, value in arrays.items()}
    executor = net.bind(mx.cpu(), arrays, args_grad=found)
    assert [output.asnumpy().tolist() for output in executor.forward(is_train=True)] == outputs
    executor.backward([mx.nd.ones(output.shape) for output in executor.outputs])
    assert {key: value.asnumpy().tolist() for key, value in found.items()} == slopes


@pytest.mark.clause("symbol-file/control-flow")
@pytest.mark.parametrize("name", ["foreach", "while", "cond", "nested"])
def test_a_file_is_written_as_it_was_read(name: str) -> None:
    net = mx.sym.load_json(text_of(name))
    assert net.tojson() == text_of(name).rstrip("\n")
    assert copy.deepcopy(net).tojson() == pickle.loads(pickle.dumps(net)).tojson() == net.tojson()


@pytest.mark.clause("symbol-file/control-flow")
def test_what_is_made_here_is_the_file_of_mxnet(monkeypatch: pytest.MonkeyPatch) -> None:
    from refimpl.contrib.control_flow import capture

    monkeypatch.setattr(capture, "_COUNTS", capture.Counter())
    x, s, w, i = (mx.sym.Variable(name) for name in "xswi")
    with mx.name.NameManager():
        net = mx.sym.Group(list(LOOPS.foreach(lambda row, state: (row * state, state * (w * 2) + row), x, s)))
    assert net.tojson() == text_of("foreach").rstrip("\n")
    with mx.name.NameManager():
        rows, last = LOOPS.while_loop(
            lambda i, s: i < 5, lambda i, s: ([s * i], [i + 1, s + i * i]), [i, s], max_iterations=6
        )
    assert mx.sym.Group([*rows, *last]).tojson() == text_of("while").rstrip("\n")
    with mx.name.NameManager():
        net = LOOPS.cond(x.sum() < 5, lambda: x * s, lambda: x * x + s)
    assert net.tojson() == text_of("cond").rstrip("\n")
    capture._COUNTS.clear()

    def inner(row: Any, state: Any) -> Any:
        return row * state * w, state + row

    with mx.name.NameManager():
        net = mx.sym.Group(list(LOOPS.foreach(
            lambda row, state: LOOPS.foreach(inner, mx.sym.FullyConnected(row, num_hidden=2, name="fc"), state), x, s
        )))
    assert net.tojson() == text_of("nested").rstrip("\n")


def loop_with(**changes: Any) -> str:
    """The foreach file with other attributes of its loop, or with other ``subgraphs``."""
    graph = json.loads(text_of("foreach"))
    node = next(n for n in graph["nodes"] if n["op"] == "_foreach")
    for key, value in changes.items():
        if key in ("subgraphs", "op", "inputs"):
            node[key] = value
        else:
            node["attrs"][key] = value
    return json.dumps(graph)


def inside(name: str) -> list:
    """The graphs of the loop in a file."""
    return next(n["subgraphs"] for n in json.loads(text_of(name))["nodes"] if "subgraphs" in n)


BROKEN = {
    "no graph": (loop_with(subgraphs=[]), "control-flow/graphs"),
    "two graphs": (loop_with(subgraphs=inside("while")), "control-flow/graphs"),
    "no map": (loop_with(subgraphs=[3]), "symbol-file/valid"),
    "no heads": (loop_with(subgraphs=[{"nodes": []}]), "symbol-file/valid"),
    "graphs in relu": (loop_with(op="relu", inputs=[[0, 0, 0]]), "symbol-file/valid"),
    "location twice": (loop_with(in_state_locs="[0]"), "control-flow/locations"),
    "outputs": (loop_with(num_outputs="3"), "control-flow/locations"),
    "inputs": (loop_with(inputs=[[0, 0, 0], [1, 0, 0]]), "symbol-file/valid"),
    "too few": (loop_with(num_args="3", inputs=[[0, 0, 0], [1, 0, 0]]), "control-flow/locations"),
    "missing": (text_of("foreach").replace('"num_out_data": "1", ', ""), "params/required"),
    "while": (text_of("while").replace('"func_var_locs": "[1, 0]"', '"func_var_locs": "[1, 1]"'),
              "control-flow/locations"),
    "while outputs": (text_of("while").replace('"num_out_data": "1"', '"num_out_data": "2"'),
                      "control-flow/locations"),
    "cond": (text_of("cond").replace('"then_input_locs": "[1, 2]"', '"then_input_locs": "[1, 7]"'),
             "control-flow/locations"),
    "cond outputs": (text_of("cond").replace('"num_outputs": "1"', '"num_outputs": "2"'), "control-flow/locations"),
}


@pytest.mark.clause("control-flow/graphs", "control-flow/locations", "symbol-file/control-flow")
@pytest.mark.parametrize("text, clause", BROKEN.values(), ids=BROKEN)
def test_a_damaged_loop_is_refused(text: str, clause: str) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.load_json(text)
    assert caught.value.clause == clause
    assert str(caught.value).startswith("Failed to load symbol from json")


@pytest.mark.clause("symbol-file/control-flow")
def test_graphs_without_end_are_refused() -> None:
    graph = json.loads(text_of("foreach"))
    for _ in range(25):
        outer = json.loads(text_of("foreach"))
        next(n for n in outer["nodes"] if "subgraphs" in n)["subgraphs"] = [graph]
        graph = outer
    with pytest.raises(mx.MXNetError, match="more than 20 graphs lie one in the other"):
        mx.sym.load_json(json.dumps(graph))


@pytest.mark.clause("symbol-file/control-flow")
def test_an_attribute_of_a_loaded_loop_can_be_set() -> None:
    net = mx.sym.load_json(text_of("cond"))
    net._set_attr(ctx_group="dev1")
    assert net.attr("ctx_group") == "dev1"
    assert net.infer_shape(x=(2,), s=(2,))[1] == [(2,)]
    np.testing.assert_array_equal(net.eval(x=mx.nd.array([1, 2]), s=mx.nd.array([3, 4]))[0].asnumpy(), [3, 8])
