"""Calls that the ONNX door leaves out, each with its reason: ONNX has no form for them, or defines another result.

A row without a condition is never drawn; a call that a row with a condition covers is unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base import decides

WHOLE = ("int8", "uint8", "int32", "int64")
BYTES = WHOLE[:2]


class Difference(NamedTuple):
    """Calls of some operators."""

    operators: tuple[str, ...]
    reason: str
    types: tuple[str, ...] = ()
    """Types of the first input; all types if there are none."""
    when: Callable[[Any], bool] | None = None
    """Whether the parameters belong to such a call."""

    @decides("oracle/onnx-differences")
    def covers(self, name: str, p: Any, types: Sequence[np.dtype]) -> bool:
        """Whether a call is one of these.

        Args:
            name: of the operator.
            p: its parameters.
            types: element types of its inputs.
        """
        if name not in self.operators or (self.types and types[0].name not in self.types):
            return False
        return self.when is None or self.when(p)

    def names(self) -> tuple[str, ...]:
        """The operators, of a type where only some types are meant, as ``leaves_out`` of a backend names them."""
        if self.when is not None:
            return ()
        return tuple(f"{name} {kind}" for name in self.operators for kind in self.types) or self.operators


DIFFERENCES = (
    Difference((
        "_contrib_quadratic", "_hypot", "_hypot_scalar", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh",
        "broadcast_hypot", "cbrt", "ceil", "cos", "cosh", "degrees", "erf", "exp", "expm1", "fix", "floor",
        "hard_sigmoid", "log", "log10", "log1p", "log2", "moments", "radians", "rcbrt", "reciprocal", "rint", "round",
        "rsqrt", "sigmoid", "sin", "sinh", "smooth_l1", "softsign", "sqrt", "square", "tan", "tanh", "trunc",
    ), "MXNet computes whole numbers as real ones and cuts the result; ONNX takes real ones only", WHOLE),
    Difference((
        "BatchNorm", "BatchNorm_v1", "LeakyReLU", "RNN", "_contrib_SyncBatchNorm", "add_n", "nanprod", "nansum",
    ), "ONNX's operator takes real numbers only", WHOLE),
    Difference((
        "FullyConnected", "_contrib_interleaved_matmul_encdec_qk", "_contrib_interleaved_matmul_encdec_valatt",
        "_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt", "_square_sum",
        "batch_dot", "dot", "mean", "norm", "prod", "sum",
    ), "ONNX's operator takes whole numbers of 32 and 64 bits only", BYTES),
    Difference(("negative", "relu"), "ONNX's operator takes signed numbers only", ("uint8",)),
    Difference(
        ("_power", "broadcast_power", "_power_scalar", "_rpower_scalar"),
        "ONNX leaves open what whole numbers to a negative power are, and powers that the type does not hold", WHOLE,
    ),
    Difference(
        ("_div_scalar",), "whole numbers divided by 0, to which the scalar is cut", WHOLE, lambda p: -1 < p.scalar < 1
    ),
    Difference(
        ("LeakyReLU",), "the constants of ONNX's Selu are single precision", ("float64",),
        lambda p: p.act_type == "selu",
    ),
    Difference(
        ("_contrib_quantize", "_contrib_quantize_v2", "_contrib_requantize"),
        "ONNX divides by the size of a step, which is rounded, so that halves fall to either side",
    ),
)
"""See the module's text."""

__all__ = ["DIFFERENCES", "Difference"]
