"""The table of the life cycle: an operation that comes too early names the missing step."""

from __future__ import annotations

import pytest

import refimpl as mx
from refimpl.module.life_cycle import LIFE_CYCLE, STEPS, table

from .module_nets import DATA, LABEL, network, ready

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
    "bind to a shared module": lambda m: mx.mod.Module(network()).bind(
        DATA, LABEL, shared_module=m
    ),
}
CALLS_OF_BUCKETS = {
    "switch_bucket": lambda m: m.switch_bucket(4, DATA, LABEL),
}
"""What a BucketingModule has beyond a Module."""

NOT_OF = {
    "Bucketing": {"reshape", "borrow_optimizer", "bind to a shared module"},
    "Sequential": {
        "reshape", "borrow_optimizer", "bind to a shared module", "prepare", "save_checkpoint",
        "save_optimizer_states", "load_optimizer_states",
    },
}
"""Operations that other kinds of modules do not have, or that need nothing there."""


def chain():
    data = mx.sym.Variable("data")
    first = mx.mod.Module(mx.sym.identity(data, name="same"), label_names=None)
    return mx.mod.SequentialModule().add(first).add(
        mx.mod.Module(network()), take_labels=True, auto_wiring=True
    )


KINDS = {
    "Module": lambda: mx.mod.Module(network()),
    "Bucketing": lambda: mx.mod.BucketingModule(
        lambda key: (network(), ("data",), ("softmax_label",)), default_bucket_key=9
    ),
    "Sequential": chain,
}
STAGES = {
    "created": (),
    "bound": ("binded", "for_training"),
    "initialised": ("binded", "for_training", "params_initialized"),
    "inference": ("binded", "params_initialized", "optimizer_initialized"),
}


def calls_of(kind):
    more = CALLS_OF_BUCKETS if kind == "Bucketing" else {}
    return {name: call for name, call in {**CALLS, **more}.items() if name not in NOT_OF.get(kind, ())}


def at(stage, kind="Module"):
    module = KINDS[kind]()
    raised = STAGES[stage]
    if "binded" in raised:
        module.bind(DATA, LABEL, for_training="for_training" in raised)
    if "params_initialized" in raised:
        module.init_params()
    if "optimizer_initialized" in raised:
        module.init_optimizer()
    return module


def missing_at(stage, operation):
    return next((flag for flag in LIFE_CYCLE[operation].needs if flag not in STAGES[stage]), None)


@pytest.mark.clause(
    "Module/needs-bind",
    "Module/needs-params",
    "Module/needs-optimizer",
    "Module/needs-training",
    "Module/needs-input-gradients",
)
@pytest.mark.parametrize(
    ("kind", "stage", "operation"),
    [(k, s, o) for k in KINDS for s in STAGES for o in calls_of(k) if missing_at(s, o)],
)
def test_an_operation_names_the_step_it_misses(kind, stage, operation, tmp_path, monkeypatch):
    step = STEPS[missing_at(stage, operation)]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError) as caught:
        calls_of(kind)[operation](at(stage, kind))
    assert caught.value.clause == step.clause
    assert step.remedy in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_every_row_of_the_table_is_tried():
    assert set(CALLS) | set(CALLS_OF_BUCKETS) | {"bind"} == set(LIFE_CYCLE)


@pytest.mark.clause("Module/life-cycle")
def test_the_table_prints():
    rows = {
        line.rsplit(None, len(STEPS))[0].strip(): line.split()[-len(STEPS) :]
        for line in table().splitlines()[1:]
    }
    assert rows["bind"] == ["+", ".", ".", "?", "?"]
    assert rows["update"] == ["x", "x", "x", "x", "."]
    assert rows["get_input_grads"] == ["x", "x", ".", ".", "x"]
    assert rows["init_params"] == ["x", "+", ".", ".", "."]


def test_save_checkpoint_with_states_writes_nothing_without_an_optimizer(tmp_path):
    with pytest.raises(AssertionError):
        ready().save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("operation", [name for name, given in LIFE_CYCLE.items() if given.settles])
@pytest.mark.parametrize("asked", [(True, False), (True, True), (False, False)])
def test_settled_flags_are_those_that_were_asked_for(operation: str, asked: tuple[bool, bool]) -> None:
    flags = LIFE_CYCLE[operation].settles
    shared = {"shared_module": ready()} if "shared" in operation else {}
    module = mx.mod.Module(network())
    module.bind(DATA, LABEL, **dict(zip(flags, asked, strict=True)), **shared)
    assert tuple(getattr(module, flag) for flag in flags) == asked
