"""The cluster: rows in any order, what refused calls leave, arrays that nobody can write to, runs that end early."""

from __future__ import annotations

import random
import threading
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import server as rules
from refimpl.kvstore.placement import parts_of, server_of
from tests.stateful.failing import nth

from .clusters import a, adding, held, pair, refused


def rows(values: list, ids: list, size: int, dtype: str = "float32") -> nd.NDArray:
    return nd.sparse.row_sparse_array((np.array(values, dtype), ids), shape=(size, 2), dtype=dtype)


# --- storage --------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/rows")
@pytest.mark.parametrize("bound", ["1000", "1"])
@pytest.mark.parametrize("pushed", [False, True])
def test_rows_may_come_in_any_order(bound, pushed, monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", bound)
    store = mx.kv.simulate(servers=2, faults=False).store(0)
    mixed = rows([[3, 3], [1, 1], [2, 2]], [3, 0, 2], 4)
    store.init("w", nd.sparse.zeros("row_sparse", (4, 2)) if pushed else mixed)
    if pushed:
        store.push("w", mixed)
    out = nd.sparse.zeros("row_sparse", (4, 2))
    store.row_sparse_pull("w", out=out, row_ids=nd.array([3, 0]))
    assert (out.indices.asnumpy().tolist(), out.data.asnumpy().tolist()) == ([0, 3], [[1, 1], [3, 3]])
    assert held(store, "w", (4, 2)) == [[1, 1], [0, 0], [2, 2], [3, 3]]


@pytest.mark.clause("Cluster/no-csr")
def test_csr_arrays_are_not_kept_but_can_replace():
    store, _ = pair()
    matrix = nd.sparse.csr_matrix(np.eye(2, dtype=np.float32))
    refused("Cluster/no-csr", lambda: store.init("m", matrix))
    store.init("m", nd.zeros((2, 2)))
    other = mx.kv.simulate(faults=False).store(0)
    other.init("m", nd.zeros((2, 2)))
    other.replace("m", matrix)
    assert held(other, "m", (2, 2)) == [[1, 0], [0, 1]]


@pytest.mark.clause("Cluster/replace")
@pytest.mark.parametrize("make", [lambda: mx.kv.create(), lambda: mx.kv.simulate(faults=False).store(0)])
def test_a_dense_array_in_the_place_of_rows_has_every_row(make):
    store = make()
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0, rescale_grad=-1.0))
    store.init("w", nd.ones((3, 2)).tostype("row_sparse"))
    store.replace("w", nd.array([[1, 1], [0, 0], [2, 2]]))
    store.push("w", rows([[5, 5]], [1], 3))
    assert held(store, "w", (3, 2)) == [[1, 1], [5, 5], [2, 2]]


@pytest.mark.clause("Cluster/replace")
def test_the_type_stays():
    store = mx.kv.simulate(faults=False).store(0)
    store.init([0, 1], [rows([[0, 0]], [0], 2), a(0)])
    store.replace([0, 1], [rows([[1, 2]], [1], 2, "float64"), a(3, dtype="float64")])
    assert held(store, 0, (2, 2)) == [[0, 0], [1, 2]]
    assert held(store, 1) == [3]
    table = store._transport.states[0].tables[0]
    assert [part.value.dtype for part in table.parts.values()] == [np.float32] * 2


@pytest.mark.clause("Cluster/multi-precision")
def test_states_of_weights_that_are_widened_start_afresh():
    store = mx.kv.simulate(faults=False).store(0)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0, momentum=0.5, rescale_grad=-1.0))
    store.init([0, 1], [a(0, dtype="float16"), a(0)])
    for expected in (1, 2.5):
        store.push([0, 1], [a(1, dtype="float16"), a(1)])
        assert (held(store, 0, dtype="float16"), held(store, 1)) == ([expected], [expected])
    store._send_command_to_servers(1, "")
    store.push([0, 1], [a(1, dtype="float16"), a(1)])
    assert (held(store, 0, dtype="float16"), held(store, 1)) == ([3.5], [4.25])


@pytest.mark.clause("Cluster/pure")
def test_nobody_can_write_to_what_servers_keep_and_send():
    cluster = mx.kv.simulate(workers=2, seed=4)

    def work(store):
        store.set_optimizer(adding())
        store.init([0, 1], [nd.zeros(3), nd.ones((3, 2)).tostype("row_sparse")])
        for _ in range(2):
            store.push([0, 1], [nd.ones(3), rows([[1, 1]], [store.rank], 3)])
        held(store, 0, 3)
        held(store, 1, (3, 2))

    found: list[np.ndarray] = []

    def collect(value) -> None:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif is_dataclass(value):
            for each in fields(value):
                collect(getattr(value, each.name))
        elif isinstance(value, (dict, list, tuple)):
            for each in value.values() if isinstance(value, dict) else value:
                collect(each)

    def watched(server, request):
        server, replies = rules.step(server, request)
        collect((server, request, replies))
        return server, replies

    cluster._step = watched
    cluster.run(work)
    assert len(found) > 20
    assert not any(array.flags.writeable for array in found)


@pytest.mark.clause("Cluster/once")
def test_servers_forget_what_has_arrived():
    """Messages of a long training leave nothing behind, on any server or line."""
    cluster = mx.kv.simulate(workers=2, seed=2)

    def work(store):
        store.init([0, 1], [a(0), a(0)])
        for _ in range(40):
            store.push([0, 1], [a(1), a(1)])
            held(store, 0)
            held(store, 1)
        store._barrier()

    cluster.run(work)
    for state in cluster.states:
        for line in state.connections.values():
            assert len(line.answers) + len(line.early) <= 4
        for part in state.tables[0].parts.values():
            assert not part.queues
            assert not part.pulls
    assert not any(channel.unanswered for channel in cluster._channels.values())
    assert len(cluster._in_flight) + len(cluster._lost) < 20  # of some 700: copies of what was lost or doubled


# --- placement ------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/split")
def test_a_scalar_is_not_cut(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "1")
    assert len(parts_of("w", (), servers=3, bound=0)) == 1
    store = mx.kv.simulate(servers=3, faults=False).store(0)
    with mx.util.np_shape(True):
        store.init("w", nd.zeros(()))
        store.push("w", nd.ones(()))
        assert held(store, "w", ()) == 1


@pytest.mark.clause("Cluster/placement")
def test_any_string_is_a_key():
    assert server_of("\ud800", 1) == 0  # half a character: UTF-8 has no bytes for it


# --- what a refused call leaves -------------------------------------------------------------------


@pytest.mark.clause("Cluster/init-alike")
def test_a_refused_init_may_be_tried_again():
    one, two = mx.kv.simulate(workers=2, faults=False).stores()
    one.init(["v", "w"], [a(1), a(2)])
    refused("Cluster/init-alike", lambda: two.init(["v", "w"], [a(1), a(1, 2)]))
    refused("KVStore/initialised", lambda: held(two, "w"))
    two.init(["v", "w"], [a(0), a(0)])
    assert (held(two, "v"), held(two, "w")) == ([1], [2])
    refused("KVStore/duplicate-init", lambda: two.init("v", a(0)))
    refused("KVStore/duplicate-init", lambda: two.init(["x", "x"], [a(0), a(0)]))


@pytest.mark.clause("Cluster/push-alike")
def test_a_refused_replacement_changes_nothing():
    store = mx.kv.simulate(faults=False).store(0)
    store.init(["v", "w"], [a(1), a(2)])
    refused("Cluster/push-alike", lambda: store.replace(["v", "w"], [a(5), a(5, 5)]))
    assert held(store, "v") == [1]


# --- runs that end early --------------------------------------------------------------------------


def _patient(store) -> None:
    try:
        store.init("w", a(0))
        store._barrier()
    finally:
        store._barrier()  # a clean-up that waits once more


@pytest.mark.clause("Cluster/run")
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_no_worker_goes_on_when_run_was_left(kind):
    cluster = mx.kv.simulate(workers=3, faults=False)
    steps: list[None] = []

    def failing(server, request):
        steps.append(None)
        if len(steps) == 8:  # it is not the first message of a worker, and not the last
            raise kind("the servers' rules failed")
        return rules.step(server, request)

    cluster._step = failing
    np.random.seed(5)
    random.seed(5)
    before = np.random.get_state()[1].tolist(), random.getstate(), set(threading.enumerate())
    with pytest.raises(kind, match="the servers' rules failed"):
        cluster.run(_patient)
    for thread in set(threading.enumerate()) - before[2]:
        thread.join(5)
        assert not thread.is_alive()
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before[:2]
    assert cluster.run(lambda store: store.rank) == [0, 1, 2]


@pytest.mark.clause("Cluster/threads")
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_worker_without_a_thread_is_refused(failing):
    cluster, ran = mx.kv.simulate(workers=3, faults=False), []
    before = set(threading.enumerate())
    with nth("thread", failing):
        refused("Cluster/threads", lambda: cluster.run(lambda store: ran.append(store.rank)))
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
    assert ran == []
    assert cluster.run(lambda store: store.rank) == [0, 1, 2]


@pytest.mark.clause("Cluster/run")
def test_a_worker_cannot_run_its_own_cluster():
    cluster = mx.kv.simulate(workers=2, faults=False)
    refused("Cluster/run", lambda: cluster.run(lambda _: cluster.run(lambda _: None)))
    other = mx.kv.simulate(workers=2, faults=False)
    assert cluster.run(lambda _: other.run(lambda store: store.rank)) == [[0, 1], [0, 1]]


@pytest.mark.clause("Cluster/run")
def test_an_interrupted_program_draws_its_own_numbers():
    cluster = mx.kv.simulate(workers=2, faults=False)

    def work():
        np.random.seed(99)
        mx.random.seed(99)

    class Interrupting(threading.Semaphore):
        def acquire(self, *args, **kwargs):
            super().acquire(*args, **kwargs)
            raise KeyboardInterrupt  # as it comes to a program that waits for a worker

    mx.random.seed(3)
    expected = nd.random.uniform(shape=2).asnumpy().tolist()
    mx.random.seed(3)
    before = np.random.get_state()[1].tolist()
    move = cluster._move

    def interrupted():
        for worker in cluster._running:
            worker._back.__class__ = Interrupting
        return move()

    cluster._move = interrupted
    with pytest.raises(KeyboardInterrupt):
        cluster.run(work, kind=None)
    assert np.random.get_state()[1].tolist() == before
    assert nd.random.uniform(shape=2).asnumpy().tolist() == expected
