"""The storage of every array of a Module with row_sparse parameters: what MXNet 1.9.1 has, and where it differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx

clause = pytest.mark.clause

FIRST = [[1, 0, 0, 2, 0, 0], [0, 0, 3, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
SECOND = [[0, 0, 0, 2, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
LABEL = [[1], [2], [3], [4]]
LACKING = [[1], [0], [2], [0], [3], [4]]
EVERY = [0, 1, 2, 3, 4, 5]


@pytest.fixture(autouse=True)
def quiet(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")


def net(stype: str = "row_sparse") -> Any:
    weight = mx.sym.Variable("weight", stype=stype, shape=(6, 1))
    product = mx.sym.sparse.dot(mx.sym.Variable("data", stype="csr"), weight)
    whole = mx.sym.broadcast_add(product, mx.sym.Variable("bias", shape=(1,)))
    return mx.sym.LinearRegressionOutput(whole, mx.sym.Variable("label"), name="out")


def made(contexts: int = 1, stype: str = "row_sparse", **how: Any) -> mx.mod.Module:
    module = mx.mod.Module(net(stype), label_names=["label"], context=[mx.cpu(index) for index in range(contexts)])
    module.bind([("data", (4, 6))], [("label", (4, 1))], **how)
    return module


def ready(*given: Any, **how: Any) -> mx.mod.Module:
    module = made(*given, **how)
    module.init_params(mx.init.One())
    return module


def batch(table: Any = FIRST, label: Any = LABEL) -> mx.io.DataBatch:
    return mx.io.DataBatch([mx.nd.array(table).tostype("csr")], [mx.nd.array(label)])


def rows_of(data_batch: Any) -> dict[str, Any]:
    return {"weight": mx.nd.array(np.unique(data_batch.data[0].indices.asnumpy()))}


def seen(array: Any) -> Any:
    """(rows, values) of a row_sparse array, to five decimals."""
    assert array.stype == "row_sparse"
    return array.indices.asnumpy().tolist(), array.data.asnumpy().astype(float).round(5).ravel().tolist()


def on_host(module: Any) -> Any:
    return seen(module.get_params()[0]["weight"])


def on(module: Any, context: int = 0) -> Any:
    return seen(module._exec_group.execs[context].arg_dict["weight"])


# stypes of arg_dict, of grad_dict and of _arg_params after bind; then init_params(mx.init.One()), get_params()
@clause("Module/sparse-parameters")
@pytest.mark.parametrize("contexts", [1, 2])
def test_storages_after_bind_and_init(contexts) -> None:
    module = made(contexts, inputs_need_grad=True)
    for executor in module._exec_group.execs:
        assert {name: array.stype for name, array in executor.arg_dict.items()} == {
            "data": "csr", "weight": "row_sparse", "bias": "default", "label": "default",
        }
        gradients = {n: None if array is None else array.stype for n, array in executor.grad_dict.items()}
        assert gradients == {"data": "default", "weight": "row_sparse", "bias": "default", "label": None}
        assert seen(executor.arg_dict["weight"]) == ([], [])
    assert seen(module._arg_params["weight"]) == ([], [])
    module.init_params(mx.init.One())
    assert on(module) == on(module, contexts - 1) == on_host(module) == (EVERY, [1.0] * 6)


@clause("Module/every-row")
@pytest.mark.parametrize(
    "initializer",
    [mx.init.Zero(), mx.init.Uniform(0.1), mx.init.Load({"weight": mx.nd.array(LACKING)}, mx.init.One())],
)
def test_an_initializer_fills_every_row(initializer) -> None:  # Load: in MXNet rows 0, 2, 4 and 5 only
    module = made()
    module.init_params(initializer)
    assert on(module)[0] == on_host(module)[0] == EVERY


STEPS = {  # MXNet 1.9.1: weights on the last context after each of three steps, sgd 0.25, momentum 0.5, wd 0.5
    False: [
        (EVERY, [0.875, 1.125, 0.8125, 0.875, 1.125, 1.0]),
        (EVERY, [0.875, 1.30078, 0.8125, 0.90234, 1.125, 1.0]),
        (EVERY, [0.67822, 1.46558, 0.54883, 0.74146, 1.28149, 1.0]),
    ],
    True: [  # in MXNet the rows that prepare pulled: [1, 1, 1, 1, 1], [1.125, 0.875], and those of row 2 above
        ([0, 1, 2, 3, 4], [0.875, 1.125, 0.8125, 0.875, 1.125]),
        ([1, 3], [1.30078, 0.90234]),
        ([0, 1, 2, 3, 4], [0.67822, 1.46558, 0.54883, 0.74146, 1.28149]),
    ],
}
HYPER = {"learning_rate": 0.25, "momentum": 0.5, "wd": 0.5}


# for step in range(3): [prepare(b, ...);] forward_backward(b); update(), where b is FIRST, SECOND, FIRST
@clause("Module/sparse-rows", "KVStore/held-rows", "Module/sparse-parameters")
@pytest.mark.parametrize(("store", "contexts", "prepared"), [
    (None, 1, False), ("local", 1, False), ("local", 2, False), ("device", 2, True), ("local", 3, True),
])
def test_rows_on_the_contexts(store, contexts, prepared) -> None:
    module = ready(contexts)
    module.init_optimizer(store, optimizer_params=HYPER)
    for step, expected in enumerate(STEPS[prepared]):
        data_batch = batch(SECOND if step % 2 else FIRST)
        if prepared:
            module.prepare(data_batch, rows_of)
            assert on(module)[0] == expected[0]
        module.forward_backward(data_batch)
        gradient = module._exec_group.execs[0].grad_dict["weight"]
        assert gradient.stype == "row_sparse" and len(gradient.indices) < 6
        module.update()
        assert all(on(module, context) == expected for context in range(contexts))
    assert on_host(module) == STEPS[False][-1]


@clause("Module/sparse-rows")
def test_rows_that_are_not_held_are_read_as_zero() -> None:
    module = ready()
    module.init_optimizer(mx.kv.create("local"))
    module.prepare(batch(), lambda _: {"weight": mx.nd.array([1])})
    module.forward(batch())
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [0, 0, 1, 0]  # as in MXNet
    assert on(module) == ([1], [1.0]) and on_host(module) == (EVERY, [1.0] * 6)


# mx.quirks("rows-stale"): MXNet 1.9.1 with kvstore=mx.kv.create("local") and without prepare
@clause("KVStore/held-rows")
@pytest.mark.parametrize("contexts", [1, 2])
def test_weights_of_a_store_were_stale(contexts) -> None:
    module = ready(contexts)
    module.init_optimizer(mx.kv.create("local"), optimizer_params=HYPER)
    with mx.quirks("rows-stale"):
        for step in range(3):
            module.forward_backward(batch(SECOND if step % 2 else FIRST))
            module.update()
    assert on(module) == (EVERY, [1.0] * 6)
    assert on_host(module) == (EVERY, [0.65918, 1.49707, 0.44629, 0.64746, 1.28418, 1.0])


@clause("Module/sparse-rows", "KVStore/row-sparse-pull")
def test_what_prepare_takes() -> None:  # as in MXNet
    module = ready(2)
    module.init_optimizer("local")
    for ids, first, second in (
        ([2, 1, 1], [1, 2], [1, 2]), ([], [], []), ([[1], [2, 3]], [1], [2, 3]),
    ):
        nested = bool(ids) and isinstance(ids[0], list)
        given = [mx.nd.array(each) for each in ids] if nested else mx.nd.array(np.array(ids))
        module.prepare(None, lambda _, given=given: {"weight": given})
        assert (on(module, 0)[0], on(module, 1)[0]) == (first, second)
    module.prepare(None, lambda _: {})
    assert on(module, 1)[0] == [2, 3]
    with pytest.warns(UserWarning, match="bias.stype is not 'row_sparse'"):
        module.prepare(None, lambda _: {"bias": mx.nd.array([0])})


@clause("KVStore/row-ids", "KVStore/row-range", "Module/sparse-rows")
@pytest.mark.parametrize(("ids", "kind", "name"), [
    ([1, 2], AssertionError, "KVStore/row-ids"), (np.array([1, 2]), AssertionError, "KVStore/row-ids"),
    (None, AssertionError, "KVStore/row-ids"), (mx.nd.array([1, 9]), mx.MXNetError, "KVStore/row-range"),
])
def test_a_prepare_that_is_refused_changes_nothing(ids, kind, name) -> None:
    data, other = mx.sym.var("data", stype="csr"), mx.sym.var("also_weight", stype="row_sparse", shape=(6, 1))
    both = mx.sym.LinearRegressionOutput(
        mx.sym.dot(data, mx.sym.var("weight", stype="row_sparse", shape=(6, 1))) + mx.sym.dot(data, other),
        mx.sym.var("label"),
    )
    module = mx.mod.Module(both, label_names=["label"])
    module.bind([("data", (4, 6))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(mx.kv.create("local"))
    with pytest.raises(kind) as caught:
        module.prepare(None, lambda _: {"also_weight": mx.nd.array([0]), "weight": ids})
    assert caught.value.clause == name
    assert on(module)[0] == module._exec_group.execs[0].arg_dict["also_weight"].indices.asnumpy().tolist() == EVERY


# --- values that are given -------------------------------------------------------------------------


@clause("Module/every-row", "Module/given-parameters")
@pytest.mark.parametrize(("stype", "held"), [("default", EVERY), ("row_sparse", [0, 2, 4, 5])])
@pytest.mark.parametrize("call", ["init", "set", "missing"])
def test_rows_of_given_values(stype, held, call) -> None:
    # row_sparse: as in MXNet, which stores these rows of a dense value too
    value = {"weight": mx.nd.array(LACKING).tostype(stype), "bias": mx.nd.zeros((1,))}
    module = made() if call == "init" else ready()
    if call == "init":
        module.init_params(arg_params=value, aux_params={})
    else:
        module.set_params(value, {}, allow_missing=call == "missing")
    expected = [number for number in np.ravel(LACKING).tolist() if number or stype == "default"]
    assert on(module) == on_host(module) == (held, expected)
    assert value["weight"].stype == stype and value["weight"].asnumpy().tolist() == LACKING
    module.init_optimizer(None)
    module.forward_backward(batch())
    if stype == "row_sparse":
        with pytest.raises(mx.MXNetError) as caught:  # so does MXNet
            module.update()
        assert caught.value.clause == "Sparse/update-rows" and on(module) == (held, expected)
    else:
        module.update()


@clause("Module/given-parameters")
def test_a_row_sparse_value_for_a_dense_parameter() -> None:  # as in MXNet
    module = ready(stype="default")
    module.set_params({"weight": mx.nd.array(LACKING).tostype("row_sparse"), "bias": mx.nd.zeros((1,))}, {})
    for array in (module.get_params()[0]["weight"], module._exec_group.execs[0].arg_dict["weight"]):
        assert (array.stype, array.asnumpy().tolist()) == ("default", LACKING)


@clause("Sparse/copy-storage", "Module/params-atomic")
def test_a_csr_value_for_a_row_sparse_parameter() -> None:  # MXNet: TypeError
    module = ready()
    with pytest.raises(TypeError) as caught:
        module.set_params({"weight": mx.nd.array(LACKING).tostype("csr"), "bias": mx.nd.ones((1,))}, {})
    assert caught.value.clause == "Sparse/copy-storage"
    assert on(module) == on_host(module) == (EVERY, [1.0] * 6)
    assert module.get_params()[0]["bias"].asscalar() == 0


@clause("Module/params-reach-store", "Module/sparse-rows")
def test_a_store_keeps_the_rows_that_nobody_set() -> None:
    module = ready()
    module.init_optimizer(mx.kv.create("local"), optimizer_params={"learning_rate": 1})
    module.prepare(batch(), lambda _: {"weight": mx.nd.array([1])})
    module.set_params({"bias": mx.nd.ones((1,))}, {}, allow_missing=True)
    assert on(module) == ([1], [1.0]) and on_host(module) == (EVERY, [1.0] * 6)
    module.set_params({"weight": mx.nd.array(LACKING)}, {}, allow_missing=True)
    module.prepare(batch(), lambda _: {"weight": mx.nd.array([0, 1])})
    assert on(module) == ([0, 1], [1.0, 0.0]) and on_host(module) == (EVERY, [1.0, 0, 2, 0, 3, 4])


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
    "sgd": ([0.878125, 1.12312, 0.8275, 0.880625, 1.12437, 1], [[-0.071875, 0.073125, -0.0975, -0.069375, 0.074375, 0]]),
    "adam": (
        [0.800411, 1.19959, 0.801186, 0.800747, 1.19983, 1],
        [[0.09, -0.09, 0.1275, 0.0875, -0.0925, 0], [0.000452244, 0.000452244, 0.000921925, 0.000430369, 0.000475369, 0]],
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
