"""``refimpl inspect``: what it says of checkpoints of old and new MXNets, and of damaged ones.

Shapes of layers are those that MXNet 1.9.1 infers (tests/fixtures/make_inspected.py prints them).
"""

from __future__ import annotations

import json
import pickle
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.cli.compiling import watched

FIXTURES = Path(__file__).parents[1] / "fixtures"
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


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the checkpoints of MXNet 1.9.1."""
    monkeypatch.chdir(tmp_path)
    for pattern in ("mxnet-symbol.json", "mxnet-0003.*", "resnet-*", "lstm-*"):
        for file in FIXTURES.glob(pattern):
            shutil.copy(file, tmp_path)
    return tmp_path


@pytest.fixture
def inspect(capsys: pytest.CaptureFixture[str]) -> Any:
    """Inspect with --json: (exit code, what was found)."""

    def call(*words: str) -> tuple[int, dict[str, Any]]:
        code = cli.run(["inspect", *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def problems(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["kind"], one["about"]) for one in found["problems"]]


def outputs(found: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {layer["name"]: tuple(layer["outputs"][0]) for layer in found["layers"]}


def change(prefix: str = "mxnet-0003", **changes: Any) -> None:
    """Write a params file again with other arrays; None takes one away. ``arg_x`` means ``arg:x``."""
    arrays = mx.nd.load(f"{prefix}.params")
    for key, array in changes.items():
        name = key.replace("_", ":", 1)
        if array is None:
            del arrays[name]
        else:
            arrays[name] = mx.nd.array(array)
    mx.nd.save(f"{prefix}.params", arrays)


def change_graph(old: str, new: str, file: str = "mxnet-symbol.json") -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")


# --- what is there ----------------------------------------------------------------------------------


@pytest.mark.clause("Cli/inspect", "Inspect/json")
def test_what_is_said_of_a_checkpoint(inspect: Any) -> None:
    code, found = inspect("mxnet", "--shape", "data=4,1,8,8")
    assert code == 0
    assert list(found) == [
        "version", "prefix", "epoch", "epochs", "mxnet", "np_shape", "symbol", "params", "states", "inputs", "outputs",
        "layers", "parameters", "auxiliary", "problems", "quirks", "deviations",
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
    assert found["inputs"] == [{"name": "data", "shape": [None, 3, None, None]}, {"name": "softmax_label", "shape": None}]
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
        ("symbol-0.8.json", "0.8 or older", ["Convolution", "BatchNorm", "Activation", "Flatten", "FullyConnected", "SoftmaxOutput"]),
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
    assert (found["epochs"], found["epoch"], found["params"]["file"]) == ([2, 3, 10, 10000], 10000, "mxnet-10000.params")
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


# --- damage -----------------------------------------------------------------------------------------


@pytest.mark.clause("Inspect/parameters")
def test_a_parameter_that_is_missing(inspect: Any) -> None:
    change(arg_fc_weight=None, aux_bn_moving_var=None)
    code, found = inspect("mxnet", "--shape", "data=4,1,8,8")
    assert code == 1
    assert [one["message"] for one in found["problems"]] == [
        "the graph needs arg:fc_weight of shape (3, 64), which mxnet-0003.params lacks",
        "the graph needs aux:bn_moving_var of shape (4,), which mxnet-0003.params lacks",
    ]


@pytest.mark.clause("Inspect/parameters")
def test_a_parameter_that_the_graph_does_not_know(inspect: Any) -> None:
    change(arg_fc9_weight=[1.0], aux_old=[1.0])
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("unknown-parameter", "fc9_weight"), ("unknown-parameter", "old")])


@pytest.mark.clause("Inspect/parameters")
def test_an_auxiliary_state_that_is_stored_as_an_argument(inspect: Any) -> None:
    change(aux_bn_moving_mean=None, arg_bn_moving_mean=[0.0] * 4)
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("wrong-kind", "bn_moving_mean")])
    assert "stored as arg:bn_moving_mean, the graph has it as aux:" in found["problems"][0]["message"]


@pytest.mark.clause("Inspect/wrong-shape")
def test_wrong_shapes_are_told_with_the_right_ones(inspect: Any) -> None:
    change(arg_bn_gamma=np.ones(5), arg_fc_weight=np.ones((3, 65)))
    code, found = inspect("mxnet", "--shape", "data=4,1,8,8")
    assert code == 1
    assert [one["message"] for one in found["problems"]] == [
        "bn_gamma has shape (5,); the graph takes (4,)",
        "fc_weight has shape (3, 65); the graph takes (3, 64)",
    ]
    # without a shape of data, nothing says how many numbers fc reads
    assert problems(inspect("mxnet")[1]) == [("wrong-shape", "bn_gamma")]


@pytest.mark.clause("Inspect/wrong-shape")
def test_many_wrong_shapes(inspect: Any) -> None:
    names = [f"fc{i}" for i in range(30)]
    net = mx.sym.Variable("data")
    for name in names:
        net = mx.sym.FullyConnected(net, num_hidden=2, name=name, no_bias=True)
    mx.model.save_checkpoint("deep", 1, net, {f"{name}_weight": mx.nd.ones((3, 2)) for name in names}, {})
    code, found = inspect("deep")
    assert code == 1
    assert problems(found) == [("wrong-shape", f"{name}_weight") for name in names[:20]]


@pytest.mark.clause("Inspect/not-finite")
def test_values_that_are_no_numbers(inspect: Any) -> None:
    weight = np.zeros((3, 64))
    weight[1, 2], weight[2, 0], weight[2, 1] = np.nan, np.inf, -np.inf
    change(arg_fc_weight=weight)
    code, found = inspect("mxnet")
    assert code == 1
    assert [one["message"] for one in found["problems"]] == [
        "fc_weight has 1 NaN and 2 infinite values of 192, the first at [1, 2]"
    ]


@pytest.mark.clause("Inspect/arrays")
@pytest.mark.parametrize("size", [0, 5, 23, 300, 1428])
def test_a_params_file_that_is_cut(inspect: Any, size: int) -> None:
    Path("mxnet-0003.params").write_bytes(Path("mxnet-0003.params").read_bytes()[:size])
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("damaged-file", "mxnet-0003.params")])
    assert "mxnet-0003.params, byte " in found["problems"][0]["message"]
    assert len(found["layers"]) == 6  # of the graph all is told


@pytest.mark.clause("Inspect/arrays")
def test_a_size_beyond_the_file_is_not_reserved(inspect: Any) -> None:
    raw = bytearray(Path("mxnet-0003.params").read_bytes())
    at = raw.index(struct.pack("<i4q", 4, 4, 1, 3, 3))
    raw[at : at + 36] = struct.pack("<i4q", 4, 2**20, 2**10, 2**10, 3)
    Path("mxnet-0003.params").write_bytes(bytes(raw))
    code, found = inspect("mxnet")
    assert code == 1
    assert "needs 13194139533312" in found["problems"][0]["message"]


@pytest.mark.clause("Inspect/arrays")
def test_arrays_without_a_name_or_with_another(inspect: Any) -> None:
    mx.nd.save("mxnet-0004.params", [mx.nd.ones(2)])
    code, found = inspect("mxnet", "4")
    assert (code, problems(found)[0]) == (1, ("unnamed-arrays", "mxnet-0004.params"))
    mx.nd.save("mxnet-0005.params", {**mx.nd.load("mxnet-0003.params"), "x:y": mx.nd.ones(2), "arg": mx.nd.ones(2)})
    code, found = inspect("mxnet", "5")
    assert (code, problems(found)) == (1, [("unknown-name", "x:y"), ("unknown-name", "arg")])


@pytest.mark.clause("Inspect/arrays")
def test_an_array_that_was_never_given_a_value(inspect: Any) -> None:
    name = b"arg:fc_bias"
    arrays = {key: array for key, array in mx.nd.load("mxnet-0003.params").items() if key != name.decode()}
    mx.nd.save("mxnet-0003.params", arrays)
    raw = Path("mxnet-0003.params").read_bytes()
    names = struct.pack("<Q", 6) + raw[raw.index(b"arg:conv_weight") - 8 :]
    head, rest = raw[:16] + struct.pack("<Q", 7), raw[24 : -len(names)]
    record = struct.pack("<Iii", 0xF993FAC9, 0, 0)
    ending = struct.pack("<Q", 7) + names[8:] + struct.pack("<Q", len(name)) + name
    Path("mxnet-0003.params").write_bytes(head + rest + record + ending)
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("unallocated", "fc_bias")])


@pytest.mark.clause("Inspect/operators")
def test_operators_that_are_not_here(inspect: Any) -> None:
    change_graph('"op": "Activation"', '"op": "Foo"')
    change_graph('"op": "Pooling"', '"op": "_contrib_quantize_asym"')
    change(arg_fc_bias=None)
    code, found = inspect("mxnet")
    assert code == 1
    assert problems(found) == [
        ("unknown-operator", "Foo"), ("unknown-operator", "_contrib_quantize_asym"), ("missing-parameter", "fc_bias"),
    ]
    assert found["problems"][0]["message"].startswith("Foo (node relu): there is no operator Foo, neither here nor in")
    assert found["layers"][2] == {"operator": "Foo", "name": "relu", "outputs": None}
    assert [one["name"] for one in found["inputs"]] == ["data", "softmax_label"]


@pytest.mark.clause("Inspect/operators")
def test_an_operator_of_ones_own_that_is_not_registered(inspect: Any) -> None:
    change_graph('"op": "Activation"', '"op": "Custom"')
    change_graph('"act_type": "relu"', '"op_type": "of-my-own"')
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("unknown-operator", "mxnet-symbol.json")])
    assert "of-my-own" in found["problems"][0]["message"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"nodes": [{"op": "nu', "character 18: not JSON"), (b"", "it is empty"), (b"\xff\xfe", "byte 0: no UTF-8"),
        (b"<html>404", "it is an HTML page"), (b"[]", "no map with nodes"), (b'{"nodes": [7], "heads": []}', "node 0 has no"),
    ],
)
def test_a_symbol_file_that_is_damaged(inspect: Any, content: bytes, words: str) -> None:
    Path("mxnet-symbol.json").write_bytes(content)
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("damaged-file", "mxnet-symbol.json")])
    assert words in found["problems"][0]["message"]
    assert "mxnet-symbol.json" in found["problems"][0]["message"]
    assert len(found["parameters"]) == 5


def test_one_file_of_two_is_missing(inspect: Any) -> None:
    Path("mxnet-symbol.json").unlink()
    code, found = inspect("mxnet")
    assert (code, problems(found), found["mxnet"]) == (1, [("missing-file", "mxnet-symbol.json")], None)
    assert len(found["parameters"]) == 5
    Path("resnet-0012.params").unlink()
    code, found = inspect("resnet")
    assert (code, found["epoch"], problems(found)) == (1, None, [("missing-file", "resnet-NNNN.params")])
    assert len(found["layers"]) == 17


@pytest.mark.clause("Inspect/states")
def test_states_that_were_saved_with_other_parameters(inspect: Any) -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (1, 2))], [("softmax_label", (1,))])
    module.init_params()
    module.init_optimizer(optimizer_params={"momentum": 0.9})
    module.save_checkpoint("own", 1, save_optimizer_states=True)
    assert inspect("own")[0] == 0
    change("own-0001", arg_fc_bias=[7.0])
    code, found = inspect("own")
    assert (code, problems(found)) == (1, [("states-of-others", "own-0001.states")])


@pytest.mark.clause("Inspect/states")
def test_states_that_are_damaged(inspect: Any) -> None:
    raw = Path("mxnet-0003.states").read_bytes()
    Path("mxnet-0003.states").write_bytes(raw[:700])
    code, found = inspect("mxnet")
    assert (code, problems(found), found["states"]["holds"]) == (1, [("damaged-file", "mxnet-0003.states")], None)
    assert "mxnet-0003.states is not a valid .states file: byte " in found["problems"][0]["message"]
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.5))
    updater.states = {0: mx.nd.array([1.0, float("nan")])}
    Path("mxnet-0003.states").write_bytes(updater.get_states(dump_optimizer=True))
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("not-finite", "state of 0")])
    assert found["states"]["holds"] == {"optimizer": "SGD", "keys": ["0"], "numbers": 2}


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
