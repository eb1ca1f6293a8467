"""Calls of operators that programs of 2015-2022 make, beside the plain ones; numbers from MXNet 1.9.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import nd, sym


def value_and_gradient(run: Any, data: Any, head: Any) -> tuple[Any, Any]:
    x = nd.array(data, dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = run(x)
    y.backward(nd.array(head, dtype="float64"))
    return y.asnumpy(), x.grad.asnumpy()


HEAD = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.clause("linalg_potrf/factor", "linalg_potrf/gradient")
def test_upper_factor() -> None:
    # x = mx.nd.array([[4, 2, 1], [9, 5, 3], [9, 9, 7]], dtype="float64"); x.attach_grad()
    # with mx.autograd.record(): y = mx.nd.linalg.potrf(x, lower=False)
    # y.backward(head); y, x.grad
    value, gradient = value_and_gradient(
        lambda x: nd.linalg.potrf(x, lower=False), [[4, 2, 1], [9, 5, 3], [9, 9, 7]], HEAD
    )
    np.testing.assert_allclose(value, [[2, 1, 0.5], [0, 2, 1.25], [0, 0, 2.277608394786075]], rtol=1e-15)
    np.testing.assert_allclose(gradient, [
        [0.2733427995305251, -0.10842799530525102, 0.12348479248840163],
        [-0.10842799530525105, 1.0842799530525102, 0.26515207511598365],
        [0.1234847924884016, 0.2651520751159837, 1.9757566798144262],
    ], rtol=1e-14)


@pytest.mark.clause("linalg_potri/inverse", "linalg_potri/gradient")
def test_inverse_from_an_upper_factor() -> None:
    # as above, of mx.nd.linalg.potri(x, lower=False) at [[2, 1, 3], [7, 4, 5], [8, 9, 1]]
    value, gradient = value_and_gradient(
        lambda x: nd.linalg.potri(x, lower=False), [[2, 1, 3], [7, 4, 5], [8, 9, 1]], HEAD
    )
    assert value.tolist() == [[1.03125, 1.0625, -0.875], [1.0625, 1.625, -1.25], [-0.875, -1.25, 1.0]]
    assert gradient.tolist() == [[0.15625, 0.3125, -0.375], [0, -1.359375, 1.03125], [0, 0, 4.21875]]


def test_a_symbol_holds_which_triangle() -> None:
    # mx.sym.linalg.potrf(mx.sym.var("a"), lower=False).tojson()
    factor = sym.linalg.potrf(sym.var("a"), lower=False)
    assert factor.list_attr() == {"lower": "False"}
    # mx.nd.linalg.potrf(a, lower="x"): Invalid Parameter format for lower expect boolean but value='x'
    with pytest.raises(mx.MXNetError, match="lower"):
        sym.linalg.potrf(sym.var("a"), lower="x")


@pytest.mark.parametrize("name", ["step", "repeat", "infer_range"])
def test_linspace_takes_only_its_own_parameters(name: str) -> None:
    # mx.nd._internal._linspace(start=0, stop=1, num=5, step=2), and so on: help() lists the parameters of _arange,
    # and MXNetError: Cannot find argument 'step'
    with pytest.raises(mx.MXNetError, match=name):
        nd._internal._linspace(start=0, stop=1, num=5, **{name: 1})


@pytest.mark.parametrize("value", [True, False])
def test_sparse_embedding_takes_no_sparse_grad(value: bool) -> None:
    # mx.nd.contrib.SparseEmbedding(d, w, input_dim=3, output_dim=1, sparse_grad=True): help() lists the parameters of
    # Embedding, and MXNetError: Cannot find argument 'sparse_grad' ... deterministic : boolean, optional, default=0
    with pytest.raises(mx.MXNetError, match="sparse_grad"):
        nd.contrib.SparseEmbedding(nd.array([2, 0]), nd.ones((3, 1)), input_dim=3, output_dim=1, sparse_grad=value)
