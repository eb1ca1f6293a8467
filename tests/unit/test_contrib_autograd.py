"""mx.contrib.autograd, the first interface to the tape; every number is MXNet 1.9.1's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import refimpl as mx
from refimpl import autograd as ag
from refimpl.contrib import autograd as first
from refimpl.ndarray import NDArray

nd = mx.nd


def state() -> tuple[bool, bool]:
    return ag.is_recording(), ag.is_training()


def product(x: NDArray, y: NDArray) -> NDArray:
    return x * y + x


def numbers(arrays: list[NDArray]) -> list:
    return [array.asnumpy().tolist() for array in arrays]


def test_one_switch_for_recording_and_training() -> None:
    # [set_is_training(True), set_is_training(False)] -> [False, True]
    assert (first.set_is_training(True), state(), first.set_is_training(False)) == (False, (True, True), True)
    assert state() == (False, False)


def test_sections_nest() -> None:
    with first.train_section():
        assert state() == (True, True)
        with first.test_section():
            assert state() == (False, False)
        with first.TrainingStateScope(True):
            assert state() == (True, True)
        assert state() == (True, True)
    assert state() == (False, False)


def test_backward_and_compute_gradient() -> None:
    x, g = nd.array([1, 2]), nd.zeros((2,))
    first.mark_variables([x], [g], "add")
    with first.train_section():
        y = x * x
    first.backward([y], [nd.array([2, 3])], retain_graph=True)
    assert first.compute_gradient([y]) is None
    assert g.asnumpy().tolist() == [6, 16]


@pytest.mark.parametrize(
    ("argnum", "expected"), [(None, [[4, 5], [1, 2]]), (1, [[1, 2]]), ([0], [[4, 5]])]
)
def test_grad_and_loss(argnum: int | list[int] | None, expected: list) -> None:
    x, y = nd.array([1, 2]), nd.array([3, 4])
    grads, loss = first.grad_and_loss(product, argnum)(x, y)
    assert (numbers(grads), loss.asnumpy().tolist()) == (expected, [4, 10])
    assert numbers(first.grad(product, argnum)(x, y)) == expected
    assert first.grad(product).__name__ == "product"


def test_several_outputs() -> None:
    """By hand: d/dx (x y + 2 x) = y + 2."""
    (grad_x, grad_y), _ = first.grad_and_loss(lambda x, y: [x * y, 2 * x])(nd.array([1]), nd.array([3]))
    assert (grad_x.asscalar(), grad_y.asscalar()) == (5, 1)


@pytest.mark.parametrize(
    ("clause", "call"),
    [
        pytest.param(clause, call, marks=pytest.mark.clause(clause))
        for clause, call in (
            ("contrib-autograd/outputs", lambda: first.backward(nd.ones((1,)))),
            ("contrib-autograd/arguments", lambda: first.grad(product)(nd.ones((1,)), 3)),
            ("autograd/head-count", lambda: first.backward([nd.ones((1,))], [None, None])),
        )
    ],
)
def test_refuses(clause: str, call: Callable[[], object]) -> None:
    with pytest.raises(AssertionError) as caught:
        call()
    assert caught.value.clause == clause  # type: ignore[attr-defined]  # every refusal carries one
