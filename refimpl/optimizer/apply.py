"""Running an update operator the short way.

``mx.nd.sgd_update(...)`` parses attributes and infers shapes on each call. A training step calls it
once per parameter, always with numbers already at hand, so the rules of this folder come here
instead: the arrays are compared with the weight, and the operator's page runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import refusal
from ..kernels.foundation import get
from ..kernels.foundation import run as runner
from ..ndarray import NDArray

_FLOATS = frozenset((np.float16, np.float32, np.float64))


def apply_update(
    name: str, weight: NDArray, grad: NDArray, *states: NDArray, **parameters: float
) -> None:
    """Run the operator ``name`` on ``weight``, in place; ``states`` change in place too.

    ``grad`` may be on another context. All arrays have the weight's shape; ``grad`` has its dtype.

    Raises:
        MXNetError: a shape or dtype differs, or the weight is not of a floating type.
    """
    op = get(name)
    context = weight.context
    if grad.context is not context:
        grad = grad.as_in_context(context)
    _check(name, weight, grad, states)
    p = op.params(**parameters)
    inputs = [weight.handle, grad.handle, *(state.handle for state in states)]
    runner.forward(op, p, inputs, [weight.handle])


def _check(name: str, weight: NDArray, grad: NDArray, states: tuple[NDArray, ...]) -> None:
    shape, dtype = weight.handle.shape, weight.dtype
    if dtype not in _FLOATS:
        raise refusal(
            "Optimizer/floating", f"{name}: weights must be floating numbers, not {dtype.__name__}"
        )
    if grad.dtype is not dtype:
        raise refusal(
            "Optimizer/equal-types",
            f"{name}: the weight is {dtype.__name__}, its gradient {grad.dtype.__name__}; cast one",
        )
    for array in (grad, *states):
        if array.handle.shape != shape:
            what = "gradient" if array is grad else "state"
            raise refusal(
                "Optimizer/equal-shapes",
                f"{name}: the weight has shape {shape}, its {what} {array.shape}",
            )


def clipping(optimizer: Any) -> float:
    """``clip_gradient`` as update operators take it: -1 for none. 0 means none as well."""
    return float(optimizer.clip_gradient) if optimizer.clip_gradient else -1.0


__all__ = ["apply_update", "clipping"]
