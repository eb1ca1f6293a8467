"""What a network predicts: losses, labels, parameters, and parts of a network."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refimpl as mx
from refimpl.export import cutting
from refimpl.kernels.foundation import get
from refimpl.symbol.prediction import PREDICTIONS, ended, prediction


def kinds(found):
    return {node.name: node.kind for node in found.symbol.order() if node.op is not None}


def values(found, **given):
    arrays = {name: mx.nd.array(value) for name, value in {**found.params, **given}.items()}
    hidden = set(found.symbol.list_auxiliary_states())
    args = {name: value for name, value in arrays.items() if name not in hidden}
    aux = {name: value for name, value in arrays.items() if name in hidden}
    return [out.asnumpy() for out in found.symbol.bind(mx.cpu(), args, aux_states=aux, grad_req="null").forward()]


DATA = np.float32([[0.5, -1.0, 2.0], [0.0, 1.0, -3.0]])


@pytest.mark.clause("Export/losses")
@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ("SoftmaxOutput", "softmax"), ("LinearRegressionOutput", "_copy"), ("MAERegressionOutput", "_copy"),
        ("LogisticRegressionOutput", "sigmoid"), ("SVMOutput", "_copy"), ("MakeLoss", "_copy"),
        ("BlockGrad", "_copy"), ("SoftmaxActivation", "softmax"),
    ],
)
def test_a_loss_becomes_its_prediction(loss, kind):
    data = mx.sym.Variable("data")
    net = getattr(mx.sym, loss)(data, name="head")
    found = prediction(net, {}, {}, {"data": DATA.shape})
    assert kinds(found) == {"head": kind}
    assert list(found.inputs) == ["data"]
    assert found.outputs == ["head_output"]
    executor = net.simple_bind(mx.cpu(), data=DATA.shape, grad_req="null")
    before = executor.forward(is_train=False, data=mx.nd.array(DATA))[0].asnumpy()
    np.testing.assert_allclose(values(found, data=DATA)[0], before, rtol=1e-6)  # two formulas of the logistic function


@pytest.mark.clause("Export/losses")
@pytest.mark.parametrize("params", [{}, {"multi_output": True}, {"preserve_shape": True}])
def test_softmax_output_of_more_axes(params):
    data = np.random.RandomState(1).normal(size=(2, 3, 4)).astype(np.float32)
    net = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="head", **params)
    found = prediction(net, {}, {}, {"data": data.shape})
    executor = net.simple_bind(mx.cpu(), data=data.shape, grad_req="null")
    before = executor.forward(is_train=False, data=mx.nd.array(data))[0].asnumpy()
    np.testing.assert_allclose(values(found, data=data)[0], before, rtol=1e-6)  # the order of a sum may differ
    assert found.outputs == ["head_output"]


@pytest.mark.clause("Export/losses")
def test_every_prediction_is_an_operator():
    assert all(get(loss).name == loss and get(kind).name == kind for loss, kind in PREDICTIONS.items())


@pytest.mark.clause("Export/labels")
def test_outputs_that_need_labels_are_left_out():
    data, label = mx.sym.Variable("data"), mx.sym.Variable("label")
    scores = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
    loss = mx.sym.MakeLoss(mx.sym.smooth_l1(scores - mx.sym.Variable("box_label")), name="loss")
    head = mx.sym.SoftmaxOutput(scores, label, name="softmax")
    held = {"fc_weight": np.ones((3, 4)), "fc_bias": np.zeros(3), "more": np.zeros(2)}
    found = prediction(mx.sym.Group([head, loss]), held, {}, {"data": (2, 4)})
    assert found.outputs == ["softmax_output"]
    assert sorted(found.params) == ["fc_bias", "fc_weight"]
    assert found.params["fc_weight"].dtype == np.float32
    with pytest.raises(mx.MXNetError, match=r"every output needs a label \(box_label\)") as caught:
        prediction(loss, held, {}, {"data": (2, 4)})
    assert caught.value.clause == "Export/labels"


@pytest.mark.clause("Export/labels")
def test_a_sequence_loss_alone_becomes_its_scores():
    scores = mx.sym.Variable("data")
    loss = mx.sym.MakeLoss(mx.sym.CTCLoss(scores, mx.sym.Variable("label"), name="ctc"))
    found = prediction(loss, {}, {}, {"data": (5, 2, 4)})
    assert kinds(found) == {"ctc": "_copy"}
    both = mx.sym.Group([mx.sym.BlockGrad(mx.sym.softmax(scores, name="shares"), name="out"), loss])
    assert prediction(both, {}, {}, {"data": (5, 2, 4)}).outputs == ["out_output"]


@pytest.mark.clause("Export/labels")
def test_a_label_may_state_the_shape_of_another_batch():
    label = mx.sym.Variable("softmax_label", shape=(32,))
    net = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), label, name="softmax")
    assert list(prediction(net, {}, {}, {"data": (2, 3)}).inputs) == ["data"]


@pytest.mark.clause("Export/fixed-gamma")
@pytest.mark.parametrize("held", [{"bn_gamma": np.array([3.0, 4.0])}, {}])
def test_gamma_of_a_fixed_layer_is_one(held):
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn")
    states = {"bn_moving_mean": np.zeros(2), "bn_moving_var": np.ones(2)}
    found = prediction(net, {**held, "bn_beta": np.zeros(2)}, states, {"data": (5, 2)})
    assert found.params["bn_gamma"].tolist() == [1, 1]
    free = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", fix_gamma=False)
    held = {"bn_gamma": np.array([3.0, 4.0]), "bn_beta": np.zeros(2)}
    assert prediction(free, held, states, {"data": (5, 2)}).params["bn_gamma"].tolist() == [3, 4]


@pytest.mark.clause("Export/parameters")
def test_missing_parameters():
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn")
    with pytest.raises(mx.MXNetError, match="lack bn_moving_var, which the network needs") as caught:
        prediction(net, {"bn_beta": np.zeros(2)}, {"bn_moving_mean": np.zeros(2)}, {"data": (5, 2)})
    assert caught.value.clause == "Export/parameters"


@pytest.mark.clause("Export/input-shape")
def test_shapes_of_inputs():
    net = mx.sym.FullyConnected(mx.sym.Variable("data", shape=(0, 4)), num_hidden=3, name="fc")
    held = {"fc_weight": mx.nd.ones((3, 4)), "fc_bias": mx.nd.zeros(3)}
    assert prediction(net, held, {}, {"data": (2, 4)}).inputs == {"data": ((2, 4), np.dtype(np.float32))}
    for given, said in (
        ({}, r"shape of the input data is \(0, 4\); give it whole, as data=1,3,224,224"),
        ({"data": (2, 4), "other": (1,)}, "no input other; it has data"),
        ({"data": (2, 5)}, "Shape inconsistent"),
    ):
        with pytest.raises(mx.MXNetError, match=said):
            prediction(net, held, {}, given)
    flat = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="head")
    with pytest.raises(mx.MXNetError, match=r"head needs the shape .* give the shape of data, as data=1,3,224,224"):
        prediction(flat, {}, {})
    stated = mx.sym.relu(mx.sym.Variable("data", shape=(2, 4), dtype="float16"))
    assert prediction(stated, {}, {}).inputs == {"data": ((2, 4), np.dtype(np.float16))}


# --- parts of a network ---------------------------------------------------------------------------------


def chain():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    parts = mx.sym.split(net, num_outputs=3, name="parts")
    return mx.sym.relu(parts[1], name="last")


@pytest.mark.clause("Export/until")
def test_a_network_ends_at_a_layer():
    net = chain()
    assert ended(net, "fc").list_outputs() == ["fc_output"]
    assert ended(net, "fc_output").list_outputs() == ["fc_output"]
    assert len(ended(net, "parts").list_outputs()) == 3
    assert ended(net, "parts_output1").list_outputs() == ["parts_output1"]
    with pytest.raises(mx.MXNetError, match="no layer has the name part; did you mean parts") as caught:
        ended(net, "part")
    assert caught.value.clause == "Export/until"
    twice = mx.sym.Group([mx.sym.relu(net, name="same"), mx.sym.tanh(net, name="same")])
    with pytest.raises(mx.MXNetError, match="more than one layer has the name same"):
        ended(twice, "same")


@pytest.mark.clause("Export/until")
def test_the_text_of_a_symbol_is_cut():
    text = chain().tojson()
    part = json.loads(cutting.cut(text, "fc"))
    assert [node["name"] for node in part["nodes"]] == ["data", "fc_weight", "fc_bias", "fc"]
    assert mx.sym.load_json(json.dumps(part)).list_outputs() == ["fc_output"]
    assert cutting.cut(text, "absent") == text


@pytest.mark.clause("Export/custom")
def test_layers_in_python_are_named():
    nodes = [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]]},
        {"op": "Custom", "name": "own", "attrs": {"op_type": "mine"}, "inputs": [[1, 0, 0], [0, 0, 0]]},
    ]
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[2, 0, 0]]})
    assert cutting.customs(text) == [("own", "mine", ["act"])]
    part = cutting.cut(text, "act")
    assert cutting.customs(part) == []
    assert mx.sym.load_json(part).list_outputs() == ["act_output"]


@pytest.mark.clause("Export/symbol")
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nodes": [{"op": "null"}]}', '{"nodes": [1]}',
                                  '{"nodes": [{"op": "null", "name": "a", "inputs": [[0, 0]]}]}'])
def test_a_text_that_is_no_symbol(text):
    with pytest.raises(mx.MXNetError, match="no symbol of MXNet"):
        cutting.customs(text)
