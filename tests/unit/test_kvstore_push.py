"""What a push and a replacement leave in the store, and what an updater sees of it."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import kvstore as kv
from refimpl import ndarray as nd

from .test_kvstore import TYPES, a, stored


@pytest.mark.clause("KVStore/push-alike")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("held", "pushed", "more"), [
    # MXNet 1.9.1, a device store: 1 + 2**-30 in each type, pulled as float64; what exceeds the sum of ones, times 2**30
    ("float32", ["float32", "float64"], 0), ("float32", ["float64", "float64"], 0), ("float64", ["float64"] * 2, 2),
    ("float64", ["float32", "float64"], 1), ("float64", ["float16", "float32"], 0), ("float32", ["float64"], 1),
])
def test_several_arrays_become_of_the_stored_type(kind, held, pushed, more) -> None:
    store = kv.create(kind)
    store.init(0, nd.zeros(1, dtype=held))
    store.push(0, [a(1 + 2.0**-30, dtype=dtype) for dtype in pushed])
    assert stored(store, 0, dtype="float64") == [len(pushed) + more * 2.0**-30]


@pytest.mark.clause("KVStore/replace")
@pytest.mark.parametrize("kind", TYPES)
def test_replace(kind) -> None:
    store, calls, mine = kv.create(kind), [], a(3, 4, dtype="float64")
    store.init(["b", "a"], [a(1, 2), nd.array([[1], [0]]).tostype("row_sparse")])
    store.set_updater(lambda *args: calls.append(args))
    store.replace(["b", "a"], [mine, nd.array([[0], [7]])])
    mine[:] = 99
    whole = nd.zeros((2, 1), stype="row_sparse")
    store.pull("a", out=whole, ignore_sparse=False)
    assert (whole.indices.asnumpy().tolist(), whole.asnumpy().tolist()) == ([0, 1], [[0], [7]])
    assert stored(store, "b", 2) == [3, 4] and calls == []
    assert store._stored["b"].dtype is np.float32
    with pytest.raises(mx.MXNetError):
        store.replace(["b", "a"], [a(5, 6), a(5)])
    assert stored(store, "b", 2) == [3, 4]


@pytest.mark.clause("KVStore/updater")
@pytest.mark.parametrize("kind", TYPES)
def test_an_updater_that_comes_late_gets_the_stored_array(kind) -> None:
    store, seen = kv.create(kind), []

    def add(key, merged, weight) -> None:
        seen.append((merged.asscalar(), weight.asscalar()))
        weight += merged

    store.init(0, a(1))
    store.push(0, [a(1), a(1)])
    store.set_updater(add)
    for _ in range(3):
        store.push(0, [a(2), a(3)])
    assert seen == [(5, 2), (5, 7), (5, 12)]


@pytest.mark.clause("KVStore/sum-order-call")
@pytest.mark.parametrize(("kind", "total"), [("local", 15), ("device", 18)])
def test_the_order_of_addition_does_not_depend_on_other_keys(kind, total) -> None:
    # by hand; MXNet 1.9.1 gives it with one key and 16 arrays at most in a call
    store, arrays = kv.create(kind), [a(v) for v in (1e8, -1e8, *[1] * 18)]
    store.init([0, 1, 2], [nd.zeros(1)] * 3)
    store.push([2, 0, 1], [arrays] * 3)
    assert [stored(store, key) for key in range(3)] == [[total]] * 3
