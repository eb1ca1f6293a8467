"""SVRG on several workers: rounds are one machine, bit for bit; in any order the mean is everybody's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.cli.labs.svrg_lab import svrg
from refimpl.contrib.svrg_optimization.workers import accumulator_keys

from .svrg_nets import ROWS, TARGETS, fresh, iterator, means, network, rational, ready, run, steps, weights

EXACT = rational(ROWS, TARGETS)


def shard(rank: int, workers: int, size: int = 2) -> mx.io.NDArrayIter:
    """Every ``workers``-th row."""
    return iterator(ROWS[rank::workers], TARGETS[rank::workers], size, "float64")


def rounds(workers: int, size: int = 2) -> list:
    """The rows that all workers take in one step."""
    mine = [EXACT[rank::workers] for rank in range(workers)]
    return [
        [row for rows in mine for row in rows[start : start + size]] for start in range(0, len(mine[0]), size)
    ]


@pytest.mark.clause("SVRG/workers", "SVRG/mean-once")
@pytest.mark.parametrize("kind", ["dist_sync", "dist_device_sync"])
@pytest.mark.parametrize(("workers", "contexts"), [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2)])
def test_rounds_are_one_machine(workers: int, contexts: int, kind: str) -> None:
    size = 4 if workers == 1 else 2  # more steps in an epoch would need more than 53 bits

    def train(store) -> list:
        data = shard(store.rank, workers, size)
        module = ready(data, contexts, kvstore=store)
        assert module._optimizer.rescale_grad == 1 / (size * workers)
        found = run(module, data, 3)
        carried = [bool(terms) for terms in means(module)]
        assert carried == [store.rank == 0 and context == 0 for context in range(contexts)]
        return found

    expected = svrg(EXACT, rounds(workers, size), [1, 1, 0], Fraction(1, 16), 3)
    cluster = mx.kv.simulate(workers=workers, servers=2, seed=workers)
    for found in cluster.run(train, kind):
        assert [[Fraction(value) for value in values] for values in found] == expected


@pytest.mark.clause("SVRG/workers")
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), workers=st.sampled_from([2, 4]), servers=st.integers(1, 3))
def test_faults_change_nothing(seed: int, workers: int, servers: int) -> None:
    cluster = mx.kv.simulate(workers=workers, servers=servers, seed=seed)

    def train(store) -> list:
        data = shard(store.rank, workers)
        return run(ready(data, kvstore=store), data, 2)

    expected = svrg(EXACT, rounds(workers), [1, 1, 0], Fraction(1, 16), 2)
    for found in cluster.run(train):
        assert [[Fraction(value) for value in values] for values in found] == expected


@pytest.mark.clause("SVRG/workers")
def test_workers_may_have_different_numbers_of_rows() -> None:
    def train(store) -> list:
        rows = slice(0, 5) if store.rank == 0 else slice(5, 8)
        data = iterator(ROWS[rows], TARGETS[rows], 2, "float64")
        module = ready(data, kvstore=store)
        module.update_full_grads(data)
        return means(module)

    # batches of 2 on 2 workers: half of the sum of 20 and 23
    first, second = mx.kv.simulate(workers=2, servers=1).run(train)
    assert first == [{"fc_weight": [10, 11.5], "fc_bias": [0.5]}]
    assert second == [{}]


@pytest.mark.clause("SVRG/workers", "SVRG/needs-rows")
def test_a_worker_without_rows() -> None:
    class Empty:
        def reset(self) -> None:
            pass

        def __iter__(self):
            return iter([])

    def train(store, having) -> Any:
        data = iterator(dtype="float64")
        module = ready(data, kvstore=store)
        module.update_full_grads(data if store.rank in having else Empty())
        return means(module)

    cluster = mx.kv.simulate(workers=2, servers=1)
    found = cluster.run(lambda store: train(store, [1]))
    assert found == [[{"fc_weight": [20, 23], "fc_bias": [1]}], [{}]]
    with pytest.raises(ValueError, match="no rows"):
        mx.kv.simulate(workers=2, servers=1).run(lambda store: train(store, []))


@pytest.mark.clause("SVRG/async")
@pytest.mark.parametrize(("workers", "contexts"), [(1, 1), (2, 1), (3, 2)])
def test_in_any_order_every_worker_adds_the_mean_of_all(workers: int, contexts: int) -> None:
    def train(store) -> tuple:
        data = shard(store.rank, workers, size=4)
        module = ready(data, contexts, kvstore=store, rate=1 / 64)
        assert module._optimizer.rescale_grad == 1 / 4
        seen = []
        for _ in range(2):
            module.update_full_grads(data)
            snapshot = module._mod_aux.get_params()[0]
            seen.append((means(module), snapshot["fc_weight"].asnumpy().tolist()))
            steps(module, data)
        return tuple(seen)

    for seed in range(3):
        found = mx.kv.simulate(workers=workers, servers=2, seed=seed).run(train, "dist_async")
        assert all(one == found[0] for one in found)
        first = [{"fc_weight": [10, 11.5], "fc_bias": [0.5]}, *[{}] * (contexts - 1)]
        assert found[0][0] == (first, [[1, 1]])


@pytest.mark.clause("SVRG/async")
def test_in_any_order_training_ends_at_the_optimum() -> None:
    def train(store) -> list:
        data = shard(store.rank, 2)
        return run(ready(data, kvstore=store, rate=1 / 8), data, 50)[-1]

    best = np.linalg.lstsq(np.c_[np.array(ROWS, float), np.ones(8)], np.array(TARGETS, float), rcond=None)[0]
    for found in mx.kv.simulate(workers=2, servers=1, seed=5, faults=False).run(train, "dist_async"):
        assert found == pytest.approx(best.tolist(), abs=1e-3)


@pytest.mark.clause("SVRG/async")
def test_one_worker_alone_is_one_machine() -> None:
    def train(store) -> list:
        data = iterator(dtype="float64")
        return run(ready(data, 2, kvstore=store), data, 3)

    (found,) = mx.kv.simulate(workers=1, servers=2).run(train, "dist_async")
    data = iterator(dtype="float64")
    assert found == run(ready(data), data, 3)


@pytest.mark.clause("SVRG/workers", "SVRG/fit")
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_fit(kind: str) -> None:
    def train() -> list:
        rank = mx.kv.create(kind).rank
        module = fresh(frequency=2)
        module.fit(
            shard(rank, 2), num_epoch=4, eval_metric="mse", kvstore=kind, initializer=mx.init.One(),
            optimizer_params={"learning_rate": 1 / 16},
        )
        return weights(module)

    found = mx.kv.simulate(workers=2, servers=2, seed=3).run(train, None)
    if kind == "dist_sync":
        expected = svrg(EXACT, rounds(2), [1, 1, 0], Fraction(1, 16), 4, 2)[-1]
        assert [[Fraction(value) for value in one] for one in found] == [expected] * 2


@pytest.mark.clause("SVRG/async")
def test_the_snapshot_is_that_of_the_store_whoever_trained_last() -> None:
    def train(store) -> list:
        data = shard(store.rank, 2)
        module = ready(data, kvstore=store)
        module.update_full_grads(data)
        weights(module)  # the module now believes that it knows its weights
        store._barrier()
        if store.rank == 1:
            steps(module, data)
        store._barrier()
        module.update_full_grads(data)
        return weights(module._mod_aux)

    stale, trained = mx.kv.simulate(workers=2, servers=1, seed=2).run(train, "dist_async")
    assert stale == trained != [1.0, 1.0, 0.0]


@pytest.mark.clause("SVRG/workers")
def test_a_store_without_the_optimizer(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")

    def train(store) -> list:
        data = shard(store.rank, 2)
        return run(ready(data, 2, kvstore=store), data, 3)

    expected = svrg(EXACT, rounds(2), [1, 1, 0], Fraction(1, 16), 3)
    for found in mx.kv.simulate(workers=2, servers=2).run(train):
        assert [[Fraction(value) for value in values] for values in found] == expected


@pytest.mark.clause("SVRG/accumulator-names")
def test_accumulators_have_names_of_their_own() -> None:
    assert accumulator_keys(["w", "b"]) == ({"b": "b_full", "w": "w_full"}, "svrg_rows_full")
    names = ["w", "w_full", "w_full_full", "svrg_rows", "svrg_rows_full"]
    keys = accumulator_keys(names)
    assert list(keys.gradients) == sorted(names)
    assert len(set(keys.listed())) == 6
    assert not set(keys.listed()) & set(names)


@pytest.mark.clause("SVRG/accumulator-names")
def test_parameters_named_like_accumulators() -> None:
    def train(store, first, second) -> list:
        own = [mx.sym.Variable(name, init=mx.init.Zero()) for name in (first, second)]
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), *own, num_hidden=1)
        net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("target"), name="line")
        data = shard(store.rank, 2)
        module = ready(data, kvstore=store, symbol=net)
        module.set_params({first: mx.nd.array([[1, 1]]), second: mx.nd.array([0])}, {})
        run(module, data, 2)
        values = module.get_params()[0]
        return [values[name].asnumpy().tolist() for name in (first, second)]

    found = [
        mx.kv.simulate(workers=2, servers=1).run(lambda store, names=names: train(store, *names))
        for names in (("a", "b"), ("w", "w_full"), ("svrg_rows", "svrg_rows_full"))
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.clause("SVRG/accumulator-names")
def test_parameters_with_full_in_their_names_are_trained() -> None:
    def train(store, name) -> list:
        data = shard(store.rank, 2)
        return run(ready(data, kvstore=store, symbol=network(name)), data, 2)

    found = [
        mx.kv.simulate(workers=2, servers=1).run(lambda store, name=name: train(store, name))
        for name in ("fc", "full", None)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.clause("SVRG/fixed-parameters")
def test_fixed_parameters_have_no_part_in_it() -> None:
    def train(store) -> list:
        data = shard(store.rank, 2)
        return run(ready(data, kvstore=store, fixed_param_names=["fc_bias"]), data, 2)[-1]

    first, second = mx.kv.simulate(workers=2, servers=1).run(train)
    assert first == second
    assert first[-1] == 0
    assert first[0] != 1


@pytest.mark.clause("SVRG/no-compression")
def test_compression_is_refused() -> None:
    def train(store) -> None:
        data = iterator()
        module = fresh(compression_params={"type": "2bit", "threshold": 0.5})
        module.bind(data.provide_data, data.provide_label)
        module.init_params()
        with pytest.raises(mx.MXNetError) as caught:
            module.init_optimizer(kvstore=store)
        assert caught.value.clause == "SVRG/no-compression"
        assert not module.optimizer_initialized
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        with pytest.raises(mx.MXNetError) as caught:
            ready(data, kvstore=store)
        assert caught.value.clause == "SVRG/no-compression"

    mx.kv.simulate(workers=1, servers=1).run(train)
