"""An update that fails in the middle: what optimizers of the package and of users hold is as before, bit by bit."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.optimizer.updater import Updater

OWN = sorted(
    name for name, kind in mx.optimizer.Optimizer.opt_registry.items()
    if kind.__module__.startswith("refimpl.optimizer.")
)
SETTINGS: dict[str, dict[str, Any]] = {
    "sgd": {"momentum": 0.5}, "nag": {"momentum": 0.5}, "lars": {"momentum": 0.5}, "dcasgd": {"momentum": 0.5},
    "lbsgd": {"momentum": 0.5, "batch_scale": 2}, "signum": {"momentum": 0.5},
}


class Failure(Exception):
    """What a user's optimizer raises."""


class Noting(mx.optimizer.Optimizer):
    """Keeps NumPy arrays wherever a user may, writes them in place, and fails at a parameter that it is told."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.totals = np.zeros(3)
        self.nested: dict[str, Any] = {"steps": [np.zeros(2), {"last": np.zeros(2)}], "names": []}
        self.calls = 0
        self.fails_at: Any = None

    def create_state(self, index: Any, weight: Any) -> Any:
        return {"mean": np.zeros(weight.shape), "more": {"count": np.zeros(1), "array": mx.nd.zeros(weight.shape)}}

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_count(index)
        self.calls += 1
        self.totals += 1
        self.nested["steps"][0] += 2
        self.nested["steps"][1]["last"][:] = self.calls
        self.nested["names"].append(index)
        self.nested[f"step {self.calls}"] = True
        state["mean"] += grad.asnumpy()
        state["more"]["count"] += 1
        state["more"]["array"][:] = grad
        state["new"] = self.calls
        weight -= grad
        if index == self.fails_at:
            raise Failure

    update_multi_precision = update


def content(thing: Any) -> Any:
    """What a thing holds, in values that == compares."""
    if isinstance(thing, (mx.nd.NDArray, np.ndarray)):
        return (thing if isinstance(thing, np.ndarray) else thing.asnumpy()).tobytes()
    if isinstance(thing, dict):
        return {key: content(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [content(value) for value in thing]
    if isinstance(thing, (Updater, mx.optimizer.Optimizer, mx.lr_scheduler.LRScheduler)):
        return content(vars(thing))
    return thing


def stored(optimizer: mx.optimizer.Optimizer, *keys: str) -> Any:
    store = mx.kv.create("local")
    store.init(list(keys), [mx.nd.ones((2,)) for _ in keys])
    store.set_optimizer(optimizer)
    return store


def held(store: Any) -> Any:
    return content([store._stored, store._updater])


# --- optimizers of users ---------------------------------------------------------------------------


@pytest.mark.clause("KVStore/atomic")
@pytest.mark.parametrize("call", ["push", "pushpull"])
@pytest.mark.parametrize("steps", [0, 2])
def test_a_push_in_which_a_users_optimizer_fails_changes_nothing(call: str, steps: int) -> None:
    store = stored(Noting(), "a", "b")
    gradients, out = [mx.nd.array([1, 2]), mx.nd.array([3, 4])], [mx.nd.zeros((2,)), mx.nd.zeros((2,))]
    for _ in range(steps):
        store.push(["a", "b"], gradients)
    optimizer = store._updater.optimizer
    optimizer.fails_at = "b"
    before, arrays = held(store), (optimizer.totals, optimizer.nested["steps"][1]["last"])
    with pytest.raises(Failure):
        if call == "push":
            store.push(["a", "b"], gradients)
        else:
            store.pushpull(["a", "b"], gradients, out=out)
    assert held(store) == before
    assert content(out) == content([mx.nd.zeros((2,))] * 2)
    assert arrays[0] is optimizer.totals
    assert arrays[1] is optimizer.nested["steps"][1]["last"]
    optimizer.fails_at = None
    store.push(["a", "b"], gradients)
    assert optimizer.calls == 2 * (steps + 1)
    assert held(store) != before


@pytest.mark.clause("Module/atomic")
@pytest.mark.parametrize(("contexts", "kvstore"), [(1, None), (2, "local"), (2, "device"), (2, "summing")])
@pytest.mark.parametrize("steps", [0, 2])
def test_an_update_in_which_a_users_optimizer_fails_changes_nothing(
    contexts: int, kvstore: str | None, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kvstore == "summing":
        monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
        kvstore = "local"
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
    module = mx.mod.Module(net, context=[mx.cpu(number) for number in range(contexts)])
    module.bind([("data", (4, 3))], [("softmax_label", (4,))])
    module.init_params(mx.init.One())
    optimizer = Noting(rescale_grad=0.25)
    module.init_optimizer(kvstore=kvstore, optimizer=optimizer)
    batch = mx.io.DataBatch([mx.nd.ones((4, 3))], [mx.nd.array([0, 1, 1, 1])])
    for _ in range(steps):
        module.forward_backward(batch)
        module.update()
    module.forward_backward(batch)

    def everything() -> Any:
        group, store = module._exec_group, module._kvstore
        parts = [group.param_arrays, group.grad_arrays, module._updater]
        return content(parts + ([store._stored, store._updater] if store else []))

    on_store = module._update_on_kvstore
    optimizer.fails_at = module._exec_group.param_names[-1] if on_store else contexts * 2 - 1
    before, calls = everything(), optimizer.calls
    with pytest.raises(Failure):
        module.update()
    assert everything() == before
    optimizer.fails_at = None
    module.update()
    assert optimizer.calls == calls + 2 * (1 if on_store else contexts)
    assert everything() != before


class Drifting(mx.lr_scheduler.LRScheduler):
    """A user's scheduler that writes an array of its own at each call."""

    def __init__(self) -> None:
        super().__init__(0.5)
        self.rates = np.zeros(4)

    def __call__(self, num_update: int) -> float:
        self.rates += num_update
        return self.base_lr


def _scheduled() -> mx.optimizer.Optimizer:
    return mx.optimizer.SGD(lr_scheduler=Drifting())


def _derived() -> mx.optimizer.Optimizer:
    class Mine(mx.optimizer.SGD):
        def _get_lrs(self, indices: Any) -> Any:
            self.seen[:] += 1
            return super()._get_lrs(indices)

    made = Mine(learning_rate=0.5)
    made.seen = np.zeros(2)
    return made


def _replaced() -> mx.optimizer.Optimizer:
    """A function of the user's stands in the place of a method, and writes an attribute."""
    made = mx.optimizer.SGD(learning_rate=0.5)
    made.seen, rule = np.zeros(2), made._get_lrs

    def rates(indices: Any) -> Any:
        made.seen += 1
        return rule(indices)

    made._get_lrs = rates
    return made


class Counting(mx.optimizer.Optimizer):
    """A user's optimizer without attributes of its own; its states are NumPy arrays."""

    def create_state(self, index: Any, weight: Any) -> Any:
        return np.zeros(weight.shape)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        state += 1
        weight -= grad


@pytest.mark.clause("KVStore/atomic")
@pytest.mark.parametrize("make", [_scheduled, _derived, _replaced, Counting])
def test_objects_of_users_in_an_optimizer_get_their_arrays_back(make: Any) -> None:
    store = stored(make(), "a", "b")
    store.push(["a", "b"], [mx.nd.ones((2,)), mx.nd.ones((2,))])
    assert store._updater.changed_by(["a"]) is None
    before = held(store)
    with pytest.raises(mx.MXNetError):
        store.push(["a", "b"], [mx.nd.ones((2,)), mx.nd.ones((3,))])
    assert held(store) == before
    store.push(["a", "b"], [mx.nd.ones((2,)), mx.nd.ones((2,))])
    assert held(store) != before


@pytest.mark.clause("KVStore/atomic")
def test_an_updater_with_attributes_of_users_is_searched() -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    assert updater.changed_by([]) is not None
    updater.history = [mx.nd.zeros((2,))]
    assert updater.changed_by([]) is None


# --- the package's own optimizers ------------------------------------------------------------------


@pytest.mark.clause("KVStore/atomic")
@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("scheduled", [False, True])
def test_what_an_optimizer_says_it_changes_is_all(name: str, steps: int, *, scheduled: bool) -> None:
    """The gradient of the second key has another shape, which the rule refuses after the step of the first key."""
    settings = dict(SETTINGS.get(name, {}), wd=0.0)
    if scheduled:
        settings["lr_scheduler"] = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.5)
    optimizer = mx.optimizer.create(name, **settings)
    shapes = {"a": (2, 1), "b": (2, 1)}
    store = mx.kv.create("local")
    store.init([*shapes], [mx.nd.ones(shape) for shape in shapes.values()])
    store.set_optimizer(optimizer)
    good, bad = [mx.nd.ones((2, 1)), mx.nd.ones((2, 1))], [mx.nd.ones((2, 1)), mx.nd.ones((3, 1))]
    for _ in range(steps):
        store.push([*shapes], good)
    assert store._updater.changed_by([*shapes]) is not None
    before = held(store)
    with pytest.raises(Exception, match="shape"):
        store.push([*shapes], bad)
    assert held(store) == before
    store.push([*shapes], good)
    assert held(store) != before


@pytest.mark.clause("Updater/failed")
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_a_failed_step_is_not_counted_and_those_before_it_are(name: str) -> None:
    optimizer = mx.optimizer.create(name)
    updater = mx.optimizer.get_updater(optimizer)
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    for key in (0, 1):
        with pytest.raises(mx.MXNetError):
            updater(key, mx.nd.ones((3,)), mx.nd.ones((2,)))
        assert optimizer._index_update_count == {0: 1}
        assert optimizer.num_update == 1
    updater(1, mx.nd.ones((2,)), mx.nd.ones((2,)))
    assert optimizer._index_update_count == {0: 1, 1: 1}


@pytest.mark.clause("KVStore/atomic")
def test_counts_of_a_context_that_was_never_seen_go_again() -> None:
    store = mx.kv.create("device")
    store.init(["a", "b"], [mx.nd.ones((2,), ctx=mx.cpu(3))] * 2)
    store.set_optimizer(mx.optimizer.SGD())
    before = held(store)
    with pytest.raises(mx.MXNetError):
        store.push(["a", "b"], [mx.nd.ones((2,), ctx=mx.cpu(3)), mx.nd.ones((3,), ctx=mx.cpu(3))])
    assert held(store) == before
    assert [*store._updater.optimizer._all_index_update_counts] == [0]


@pytest.mark.clause("KVStore/atomic")
def test_a_push_copies_the_states_of_its_keys_only() -> None:
    many = 1 << 18
    store = mx.kv.create("local")
    store.init(["large", "small"], [mx.nd.ones((many,)), mx.nd.ones((2,))])
    store.set_optimizer(mx.optimizer.SGD(momentum=0.5))
    store.push(["large", "small"], [mx.nd.ones((many,)), mx.nd.ones((2,))])
    large, small = mx.nd.ones((many,)), mx.nd.ones((2,))
    mx.nd.waitall()
    peaks = []
    for key, gradient in (("small", small), ("large", large)):
        store.push(key, gradient)
        tracemalloc.start()
        try:
            store.push(key, gradient)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[0] < 100_000
    assert peaks[1] > 2 * 4 * many  # the weight and its momentum: the measure sees copies
