"""Modules of operators, such as ``mx.nd.op`` and ``mx.sym.linalg``: their functions are made from the registry.

``submodules.py`` lists these modules. What a type checker sees in one stands in its generated stub, such as
``refimpl/ndarray/op.pyi``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.foundation import REGISTRY, Op
from . import known

SPARSE = (
    "ElementWiseSum", "Embedding", "FullyConnected", "LinearRegressionOutput", "LogisticRegressionOutput",
    "MAERegressionOutput", "abs", "adagrad_update", "adam_update", "add_n", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctanh", "broadcast_add", "broadcast_div", "broadcast_minus", "broadcast_mul", "broadcast_plus",
    "broadcast_sub", "cast_storage", "cbrt", "ceil", "clip", "concat", "cos", "cosh", "degrees", "dot", "elemwise_add",
    "elemwise_div", "elemwise_mul", "elemwise_sub", "exp", "expm1", "fix", "floor", "ftrl_update", "gamma", "gammaln",
    "log", "log10", "log1p", "log2", "make_loss", "mean", "negative", "norm", "radians", "relu", "retain", "rint",
    "round", "rsqrt", "sgd_mom_update", "sgd_update", "sigmoid", "sign", "sin", "sinh", "slice", "sqrt", "square",
    "stop_gradient", "sum", "tan", "tanh", "trunc", "where", "zeros_like",
)
"""What ``mx.nd.sparse`` and ``mx.sym.sparse`` hold in MXNet 1.9.1; each is the operator ``_sparse_NAME``, or NAME."""


def members(prefix: str = "", *, internal: bool = False) -> dict[str, Op]:
    """Name in a module -> operator, for operators and aliases whose names begin with ``prefix``.

    Without a prefix an ``internal`` module has the names that begin with an underscore, others have the rest.
    """
    if prefix:
        return {name.removeprefix(prefix): op for name, op in REGISTRY.items() if name.startswith(prefix)}
    return {name: op for name, op in REGISTRY.items() if name.startswith("_") == internal}


def fill(
    module: dict[str, Any], make: Callable[[Op, str], Callable], prefix: str = "", *, internal: bool = False
) -> list[str]:
    """Put ``make(op, name)`` for each of :func:`members` into a module's globals; returns the names.

    Names that the module defines itself stay. Operators of MXNet 1.9.1 that are not here can be asked for too: they
    are functions that say so when they are called.
    """
    found = members(prefix, internal=internal)
    for name, op in found.items():
        module.setdefault(name, make(op, name))
    module["__getattr__"] = known.attributes(module["__name__"], prefix, internal=internal)
    return list(found)


def fill_sparse(module: dict[str, Any], make: Callable[[Op, str], Callable]) -> list[str]:
    """Put the operators of ``SPARSE`` into a module's globals; returns their names."""
    for name in SPARSE:
        op = REGISTRY.get(f"_sparse_{name}") or REGISTRY.get(name)
        module[name] = known.missing(name) if op is None else make(op, name)
    return list(SPARSE)
