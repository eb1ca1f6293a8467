"""Sparse arrays beyond operators: gradients, graphs and training steps, with the numbers of MXNet 1.9.1."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.executor.cached_op import CachedOp
from refimpl.ndarray import sparse

sym = mx.sym
X = [[0, 1, 0, 0], [2, 0, 3, 0], [0, 0, 0, 0]]
W = [[1, 2], [3, 4], [5, 6], [7, 8]]
D = [[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 5]]


def made(values: Any, stype: str = "default") -> Any:
    return nd.array(values).tostype(stype)


def seen(array: Any) -> Any:
    """(storage, indices, values) as lists."""
    if array is None or array.stype == "default":
        return None if array is None else array.asnumpy().tolist()
    return (array.stype, array.indices.asnumpy().tolist(), array.data.asnumpy().tolist())


@pytest.fixture(autouse=True)
def quiet(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")


# --- gradients on the tape: x.attach_grad(stype=...); y = f(x); y.backward(); x.grad, y.stype --------------

ALL_ROWS = [0, 1, 2, 3]
SQUARES = [[0, 2, 0], [4, 0, 6], [8, 0, 10]]


@pytest.mark.clause("Sparse/recording")
@pytest.mark.clause("Sparse/gradient")
@pytest.mark.parametrize(("stype", "function", "gradient", "storage"), [
    ("csr", lambda x: x * 2, ("csr", [0, 1, 2] * 4, [2] * 12), "csr"),
    ("csr", nd.square, ("csr", [1, 0, 2, 0, 2], [2, 4, 6, 8, 10]), "csr"),
    ("csr", lambda x: nd.sum(x, axis=0), ("csr", [0, 1, 2] * 4, [1] * 12), "default"),
    ("csr", lambda x: nd.dot(x, nd.array([[1, 2], [0, 0], [5, 6]])), ("csr", [0, 2] * 4, [3, 11] * 4), "default"),
    ("csr", lambda x: x[0:1], ("csr", [0, 1, 2], [1, 1, 1]), "csr"),
    ("row_sparse", lambda x: x * 2, ("row_sparse", ALL_ROWS, [[2] * 3] * 4), "row_sparse"),
    ("row_sparse", nd.square, ("row_sparse", [0, 1, 3], SQUARES), "row_sparse"),
    ("row_sparse", lambda x: x.tostype("default") * 2, ("row_sparse", ALL_ROWS, [[2] * 3] * 4), "default"),
    ("row_sparse", lambda x: nd.sparse.retain(x, nd.array([0, 2])), ("row_sparse", [0, 2], [[1] * 3] * 2),
     "row_sparse"),
    ("row_sparse", lambda x: x.copy(), ("row_sparse", ALL_ROWS, [[1] * 3] * 4), "row_sparse"),
    ("default", lambda x: nd.square(x.tostype("csr")), [[0, 2, 0], [4, 0, 6], [0, 0, 0], [8, 0, 10]], "csr"),
])
def test_gradients_of_sparse_arrays(stype, function, gradient, storage) -> None:
    x = made(D, stype)
    x.attach_grad()
    assert x.grad.stype == stype
    with mx.autograd.record():
        y = function(x)
    y.backward()
    assert y.stype == storage and seen(x.grad) == gradient


def lookup(ids: list[int], weight: Any, **kwargs: Any) -> Any:
    return nd.Embedding(nd.array(ids), weight, input_dim=4, output_dim=2, **kwargs)


@pytest.mark.clause("Sparse/gradient-rows")
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize(("function", "rows", "values"), [
    (lambda w: lookup([1], w, sparse_grad=True) + lookup([2], w, sparse_grad=True) * 0, [1, 2], [[1, 1], [0, 0]]),
    (lambda w: nd.dot(made(X, "csr"), w), [0, 1, 2], [[2, 2], [1, 1], [3, 3]]),
    (lambda w: nd.dot(made(X, "csr"), w) * 0, [0, 1, 2], [[0, 0]] * 3),
    # a stored zero counts
    (lambda w: nd.dot(sparse.csr_matrix(([0, 2, 3], [1, 0, 2], [0, 1, 3, 3]), shape=(3, 4)), w), [0, 1, 2],
     [[2, 2], [0, 0], [3, 3]]),
    (lambda w: nd.dot(nd.array(X), w), [0, 1, 2], [[2, 2], [1, 1], [3, 3]]),
    (lambda w: nd.dot(nd.array(X), w) * 0, [], []),
    (lambda w: nd.take(w, nd.array([1, 1])), [1], [[2, 2]]),
])
def test_rows_of_gradients(stype, function, rows, values) -> None:
    w = made(W, stype)
    w.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = function(w)
    y.backward(retain_graph=True)
    assert seen(w.grad) == ("row_sparse", rows, values)
    found = mx.autograd.grad(y, [w])[0]
    assert seen(found) == ("row_sparse", rows, values)


@pytest.mark.clause("Sparse/gradient-rows")
def test_adding_keeps_the_old_rows() -> None:  # MXNet refuses add for these
    w = made(W)
    w.attach_grad("add", stype="row_sparse")
    for ids in ([3, 3], [1]):
        with mx.autograd.record():
            y = lookup(ids, w, sparse_grad=True)
        y.backward()
    assert seen(w.grad) == ("row_sparse", [1, 3], [[1, 1], [2, 2]])


def test_reaching_nothing_clears() -> None:
    w, v = made(W), made(W)
    for each in (w, v):
        each.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = nd.BlockGrad(w) + v
    y.backward()
    assert seen(w.grad) == ("row_sparse", [], [])


@pytest.mark.clause("Sparse/recording")
def test_sparse_arrays_while_recording() -> None:
    w = made(W, "row_sparse")
    w.attach_grad()
    with mx.autograd.record():
        with pytest.raises(mx.MXNetError) as caught:
            w[:] = nd.array(W)
        assert caught.value.clause == "autograd/in-place"
        y = nd.square(w)
    y[:] = nd.ones((4, 2))  # now it is another value
    with mx.autograd.record():
        z = y * 1 + w
    z.backward()
    assert w.grad.asnumpy().tolist() == [[1, 1]] * 4 and z.asnumpy()[0].tolist() == [2, 3]
    w[:] = made(np.array(W) * 2)
    with mx.autograd.record():
        z = nd.square(w)
    z.backward(made([[1, 1], [0, 0], [0, 0], [0, 0]], "row_sparse"))
    assert w.grad.asnumpy().tolist() == [[4, 8], [0, 0], [0, 0], [0, 0]]
    assert w.detach()._place is None


def test_cached_op_with_sparse_inputs() -> None:
    w = made(W)
    w.attach_grad(stype="row_sparse")
    op = CachedOp(sym.dot(sym.var("x"), sym.var("w")))
    with mx.autograd.record():
        y = op(made(X, "csr"), w)
    y.backward()
    assert seen(w.grad) == ("row_sparse", [0, 1, 2], [[2, 2], [1, 1], [3, 3]])


# --- graphs ----------------------------------------------------------------------------------------


@pytest.mark.clause("Sparse/bind")
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_bound_sparse_arrays(stype) -> None:
    # exe = mx.sym.dot(x, w).bind(mx.cpu(), {x: csr, w: w}, {w: zeros("row_sparse")}, {"w": "write"})
    args = {"x": made(X, "csr"), "w": made(W, stype)}
    exe = sym.dot(sym.var("x"), sym.var("w")).bind(
        mx.cpu(), args, {"w": nd.zeros((4, 2), stype="row_sparse")}, {"w": "write"}
    )
    assert exe.forward(is_train=True)[0].asnumpy().tolist() == [[3, 4], [17, 22], [0, 0]]
    exe.backward(made([[1, 1]] * 3, "row_sparse"))
    assert seen(exe.grad_dict["w"]) == ("row_sparse", [0, 1, 2], [[2, 2], [1, 1], [3, 3]])
    args["x"][:] = made([[0, 0, 0, 1], [0] * 4, [0] * 4], "csr")  # the executor reads the caller's arrays
    assert exe.forward(is_train=True)[0].asnumpy().tolist() == [[7, 8], [0, 0], [0, 0]]
    exe.backward([nd.ones((3, 2))])
    assert seen(exe.grad_dict["w"]) == ("row_sparse", [3], [[1, 1]])
    assert exe.forward(x=nd.array(X))[0].asnumpy().tolist() == [[3, 4], [17, 22], [0, 0]]


@pytest.mark.clause("Sparse/bind")
def test_one_line_is_logged(monkeypatch, caplog) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "1")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            sym.square(sym.var("logged")).bind(mx.cpu(), {"logged": made(X, "csr")})
    lines = [r.getMessage() for r in caplog.records if "logged (csr)" in r.getMessage()]
    assert len(lines) == 1 and lines[0].startswith("Storage type fallback detected: an executor works on dense copies")


@pytest.mark.clause("Sparse/gradient-rows")
def test_rows_across_contexts() -> None:
    with mx.AttrScope(ctx_group="there"):
        product = sym.dot(sym.square(sym.var("x")), sym.var("w")) * 0
    exe = product.bind(
        mx.cpu(0), {"x": made(X, "csr").as_in_context(mx.cpu(1)), "w": made(W)},
        {"w": nd.zeros((4, 2), stype="row_sparse")}, {"w": "write"}, group2ctx={"there": mx.cpu(2)},
    )
    exe.forward(is_train=True)
    exe.backward(nd.ones((3, 2), ctx=mx.cpu(2)))
    assert seen(exe.grad_dict["w"]) == ("row_sparse", [0, 1, 2], [[0, 0]] * 3)


x, x_dense = sym.var("x", stype="csr"), sym.var("x")
w, w_dense, v = sym.var("w", stype="row_sparse"), sym.var("w"), sym.var("v", stype="row_sparse")
ids, other_ids = sym.var("i"), sym.var("j")
SIZES = {"input_dim": 4, "output_dim": 2}
ROWS = {**SIZES, "sparse_grad": True}


# exe = symbol.simple_bind(mx.cpu(), grad_req=..., **shapes): stypes of arguments, gradients (None: null), outputs
@pytest.mark.clause("Sparse/bind-storage")
@pytest.mark.parametrize(("symbol", "wanted", "gradients", "output"), [
    (sym.dot(x, w), "xw", ["default", "row_sparse"], "default"),
    (sym.dot(x, w_dense), "w", [None, "row_sparse"], "default"),
    (sym.dot(x_dense, w), "xw", ["default", "default"], "default"),
    (sym.dot(x, sym.var("y"), transpose_a=True), "y", [None, "default"], "row_sparse"),
    (sym.Embedding(ids, w, **ROWS), "w", [None, "row_sparse"], "default"),
    (sym.Embedding(ids, w_dense, **ROWS), "w", [None, "row_sparse"], "default"),
    (sym.Embedding(ids, w, **SIZES), "w", [None, "default"], "default"),
    (sym.Embedding(ids, w, **ROWS) + sym.Embedding(other_ids, w, **ROWS), "w", [None, "row_sparse", None], "default"),
    (sym.sum(sym.Embedding(ids, w, **ROWS)) + sym.sum(w), "w", [None, "default"], "default"),
    (sym.square(w), "w", ["row_sparse"], "row_sparse"),
    (sym.exp(w), "w", ["default"], "default"),
    (sym.square(x), "x", ["csr"], "csr"),
    (sym.elemwise_add(w, v), "wv", ["row_sparse", "row_sparse"], "row_sparse"),
    (sym.elemwise_add(w, sym.var("u")), "wu", ["default", "default"], "default"),
    (w * 2, "w", ["row_sparse"], "row_sparse"),
    (sym.sum(w), "w", ["default"], "default"),
    (sym.cast_storage(x_dense, stype="csr"), "x", ["csr"], "csr"),
    (sym.cast_storage(w, stype="default"), "w", ["default"], "default"),
    (sym.dot(x, sym.cast_storage(w_dense, stype="row_sparse")), "w", [None, "row_sparse"], "default"),
])
def test_storages_in_graphs(symbol, wanted, gradients, output) -> None:
    shapes = {"x": (3, 4), "w": (4, 2), "v": (4, 2), "u": (4, 2), "y": (3, 2), "i": (3,), "j": (3,)}
    names = symbol.list_arguments()
    exe = symbol.simple_bind(
        mx.cpu(), grad_req=dict.fromkeys(wanted, "write"), **{name: shapes[name] for name in names}
    )
    flags = {"1": "row_sparse", "2": "csr"}
    attrs = symbol.attr_dict()
    assert [a.stype for a in exe.arg_arrays] == [
        flags.get(attrs.get(name, {}).get("__storage_type__"), "default") for name in names
    ]
    assert [None if g is None else g.stype for g in exe.grad_arrays] == gradients
    assert exe.forward(is_train=True)[0].stype == exe.outputs[0].stype == output


def test_storages_of_deep_graphs_take_no_time() -> None:  # a walk that visits a value once per path would never end
    value = sym.var("w", stype="row_sparse")
    for _ in range(60):
        value = sym.elemwise_add(value, value)
    for _ in range(1500):
        value = sym.negative(value)
    exe = value.simple_bind(mx.cpu(), w=(4, 2))
    assert (exe.grad_dict["w"].stype, exe.outputs[0].stype) == ("row_sparse", "row_sparse")


@pytest.mark.clause("Sparse/bind-storage")
def test_stype_dict_wins() -> None:
    exe = (w * 2).simple_bind(mx.cpu(), stype_dict={"w": "csr", "nobody": "csr"}, w=(4, 2))
    assert (exe.arg_dict["w"].stype, exe.grad_dict["w"].stype, exe.outputs[0].stype) == ("csr",) * 3
    shared = (w * 3).simple_bind(mx.cpu(), shared_exec=exe, shared_arg_names=["w"], w=(4, 2))
    assert shared.arg_dict["w"].stype == "row_sparse"  # another storage is not shared
    again = (w * 3).simple_bind(mx.cpu(), shared_exec=shared, shared_arg_names=["w"], shared_buffer={}, w=(4, 2))
    assert again.arg_dict["w"] is shared.arg_dict["w"]


@pytest.mark.clause("Sparse/storage")
def test_unknown_storage() -> None:
    with pytest.raises(RuntimeError, match="row_spars") as caught:
        sym.square(w_dense).simple_bind(mx.cpu(), stype_dict={"w": "row_spars"}, w=(4, 2))
    assert caught.value.clause == "Sparse/storage"


@pytest.mark.clause("Sparse/reshape-bound")
def test_reshape_is_refused() -> None:
    exe = sym.dot(x, w).simple_bind(mx.cpu(), x=(3, 4), w=(4, 2))
    with pytest.raises(mx.MXNetError) as caught:
        exe.reshape(x=(2, 4), w=(4, 2))
    assert caught.value.clause == "Sparse/reshape-bound"
    assert exe.reshape(x=(3, 4), w=(4, 2)).arg_dict["x"] is exe.arg_dict["x"]


def test_sparse_parameters_are_copied() -> None:
    exe = sym.dot(x, w).simple_bind(mx.cpu(), grad_req="null", x=(3, 4), w=(4, 2))
    exe.copy_params_from({"w": nd.array(W), "x": made(X, "csr")})
    assert exe.forward()[0].asnumpy().tolist() == [[3, 4], [17, 22], [0, 0]]
    assert seen(exe.arg_dict["w"]) == ("row_sparse", ALL_ROWS, W)


# --- training: three steps each ------------------------------------------------------------------------


def step(updater: Any, exe: Any, names: list[str]) -> None:
    exe.backward()
    for number, name in enumerate(names):
        updater(number, exe.grad_dict[name], exe.arg_dict[name])


# opt = mx.optimizer.SGD(learning_rate=.5, momentum=.5, wd=.25, rescale_grad=1., lazy_update=True)
def test_matrix_factorisation() -> None:
    names = ["user_weight", "item_weight"]
    weights = [sym.var(name, stype="row_sparse") for name in names]
    users, items = (
        sym.Embedding(sym.var(name), weight, input_dim=count, output_dim=2, sparse_grad=True)
        for name, weight, count in zip(("user", "item"), weights, (5, 4), strict=True)
    )
    net = sym.LinearRegressionOutput(sym.sum(users * items, axis=1), sym.var("score"))
    exe = net.simple_bind(mx.cpu(), grad_req=dict.fromkeys(names, "write"), user=(3,), item=(3,), score=(3,))
    exe.arg_dict["user_weight"][:] = nd.array((np.arange(10).reshape(5, 2) - 4) / 4)
    exe.arg_dict["item_weight"][:] = nd.array((np.arange(8).reshape(4, 2) - 2) / 2)
    sgd = mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, wd=0.25, rescale_grad=1.0, lazy_update=True)
    updater = mx.optimizer.get_updater(sgd)
    expected = [
        ([-0.375, 0.625, 0.125], ([0, 2], [[0, -0.6875], [-2.75, -4.875]]),
         ([1, 3], [[1.375, 0.3125], [0, -0.34375]])),
        ([-1.625, 1.03125, -0.875], ([0, 1, 4], [[-0.03125, -0.015625], [0.125, 0.1875], [1.625, 0.8125]]),
         ([0, 2], [[-1.65234375, -2.041015625], [-0.0625, -0.03125]])),
        ([-0.1982421875] * 3, ([2], [[1.44012451171875, -0.589141845703125]]),
         ([1], [[-2.8802490234375, -5.564117431640625]])),
    ]
    batches = [
        ([0, 2, 2], [1, 3, 1], [1, 2, 3]), ([4, 0, 1], [0, 0, 2], [0, 1, -1]), ([2, 2, 2], [1, 1, 1], [0.5, 0.5, 0.5]),
    ]
    for (user, item, score), (out, *gradients) in zip(batches, expected, strict=True):
        exe.forward(is_train=True, user=nd.array(user), item=nd.array(item), score=nd.array(score))
        step(updater, exe, names)
        assert exe.outputs[0].asnumpy().tolist() == out
        assert [seen(exe.grad_dict[name]) for name in names] == [("row_sparse", *each) for each in gradients]
    assert exe.arg_dict["user_weight"].asnumpy().tolist() == [
        [-0.6875, -0.046875], [-0.5, -0.3125], [1.170562744140625, 3.8219146728515625], [0.5, 0.75], [0.0625, 0.6875],
    ]
    assert exe.arg_dict["item_weight"].asnumpy().tolist() == [
        [-0.048828125, 0.5830078125], [0.49481201171875, 2.9187774658203125], [0.90625, 1.328125], [1.75, 2.359375],
    ]


# opt = mx.optimizer.SGD(learning_rate=.125, momentum=.5, wd=.25, rescale_grad=1., lazy_update=True)
def test_sparse_linear_regression() -> None:
    data, weight, bias = sym.var("data", stype="csr"), sym.var("weight", stype="row_sparse"), sym.var("bias")
    net = sym.LinearRegressionOutput(sym.broadcast_add(sym.dot(data, weight), bias), sym.var("label"))
    names = ["weight", "bias"]
    exe = net.simple_bind(
        mx.cpu(), grad_req=dict.fromkeys(names, "write"), data=(3, 5), weight=(5, 1), bias=(1, 1), label=(3, 1)
    )
    exe.arg_dict["weight"][:] = nd.array([[1], [2], [3], [4], [5]])
    sgd = mx.optimizer.SGD(learning_rate=0.125, momentum=0.5, wd=0.25, rescale_grad=1.0, lazy_update=True)
    updater = mx.optimizer.get_updater(sgd)
    batches = [
        ([[0, 1, 0, 0, 2], [0] * 5, [0, -1, 0, 0, 0]], [[1], [0], [2]]),
        ([[0, 0, 3, 0, 0], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]], [[3], [1], [1]]),
        ([[0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [0, 1, 0, 0, 0]], [[-2], [0], [1]]),
    ]
    expected = [
        ([12, 0, -2], ([1, 4], [[15], [22]]), 7),
        ([8.125, 1.21875, 0.125], ([0, 2, 4], [[-0.875], [15.375], [0.21875]]), 4.46875),
        ([-1.71875, -1.71875, -1.78125], ([1], [[-5.65625]]), -4.21875),
    ]
    for (matrix, label), (out, gradient, of_bias) in zip(batches, expected, strict=True):
        exe.forward(is_train=True, data=made(matrix, "csr"), label=nd.array(label))
        step(updater, exe, names)
        assert exe.outputs[0].asnumpy()[:, 0].tolist() == out
        assert seen(exe.grad_dict["weight"]) == ("row_sparse", *gradient)
        assert exe.grad_dict["bias"].asscalar() == of_bias
    assert exe.arg_dict["weight"].asnumpy()[:, 0].tolist() == [1.078125, -0.201171875, 0.984375, 4, 0.5478515625]
    assert exe.arg_dict["bias"].asscalar() == -1.7431640625


@pytest.mark.clause("Sparse/gradient-rows")
def test_factorisation_machine() -> None:  # no two features meet in one row: v's gradient is zero in the rows read
    data, factors = sym.var("x", stype="csr"), sym.var("v", stype="row_sparse")
    linear = sym.broadcast_add(sym.dot(data, sym.var("w1", stype="row_sparse")), sym.var("b"))
    squares = sym._internal._square_sum(data=factors, axis=1, keepdims=True)
    pairs = 0.5 * sym.dot(sym.square(data), squares)
    whole = sym.concat(linear, 0.5 * sym.square(sym.dot(data, factors)), dim=1).sum(axis=1, keepdims=True)
    net = sym.LogisticRegressionOutput(
        sym.elemwise_add(whole, sym.negative(sym.sum(pairs, axis=1, keepdims=True))), label=sym.var("label")
    )
    exe = net.simple_bind(
        mx.cpu(), grad_req={"v": "write", "w1": "write", "b": "write"}, x=(3, 4), w1=(4, 1), v=(4, 2), b=(1,),
        label=(3, 1),
    )
    exe.arg_dict["v"][:] = nd.array((np.arange(8).reshape(4, 2) - 3) / 8)
    exe.arg_dict["w1"][:] = nd.array([[0.5], [0.25], [-0.5], [1]])
    exe.forward(
        is_train=True, x=made([[0, 1, 0, 0], [2, 0, 0, 0], [0] * 4], "csr"), label=nd.array([[1], [0], [1]])
    )
    exe.backward()
    assert seen(exe.grad_dict["v"]) == ("row_sparse", [0, 1], [[0, 0], [0, 0]])
    assert exe.grad_dict["w1"].indices.asnumpy().tolist() == [0, 1]
    # one float32 step of the sigmoid
    assert np.allclose(exe.outputs[0].asnumpy()[:, 0], [0.562176525592804, 0.7310585975646973, 0.5], rtol=2e-7, atol=0)
