"""autograd: what goes on the tape, and which gradients come off it. Numbers are MXNet 1.9.1's unless by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import autograd as ag
from refimpl.ndarray import NDArray

nd = mx.nd


def variable(*values: float, req: str = "write") -> NDArray:
    made = nd.array(values)
    made.attach_grad(req)
    return made


def six() -> NDArray:
    """0 .. 5 as a variable of shape (2, 3)."""
    made = nd.array(np.arange(6).reshape(2, 3))
    made.attach_grad()
    return made


# --- scopes --------------------------------------------------------------------------------------


def state() -> tuple[bool, bool]:
    return ag.is_recording(), ag.is_training()


@pytest.mark.clause("autograd/scopes")
def test_scopes_set_and_put_back() -> None:
    assert state() == (False, False)
    with ag.record():
        assert state() == (True, True)
        with ag.predict_mode():
            assert state() == (True, False)
            with ag.pause(train_mode=True):
                assert state() == (False, True)
            assert state() == (True, False)
        with ag.pause():
            assert state() == (False, False)
            with ag.train_mode():
                assert state() == (False, True)
    with ag.record(train_mode=False):
        assert state() == (True, False)
    assert state() == (False, False)


@pytest.mark.clause("autograd/scopes")
def test_scopes_put_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), ag.record():
        raise ZeroDivisionError
    assert state() == (False, False)


def test_setters_return_what_was() -> None:
    # set_recording(True), is_recording(), set_recording(False), set_training(True), is_training(), set_training(False)
    assert (ag.set_recording(True), ag.is_recording(), ag.set_recording(False)) == (False, True, True)
    assert (ag.set_training(True), ag.is_training(), ag.set_training(False)) == (False, True, True)


@pytest.mark.clause("autograd/thread")
def test_every_thread_records_for_itself() -> None:
    seen = []
    with ag.record():
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
    assert seen == [(False, False)]


def test_modes_decide_what_dropout_does() -> None:
    """How many different values come out of 1,000 ones: 2 with Dropout at work, else 1."""
    ones = nd.ones((1000,))
    ones.attach_grad()

    def different() -> int:
        return len(set(nd.Dropout(ones, p=0.5).asnumpy().tolist()))

    assert different() == 1
    with ag.train_mode():
        assert different() == 2
    with ag.record():
        assert different() == 2
        with ag.predict_mode():
            assert different() == 1
        with ag.pause():
            assert different() == 1
        with ag.pause(train_mode=True):
            assert different() == 2
    with ag.record(train_mode=False):
        assert different() == 1


def test_modes_decide_what_batch_norm_does() -> None:
    """By hand: in training (x - mean) / sqrt(var + eps) of the batch [[0], [2]]; else of mean 0 and variance 1."""
    x, ones, zeros = nd.array([[0], [2]]), nd.ones((1,)), nd.zeros((1,))

    def normed() -> np.ndarray:
        out = nd.BatchNorm(x, ones, zeros, zeros.copy(), ones.copy(), eps=1e-3, fix_gamma=False)
        return out.asnumpy().reshape(-1)

    with ag.train_mode():
        np.testing.assert_allclose(normed(), [-0.9995004, 0.9995004], rtol=1e-6)
    np.testing.assert_allclose(normed(), [0, 1.9990007], rtol=1e-6)


# --- backward ------------------------------------------------------------------------------------


@pytest.mark.clause("autograd/heads")
def test_heads_weigh_the_gradients_of_several_outputs() -> None:
    # ag.backward([x * x, x * 3], [nd.array([1, 10, 100]), None]); x.grad -> [5, 43, 603]
    x = variable(1, 2, 3)
    with ag.record():
        y, z = x * x, x * 3
    ag.backward([y, z], [nd.array([1, 10, 100]), None])
    assert x.grad.asnumpy().tolist() == [5, 43, 603]


def test_backward_takes_one_head_without_a_list() -> None:
    x = variable(1, 2)
    with ag.record():
        y = x * x
    ag.backward(y, nd.array([2, 3]))
    assert x.grad.asnumpy().tolist() == [4, 12]


@pytest.mark.clause("autograd/heads")
def test_the_same_head_twice_counts_twice() -> None:
    # MXNet 1.9.1 loses one: ag.backward([y, y]); x.grad -> [2, 4]
    x = variable(1, 2)
    with ag.record():
        y = x * x
    ag.backward([y, y])
    assert x.grad.asnumpy().tolist() == [4, 8]


def test_a_variable_is_a_head_too() -> None:
    x = variable(3)
    x.backward()
    assert x.grad.asscalar() == 1


def test_a_loss_needs_no_head_gradient() -> None:
    # y = nd.SoftmaxOutput(x, nd.array([1])); y.backward(); x.grad -> [[0.26894143, -0.26894143]]
    x = nd.array([[1, 2]])
    x.attach_grad()
    with ag.record():
        y = nd.SoftmaxOutput(x, nd.array([1]))
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [[0.2689414322376251, -0.26894140243530273]], rtol=1e-6)


@pytest.mark.clause("autograd/grad-req")
def test_add_accumulates_and_write_overwrites() -> None:
    for req, expected in (("add", [4, 8, 12]), ("write", [2, 4, 6])):
        x = variable(1, 2, 3, req=req)
        for _ in range(2):
            with ag.record():
                y = x * x
            y.backward()
        assert x.grad.asnumpy().tolist() == expected


@pytest.mark.clause("autograd/grad-req")
def test_null_is_a_constant_beside_a_variable() -> None:
    x, w = variable(1, 2, 3, req="null"), variable(1)
    with ag.record():
        y = x * x * w
    y.backward()
    assert (w.grad.asscalar(), x.grad.asnumpy().tolist()) == (14, [0, 0, 0])


@pytest.mark.clause("autograd/zero")
def test_a_variable_whose_gradient_is_zero_gets_zeros() -> None:
    # x.grad[:] = 7; y = nd.BlockGrad(x * x); y.backward(); x.grad -> [0, 0], with "add" [7, 7]
    for req, expected in (("write", [0, 0]), ("add", [7, 7])):
        x = variable(1, 2, req=req)
        x.grad[:] = 7
        with ag.record():
            y = nd.BlockGrad(x * x)
        y.backward()
        assert x.grad.asnumpy().tolist() == expected


@pytest.mark.clause("autograd/zero")
def test_a_variable_that_heads_do_not_depend_on_keeps_its_gradient() -> None:
    x, w = variable(3), variable(1)
    w.grad[:] = 7
    with ag.record():
        y = x * 2
    y.backward()
    assert w.grad.asscalar() == 7


@pytest.mark.clause("autograd/once")
def test_retained_graphs_are_differentiated_again() -> None:
    x = variable(3)
    with ag.record():
        y = x * x
    y.backward(retain_graph=True)
    x.grad[:] = 0
    y.backward()
    assert x.grad.asscalar() == 6


def test_mark_variables_takes_one_array_or_lists() -> None:
    x, w = nd.array([1, 2]), nd.array([3, 4])
    grads = [nd.zeros((2,)), nd.ones((2,))]
    ag.mark_variables([x, w], grads, ["write", "add"])
    with ag.record():
        y = x * w
    y.backward()
    assert [g.asnumpy().tolist() for g in grads] == [[3, 4], [2, 3]]
    assert x.grad is grads[0]
    ag.mark_variables(x, grads[1])
    with ag.record():
        y = x * x
    y.backward()
    assert grads[1].asnumpy().tolist() == [2, 4]


@pytest.mark.clause("autograd/attach")
def test_attach_grad_cuts_the_computation_before() -> None:
    # y = x * x; y.attach_grad(); z = y * 3; z.backward(); x.grad, y.grad -> [0, 0], [3, 3]
    x = variable(1, 2)
    with ag.record():
        y = x * x
        y.attach_grad()
        z = y * 3
    z.backward()
    assert (x.grad.asnumpy().tolist(), y.grad.asnumpy().tolist()) == ([0, 0], [3, 3])


def test_only_variables_have_gradients() -> None:
    x = variable(1)
    with ag.record():
        y = x * x
    assert y.grad is None
    assert nd.ones((1,)).grad is None
    assert y.detach().grad is None


def test_gradients_of_whole_numbers_are_whole() -> None:
    x = nd.array([1, 2], dtype="int32")
    x.attach_grad()
    with ag.record():
        y = x * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]
    assert x.grad.dtype is np.int32


# --- what is on the tape -------------------------------------------------------------------------

TWICE_X = [[0, 2, 4], [6, 8, 10]]
# x = nd.arange(6).reshape((2, 3)); x.attach_grad(); y = x[key]; (y * y).backward(); y.shape, x.grad
PARTS = [
    (1, (3,), [[0, 0, 0], [6, 8, 10]]),
    (slice(0, 1), (1, 3), [[0, 2, 4], [0, 0, 0]]),
    ((slice(None), slice(0, None, 2)), (2, 2), [[0, 0, 4], [6, 0, 10]]),
    ((1, 2), (1,), [[0, 0, 0], [0, 0, 10]]),
    (([0, 1], [1, 2]), (2,), [[0, 2, 0], [0, 0, 10]]),
    ([1, 1], (2, 3), [[0, 0, 0], [12, 16, 20]]),
    ((slice(None), 1), (2,), [[0, 2, 0], [0, 8, 0]]),
    (None, (1, 2, 3), TWICE_X),
    (Ellipsis, (2, 3), TWICE_X),
    (slice(None, None, -1), (2, 3), TWICE_X),
]


@pytest.mark.clause("autograd/parts")
@pytest.mark.parametrize(("key", "shape", "expected"), PARTS, ids=[str(row[0]) for row in PARTS])
def test_parts_are_on_the_tape(key: Any, shape: tuple, expected: list) -> None:
    x = six()
    with ag.record():
        y = x[key]
        z = y * y
    z.backward()
    assert (y.shape, x.grad.asnumpy().tolist()) == (shape, expected)


WAYS: dict[str, tuple[Callable[[NDArray], NDArray], list]] = {
    "reshape": (lambda x: x.reshape((3, 2)), TWICE_X),
    "astype": (lambda x: x.astype("float64"), TWICE_X),
    "copy": (lambda x: x.copy(), TWICE_X),
    "as_in_context": (lambda x: x.as_in_context(mx.cpu(1)), TWICE_X),
    "copyto": (lambda x: x.copyto(mx.cpu(1)), TWICE_X),
    "T": (lambda x: x.T, TWICE_X),
    "expand_dims": (lambda x: x.expand_dims(0), TWICE_X),
    "slice_axis": (lambda x: x.slice_axis(0, 0, 1), [[0, 2, 4], [0, 0, 0]]),
    "detach": (lambda x: x.detach() + x, [[0, 4, 8], [12, 16, 20]]),
}


@pytest.mark.clause("autograd/parts")
@pytest.mark.parametrize("way", WAYS)
def test_copies_and_views_are_on_the_tape(way: str) -> None:
    function, expected = WAYS[way]
    x = six()
    with ag.record():
        y = function(x)
        z = y * y
    z.backward()
    assert x.grad.asnumpy().tolist() == expected
    assert (x.grad.context, x.grad.dtype) == (mx.cpu(0), np.float32)


@pytest.mark.clause("autograd/assign-part")
def test_the_whole_of_an_array_takes_a_recorded_one() -> None:
    x, z = variable(3, 4), nd.zeros((2,))
    with ag.record():
        z[:] = x * x
    z.backward()
    assert x.grad.asnumpy().tolist() == [6, 8]


def test_gradients_cross_contexts() -> None:
    # x on cpu(0), w on cpu(1): z = x.as_in_context(mx.cpu(1)) * w
    x, w = variable(1, 2), nd.array([3, 4], ctx=mx.cpu(1))
    w.attach_grad()
    with ag.record():
        z = x.as_in_context(mx.cpu(1)) * w
    z.backward()
    assert (x.grad.asnumpy().tolist(), x.grad.context) == ([3, 4], mx.cpu(0))
    assert (w.grad.asnumpy().tolist(), w.grad.context) == ([1, 2], mx.cpu(1))


def test_what_is_computed_in_pause_is_constant() -> None:
    x = variable(1, 2)
    with ag.record():
        y = x * x
        with ag.pause():
            z = y * 2
        w = z + x
    w.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]


def test_several_outputs_meet_again() -> None:
    # y = nd.concat(x, x * 2, dim=0); a, b = nd.split(y, 2, axis=0); (a * b).backward()
    x = variable(1, 2)
    with ag.record():
        a, b = nd.split(nd.concat(x, x * 2, dim=0), num_outputs=2, axis=0)
        z = a * b
    z.backward()
    assert x.grad.asnumpy().tolist() == [4, 8]


@pytest.mark.clause("autograd/in-place")
def test_memory_written_after_recording_is_what_backward_reads() -> None:
    # y = x * x; then x[:] = 100 outside record(); y.backward(); x.grad -> [200, 200]
    x = variable(3, 4)
    with ag.record():
        y = x * x
    x[:] = 100
    y.backward()
    assert x.grad.asnumpy().tolist() == [200, 200]


@pytest.mark.clause("autograd/head-dtype")
def test_head_gradients_are_cast() -> None:
    x = mx.nd.array([1, 2], dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = x * x
    y.backward(mx.nd.array([1, 10]))
    assert (x.grad.dtype, x.grad.asnumpy().tolist()) == (np.float64, [2, 40])


@pytest.mark.clause("autograd/head-dtype")
@pytest.mark.parametrize(("of_y", "of_head", "gradient"), [
    # the head is the nearest number to 0.1 of its own type, then of y's
    ("float64", "float64", 0.1),
    ("float64", "float32", 0.100000001490116),
    ("float32", "float64", 0.100000001490116),
    ("float32", "float16", 0.0999755859375),
    ("float16", "float32", 0.0999755859375),
])
def test_a_head_is_rounded_to_the_type_of_its_array_alone(of_y: str, of_head: str, gradient: float) -> None:
    x = mx.nd.array([3], dtype=of_y)
    x.attach_grad()
    with mx.autograd.record():
        y = x * 1
    y.backward(mx.nd.array([0.1], dtype=of_head))
    assert x.grad.dtype == np.dtype(of_y)
    assert abs(float(x.grad.asnumpy()[0]) - gradient) < 1e-15
