"""Operators on pictures, and _contrib_getnnz, where the laws do not look."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx


@pytest.mark.clause("_contrib_getnnz/gradient")
def test_a_count_has_no_gradient() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.kernels.grad("_contrib_getnnz", [[1, 0]])
    assert caught.value.clause == "harness/gradient"


@pytest.mark.clause("_contrib_getnnz/count")
def test_stored_elements_are_counted() -> None:
    csr = mx.nd.array([[1, 0, 2], [0, 0, 3]]).tostype("csr")
    assert mx.nd.contrib.getnnz(csr).asnumpy().tolist() == [3]
    assert mx.nd.contrib.getnnz(csr, axis=1).asnumpy().tolist() == [2, 1]


@pytest.mark.clause("image/types", "image/flip")
def test_bytes_stay_bytes() -> None:
    """MXNet gives the same."""
    picture = mx.nd.array(np.arange(12).reshape(2, 2, 3), dtype="uint8")
    turned = mx.nd.image.flip_left_right(picture)
    assert turned.dtype == np.uint8
    assert turned.asnumpy().tolist() == [[[3, 4, 5], [0, 1, 2]], [[9, 10, 11], [6, 7, 8]]]
    assert mx.nd.image.to_tensor(picture).dtype == np.float32


@pytest.mark.clause("image/shape")
def test_shapes_are_inferred_both_ways() -> None:
    net = mx.sym.image.to_tensor(mx.sym.Variable("data"))
    assert net.infer_shape(data=(5, 4, 7, 3))[1] == [(5, 3, 4, 7)]
    assert (net + mx.sym.Variable("other")).infer_shape(other=(5, 3, 4, 7))[0] == [(5, 4, 7, 3), (5, 3, 4, 7)]


@pytest.mark.clause("image/random-flip")
@pytest.mark.parametrize("seed, turned", [(5, "011101001100"), (77, "111011110110")])
def test_flips_follow_the_stream(seed: int, turned: str) -> None:
    # mx.random.seed(5); [int(mx.nd.image.random_flip_left_right(x).asnumpy()[0, 0, 0]) for _ in range(12)]
    picture = mx.nd.array([[[0], [1]]])
    mx.random.seed(seed)
    assert "".join(
        str(int(mx.nd.image.random_flip_left_right(picture).asnumpy()[0, 0, 0])) for _ in turned
    ) == turned


@pytest.mark.clause("image/random-flip")
def test_heads_are_turned_back() -> None:
    picture = mx.nd.array([[[1], [2], [3]]])
    picture.attach_grad()
    mx.random.seed(77)  # turns
    with mx.autograd.record():
        out = mx.nd.image.random_flip_left_right(picture)
    out.backward(mx.nd.array([[[5], [6], [7]]]))
    assert out.asnumpy().ravel().tolist() == [3, 2, 1]
    assert picture.grad.asnumpy().ravel().tolist() == [7, 6, 5]
