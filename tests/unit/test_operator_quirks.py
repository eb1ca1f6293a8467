"""Quirks of operators: numbers recorded from MXNet 1.9.1, and those that are meant.

MXNet under autograd: a.attach_grad(), the call, y.backward(); then y and a.grad.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.quirks import NONE, quirks


def recorded(call, data, dtype="float32"):
    """The result of ``call``, and its gradient by ``data``."""
    array = nd.array(data, dtype=dtype)
    array.attach_grad()
    with mx.autograd.record():
        made = call(array)
    made.backward()
    return made.asnumpy(), array.grad.asnumpy()


def compare(call, data, old, intended, name, dtype="float32") -> None:
    for names, expected in (([name], old), ([NONE], intended)):
        with quirks(*names):
            for found, wanted in zip(recorded(call, data, dtype), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_activation_relu_nan() -> None:
    nan = float("nan")
    old, intended = ([nan, 0, 0, 2], [nan, 0, 0, 1]), ([0, 0, 0, 2], [0, 0, 0, 1])
    relu = functools.partial(nd.Activation, act_type="relu")
    compare(relu, [nan, -1, 0, 2], old, intended, "activation-relu-nan", "float64")
    compare(relu, [nan, -1, 0, 2], intended, intended, "activation-relu-nan")  # float32 is as intended there


def test_selu_slope() -> None:
    out = [-1.52016652, -1.11133075, 1.050701022]
    old = out, [0.16085884, 0.59042299, 1.050701022]
    intended = out, [0.237932791, 0.646768590, 1.050701022]  # by hand: 1.0507 * 1.6733 * e^x
    compare(functools.partial(nd.LeakyReLU, act_type="selu"), [-2, -1, 1], old, intended, "selu-slope")


@pytest.mark.clause("LeakyReLU/gamma-sum")
def test_prelu_in_place() -> None:
    """MXNet ran this function, ``mx`` being mxnet."""
    convolved = mx.sym.Convolution(mx.sym.var("d"), kernel=(1, 1), num_filter=2, no_bias=True, name="c")
    data = {
        "d": nd.array([[[[1, -2], [3, -4]]]]), "c_weight": nd.array([[[[1]]], [[[-1]]]]), "g": nd.array([0.5, 2])
    }

    def slopes(net):
        """What gamma and the weight of the convolution get."""
        args = {name: data[name] for name in net.list_arguments()}
        grads = {name: nd.zeros(array.shape) for name, array in args.items()}
        executor = mx.sym.MakeLoss(net).bind(mx.cpu(), args, grads)
        executor.forward(is_train=True)
        executor.backward()
        return [grads[name].asnumpy().ravel().tolist() for name in ("g", "c_weight") if name in grads]

    def prelu(net):
        return mx.sym.LeakyReLU(net, mx.sym.var("g"), act_type="prelu")

    double = mx.sym.sum(prelu(convolved) * 2)
    joined = mx.sym.Concat(prelu(convolved), convolved, dim=1)
    behind_concat = prelu(mx.sym.Concat(mx.sym.var("d"), -mx.sym.var("d"), dim=1))
    for name, net, old, intended, rest in (
        ("prelu", prelu(convolved), [-3, -8], [-6, -4], [[1, 2]]),
        ("double", double, [-6, -16], [-12, -8], [[2, 4]]),
        ("joined", joined, [-3, -8], [-6, -4], [[-1, 0]]),
        ("no convolution", behind_concat, [-3, -8], [-6, -4], []),
        ("two readers", convolved + prelu(convolved), [-6, -4], [-6, -4], [[-1, 0]]),
    ):
        for quirk, expected in (("prelu-in-place", old), (NONE, intended)):
            with quirks(quirk):
                assert slopes(net) == [expected, *rest], (name, quirk)


def test_prod_gradient_nan() -> None:
    nan = float("nan")
    data, out = [[2, 0, 3], [0, 0, 4], [1, 2, 3]], [0, 0, 6]
    old = out, [[0, nan, 0], [nan, nan, 0], [6, 3, 2]]
    intended = out, [[0, 6, 0], [0, 0, 0], [6, 3, 2]]
    for product in (nd.prod, nd.nanprod):
        compare(functools.partial(product, axis=1), data, old, intended, "prod-gradient-nan")
    old, intended = ([6, 0], [[3, 0, 2], [nan, 0, 0]]), ([6, 0], [[3, 0, 2], [4, 0, 0]])
    compare(functools.partial(nd.nanprod, axis=1), [[2, nan, 3], [0, nan, 4]], old, intended, "prod-gradient-nan")


def test_scatter_repeats() -> None:
    scatter = functools.partial(nd.scatter_nd, indices=nd.array([[0, 0, 2]]), shape=(4,))
    out = [2, 0, 3, 0]
    compare(scatter, [1, 2, 3], (out, [1, 1, 1]), (out, [0, 1, 1]), "scatter-repeats")

    def copy(new):
        return nd.contrib.index_copy(nd.array([[1], [2], [3]]), nd.array([1, 1], dtype="int32"), new)

    out = [[1], [5], [3]]
    compare(copy, [[4], [5]], (out, [[1], [1]]), (out, [[0], [1]]), "scatter-repeats")


# by mode: with and without the option float32 gives these outputs of the last time
RNN_LAST = {"gru": [0.29258, 0.34874, 0.16429, 0.26908], "lstm": [0.47679, 0.54577, 0.30853, 0.40178]}
RNN_DEEP = [0.42265, 0.431, 0.4243, 0.43068]


def rnn_last(mode, layers=1, lengths=(), **options) -> np.ndarray:
    """Outputs of the last time of three, for two rows of two numbers and two units."""
    gates = {"gru": 3, "lstm": 4}[mode]
    data = nd.array(np.linspace(-1, 1, 12).reshape(3, 2, 2))
    parameters = nd.array(np.linspace(-0.5, 0.5, layers * gates * (2 * 4 + 2 * 2)))
    states = [nd.zeros((layers, 2, 2))] + [nd.ones((layers, 2, 2))] * (mode == "lstm")
    more = [nd.array(lengths)] if lengths else []
    with mx.autograd.record():
        out = nd.RNN(data, parameters, *states, *more, mode=mode, state_size=2, num_layers=layers, **options)
    return out.asnumpy()[2].ravel()


@pytest.mark.parametrize(("name", "expected", "options"), [
    ("rnn-no-dropout", RNN_DEEP, {"mode": "gru", "layers": 2, "p": 0.9}),
    ("rnn-no-lengths", RNN_LAST["gru"], {"mode": "gru", "lengths": (1, 2), "use_sequence_length": True}),
    ("rnn-no-lengths", RNN_LAST["lstm"], {"mode": "lstm", "lengths": (1, 2), "use_sequence_length": True}),
    ("rnn-no-clip", RNN_LAST["lstm"], {"mode": "lstm", "lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.1}),
])
def test_rnn_ignores(name, expected, options) -> None:
    with quirks(name):
        np.testing.assert_allclose(rnn_last(**options), expected, atol=1e-5)
    with quirks(NONE):
        assert np.abs(rnn_last(**options) - expected).max() > 1e-3
