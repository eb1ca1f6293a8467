"""The life cycle of Module as a machine: random operations in random order, judged by the printed table.

An operation whose needs are met succeeds and raises exactly the flags of its row. Any other is refused with
an AssertionError that names the missing step, and changes nothing. Only initialising, setting, loading and
updating change parameters.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import refimpl as mx
from refimpl.module.life_cycle import LIFE_CYCLE, STEPS

FLAGS = tuple(STEPS)


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def shapes(rows: int) -> dict:
    return {"data_shapes": [("data", (rows, 2))], "label_shapes": [("softmax_label", (rows,))]}


def batch(rows: int) -> mx.io.DataBatch:
    data = np.arange(rows * 2).reshape(rows, 2) % 5 - 2
    return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(np.arange(rows) % 3)])


ROWS = st.integers(3, 5)


class ModuleLifeCycle(RuleBasedStateMachine):
    """A module beside the flags and the parameters that it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = warnings.catch_warnings()
        self.quiet.__enter__()
        warnings.simplefilter("ignore")
        self.folder = tempfile.TemporaryDirectory()
        self.flags = dict.fromkeys(FLAGS, False)
        self.rows = None
        self.values: dict[str, np.ndarray] | None = None
        self.forward_done = False

    def teardown(self) -> None:
        self.folder.cleanup()
        self.quiet.__exit__(None, None, None)

    @initialize(count=st.sampled_from([1, 2, 3]))
    def create(self, count: int) -> None:
        self.contexts = [mx.cpu(index) for index in range(count)]
        self.module = mx.mod.Module(network(), context=self.contexts)

    def path(self, name: str) -> str:
        return str(Path(self.folder.name) / name)

    def attempt(self, operation: str, call) -> bool:
        """Run ``call`` as the table says: True when it was allowed."""
        row = LIFE_CYCLE[operation]
        missing = [flag for flag in FLAGS if flag in row.needs and not self.flags[flag]]
        if not missing:
            call()
            self.flags.update(dict.fromkeys(row.gives, True))
            return True
        before = sorted(Path(self.folder.name).iterdir())
        with pytest.raises(AssertionError) as caught:
            call()
        assert caught.value.clause in {STEPS[flag].clause for flag in missing}
        assert any(STEPS[flag].remedy in str(caught.value) for flag in missing)
        assert sorted(Path(self.folder.name).iterdir()) == before
        return False

    def held(self) -> dict[str, np.ndarray]:
        """The parameters on the last context, or of an unbound module."""
        if self.module.binded:
            arrays = self.module._exec_group.execs[-1].arg_dict
            return {name: arrays[name].asnumpy() for name in ("fc_weight", "fc_bias")}
        return {name: array.asnumpy() for name, array in self.module.get_params()[0].items()}

    # --- binding ---------------------------------------------------------------------------------

    @rule(rows=ROWS, train=st.booleans(), inputs=st.booleans(), force=st.booleans())
    def bind(self, rows, train, inputs, force) -> None:
        call = {**shapes(rows), "for_training": train, "inputs_need_grad": inputs and train}
        self.module.bind(**call, force_rebind=force)
        if force or not self.flags["binded"]:
            self.flags.update(binded=True, for_training=train, inputs_need_grad=inputs and train)
            self.rows, self.forward_done = rows, False

    @rule(rows=ROWS)
    def bind_in_vain(self, rows) -> None:
        wrong = {**shapes(rows), "label_shapes": [("softmax_label", (rows + 1,))]}
        with pytest.raises(AssertionError):
            self.module.bind(**wrong, force_rebind=True)

    @rule(rows=ROWS)
    def reshape(self, rows) -> None:
        if self.attempt("reshape", lambda: self.module.reshape(**shapes(rows))):
            self.rows, self.forward_done = rows, False

    @precondition(lambda self: self.flags["binded"])
    @rule()
    def reshape_in_vain(self) -> None:
        with pytest.raises(mx.MXNetError):
            self.module.reshape([("data", (4, 7))], [("softmax_label", (4,))])

    @rule()
    def shapes(self) -> None:
        for name in ("data_shapes", "label_shapes", "output_shapes"):
            if self.attempt(name, lambda name=name: getattr(self.module, name)):
                assert getattr(self.module, name)[0][1][0] == self.rows

    @rule()
    def share(self) -> None:
        other = mx.mod.Module(network(), context=self.contexts)
        if self.attempt(
            "bind to a shared module", lambda: other.bind(**shapes(4), shared_module=self.module)
        ):
            assert other.params_initialized
            assert other.optimizer_initialized == self.flags["optimizer_initialized"]
        else:
            assert not other.binded

    @rule(rows=ROWS)
    def train_a_sharer(self, rows) -> None:
        """What a module does that shares, this one sees."""
        if not all(self.flags[flag] for flag in LIFE_CYCLE["init_optimizer"].needs):
            return
        other = mx.mod.Module(network(), context=self.contexts)
        other.bind(**shapes(rows), shared_module=self.module)
        if not self.flags["optimizer_initialized"]:
            other.init_optimizer(optimizer_params={"learning_rate": 0.5})
        other.forward_backward(batch(rows))
        other.update()
        self.values = {name: array.asnumpy() for name, array in other.get_params()[0].items()}

    @rule()
    def borrow(self) -> None:
        other = mx.mod.Module(network(), context=self.contexts)
        if self.attempt("borrow_optimizer", lambda: other.borrow_optimizer(self.module)):
            assert other.optimizer_initialized
        else:
            assert not other.optimizer_initialized

    # --- parameters ------------------------------------------------------------------------------

    @rule(value=st.integers(-3, 3), force=st.booleans())
    def init_params(self, value, force) -> None:
        if self.flags["params_initialized"] and not force:
            self.module.init_params(mx.init.Constant(9))
        elif self.attempt(
            "init_params", lambda: self.module.init_params(mx.init.Constant(value), force_init=True)
        ):
            self.values = {"fc_weight": np.full((3, 2), value), "fc_bias": np.zeros(3)}

    @rule(value=st.integers(-3, 3), missing=st.booleans())
    def set_params(self, value, missing) -> None:
        given = {"fc_weight": mx.nd.array(np.full((3, 2), value))}
        if not missing:
            given["fc_bias"] = mx.nd.ones((3,))
        before = self.held()["fc_bias"] if self.flags["binded"] else None
        operation = "set_params" if missing else "init_params"
        if self.attempt(
            operation, lambda: self.module.set_params(given, {}, allow_missing=missing)
        ):
            bias = before if missing else np.ones(3)
            self.values = {"fc_weight": np.full((3, 2), value), "fc_bias": bias}

    @precondition(lambda self: self.flags["binded"])
    @rule(missing=st.booleans())
    def set_params_in_vain(self, missing) -> None:
        given = {"fc_bias": mx.nd.full((3,), 8), "fc_weight": mx.nd.ones((3, 9))}
        with pytest.raises(mx.MXNetError):
            self.module.set_params(given, {}, allow_missing=missing)

    @rule()
    def save_and_load_params(self) -> None:
        file = self.path("p.params")
        if self.attempt("save_params", lambda: self.module.save_params(file)):
            self.attempt("load_params", lambda: self.module.load_params(file))

    @rule()
    def save_checkpoint(self) -> None:
        self.attempt("save_checkpoint", lambda: self.module.save_checkpoint(self.path("net"), 1))

    @rule(states=st.booleans())
    def resume(self, states) -> None:
        """Save a checkpoint and go on with a module loaded from it."""
        states = states and self.flags["optimizer_initialized"]
        saved = self.attempt(
            "save_checkpoint", lambda: self.module.save_checkpoint(self.path("net"), 2, states)
        )
        if saved:
            self.module = mx.mod.Module.load(self.path("net"), 2, states, context=self.contexts)
            self.flags = {**dict.fromkeys(FLAGS, False), "params_initialized": True}
            self.forward_done = False

    # --- computation -----------------------------------------------------------------------------

    @rule(rows=ROWS, train=st.sampled_from([None, True, False]))
    def forward(self, rows, train) -> None:
        if self.attempt("forward", lambda: self.module.forward(batch(rows), is_train=train)):
            self.rows, self.forward_done = rows, True

    @rule()
    def backward(self) -> None:
        self.attempt("backward", self.module.backward)

    @rule(rows=ROWS)
    def forward_backward(self, rows) -> None:
        if self.attempt("forward_backward", lambda: self.module.forward_backward(batch(rows))):
            self.rows, self.forward_done = rows, True

    @rule(store=st.sampled_from(["local", "device"]), force=st.booleans())
    def init_optimizer(self, store, force) -> None:
        self.attempt(
            "init_optimizer",
            lambda: self.module.init_optimizer(
                store, optimizer_params={"learning_rate": 0.5, "momentum": 0.5}, force_init=force
            ),
        )

    @rule()
    def update(self) -> None:
        if self.attempt("update", self.module.update):
            self.values = self.held()

    @rule()
    def save_and_load_states(self) -> None:
        file = self.path("o.states")
        if self.attempt("save_optimizer_states", lambda: self.module.save_optimizer_states(file)):
            self.attempt("load_optimizer_states", lambda: self.module.load_optimizer_states(file))

    @rule()
    def results(self) -> None:
        if self.attempt("get_outputs", self.module.get_outputs):
            assert self.module.get_outputs()[0].shape == (self.rows, 3)
        if self.attempt("get_input_grads", self.module.get_input_grads):
            assert self.module.get_input_grads()[0].shape == (self.rows, 2)
        if not self.flags["binded"] or self.forward_done:
            accuracy = mx.metric.create("acc")
            labels = batch(self.rows or 2).label
            if self.attempt("update_metric", lambda: self.module.update_metric(accuracy, labels)):
                assert accuracy.num_inst == self.rows

    @rule(rows=st.integers(3, 7))
    def evaluate(self, rows) -> None:
        data = mx.io.NDArrayIter(np.ones((rows, 2)), np.zeros(rows), min(rows, 4))
        if self.attempt("score", lambda: self.module.score(data, "acc")):
            assert self.module.predict(data).shape == (rows, 3)
            self.rows, self.forward_done = min(rows, 4), True

    @rule(rows=st.integers(3, 7), force=st.booleans())
    def fit(self, rows, force) -> None:
        """``fit`` takes every step that is missing, and refuses a module that is bound for inference."""
        data = mx.io.NDArrayIter(np.ones((rows, 2)), np.zeros(rows), min(rows, 4))
        bound = self.flags["binded"] and not force
        call = lambda: self.module.fit(  # noqa: E731
            data, num_epoch=1, force_rebind=force, optimizer_params={"learning_rate": 0.5}
        )
        if bound and not self.flags["for_training"]:
            with pytest.raises(AssertionError) as caught:
                call()
            assert caught.value.clause == "Module/needs-training"
        else:
            call()
            self.rows, self.forward_done = min(rows, 4), True
        if not bound:
            self.flags.update(binded=True, for_training=True, inputs_need_grad=False)
        self.flags.update(params_initialized=True, optimizer_initialized=True)
        self.values = self.held()

    @rule()
    def prepare(self) -> None:
        self.attempt("prepare", lambda: self.module.prepare(None))

    @rule(value=st.integers(-2, 2))
    def states(self, value) -> None:
        if self.attempt("set_states", lambda: self.module.set_states(value=value)):
            assert self.module.get_states(merge_multi_context=False) == []

    # --- what always holds -----------------------------------------------------------------------

    @invariant()
    def flags_are_those_of_the_table(self) -> None:
        if hasattr(self, "module"):
            assert {flag: getattr(self.module, flag) for flag in FLAGS} == self.flags

    @invariant()
    def parameters_are_where_they_were_left(self) -> None:
        if self.values is not None and self.flags["params_initialized"]:
            for name, value in self.held().items():
                assert np.array_equal(value, self.values[name]), name
            mean = self.module.get_params()[0]
            for name, value in self.values.items():
                assert np.array_equal(mean[name].asnumpy(), value), name


TestModuleLifeCycle = pytest.mark.clause(
    "Module/life-cycle",
    "Module/needs-bind",
    "Module/needs-params",
    "Module/needs-optimizer",
    "Module/needs-training",
    "Module/needs-input-gradients",
    "Module/failed-bind",
    "Module/failed-reshape",
    "Module/params-atomic",
    "Module/rebind-keeps-training",
    "Module/checkpoint",
    "Module/params-fresh",
    "Module/params-reach-store",
    "Module/params-mean",
    "Module/fit",
)(ModuleLifeCycle.TestCase)
TestModuleLifeCycle.settings = settings(stateful_step_count=30)
