"""autograd.grad, and gradients that are differentiated again. Numbers are MXNet 1.9.1's unless by hand."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import autograd as ag

from .test_autograd import variable

nd = mx.nd


@pytest.mark.clause("autograd/grad")
def test_grad_returns_a_list_and_leaves_grad_alone() -> None:
    x = variable(1, 2)
    x.grad[:] = 9
    with ag.record():
        y = x * x
    found = ag.grad(y, x)
    assert isinstance(found, list)
    assert (found[0].asnumpy().tolist(), x.grad.asnumpy().tolist()) == ([2, 4], [9, 9])


@pytest.mark.clause("autograd/grad")
def test_grad_shares_no_memory() -> None:
    # g = ag.grad(x + w, [x, w], head_grads=h); g[0][:] = 9; g[1], h -> [1, 1], [1, 1]
    x, w, head = variable(1, 2), variable(1, 2), nd.ones((2,))
    with ag.record():
        y = x + w
    first, second = ag.grad(y, [x, w], head_grads=head)
    first[:] = 9
    assert (second.asnumpy().tolist(), head.asnumpy().tolist()) == ([1, 1], [1, 1])


def test_grad_with_create_graph_retains_the_graph() -> None:
    x = variable(1, 2)
    with ag.record():
        y = x.exp()
        (g,) = ag.grad(y, x, create_graph=True)
        z = g.exp()
    z.backward()
    # exp(exp(x)) exp(x)
    np.testing.assert_allclose(x.grad.asnumpy(), [41.19355010986328, 11956.8095703125], rtol=1e-5)
    x = variable(1)
    with ag.record():
        y = x.exp()
    (g,) = ag.grad(y, x, create_graph=True)  # outside record() as well
    g.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [2.7182817459106445], rtol=1e-6)


def test_a_penalty_on_a_gradient() -> None:
    """By hand: loss = sum((d/dx (w x^2))^2) = sum(4 w^2 x^2), so d/dw = 8 w x^2."""
    x, w = variable(1, 2), variable(3, 5)
    with ag.record():
        (g,) = ag.grad(w * x * x, x, create_graph=True)
        loss = (g * g).sum()
    loss.backward()
    assert w.grad.asnumpy().tolist() == [24, 160]


@pytest.mark.clause("autograd/grad")
def test_a_gradient_is_where_its_variable_is() -> None:
    # y = x.as_in_context(mx.cpu(1)) * 2; ag.grad(y, [x])[0].context -> cpu(0)
    x = variable(1, 2)
    with ag.record():
        y = x.as_in_context(mx.cpu(1)) * 2
    (found,) = ag.grad(y, [x])
    assert (found.context, found.asnumpy().tolist()) == (mx.cpu(0), [2, 2])


@pytest.mark.clause("autograd/once")
def test_backward_lets_constants_go() -> None:
    # y = w * x; y.backward(); with ag.record(): x[:] = 3 -> x is [3, 3]; with retain_graph=True it is refused
    w, x = variable(1, 2), nd.ones((2,))
    with ag.record():
        y = w * x
    y.backward(retain_graph=True)
    with ag.record(), pytest.raises(mx.MXNetError, match="on the tape"):
        x[:] = 3
    y.backward()
    with ag.record():
        x[:] = 3
        z = x * x
    assert x.asnumpy().tolist() == [3, 3]
    with pytest.raises(mx.MXNetError, match="not on the tape"):
        z.backward()


def test_a_constant_of_two_computations_serves_both() -> None:
    # MXNet 1.9.1 raises at the second backward, since the first has freed the constant
    w, v, x = variable(1, 2), variable(3, 4), nd.array([5, 6])
    with ag.record():
        y, z = w * x, v * x
    y.backward()
    z.backward()
    assert (w.grad.asnumpy().tolist(), v.grad.asnumpy().tolist()) == ([5, 6], [5, 6])


def test_gradients_are_written_off_the_tape() -> None:
    # y = w * w; y.backward(retain_graph=True); z = w.grad * w; (w * 3).backward(), all recording; w.grad -> [3, 3]
    w = variable(1, 2)
    with ag.record():
        y = w * w
        y.backward(retain_graph=True)
        _ = w.grad * w  # puts the gradient array on the tape as a constant
        (w * 3).backward()
    assert w.grad.asnumpy().tolist() == [3, 3]


@pytest.mark.clause("autograd/grad")
def test_a_gradient_that_is_its_head_gradient_is_copied() -> None:
    # by hand: the gradient of x with respect to x is what it is weighed with, for each time that x is asked for
    x, head = variable(1, 2), nd.array([3, 4])
    first, second = ag.grad([x], [x, x], head_grads=[head])
    first[:] = 9
    assert (second.asnumpy().tolist(), head.asnumpy().tolist()) == ([3, 4], [3, 4])


@pytest.mark.clause("autograd/grad")
def test_retain_graph_has_the_last_word() -> None:
    x = variable(1, 2)
    with ag.record():
        y = x * x
    ag.grad(y, x, create_graph=True, retain_graph=True)
    (found,) = ag.grad(y, x, create_graph=True, retain_graph=False)
    assert found.asnumpy().tolist() == [2, 4]
    with pytest.raises(mx.MXNetError, match="retain_graph=True"):
        y.backward()
