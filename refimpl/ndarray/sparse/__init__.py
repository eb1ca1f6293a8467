"""mx.nd.sparse: row_sparse and csr arrays, and the operators that know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...kernels.foundation import REGISTRY, Op, get
from ...op_registry.storage_rules import Rule, rules
from .. import operators
from . import rules_elementwise, rules_products, rules_rows
from .arithmetic import add, divide, multiply, subtract
from .base import BaseSparseNDArray, NotSupportedForSparseNDArray
from .convert import copy_into, put
from .creation import array, csr_matrix, empty, from_parts, is_scipy, row_sparse_array, zeros
from .csr import CSRNDArray
from .dispatch import invoke
from .recorded import cast as tostype
from .recorded import stand_in
from .row_sparse import RowSparseNDArray

OPERATORS = (
    "ElementWiseSum", "Embedding", "FullyConnected", "LinearRegressionOutput", "LogisticRegressionOutput",
    "MAERegressionOutput", "abs", "adagrad_update", "adam_update", "add_n", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctanh", "broadcast_add", "broadcast_div", "broadcast_minus", "broadcast_mul", "broadcast_plus",
    "broadcast_sub", "cast_storage", "cbrt", "ceil", "clip", "concat", "cos", "cosh", "degrees", "dot", "elemwise_add",
    "elemwise_div", "elemwise_mul", "elemwise_sub", "exp", "expm1", "fix", "floor", "ftrl_update", "gamma", "gammaln",
    "log", "log10", "log1p", "log2", "make_loss", "mean", "negative", "norm", "radians", "relu", "retain", "rint",
    "round", "rsqrt", "sgd_mom_update", "sgd_update", "sigmoid", "sign", "sin", "sinh", "slice", "sqrt", "square",
    "stop_gradient", "sum", "tan", "tanh", "trunc", "where", "zeros_like",
)
"""Operators of this namespace; each is the operator ``_sparse_NAME``, or NAME."""


SPARSE_RESULTS = ("cast_storage", "dot")
"""Operators that may make a sparse array of dense ones: their parameters choose the storage of the result."""


def asks_for_sparse(op: Op, attrs: dict[str, Any]) -> bool:
    """Whether dense inputs give a sparse result: ``invoke`` of this package must run the operator then."""
    asked = [attrs.get(name) for name in ("stype", "forward_stype")]
    return op.name in SPARSE_RESULTS and any(stype in ("csr", "row_sparse") for stype in asked)


def _choosing(op: Op) -> Callable:
    """The function of an operator whose parameters choose the storage of the result."""

    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        arrays, attrs = operators._split_arguments(op, args, kwargs)
        return invoke(op, arrays, attrs, out)

    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = op.doc
    return function


def _function(name: str) -> Callable:
    """The operator ``name`` as a function; one whose page is missing says so when it is called."""
    known = f"_sparse_{name}" if f"_sparse_{name}" in REGISTRY else name
    if name in SPARSE_RESULTS:
        return _choosing(REGISTRY[name])
    if known in REGISTRY:
        return operators.make_function(REGISTRY[known], name)

    def missing(*_: Any, **__: Any) -> Any:
        get(known)  # raises: not implemented

    missing.__name__ = missing.__qualname__ = name
    return missing


for _name in OPERATORS:
    globals()[_name] = _function(_name)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"mx.nd.sparse has no {name!r}")


__all__ = [  # noqa: PLE0604  # the operators' names are strings too
    "SPARSE_RESULTS", "BaseSparseNDArray", "CSRNDArray", "NotSupportedForSparseNDArray", "RowSparseNDArray", "Rule",
    "add", "array", "asks_for_sparse", "copy_into", "csr_matrix", "divide", "empty", "from_parts", "invoke", "is_scipy",
    "multiply", "put", "row_sparse_array", "rules", "rules_elementwise", "rules_products", "rules_rows", "stand_in",
    "subtract", "tostype", "zeros", *OPERATORS,
]
