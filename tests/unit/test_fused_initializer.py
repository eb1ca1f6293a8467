"""FusedRNN: the first values of a fused network are those that MXNet 1.9.1 draws."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import initializer as init
from refimpl import ndarray as nd
from refimpl.initializer import InitDesc


def own_attribute(fused: init.FusedRNN, size: int) -> np.ndarray:
    """``mx.random.seed(3)``, then Xavier fills a variable that names ``fused`` as its initializer."""
    array = nd.full((size,), 9.0)
    mx.random.seed(3)
    init.Xavier()(InitDesc("x_parameters", {"__init__": fused.dumps()}), array)
    return array.asnumpy()


@pytest.mark.clause("Initializer/fused")
def test_numbers_are_those_of_mxnet() -> None:
    # MXNet 1.9.1: FusedRNN(None, 2, 1, "gru", True, 2.0) for 3 inputs in the function above: 84 numbers
    numbers = own_attribute(init.FusedRNN(None, 2, 1, "gru", True, 2.0), 84)
    np.testing.assert_array_equal(numbers[:6], np.float32([
        0.18688786029815674, -0.17163974046707153, -0.12840569019317627, -0.3778691291809082,
        -0.5170467495918274, -0.5429285168647766,
    ]))
    assert np.all(numbers[:60])
    assert not numbers[60:].any()
    # and FusedRNN(None, 2, 2, "lstm", False, 2.0): both biases of each forget gate, the last number before them
    numbers = own_attribute(init.FusedRNN(None, 2, 2, "lstm", False, 2.0), 104)
    assert numbers[71] == np.float32(1.0316280126571655)
    assert numbers[72:].tolist() == [0, 0, 2, 2, 0, 0, 0, 0] * 4


@pytest.mark.clause("Initializer/fused")
def test_an_inner_initializer_goes_on_from_gate_to_gate() -> None:
    # MXNet 1.9.1: mx.random.seed(3); FusedRNN(Uniform(0.5), 2, 1, "rnn_tanh")._init_weight(InitDesc("x"), zeros(14))
    mx.random.seed(3)
    array = nd.zeros(14)
    init.FusedRNN(init.Uniform(0.5), 2, 1, "rnn_tanh")._init_weight(InitDesc("x_parameters"), array)
    assert array.asnumpy().tolist() == [
        0.08530223369598389, -0.07834246754646301, -0.05860891938209534, -0.17247286438941956,
        -0.23599845170974731, -0.24781182408332825, 0.033630549907684326, -0.19919607043266296,
        -0.1694336235523224, -0.3509220480918884, 0, 0, 0, 0,
    ]


@pytest.mark.clause("Initializer/fused")
def test_a_module_asks_it() -> None:
    # MXNet 1.9.1: the same network and seed
    cell = mx.rnn.FusedRNNCell(2, 1, "lstm", prefix="f_", forget_bias=3.0)
    outputs, _ = cell.unroll(2, mx.sym.Variable("data"), layout="TNC", merge_outputs=True)
    network = mx.sym.LinearRegressionOutput(outputs, mx.sym.Variable("softmax_label"), name="out")
    module = mx.mod.Module(network)
    module.bind([("data", (2, 1, 3))], [("softmax_label", (2, 1, 2))])
    mx.random.seed(1)
    module.init_params(init.Xavier())
    numbers = module.get_params()[0]["f_parameters"].asnumpy()
    np.testing.assert_array_equal(numbers[:4], np.float32([
        0.052216172218322754, -0.9749162197113037, -1.0078907012939453, 0.20710980892181396,
    ]))
    assert numbers[39] == np.float32(-0.07290208339691162)
    assert numbers[40:].tolist() == [0, 0, 3, 3, 0, 0, 0, 0] * 2


@pytest.mark.clause("Initializer/fused")
def test_names_and_attributes_that_the_inner_one_sees() -> None:
    # MXNet 1.9.1 asks in this order
    asked = []

    class Asking(init.Initializer):
        def _init_weight(self, name, arr):
            asked.append((str(name), name.global_init is self, arr.shape))

        _init_bias = _init_weight

    network = Asking()
    array = nd.zeros(40)
    init.FusedRNN(None, 2, 1, "rnn_relu", True)._init_weight(InitDesc("x", None, network), array[:28])
    assert asked == [
        ("l0_i2h_weight", True, (2, 3)), ("l0_h2h_weight", True, (2, 2)), ("r0_i2h_weight", True, (2, 3)),
        ("r0_h2h_weight", True, (2, 2)), ("l0_i2h_bias", True, (2,)), ("l0_h2h_bias", True, (2,)),
        ("r0_i2h_bias", True, (2,)), ("r0_h2h_bias", True, (2,)),
    ]


@pytest.mark.clause("Initializer/fused")
@pytest.mark.parametrize("given", [None, init.Uniform(0.5), "uniform", init.Uniform(0.5).dumps()])
def test_dumps_makes_an_equal_one(given) -> None:
    one = init.FusedRNN(given, 2, 1, "lstm", forget_bias=0.5)
    assert init.create(one.dumps()) == one
    assert one != init.FusedRNN(given, 3, 1, "lstm", forget_bias=0.5)


@pytest.mark.clause("Initializer/fused")
def test_dumps_text() -> None:
    # MXNet 1.9.1
    assert init.FusedRNN(init.Uniform(0.5), 2, 1, "lstm").dumps() == (
        '["fusedrnn", {"init": "[\\"uniform\\", {\\"scale\\": 0.5}]", "num_hidden": 2, "num_layers": 1,'
        ' "mode": "lstm", "bidirectional": false, "forget_bias": 1.0}]'
    )


@pytest.mark.clause("Initializer/fused-inner")
def test_refusals() -> None:
    for given in (init.Mixed([".*"], [init.One()]), 7):
        with pytest.raises(AttributeError, match="init must be") as caught:
            init.FusedRNN(given, 2, 1, "lstm")
        assert caught.value.clause == "Initializer/fused-inner"
    alone = init.FusedRNN(None, 2, 1, "lstm")
    for desc in (InitDesc("x_weight"), InitDesc("x_weight", None, alone), "x_weight"):
        with pytest.raises(TypeError, match="global_init") as caught:
            alone._init_weight(desc, nd.zeros(48))
        assert caught.value.clause == "Initializer/fused-inner"
    with pytest.raises(ValueError, match="x_parameters"):
        alone(InitDesc("x_parameters"), nd.zeros(48))


@pytest.mark.clause("rnn/mode")
@pytest.mark.clause("rnn/parameters-size")
def test_modes_and_sizes() -> None:
    with pytest.raises(mx.MXNetError, match="'xyz'"):
        init.FusedRNN(None, 2, 1, "xyz")
    array = nd.full((47,), 5.0)
    with pytest.raises(AssertionError, match="47 numbers"):
        init.FusedRNN(init.One(), 2, 1, "lstm")._init_weight(InitDesc("x"), array)
    assert array.asnumpy().tolist() == [5.0] * 47


def test_names_of_mxnet_that_are_not_initializers() -> None:
    assert init.NDArray is nd.NDArray
    assert init.load is nd.load
    assert init.is_np_array() is False
