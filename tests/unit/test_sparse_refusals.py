"""What sparse arrays refuse: the type of the error is MXNet 1.9.1's, the clause says where the rule stands."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray import sparse
from refimpl.op_registry import known

nd = mx.nd
D = [[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 5]]


def csr():
    return nd.array(D).tostype("csr")


def rows():
    return nd.array(D).tostype("row_sparse")


def assign(array, key, value):
    array[key] = value


def loose(*parts, shape=(2, 2)):
    return sparse.csr_matrix(parts, shape=shape)


REFUSED = [
    ("Sparse/no-memory", TypeError, lambda: csr().handle),
    ("Sparse/no-memory", TypeError, lambda: rows()._data),
    ("Sparse/size", NotImplementedError, lambda: csr().size),
    ("Sparse/parts-read-only", NotImplementedError, lambda: setattr(csr(), "data", nd.ones((5,)))),
    ("Sparse/parts-read-only", NotImplementedError, lambda: setattr(rows(), "indices", nd.ones((3,)))),
    ("Sparse/parts-read-only", NotImplementedError, lambda: setattr(csr(), "indptr", nd.ones((5,)))),
    ("Sparse/reshape", sparse.NotSupportedForSparseNDArray, lambda: csr().reshape((3, 4))),
    ("Sparse/reshape", mx.MXNetError, lambda: rows().reshape((3, 4))),
    ("NDArray/truth", ValueError, lambda: bool(csr())),
    ("Sparse/storage", mx.MXNetError, lambda: nd.array(D).tostype("foo")),
    ("Sparse/storage", ValueError, lambda: sparse.zeros("foo", (2, 3))),
    ("Sparse/storage", ValueError, lambda: sparse.empty("default", (2, 3))),
    ("Sparse/csr-rank", ValueError, lambda: nd.ones((2, 2, 2)).tostype("csr")),
    ("Sparse/csr-rank", ValueError, lambda: sparse.csr_matrix([1, 2])),
    ("Sparse/csr-rank", mx.MXNetError, lambda: sparse.zeros("csr", (2,))),
    ("Sparse/row-rank", mx.MXNetError, lambda: sparse.zeros("row_sparse", ())),
    ("Sparse/cross-storage", ValueError, lambda: csr().tostype("row_sparse")),
    ("Sparse/cross-storage", ValueError, lambda: sparse.csr_matrix(rows())),
    ("Sparse/cross-storage", ValueError, lambda: sparse.row_sparse_array(csr())),
    ("Sparse/cross-storage", mx.MXNetError, lambda: sparse.cast_storage(rows(), stype="csr")),
    ("Sparse/copy-storage", TypeError, lambda: csr().copyto(rows())),
    ("Sparse/copy-storage", TypeError, lambda: assign(rows(), slice(None), csr())),
    ("NDArray/copy-target", TypeError, lambda: csr().copyto([1])),
    ("NDArray/copy-shape", mx.MXNetError, lambda: assign(csr(), slice(None), nd.ones((2, 2)))),
    ("Sparse/assign-whole", ValueError, lambda: assign(csr(), slice(0, 2), csr())),
    ("Sparse/assign-whole", ValueError, lambda: assign(csr(), 0, csr())),
    ("Sparse/assign-whole", TypeError, lambda: assign(rows(), 0, rows())),
    ("Sparse/assign-value", ValueError, lambda: assign(csr(), slice(None), 1.0)),
    ("Sparse/assign-value", TypeError, lambda: assign(rows(), slice(None), [[1]])),
    ("Sparse/row-index", ValueError, lambda: rows()[0]),
    ("Sparse/row-range", IndexError, lambda: csr()[4]),
    ("Sparse/row-range", IndexError, lambda: csr()[2:1]),
    ("Sparse/slice", ValueError, lambda: csr()[0:4:2]),
    ("Sparse/slice", ValueError, lambda: csr()[0, 1]),
    ("Sparse/definition", ValueError, lambda: sparse.csr_matrix((2,))),
    ("Sparse/definition", ValueError, lambda: sparse.row_sparse_array((2,))),
    ("Sparse/shape", ValueError, lambda: sparse.csr_matrix((2, 3), shape=(3, 2))),
    ("Sparse/shape", ValueError, lambda: sparse.csr_matrix(csr(), shape=(3, 3))),
    ("Sparse/shape", ValueError, lambda: sparse.csr_matrix(([], [], [0, 0]))),
    ("Sparse/shape", ValueError, lambda: loose([[1, 2]], [1, 0], [0, 1, 2])),
    ("Sparse/shape", ValueError, lambda: loose([1, 2], [1, 0], [0, 1, 2], shape=(2, 2, 2))),
    ("Sparse/shape", ValueError, lambda: sparse.csr_matrix(([1], ([0], [9])), shape=(2, 3))),
    ("Sparse/shape", ValueError, lambda: sparse.row_sparse_array(([1, 2], [0, 2]), shape=(4, 2))),
    ("Sparse/source", TypeError, lambda: sparse.csr_matrix("abc")),
    ("Sparse/source", AssertionError, lambda: sparse.array(nd.ones((2, 2)))),
    ("Sparse/source", ValueError, lambda: sparse.array(np.ones((2, 2)))),
    ("Sparse/format", mx.MXNetError, lambda: loose([1, 2, 3], [1, 0], [0, 1, 2])),
    ("Sparse/format", mx.MXNetError, lambda: loose([1, 2], [1, 0], [0, 2])),
    ("Sparse/format", mx.MXNetError, lambda: sparse.row_sparse_array(([[1], [2]], [1]), shape=(3, 1))),
    ("Sparse/dot-rank", mx.MXNetError, lambda: nd.dot(csr(), nd.array([1, 2, 3]))),
    ("dot/inner", mx.MXNetError, lambda: nd.dot(csr(), nd.ones((4, 2)))),
    ("types/one-dtype", mx.MXNetError, lambda: nd.dot(csr(), nd.ones((3, 2), dtype="float64"))),
    ("types/one-dtype", mx.MXNetError, lambda: nd.elemwise_add(csr(), csr().astype("float64"))),
    ("Sparse/retain-storage", mx.MXNetError, lambda: sparse.retain(csr(), nd.array([1]))),
    ("sparse_retain/range", mx.MXNetError, lambda: sparse.retain(rows(), nd.array([1, 9]))),
    ("sparse_retain/range", mx.MXNetError, lambda: rows().retain([-1])),
    ("sparse_retain/range", mx.MXNetError,
     lambda: nd._internal._sparse_retain(nd.array(D), nd.array([9])).wait_to_read()),
    ("take/raise", mx.MXNetError, lambda: nd.take(csr(), nd.array([9]), mode="raise")),
    ("nd/out-shape", mx.MXNetError, lambda: nd.abs(csr(), out=sparse.zeros("csr", (3, 3)))),
    ("nd/operand", TypeError, lambda: csr() + np.ones((4, 3))),
    ("nd/operand", TypeError, lambda: sparse.add(1, 2)),
    ("contract/known-operator", mx.MXNetError, lambda: known.missing("no_such_operator")(csr())),
    ("Sparse/update-rows", mx.MXNetError,
     lambda: nd.sgd_update(rows(), rows(), out=rows(), lr=0.1)),
]


@pytest.mark.clause(*sorted({clause for clause, _, _ in REFUSED if clause.startswith(("Sparse/", "sparse_retain/"))}))
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSED, ids=[f"{i}-{r[0]}" for i, r in enumerate(REFUSED)])
def test_refused(clause, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


# check_format raises MXNetError for each of these; most operators of MXNet read or write out of bounds then
BROKEN = {
    "starts fall": lambda: loose([1, 2], [1, 0], [0, 2, 1]),
    "starts begin late": lambda: loose([1, 2], [1, 0], [1, 1, 2]),
    "starts end early": lambda: loose([1, 2], [1, 0], [0, 1, 1]),
    "starts end late": lambda: loose([1, 2], [1, 0], [0, 1, 3]),
    "column too large": lambda: loose([1, 2], [1, 5], [0, 1, 2]),
    "column negative": lambda: loose([1, 2], [1, -1], [0, 1, 2]),
    "column twice": lambda: loose([1, 2], [1, 1], [0, 2, 2]),
    "row too large": lambda: sparse.row_sparse_array(([[1], [2]], [1, 7]), shape=(3, 1)),
    "row negative": lambda: sparse.row_sparse_array(([[1], [2]], [-1, 1]), shape=(3, 1)),
    "row twice": lambda: sparse.row_sparse_array(([[1], [2]], [1, 1]), shape=(3, 1)),
}


@pytest.mark.clause("Sparse/recording")
@pytest.mark.parametrize("call", [
    lambda x: x.copyto(sparse.zeros("csr", (4, 3))), lambda x: x.tostype("csr").copyto(sparse.zeros("csr", (4, 3))),
    lambda x: nd.square(x, out=sparse.zeros("csr", (4, 3))),
])
def test_no_gradient_is_lost(call) -> None:
    x = nd.array(D)
    x.attach_grad()
    with mx.autograd.record(), pytest.raises(mx.MXNetError) as caught:
        call(x)
    assert caught.value.clause == "Sparse/recording"


@pytest.mark.clause("Sparse/format")
@pytest.mark.parametrize("name", BROKEN)
def test_broken_indices(name) -> None:
    array = BROKEN[name]()
    array.check_format(full_check=False)
    for use in (array.check_format, array.asnumpy, lambda: nd.abs(array), lambda: array.tostype("default"),
                lambda: nd.exp(array)):
        with pytest.raises(mx.MXNetError) as caught:
            use()
        assert caught.value.clause == "Sparse/format"


def test_read_only() -> None:
    for array in (csr(), rows()):
        array.writable = False
        with pytest.raises(ValueError) as caught:
            array[:] = nd.array(D)
        assert caught.value.clause == "NDArray/writable"


@pytest.mark.clause("Sparse/scipy")
def test_without_scipy(monkeypatch) -> None:
    def absent(name, *args):
        if name.startswith("scipy"):
            raise ImportError(name)
        return imported(name, *args)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError) as caught:
        csr().asscipy()
    assert caught.value.clause == "Sparse/scipy"
