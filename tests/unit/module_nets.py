"""Small nets, modules and batches that the tests of modules share."""

from __future__ import annotations

from typing import Any

import numpy as np

import refimpl as mx

DATA = [("data", (4, 2))]
LABEL = [("softmax_label", (4,))]
ROWS = np.arange(8).reshape(4, 2)


def linear() -> mx.sym.Symbol:
    """One FullyConnected of three units."""
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")


def network() -> mx.sym.Symbol:
    """The same as a classifier."""
    return mx.sym.SoftmaxOutput(linear(), name="softmax")


def ready(contexts: int = 1, initializer: Any = None, **settings: Any) -> mx.mod.Module:
    """A bound module; its weights are one and its bias zero unless told otherwise."""
    module = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(contexts)])
    module.bind(DATA, LABEL, **settings)
    module.init_params(initializer or mx.init.One())
    return module


def batch(data: Any, label: Any = None, **settings: Any) -> mx.io.DataBatch:
    """A batch of one data array and, unless None, one label."""
    labels = None if label is None else [mx.nd.array(label)]
    return mx.io.DataBatch([mx.nd.array(data)], labels, **settings)
