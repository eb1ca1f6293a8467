"""Gradients that go straight to their kernels: bits and errors are those of the usual path, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.autograd import tape_graph
from refimpl.engine import fast_road
from refimpl.executor.steps import BackwardStep
from refimpl.kernels import distinct, get
from refimpl.ndarray import operators
from refimpl.oracle.pages.calls import gradient_inputs, has_gradient
from refimpl.oracle.pages.draws import Example, SeededDraw, example
from refimpl.replay.gradients import GRADIENTS
from refimpl.replay.tapes import TAPES

from .test_replay_array_calls import EVENTS
from .test_replay_programs import FIRST_TYPE

pytestmark = [
    pytest.mark.skipif(fast_road.road is None, reason="there is machine code without checks only in the usual lane"),
    pytest.mark.usefixtures("nothing_has_failed"),  # after a failure nothing is replayed
]
OPERATORS = [op.name for op in distinct() if op.cases is not None and op.has_gradient]


def _forget() -> None:
    GRADIENTS.forget()
    TAPES.forget()


def _seen(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # errors of any type are compared
        return type(error), str(error)


def _gradients(of: Example, *, turned: bool) -> list[Any]:
    """The bits of all gradients of an operator's outputs, for elements in their order or ``turned`` around."""
    mx.random.seed(3)
    given_ = [a.reshape(-1)[::-1].reshape(a.shape) if turned else a for a in of.arrays]
    arrays = [mx.nd.array(a, dtype=a.dtype) for a in given_]
    marked = [array for array, is_wanted in zip(arrays, gradient_inputs(of), strict=True) if is_wanted]
    for array in marked:
        array.attach_grad()
    with mx.autograd.record():
        made = operators.make_function(of.op, of.op.name)(*arrays, **of.params)
    outputs = made if isinstance(made, list) else [made]
    heads = [mx.nd.array(np.arange(out.size).reshape(out.shape) / 4 - 1, dtype=out.dtype) for out in outputs]
    mx.autograd.backward(outputs, heads)
    return [array.grad.asnumpy().tobytes() for array in marked]


def _agrees(name: str, seed: int, dtype: str) -> bool:
    """Compare the usual path with a third gradient of the same key; whether that went straight to its kernels."""
    try:
        of = example(get(name), SeededDraw(seed), dtype)
    except mx.MXNetError:
        return False  # not every operator takes every type
    if not has_gradient(of):
        return False
    _forget()
    expected = _seen(lambda: _gradients(of, turned=True))
    _forget()
    for _ in range(2):
        _seen(lambda: _gradients(of, turned=False))
    with mock.patch.object(BackwardStep, "run", autospec=True, side_effect=BackwardStep.run) as usual:
        assert _seen(lambda: _gradients(of, turned=True)) == expected, f"{of}"
    return not usual.called and any(GRADIENTS.made.values())


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", FIRST_TYPE)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_gives_its_gradients_again(name: str, dtype: str) -> None:
    for seed in range(2):
        _agrees(name, seed, dtype)


@pytest.mark.parametrize("name", ["broadcast_add", "exp", "Activation", "transpose"])
def test_what_programs_use_most_goes_straight(name: str) -> None:
    assert any(_agrees(name, seed, "float32") for seed in range(4))


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a * b": lambda a, b: a * b,
    "(a + b) * a": lambda a, b: (a + b) * a,
    "a * a": lambda a, b: a * a,
    "relu": lambda a, b: mx.nd.Activation(a * b, act_type="relu"),
    "tanh": lambda a, b: (a / b).tanh(),
    "sum": lambda a, b: (a * b).sum(axis=0),
    "dropout": lambda a, b: mx.nd.Dropout(a * b, p=0.5),
    "softmax": lambda a, b: (a - b).softmax(),
    "first row": lambda a, b: (a * b)[0],
}

def _second_order(made: Any, a: Any, b: Any) -> None:
    """The gradient of a gradient."""
    with mx.autograd.record():
        (first,) = mx.autograd.grad(made, [a], create_graph=True, retain_graph=True)
    first.backward()


def _twice(made: Any, a: Any, b: Any) -> None:
    made.backward(retain_graph=True)
    made.backward()


WAYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "backward": lambda made, a, b: made.backward(),
    "inference": lambda made, a, b: made.backward(train_mode=False),
    "by b": lambda made, a, b: mx.autograd.grad(made, [b])[0].copyto(a.grad),
    "two heads": lambda made, a, b: mx.autograd.backward([made, made]),
    "twice": _twice,
    "second order": _second_order,
}

CALLS = st.tuples(
    st.sampled_from(list(EVENTS)), st.sampled_from(list(FUNCTIONS)), st.sampled_from(["float32", "float64", "float16"]),
    st.sampled_from(["write", "add", "null"]), st.sampled_from(list(WAYS)), st.integers(0, 9),
)


def _call(event: str, function: str, dtype: str, requirement: str, way: str, seed: int) -> Any:
    """One gradient while something happens."""
    values = np.random.RandomState(seed).randint(-9, 9, (2, 3, 7)) / 8.0
    values[0, 0, 0] = np.nan
    a, b = (mx.nd.array(v, dtype=dtype) for v in values)
    mx.random.seed(seed)
    a.attach_grad(grad_req=requirement)
    b.attach_grad()

    def run() -> None:
        with mx.autograd.record():
            made = FUNCTIONS[function](a, b)
        WAYS[way](made, a, b)

    with EVENTS[event]():
        problem = _seen(run)
    return problem, [_seen(lambda x=x: x.asnumpy().tobytes()) for x in (a.grad, b.grad) if x is not None]


@given(calls=st.lists(CALLS, min_size=1, max_size=8))
def test_nothing_that_happens_between_gradients_is_missed(calls: list[tuple]) -> None:
    expected = []
    for call in calls:
        _forget()
        expected.append(_call(*call))
    for _ in range(2):
        for _, *call in calls:
            _call("nothing", *call)
    for call, wanted in zip(calls, expected, strict=True):
        assert _call(*call) == wanted, call


def test_zeros_of_either_sign_are_not_the_same_parameter() -> None:
    _forget()
    a = mx.nd.ones((2,))
    a.attach_grad()
    for scalar in [0.0] * 3 + [-0.0] * 3:
        with mx.autograd.record():
            made = mx.nd.hard_sigmoid(a, alpha=scalar)
        made.backward()
        assert np.signbit(a.grad.asnumpy()).tolist() == [bool(np.signbit(scalar))] * 2


def test_a_tape_that_is_repeated_has_its_nodes_again() -> None:
    _forget()
    x = mx.nd.array([2.0, 3.0])
    x.attach_grad()
    for turns in (3, 3, 2, 3, 2, 2):
        with mock.patch.object(tape_graph.gradient, "build", wraps=tape_graph.gradient.build) as build:
            with mx.autograd.record():
                y = x
                for _ in range(turns):
                    y = y * x
            y.backward()
        assert x.grad.asnumpy().tolist() == [(turns + 1) * 2.0**turns, (turns + 1) * 3.0**turns]
    assert not build.called


def test_tapes_are_forgotten_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TAPES, "_limit", 2)
    _forget()
    x = mx.nd.array([1.0])
    x.attach_grad()
    for turns in range(1, 8):
        for _ in range(3):
            with mx.autograd.record():
                y = x
                for _ in range(turns):
                    y = y * x
            y.backward()
            assert x.grad.asnumpy().tolist() == [turns + 1]
        assert len(TAPES.made) <= 2


def test_the_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GRADIENTS, "_limit", 5)
    monkeypatch.setattr(GRADIENTS, "_most_seen", 5)
    _forget()
    for number in range(20):
        for _ in range(3):
            _call("nothing", "a * b", "float32", "write", "backward", 1)
            a = mx.nd.ones((number + 1,))
            a.attach_grad()
            with mx.autograd.record():
                made = a * a
            made.backward()
            assert a.grad.asnumpy().tolist() == [2] * (number + 1)
        assert len(GRADIENTS._seen) <= 5
        assert len(GRADIENTS.made) <= 5
