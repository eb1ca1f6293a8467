"""The store: what its examples in the chapter do not show, and every refusal."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import kvstore as kv
from refimpl import ndarray as nd
from refimpl.kvstore.pairs import paired

TYPES = ("local", "device")


def a(*values, **kwargs):
    return nd.array(values, **kwargs)


def stored(store, key, size=1, **kwargs) -> list:
    out = nd.zeros(size, **kwargs)
    store.pull(key, out=out)
    return out.asnumpy().tolist()


def in_order(kind: str, values: list[float]) -> np.float32:
    """The sum, in the order that the chapter states, one float32 addition at a time."""
    size = {"local": 4, "device": 1}[kind]
    groups = [values[i : i + size] for i in range(1, len(values), size)]
    add = functools.partial(functools.reduce, lambda x, y: np.float32(x + y))
    return add([np.float32(values[0]), *(add([np.float32(v) for v in group]) for group in groups)])


@pytest.mark.clause("KVStore/sum-order-local")
@pytest.mark.clause("KVStore/sum-order-device")
@pytest.mark.parametrize("kind", TYPES)
@given(values=st.lists(st.floats(-1e9, 1e9, width=32), min_size=1, max_size=11))
def test_order_of_addition(kind, values) -> None:
    store = kv.create(kind)
    store.init(0, nd.zeros(1))
    store.push(0, [a(v, ctx=mx.cpu(i)) for i, v in enumerate(values)])
    assert stored(store, 0)[0] == in_order(kind, values)


# MXNet 1.9.1: push(0, [nd.array([v]) for v in VALUES[:n]]), pull
SUMS = [
    ("local", [1, 1e8, 1, -1e8, 1], 3, 1e8), ("local", [1, -1e8, 1, 1e8, 1, 3], 4, 1.0),
    ("local", [1, -1e8, 1, 1e8, 1, 3], 5, 2.0), ("local", [1, -1e8, 1, 1e8, 1, 3], 6, 5.0),
    ("device", [1, -1e8, 1, 1e8, 1, 3], 4, 0.0), ("device", [1, -1e8, 1, 1e8, 1, 3], 5, 1.0),
    ("device", [1, -1e8, 1, 1e8, 1, 3], 6, 4.0),
]


@pytest.mark.clause("KVStore/sum-order-local")
@pytest.mark.clause("KVStore/sum-order-device")
@pytest.mark.parametrize(("kind", "values", "count", "expected"), SUMS)
def test_sums_of_mxnet(kind, values, count, expected) -> None:
    store = kv.create(kind)
    store.init(0, nd.zeros(1))
    store.push(0, [a(v) for v in values[:count]])
    assert stored(store, 0) == [expected]


@pytest.mark.clause("KVStore/push-copies")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nothing_is_shared_with_the_caller(kind, count) -> None:
    store, arrays = kv.create(kind), [a(1.0, ctx=mx.cpu(i)) for i in range(count)]
    store.init(0, arrays[0])
    store.push(0, arrays)
    for array in arrays:
        array[:] = 99
    assert stored(store, 0) == [count]
    out = nd.zeros(1)
    store.pull(0, out=out)
    out[:] = 99
    assert stored(store, 0) == [count]

    def spoil(_, merged, weight) -> None:
        merged[:] = -1
        weight[:] = 7

    store.set_updater(spoil)
    store.push(0, arrays)
    assert [array.asscalar() for array in arrays] == [99] * count
    assert stored(store, 0) == [7]


@pytest.mark.clause("KVStore/push-alike")
def test_a_single_array_may_change_the_dtype() -> None:
    store = kv.create()
    store.init(0, a(1, 2))
    store.push(0, a(3, 4, dtype="float64"))
    assert stored(store, 0, 2) == [3, 4]


@pytest.mark.clause("KVStore/push-alike")
@pytest.mark.parametrize("kind", ["local", "device"])
def test_a_single_array_keeps_the_shape_unless_an_updater_judges_it(kind) -> None:
    # MXNet 1.9.1: kv.init(0, ones(2)); kv.push(0, ones(3)) replaces the array; a pull into shape (2,) then fails
    store = kv.create(kind)
    store.init([0, 1], [a(1, 2), a(3, 4)])
    with pytest.raises(mx.MXNetError) as caught:
        store.push([0, 1], [a(5, 6), a(1, 2, 3)])
    assert caught.value.clause == "KVStore/push-alike"
    assert "(3,)" in str(caught.value)
    assert stored(store, 0, 2) == [1, 2]
    store.set_updater(lambda _key, merged, weight: weight.__iadd__(merged.sum()))
    store.push(0, a(1, 2, 3))
    assert stored(store, 0, 2) == [7, 8]


@pytest.mark.clause("KVStore/push-alike")
def test_the_number_of_arrays_may_change() -> None:
    store = kv.create()
    store.init(0, a(0))
    for count in (2, 5, 1, 3):
        store.push(0, [a(1)] * count)
        assert stored(store, 0) == [count]


@pytest.mark.clause("KVStore/pull-copies")
def test_pull_casts() -> None:
    # as MXNet 1.9.1: a float64 array pushed alone, pulled into three dtypes
    store = kv.create()
    store.init(3, a(0, 0))
    store.push(3, a(7.5, 8.5, dtype="float64"))
    assert stored(store, 3, 2) == stored(store, 3, 2, dtype="float64") == [7.5, 8.5]
    assert stored(store, 3, 2, dtype="int32") == [7, 8]


@pytest.mark.clause("KVStore/init-copies")
def test_init_does_not_call_the_updater() -> None:
    store, calls = kv.create(), []
    store._set_updater(lambda *args: calls.append(args))
    store.init(0, a(1))
    assert calls == []


@pytest.mark.clause("KVStore/push-order")
@pytest.mark.clause("KVStore/updater-key")
@pytest.mark.clause("KVStore/updater")
def test_order_and_kind_of_keys() -> None:
    # the calls that an updater of MXNet 1.9.1 gets from the same program
    calls = []

    def note(key, merged, weight) -> None:
        calls.append((key, merged.asscalar(), weight.asscalar()))

    numbered = kv.create()
    numbered.set_updater(note)
    numbered.init([5, 3, 9], [a(1), a(2), a(3)])
    numbered.push([9, 3, 5], [a(1), a(2), [a(3), a(4)]])
    assert calls == [(3, 2, 2), (5, 7, 1), (9, 1, 3)]
    calls.clear()
    named = kv.create()
    named.set_updater(note)
    named.init(["b", "c"], [a(1), a(2)])
    named.init("a", a(3))
    named.push(["a", "c", "b", "a"], [a(1), a(2), [a(3), a(4)], a(10)])
    assert calls == [(b"b", 7, 1), (b"c", 2, 2), (b"a", 11, 3)]


@pytest.mark.clause("KVStore/updater-errors")
def test_an_error_in_an_updater_reaches_the_caller() -> None:
    def fail(*_) -> None:
        raise ZeroDivisionError("by the updater")

    store = kv.create()
    store.init(0, a(1))
    store.set_updater(fail)
    with pytest.raises(ZeroDivisionError, match="by the updater"):
        store.push(0, a(1))
    store.set_updater(None)
    store.push(0, a(5))
    assert stored(store, 0) == [5]


@pytest.mark.clause("KVStore/set-optimizer")
@pytest.mark.parametrize("kind", TYPES)
def test_optimizer_on_the_store(kind) -> None:
    store = kv.create(kind)
    store.init("w", a(1.0))
    store.set_optimizer(mx.optimizer.create("test"))
    for _ in range(3):
        store.push("w", [a(1), a(2)])
    assert stored(store, "w") == [10]
    assert list(store._updater.states) == ["w"]
    store.set_optimizer(mx.optimizer.create("test"))
    assert store._updater.states == {}


@pytest.mark.clause("KVStore/states")
@pytest.mark.parametrize("dump", [False, True])
def test_states(tmp_path: Path, dump) -> None:
    file = str(tmp_path / "x.states")
    store = kv.create()
    store.init("w", a(1.0))
    store.set_optimizer(mx.optimizer.SGD(momentum=0.5, learning_rate=1.0))
    store.push("w", a(1.0))
    store.save_optimizer_states(file, dump_optimizer=dump)
    other = kv.create()
    other.set_optimizer(mx.optimizer.SGD(momentum=0.25))
    other.load_optimizer_states(file)
    assert other._updater.states["w"].asnumpy().tolist() == [-1.0]
    assert other._updater.optimizer.momentum == (0.5 if dump else 0.25)


@pytest.mark.clause("KVStore/states-need-optimizer")
def test_states_need_an_optimizer(tmp_path: Path) -> None:
    store = kv.create()
    store.set_updater(lambda *_: None)
    with pytest.raises(AssertionError) as caught:
        store.save_optimizer_states(str(tmp_path / "x"))
    assert caught.value.clause == "KVStore/states-need-optimizer"
    with pytest.raises(AssertionError):
        kv.create().load_optimizer_states(str(tmp_path / "x"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("States/valid")
def test_a_damaged_states_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.states"
    file.write_bytes(b"\x80\x04garbage")
    store = kv.create()
    store.set_optimizer(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError, match=r"broken\.states"):
        store.load_optimizer_states(str(file))


@pytest.mark.clause("KVStore/pairing")
def test_forms_of_calls() -> None:
    store = kv.create()
    store.init([[12, 13], True], [[a(1), a(2)], a(3)])
    assert [stored(store, key)[0] for key in (12, 13, 1)] == [1, 2, 3]
    store.push((12, 13), (a(5), (a(1), a(2))))
    assert [stored(store, key)[0] for key in (12, 13)] == [5, 3]
    store.push([], [])
    store.push(12, [], priority=2**40)
    store.push(12, a(5), priority=np.int64(-3))
    out = [nd.zeros(1), nd.zeros(1)]
    store.broadcast(-3, a(4), out)
    assert [o.asscalar() for o in out] == [4, 4]


@pytest.mark.clause("KVStore/duplicate-init")
def test_keys_before_a_duplicate_stay() -> None:
    store = kv.create()
    with pytest.raises(mx.MXNetError) as caught:
        store.init([7, 7], [a(1), a(2)])
    assert caught.value.clause == "KVStore/duplicate-init"
    assert stored(store, 7) == [1]
    with pytest.raises(mx.MXNetError):
        store.init(8, [a(1), a(2)])
    assert stored(store, 8) == [1]


@pytest.mark.clause("KVStore/one-kind")
def test_a_failing_call_fixes_the_kind_of_keys() -> None:
    store = kv.create()
    with pytest.raises(mx.MXNetError):
        store.push("x", a(1))
    with pytest.raises(mx.MXNetError) as caught:
        store.init(1, a(1))
    assert caught.value.clause == "KVStore/one-kind"


@pytest.mark.clause("KVStore/initialised")
def test_nothing_changes_when_one_key_is_unknown() -> None:
    store = kv.create()
    store.init(0, a(1))
    with pytest.raises(mx.MXNetError) as caught:
        store.push([0, 1], [a(2), a(2)])
    assert caught.value.clause == "KVStore/initialised"
    assert stored(store, 0) == [1]


@pytest.mark.clause("KVStore/register")
def test_registering_twice_warns() -> None:
    class Mine(kv.KVStoreBase): ...

    try:
        assert kv.KVStoreBase.register(Mine) is Mine
        with pytest.warns(UserWarning, match="no longer"):
            kv.KVStoreBase.register(Mine)
        mine = kv.create("MINE")
        for call in (
            lambda: mine.broadcast(0, 0, 0), lambda: mine.pushpull(0, 0), lambda: mine.set_optimizer(0),
            lambda: mine.is_capable("optimizer"), lambda: mine.save_optimizer_states(""),
            lambda: mine.load_optimizer_states(""), lambda: mine.type, lambda: mine.rank,
            lambda: mine.num_workers,
        ):
            with pytest.raises(NotImplementedError):
                call()
    finally:
        del kv.KVStoreBase.kv_registry["mine"]


@pytest.mark.clause("KVStore/register")
def test_test_store() -> None:
    # as MXNet 1.9.1: mx.kv.create("teststore")
    store = kv.create("teststore")
    assert (store.type, store.rank, store.num_workers) == ("teststore", 0, 1)
    assert not store.is_capable("optimizer")
    first, second = nd.zeros(2), nd.zeros(2)
    store.broadcast(1, a(1, 2), [first, second])
    assert second.asnumpy().tolist() == [1, 2]
    store.pushpull(1, [a(1, 2), a(3, 4)], first)
    assert first.asnumpy().tolist() == [4, 6]
    store.pushpull(1, [first, second])
    assert first.asnumpy().tolist() == second.asnumpy().tolist() == [5, 8]


def with_key(call):
    def run() -> None:
        store = kv.create("device")
        store.init(3, a(1, 2))
        call(store)

    return run


REFUSALS = [
    ("KVStore/name-type", TypeError, lambda: kv.create(3)),
    ("Cluster/needed", mx.MXNetError, lambda: kv.create("dist_sync")),
    ("KVStore/no-nccl", mx.MXNetError, lambda: kv.create("nccl")),
    ("KVStore/capability", ValueError, lambda: kv.create().is_capable("foo")),
    ("KVStore/capability", ValueError, lambda: kv.create("teststore").is_capable("foo")),
    ("KVStore/lengths", AssertionError, with_key(lambda s: s.push([3], []))),
    ("KVStore/lengths", AssertionError, with_key(lambda s: s.push([3], a(1)))),
    ("KVStore/key-type", AssertionError, with_key(lambda s: s.init(np.int64(1), a(1)))),
    ("KVStore/key-type", AssertionError, with_key(lambda s: s.init(1.5, a(1)))),
    ("KVStore/key-type", AssertionError, with_key(lambda s: s.init(b"x", a(1)))),
    ("KVStore/key-type", AssertionError, with_key(lambda s: s.init(None, a(1)))),
    ("KVStore/key-range", OverflowError, with_key(lambda s: s.init(2**31, a(1)))),
    ("KVStore/values", AssertionError, with_key(lambda s: s.push(3, np.ones(2)))),
    ("KVStore/values", AssertionError, with_key(lambda s: s.push(3, [[a(1, 2)]]))),
    ("KVStore/values", TypeError, with_key(lambda s: s.push(3, None))),
    ("KVStore/one-kind", mx.MXNetError, with_key(lambda s: s.init("x", a(1)))),
    ("KVStore/one-kind-in-list", AssertionError, with_key(lambda s: s.init([1, "x"], [a(1), a(1)]))),
    ("KVStore/priority", TypeError, with_key(lambda s: s.push(3, a(1, 2), priority=1.5))),
    ("KVStore/priority", TypeError, with_key(lambda s: s.pull(3, nd.zeros(2), priority="x"))),
    ("KVStore/initialised", mx.MXNetError, with_key(lambda s: s.pull(99, nd.zeros(2)))),
    ("KVStore/initialised", mx.MXNetError, with_key(lambda s: s.push(99, [a(1), a(1)]))),
    ("KVStore/push-alike", mx.MXNetError, with_key(lambda s: s.push(3, [nd.ones(3), nd.ones(3)]))),
    ("KVStore/pull-shape", mx.MXNetError, with_key(lambda s: s.pull(3, nd.zeros(3)))),
    ("KVStore/pull-out", AssertionError, with_key(lambda s: s.pull(3))),
    ("KVStore/optimizer-type", TypeError, with_key(lambda s: s.set_optimizer("sgd"))),
    ("KVStore/replace", mx.MXNetError, with_key(lambda s: s.replace(3, a(1)))),
    ("KVStore/initialised", mx.MXNetError, with_key(lambda s: s.replace(4, a(1)))),
]


@pytest.mark.clause("KVStore/one-kind-in-list")
def test_the_kind_of_keys() -> None:
    array = nd.zeros(1)
    assert paired([1, 2], [array, array], None) == ([(1, array), (2, array)], int)
    assert paired("x", array, None) == ([("x", array)], str)
    assert paired("x", array, str) == ([("x", array)], str)
    assert paired([], [], None) == ([], None)


@pytest.mark.clause("KVStore/name-type")
@pytest.mark.clause("KVStore/no-nccl")
@pytest.mark.clause("KVStore/capability")
@pytest.mark.clause("KVStore/lengths")
@pytest.mark.clause("KVStore/key-type")
@pytest.mark.clause("KVStore/key-range")
@pytest.mark.clause("KVStore/values")
@pytest.mark.clause("KVStore/one-kind")
@pytest.mark.clause("KVStore/one-kind-in-list")
@pytest.mark.clause("KVStore/priority")
@pytest.mark.clause("KVStore/push-alike")
@pytest.mark.clause("KVStore/pull-shape")
@pytest.mark.clause("KVStore/pull-out")
@pytest.mark.clause("KVStore/optimizer-type")
@pytest.mark.clause("KVStore/replace")
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS, ids=[r[0] for r in REFUSALS])
def test_refusals(clause, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
