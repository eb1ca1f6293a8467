"""``refimpl inspect``: what it says of checkpoints of old and new MXNets, and of damaged ones.

Shapes of layers are those that MXNet 1.9.1 infers (tests/fixtures/make_inspected.py prints them).
"""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli, visualization
from refimpl.cli.compiling import watched
from refimpl.explain import sources

from .inspected import (  # noqa: F401  # fixtures too
    FIXTURES,
    change,
    change_graph,
    in_folder,
    inspecting,
    outputs,
    problems,
)

RESNET_SHAPES = {
    "bn_data": (2, 3, 16, 16), "conv0": (2, 4, 16, 16), "stage1_unit1_bn1": (2, 4, 16, 16),
    "stage1_unit1_relu1": (2, 4, 16, 16), "stage1_unit1_conv1": (2, 4, 16, 16), "_plus0": (2, 4, 16, 16),
    "stage2_unit1_bn1": (2, 4, 16, 16), "stage2_unit1_relu1": (2, 4, 16, 16), "stage2_unit1_conv1": (2, 8, 8, 8),
    "stage2_unit1_sc": (2, 8, 8, 8), "_plus1": (2, 8, 8, 8), "bn1": (2, 8, 8, 8), "relu1": (2, 8, 8, 8),
    "pool1": (2, 8, 1, 1), "flatten0": (2, 8), "fc1": (2, 5), "softmax": (2, 5),
}
LSTM_SHAPES = {
    "embed": (2, 9, 6), "swapaxes0": (9, 2, 6), "lstm": (9, 2, 5), "reshape0": (18, 5), "pred": (18, 20),
    "reshape1": (18,), "softmax": (18, 20),
}


# --- what is there ----------------------------------------------------------------------------------


@pytest.mark.clause("Cli/inspect", "Inspect/json")
def test_what_is_said_of_a_checkpoint(inspect: Any) -> None:
    code, found = inspect("mxnet", "--shape", "data=4,1,8,8")
    assert code == 0
    assert list(found) == [
        "version", "prefix", "epoch", "epochs", "bucket", "buckets", "mxnet", "np_shape", "symbol", "params", "states",
        "inputs", "outputs", "layers", "parameters", "auxiliary", "problems", "notes", "quirks", "deviations",
    ]
    assert (found["version"], found["prefix"], found["epoch"], found["epochs"]) == (1, "mxnet", 3, [3])
    assert (found["mxnet"], found["np_shape"], found["problems"]) == ("1.9.1", False, [])
    assert found["symbol"] == {"file": "mxnet-symbol.json", "bytes": 2531}
    assert found["params"] == {"file": "mxnet-0003.params", "bytes": 1429}
    assert found["states"] == {
        "file": "mxnet-0003.states", "bytes": 1347,
        "holds": {"optimizer": None, "keys": ["0", "1", "2", "3", "4"], "numbers": 239},
    }
    assert found["inputs"] == [{"name": "data", "shape": [4, 1, 8, 8]}, {"name": "softmax_label", "shape": [4]}]
    assert found["outputs"] == [{"name": "softmax_output", "shape": [4, 3]}]
    assert found["layers"][1] == {"operator": "BatchNorm", "name": "bn", "outputs": [[4, 4, 8, 8]]}
    assert found["parameters"][0] == {
        "name": "conv_weight", "shape": [4, 1, 3, 3], "dtype": "float32", "storage": "default", "numbers": 36,
        "bytes": 144,
    }
    assert [one["name"] for one in found["auxiliary"]] == ["bn_moving_mean", "bn_moving_var"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["resnet", "--shape", "data=2,3,16,16"], RESNET_SHAPES),
        (["lstm", "--shape", "data=2,9"], LSTM_SHAPES),
    ],
)
def test_shapes_are_those_of_mxnet(inspect: Any, words: list[str], expected: dict[str, Any]) -> None:
    code, found = inspect(*words)
    assert code == 0
    assert outputs(found) == expected


def test_shapes_without_a_shape_are_told_as_far_as_parameters_tell(inspect: Any) -> None:
    _, found = inspect("resnet", "12")
    assert [one["shape"] for one in found["inputs"]] == [[None, 3, None, None], None]
    shapes = {layer["name"]: layer["outputs"][0] for layer in found["layers"]}
    assert (shapes["stage2_unit1_sc"], shapes["pool1"]) == ([None, 8, None, None], [None, 8, 1, 1])
    assert inspect("mxnet")[1]["outputs"] == [{"name": "softmax_output", "shape": [None, 3]}]


@pytest.mark.clause("Inspect/inputs")
def test_inputs_are_what_no_file_holds_and_nothing_learns(inspect: Any) -> None:
    _, found = inspect("lstm")
    assert [one["name"] for one in found["inputs"]] == ["data", "lstm_state", "lstm_state_cell", "softmax_label"]
    change("lstm-0007", arg_lstm_parameters=None)
    code, found = inspect("lstm")
    assert (code, problems(found)) == (1, [("missing-parameter", "lstm_parameters")])
    code, found = inspect("lstm", "--shape", "lstm_parameters=260")  # now it is fed
    assert (code, found["inputs"][1]) == (0, {"name": "lstm_parameters", "shape": [260]})


@pytest.mark.parametrize(
    ("file", "version", "operators"),
    [
        (
            "symbol-0.8.json", "0.8 or older",
            ["Convolution", "BatchNorm", "Activation", "Flatten", "FullyConnected", "SoftmaxOutput"],
        ),
        ("symbol-0.9.3.json", "0.9.3", ["BatchNorm", "argmax", "argmax"]),
    ],
)
def test_graphs_of_older_versions(inspect: Any, file: str, version: str, operators: list[str]) -> None:
    shutil.copy(FIXTURES / file, "old-symbol.json")
    aux = {"aux:bn_moving_mean": mx.nd.zeros(2), "aux:bn_moving_var": mx.nd.ones(2)}
    arguments = {"arg:bn_gamma": mx.nd.ones(2), "arg:bn_beta": mx.nd.ones(2)}
    if file == "symbol-0.8.json":  # its pictures are of 3 x 3 pixels
        arguments.update({
            "arg:conv_weight": mx.nd.ones((2, 1, 2, 2)), "arg:conv_bias": mx.nd.ones(2),
            "arg:fc_weight": mx.nd.ones((3, 8)), "arg:fc_bias": mx.nd.ones(3),
        })
    mx.nd.save("old-0001.params", {**arguments, **aux})
    code, found = inspect("old")
    assert (code, found["mxnet"], problems(found)) == (0, version, [])
    assert [layer["operator"] for layer in found["layers"]] == operators
    assert [one["name"] for one in found["auxiliary"]] == ["bn_moving_mean", "bn_moving_var"]


def test_a_graph_in_the_style_of_0_11(inspect: Any) -> None:
    change_graph('"attrs": {"mxnet_version": ["int", 10901]}', '"attrs": {"mxnet_version": ["int", 1100]}')
    text = json.loads(Path("mxnet-symbol.json").read_text(encoding="utf-8"))
    for node in text["nodes"]:
        if "attrs" in node:
            node["attr"] = node.pop("attrs")
    Path("mxnet-symbol.json").write_text(json.dumps(text), encoding="utf-8")
    code, found = inspect("mxnet")
    assert (code, found["mxnet"]) == (0, "0.11.0")
    assert found["layers"][0]["outputs"] == [[None, 4, None, None]]


def test_a_graph_of_a_newer_version_says_so(inspect: Any) -> None:
    change_graph('["int", 10901]', '["int", 20000]')
    assert inspect("mxnet")[1]["mxnet"] == "2.0.0, newer than the 1.9.1 whose files are known"


def test_the_newest_epoch_is_inspected_and_all_are_listed(inspect: Any) -> None:
    for epoch in ("0002", "0010", "10000"):
        shutil.copy("mxnet-0003.params", f"mxnet-{epoch}.params")
    _, found = inspect("mxnet")
    assert (found["epochs"], found["epoch"]) == ([2, 3, 10, 10000], 10000)
    assert found["params"]["file"] == "mxnet-10000.params"
    assert inspect("mxnet", "2")[1]["params"]["file"] == "mxnet-0002.params"


def test_arrays_under_np_shape_and_sparse_ones(inspect: Any) -> None:
    with mx.util.np_shape(True):
        mx.nd.save("single-0001.params", {"arg:one": mx.nd.array(np.array(3.0)), "arg:none": mx.nd.zeros((0, 2))})
    _, found = inspect("single")
    assert found["np_shape"]
    assert [(one["name"], one["shape"]) for one in found["parameters"]] == [("one", []), ("none", [0, 2])]
    mx.nd.save("sparse-0001.params", {"arg:w": mx.nd.sparse.row_sparse_array(([[1.0, 2.0]], [3]), shape=(5, 2))})
    assert inspect("sparse")[1]["parameters"] == [
        {"name": "w", "shape": [5, 2], "dtype": "float32", "storage": "row_sparse", "numbers": 2, "bytes": 8}
    ]


@pytest.mark.clause("Inspect/touches")
def test_what_a_graph_touches(inspect: Any) -> None:
    _, found = inspect("lstm")
    (quirk,) = [one for one in found["quirks"] if one["name"] == "rnn-no-dropout"]
    assert (quirk["clause"], quirk["operators"]) == ("RNN/dropout", ["RNN"])
    clauses = {one["clause"]: one["operators"] for one in found["deviations"]}
    assert clauses["Reshape/codes"] == ["Reshape"]
    assert clauses["FullyConnected/bias-column"] == ["FullyConnected"]
    assert not any(clause.startswith(("Convolution/", "BatchNorm/")) for clause in clauses)
    assert {one["name"] for one in inspect("resnet")[1]["quirks"]}.isdisjoint({"rnn-no-dropout", "rnn-no-clip"})


@pytest.mark.clause("Inspect/looks-only")
def test_nothing_is_computed_or_compiled(inspect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from refimpl.kernels.foundation.loop import Loop

    def compiles(*_: Any, **__: Any) -> None:
        pytest.fail("a loop was called")

    monkeypatch.setattr(Loop, "__call__", compiles, raising=False)
    with watched(lambda watch: None) as watch:
        for prefix in ("mxnet", "resnet", "lstm"):
            assert inspect(prefix)[0] == 0
    assert watch.done == 0
    Path("mxnet-0003.states").write_bytes(pickle.dumps({0: _Trap()}))
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("damaged-file", "mxnet-0003.states")])
    assert not Path("trap").exists()


class _Trap:
    def __reduce__(self) -> Any:
        return (Path("trap").touch, ())


# --- text -------------------------------------------------------------------------------------------


@pytest.mark.clause("Inspect/text")
@pytest.mark.parametrize("words", [["resnet"], ["lstm", "--deviations"], ["mxnet", "3", "--shape", "data=4,1,8,8"]])
def test_text_fits_80_columns(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert cli.run(["inspect", *words]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.isascii()
    assert "damaged or missing: nothing" in out.splitlines()


@pytest.mark.clause("Inspect/text")
def test_text_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", "mxnet", "3", "--shape", "data=4,1,8,8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:13] == [
        "checkpoint mxnet, epoch 3",
        "epochs that are there: 3",
        "written by MXNet 1.9.1",
        "  mxnet-symbol.json: 2,531 bytes",
        "  mxnet-0003.params: 1,429 bytes",
        "  mxnet-0003.states: 1,347 bytes; states: 5 keys, 239 numbers",
        "",
        "inputs (2)",
        "  name           shape",
        "  data           (4, 1, 8, 8)",
        "  softmax_label  (4,)",
        "",
        "outputs (1)",
    ]
    assert "  Pooling         pool     (4, 4, 4, 4)" in lines
    assert "parameters (5): 239 numbers, 956 bytes" in lines
    assert "  bn_gamma     (4,)          float32  default" in lines


@pytest.mark.clause("Inspect/text")
def test_names_in_a_file_do_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    change_graph('"name": "relu"', '"name": "\\u001b[31m' + "long" * 40 + '"')
    assert cli.run(["inspect", "mxnet"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[31mlonglong" in out
    assert max(map(len, out.splitlines())) <= 80


# --- wrong calls ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "clause", "said"),
    [
        pytest.param(words, clause, said, marks=pytest.mark.clause(clause))
        for words, clause, said in [
            (["none"], "Cli/inspect-source", "none is no checkpoint: neither none-symbol.json nor"),
            (["mxnet", "4"], "Cli/inspect-source", "mxnet has no params file of epoch 4; there are 3"),
            (["mxnet", "--shape", "4,1,8,8"], "Cli/shape", "not '4,1,8,8'"),
            (["mxnet", "--shape", "picture=4,1,8,8"], "Cli/shape", "names picture; the inputs are data, softmax_label"),
            (["mxnet", "--shape", "data=4,1"], "Cli/shape", "--shape contradicts the graph: Error in operator conv"),
        ]
    ],
)
def test_wrong_calls(capsys: pytest.CaptureFixture[str], words: list[str], clause: str, said: str) -> None:
    assert cli.run(["inspect", *words]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert said in caught.err
    assert caught.err.rstrip().endswith(f"[{clause}]")


# --- the other commands that take a checkpoint and a shape -----------------------------------------


def test_plot_takes_shapes_by_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visualization, "graphviz_missing", lambda: "no graphviz")
    assert cli.run(["plot", "resnet", "--shape", "data=2,3,16,16", "-o", "net.png"]) == 0
    assert "stage2_unit1_sc(Convolution)8x8x8" in capsys.readouterr().out.replace(" ", "")
    assert cli.run(["plot", "lstm", "--shape", "2,9", "--shape", "softmax_label=2,9", "-o", "net.png"]) == 0
    assert "embed(Embedding)9x6120data" in capsys.readouterr().out.replace(" ", "")


@pytest.mark.clause("Explain/input-shapes")
def test_labels_of_sequences_have_the_shape_of_their_data() -> None:
    net, arguments, _ = mx.model.load_checkpoint("lstm", 7)
    inputs = ["data", "lstm_state", "lstm_state_cell", "softmax_label"]
    assert sources._input_shapes(net, arguments, inputs, {"data": (2, 9)}, 64) == {
        "data": (2, 9), "lstm_state": (1, 2, 5), "lstm_state_cell": (1, 2, 5), "softmax_label": (2, 9),
    }


@pytest.mark.clause("Explain/checkpoint")
def test_states_of_recurrent_layers_are_cut_along_their_second_axis() -> None:
    shapes = {"data": (4, 9), "lstm_state": (1, 4, 5), "more": (4, 2)}
    found = sources._described(shapes, dict.fromkeys(shapes, "float32"))
    assert [(d.name, d.shape, d.layout) for d in found] == [
        ("data", (4, 9), "NCHW"), ("lstm_state", (1, 4, 5), "TNC"), ("more", (4, 2), "NCHW"),
    ]
