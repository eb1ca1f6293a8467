"""What ``refimpl inspect`` says of checkpoints that are damaged, or lack something: ten kinds and more."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx

from .inspected import change, change_graph, in_folder, inspecting, problems  # noqa: F401  # fixtures too


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


@pytest.mark.clause("Inspect/wrong-shape")
def test_a_graph_that_contradicts_itself(inspect: Any) -> None:
    # bn1 reads a state of another BatchNorm as its beta: 4 numbers and 8 channels
    change_graph("[27, 0, 0], [28, 0, 0], [29, 0, 0]", "[27, 0, 0], [28, 0, 0], [19, 0, 0]", "resnet-symbol.json")
    code, found = inspect("resnet")
    assert (code, problems(found)) == (1, [("contradiction", "shapes"), ("unknown-parameter", "bn1_beta")])
    assert "Error in operator bn1" in found["problems"][0]["message"]


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
        (b"<html>404", "it is an HTML page"), (b"[]", "no map with nodes"),
        (b'{"nodes": [7], "heads": []}', "node 0 has no"),
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
