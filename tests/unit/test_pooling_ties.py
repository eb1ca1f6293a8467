"""Max pooling where many numbers are equal: which one takes the gradient, worked out by NumPy's argmax."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kernels.foundation import plain_kernels
from refimpl.kernels.foundation.loop import python_loops

VALUES = np.array([-3.0, -1.0, -0.0, 0.0, 0.0, 1.0, 1.0, np.inf], np.float32)


def expected(data: np.ndarray, head: np.ndarray, kernel: int, stride: int) -> np.ndarray:
    """The gradient of (height, width) data: each window's first maximum takes its head."""
    gradient = np.zeros_like(data)
    for row, column in itertools.product(*map(range, head.shape)):
        top, left = row * stride, column * stride
        window = data[top : top + kernel, left : left + kernel]
        y, x = np.unravel_index(np.argmax(window), window.shape)
        gradient[top + y, left + x] += head[row, column]
    return gradient


def pooled_back(data: np.ndarray, kernel: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Heads 1, 2, 3, ... and the gradient of ``data``."""
    x = mx.nd.array(data[None, None])
    x.attach_grad()
    with mx.autograd.record():
        out = mx.nd.Pooling(x, kernel=(kernel, kernel), stride=(stride, stride), pool_type="max")
    head = np.arange(1, out.size + 1, dtype=np.float32).reshape(out.shape)
    out.backward(mx.nd.array(head))
    return head[0, 0], x.grad.asnumpy()[0, 0]


@pytest.mark.clause("Pooling/ties-first")
@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(0, 6), st.integers(0, 6), st.integers(0, 2**31),
    st.sampled_from(["tuned", "plain", "cpu", "gpu"]),
)
def test_the_first_of_equals_takes_the_gradient(kernel, stride, high, wide, seed, form) -> None:
    data = np.random.default_rng(seed).choice(VALUES, (kernel + high, kernel + wide))
    if form == "tuned":
        head, gradient = pooled_back(data, kernel, stride)
    else:
        with plain_kernels() if form == "plain" else python_loops(form):
            head, gradient = pooled_back(data, kernel, stride)
    np.testing.assert_array_equal(gradient, expected(data, head, kernel, stride))
