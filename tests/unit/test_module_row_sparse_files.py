"""Modules with row_sparse parameters in files, in fit, in other shapes and beside other modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx

from .sparse_modules import (
    EVERY,
    FIRST,
    HYPER,
    LABEL,
    LACKING,
    SECOND,
    batch,
    made,
    net,
    on,
    on_host,
    quiet,
    ready,
    rows_of,
    seen,
)

clause = pytest.mark.clause

__all__ = ["quiet"]  # a fixture


# --- files -----------------------------------------------------------------------------------------


def loaded(prefix: str, epoch: int, stype: str = "row_sparse") -> mx.mod.Module:
    net(stype).save(f"{prefix}-symbol.json")
    module = mx.mod.Module.load(prefix, epoch, label_names=["label"])
    module.bind([("data", (4, 6))], [("label", (4, 1))])
    return module


@clause("Module/sparse-parameters", "Module/checkpoint")
def test_a_checkpoint_keeps_storages(tmp_path) -> None:  # as in MXNet
    prefix = str(tmp_path / "kept")
    ready().save_checkpoint(prefix, 1)
    stored = mx.nd.load(f"{prefix}-0001.params")
    assert seen(stored["arg:weight"]) == (EVERY, [1.0] * 6) and stored["arg:bias"].stype == "default"
    module = loaded(prefix, 1)
    assert on(module) == on_host(module) == (EVERY, [1.0] * 6)
    dense = loaded(prefix, 1, "default")
    assert dense._exec_group.execs[0].arg_dict["weight"].stype == "default"
    dense.init_optimizer(None, optimizer_params={"learning_rate": 0.1})
    dense.forward_backward(batch())
    dense.update()
    assert on_host(dense) == (EVERY, [0.95, 1.05, 0.925, 0.95, 1.05, 1.0])


@clause("Module/every-row")
def test_a_file_of_dense_arrays(tmp_path) -> None:  # MXNet: get_params returns what the file holds for ever
    prefix = str(tmp_path / "dense")
    mx.nd.save(f"{prefix}-0002.params", {"arg:weight": mx.nd.array(LACKING), "arg:bias": mx.nd.zeros((1,))})
    module = loaded(prefix, 2)
    assert on(module) == on_host(module) == (EVERY, [1.0, 0, 2, 0, 3, 4])
    module.init_optimizer(mx.kv.create("local"), optimizer_params={"learning_rate": 0.1})
    module.forward_backward(batch())
    module.update()
    assert on(module) == on_host(module) == (EVERY, [1.0, 0.075, 1.7, 0.025, 3.025, 4])


FITTED = {  # fit(num_epoch=2) from ones, rate 0.1: MXNet's weights and states, on one context and on two with "local"
    "sgd": ([0.878125, 1.12312, 0.8275, 0.880625, 1.12437, 1],
            [[-0.071875, 0.073125, -0.0975, -0.069375, 0.074375, 0]]),
    "adam": (
        [0.800411, 1.19959, 0.801186, 0.800747, 1.19983, 1],
        [[0.09, -0.09, 0.1275, 0.0875, -0.0925, 0],
         [0.000452244, 0.000452244, 0.000921925, 0.000430369, 0.000475369, 0]],
    ),
    "adagrad": ([0.833104, 1.1669, 0.83753, 0.835235, 1.16887, 1], [[0.4525, 0.4525, 0.9225, 0.430625, 0.475625, 0]]),
    "ftrl": (
        [0.300713, 0.401859, 0.416526, 0.342767, 0.408117, 1],
        [[-4.52198, -7.33587, -8.22585, -6.87793, -8.04174, 0], [0.250428, 0.677324, 0.945696, 1.00736, 0.93702, 0]],
    ),
}


@clause("Module/sparse-parameters", "Module/fit")
@pytest.mark.parametrize("contexts", [1, 2])
@pytest.mark.parametrize("optimizer", FITTED)
@pytest.mark.parametrize("asked", [None, rows_of])
def test_fit_and_its_states(optimizer, contexts, asked, tmp_path) -> None:
    def one_module() -> Any:
        module = mx.mod.Module(net(), label_names=["label"], context=[mx.cpu(index) for index in range(contexts)])
        module.fit(
            mx.io.NDArrayIter(
                batch().data[0], mx.nd.array(LABEL), 4, last_batch_handle="discard", label_name="label"
            ),
            eval_metric="mse", num_epoch=2, initializer=mx.init.One(), optimizer=optimizer, optimizer_params=hyper,
            sparse_row_id_fn=asked,
        )
        return module

    hyper = {"learning_rate": 0.1, **({"momentum": 0.5} if optimizer == "sgd" else {})}
    module, again = one_module(), one_module()
    name = str(tmp_path / "states")
    module.save_optimizer_states(name)
    again.load_optimizer_states(name)
    weights, states = FITTED[optimizer]
    assert on(module)[0] == EVERY
    np.testing.assert_allclose(on_host(module)[1], weights, atol=1e-5)
    for each in (module, again):
        updater = each._updater or each._kvstore._updater
        state = updater.states["weight" if contexts == 2 else 0]
        found = [seen(array) for array in (state if isinstance(state, tuple) else [state])]
        assert [rows for rows, _ in found] == [EVERY] * len(states)
        np.testing.assert_allclose([values for _, values in found], states, atol=1e-5)


# --- shapes, sharing -------------------------------------------------------------------------------


@clause("Module/reshape", "Module/automatic-reshape")
def test_shapes_change_and_rows_stay() -> None:  # in MXNet no module with csr data can be reshaped
    module = ready()
    weight = module._exec_group.execs[0].arg_dict["weight"]
    module.forward(batch(FIRST[:2], LABEL[:2]))
    executor = module._exec_group.execs[0]
    assert executor.arg_dict["weight"] is weight and executor.arg_dict["data"].stype == "csr"
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [3, 3]
    module.forward(batch())
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [3, 3, 1, 2]


@clause("Module/sparse-parameters")
def test_dense_data_for_a_csr_input() -> None:  # as in MXNet
    module = ready(2)
    module.forward(mx.io.DataBatch([mx.nd.array(FIRST)], [mx.nd.array(LABEL)]))
    data = module._exec_group.execs[1].arg_dict["data"]
    assert data.stype == "csr" and data.indices.asnumpy().tolist() == [1, 3, 4]
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [3, 3, 1, 2]


@clause("Module/input-gradients")
def test_the_gradient_of_csr_data() -> None:  # by hand: (output - label) * weight, of weights that are one
    module = ready(inputs_need_grad=True)
    module.forward_backward(batch())
    assert module.get_input_grads()[0].asnumpy().tolist() == [[2] * 6, [1] * 6, [-2] * 6, [-2] * 6]


@clause("Module/sparse-parameters")
def test_buckets_and_shared_modules_have_one_array() -> None:
    def of_key(key: Any) -> Any:
        return net(), ("data",), ("label",)

    module = mx.mod.BucketingModule(of_key, default_bucket_key=4)
    module.bind([("data", (4, 6))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(None, optimizer_params={"learning_rate": 0.1})
    small = batch(FIRST[:2], LABEL[:2])
    small.bucket_key, small.provide_data, small.provide_label = 2, [("data", (2, 6))], [("label", (2, 1))]
    module.forward_backward(small)
    module.update()
    expected = (EVERY, [0.95, 1.0, 0.925, 0.9, 1.0, 1.0])  # as in MXNet
    assert on_host(module) == on(module._buckets[4]) == on(module._buckets[2]) == expected
    shared = mx.mod.Module(net(), label_names=["label"])
    shared.bind([("data", (2, 6))], [("label", (2, 1))], shared_module=module._buckets[4])
    assert shared._exec_group.execs[0].arg_dict["weight"] is module._buckets[4]._exec_group.execs[0].arg_dict["weight"]
    assert on_host(shared) == expected


@clause("Monitor/statistic")
def test_a_monitor_sees_sparse_arguments() -> None:  # MXNet with stat_func=mx.nd.norm: 2.4494898; without: an error
    module = made()
    monitor = mx.mon.Monitor(1, pattern="weight|data")
    module.install_monitor(monitor)
    module.init_params(mx.init.One())
    monitor.tic()
    module.forward(batch())
    found = {name: float(text) for _, name, text in monitor.toc()}
    assert found == {"data": pytest.approx(np.sqrt(17 / 24)), "weight": 1.0}


@clause("Module/sparse-parameters")
def test_weights_in_another_group_of_contexts() -> None:  # MXNet cannot: the gradient lies elsewhere than the weight
    with mx.AttrScope(ctx_group="far"):
        weight = mx.sym.var("weight", stype="row_sparse", shape=(6, 1))
    product = mx.sym.dot(mx.sym.var("data", stype="csr"), weight)
    module = mx.mod.Module(
        mx.sym.LinearRegressionOutput(product, mx.sym.var("label")), label_names=["label"],
        group2ctxs={"far": mx.cpu(1)},
    )
    module.bind([("data", (4, 6))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(None, optimizer_params={"learning_rate": 0.5})
    module.forward_backward(batch())
    module.update()
    assert module._exec_group.execs[0].arg_dict["weight"].context == mx.cpu(1)
    # rates 0.5 / 4 times the gradient [2, -2, 3, 2, -2, 0]
    assert on(module) == on_host(module) == (EVERY, [0.75, 1.25, 0.625, 0.75, 1.25, 1.0])


@clause("Cluster/module", "KVStore/held-rows", "Module/sparse-rows")
@pytest.mark.parametrize("prepared", [False, True])
def test_workers_learn_what_they_learn_with_dense_weights(prepared) -> None:
    def work(store: Any, stype: str) -> dict[str, list[float]]:
        module = ready(stype=stype)
        module.init_optimizer(store, optimizer_params=HYPER)
        for step in range(3):
            data_batch = batch(SECOND if (step + store.rank) % 2 else FIRST)
            if prepared and stype == "row_sparse":
                module.prepare(data_batch, rows_of)
            module.forward_backward(data_batch)
            module.update()
        found = module.get_params()[0]
        assert found["weight"].stype == stype
        return {name: array.asnumpy().ravel().tolist() for name, array in found.items()}

    def of_cluster(stype: str) -> list[dict[str, list[float]]]:
        return mx.kv.simulate(workers=2, servers=2, seed=0).run(lambda store: work(store, stype), kind="dist_sync")

    learned, dense = of_cluster("row_sparse"), of_cluster("default")
    assert learned == dense and learned[0] == learned[1] and learned[0]["weight"][:5] != [1.0] * 5
