"""Every refusal of Module and its executor group, with the type that MXNet 1.9.1 raises and its clause."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import refimpl as mx
from refimpl.module.life_cycle import LIFE_CYCLE, STEPS, missing_step, table
from refimpl.module.requests import group_contexts

from .module_nets import DATA, LABEL, batch, network, ready

BIAS, WEIGHT = mx.nd.ones((3,)), mx.nd.ones((3, 2))


def bind(**settings):
    module = mx.mod.Module(network())
    module.bind(**{"data_shapes": DATA, "label_shapes": LABEL, **settings})


def duplicated():
    data = mx.sym.Variable("data")
    one = mx.sym.FullyConnected(data, weight=mx.sym.Variable("w"), num_hidden=2, name="one")
    two = mx.sym.FullyConnected(one, weight=mx.sym.Variable("w"), num_hidden=2, name="two")
    mx.mod.Module(two, label_names=None).bind(DATA)


def inference():
    return at("inference")


def write(path, entries):
    mx.nd.save(str(path), entries)
    return str(path)


REFUSALS = {
    # the constructor
    "data name": ("Module/input-names", ValueError, lambda: mx.mod.Module(network(), data_names=["x"])),
    "fixed name": ("Module/input-names", ValueError, lambda: mx.mod.Module(network(), fixed_param_names=["x"])),
    "state name": ("Module/input-names", ValueError, lambda: mx.mod.Module(network(), state_names=["x"])),
    "work load": (
        "Module/work-load", AssertionError,
        lambda: mx.mod.Module(network(), context=[mx.cpu(0)], work_load_list=[1, 2]),
    ),
    "context": ("Module/contexts", TypeError, lambda: mx.mod.Module(network(), context="cpu")),
    "no context": ("Module/contexts", TypeError, lambda: mx.mod.Module(network(), context=[])),
    # bind
    "data shapes": ("Module/data-names", ValueError, lambda: bind(data_shapes=[("x", (4, 2))])),
    "label shapes": ("ExecutorGroup/label-name", KeyError, lambda: bind(label_shapes=[("lab", (4,))])),
    "batch sizes": (
        "ExecutorGroup/one-batch-size", AssertionError, lambda: bind(label_shapes=[("softmax_label", (5,))])
    ),
    "too many contexts": (
        "split/empty", ValueError,
        lambda: mx.mod.Module(network(), context=[mx.cpu(i) for i in range(5)]).bind(DATA, LABEL),
    ),
    "input gradients": (
        "Module/input-gradients-train", AssertionError, lambda: bind(for_training=False, inputs_need_grad=True)
    ),
    "request list": ("ExecutorGroup/grad-req-length", AssertionError, lambda: bind(grad_req=["write"])),
    "request kind": ("ExecutorGroup/grad-req-kind", ValueError, lambda: bind(grad_req=3)),
    "request": ("ExecutorGroup/grad-req-value", RuntimeError, lambda: bind(grad_req="foo")),
    "one request": (
        "ExecutorGroup/grad-req-value", RuntimeError, lambda: bind(grad_req={"fc_weight": "foo"})
    ),
    "duplicate": ("ExecutorGroup/unique-arguments", ValueError, duplicated),
    "unknown shape": (
        "ExecutorGroup/shapes-known", mx.MXNetError,
        lambda: mx.mod.Module(mx.sym.dot(mx.sym.Variable("data"), mx.sym.Variable("w")), label_names=None).bind(DATA),
    ),
    "shared kind": ("Module/shared-kind", AssertionError, lambda: bind(shared_module=3)),
    "shared unbound": ("Module/needs-bind", AssertionError, lambda: bind(shared_module=mx.mod.Module(network()))),
    "shared contexts": (
        "Module/shared-contexts", AssertionError,
        lambda: mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)]).bind(DATA, LABEL, shared_module=ready()),
    ),
    # parameters
    "missing": ("Module/missing-parameter", RuntimeError, lambda: ready().set_params({"fc_bias": BIAS}, {})),
    "no initializer": (
        "Module/no-initializer", TypeError, lambda: ready().init_params(initializer=None, force_init=True)
    ),
    "shape": (
        "Module/parameter-shape", mx.MXNetError,
        lambda: ready().set_params({"fc_bias": BIAS, "fc_weight": mx.nd.ones((3, 5))}, {}),
    ),
    "shape on devices": (
        "Module/parameter-shape", mx.MXNetError,
        lambda: ready().set_params({"fc_weight": mx.nd.ones((3, 5))}, {}, allow_missing=True),
    ),
    "extra": (
        "Module/extra-name", ValueError, lambda: ready().set_params({"zz": BIAS}, {}, allow_missing=True)
    ),
    # reshape
    "feature size": (
        "ExecutorGroup/shared-shape", mx.MXNetError, lambda: ready().reshape([("data", (4, 5))], LABEL)
    ),
    # computation
    "few arrays": ("Module/batch-data", ValueError, lambda: ready().forward(mx.io.DataBatch([], []))),
    "unequal list": (
        "Module/batch-list", AssertionError,
        lambda: ready(2).forward([batch(np.ones((2, 2)), [0, 0]), batch(np.ones((3, 2)), [0, 0, 0])]),
    ),
    "short list": (
        "Module/batch-list", AssertionError, lambda: ready(2).forward([batch(np.ones((2, 2)), [0, 0])])
    ),
    "merged states": ("Module/states-unmerged", AssertionError, lambda: ready().get_states()),
    "states and value": (
        "Module/states-or-value", AssertionError, lambda: ready().set_states(states=[], value=1)
    ),
    "neither": ("Module/states-or-value", AssertionError, lambda: ready().set_states()),
    "predict": ("Module/predict-input", ValueError, lambda: ready().predict(3)),
    # training
    "epochs": ("Module/num-epoch", AssertionError, lambda: ready().fit(mx.io.NDArrayIter(np.ones((4, 2)), None, 4))),
    "optimizer kind": (
        "Module/optimizer-kind", AssertionError, lambda: ready().init_optimizer(optimizer=3)
    ),
    "backward for inference": ("Module/needs-training", AssertionError, lambda: inference().backward()),
    "update for inference": ("Module/needs-training", AssertionError, lambda: inference().update()),
    "group backward": (
        "Module/needs-training", AssertionError, lambda: inference()._exec_group.backward()
    ),
}


@pytest.mark.clause(*sorted({clause for clause, _, _ in REFUSALS.values()}))
@pytest.mark.parametrize("what", REFUSALS)
def test_refusal(what):
    clause, kind, call = REFUSALS[what]
    with warnings.catch_warnings(), pytest.raises(kind) as caught:
        warnings.simplefilter("ignore")
        call()
    assert caught.value.clause == clause
    assert clause in str(caught.value)


def test_refusals_of_other_rooms_pass_through():
    with pytest.raises(ValueError, match="Cannot find optimizer nope"):
        ready().init_optimizer(optimizer="nope")
    with pytest.raises(TypeError):
        ready().init_optimizer(optimizer_params={"zz": 1})
    with pytest.raises(TypeError, match="kvstore must be KVStore, str or None"):
        ready().init_optimizer(kvstore=3)
    with pytest.raises(mx.MXNetError):
        ready().load_params("/nowhere/at/all.params")
    with pytest.raises(mx.MXNetError):
        ready().forward(batch(np.ones((4, 2)), np.zeros((3,))))


@pytest.mark.clause("Module/param-file")
def test_param_files_name_arg_or_aux(tmp_path):
    module = ready()
    for entries in ([BIAS], {"fc": BIAS}, {"x:fc": BIAS}):
        with pytest.raises(ValueError, match="Invalid param file") as caught:
            module.load_params(write(tmp_path / "p", entries))
        assert caught.value.clause == "Module/param-file"


@pytest.mark.clause("Module/fit-exhausted")
def test_fitting_an_exhausted_iterator_is_refused():
    rows = mx.io.NDArrayIter(np.ones((4, 2)), np.zeros(4), 4)
    list(rows)
    with pytest.raises(StopIteration) as caught:
        mx.mod.Module(network()).fit(rows, num_epoch=1)
    assert caught.value.clause == "Module/fit-exhausted"


@pytest.mark.clause("Module/predict-merge")
def test_merging_batches_needs_equal_numbers_of_outputs(monkeypatch):
    module = ready()
    answers = iter([[mx.nd.ones((4, 1))], [mx.nd.ones((4, 1))] * 2])
    monkeypatch.setattr(module, "get_outputs", lambda: next(answers))
    with pytest.raises(AssertionError) as caught:
        module.predict(mx.io.NDArrayIter(np.ones((8, 2)), np.zeros(8), 4))
    assert caught.value.clause == "Module/predict-merge"


@pytest.mark.clause("Module/no-states")
def test_a_module_without_states_accepts_none():
    module = mx.mod.BaseModule()
    module.binded = module.params_initialized = True
    assert module.get_states() == []
    module.set_states()
    with pytest.raises(AssertionError) as caught:
        module.set_states(value=1)
    assert caught.value.clause == "Module/no-states"


@pytest.mark.clause("ExecutorGroup/group-contexts")
def test_group_contexts():
    a, b = mx.cpu(1), mx.cpu(2)
    assert group_contexts(None, 2) == [None, None]
    assert group_contexts({"x": a}, 2) == [{"x": a}, {"x": a}]
    assert group_contexts({"x": [a], "y": [a, b]}, 2) == [{"x": a, "y": a}, {"x": a, "y": b}]
    assert group_contexts([{"x": a}, {"x": b}], 2) == [{"x": a}, {"x": b}]
    for wrong in ((a,), 3, [{"x": a}], {"x": (a, b)}, {"x": [a, b, a]}):
        with pytest.raises(AssertionError) as caught:
            group_contexts(wrong, 2)
        assert caught.value.clause == "ExecutorGroup/group-contexts"


# --- the table ------------------------------------------------------------------------------------


CALLS = {
    "data_shapes": lambda m: m.data_shapes,
    "label_shapes": lambda m: m.label_shapes,
    "output_shapes": lambda m: m.output_shapes,
    "reshape": lambda m: m.reshape(DATA, LABEL),
    "install_monitor": lambda m: m.install_monitor(None),
    "prepare": lambda m: m.prepare(None),
    "init_params": lambda m: m.init_params(),
    "set_params": lambda m: m.set_params({}, {}, allow_missing=True),
    "load_params": lambda m: m.load_params("f"),
    "get_params": lambda m: m.get_params(),
    "save_params": lambda m: m.save_params("f"),
    "save_checkpoint": lambda m: m.save_checkpoint("f", 1),
    "init_optimizer": lambda m: m.init_optimizer(),
    "borrow_optimizer": lambda m: m.borrow_optimizer(m),
    "save_optimizer_states": lambda m: m.save_optimizer_states("f"),
    "load_optimizer_states": lambda m: m.load_optimizer_states("f"),
    "forward": lambda m: m.forward(None),
    "backward": lambda m: m.backward(),
    "forward_backward": lambda m: m.forward_backward(None),
    "update": lambda m: m.update(),
    "get_outputs": lambda m: m.get_outputs(),
    "get_input_grads": lambda m: m.get_input_grads(),
    "get_states": lambda m: m.get_states(),
    "set_states": lambda m: m.set_states(value=0),
    "update_metric": lambda m: m.update_metric(mx.metric.create("acc"), []),
    "score": lambda m: m.score(None, "acc"),
    "predict": lambda m: m.predict(None),
    "iter_predict": lambda m: next(m.iter_predict(None)),
    "bind to a shared module": lambda m: mx.mod.Module(network()).bind(DATA, LABEL, shared_module=m),
}
STAGES = {
    "created": (),
    "bound": ("binded", "for_training"),
    "initialised": ("binded", "for_training", "params_initialized"),
    "inference": ("binded", "params_initialized", "optimizer_initialized"),
}


def at(stage):
    module = mx.mod.Module(network())
    raised = STAGES[stage]
    if "binded" in raised:
        module.bind(DATA, LABEL, for_training="for_training" in raised)
    if "params_initialized" in raised:
        module.init_params()
    if "optimizer_initialized" in raised:
        module.init_optimizer()
    return module


def missing_at(stage, operation):
    return missing_step(SimpleNamespace(**{flag: flag in STAGES[stage] for flag in STEPS}), operation)


@pytest.mark.clause(
    "Module/needs-bind", "Module/needs-params", "Module/needs-optimizer", "Module/needs-training",
    "Module/needs-input-gradients",
)
@pytest.mark.parametrize(
    ("stage", "operation"), [(s, o) for s in STAGES for o in CALLS if missing_at(s, o)]
)
def test_an_operation_names_the_step_it_misses(stage, operation, tmp_path, monkeypatch):
    step = STEPS[missing_at(stage, operation)]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError) as caught:
        CALLS[operation](at(stage))
    assert caught.value.clause == step.clause
    assert step.mend in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_every_row_of_the_table_is_tried():
    assert set(CALLS) | {"bind"} == set(LIFE_CYCLE)


@pytest.mark.clause("Module/life-cycle")
def test_the_table_prints():
    rows = {line.rsplit(None, len(STEPS))[0].strip(): line.split()[-len(STEPS):] for line in table().splitlines()[1:]}
    assert rows["bind"] == ["+", ".", ".", ".", "."]
    assert rows["update"] == ["x", "x", "x", "x", "."]
    assert rows["get_input_grads"] == ["x", "x", ".", ".", "x"]
    assert rows["init_params"] == ["x", "+", ".", ".", "."]


def test_save_checkpoint_with_states_writes_nothing_without_an_optimizer(tmp_path):
    with pytest.raises(AssertionError):
        ready().save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    assert not list(tmp_path.iterdir())
