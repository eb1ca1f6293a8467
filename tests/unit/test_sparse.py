"""Sparse arrays: values and storages that MXNet 1.9.1 gives for the same calls.

d, e = [[0,1,0],[2,0,3],[0,0,0],[4,0,5]], [[7,0,1],[0,0,0],[1,0,0],[2,0,1]]; a table's result was printed by
    r = CALL; print(r.stype, r.data.asnumpy().tolist(), r.indices.asnumpy().tolist(), r.asnumpy().tolist())
"""

from __future__ import annotations

import copy
import logging
import pickle

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import as_buffer
from refimpl.ndarray import sparse
from refimpl.ndarray.sparse import dispatch

nd = mx.nd
D = [[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 5]]
E = [[7, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 1]]
INF = float("inf")


def made(stype: str, values: list = D, dtype: str = "float32"):
    return nd.array(values, dtype=dtype).tostype(stype)


def parts(array) -> tuple:
    array.check_format()
    return tuple(part.asnumpy().tolist() for part in (array.data, array.indices))


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")


def c():
    return made("csr")


def r():
    return made("row_sparse")


# result -> its storage, and its values and indices (or, when dense, its values)
OBSERVED = {
    "elemwise_add(r(), made('row_sparse', E))":
        ("row_sparse", [[7, 1, 1], [2, 0, 3], [1, 0, 0], [6, 0, 6]], [0, 1, 2, 3]),
    "elemwise_mul(nd.array(D), made('row_sparse', E))":
        ("row_sparse", [[0, 0, 0], [0, 0, 0], [8, 0, 5]], [0, 2, 3]),
    "elemwise_mul(r(), nd.array(E))": ("row_sparse", [[0, 0, 0], [0, 0, 0], [8, 0, 5]], [0, 1, 3]),
    "elemwise_mul(nd.array(D), made('csr', E))": ("csr", [0, 0, 0, 8, 5], [0, 2, 0, 0, 2]),
    "elemwise_mul(c(), nd.array(E))": ("csr", [0, 0, 0, 8, 5], [1, 0, 2, 0, 2]),
    "_internal._minimum(r(), made('row_sparse', E))":
        ("row_sparse", [[0, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 1]], [0, 1, 2, 3]),
    "elemwise_sub(r(), r())": ("row_sparse", [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [0, 1, 3]),
    "broadcast_mul(c(), nd.array([[1, 2, 4]]))": ("csr", [2, 2, 12, 4, 20], [1, 0, 2, 0, 2]),
    "broadcast_div(c(), nd.array([[1], [2], [3], [4]]))": ("csr", [1, 1, 1.5, 1, 1.25], [1, 0, 2, 0, 2]),
    "broadcast_add(c(), nd.array([1, 2, 4]))": ("default", [[1, 3, 4], [3, 2, 7], [1, 2, 4], [5, 2, 9]]),
    "_internal._plus_scalar(c(), scalar=2.0)": ("default", [[2, 3, 2], [4, 2, 5], [2, 2, 2], [6, 2, 7]]),
    "_internal._div_scalar(c(), scalar=0.0)": ("csr", [INF] * 5, [1, 0, 2, 0, 2]),
    "_internal._equal_scalar(r(), scalar=2.0)":
        ("row_sparse", [[0, 0, 0], [1, 0, 0], [0, 0, 0]], [0, 1, 3]),
    "clip(r(), a_min=-1, a_max=2)": ("row_sparse", [[0, 1, 0], [2, 0, 2], [2, 0, 2]], [0, 1, 3]),
    "slice(c(), begin=(0, 1), end=(2, 3))": ("csr", [1, 3], [0, 1]),
    "take(c(), nd.array([9, -1]))": ("csr", [4, 5, 1], [0, 2, 1]),
    "take(c(), nd.array([9, -1]), mode='wrap')": ("csr", [2, 3, 4, 5], [0, 2, 0, 2]),
    "concat(c(), made('csr', D[:1]), dim=0)": ("csr", [1, 2, 3, 4, 5, 1], [1, 0, 2, 0, 2, 1]),
    "add_n(r(), r(), r())": ("row_sparse", [[0, 3, 0], [6, 0, 9], [12, 0, 15]], [0, 1, 3]),
    "add_n(c(), c())": ("default", [[0, 2, 0], [4, 0, 6], [0, 0, 0], [8, 0, 10]]),
    "zeros_like(c())": ("csr", [], []),
    "ones_like(c())": ("default", [[1, 1, 1]] * 4),
    "cast_storage(nd.array(D), stype='row_sparse')":
        ("row_sparse", [[0, 1, 0], [2, 0, 3], [4, 0, 5]], [0, 1, 3]),
    "sum(c(), axis=0)": ("default", [6, 1, 8]),
    "nd.contrib.getnnz(sparse.csr_matrix(([1, 0, 2], [0, 1, 0], [0, 2, 3]), shape=(2, 3)))": ("default", [3]),
    "mean(c(), axis=1)": ("default", [0.3333333432674408, 1.6666666269302368, 0, 3]),
    "norm(r())": ("default", [7.416198253631592]),
    "_internal._square_sum(r(), axis=1)": ("default", [1, 13, 0, 41]),
    "_internal._square_sum(r(), axis=1, keepdims=True)": ("row_sparse", [[1], [13], [41]], [0, 1, 3]),
    "retain(r(), nd.array([1, 2]))": ("row_sparse", [[2, 0, 3], [0, 0, 0]], [1, 2]),
    "retain(r(), nd.array([1.7, 3]))": ("row_sparse", [[2, 0, 3], [4, 0, 5]], [1, 3]),
    "retain(sparse.zeros('row_sparse', (4, 3)), nd.array([1, 2]))": ("row_sparse", [], []),
    "dot(c(), nd.array([[0, 1], [2, 3], [4, 5], [6, 7]]), transpose_a=True)":
        ("row_sparse", [[28, 34], [0, 1], [36, 44]], [0, 1, 2]),
    "dot(c(), made('row_sparse', [[0, 0], [1, 2], [3, 4], [0, 0]]), transpose_a=True)":
        ("row_sparse", [[2, 4], [3, 6]], [0, 2]),
    "dot(c(), nd.array([[1, 2], [3, 4], [5, 6]]))": ("default", [[3, 4], [17, 22], [0, 0], [29, 38]]),
    "dot(c(), made('csr', [[1, 2], [3, 4], [5, 6]]), forward_stype='csr')":
        ("csr", [3, 4, 17, 22, 29, 38], [0, 1, 0, 1, 0, 1]),
    "where(c(), nd.ones((4, 3)), nd.ones((4, 3)) * 2)": ("default", [[2, 1, 2], [1, 2, 1], [2, 2, 2], [1, 2, 1]]),
    "Embedding(nd.array([1, 3]), r(), input_dim=4, output_dim=3)": ("default", [[2, 0, 3], [4, 0, 5]]),
    "FullyConnected(c(), nd.array(E), nd.zeros((4,)), num_hidden=4)":
        ("default", [[0, 0, 0, 0], [17, 0, 2, 7], [0, 0, 0, 0], [33, 0, 4, 13]]),
    "LinearRegressionOutput(nd.array(E), c())": ("default", E),
}


@pytest.mark.parametrize("call", OBSERVED)
def test_as_mxnet(call) -> None:
    stype, *wanted = OBSERVED[call]
    scope = {**globals(), **{name: getattr(nd, name) for name in ("_internal", "ones_like", "take")}}
    scope.update({name: getattr(sparse, name) for name in sparse.op.__all__})
    result = eval(call, scope)
    assert result.stype == stype
    assert (parts(result) if stype != "default" else (result.asnumpy().tolist(),)) == tuple(wanted)


# Printed for f = CALL on d and e, signs between arrays and numbers
SIGNS = {
    "c() + 2": "default", "2 + c()": "default", "c() * 2": "csr", "2 * c()": "csr", "2 - c()": "default",
    "c() - made('csr', E)": "csr", "c() * nd.array(E)": "csr", "nd.array(E) * c()": "default", "c() / 2": "csr",
    "r() / nd.array(E)": "default", "c() == 2": "csr", "c() > 2": "csr", "2 > c()": "default", "c() % 2": "default",
    "-r()": "row_sparse", "abs(c())": "csr", "c() ** 2": "default", "c() + r()": "default",
}


@pytest.mark.parametrize("call", SIGNS)
def test_signs(call) -> None:
    plain = {"c": lambda: nd.array(D), "r": lambda: nd.array(D), "made": lambda _, values: nd.array(values)}
    dense = {**globals(), **plain}
    result = eval(call)
    assert result.stype == SIGNS[call]
    np.testing.assert_array_equal(result.asnumpy(), eval(call, dense).asnumpy())


def test_signs_in_place() -> None:
    for stype in ("csr", "row_sparse"):
        array = given = made(stype)
        array += made(stype, E)
        array -= nd.array(E)
        array *= 2
        array /= 4
        assert array is given and array.stype == stype
        assert array.asnumpy().tolist() == (np.array(D) / 2).tolist()
        array %= 1
        assert array.asnumpy().tolist() == ((np.array(D) / 2) % 1).tolist()


# csr_matrix and row_sparse_array: type and shape of the result
MADE = {
    "csr_matrix([[0, 1], [2, 0]])": ("float32", (2, 2)),
    "csr_matrix(np.array([[0, 1.0]]))": ("float64", (1, 2)),
    "csr_matrix([[0, 1]], dtype='float64')": ("float64", (1, 2)),
    "csr_matrix((2, 3), dtype='int8')": ("int8", (2, 3)),
    "csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 2, 2, 3]))": ("float32", (4, 3)),
    "csr_matrix((np.array([1, 2, 3]), [1, 0, 2], [0, 1, 2, 2, 3]))": ("int64", (4, 3)),
    "csr_matrix(([1, 2, 3], ([0, 1, 0], [1, 0, 2])))": ("int64", (2, 3)),
    "csr_matrix(([], [], [0, 0, 0]), shape=(2, 3))": ("float32", (2, 3)),
    "csr_matrix(c(), dtype='float64')": ("float64", (4, 3)),
    "row_sparse_array(np.array([[0, 1.0], [0, 0]]))": ("float64", (2, 2)),
    "row_sparse_array((2, 3, 4))": ("float32", (2, 3, 4)),
    "row_sparse_array((2, 3))": ("float32", (2, 3)),
    "row_sparse_array(([[1, 2], [3, 4]], [1, 3]))": ("float32", (4, 2)),
    "row_sparse_array(([1, 2], [0, 2]), shape=(4,))": ("float32", (4,)),
    "row_sparse_array((np.ones((0, 2)), []), shape=(3, 2))": ("float64", (3, 2)),
    "row_sparse_array(r())": ("float32", (4, 3)),
    "array(c(), dtype='int32')": ("int32", (4, 3)),
    "empty('csr', (2, 3))": ("float32", (2, 3)),
    "zeros('default', (2, 3))": ("float32", (2, 3)),
}


@pytest.mark.clause("Sparse/types")
@pytest.mark.parametrize("call", MADE)
def test_constructors(call) -> None:
    result = eval("sparse." + call)
    assert (np.dtype(result.dtype).name, result.shape) == MADE[call]
    if result.stype != "default":
        result.check_format()


def test_every_name() -> None:
    # nd.sparse of MXNet 1.9.1: its operators and functions, without modules and helpers
    names = [*sparse.op.__all__, "csr_matrix", "row_sparse_array", "BaseSparseNDArray", "CSRNDArray", "add",
             "RowSparseNDArray", "subtract", "multiply", "divide", "zeros", "empty", "array"]
    assert len(sparse.op.__all__) == len(set(sparse.op.__all__)) == 72
    assert all(callable(getattr(sparse, name)) for name in names)
    assert sparse.abs(c()).stype == "csr"


def test_array_manners() -> None:
    array = c()
    assert (array.ndim, array.stype, array.context, len(array)) == (2, "csr", mx.cpu(), 4)
    assert [row.asnumpy().tolist()[0] for row in array] == D
    assert array[:] is array and array.astype("float32", copy=False) is array
    assert array.as_in_context(mx.cpu()) is array and array.as_in_context(mx.cpu(1)).context == mx.cpu(1)
    assert isinstance(array, nd.NDArray) and bool(made("csr", [[3]])) and not bool(made("csr", [[0]]))
    assert array.wait_to_read() is None and array.detach().asnumpy().tolist() == D
    for one in (pickle.loads(pickle.dumps(array)), copy.deepcopy(array)):
        assert one.stype == "csr" and one.asnumpy().tolist() == D
    dense = nd.zeros((4, 3))
    assert array.copyto(dense) is dense and dense.asnumpy().tolist() == D
    with pytest.warns(RuntimeWarning):
        assert array.copyto(array) is False


@pytest.mark.clause("Sparse/parts")
def test_parts_are_copies() -> None:
    array = c()
    for part in (array.data, array.indices, array.indptr):
        part[:] = 0
    assert array.asnumpy().tolist() == D
    source = nd.array([1, 2])
    made_of = sparse.csr_matrix((source, [0, 1], [0, 2]), shape=(1, 2))
    source[:] = 9
    assert made_of.asnumpy().tolist() == [[1, 2]]


def test_assignment() -> None:
    for stype in ("csr", "row_sparse"):
        array = made(stype)
        with pytest.warns(RuntimeWarning):
            array[:] = np.array(E)
        assert array.stype == stype and array.asnumpy().tolist() == E and array.dtype is np.float32
        array[:] = made(stype, D, "float64")
        assert array.dtype is np.float32 and array.asnumpy().tolist() == D
        array[:] = array
        assert array.asnumpy().tolist() == D
    rows = r()
    rows[:] = 3
    assert parts(rows) == ([[3, 3, 3]] * 4, [0, 1, 2, 3])


@pytest.mark.clause("Sparse/fallback")
def test_one_line_is_logged(monkeypatch, caplog) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "1")
    monkeypatch.setattr(dispatch, "_REPORTED", set())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            sparse.cos(c())
        sparse.cos(r())
        sparse.abs(c())
    assert [record.message.split(";")[0] for record in caplog.records] == [
        "Storage type fallback detected: operator cos has no form for inputs (csr) and runs on dense copies",
        "Storage type fallback detected: operator cos has no form for inputs (row_sparse) and runs on dense copies",
    ]
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    caplog.clear()
    sparse.exp(c())
    assert not caplog.records


@pytest.mark.clause("Sparse/recording")
def test_gradients_flow_to_dense_inputs() -> None:
    weight = nd.array([[1, 2], [3, 4], [5, 6]])
    weight.attach_grad()
    with mx.autograd.record():
        out = nd.dot(c(), weight)
    out.backward()
    assert out.stype == "default" and weight.grad.asnumpy().tolist() == [[6, 6], [1, 1], [8, 8]]


# w = arange(12) + 1 as (4, 3), g = [[1,0,2],[0,0,0],[0,3,0],[0,0,0]] row_sparse, state 0.5 everywhere:
#   mx.nd.sgd_mom_update(w, g, mom, out=w, lr=.5, wd=.25, momentum=.5); print(w, mom)
W = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
G = [[1, 0, 2], [0, 0, 0], [0, 3, 0], [0, 0, 0]]


@pytest.mark.clause("Sparse/lazy")
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_updates_as_mxnet(stype) -> None:
    weight, state = made(stype, W), made(stype, [[0.5] * 3] * 4)
    gradient = made("row_sparse", G)
    nd.sgd_mom_update(weight, gradient, state, out=weight, lr=0.5, wd=0.25, momentum=0.5)
    assert weight.asnumpy().tolist() == [[0.625, 2, 1.875], [4, 5, 6], [6.375, 5.75, 8.125], [10, 11, 12]]
    assert state.asnumpy().tolist() == [[-0.375, 0, -1.125], [0.5] * 3, [-0.625, -2.25, -0.875], [0.5] * 3]
    weight = made(stype, W)
    gradient = made("row_sparse", (4 * np.array(G)).tolist())
    nd.sgd_update(weight, gradient, out=weight, lr=0.5, wd=0.25, rescale_grad=0.5, clip_gradient=1.5)
    assert weight.asnumpy().tolist() == [[0.125, 1.75, 1.875], [4, 5, 6], [6.125, 6.25, 7.875], [10, 11, 12]]


@pytest.mark.parametrize("seed", range(5))
def test_work_that_waits_is_finished_first(seed) -> None:
    with mx.engine.use("shuffled", seed):
        weight, state = nd.array(W) * 1, nd.zeros((4, 3)) + 0.5
        before, twice = weight + 0, state * 2
        for lazy in (True, False):
            nd.sgd_mom_update(weight, made("row_sparse", G), state, out=weight, lr=0.5, wd=0.25, momentum=0.5,
                              lazy_update=lazy)
        after = weight + 0
        summed = sparse.add((weight * 1).tostype("csr"), (before * 1).tostype("csr"))
        weight[:] = 0
    assert before.asnumpy().tolist() == W and twice.asnumpy().tolist() == [[1] * 3] * 4
    np.testing.assert_array_equal(summed.asnumpy(), after.asnumpy() + np.array(W))
    assert after.asnumpy()[1].tolist() == [3.75, 4.625, 5.5]


def test_unsorted_weights_are_updated_in_place() -> None:
    weight = sparse.row_sparse_array(([[3], [1], [2]], [2, 0, 1]), shape=(3, 1))
    nd.sgd_update(weight, sparse.row_sparse_array(([[1]], [2]), shape=(3, 1)), out=weight, lr=1)
    assert parts(weight) == ([[1], [2], [2]], [0, 1, 2])


def test_arrays_on_other_contexts() -> None:
    far = made("csr", D).as_in_context(mx.cpu(1))
    assert sparse.add(far, c()).context == mx.cpu(1)
    assert nd.dot(far, nd.array([[1], [1], [1]])).asnumpy().ravel().tolist() == [1, 5, 0, 9]


def test_rules_are_lines_to_print() -> None:
    lines = sparse.rules()
    assert len(lines) > 100
    assert all(line.output in ("default", "csr", "row_sparse", "stype") for line in lines)


def test_half_precision_and_truth_values() -> None:
    for stype in ("csr", "row_sparse"):
        half = made(stype, D, "float16")
        assert half.dtype is np.float16 and half.asnumpy().tolist() == D
        assert sparse.add(half, half).asnumpy().tolist() == (2 * np.array(D)).tolist()
        assert made(stype, [[0, 1]], "bool").asnumpy().tolist() == [[False, True]]
    dense = nd.dot(made("csr", D, "float16"), nd.ones((3, 1), dtype="float16"))
    assert dense.dtype is np.float16 and dense.asnumpy().ravel().tolist() == [1, 5, 0, 9]


def test_a_copy_stays_as_it_is_when_the_original_is_updated() -> None:
    weight, gradient = made("row_sparse", [[1], [2]]), made("row_sparse", [[1], [0]])
    kept = sparse.zeros("row_sparse", (2, 1))
    weight.copyto(kept)
    nd.sgd_update(weight, gradient, lr=1, out=weight)
    assert (weight.asnumpy().tolist(), kept.asnumpy().tolist()) == ([[0], [2]], [[1], [2]])


@pytest.mark.clause("Sparse/fallback")
def test_a_sparse_state_is_updated_on_a_dense_copy_and_given_back() -> None:
    # by hand: n = 0.9 * 0 + (1 - 0.9) * gradient ** 2
    gradient, n = made("row_sparse", [[2], [0]]), sparse.zeros("row_sparse", (2, 1))
    weight = nd.ones((2, 1))
    nd.rmsprop_update(weight, gradient, n, lr=0.1, gamma1=0.9, out=weight)
    assert n.stype == "row_sparse"
    assert np.allclose(n.asnumpy(), [[0.4], [0]])


def test_parts_from_buffers() -> None:
    array = sparse.from_parts("csr", (1, 3), np.array([4.0]), (np.array([0, 1]), np.array([2])), mx.cpu(1))
    assert array.context == mx.cpu(1) and array.asnumpy().tolist() == [[0, 0, 4]]
    assert as_buffer(array.data.asnumpy()).size == 1


def test_symbols_are_dense() -> None:
    from refimpl.symbol import sparse as symbols

    data = mx.sym.Variable("data")
    # names printed by MXNet 1.9.1: abs0 dot0 retain0
    assert symbols.abs(data).name.startswith("abs") and symbols.retain(data, data).name.startswith("retain")
    turned = symbols.dot(symbols.cast_storage(data, stype="csr"), data)
    (out,) = turned.eval(data=nd.array([[0, 1], [2, 0]]))
    assert out.stype == "default" and out.asnumpy().tolist() == [[2, 0], [0, 2]]
    assert all(callable(getattr(symbols, name)) for name in sparse.op.__all__)
