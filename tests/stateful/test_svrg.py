"""The life of an SVRGModule as a machine: random operations in random order, beside a dozen lines of NumPy.

Full passes over padded data, steps on batches of any size, updates that are repeated, evaluation in between, other
shapes, new bindings, new optimizers, checkpoints, epochs of ``fit``: on one to three contexts, with each kind of
store. The weights and the gradients are those of the model after every operation.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule
from tests.unit.svrg_nets import network

RATE, MOMENTUM, SCALE = 1 / 64, 0.5, 1 / 4  # numbers that the kernel's float32 parameters hold exactly
POINTS = np.random.RandomState(3).randint(-2, 3, (12, 2)).astype(float)
TARGETS = np.random.RandomState(4).randint(-2, 3, 12).astype(float)
COUNTS = st.integers(3, 6)


def slope(weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    design = np.c_[POINTS[rows], np.ones(len(rows))]
    return design.T @ (design @ weights - TARGETS[rows])


class Model:
    """SVRG with momentum on least squares."""

    def __init__(self) -> None:
        self.weights, self.gradient = np.array([1.0, 1, 0]), np.zeros(3)
        self.restart()

    def restart(self) -> None:
        """A new optimizer."""
        self.rolling, self.snapshot = np.zeros(3), None

    def full_pass(self, rows: np.ndarray) -> None:
        self.snapshot, self.mean = self.weights, slope(self.weights, rows) / len(rows)

    def backward(self, rows: np.ndarray) -> None:
        self.gradient = slope(self.weights, rows) - slope(self.snapshot, rows) + self.mean * len(rows)

    def update(self) -> None:
        self.rolling = MOMENTUM * self.rolling - RATE * SCALE * self.gradient
        self.weights = self.weights + self.rolling


def array(values: np.ndarray) -> mx.nd.NDArray:
    return mx.nd.array(values, dtype="float64")


def batch(rows: np.ndarray) -> mx.io.DataBatch:
    return mx.io.DataBatch([array(POINTS[rows])], [array(TARGETS[rows])])


def iterator(rows: np.ndarray, size: int) -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(array(POINTS[rows]), array(TARGETS[rows]), size, label_name="target")


def batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [np.resize(np.r_[rows[start:], rows], size) for start in range(0, len(rows), size)]


ROWS = st.lists(st.integers(0, 11), min_size=3, max_size=6).map(np.array)
DATA = st.lists(st.integers(0, 11), min_size=1, max_size=9).map(np.array)


class SVRGLife(RuleBasedStateMachine):
    """A module beside the model."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = warnings.catch_warnings()
        self.quiet.__enter__()
        warnings.simplefilter("ignore")
        self.level = logging.root.level
        logging.root.setLevel(logging.ERROR)
        self.folder = tempfile.TemporaryDirectory()
        self.prefix = str(Path(self.folder.name) / "net")

    def teardown(self) -> None:
        self.folder.cleanup()
        logging.root.setLevel(self.level)
        self.quiet.__exit__(None, None, None)

    @initialize(contexts=st.integers(1, 3), store=st.sampled_from(["local", "device", None, "made"]), size=COUNTS)
    def begin(self, contexts, store, size) -> None:
        # without a store contexts would go apart, which is another algorithm
        self.store = store if store or contexts == 1 else "local"
        self.contexts = [mx.cpu(index) for index in range(contexts)]
        self.model = Model()
        self.module = SVRGModule(network(), label_names=["target"], context=self.contexts, update_freq=2)
        self.bind(size)
        self.module.init_params(mx.init.One())
        self.install()

    def shapes(self, size: int) -> list:
        return [
            [mx.io.DataDesc("data", (size, 2), "float64")], [mx.io.DataDesc("target", (size,), "float64")],
        ]

    def bind(self, size: int) -> None:
        self.module.bind(*self.shapes(size), force_rebind=True)

    def install(self, **settings) -> None:
        store = mx.kv.create("device") if self.store == "made" else self.store
        parameters = {"learning_rate": RATE, "momentum": MOMENTUM, "rescale_grad": SCALE}
        self.module.init_optimizer(store, optimizer_params=parameters, **settings)

    # --- operations ------------------------------------------------------------------------------

    @rule(rows=DATA, size=COUNTS)
    def full_pass(self, rows, size) -> None:
        self.module.update_full_grads(iterator(rows, size))
        self.model.full_pass(rows)

    @rule(rows=ROWS, told=st.sampled_from([True, None]))
    def step(self, rows, told) -> None:
        self.module.forward(batch(rows), is_train=told)
        if self.model.snapshot is None:
            with pytest.raises(AssertionError) as caught:
                self.module.backward()
            assert caught.value.clause == "SVRG/needs-full-pass"
            return
        self.module.backward()
        self.model.backward(rows)
        self.update()

    @rule()
    def update(self) -> None:
        self.module.update()
        self.model.update()

    @rule(rows=ROWS)
    def evaluate(self, rows) -> None:
        found = self.module.predict(iterator(rows, 3)).asnumpy().ravel()
        np.testing.assert_allclose(found, np.c_[POINTS[rows], np.ones(len(rows))] @ self.model.weights, rtol=1e-9)

    @rule(size=COUNTS)
    def reshape(self, size) -> None:
        self.module.reshape(*self.shapes(size))

    @rule(size=COUNTS)
    def rebind(self, size) -> None:
        self.bind(size)
        self.model.snapshot, self.model.gradient = None, np.zeros(3)

    @rule(size=COUNTS)
    def new_optimizer(self, size) -> None:
        self.module.reshape(*self.shapes(size))
        self.install(force_init=True)
        self.model.restart()

    @rule()
    def optimizer_in_vain(self) -> None:
        self.module.init_optimizer(optimizer="adam")

    @rule(values=st.lists(st.integers(-2, 2), min_size=3, max_size=3))
    def set_params(self, values) -> None:
        self.module.set_params({"fc_weight": array(np.array([values[:2]])), "fc_bias": array(np.array(values[2:]))}, {})
        self.model.weights = np.array(values, float)

    @rule(size=COUNTS)
    def go_on_from_a_file(self, size) -> None:
        self.module.save_checkpoint(self.prefix, 1, save_optimizer_states=True)
        self.module = SVRGModule.load(
            self.prefix, 1, load_optimizer_states=True, label_names=["target"], context=self.contexts, update_freq=2
        )
        self.bind(size)
        self.install()
        self.model.snapshot, self.model.gradient = None, np.zeros(3)

    @rule(rows=DATA, size=COUNTS, epoch=st.integers(0, 3), epochs=st.integers(1, 2))
    def fit(self, rows, size, epoch, epochs) -> None:
        data = iterator(rows, size)
        self.module.fit(data, eval_metric="mse", begin_epoch=epoch, num_epoch=epoch + epochs)
        for number in range(epoch, epoch + epochs):
            if number % 2 == 0 or self.model.snapshot is None:
                self.model.full_pass(rows)
            for part in batches(rows, size):
                self.model.backward(part)
                self.model.update()

    # --- what always holds -----------------------------------------------------------------------

    @invariant()
    def weights_and_gradients_are_those_of_the_model(self) -> None:
        if not hasattr(self, "module"):
            return
        group = self.module._exec_group
        values = self.module.get_params()[0]
        held = np.r_[values["fc_weight"].asnumpy().ravel(), values["fc_bias"].asnumpy()]
        np.testing.assert_allclose(held, self.model.weights, rtol=1e-9, atol=1e-9)
        total = np.zeros(3)
        for executor in group.execs:
            grads = executor.grad_dict
            total += np.r_[grads["fc_weight"].asnumpy().ravel(), grads["fc_bias"].asnumpy()]
            for name in ("fc_weight", "fc_bias"):
                np.testing.assert_array_equal(executor.arg_dict[name].asnumpy(), values[name].asnumpy())
        np.testing.assert_allclose(total, self.model.gradient, rtol=1e-9, atol=1e-7)


TestSVRGLife = pytest.mark.clause(
    "SVRG/step", "SVRG/full-gradient", "SVRG/few-rows", "SVRG/needs-full-pass", "SVRG/batch-size", "SVRG/rebind",
    "SVRG/load", "SVRG/fit", "SVRG/init-optimizer",
)(SVRGLife.TestCase)
TestSVRGLife.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
