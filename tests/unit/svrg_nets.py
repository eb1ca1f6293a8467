"""A least squares problem for the tests of SVRG; refimpl/cli/labs/svrg_lab.py has SVRG on rational numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.cli.labs.svrg_lab import Row
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

ROWS = [[1, 2], [2, -1], [-1, 1], [3, 0], [0, 1], [1, -2], [2, 2], [-1, -1]]
TARGETS = [1, 0, 2, 1, -1, 3, 0, 2]

PLAIN = [[0.7108154296875, 0.676025390625, -0.01025390625]]
"""The weights after one epoch of these rows in two batches, with the rate 1/16; see test_svrg_exact.py."""


def rational(rows: Any, targets: Any) -> list[Row]:
    """Rows with a 1 for the bias behind, and their targets."""
    return [([*map(Fraction, row), Fraction(1)], Fraction(target)) for row, target in zip(rows, targets, strict=True)]


def in_batches(rows: list[Row], size: int) -> list[list[Row]]:
    """Rows in batches, the last one filled up from the beginning, as NDArrayIter does."""
    around = rows * (size // len(rows) + 2)
    return [around[start : start + size] for start in range(0, len(rows), size)]


def network(name: str | None = "fc") -> mx.sym.Symbol:
    with mx.name.NameManager():
        named = {} if name is None else {"name": name}
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, **named)
        return mx.sym.LinearRegressionOutput(net, mx.sym.Variable("target"), name="line")


def iterator(
    rows: Any = ROWS, targets: Any = TARGETS, size: int = 4, dtype: str = "float32", **settings: Any
) -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(
        mx.nd.array(rows, dtype=dtype), mx.nd.array(targets, dtype=dtype), size, label_name="target", **settings
    )


def fresh(
    symbol: mx.sym.Symbol | None = None, contexts: int = 1, frequency: int = 1, **settings: Any
) -> SVRGModule:
    """An SVRGModule that is not bound."""
    return SVRGModule(
        network() if symbol is None else symbol, label_names=["target"], context=[mx.cpu(i) for i in range(contexts)],
        update_freq=frequency, **settings,
    )


def ready(
    data: mx.io.NDArrayIter, contexts: int = 1, *, symbol: mx.sym.Symbol | None = None, frequency: int = 1,
    kvstore: Any = "local", rate: float = 1 / 16, initializer: Any = None, bind: dict | None = None,
    optimizer: str = "sgd", parameters: dict | None = None, **settings: Any,
) -> SVRGModule:
    """One that is bound, starts with weights of one, and has an optimizer."""
    module = fresh(symbol, contexts, frequency, **settings)
    module.bind(data.provide_data, data.provide_label, **(bind or {}))
    module.init_params(initializer or mx.init.One())
    module.init_optimizer(kvstore, optimizer, parameters or {"learning_rate": rate})
    return module


def batch(begin: int, end: int) -> mx.io.DataBatch:
    """Some of the rows."""
    return mx.io.DataBatch([mx.nd.array(ROWS[begin:end])], [mx.nd.array(TARGETS[begin:end])])


def steps(module: mx.mod.Module, data: mx.io.NDArrayIter) -> None:
    """One epoch by hand."""
    data.reset()
    for batch in data:
        module.forward_backward(batch)
        module.update()


def weights(module: mx.mod.Module) -> list[float]:
    """The weights, then the bias."""
    values = module.get_params()[0]
    named = sorted(values, reverse=True)
    return np.concatenate([values[name].asnumpy().ravel() for name in named]).tolist()


def gradients(module: mx.mod.Module) -> list[list[float]]:
    """The gradients on the first context."""
    arrays = [of_name[0] for of_name in module._exec_group.grad_arrays]
    return [array.asnumpy().ravel().tolist() for array in arrays if array is not None]


def means(module: SVRGModule) -> list[dict[str, list[float]]]:
    """What each context adds to its gradients."""
    return [{name: term.asnumpy().ravel().tolist() for name, term in terms.items()} for terms in module._param_dict]


def run(module: SVRGModule, data: mx.io.NDArrayIter, epochs: int) -> list[list[float]]:
    """The weights after each epoch of full pass and steps."""
    seen = []
    for epoch in range(epochs):
        if epoch % module.update_freq == 0:
            module.update_full_grads(data)
        steps(module, data)
        seen.append(weights(module))
    return seen
