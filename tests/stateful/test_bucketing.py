"""Buckets as a machine: random operations in random order, beside a model of one weight in NumPy.

The loss is the sum of all steps of ``data @ weight``, so that its gradient is the sum of the data: small
integers, which no order of addition rounds. Momentum 1 and rate 1 keep everything a small integer, states
included. An operation that the table of the life cycle allows succeeds, any other is refused by name, and
whatever is refused changes nothing.
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
LONGEST = 4
KEYS, ROWS = st.integers(1, LONGEST), st.integers(2, 4)


def sym_gen(length):
    """Every step goes through the same weight; keys 9 and beyond have a parameter that nobody owns."""
    name = "fc" if length <= LONGEST else "other"
    steps = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, no_bias=True, flatten=False, name=name)
    return mx.sym.MakeLoss(mx.sym.sum(steps, axis=1), name="loss"), ("data",), None


def described(length, rows):
    return [("data", (rows, length, 2))]


def batch(length, rows):
    data = np.arange(rows * length * 2).reshape(rows, length, 2) % 5 - 2
    made = mx.io.DataBatch([mx.nd.array(data)], bucket_key=length, provide_data=described(length, rows))
    return made, data.sum(axis=(0, 1))


class Buckets(RuleBasedStateMachine):
    """A BucketingModule beside its flags, its weight, the momentum, the last gradient and what was saved."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = warnings.catch_warnings()
        self.quiet.__enter__()
        warnings.simplefilter("ignore")
        self.folder = tempfile.TemporaryDirectory()
        self.flags = dict.fromkeys(FLAGS, False)
        self.weight = self.moment = self.gradient = np.zeros(2)
        self.key, self.rows, self.bound, self.fed = LONGEST, None, set(), None

    def teardown(self) -> None:
        self.folder.cleanup()
        self.quiet.__exit__(None, None, None)

    @initialize(count=st.sampled_from([1, 2]))
    def create(self, count: int) -> None:
        self.contexts = [mx.cpu(index) for index in range(count)]
        self.module = mx.mod.BucketingModule(sym_gen, LONGEST, context=self.contexts)

    def attempt(self, operation: str, call) -> bool:
        """Run ``call`` as the table says: True when it was allowed."""
        row = LIFE_CYCLE[operation]
        missing = [flag for flag in FLAGS if flag in row.needs and not self.flags[flag]]
        if not missing:
            call()
            self.flags.update(dict.fromkeys(row.gives, True))
            return True
        with pytest.raises(AssertionError) as caught:
            call()
        assert caught.value.clause in {STEPS[flag].clause for flag in missing}
        return False

    # --- binding ---------------------------------------------------------------------------------

    @rule(rows=ROWS, train=st.booleans(), inputs=st.booleans(), force=st.booleans())
    def bind(self, rows, train, inputs, force) -> None:
        inputs = inputs and train
        self.module.bind(
            described(LONGEST, rows), for_training=train, inputs_need_grad=inputs, force_rebind=force
        )
        if force or not self.flags["binded"]:
            self.flags.update(binded=True, for_training=train, inputs_need_grad=inputs)
            self.key, self.rows, self.bound, self.fed = LONGEST, rows, {LONGEST}, None
            self.gradient = np.zeros(2)

    @rule(rows=ROWS)
    def bind_in_vain(self, rows) -> None:
        with pytest.raises(ValueError, match=r"^Data provided by "):
            self.module.bind([("x", (rows, LONGEST, 2))], force_rebind=True)

    @rule(key=KEYS, rows=ROWS)
    def switch(self, key, rows) -> None:
        new = key not in self.bound
        operation = "bind to a shared module" if new else "switch_bucket"
        if self.attempt(operation, lambda: self.module.switch_bucket(key, described(key, rows))):
            if new:
                self.bound.add(key)
            self.key, self.rows, self.fed = key, self.module.data_shapes[0].shape[0], None

    @rule(key=KEYS, rows=ROWS)
    def prepare(self, key, rows) -> None:
        operation = "bind to a shared module" if key not in self.bound else "prepare"
        if self.attempt(operation, lambda: self.module.prepare(batch(key, rows)[0])):
            self.bound.add(key)

    @precondition(lambda self: self.flags["params_initialized"] and self.flags["binded"])
    @rule(rows=ROWS)
    def strange_buckets_are_refused(self, rows) -> None:
        strange, _ = batch(LONGEST + 5, rows)
        nameless = mx.io.DataBatch(strange.data)
        for call in (self.module.forward, self.module.prepare):
            with pytest.raises(mx.MXNetError):
                call(strange)
            with pytest.raises(TypeError):
                call(nameless)

    # --- parameters ------------------------------------------------------------------------------

    @rule(value=st.integers(-3, 3))
    def set_params(self, value) -> None:
        given = {"fc_weight": mx.nd.array([[value, value]])}
        if self.attempt("set_params", lambda: self.module.set_params(given, {})):
            self.weight = np.array([value, value])

    @rule(value=st.integers(-3, 3), force=st.booleans())
    def init_params(self, value, force) -> None:
        done = self.flags["params_initialized"] and not force
        call = lambda: self.module.init_params(mx.init.Constant(value), force_init=force)  # noqa: E731
        if done:
            call()
        elif self.attempt("init_params", call):
            self.weight = np.array([value, value])

    @precondition(lambda self: self.flags["binded"])
    @rule(missing=st.booleans())
    def set_params_in_vain(self, missing) -> None:
        with pytest.raises(mx.MXNetError):
            self.module.set_params({"fc_weight": mx.nd.ones((1, 3))}, {}, allow_missing=missing)

    # --- computation -----------------------------------------------------------------------------

    @rule(key=KEYS, rows=ROWS)
    def forward(self, key, rows) -> None:
        made, total = batch(key, rows)
        if self.attempt("forward", lambda: self.module.forward(made)):
            self.bound.add(key)
            self.key, self.rows, self.fed = key, rows, total
            outputs = self.module.get_outputs()[0]
            assert outputs.shape == (rows, 1)
            assert outputs.asnumpy().sum() == total @ self.weight

    @rule()
    def backward(self) -> None:
        ready = all(self.flags[flag] for flag in LIFE_CYCLE["backward"].needs)
        if ready and self.fed is None:
            return
        if self.attempt("backward", self.module.backward):
            self.gradient = self.fed
            if self.flags["inputs_need_grad"]:
                (found,) = self.module.get_input_grads()
                assert (found.asnumpy() == self.weight).all()

    @rule(force=st.booleans())
    def init_optimizer(self, force) -> None:
        first = force or not self.flags["optimizer_initialized"]
        options = {"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0}
        done = self.attempt(
            "init_optimizer",
            lambda: self.module.init_optimizer(optimizer_params=options, force_init=force),
        )
        if done and first:
            self.moment = np.zeros(2)

    @rule()
    def update(self) -> None:
        if self.attempt("update", self.module.update):
            self.moment = self.moment - self.gradient
            self.weight = self.weight + self.moment

    # --- files -----------------------------------------------------------------------------------

    @rule()
    def save_and_go_on_from_there(self) -> None:
        """Save, and continue with a module loaded from the files."""
        states = self.flags["optimizer_initialized"]
        prefix = str(Path(self.folder.name) / "net")
        saved = self.attempt(
            "save_checkpoint",
            lambda: self.module.save_checkpoint(prefix, 1, save_optimizer_states=states),
        )
        if not saved:
            return
        self.module = mx.mod.BucketingModule.load(
            prefix, 1, sym_gen, LONGEST, load_optimizer_states=states, context=self.contexts
        )
        self.flags = {**dict.fromkeys(FLAGS, False), "params_initialized": True}
        self.fed, self.bound, self.key = None, set(), LONGEST
        if states:
            self.bind(4, train=True, inputs=False, force=False)
            options = {"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0}
            self.module.init_optimizer(optimizer_params=options)
            self.flags["optimizer_initialized"] = True

    # --- what always holds -----------------------------------------------------------------------

    @invariant()
    def flags_bucket_and_weight_are_those_of_the_model(self) -> None:
        if not hasattr(self, "module"):
            return
        assert {flag: getattr(self.module, flag) for flag in FLAGS} == self.flags
        assert self.module._curr_bucket_key == self.key
        if self.flags["binded"]:
            assert self.module.data_shapes == described(self.key, self.rows)
            assert {key for key, module in self.module._buckets.items() if module.binded} == self.bound
        if self.flags["params_initialized"]:
            held = [self.module.get_params()[0]["fc_weight"]]
            for module in self.module._buckets.values():
                if module.binded:
                    held += [executor.arg_dict["fc_weight"] for executor in module._exec_group.execs]
            for array in held:
                assert array.asnumpy().ravel().tolist() == self.weight.tolist()


TestBuckets = pytest.mark.clause(
    "Bucketing/default-key", "Bucketing/parameters", "Bucketing/forward", "Bucketing/switch",
    "Bucketing/prepare", "Bucketing/batch-key", "Bucketing/failed-switch", "Bucketing/rebind",
    "Bucketing/params", "Module/params-reach-store", "Bucketing/optimizer", "Bucketing/checkpoint", "Module/needs-bind",
    "Module/needs-params", "Module/needs-optimizer", "Module/needs-training", "Module/failed-bind",
    "Module/params-atomic",
)(Buckets.TestCase)
TestBuckets.settings = settings(stateful_step_count=30)
