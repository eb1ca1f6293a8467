"""Operators of 2015, and the lists of operators."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import operator

from .custom_operators import refused


class Softmax(operator.NumpyOp):
    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]]

    def forward(self, in_data, out_data):
        out_data[0][:] = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0] /= out_data[0].sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        label = in_data[1].astype(int)
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(label.size), label] -= 1


@pytest.mark.clause("Custom/legacy")
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_numpy_operators() -> None:
    net = Softmax()(mx.sym.Variable("x"), name="soft")
    assert (net.list_arguments(), net.list_outputs()) == (["x", "soft_label"], ["soft_output"])
    executor = net.simple_bind(mx.cpu(), x=(1, 2))
    executor.forward(is_train=True, x=mx.nd.array([[0, 0]]), soft_label=mx.nd.array([1]))
    executor.backward()
    assert executor.outputs[0].asnumpy().tolist() == [[0.5, 0.5]]
    assert executor.grad_dict["x"].asnumpy().tolist() == [[0.5, -0.5]]


class Doubling(operator.NDArrayOp):
    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 2

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * 2


@pytest.mark.clause("Custom/legacy")
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_ndarray_operators() -> None:
    with mx.name.NameManager():
        net = Doubling().get_symbol(data=mx.sym.Variable("x"))
    assert net.name == "_ndarray0"
    executor = net.simple_bind(mx.cpu(), x=(2,), grad_req="add")
    executor.forward(is_train=True, x=mx.nd.array([1, 2]))
    for _ in range(2):
        executor.backward(mx.nd.ones(2))
    assert executor.outputs[0].asnumpy().tolist() == [2, 4]
    assert executor.grad_arrays[0].asnumpy().tolist() == [4, 4]
    plain = operator.NumpyOp().get_symbol(mx.sym.Variable("x")).simple_bind(mx.cpu(), x=(2,))
    plain.forward(is_train=True, x=mx.nd.array([1, 2]))
    plain.backward(mx.nd.ones(2))
    assert plain.outputs[0].asnumpy().tolist() == [1, 2]
    assert plain.grad_arrays[0].asnumpy().tolist() == [1, 1]
    refused("Custom/legacy", operator.PythonOp().get_symbol, NotImplementedError)


def test_lists_of_operators() -> None:
    names = operator.get_all_registered_operators()
    assert {"FullyConnected", "Custom", "_plus_scalar"} <= set(names)
    assert names == sorted(names)
    # mx.operator.get_operator_arguments("FullyConnected") of MXNet 1.9.1
    assert operator.get_operator_arguments("FullyConnected") == (
        6, ["data", "weight", "bias", "num_hidden", "no_bias", "flatten"],
        ["NDArray-or-Symbol"] * 3 + [
            "int, required", "boolean, optional, default=0", "boolean, optional, default=1",
        ],
    )
    assert operator.get_operator_arguments("Activation").types[1] == (
        "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"
    )
    assert operator.get_operator_arguments("Custom") == (2, ["data", "op_type"], ["NDArray-or-Symbol[]", "string"])
    assert operator.get_operator_arguments("Concat").names == ["data", "num_args", "dim"]
    refused("contract/known-operator", lambda: operator.get_operator_arguments("absent"))
