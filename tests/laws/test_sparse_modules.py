"""Laws of modules with row_sparse parameters: they learn what modules with dense ones learn.

`pytest -m long -k many_sparse_modules` draws a thousand trainings for each law; REFIMPL_SPARSE_MODULES_SEED says which.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

import refimpl as mx

from . import sparse_draws as draws

STEPS, ROWS, FEATURES, FACTORS = 4, 6, 5, 2
EXACT = {  # rules that step every row, whatever rows the gradient stores
    "sgd": {"learning_rate": 0.25, "wd": 0.5, "lazy_update": False},
    "momentum": {"learning_rate": 0.25, "momentum": 0.5, "wd": 0.5, "lazy_update": False},
    "adam": {"learning_rate": 0.25, "wd": 0.5, "lazy_update": False},
    "nag": {"learning_rate": 0.125, "momentum": 0.5},
    "rmsprop": {"learning_rate": 0.125},
}
LAZY = {
    "momentum": {"learning_rate": 0.25, "momentum": 0.5, "wd": 0.5},
    "adam": {"learning_rate": 0.25, "wd": 0.5},
    "adagrad": {"learning_rate": 0.25},
    "ftrl": {"learning_rate": 0.25},
}


class Training(NamedTuple):
    """What a training is made of: the batches and first values, and where it runs."""

    tables: list[np.ndarray]
    labels: np.ndarray
    weight: np.ndarray
    factors: np.ndarray
    model: str
    contexts: int
    store: str | None


TRAININGS = st.builds(
    Training, st.lists(draws.dense_numbers((ROWS, FEATURES)), min_size=STEPS, max_size=STEPS),
    draws.dense_numbers((STEPS, ROWS, 1)), draws.dense_numbers((FEATURES, 1)),
    draws.dense_numbers((FEATURES, FACTORS)), st.sampled_from(("linear", "sums", "square sums")), st.integers(1, 3),
    st.sampled_from((None, "local", "device", "a store")),
)


def module_of(training: Training, stype: str = "row_sparse") -> mx.mod.Module:
    """A bound module with the first values."""
    data = mx.sym.var("data", stype="csr")
    net = mx.sym.dot(data, mx.sym.var("weight", stype=stype, shape=(FEATURES, 1)))
    values = {"weight": mx.nd.array(training.weight)}
    if training.model != "linear":
        values["factors"] = mx.nd.array(training.factors / 4)
        factors = mx.sym.var("factors", stype=stype, shape=(FEATURES, FACTORS))
        if training.model == "sums":
            squares = mx.sym.sum(mx.sym.square(factors), axis=1, keepdims=True)
        else:
            squares = mx.sym._internal._square_sum(factors, axis=1, keepdims=True)
        mixed = mx.sym.sum(mx.sym.square(mx.sym.dot(data, factors)), axis=1, keepdims=True)
        net = net + 0.5 * (mixed - mx.sym.dot(mx.sym.square(data), squares))
    contexts = [mx.cpu(index) for index in range(training.contexts)]
    module = mx.mod.Module(
        mx.sym.LogisticRegressionOutput(net, mx.sym.var("label")), label_names=["label"], context=contexts
    )
    module.bind([("data", (ROWS, FEATURES))], [("label", (ROWS, 1))])
    module.init_params(arg_params=values, aux_params={})
    return module


def optimize(module: mx.mod.Module, training: Training, rule: str, hyper: dict[str, Any]) -> None:
    store = mx.kv.create("local") if training.store == "a store" else training.store
    module.init_optimizer(store, "sgd" if rule == "momentum" else rule, hyper)


def step(module: mx.mod.Module, training: Training, number: int, *, prepared: bool) -> None:
    """One batch; ``prepared`` with the rows that it reads."""
    table = training.tables[number]
    batch = mx.io.DataBatch([mx.nd.array(table).tostype("csr")], [mx.nd.array(training.labels[number])])
    if prepared and module._update_on_kvstore:
        ids = mx.nd.array(np.flatnonzero(table.any(0)), dtype="int64")
        module.prepare(batch, lambda _: dict.fromkeys(module._param_names, ids))
    module.forward_backward(batch)
    module.update()


def learned(module: mx.mod.Module) -> dict[str, np.ndarray]:
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def alike(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Both have the same values, bit for bit."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
        yield


def row_sparse_learns_as_dense(training: Training, rule: str, prepared: bool) -> None:
    if training.contexts == 3 and training.store in ("local", "a store"):
        training = training._replace(store="device")  # the others add up three dense gradients in another order
    found = []
    for stype in ("row_sparse", "default"):
        module = module_of(training, stype)
        optimize(module, training, rule, EXACT[rule])
        for number in range(STEPS):
            step(module, training, number, prepared=prepared and stype == "row_sparse")
        assert {value.stype for value in module.get_params()[0].values()} == {stype}
        found.append(learned(module))
    alike(*found)


def rows_in_time_are_enough(training: Training, rule: str, prepared: bool) -> None:
    """Contexts that hold the rows of a batch only learn what contexts with all rows learn; none holds old rows."""
    whole, some = module_of(training), module_of(training)
    for module in (whole, some):
        optimize(module, training, rule, LAZY[rule])
        for number in range(STEPS):
            step(module, training, number, prepared=prepared and module is some)
    known = learned(some)
    alike(learned(whole), known)
    if some._update_on_kvstore:
        for executor in some._exec_group.execs:
            for name in known:
                held = executor.arg_dict[name]
                np.testing.assert_array_equal(held.data.asnumpy(), known[name][held.indices.asnumpy()])


def files_keep_rows(training: Training, rule: str, prepared: bool) -> None:
    """A module that was saved and loaded has the same storages and values, and learns the same from there."""
    module = module_of(training)
    optimize(module, training, rule, LAZY[rule])
    for number in range(STEPS // 2):
        step(module, training, number, prepared=prepared)
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "kept")
        module.save_checkpoint(prefix, 1, save_optimizer_states=True)
        loaded = mx.mod.Module.load(
            prefix, 1, load_optimizer_states=True, label_names=["label"],
            context=[mx.cpu(index) for index in range(training.contexts)],
        )
        loaded.bind([("data", (ROWS, FEATURES))], [("label", (ROWS, 1))])
        alike(learned(module), learned(loaded))
        optimize(loaded, training, rule, LAZY[rule])
    rows = {name: value.indices.asnumpy().tolist() for name, value in loaded.get_params()[0].items()}
    assert rows == {name: value.indices.asnumpy().tolist() for name, value in module.get_params()[0].items()}
    if rule == "adam":
        return  # it counts its updates from 1 again
    module.set_params(*module.get_params())  # without a store contexts differ, and a file has their mean
    for number in range(STEPS // 2, STEPS):
        for each in (module, loaded):
            step(each, training, number, prepared=prepared)
    alike(learned(module), learned(loaded))


LAWS = {
    "dense": (row_sparse_learns_as_dense, EXACT), "rows": (rows_in_time_are_enough, LAZY),
    "files": (files_keep_rows, LAZY),
}


@pytest.mark.clause("Module/sparse-parameters", "Module/sparse-rows", "KVStore/held-rows", "Module/checkpoint")
@pytest.mark.parametrize("name", LAWS)
def test_sparse_modules(name: str) -> None:
    drawn(name, 6)


def drawn(name: str, count: int, number: int | None = None) -> None:
    law, rules = LAWS[name]

    @settings(max_examples=count, derandomize=number is None, phases=[Phase.generate])  # to shrink one takes minutes
    @given(training=TRAININGS, rule=st.sampled_from(sorted(rules)), prepared=st.booleans())
    def holds(training: Training, rule: str, prepared: bool) -> None:
        law(training, rule, prepared)

    holds() if number is None else seed(number)(holds)()


@pytest.mark.long
@pytest.mark.parametrize("name", LAWS)
def test_many_sparse_modules(name: str) -> None:
    drawn(name, 1000, int(os.environ.get("REFIMPL_SPARSE_MODULES_SEED", "1")))
