"""The cluster: one test for each refusal."""

from __future__ import annotations

import pytest

import refimpl as mx
from refimpl import ndarray as nd

from .clusters import a, held, pair, refused


def _mixed_kinds() -> None:
    cluster = mx.kv.simulate(workers=2, faults=False)
    cluster.store(0, "dist_sync")
    cluster.store(1, "dist_async")


def _other_shape() -> None:
    one, two = mx.kv.simulate(workers=2, faults=False).stores()
    one.init("w", nd.zeros(1))
    two.init("w", nd.zeros(2))


def _push_and_replace() -> None:
    one, two = pair()
    one.push("w", a(1))
    two.replace("w", a(1))
    held(two, "w")


def _stopped() -> None:
    one, _ = pair()
    one._send_command_to_servers(2, "")
    held(one, "w")


def _compressed_rows() -> None:
    store = mx.kv.simulate(faults=False).store(0)
    store.init("w", nd.sparse.zeros("row_sparse", (2, 1)))
    store.set_gradient_compression({"type": "2bit"})
    store.push("w", nd.sparse.row_sparse_array(([[1.0]], [0]), shape=(2, 1)))


REFUSALS = [
    ("Cluster/size", ValueError, lambda: mx.kv.simulate(workers=0)),
    ("Cluster/size", ValueError, lambda: mx.kv.simulate(servers=0)),
    ("Cluster/size", ValueError, lambda: mx.kv.simulate(workers="2")),
    ("Cluster/weather", TypeError, lambda: mx.kv.simulate(faults={"drops": 1})),
    ("Cluster/weather", ValueError, lambda: mx.kv.Faults(drops=-1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().crash(1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().restart(-1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().lose(1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().connect(1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().store(1)),
    ("Cluster/numbers", ValueError, lambda: mx.kv.simulate().worker(1).__enter__()),
    ("Cluster/kind", mx.MXNetError, lambda: mx.kv.simulate().store(0, "local")),
    ("Cluster/needed", mx.MXNetError, lambda: mx.kv.create("dist_async")),
    ("Cluster/one-kind", mx.MXNetError, _mixed_kinds),
    ("Cluster/init-alike", mx.MXNetError, _other_shape),
    ("Cluster/replace-together", mx.MXNetError, _push_and_replace),
    ("Cluster/stopped", mx.MXNetError, _stopped),
    ("Cluster/no-updater", mx.MXNetError, lambda: pair()[0].set_updater(print)),
    ("Cluster/push-alike", mx.MXNetError, lambda: pair()[0].push("w", a(1, 2))),
    ("Cluster/push-alike", mx.MXNetError, lambda: pair()[0].push("w", a(1, dtype="float64"))),
    ("Cluster/push-alike", mx.MXNetError, lambda: pair()[0].replace("w", a(1, 2))),
    ("Cluster/states", AssertionError, lambda: pair()[0].save_optimizer_states("never")),
    ("Cluster/states", AssertionError, lambda: pair()[0].load_optimizer_states("never")),
    ("KVStore/compression-rows", mx.MXNetError, _compressed_rows),
    ("KVStore/initialised", mx.MXNetError, lambda: pair()[0].push("v", a(1))),
    ("KVStore/initialised", mx.MXNetError, lambda: held(pair()[0], "v")),
    ("KVStore/duplicate-init", mx.MXNetError, lambda: pair()[0].init("w", a(1))),
    ("KVStore/pull-shape", mx.MXNetError, lambda: held(pair()[0], "w", (2,))),
    ("KVStore/optimizer-type", TypeError, lambda: pair()[0].set_optimizer("sgd")),
    ("Command/optimizer", mx.MXNetError, lambda: pair()[0]._send_command_to_servers(0, "cos\nsystem\n(S'true'\ntR.")),
    ("Command/optimizer", mx.MXNetError, lambda: pair()[0]._send_command_to_servers(0, "\u2603")),
]


@pytest.mark.clause("Cluster/size")
@pytest.mark.clause("Cluster/weather")
@pytest.mark.clause("Cluster/numbers")
@pytest.mark.clause("Cluster/kind")
@pytest.mark.clause("Cluster/needed")
@pytest.mark.clause("Cluster/one-kind")
@pytest.mark.clause("Cluster/init-alike")
@pytest.mark.clause("Cluster/replace-together")
@pytest.mark.clause("Cluster/stopped")
@pytest.mark.clause("Cluster/no-updater")
@pytest.mark.clause("Cluster/push-alike")
@pytest.mark.clause("Cluster/states")
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS, ids=[f"{i}-{c}" for i, (c, *_) in enumerate(REFUSALS)])
def test_refusals(clause, kind, call):
    refused(clause, call, kind)
