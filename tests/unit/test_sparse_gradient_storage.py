"""The storages of gradients in graphs, and their rows: what MXNet 1.9.1 says of each operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx

from .sparse_modules import quiet

__all__ = ["quiet"]  # a fixture

clause = pytest.mark.clause
SHAPES = {"w": (4, 2), "x": (3, 4), "d": (4, 2)}
SHORT = {"d": "default", "r": "row_sparse", "c": "csr"}


def named(name: str) -> Any:
    return lambda v: getattr(mx.sym, name)(v)


# s = operator(mx.sym.var("w", stype=...)); the storage of w's gradient in simple_bind of s, sum(s) and dot(csr x, s),
# for a row_sparse, a csr and a default w
LINES = {
    "rdr cdr ddr": [
        named("negative"), lambda v: v * 2, lambda v: v / 2, lambda v: v + 0, lambda v: v - 0,
        lambda v: mx.sym._internal._scatter_plus_scalar(v, scalar=2), lambda v: mx.sym.identity(v),
        lambda v: mx.sym.contrib.gradientmultiplier(v, scalar=2),
    ],
    "ddr ddr ddr": [
        named("exp"), lambda v: v + 1, lambda v: mx.sym.elemwise_add(v, mx.sym.var("d")),
        lambda v: mx.sym.cast_storage(v, stype="default"),
    ],
    "rdr ddr ddr": [
        lambda v: mx.sym.elemwise_add(v, v), lambda v: mx.sym.elemwise_sub(v, v), lambda v: mx.sym.add_n(v, v),
    ],
    "rdr cdd ddd": [named("abs"), named("relu"), named("sign"), named("square")],
    "ddr ddd ddd": [named("cos"), named("cosh")],
    "rrr ccc ddd": [
        named("ceil"), named("fix"), named("floor"), named("logical_not"), named("rint"), named("round"),
        named("trunc"), named("zeros_like"), named("BlockGrad"), lambda v: v > 0, lambda v: v == 1,
    ],
    "ddd ddd ddd": [
        *map(named, (
            "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "degrees", "expm1", "log1p", "radians", "sin", "sinh",
            "sqrt", "tan", "tanh", "make_loss", "sigmoid", "log",
        )),
        lambda v: mx.sym.clip(v, -1, 1), lambda v: mx.sym.elemwise_mul(v, v), lambda v: mx.sym.Cast(v, dtype="float32"),
        lambda v: mx.sym.elemwise_mul(v, mx.sym.var("d")), lambda v: mx.sym._internal._maximum(v, v),
        lambda v: mx.sym.contrib.quadratic(v, a=1, b=2, c=0),
    ],
}


def gradient_of(symbol: Any) -> str:
    names = symbol.list_arguments()
    executor = symbol.simple_bind(mx.cpu(), grad_req={"w": "write"}, **{name: SHAPES[name] for name in names})
    return executor.grad_dict["w"].stype


@clause("Sparse/gradient-storage")
@pytest.mark.parametrize(("line", "build"), [(line, build) for line, builds in LINES.items() for build in builds])
def test_storages_of_gradients(line, build) -> None:
    readers = (lambda s: s, mx.sym.sum, lambda s: mx.sym.dot(mx.sym.var("x", stype="csr"), s))
    for stype, letters in zip(("row_sparse", "csr", "default"), line.split(), strict=True):
        found = [gradient_of(reader(build(mx.sym.var("w", stype=stype)))) for reader in readers]
        assert found == [SHORT[letter] for letter in letters], stype


x, w = mx.sym.var("x", stype="csr"), mx.sym.var("w", stype="row_sparse")
read = mx.sym.dot(x, w)
X = [[0, 2, 0, 0, 0], [0, 0, 0, 1, 0], [0, -1, 0, 0, 0]]
W = np.arange(1, 11).reshape(5, 2) / 10


# forward, then backward of ones in the storage of the output: (rows, values) of w's gradient, w storing all of 5 rows
@clause("Sparse/gradient-rows")
@pytest.mark.parametrize(("symbol", "rows", "values"), [
    (mx.sym.dot(x, mx.sym.square(w)), [0, 1, 2, 3, 4], [0, 0, 0.6, 0.8, 0, 0, 1.4, 1.6, 0, 0]),
    (mx.sym.dot(x, mx.sym.abs(w)), [0, 1, 2, 3, 4], [0, 0, 1, 1, 0, 0, 1, 1, 0, 0]),
    (mx.sym.dot(x, mx.sym.cos(w)), [0, 1, 2, 3, 4], [0, 0, -0.29552, -0.38942, 0, 0, -0.64422, -0.71736, 0, 0]),
    (mx.sym.dot(x, mx.sym.exp(w)), [1, 3], [1.34986, 1.49182, 2.01375, 2.22554]),
    (mx.sym.dot(x, w * 2), [1, 3], [2, 2, 2, 2]),
    (read + mx.sym.dot(x, mx.sym.floor(w)), [1, 3], [1, 1, 1, 1]),
    (mx.sym.dot(x, mx.sym.floor(w)), [], []),
    (mx.sym.sum(mx.sym.floor(w)), [], []),
    (mx.sym.broadcast_add(read, mx.sym.dot(x, mx.sym._internal._square_sum(w, axis=1, keepdims=True))), [1, 3],
     [2.2, 2.6, 3.8, 4.2]),
])
def test_rows_of_gradients(symbol, rows, values) -> None:
    shapes = {name: {"w": (5, 2), "x": (3, 5)}[name] for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), grad_req={"w": "write"}, **shapes)
    if "x" in shapes:
        executor.arg_dict["x"][:] = mx.nd.array(X).tostype("csr")
    executor.arg_dict["w"][:] = mx.nd.array(W)
    out = executor.forward(is_train=True)[0]
    executor.backward(mx.nd.ones(out.shape))
    gradient = executor.grad_dict["w"]
    assert gradient.stype == "row_sparse" and gradient.indices.asnumpy().tolist() == rows
    np.testing.assert_allclose(gradient.data.asnumpy().ravel(), values, atol=1e-5)


@clause("Sparse/gradient-rows")
def test_rows_that_a_computed_array_stores() -> None:  # rows 1 and 3 are read; |w| stores rows 1 and 2
    executor = mx.sym.dot(x, mx.sym.square(mx.sym.abs(w))).simple_bind(
        mx.cpu(), grad_req={"w": "write"}, x=(3, 5), w=(5, 2)
    )
    executor.arg_dict["x"][:] = mx.nd.array(X).tostype("csr")
    executor.arg_dict["w"][:] = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 2]), shape=(5, 2))
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((3, 2)))
    gradient = executor.grad_dict["w"]
    assert gradient.indices.asnumpy().tolist() == [1, 2, 3]
    assert gradient.data.asnumpy().tolist() == [[2, 4], [0, 0], [0, 0]]


# y = mx.sym.contrib.quadratic(csr, a=1, b=2, c=0) of [[0, 2, 0], [3, 0, 0]], bound by simple_bind
@clause("Sparse/quadratic")
@pytest.mark.parametrize(("c", "stype", "expected"), [
    (0, "csr", [[0, 8, 0], [15, 0, 0]]), (1, "default", [[1, 9, 1], [16, 1, 1]]),
])
def test_quadratic_in_a_graph(c, stype, expected) -> None:
    executor = mx.sym.contrib.quadratic(mx.sym.var("data", stype="csr"), a=1, b=2, c=c).simple_bind(
        mx.cpu(), data=(2, 3)
    )
    executor.arg_dict["data"][:] = mx.nd.array([[0, 2, 0], [3, 0, 0]]).tostype("csr")
    out = executor.forward(is_train=True)[0]
    assert (out.stype, out.asnumpy().tolist()) == (stype, expected)
    executor.backward(mx.nd.ones((2, 3)).tostype(stype))
    gradient = executor.grad_dict["data"]
    assert (gradient.stype, gradient.asnumpy().tolist()) == ("default", [[2, 6, 2], [8, 2, 2]])


# w = [[1, 2], [1, 1], [3, 4], [5, 6]] as csr; twice updater(0, g, w), g = [[0, 0], [1, -1], [0, 0], [2, -0.5]],
# learning_rate 0.1, wd 0.1: the weight, then the states, all csr with every place stored but for ftrl
CSR = {
    "sgd": ({"momentum": 0.9}, [0.9711, 1.9422, 0.6821, 1.2601, 2.9133, 3.8844, 4.2775, 5.9711],
            [[-0.0189, -0.0378, -0.2079, 0.1701, -0.0567, -0.0756, -0.4725, -0.0189]]),
    "adam": ({}, [0.80041, 1.8002, 0.80002, 1.2, 2.8001, 3.8001, 4.8, 5.8004],
             [[0.018, 0.037, 0.208, -0.17, 0.056, 0.075, 0.474, 0.018],
              [1.809e-05, 7.6059e-05, 0.0023969, 0.0016013, 0.00017401, 0.00031194, 0.012444, 1.809e-05]]),
    "rmsprop": ({}, [0.49887, 1.4739, 0.45755, 1.5417, 2.4668, 3.4635, 4.4557, 5.4989],
                [[0.0013675, 0.0064351, 0.22304, 0.14831, 0.015303, 0.02797, 1.1718, 0.0013675]]),
    "signum": ({}, [0.8, 1.8, 0.8, 1.2, 2.8, 3.8, 4.8, 5.8],
               [[-0.018, -0.037, -0.208, 0.17, -0.056, -0.075, -0.474, -0.018]]),
    "ftrl": ({}, [0, 0, 0.40601, 0.58802, 0, 0, 3.2034, 2.0483],
             [[0, 0, -9.8526, -14.265, 0, 0, -122.97, -35.182], [0, 0, 2, 2, 0, 0, 8, 0.5]]),
}


@clause("Optimizer/state-types", "Sparse/fallback")
@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("name", CSR)
def test_csr_weights_have_csr_states(name, stype) -> None:
    settings, expected, states = CSR[name]
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, wd=0.1, **settings))
    weight = mx.nd.array([[1, 2], [1, 1], [3, 4], [5, 6]]).tostype("csr")
    for _ in range(2):
        updater(0, mx.nd.array([[0, 0], [1, -1], [0, 0], [2, -0.5]]).tostype(stype), weight)
    found = updater.states[0] if isinstance(updater.states[0], tuple) else (updater.states[0],)
    for array, values in zip((weight, *found), (expected, *states), strict=True):
        assert array.stype == "csr"
        np.testing.assert_allclose(array.asnumpy().ravel(), values, rtol=6e-5)
