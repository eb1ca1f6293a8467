"""What old programs do to the machine beneath Module; the numbers are those of MXNet 1.9.1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx

nd, sym = mx.nd, mx.sym
MATRIX = np.eye(4, dtype=np.float32)


def test_the_default_context_can_be_assigned() -> None:
    # seen = []
    # mx.Context.default_ctx = mx.cpu(2); seen.append(mx.current_context())
    # with mx.cpu(1):
    #     seen.append(mx.current_context())
    #     mx.Context.default_ctx = mx.cpu(4); seen.append(mx.current_context())
    # seen.append(mx.current_context()); print(seen)
    seen = []
    try:
        mx.Context.default_ctx = mx.cpu(2)
        seen.append(mx.current_context())
        with mx.cpu(1):
            seen.append(mx.Context.default_ctx)
            mx.Context.default_ctx = mx.cpu(4)
            seen.append(nd.zeros((1,)).context)
        seen.append(mx.current_context())
    finally:
        mx.Context.default_ctx = mx.cpu(0)
    assert seen == [mx.cpu(2), mx.cpu(1), mx.cpu(4), mx.cpu(2)]


def test_names_and_attributes_have_a_current_scope() -> None:
    # the RNN cells of 2016 wrote mx.AttrScope.current.get(None)
    assert mx.AttrScope.current.get({"__a__": "1"}) == {"__a__": "1"}
    with mx.AttrScope(ctx_group="left"):
        assert mx.AttrScope.current.get(None) == {"ctx_group": "left"}
    with mx.name.NameManager():
        assert mx.name.NameManager.current.get(None, "cell") == "cell0"
        assert mx.name.NameManager.current.get(None, "cell") == "cell1"
        assert mx.name.NameManager.current.get("own", "cell") == "own"


def test_the_current_scope_can_be_replaced() -> None:
    names, attributes = mx.name.NameManager.current, mx.AttrScope.current
    try:
        mx.name.NameManager.current = mx.name.Prefix("net_")
        mx.AttrScope.current = mx.AttrScope(__group__="1")
        made = sym.exp(sym.Variable("x"))
    finally:
        mx.name.NameManager.current, mx.AttrScope.current = names, attributes
    assert made.name == "net_exp0"
    assert made.list_attr() == {"__group__": "1"}
    assert sym.Variable("y").list_attr() == {}


@pytest.mark.clause("NDArray/assign-numbers")
@pytest.mark.parametrize("value", ["x", ["a", "2", "3", "4"], 1j, np.array([1j] * 4)])
def test_only_numbers_are_assigned(value: object) -> None:
    array = nd.zeros((2, 4))
    with pytest.raises(TypeError) as caught:
        array[0] = value
    assert caught.value.clause == "NDArray/assign-numbers"  # type: ignore[attr-defined]  # of our refusals
    assert not array.asnumpy().any()


@pytest.mark.clause("NDArray/assign-numbers")
@pytest.mark.parametrize("value", [["1", "2", "3", "4"], np.array(["1", "2", "3", "4"]), range(1, 5)])
def test_text_is_read_as_numbers(value: object) -> None:
    # a = mx.nd.zeros((2, 4)); a[0] = ["1", "2", "3", "4"]; print(a.asnumpy())
    array = nd.zeros((2, 4))
    array[0] = value
    assert array.asnumpy().tolist() == [[1, 2, 3, 4], [0, 0, 0, 0]]


@pytest.mark.clause("Sparse/row-rank")
def test_a_number_has_no_rows() -> None:
    for make in (lambda: nd.sparse.row_sparse_array(3), lambda: nd.array(3).tostype("row_sparse")):
        with pytest.raises(mx.MXNetError) as caught:
            make()
        assert caught.value.clause == "Sparse/row-rank"


@pytest.mark.clause("NDArrayIter/sparse")
@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_batches_of_sparse_arrays_are_dense(stype: str) -> None:
    # print([b.data[0] for b in mx.io.NDArrayIter(matrix, np.arange(4), 2, last_batch_handle="discard")])
    iterator = mx.io.NDArrayIter(nd.array(MATRIX).tostype(stype), np.arange(4), 2, last_batch_handle="discard")
    batches = list(iterator)
    assert [batch.data[0].stype for batch in batches] == ["default"] * 2
    assert np.concatenate([batch.data[0].asnumpy() for batch in batches]).tolist() == MATRIX.tolist()


@pytest.mark.clause("NDArrayIter/sparse")
@pytest.mark.parametrize("handle", ["pad", "roll_over"])
def test_sparse_rows_wrap_as_dense_ones_do(handle: str) -> None:
    def epochs(data: object) -> list:
        iterator = mx.io.NDArrayIter(data, np.arange(4), 3, last_batch_handle=handle)
        found = []
        for _ in range(2):
            found.append([(b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist(), b.pad) for b in iterator])
            iterator.reset()
        return found

    assert epochs(nd.array(MATRIX).tostype("csr")) == epochs(MATRIX)


@pytest.mark.clause("NDArrayIter/sparse")
def test_sparse_rows_are_shuffled() -> None:
    # np.random.seed(0); print([b.label[0] for b in mx.io.NDArrayIter(matrix, ..., shuffle=True)])
    np.random.seed(0)  # the generator that NDArrayIter shuffles with
    iterator = mx.io.NDArrayIter(nd.array(MATRIX).tostype("csr"), np.arange(4), 2, shuffle=True)
    rows = [(batch.data[0].asnumpy().argmax(axis=1).tolist(), batch.label[0].asnumpy().tolist()) for batch in iterator]
    assert rows == [([2, 3], [2, 3]), ([1, 0], [1, 0])]


@pytest.mark.parametrize("assign", ["copyto", "slice"])
def test_an_executor_without_gradients_sees_new_weights(assign: str) -> None:
    # MXNet built with oneDNN goes on with the first weights: it prints 4, 4; without that subgraph backend 4, 8
    net = sym.FullyConnected(sym.Variable("data"), num_hidden=3, no_bias=True, name="fc")
    executor = net.simple_bind(mx.cpu(), data=(2, 4), grad_req="null")
    executor.arg_dict["fc_weight"][:] = 1
    outputs = [executor.forward(is_train=False, data=nd.ones((2, 4)))[0].asnumpy()]
    changes: dict[str, Callable[[], object]] = {
        "copyto": lambda: nd.full((3, 4), 2).copyto(executor.arg_dict["fc_weight"]),
        "slice": lambda: executor.arg_dict["fc_weight"].__setitem__(slice(None), 2),
    }
    changes[assign]()
    outputs.append(executor.forward(is_train=False)[0].asnumpy())
    assert [output.tolist() for output in outputs] == [[[4, 4, 4]] * 2, [[8, 8, 8]] * 2]


def test_a_file_is_read_into_memory_of_its_own(tmp_path: object) -> None:
    name = f"{tmp_path}/arrays.params"
    saved = {"a": nd.array([[1, 2], [3, 4]]), "b": nd.array([1, 0], dtype="bool"), "c": nd.ones((3,), dtype="float16")}
    nd.save(name, saved)
    first, second = nd.load(name), nd.load(name)
    for array in first.values():
        array[:] = 0
    assert {key: array.asnumpy().tolist() for key, array in second.items()} == {
        "a": [[1, 2], [3, 4]], "b": [True, False], "c": [1, 1, 1],
    }


def test_prefetching_takes_descriptions_that_are_pairs() -> None:
    """Custom iterators of the time described their data by (name, shape)."""
    inner = mx.io.NDArrayIter(mx.nd.ones((4, 2)), mx.nd.ones((4,)), 2)

    class Own(mx.io.DataIter):
        provide_data, provide_label = [("data", (2, 2))], [("softmax_label", (2,))]
        next, reset = inner.next, inner.reset

    fetching = mx.io.PrefetchingIter(Own(2))
    assert len(list(fetching)) == 2
    assert fetching.provide_data == [("data", (2, 2))]
