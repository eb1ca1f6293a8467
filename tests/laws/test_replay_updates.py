"""Updates by a table: their bits, counts and states are those of one parameter after another, whatever happens."""

from __future__ import annotations

import contextlib
import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example as shown
from hypothesis import given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.engine import fast_road, profiling_hook
from refimpl.kernels.foundation import plain_kernels
from refimpl.kernels.foundation.loop import python_loops
from refimpl.kernels.tuned.native_calls import KNOWN
from refimpl.replay import updates
from refimpl.replay.update_calls import Walk

from .bound import WAYS, failed_array

pytestmark = [
    pytest.mark.skipif(fast_road.road is None or not KNOWN, reason="machine code without checks makes the calls"),
    pytest.mark.usefixtures("nothing_has_failed"),  # after a failure every update takes the usual path
]

SHAPES = {"a_weight": (3, 5), "b_bias": (1,), "c_gamma": (2, 1, 2), "d_weight": (4099,), "e_beta": (4,)}
FIXED = "e_beta"
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sgd", {"wd": 0.01}), "adam": ("adam", {"wd": 0.01}),
    "momentum": ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 2.0}),
}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "ccsgd": ("ccsgd", {"momentum": 0.5}), "adamax": ("adamax", {}), "rmsprop": ("rmsprop", {"clip_weights": 3.0}),
    "centred": ("rmsprop", {"centered": True}), "adagrad": ("adagrad", {}), "adagrad decays": ("adagrad", {"wd": 0.1}),
    "adadelta": ("adadelta", {"wd": 0.1}), "ftrl": ("ftrl", {"wd": 0.1}), "ftml": ("ftml", {}),
    "signum": ("signum", {"wd_lh": 0.1}), "sign": ("signum", {"momentum": 0.0}), "nag": ("nag", {"momentum": 0.5}),
    "nadam": ("nadam", {}), "lamb": ("lamb", {}), "lars": ("lars", {}), "dcasgd": ("dcasgd", {}),
}
STORES = (None, "local", "device", "summing")


class Training:
    """A module whose gradients are drawn, and which is updated in one of the two ways."""

    def __init__(self, way: str, rule: str, contexts: int, store: str | None, rates: dict[str, Any]) -> None:
        self.way, self.random = way, np.random.RandomState(5)
        net = mx.sym.Variable("data")
        for name, shape in SHAPES.items():
            net = mx.sym.broadcast_add(net, mx.sym.sum(mx.sym.Variable(name, shape=shape)))
        self.module = mx.mod.Module(
            mx.sym.make_loss(net), label_names=None, context=[mx.cpu(k) for k in range(contexts)],
            fixed_param_names=[FIXED],
        )
        self.module.bind([("data", (contexts, 1))])
        self.module.init_params(arg_params={name: self.drawn(name) for name in SHAPES})
        name, made = {**RULES, **OTHERS}[rule]
        with mock.patch.dict("os.environ", {"MXNET_UPDATE_ON_KVSTORE": "0"} if store == "summing" else {}):
            self.module.init_optimizer(
                mx.kv.create("local" if store == "summing" else store) if store else None, name, {**made, **rates}
            )

    def drawn(self, name: str) -> mx.nd.NDArray:
        return mx.nd.array(self.random.normal(size=SHAPES[name]))

    @property
    def updater(self) -> Any:
        return self.module._updater or self.module._kvstore._updater

    @property
    def group(self) -> Any:
        return self.module._exec_group

    def update(self, special: float = 0.0) -> None:
        for grads in self.group.grad_arrays:
            for grad in grads:
                if grad is not None:
                    values = self.random.normal(size=grad.shape)
                    values.reshape(-1)[-1] += special
                    grad[:] = values
        with WAYS[self.way]():
            self.module.update()

    def seen(self) -> Any:
        """Everything that an update changes."""
        weights = [[_bits(one) for one in copies] for copies in self.group.param_arrays]
        optimizer, store = self.updater.optimizer, self.module._kvstore
        kept = {key: _bits(array) for key, array in store._stored.items()} if store else None
        scheduler = getattr(optimizer.lr_scheduler, "__dict__", {})
        counts = optimizer._all_index_update_counts, optimizer._index_update_count, optimizer.num_update
        grads = [[_bits(one) for one in copies] for copies in self.group.grad_arrays]
        states = [(key, _bits(state)) for key, state in self.updater.states.items()]
        return weights, kept, grads, counts, scheduler, self.updater.states_synced, states


def _bits(value: Any) -> Any:
    """The bits of an array, or of those in a state; a NaN is like any other, because it has a sign by chance."""
    if isinstance(value, mx.nd.NDArray):
        numbers = value.asnumpy()
        numbers[np.isnan(numbers)] = np.nan
        return numbers.tobytes()
    return [*map(_bits, value)] if isinstance(value, (tuple, list)) else value


# --- what may happen between updates ---------------------------------------------------------------


def _set(**values: Any) -> Callable[[Training], None]:
    return lambda one: vars(one.updater.optimizer).update(values)


def _new_params(one: Training) -> None:
    one.module.set_params({name: one.drawn(name) for name in SHAPES}, {})


def _reloaded(one: Training) -> None:
    attributes = vars(one.updater.optimizer).values()
    known = not any(callable(value) for value in attributes if not isinstance(value, mx.lr_scheduler.LRScheduler))
    one.updater.set_states(one.updater.get_states(dump_optimizer=known))


def _other_states(one: Training) -> None:
    for index, state in one.updater.states.items():
        one.updater.states[index] = state.copy() if isinstance(state, mx.nd.NDArray) else state


def _other_memory(one: Training) -> None:
    for state in one.updater.states.values():
        for array in state if isinstance(state, tuple) else (state,):
            if array is not None:
                array._buffer = array.copy()._buffer


def _uneven(one: Training) -> None:
    counts = one.updater.optimizer._index_update_count
    if counts:
        counts[next(iter(counts))] += 3


def _forgotten(one: Training) -> None:
    """A parameter that is new to the updater."""
    if one.updater.states:
        one.updater.states.pop(next(iter(one.updater.states)))


def _rebound(one: Training) -> None:
    one.module.bind([("data", (2 * len(one.group.contexts), 1))], force_rebind=True)


def _multiplied(one: Training) -> None:
    one.updater.optimizer.lr_mult["a_weight"] = one.updater.optimizer.lr_mult.get("a_weight", 1.0) / 2


def _replaced(one: Training) -> None:
    optimizer = one.updater.optimizer
    rule = type(optimizer).update
    optimizer.update = lambda index, weight, grad, state: rule(optimizer, index, weight, grad * 2, state)
    optimizer.update_multi_precision = lambda *given: mx.optimizer.Optimizer.update_multi_precision(optimizer, *given)


def _pushed(one: Training) -> None:
    if one.module._kvstore is not None:
        one.module._kvstore.push("a_weight", one.drawn("a_weight"))


def _monitored(one: Training) -> None:
    one.module.install_monitor(mx.mon.Monitor(1))


HAPPENINGS: dict[str, Callable[[Training], Any]] = {
    "nothing": lambda one: None,
    "rate": _set(lr=0.25), "no rate": _set(lr=0.0), "rate below": _set(lr=-0.0), "scale": _set(rescale_grad=0.5),
    "clip": _set(clip_gradient=0.5), "no momentum": _set(momentum=0.0), "decay": _set(wd=0.5),
    "mixed": _set(multi_precision=True),
    "scheduler": lambda one: _set(lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.5))(one),
    "own scheduler": _set(lr_scheduler=lambda number: 1.0 / number),
    "multipliers": lambda one: one.updater.optimizer.set_lr_mult({"d_weight": 0.5, "b_bias": 2}),
    "decays": lambda one: one.updater.optimizer.set_wd_mult({"b_bias": 2.0}),
    "multiplier in place": _multiplied,
    "objects": _set(param_dict={0: mock.Mock(lr_mult=0.5, wd_mult=3.0)}),
    "parameters": _new_params, "states": _reloaded, "other states": _other_states,
    "other memory": _other_memory, "uneven counts": _uneven,
    "new parameter": _forgotten, "rebound": _rebound, "own rule": _replaced, "push": _pushed, "monitor": _monitored,
}


SCOPES: dict[str, Callable[[], Any]] = {
    "nothing": contextlib.nullcontext,
    "every quirk": lambda: mx.quirks("mxnet-1.9.1"),
    "no twins": plain_kernels,
    "Python": python_loops,
    "threads": lambda: mx.engine.use("threaded"),
    "profiler": lambda: mock.patch.object(profiling_hook, "imperative", mock.Mock()),
    "failure": failed_array,
    "record": mx.autograd.record,
}


def _agree(rule: str, contexts: int, store: str | None, steps: list[tuple], **rates: Any) -> int:
    """Update two modules in the two ways; how many updates went by a table."""
    both = [Training(way, rule, contexts, store, rates) for way in reversed(WAYS)]
    with mock.patch.object(Walk, "__call__", autospec=True, side_effect=Walk.__call__) as walked:
        for happening, scope, special in steps:
            for one in both:
                mx.random.seed(7)
                HAPPENINGS[happening](one)
                with SCOPES[scope]():
                    one.update(special)
            by_table, one_by_one = (one.seen() for one in both)
            assert by_table == one_by_one, (rule, contexts, store, happening, scope)
    return walked.call_count


STEPS = st.tuples(
    st.sampled_from(list(HAPPENINGS)), st.sampled_from(["nothing", *SCOPES]),
    st.sampled_from([0.0, 0.0, np.inf, np.nan]),
)
PLAIN = [("nothing", "nothing", 0.0)] * 3


@settings(max_examples=12)
@given(st.sampled_from(list(RULES)), st.sampled_from([1, 2, 7]), st.sampled_from(STORES), st.lists(STEPS, max_size=6))
@shown("sgd", 7, "local", PLAIN)
@shown("sgd", 7, "device", PLAIN)
@pytest.mark.clause("Updater/at-once", "KVStore/sum-order-local", "KVStore/sum-order-device")
def test_a_table_has_the_bits_of_one_parameter_after_another(rule, contexts, store, steps):
    _agree(rule, contexts, store, steps)


@pytest.mark.parametrize("happening", list(HAPPENINGS))
@pytest.mark.clause("Updater/at-once")
def test_nothing_that_happens_between_updates_is_missed(happening):
    steps = [("nothing", "nothing", 0.0), (happening, "nothing", np.nan), *PLAIN]
    _agree("momentum", 2, "local", steps)
    _agree("adam", 1, None, steps)


@pytest.mark.clause("Updater/at-once")
def test_parameters_with_other_states_take_the_usual_path():
    """A parameter that is new since momentum is 0 has no state, the others have one."""
    events = ("nothing", "no momentum", "new parameter")
    steps = [(event, "nothing", 0.0) for event in events]
    assert _agree("momentum", 2, "local", [*steps, *PLAIN]) == 1


@pytest.mark.heavy
@pytest.mark.parametrize("rule", list(OTHERS))
@settings(max_examples=12)
@given(st.sampled_from([1, 2, 7]), st.sampled_from(STORES), st.lists(STEPS, max_size=6))
@pytest.mark.clause("Updater/at-once")
def test_every_rule_has_the_bits_of_one_parameter_after_another(rule, contexts, store, steps):
    _agree(rule, contexts, store, PLAIN)
    _agree(rule, contexts, store, steps)


@pytest.mark.parametrize(("contexts", "store"), [(1, None), (3, None), (1, "device"), (2, "local"), (2, "summing")])
@pytest.mark.clause("Updater/at-once")
def test_plain_training_goes_by_tables(contexts, store):
    for rule in RULES:
        assert _agree(rule, contexts, store, PLAIN) == 2


@pytest.mark.clause("Updater/at-once", "Optimizer/learning-rate")
def test_schedulers_are_asked_as_often_as_the_rate_may_change():
    def scheduled(one):
        if one.updater.optimizer.lr_scheduler is None:
            one.updater.optimizer.lr_scheduler = mx.lr_scheduler.MultiFactorScheduler([2, 3], 0.5, base_lr=0.5)

    with mock.patch.dict(HAPPENINGS, scheduled=scheduled):
        for rule in RULES:
            assert _agree(rule, 2, "local", [("scheduled", "nothing", 0.0)] * 4) == 3


@pytest.mark.parametrize(("happening", "scope"), [
    *[(name, "nothing") for name in ("own scheduler", "objects", "own rule")],
    *[("nothing", name) for name in SCOPES if name != "nothing"],
])
@pytest.mark.clause("Updater/at-once")
def test_what_looks_on_or_replaces_a_part_never_goes_by_tables(happening, scope):
    assert _agree("momentum", 2, "local", [(happening, scope, 0.0)] * 2) == 0


FAILURES = {
    "no memory for a state": (mx.optimizer.SGD, "create_state_multi_precision", 3, MemoryError),
    "no memory for the table": (Walk, "__init__", 1, MemoryError),
    "interrupted before it": (Walk, "__call__", 1, KeyboardInterrupt),
    "no table": (Walk, "__init__", 1, updates.Unfit),
}


@pytest.mark.parametrize("failure", list(FAILURES))
@pytest.mark.parametrize(("contexts", "store"), [(1, None), (2, "local"), (2, "summing")])
@pytest.mark.clause("Updater/at-once", "Updater/failed")
def test_an_update_that_fails_changes_nothing(failure, contexts, store):
    """The first one, which makes the states, and the second, which makes the table."""
    kind, name, number, error = FAILURES[failure]
    one, two = (Training("table", "momentum", contexts, store, {}) for _ in range(2))
    if kind is Walk:
        one.update()
        two.update()
    before = one.seen()[0], one.seen()[3:]
    original, calls = getattr(kind, name), itertools.count(1)

    def failing(*given, **named):
        if next(calls) == number:
            raise error
        return original(*given, **named)

    with mock.patch.object(kind, name, failing):
        if error is updates.Unfit:  # one parameter is updated after another
            one.update()
        else:
            with pytest.raises(error):
                one.update()
            assert (one.seen()[0], one.seen()[3:]) == before
            one.random, two.random = (np.random.RandomState(6) for _ in range(2))
            one.update()
    two.update()
    assert one.seen() == two.seen()


@pytest.mark.clause("Updater/at-once")
def test_an_update_that_is_interrupted_after_it_was_made_counts():
    one, two = (Training("table", "momentum", 2, "local", {}) for _ in range(2))
    one.update()
    two.update()
    walk = Walk.__call__

    def interrupted(self):
        walk(self)
        raise KeyboardInterrupt

    with mock.patch.object(Walk, "__call__", interrupted), pytest.raises(KeyboardInterrupt):
        one.update()
    two.update()
    assert one.seen() == two.seen()


@pytest.mark.clause("Updater/at-once")
def test_subclasses_and_updaters_of_the_users_never_go_by_tables():
    class Mine(mx.optimizer.SGD):
        pass

    with mock.patch.object(updates, "Walk") as walked:
        for made in (Mine(), mx.optimizer.SGD(rescale_grad=1.0)):
            one = Training("table", "sgd", 2, "local", {})
            one.module._kvstore.set_optimizer(made)
            if type(made) is mx.optimizer.SGD:
                inner = one.module._kvstore._updater
                one.module._kvstore.set_updater(lambda *given, inner=inner: inner(*given))
            one.module.update()
    walked.assert_not_called()


@pytest.mark.clause("Updater/at-once")
def test_arrays_that_overlap_never_go_by_tables():
    whole = mx.nd.arange(6)
    weights, grads = [[whole[0:3]], [whole[2:5]]], [[mx.nd.ones((3,))], [mx.nd.ones((3,))]]
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    updater([0, 1], [mx.nd.zeros((3,))] * 2, [mx.nd.ones((3,))] * 2)
    apart = [[whole[0:3]], [whole[3:6]]]
    for turn in range(3):
        assert not updates.is_updated_on_devices(updater, weights, grads, 1)
        assert updates.is_updated_on_devices(updater, apart, grads, 1) == (turn > 0)
    assert whole.asnumpy().tolist() == [-2, -1, 0, 1, 2, 3]
    weights[0], grads[0] = [mx.nd.ones((3,))], [whole[0:3]]
    for _ in range(3):
        assert not updates.is_updated_on_devices(updater, weights, grads, 1)


@pytest.mark.clause("Updater/at-once")
def test_a_plan_keeps_no_weights_alive():
    one = Training("table", "momentum", 1, None, {})
    for _ in range(2):
        one.update()
    (plan,) = updates._PLANS[one.updater].made.values()
    left = weakref.ref(one.group.param_arrays[0][0])
    assert plan.fits(one.updater)
    one.module._exec_group = one.module._host_copy = None
    gc.collect()
    assert left() is None
    assert not plan.fits(one.updater)


@pytest.mark.clause("Updater/at-once")
def test_an_updater_forgets_old_plans(monkeypatch):
    monkeypatch.setattr(updates, "LIMIT", 3)
    updater, grad = mx.optimizer.get_updater(mx.optimizer.SGD()), mx.nd.ones((2,))
    updater(0, grad, mx.nd.ones((2,)))
    for _ in range(7):
        weights = [[mx.nd.ones((2,))]]
        assert [updates.is_updated_on_devices(updater, weights, [[grad]], 1) for _ in range(2)][1]
        assert len(updates._PLANS[updater].made) <= 3
