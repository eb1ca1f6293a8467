"""The cluster: what its chapter does not show of placement, stores, pushes and pulls."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.placement import parts_of, server_of

from .clusters import a, adding, held, pair, refused

# --- placement ------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/placement")
def test_small_arrays_are_spread_by_key():
    # 9973 = 3 * 3324 + 1, so key k lives on server k mod 3; the CRC-32 of "w" is 0x1c630b12
    assert [server_of(key, 3) for key in (0, 1, 2, 3, -1)] == [0, 1, 2, 0, 2]
    assert server_of("w", 7) == 0x1C630B12 * 9973 % 7 == 5


@pytest.mark.clause("Cluster/split")
@pytest.mark.parametrize(("shape", "servers", "edges"), [
    ((10,), 4, [0, 3, 5, 8, 10]),  # 2.5 and 7.5 are rounded up
    ((1, 64), 2, [0, 1, 1]),
    ((7, 2), 3, [0, 2, 5, 7]),
])
def test_big_arrays_are_cut_between_rows(shape, servers, edges):
    parts = parts_of("w", shape, servers, bound=0)
    assert [part.server for part in parts] == list(range(servers))
    assert [part.begin for part in parts] + [parts[-1].end] == edges


@pytest.mark.clause("Cluster/split")
def test_the_parts_of_an_array_are_pulled_into_one_of_its_shape(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "4")
    store = mx.kv.simulate(workers=1, servers=2, faults=False).store(0)
    store.init("w", nd.array([[1, 2], [3, 4], [5, 6]]))
    assert held(store, "w", (3, 2)) == [[1, 2], [3, 4], [5, 6]]
    assert held(store, "w", (3, 2), dtype="float64") == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.clause("Cluster/bound")
def test_the_bound_is_read_when_a_store_is_made(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "4")
    cluster = mx.kv.simulate(workers=1, servers=3, faults=False)
    store = cluster.store(0)
    store.init([0, 1], [nd.array([[1, 2], [3, 4]]), nd.array([5, 6, 7])])
    kept = {(part.key, part.number) for state in cluster.states for part in state.tables[0].parts}
    assert kept == {(0, 0), (0, 1), (0, 2), (1, 0)}
    assert held(store, 0, (2, 2)) == [[1, 2], [3, 4]]
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "many")
    refused("Cluster/bound", lambda: cluster.store(0), ValueError)


# --- stores ---------------------------------------------------------------------------------------


@pytest.mark.clause("Cluster/by-hand")
def test_code_can_run_as_a_worker():
    cluster = mx.kv.simulate(workers=2, faults=False)
    with cluster.worker(1):
        assert mx.kv.create("dist_sync").rank == 1
    refused("Cluster/needed", lambda: mx.kv.create("dist_sync"))


@pytest.mark.clause("Cluster/create")
def test_workers_are_processes_to_themselves():
    mx.random.seed(3)
    np.random.seed(3)
    expected = [nd.random.uniform(shape=2).asnumpy().tolist(), np.random.rand()]
    after = [nd.random.uniform(shape=2).asnumpy().tolist(), np.random.rand()]

    def draw(store):
        name = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=1).name
        store._barrier()
        return [name, nd.random.uniform(shape=2).asnumpy().tolist(), np.random.rand(), threading.active_count() > 1]

    mx.random.seed(3)
    np.random.seed(3)
    assert mx.kv.simulate(workers=3, seed=1).run(draw) == [["fullyconnected0", *expected, True]] * 3
    assert [nd.random.uniform(shape=2).asnumpy().tolist(), np.random.rand()] == expected
    assert [nd.random.uniform(shape=2).asnumpy().tolist(), np.random.rand()] == after


@pytest.mark.clause("Cluster/pairing")
def test_stores_do_not_meet():
    cluster = mx.kv.simulate(workers=2, faults=False)
    summing, eager = cluster.stores("dist_sync"), cluster.stores("dist_async")
    for one, other in zip(summing, eager, strict=True):
        one.init(0, a(1))
        other.init(0, a(2))
    assert [held(store, 0) for store in (*summing, *eager)] == [[1], [1], [2], [2]]


@pytest.mark.clause("Cluster/sync-names")
@pytest.mark.parametrize(("kind", "sync"), [
    ("dist", True), ("dist_sync", True), ("dist_device_sync", True), ("Dist_Sync_Device", True), ("dist_async", False),
    ("dist_device_async", False),
])
def test_names(kind, sync):
    cluster = mx.kv.simulate(faults=False)
    assert cluster.store(0, kind).type == kind.lower()
    assert cluster.states[0].tables[0].sync is sync


@pytest.mark.clause("Cluster/init")
def test_the_first_value_is_that_of_worker_0():
    def first(store):
        store.init([3, 4], [a(store.rank + 1), a(0)])
        return held(store, 3)

    for seed in range(4):
        assert mx.kv.simulate(workers=3, servers=2, seed=seed).run(first) == [[1], [1], [1]]


@pytest.mark.clause("Cluster/ahead")
def test_pushes_wait_in_line():
    one, two = pair()
    for value in (1, 2, 3):
        one.push("w", a(value))
    for value in (10, 20, 30):
        two.push("w", a(value))
    assert [held(one, "w"), held(two, "w")] == [[33], [33]]


@pytest.mark.clause("Cluster/pull-own")
def test_a_pull_holds_the_own_rounds_and_no_later_one():
    one, two = pair()
    one.push("w", a(1))
    two.push("w", a(10))
    two.push("w", a(20))
    assert held(one, "w") == [11]
    one.push("w", a(2))
    assert [held(one, "w"), held(two, "w")] == [[22], [22]]


@pytest.mark.clause("Cluster/sync-round")
def test_a_worker_adds_up_its_devices_first():
    # by hand: local 1e8 + (1 + 1 + 1 + 1) = 100000004 -> 100000000 (next is ...008); device 1e8 four times + 1 = 1e8
    for kind, values, expected in (
        ("dist_sync", [1e8, 4, 4], 1e8 + 8), ("dist_device_sync", [1e8, 4, 4], 1e8),
    ):
        one, two = pair(kind)
        one.push("w", [a(value, ctx=mx.cpu(i)) for i, value in enumerate(values)])
        two.push("w", a(0))
        assert held(two, "w") == [expected]


@pytest.mark.clause("Cluster/sync-round")
def test_an_optimizer_makes_one_update_of_a_round():
    # MXNet 1.9.1, 2 workers and 1 server, the 'test' optimizer: 3 pushes of 1 and 2 -> 9
    stores = pair()
    for store in stores:
        store.set_optimizer(adding())
    for _ in range(3):
        stores[0].push("w", a(1))
        stores[1].push("w", a(2))
    assert [held(store, "w") for store in stores] == [[9], [9]]


@pytest.mark.clause("Cluster/async")
def test_an_eager_store_updates_at_once():
    one, two = pair("dist_async")
    one.set_optimizer(adding())
    one.push("w", a(1))
    assert held(one, "w") == [1]
    two.push("w", a(2))
    assert held(two, "w") == [3]


@pytest.mark.clause("Cluster/async-optimizer")
def test_an_eager_store_needs_an_optimizer():
    one, _ = pair("dist_async")
    one.push("w", a(1))
    refused("Cluster/async-optimizer", lambda: held(one, "w"))
    assert held(one, "w") == [0]
    one.push("w", a(1))
    refused("Cluster/async-optimizer", one._barrier)


@pytest.mark.clause("Cluster/barrier")
def test_a_barrier_brings_all_pushes_in():
    def meet(store):
        store.set_optimizer(adding())
        store.init("w", nd.zeros(1))
        for _ in range(store.rank + 1):
            store.push("w", a(1))
        store._barrier()
        return held(store, "w")

    for seed in range(6):
        assert mx.kv.simulate(workers=3, servers=2, seed=seed).run(meet, "dist_async") == [[6]] * 3


@pytest.mark.clause("Cluster/rows")
def test_rows_travel_alone(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "4")
    stores = mx.kv.simulate(workers=2, servers=2, faults=False).stores()
    far = 2**24 + 3

    def rows(values, ids):
        ids = nd.array(ids, dtype="int64")
        return nd.sparse.row_sparse_array((nd.array(values).reshape((-1, 1)), ids), shape=(2**24 + 8, 1))

    for store in stores:
        store.init("w", rows([1.0, 2.0], [5, far]))
    stores[0].push("w", rows([10.0], [5]))
    stores[1].push("w", rows([20.0, 30.0], [5, far + 1]))
    out = nd.sparse.zeros("row_sparse", (2**24 + 8, 1))
    stores[0].row_sparse_pull("w", out=out, row_ids=nd.array([far + 1, 5, far, 5], dtype="int64"))
    assert out.indices.asnumpy().tolist() == [5, far, far + 1]
    assert out.data.asnumpy().tolist() == [[30], [0], [30]]


@pytest.mark.clause("Cluster/compression")
def test_what_codes_leave_out_is_sent_later():
    # by hand, threshold 0.5: worker 0 pushes 0.25 twice (codes 0, +0.5), worker 1 pushes -0.75 twice (-0.5 twice)
    stores = pair()
    for store in stores:
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    seen = []
    for _ in range(2):
        stores[0].push("w", a(0.25))
        stores[1].push("w", a(-0.75))
        seen.append([held(store, "w") for store in stores])
    assert seen == [[[-0.5], [-0.5]], [[0], [0]]]
    for store in stores:
        store.replace("w", a(0.125))
    assert held(stores[0], "w") == [0.125]


@pytest.mark.clause("Cluster/replace")
def test_worker_0_replaces():
    stores = pair()
    for store in stores:
        store.set_optimizer(adding())
        store.replace("w", a(store.rank + 7))
    assert [held(store, "w") for store in stores] == [[7], [7]]
    eager = pair("dist_async")
    eager[1].replace("w", a(5))
    assert held(eager[1], "w") == [0]
    eager[0].replace("w", a(5))
    assert held(eager[0], "w") == [5]


@pytest.mark.clause("Cluster/multi-precision")
def test_half_precision_weights_are_kept_whole_on_servers():
    # 1 + 2^-12 is no float16 number: two updates of it are lost in float16, and make 2^-11 in float32;
    # 2048 + 1 is no float16 number either, but the sum of two workers in float32 is 2049 - 2048 + 1 ...
    stores = mx.kv.simulate(workers=2, faults=False).stores()
    for store in stores:
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0, rescale_grad=1.0, multi_precision=True))
        store.init("w", nd.ones(1, dtype="float16"))
    for _ in range(4):
        stores[0].push("w", a(2.0**-12, dtype="float16"))
        stores[1].push("w", a(0, dtype="float16"))
    assert held(stores[0], "w", dtype="float16") == [1 - 2.0**-10]


@pytest.mark.clause("Cluster/module")
def test_a_module_divides_by_the_workers():
    def rate(store):
        module = mx.mod.Module(mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(
            mx.sym.Variable("data"), num_hidden=1), mx.sym.Variable("lin_label")), label_names=["lin_label"])
        module.bind([("data", (4, 2))], [("lin_label", (4, 1))])
        module.init_params(mx.init.Zero())
        module.init_optimizer(store)
        return module._optimizer.rescale_grad

    cluster = mx.kv.simulate(workers=2, faults=False)
    assert cluster.run(rate) == [1 / 8, 1 / 8]
    assert cluster.run(rate, "dist_async") == [1 / 4, 1 / 4]
    assert cluster.run(rate, "dist") == [1 / 4, 1 / 4]


@pytest.mark.clause("Cluster/module")
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_the_end_of_an_epoch_leaves_the_servers_alone(kind):
    def train(store):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
        module = mx.mod.Module(mx.sym.LinearRegressionOutput(net, mx.sym.Variable("y")), label_names=["y"])
        batches = mx.io.NDArrayIter(np.ones((6, 2), "f"), np.ones(6, "f"), 2, label_name="y")
        module.fit(batches, kvstore=store, num_epoch=2, eval_metric="mse", initializer=mx.init.Zero())
        module.set_params({"fc_weight": nd.ones((1, 2)), "fc_bias": nd.ones(1)}, {})
        store._barrier()

    cluster = mx.kv.simulate(workers=2, servers=1, seed=4)
    cluster.run(train, kind)
    updates = 2 * 3 if kind == "dist_sync" else 2 * 3 * 2
    assert {part.version for part in cluster.states[0].tables[0].parts.values()} == {updates}


@pytest.mark.clause("Cluster/rows")
@pytest.mark.parametrize("bound", ["2", "1000"])
def test_rows_of_a_dense_array(monkeypatch, bound):
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", bound)
    store = mx.kv.simulate(servers=2, faults=False).store(0)
    store.init("w", nd.array([[1, 2], [3, 4], [5, 6]]))
    out = nd.sparse.zeros("row_sparse", (3, 2))
    store.row_sparse_pull("w", out=out, row_ids=nd.array([2, 0, 2]))
    assert (out.indices.asnumpy().tolist(), out.data.asnumpy().tolist()) == ([0, 2], [[1, 2], [5, 6]])
