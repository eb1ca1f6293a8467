"""The rows of row_sparse parameters of a Module: those that MXNet 1.9.1 has, and where they differ."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

from .sparse_modules import EVERY, FIRST, HYPER, LACKING, SECOND, batch, made, on, on_host, quiet, ready, rows_of, seen

clause = pytest.mark.clause

__all__ = ["quiet"]  # a fixture


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
    with pytest.warns(UserWarning, match="bias is not row_sparse"):
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
