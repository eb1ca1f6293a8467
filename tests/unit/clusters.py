"""What the tests of clusters share."""

from __future__ import annotations

import pytest

import refimpl as mx
from refimpl import ndarray as nd


def a(*values, **kwargs) -> nd.NDArray:
    return nd.array(values, **kwargs)


def held(store, key, shape=1, **kwargs) -> list:
    out = nd.zeros(shape, **kwargs)
    store.pull(key, out=out)
    return out.asnumpy().tolist()


def pair(kind: str = "dist_sync", **kwargs) -> list:
    """Two workers that one program calls in turn, and key "w" of one zero."""
    stores = mx.kv.simulate(workers=2, servers=2, faults=False, **kwargs).stores(kind)
    for store in stores:
        store.init("w", nd.zeros(1))
    return stores


def adding() -> mx.optimizer.Optimizer:
    """The optimizer that adds gradients to the weight."""
    return mx.optimizer.create("test", rescale_grad=1.0)


def refused(clause: str, call, kind: type = mx.MXNetError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return str(caught.value)
