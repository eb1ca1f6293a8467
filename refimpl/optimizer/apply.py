"""Runs an update operator directly on arrays.

``mx.nd.sgd_update(...)`` parses attributes and infers shapes on each call. A training step calls the operator once per
parameter, with numbers that need no parsing. So the rules of this folder call ``apply_update``: it compares the shapes
of the arrays with the weight's, and runs the operator's page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..kernels.foundation import get
from ..kernels.foundation import run as runner
from ..ndarray import NDArray, operators, zeros

_FLOATS = frozenset((np.float16, np.float32, np.float64))


def apply_update(
    name: str, weight: NDArray, grad: NDArray, *states: NDArray, out: NDArray | None = None, **parameters: Any
) -> None:
    """Run the operator ``name`` on ``weight``, in place unless there is ``out``; ``states`` change in place too.

    ``grad`` may be on another context. All arrays have the weight's shape; ``grad`` has its dtype. ``parameters`` are
    the operator's. If an array is row_sparse, the table of ``ndarray/sparse`` decides whether only the gradient's rows
    are updated.

    Raises:
        MXNetError: a shape or dtype differs, or the weight is not of a floating type.
    """
    op = get(name)
    context = weight.context
    if grad.context is not context:
        grad = grad.as_in_context(context)
    check_alike(name, weight, grad, states)
    if weight.is_sparse or grad.is_sparse:
        for state in states:
            _fill_rows(state)
        operators.invoke(op, [weight, grad, *states], parameters, weight if out is None else out)
        return
    p = op.params(**parameters)
    inputs = [weight.handle, grad.handle]
    for state in states:
        inputs.append(state.handle)
    runner.forward(op, p, inputs, [inputs[0] if out is None else out.handle])


def apply_together(name: str, groups: Sequence[Sequence[NDArray]], **parameters: Any) -> None:
    """Run an operator on many weights, in place; each group is a weight, its gradient and its states.

    Sparse arrays are updated as dense copies, which are copied back.

    Raises:
        MXNetError: as :func:`apply_update`.
    """
    for weight, grad, *states in groups:
        check_alike(name, weight, grad, states)
    inputs = [each.as_in_context(group[0].context) for group in groups for each in group]
    dense = [each.tostype("default") if each.is_sparse else each for each in inputs]
    op = get(name)
    outs = dense[:: len(groups[0])]
    runner.forward(op, op.params(**parameters), [each.handle for each in dense], [out.handle for out in outs])
    for given, used in zip(inputs, dense, strict=True):
        if given is not used:
            given[:] = used


def check_alike(name: str, weight: NDArray, grad: NDArray, states: Sequence[NDArray] = ()) -> None:
    """Require that gradient and states have the weight's shape, and the gradient the weight's floating dtype.

    Raises:
        MXNetError: a shape or dtype differs.
    """
    shape, dtype = weight.shape, weight.dtype
    if dtype not in _FLOATS:
        raise refusal(
            "Optimizer/floating", f"{name}: weights must be floating numbers, not {dtype.__name__}"
        )
    if grad.dtype is not dtype:
        raise refusal(
            "Optimizer/equal-types",
            f"{name}: the weight is {dtype.__name__}, its gradient {grad.dtype.__name__}; cast one",
        )
    for each in (grad, *states):
        if each.shape != shape:
            what = "gradient" if each is grad else "state"
            raise refusal(
                "Optimizer/equal-shapes",
                f"{name}: the weight has shape {shape}, its {what} {each.shape}",
            )


def _fill_rows(state: NDArray) -> None:
    """Store all rows, as zeros, of a row_sparse state that stores no row, as a new state does."""
    if state.stype == "row_sparse" and not len(state.data):  # type: ignore[attr-defined]  # sparse arrays have it
        state[:] = 0


@decides("Optimizer/state-types")
def zeros_like(weight: NDArray, stype: str = "default") -> NDArray:
    """A state of zeros with the weight's shape, type and context."""
    return zeros(weight.shape, weight.context, dtype=weight.dtype, stype=stype)


def master_copy(weight: NDArray) -> NDArray:
    """A float32 copy of the weight, which is updated instead of the weight."""
    return weight.astype(np.float32)


@decides("Optimizer/gradient")
def clipping(optimizer: Any) -> float:
    """``clip_gradient`` as update operators take it: -1 for None and for 0, which both mean no clipping."""
    return float(optimizer.clip_gradient) if optimizer.clip_gradient else -1.0


@decides("Optimizer/clip-zero", "Optimizer/lazy-clip")
def strict_clipping(optimizer: Any) -> float:
    """``clip_gradient``, -1 for None; 0 is kept, so that every element of the gradient becomes 0."""
    return -1.0 if optimizer.clip_gradient is None else float(optimizer.clip_gradient)


__all__ = [
    "apply_together", "apply_update", "check_alike", "clipping", "master_copy", "strict_clipping", "zeros_like",
]
