"""Sparse storage on a CUDA device, or in Numba's simulator of one: the same numbers as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import refimpl as mx
from refimpl.kernels.foundation.loop import SIMULATED
from refimpl.ndarray import sparse

nd = mx.nd
D = [[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 5]]
E = [[7, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 1]]

CALLS = {
    "to csr and back": lambda c, r, d: c,
    "to row_sparse and back": lambda c, r, d: r,
    "keeps zeros": lambda c, r, d: sparse.square(c),
    "union of csr": lambda c, r, d: sparse.add(c, nd.array(E, ctx=d.context).tostype("csr")),
    "union of rows": lambda c, r, d: sparse.subtract(r, nd.array(E, ctx=d.context).tostype("row_sparse")),
    "stored places": lambda c, r, d: nd.elemwise_mul(c, d + 1),
    "broadcast": lambda c, r, d: nd.broadcast_mul(c, nd.array([[1, 2, 4]], ctx=d.context)),
    "dot": lambda c, r, d: nd.dot(c, nd.array([[1, 2], [3, 4], [5, 6]], ctx=d.context)),
    "dot, turned": lambda c, r, d: nd.dot(c, d, transpose_a=True),
    "dot with rows": lambda c, r, d: nd.dot(c, r, transpose_a=True, forward_stype="default"),
    "dot with csr": lambda c, r, d: nd.dot(d, c, transpose_b=True),
    "rows": lambda c, r, d: c[1:3],
    "concat": lambda c, r, d: sparse.concat(c, c, dim=0),
    "sum": lambda c, r, d: sparse.sum(c, axis=0),
    "mean": lambda c, r, d: sparse.mean(c, axis=1),
    "square_sum": lambda c, r, d: nd._internal._square_sum(r, axis=1, keepdims=True),
    "retain": lambda c, r, d: r.retain([1, 2]),
    "where": lambda c, r, d: sparse.where(c, d, d * 2),
    "update": lambda c, r, d: nd.sgd_update(d, r, out=d, lr=0.5, wd=0.25),
    "fallback": lambda c, r, d: nd.exp(c),
}


def _on_tape(c, r, d):
    factor = nd.array([[1, 2], [3, 4], [5, 6]], ctx=d.context)
    factor.attach_grad("add", stype="row_sparse")
    for _ in range(2):
        with mx.autograd.record():
            product = nd.dot(c, factor)
        product.backward()
    return factor.grad


def _bound(c, r, d):
    product = mx.sym.dot(mx.sym.var("c"), mx.sym.var("r"), transpose_a=True)
    kept = {"r": nd.zeros((4, 3), ctx=d.context, stype="row_sparse")}
    executor = product.bind(d.context, {"c": c, "r": r}, kept, {"r": "write"})
    executor.forward(is_train=True)
    executor.backward(nd.ones((3, 3), ctx=d.context))
    return executor.grad_dict["r"]


CALLS |= {"on the tape": _on_tape, "bound": _bound}


def run(call, ctx):
    dense = nd.array(D, ctx=ctx)
    result = call(dense.tostype("csr"), dense.tostype("row_sparse"), dense)
    assert result.context == ctx
    return result


@pytest.mark.gpu
@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED and not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1")
@pytest.mark.parametrize("name", CALLS)
def test_same_as_cpu(name, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    here, there = run(CALLS[name], mx.cpu()), run(CALLS[name], mx.gpu())
    assert here.stype == there.stype
    np.testing.assert_allclose(there.asnumpy(), here.asnumpy(), rtol=1e-6)  # exp differs in the last bit
