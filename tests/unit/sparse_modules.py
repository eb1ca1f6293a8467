"""A linear model of csr data with a row_sparse weight, which tests of sparse modules share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx

FIRST = [[1, 0, 0, 2, 0, 0], [0, 0, 3, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
SECOND = [[0, 0, 0, 2, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
LABEL = [[1], [2], [3], [4]]
LACKING = [[1], [0], [2], [0], [3], [4]]
EVERY = [0, 1, 2, 3, 4, 5]
HYPER = {"learning_rate": 0.25, "momentum": 0.5, "wd": 0.5}


@pytest.fixture(autouse=True)
def quiet(monkeypatch) -> None:
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")


def net(stype: str = "row_sparse") -> Any:
    weight = mx.sym.Variable("weight", stype=stype, shape=(6, 1))
    product = mx.sym.sparse.dot(mx.sym.Variable("data", stype="csr"), weight)
    whole = mx.sym.broadcast_add(product, mx.sym.Variable("bias", shape=(1,)))
    return mx.sym.LinearRegressionOutput(whole, mx.sym.Variable("label"), name="out")


def made(contexts: int = 1, stype: str = "row_sparse", **how: Any) -> mx.mod.Module:
    module = mx.mod.Module(net(stype), label_names=["label"], context=[mx.cpu(index) for index in range(contexts)])
    module.bind([("data", (4, 6))], [("label", (4, 1))], **how)
    return module


def ready(*given: Any, **how: Any) -> mx.mod.Module:
    module = made(*given, **how)
    module.init_params(mx.init.One())
    return module


def batch(table: Any = FIRST, label: Any = LABEL) -> mx.io.DataBatch:
    return mx.io.DataBatch([mx.nd.array(table).tostype("csr")], [mx.nd.array(label)])


def rows_of(data_batch: Any) -> dict[str, Any]:
    return {"weight": mx.nd.array(np.unique(data_batch.data[0].indices.asnumpy()))}


def seen(array: Any) -> Any:
    """(rows, values) of a row_sparse array, to five decimals."""
    assert array.stype == "row_sparse"
    return array.indices.asnumpy().tolist(), array.data.asnumpy().astype(float).round(5).ravel().tolist()


def on_host(module: Any) -> Any:
    return seen(module.get_params()[0]["weight"])


def on(module: Any, context: int = 0) -> Any:
    return seen(module._exec_group.execs[context].arg_dict["weight"])
