"""autograd.Function and get_symbol. Numbers are MXNet 1.9.1's unless a test says otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import autograd as ag
from refimpl.ndarray import NDArray

from .test_autograd import state, variable

nd = mx.nd

class Sigmoid(ag.Function):
    def forward(self, x: NDArray) -> NDArray:
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: NDArray) -> NDArray:
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class Both(ag.Function):
    """Gradients that nobody could guess."""

    def forward(self, a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
        self.modes = [state()]
        return a * b, a + b

    def backward(self, d: NDArray, e: NDArray) -> tuple[NDArray, NDArray]:
        self.modes.append(state())
        return d * 2 + e * 3, d * 5 + e * 7


@pytest.mark.clause("autograd/function", "autograd/function-once")
def test_function_uses_its_own_backward() -> None:
    x = variable(0, 2)
    with ag.record():
        y = Sigmoid()(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [0.25, 0.10499362647533417], rtol=1e-6)


@pytest.mark.clause("autograd/function")
def test_function_with_several_inputs_and_outputs() -> None:
    # p, q = Both()(a, b); z = p * 10 + q; z.backward(); a.grad, b.grad -> [23, 23], [57, 57]
    a, b, function = variable(1, 2), variable(3, 4), Both()
    with ag.record():
        p, q = function(a, b)
        z = p * 10 + q
    z.backward()
    assert (a.grad.asnumpy().tolist(), b.grad.asnumpy().tolist()) == ([23, 23], [57, 57])
    assert function.modes == [(False, True), (False, True)]


@pytest.mark.clause("autograd/function")
def test_function_honours_add() -> None:
    # MXNet 1.9.1 leaves the old gradient: [5, 5]
    x = variable(0, 2, req="add")
    x.grad[:] = 5
    with ag.record():
        y = Sigmoid()(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [5.25, 5.10499382019043], rtol=1e-6)


def test_function_may_run_unrecorded() -> None:
    x = variable(0)
    assert Sigmoid()(x).asscalar() == 0.5
    with ag.record():
        assert Sigmoid()(nd.zeros((1,))).asscalar() == 0.5


def test_function_in_a_gradient_that_is_kept() -> None:
    x = variable(0, 2)
    with ag.record():
        (g,) = ag.grad(Sigmoid()(x), x, create_graph=True)
    np.testing.assert_allclose(g.asnumpy(), [0.25, 0.10499362647533417], rtol=1e-6)


def test_function_may_return_its_input() -> None:
    class Same(ag.Function):
        def forward(self, x: NDArray) -> NDArray:
            return x

        def backward(self, d: NDArray) -> NDArray:
            return d * 10

    x = variable(1, 2)
    with ag.record():
        y = Same()(x) * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [20, 20]


# --- get_symbol ----------------------------------------------------------------------------------


@pytest.mark.clause("autograd/symbol")
def test_the_recorded_computation_as_a_symbol() -> None:
    x, w = variable(1, 2), variable(3, 4)
    with ag.record():
        y = x * w + 1
    symbol = ag.get_symbol(y)
    assert symbol.list_arguments() == ["var0", "var1"]
    executor = symbol.bind(mx.cpu(), {"var0": nd.array([5, 6]), "var1": nd.array([7, 8])})
    assert executor.forward()[0].asnumpy().tolist() == [36, 49]
    assert ag.get_symbol(x).list_arguments() == ["var0"]
