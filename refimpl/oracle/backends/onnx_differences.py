"""Calls whose result ONNX defines otherwise than MXNet, or leaves open: the ONNX backend leaves them out.

A row without a condition is never drawn; a call that a row with a condition covers is unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base import decides

WHOLE = ("int8", "uint8", "int32", "int64")


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


POWERS = Difference(
    ("_power", "broadcast_power", "_power_scalar", "_rpower_scalar"),
    "ONNX leaves open what whole numbers to a negative power are, and powers that the type does not hold", WHOLE,
)
DIVISION = Difference(
    ("_div_scalar",), "whole numbers divided by 0, to which the scalar is cut", WHOLE, lambda p: -1 < p.scalar < 1
)
SELU = Difference(
    ("LeakyReLU",), "the constants of ONNX's Selu are single precision", ("float64",), lambda p: p.act_type == "selu"
)
STEPS = Difference(
    ("_contrib_quantize", "_contrib_quantize_v2", "_contrib_requantize"),
    "ONNX divides by the size of a step, which is rounded, so that halves fall to either side",
)
DIFFERENCES = (POWERS, DIVISION, SELU, STEPS)
"""See the module's text."""

__all__ = ["DIFFERENCES", "Difference"]
