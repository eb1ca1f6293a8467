"""Sums of dense arrays of several devices, in the store's order of addition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import NoParams, allocate, get
from ..kernels.foundation import run as runner
from ..ndarray import NDArray


def require_alike(key: Any, arrays: Sequence[NDArray], stored: NDArray) -> None:
    """Refuse arrays of another shape than ``stored`` (MXNetError)."""
    for array in arrays:
        if array.shape != stored.shape:
            raise refusal(
                "KVStore/push-alike",
                f"the arrays pushed to key {key!r} must have the stored shape {stored.shape}; got {array.shape}",
            )


@decides("KVStore/sum-order-local", "KVStore/sum-order-device", "ExecutorGroup/same-result")
def added_up(arrays: Sequence[NDArray], context: Context, dtype: Any, size: int) -> NDArray:
    """Return the sum of two or more arrays of one shape, cast to ``dtype``.

    The first array is the total; each group of ``size`` later arrays is added up, and its sum is added to the total.
    """
    total, *rest = [_beside(_cast(array, dtype), context) for array in arrays]
    for start in range(0, len(rest), size):
        group, *others = rest[start : start + size]
        for other in others:
            group = _added(group, other)
        total = _added(total, group)
    return total


def _cast(array: NDArray, dtype: Any) -> NDArray:
    return array if array.dtype is dtype else array.astype(dtype)


def _beside(array: NDArray, context: Context) -> NDArray:
    """``array``, or a copy on ``context`` if an operator there cannot read its memory."""
    return array if array.handle.device == context.memory else array.as_in_context(context)


def _added(left: NDArray, right: NDArray) -> NDArray:
    """``mx.nd.elemwise_add(left, right)``, for arrays of the same shape and dtype, without checks."""
    one, other = left.handle, right.handle
    total = allocate(one.shape, one.dtype, one.device)
    runner.forward(get("elemwise_add"), NoParams(), [one, other], [total])
    return NDArray(total, left.context)
