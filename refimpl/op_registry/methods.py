"""The operators that arrays and symbols have as methods: one table, set on both classes when they are imported.

A method is the operator's own function (``function.py``), which is a descriptor: ``NDArray.sum`` is a real attribute
of the class, and explains itself when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.foundation import Op, get

NAMES = (
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax", "argmax_channel", "argmin",
    "argsort", "broadcast_axes", "broadcast_like", "broadcast_to", "cbrt", "ceil", "clip", "cos", "cosh", "degrees",
    "depth_to_space", "diag", "exp", "expand_dims", "expm1", "fix", "flatten", "flip", "floor", "log", "log10",
    "log1p", "log2", "log_softmax", "max", "mean", "min", "nanprod", "nansum", "norm", "one_hot", "ones_like", "pad",
    "pick", "prod", "radians", "rcbrt", "reciprocal", "relu", "repeat", "reshape", "reshape_like", "rint", "round",
    "rsqrt", "shape_array", "sigmoid", "sign", "sin", "sinh", "size_array", "slice", "slice_axis", "slice_like",
    "softmax", "softmin", "sort", "space_to_depth", "split", "sqrt", "square", "squeeze", "sum", "swapaxes", "take",
    "tan", "tanh", "tile", "topk", "transpose", "trunc", "zeros_like",
)
"""Operators that MXNet 1.9.1 has as methods of NDArray and of Symbol, by the name of the method."""


def missing_in(owner: type) -> dict[str, Op]:
    """Method -> operator, for the methods of the table that a class does not define itself."""
    return {name: get(name) for name in NAMES if name not in vars(owner)}


def install(owner: type, make: Callable[[Op, str], Any]) -> None:
    """Set the functions that ``make(op, name)`` gives on a class, as methods."""
    for name, op in missing_in(owner).items():
        setattr(owner, name, make(op, name))
