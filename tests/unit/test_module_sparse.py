"""Module with sparse parameters and gradients: the numbers of MXNet, and what ``prepare`` asks for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import refimpl as mx

from .module_nets import ready

clause = pytest.mark.clause


def contexts(count):
    return [mx.cpu(index) for index in range(count)]


def values(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


STORES = [lambda: mx.kv.create("local"), lambda: "local", lambda: "device"]

def sparse(count):
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(6, 1))
    bias = mx.sym.Variable("bias", shape=(1,), init=mx.init.Zero())
    net = mx.sym.broadcast_add(mx.sym.sparse.dot(mx.sym.Variable("data", stype="csr"), weight), bias)
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("label"), name="out")
    module = mx.mod.Module(net, label_names=["label"], context=contexts(count))
    module.bind([("data", (4, 6))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    return module


@clause("Module/sparse-rows", "ExecutorGroup/same-result")
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("count", [1, 2])
def test_sparse_regression_gives_mxnets_numbers(count, store):
    # MXNet 1.9.1, with row_sparse weights and pulls of rows: these weights, on one and two contexts
    data = [[1, 0, 0, 2, 0, 0], [0, 0, 3, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
    rows = mx.io.DataBatch([mx.nd.array(data).tostype("csr")], [mx.nd.array([[1], [2], [3], [4]])])
    module = sparse(count)
    module.init_optimizer(store(), optimizer_params={"learning_rate": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            module.prepare(rows, lambda _: {"weight": mx.nd.array([0, 1, 2, 3, 4])})
            module.forward_backward(rows)
            module.update()
    assert values(module)["weight"].ravel().tolist() == [0.3125, 1.8125, 1.0, 0.5625, 1.9375, 1.0]
    assert values(module)["bias"].tolist() == [1.0625]


def embedding(count):
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=6, output_dim=2, sparse_grad=True, name="embed")
    net = mx.sym.FullyConnected(words, num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("label"), name="out")
    module = mx.mod.Module(net, label_names=["label"], context=contexts(count))
    module.bind([("data", (4,))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    return module


def rows_of(net):
    """Two batches that read other rows."""
    if net is embedding:
        return [mx.nd.array(words) for words in ([0, 1, 1, 4], [0, 2, 2, 0])]
    first = [[1, 0, 0, 2, 0, 0], [0, 0, 3, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
    second = [[0, 0, 0, 2, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
    return [mx.nd.array(table).tostype("csr") for table in (first, second)]


@clause("Module/sparse-gradients", "ExecutorGroup/same-result")
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("net", "name", "expected"),
    [
        (sparse, "weight", [0.67822, 1.46558, 0.54883, 0.74146, 1.28149, 1.0]),
        (embedding, "embed_weight", [0.52468, 0.82656, 0.92188, 1.0, 0.97953, 1.0]),
    ],
)
def test_rows_that_nobody_read_stay(net, name, expected, count, store):
    # MXNet 1.9.1: three steps of SGD with rate 0.25, momentum 0.5, wd 0.5, to five decimals; on one and two contexts.
    # A row moves, decays and loses momentum only in the steps that read it.
    module = net(count)
    module.init_optimizer(store(), optimizer_params={"learning_rate": 0.25, "momentum": 0.5, "wd": 0.5})
    label = mx.nd.array([[1], [2], [3], [4]])
    for step in range(3):
        module.forward_backward(mx.io.DataBatch([rows_of(net)[step % 2]], [label]))
        module.update()
    assert module._exec_group.grad_arrays[0][0].stype == "row_sparse"
    np.testing.assert_allclose(values(module)[name][:, 0], expected, atol=1e-5)


@clause("Module/sparse-rows")
def test_what_is_prepared_in_vain_warns():
    module = ready(2)
    module.prepare(None)
    module.init_optimizer(kvstore=None)
    with pytest.warns(UserWarning, match="No need to call sparse_row_id_fn"):
        module.prepare(None, lambda _: {"fc_weight": None})
    module.init_optimizer(force_init=True)
    with pytest.warns(UserWarning, match="fc_weight is not row_sparse"):
        module.prepare(None, lambda _: {"fc_weight": None})
    with pytest.warns(UserWarning, match="sparse_row_id_fn is not called"):
        mx.mod.SequentialModule().prepare(None, lambda _: {})


@clause("Module/sparse-rows")
@pytest.mark.parametrize(("kind", "rows"), [(AssertionError, [1]), (ValueError, {"zz": None})])
def test_rows_are_a_dict_of_parameters(kind, rows):
    module = ready(2)
    module.init_optimizer()
    with pytest.raises(kind) as caught:
        module.prepare(None, lambda _: rows)
    assert caught.value.clause == "Module/sparse-rows"
