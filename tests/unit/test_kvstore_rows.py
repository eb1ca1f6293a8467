"""The store with row_sparse arrays. Numbers are those of MXNet 1.9.1."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd

W = [[1, 2], [3, 4], [5, 6], [7, 8]]
TYPES = ("local", "device")


def rows(*kept: int, dtype: str = "float32") -> Any:
    return nd.sparse.row_sparse_array(([W[i] for i in kept], list(kept)), shape=(4, 2), dtype=dtype)


def zeros(stype: str = "row_sparse", sides: tuple[int, ...] = (4, 2), dtype: str = "float32") -> Any:
    return nd.zeros(sides, stype=stype, dtype=dtype)


def seen(array: Any) -> Any:
    if array.stype == "default":
        return array.asnumpy().tolist()
    return (array.indices.asnumpy().tolist(), array.data.asnumpy().tolist())


def store(value: Any, kind: str = "local") -> Any:
    made = mx.kv.create(kind)
    made.init("a", value)
    return made


@pytest.mark.clause("KVStore/row-sparse-pull")
@pytest.mark.parametrize(("value", "ids", "expected"), [
    (rows(0, 1, 2, 3), nd.array([3, 1, 3]), ([1, 3], [[3, 4], [7, 8]])),
    (rows(1), nd.array([0, 1]), ([0, 1], [[0, 0], [3, 4]])),
    (rows(0, 1, 2, 3), nd.array([[1, 2], [1, 0]]), ([0, 1, 2], [[1, 2], [3, 4], [5, 6]])),
    (rows(0, 1, 2, 3), nd.array([1.7, 0.2]), ([0, 1], [[1, 2], [3, 4]])),
    (rows(0, 1, 2, 3), nd.array([1, 3], dtype="int32"), ([1, 3], [[3, 4], [7, 8]])),
    (rows(0, 1), nd.zeros((0,)), ([], [])),
])
def test_pulling_rows(value, ids, expected) -> None:
    for out in (zeros(), zeros(dtype="float64")):
        store(value).row_sparse_pull("a", out=out, row_ids=ids)
        assert seen(out) == expected


@pytest.mark.clause("KVStore/row-sparse-pull")
def test_pulling_into_many() -> None:
    kv = mx.kv.create()
    kv.init([1, 2], [rows(0, 1, 2, 3), rows(0)])
    outs = [zeros() for _ in range(3)]
    one, two, three = (nd.array([i]) for i in (1, 2, 0))
    kv.row_sparse_pull([1, 2], out=[outs[:2], outs[2:]], row_ids=[[one, two], [three]])
    assert [seen(out) for out in outs] == [([1], [[3, 4]]), ([2], [[5, 6]]), ([0], [[1, 2]])]
    for ids in (one, [one], [one, one]):
        kv.row_sparse_pull(1, out=outs[:2], row_ids=ids)
        assert [seen(out) for out in outs[:2]] == [([1], [[3, 4]])] * 2


@pytest.mark.clause("KVStore/row-sparse-pull", "KVStore/push-rows")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("length", [2**24 + 8, 2**44])
def test_rows_of_long_arrays(kind, length) -> None:
    # as MXNet 1.9.1 with the first length; no dense array of the second fits anywhere
    def of(values, ids):
        return nd.sparse.row_sparse_array((np.array(values, np.float32).reshape(-1, 1), np.array(ids)), (length, 1))

    kv, got, out = store(of([1, 2, 3], [5, 2**24 + 1, 2**24 + 7]), kind), [], zeros(sides=(length, 1))
    kv.set_updater(lambda key, merged, _: got.append(seen(merged)))
    gradient = of([10, 20], [2**24 + 1, 2**24 + 3])
    kv.push("a", [gradient, gradient])
    kv.push("a", gradient)
    assert got == [([16777217, 16777219], [[20], [40]]), ([16777217, 16777219], [[10], [20]])]
    ids = np.array([2**24 + 7, 2**24 + 1, 2**24 + 3, 5, 5])
    kv.row_sparse_pull("a", out=out, row_ids=nd.array(ids, dtype="int64"))
    assert seen(out) == ([5, 16777217, 16777219, 16777223], [[1], [2], [0], [3]])
    kv.row_sparse_pull("a", out=out, row_ids=nd.array([2**24 + 1]))  # float32
    assert seen(out) == ([16777216], [[0]])


@pytest.mark.clause("KVStore/push-rows", "Sparse/order")
@pytest.mark.parametrize("kind", TYPES)
def test_rows_in_any_order(kind) -> None:
    kv, out = store(zeros(), kind), zeros()
    kv.push("a", [rows(3, 0, 2), rows(2)])
    kv.pull("a", out=out, ignore_sparse=False)
    assert seen(out) == ([0, 2, 3], [[1, 2], [10, 12], [7, 8]])


@pytest.mark.clause("KVStore/pull-sparse")
def test_pull_leaves_sparse_arrays_alone(caplog) -> None:
    kv = store(rows(1))
    dense, sparse = nd.full((4, 2), 9), rows(0)
    with caplog.at_level(logging.INFO):
        kv.pull("a", out=[dense, sparse])
        kv.pull("a", out=sparse)
    assert len([r for r in caplog.records if "row_sparse_pull" in r.getMessage()]) == 1
    assert seen(dense) == [[0, 0], [3, 4], [0, 0], [0, 0]] and seen(sparse) == ([0], [[1, 2]])
    kv.pull("a", out=sparse, ignore_sparse=False)
    assert seen(sparse) == ([1], [[3, 4]])
    kv.pushpull("a", rows(2), out=sparse)
    assert seen(sparse) == ([1], [[3, 4]])
    store(nd.array(W)).pull("a", out=sparse, ignore_sparse=False)
    assert seen(sparse) == ([0, 1, 2, 3], W)


@pytest.mark.clause("KVStore/push-rows")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("value", "pushed", "expected"), [
    (rows(0, 1, 2, 3), rows(1), ([1], [[3, 4]])),
    (rows(0, 1, 2, 3), [rows(1), rows(1, 3)], ([1, 3], [[6, 8], [7, 8]])),
    (rows(0, 1, 2, 3), [rows(1), rows(1, 3)] * 3, ([1, 3], [[18, 24], [21, 24]])),
    (nd.array(W), [rows(1), rows(2)], ([1, 2], [[3, 4], [5, 6]])),
    (rows(0, 1, 2, 3), nd.array(W) * 2, ([0, 1, 2, 3], [[2, 4], [6, 8], [10, 12], [14, 16]])),
    (rows(0, 1, 2, 3), [rows(1), nd.array(W)], ([0, 1, 2, 3], [[1, 2], [6, 8], [5, 6], [7, 8]])),
])
def test_pushing_rows(kind, value, pushed, expected) -> None:
    kv, out = store(value, kind), zeros()
    kv.push("a", pushed)
    kv.pull("a", out=out, ignore_sparse=False)
    assert seen(out) == expected


@pytest.mark.clause("KVStore/push-rows")
@pytest.mark.parametrize("kind", TYPES)
def test_order_of_addition(kind) -> None:
    terms, out = [1e8, 1, -1e8, 1, 1, 1, 1], nd.zeros((1, 1))
    for count, total in enumerate([1e8, 1e8, 0, 1, 2, 3, 4], 1):
        kv = store(nd.zeros((1, 1)).tostype("row_sparse"), kind)
        kv.push("a", [nd.array([[term]]).tostype("row_sparse") for term in terms[:count]])
        kv.pull("a", out=out)
        assert out.asscalar() == total


def test_what_is_pushed_is_copied() -> None:
    pushed = rows(1)
    kv, out = store(rows(0)), zeros()
    kv.push("a", pushed)
    pushed[:] = rows(2)
    kv.pull("a", out=out, ignore_sparse=False)
    assert seen(out) == ([1], [[3, 4]])


@pytest.mark.clause("KVStore/push-rows")
@pytest.mark.parametrize("value", [rows(0, 1, 2, 3), nd.array(W)])
def test_updaters_get_rows(value) -> None:
    got: list[Any] = []
    kv = store(value)
    kv.set_updater(lambda key, merged, stored: got.append((key, seen(merged), stored.stype)))
    kv.push("a", [rows(1), rows(1, 3)])
    assert got == [(b"a", ([1, 3], [[6, 8], [7, 8]]), value.stype)]


def test_lazy_optimizer_on_the_store() -> None:
    kv, out = store(rows(0, 1, 2, 3)), zeros()
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, wd=0.5, rescale_grad=1.0))
    for _ in range(2):
        kv.push("a", [rows(1), rows(1, 3)])
    kv.row_sparse_pull("a", out=out, row_ids=nd.array([0, 1, 2, 3]))
    assert seen(out) == ([0, 1, 2, 3], [[1, 2], [-5.4375, -7.25], [5, 6], [-4.8125, -5.5]])


@pytest.mark.parametrize(("clause", "error", "call"), [
    ("KVStore/push-csr", mx.MXNetError, lambda kv: kv.push("a", nd.array(W).tostype("csr"))),
    ("KVStore/push-rows", mx.MXNetError, lambda kv: kv.push("a", zeros(sides=(5, 2)))),
    ("KVStore/push-rows", mx.MXNetError, lambda kv: kv.push("a", [rows(1), rows(1, dtype="float64")])),
    ("KVStore/push-rows", mx.MXNetError, lambda kv: kv.push("a", [rows(1, dtype="float64")] * 2)),
    ("Sparse/format", mx.MXNetError, lambda kv: kv.push("a", [rows(1, 1), rows(2)])),
    ("KVStore/row-storage", mx.MXNetError, lambda kv: kv.row_sparse_pull("a", zeros("default"), row_ids=nd.array([1]))),
    ("KVStore/row-range", mx.MXNetError, lambda kv: kv.row_sparse_pull("a", zeros(), row_ids=nd.array([1, 7]))),
    ("KVStore/row-range", mx.MXNetError, lambda kv: kv.row_sparse_pull("a", zeros(), row_ids=nd.array([-1]))),
    ("KVStore/pull-shape", mx.MXNetError,
     lambda kv: kv.row_sparse_pull("a", zeros(sides=(5, 2)), row_ids=nd.array([1]))),
    ("KVStore/initialised", mx.MXNetError, lambda kv: kv.row_sparse_pull("z", zeros(), row_ids=nd.array([1]))),
    ("KVStore/row-ids", AssertionError, lambda kv: kv.row_sparse_pull("a", zeros(), row_ids=None)),
    ("KVStore/row-ids", AssertionError, lambda kv: kv.row_sparse_pull("a", None, row_ids=nd.array([1]))),
    ("KVStore/row-ids", AssertionError, lambda kv: kv.row_sparse_pull("a", zeros(), row_ids=np.array([1]))),
    ("KVStore/row-ids", AssertionError, lambda kv: kv.row_sparse_pull("a", [zeros()], row_ids=[nd.array([1])] * 2)),
    ("KVStore/lengths", AssertionError,
     lambda kv: kv.row_sparse_pull(["a", "b"], [zeros(), zeros()], row_ids=nd.array([1]))),
])
@pytest.mark.clause("KVStore/push-csr")
@pytest.mark.clause("KVStore/push-rows")
@pytest.mark.clause("KVStore/row-storage")
@pytest.mark.clause("KVStore/row-range")
@pytest.mark.clause("KVStore/row-ids")
def test_refusals(clause, error, call) -> None:
    kv = store(rows(0, 1, 2, 3))
    kv.init("b", nd.array(W))
    with pytest.raises(error) as caught:
        call(kv)
    assert caught.value.clause == clause


@pytest.mark.clause("KVStore/row-storage")
def test_rows_of_a_dense_array() -> None:
    kv = mx.kv.create()
    kv.init("w", nd.array([[1, 2], [3, 4], [5, 6]]))
    out = nd.sparse.zeros("row_sparse", (3, 2))
    kv.row_sparse_pull("w", out=out, row_ids=nd.array([2, 0, 2]))
    assert (out.indices.asnumpy().tolist(), out.data.asnumpy().tolist()) == ([0, 2], [[1, 2], [5, 6]])


@pytest.mark.clause("KVStore/row-storage")
def test_rows_of_the_weight_of_a_module() -> None:
    # MXNet 1.9.1, the same on one context with a store given: [0, 2] and [[0, 0], [2, 2]] after an update of row 2
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(3, 2), init=mx.init.Zero())
    net = mx.sym.MakeLoss(mx.sym.sum(mx.sym.Embedding(mx.sym.Variable("data"), weight, input_dim=3, output_dim=2)))
    store = mx.kv.create("local")
    module = mx.mod.Module(net, label_names=[])
    module.bind([("data", (2,))])
    module.init_params()
    module.init_optimizer(store, "sgd", {"learning_rate": 1.0, "rescale_grad": -1.0})
    module.forward_backward(mx.io.DataBatch([nd.array([2, 2])]))
    module.update()
    out = nd.sparse.zeros("row_sparse", (3, 2))
    store.row_sparse_pull("weight", out=out, row_ids=nd.array([0, 2]))
    assert (out.indices.asnumpy().tolist(), out.data.asnumpy().tolist()) == ([0, 2], [[0, 0], [2, 2]])
