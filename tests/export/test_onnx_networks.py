"""Networks as ONNX files: every layer judged, batches of any size, half precision, damaged files."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.export.onnx_check import OPTIMISED, check
from refimpl.onnx import writing
from refimpl.onnx.building import Free
from refimpl.onnx.converting import converted
from refimpl.symbol.prediction import prediction

from . import networks
from .onnx_running import mx, run, wrong

ALL = sorted(set(networks.NETWORKS) - set(networks.REFUSED))


def predicted(name):
    """What a network of the fixtures predicts, and its inputs."""
    net = networks.NETWORKS[name][0](mx)
    given = networks.inputs(name)
    arguments, states = networks.parameters(net, networks.NETWORKS[name][1])
    found = prediction(net, arguments, states, {key: value.shape for key, value in given.items()})
    return found, {key: given[key].astype(kind) for key, (_, kind) in found.inputs.items()}


@pytest.mark.clause("Onnx/checked", "Onnx/names")
@pytest.mark.parametrize("name", ALL)
def test_every_layer_of_a_network(name):
    found, given = predicted(name)
    graph = converted(found.symbol, found.params, found.inputs)
    proto = writing.model(graph)
    writing.imported().checker.check_model(proto, full_check=True)
    verdicts = check(found, graph, proto, given)
    assert [verdict for verdict in verdicts if not verdict.ok] == []
    layers = [node.name for node in found.symbol.order() if node.op is not None]
    assert [verdict.layer for verdict in verdicts if verdict.operator != OPTIMISED] == layers
    assert [value.name for value in proto.graph.input] == list(found.inputs)
    outputs = [f"{name}_output" if name in found.inputs else name for name in found.outputs]
    assert [value.name for value in proto.graph.output] == outputs


@pytest.mark.clause("Onnx/free-batch")
@pytest.mark.parametrize("name", ["lenet", "resnet-v1", "ssd", "retinaface", "bert", "spatial-transformer", "face"])
def test_batches_of_any_size(name):
    found, given = predicted(name)
    graph = converted(found.symbol, found.params, found.inputs, free_batch=True)
    proto = writing.model(graph)
    assert all(isinstance(shape[0], Free) for shape, _ in graph.inputs.values())
    sizes = {key: len(value) for key, value in given.items()}
    fed = {key: np.resize(value, (sizes[key] * 3, *value.shape[1:])) for key, value in given.items()}
    net = networks.NETWORKS[name][0](mx)
    arguments, states = networks.parameters(net, networks.NETWORKS[name][1])
    larger = prediction(net, arguments, states, {key: value.shape for key, value in fed.items()})
    assert [verdict for verdict in check(larger, graph, proto, fed) if not verdict.ok] == []


@pytest.mark.clause("Onnx/free-batch")
def test_states_follow_the_batch():
    found, _ = predicted("crnn")
    graph = converted(found.symbol, found.params, found.inputs, free_batch=True)
    free = {name: [isinstance(side, Free) for side in shape] for name, (shape, _) in graph.inputs.items()}
    assert free == {
        "data": [True, False, False, False], "lstm_init_h": [False, True, False], "lstm_init_c": [False, True, False],
    }


@pytest.mark.clause("Onnx/free-batch")
def test_a_shape_that_is_no_multiple_of_the_batch():
    net = mx.sym.Concat(mx.sym.Variable("data"), mx.sym.zeros((1, 3)), dim=0)
    found = prediction(net, {}, {}, {"data": (2, 3)})
    with pytest.raises(mx.MXNetError, match="no multiple of the batch; give a fixed batch") as caught:
        converted(found.symbol, found.params, found.inputs, free_batch=True)
    assert caught.value.clause == "Onnx/free-batch"
    fixed = mx.sym.elemwise_add(mx.sym.Variable("data"), mx.sym.ones((2, 3)))
    found = prediction(fixed, {}, {}, {"data": (2, 3)})
    with pytest.raises(mx.MXNetError, match="one size of a batch only"):
        converted(found.symbol, found.params, found.inputs, free_batch=True)


@pytest.mark.clause("Onnx/types")
def test_half_precision():
    data = mx.sym.Variable("data", dtype="float16")
    net = mx.sym.Convolution(data, num_filter=4, kernel=(3, 3), pad=(1, 1), name="conv")
    net = mx.sym.Activation(mx.sym.BatchNorm(net, name="bn", fix_gamma=False), act_type="relu", name="act")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="avg", pooling_convention="full", name="pool")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=5, name="fc"), name="softmax")
    arguments, states = networks.parameters(net, {"data": (2, 3, 8, 8)})
    found = prediction(net, arguments, states, {"data": (2, 3, 8, 8)})
    assert found.inputs["data"][1] == found.params["conv_weight"].dtype == np.float16
    assert found.params["bn_gamma"].dtype == np.float32
    given = {"data": np.random.RandomState(0).uniform(size=(2, 3, 8, 8)).astype(np.float16)}
    values = run(found, given)
    assert {value.dtype.name for value in values.values()} == {"float16"}
    single = mx.sym.load_json(net.tojson().replace('"__dtype__": "2"', '"__dtype__": "0"'))
    wide = run(prediction(single, arguments, states, {"data": (2, 3, 8, 8)}), {"data": given["data"].astype("float32")})
    for name, value in values.items():  # a few roundings to eleven bits in each of six layers
        np.testing.assert_allclose(value, wide[name], rtol=2e-2, atol=2e-2 * np.abs(wide[name]).max(), err_msg=name)




@pytest.mark.clause("Onnx/checked")
def test_a_damaged_file_is_named_at_its_layer():
    found, given = predicted("lenet")
    graph = converted(found.symbol, found.params, found.inputs)
    onnx = writing.imported()

    def damaged(change):
        proto = writing.model(graph)
        stored = {value.name: value for value in proto.graph.initializer}
        change(proto, stored)
        return [verdict.layer for verdict in check(found, graph, proto, given) if not verdict.ok]

    def turned(proto, stored):
        weight = onnx.numpy_helper.to_array(stored["conv2_weight"])
        stored["conv2_weight"].CopyFrom(onnx.numpy_helper.from_array(weight.swapaxes(2, 3).copy(), "conv2_weight"))

    def rounded(proto, stored):
        weight = onnx.numpy_helper.to_array(stored["fc1_weight"]).astype(np.float16).astype(np.float32)
        stored["fc1_weight"].CopyFrom(onnx.numpy_helper.from_array(weight, "fc1_weight"))

    assert damaged(lambda *_: None) == []
    assert damaged(turned)[0] == "conv2"
    assert damaged(rounded)[0] == "fc1"


@pytest.mark.clause("Onnx/checked")
def test_an_optimised_session_is_held_to_the_judged_one():
    from refimpl.export.onnx_check import _optimised
    exact, judged = np.array([1.0, 2.0]), np.float32([1, 2.0000005])
    assert _optimised("out", judged, judged, exact).ok
    assert _optimised("out", np.float32([1.000001, 2]), judged, exact).ok
    far = _optimised("out", np.float32([1, 2.01]), judged, exact)
    assert not far.ok
    assert far.note.startswith("2.00999999, not 2, at (1)")
    assert not _optimised("out", np.float32([1]), judged, exact).ok
    assert not _optimised("out", np.float32([np.nan, 2]), judged, exact).ok


@pytest.mark.clause("Onnx/names")
def test_names_of_tensors():
    data = mx.sym.Variable("data")
    net = mx.sym.Group([data, mx.sym.BlockGrad(data, name="same"), mx.sym.relu(data, name="act")])
    found = prediction(net, {}, {}, {"data": (2, 3)})
    graph = converted(found.symbol, found.params, found.inputs)
    assert graph.layers == {"same_output": "same_output", "act_output": "act_output"}
    given = {"data": np.float32([[-1, 2, 3], [0, 0, 1]])}
    proto = writing.model(graph)
    assert graph.outputs == ["data_output", "same_output", "act_output"]
    first, second, third = writing.run(proto, given).values()
    assert first.tolist() == second.tolist() == given["data"].tolist()
    assert third.tolist() == [[0, 2, 3], [0, 0, 1]]
    assert wrong(found, given, run(found, given)) == []
