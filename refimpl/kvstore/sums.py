"""Sums of dense arrays of several devices, in the store's order of addition."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import Buffer, NoParams, allocate, get
from ..kernels.foundation import run as runner
from ..ndarray import NDArray


def require_alike(key: Any, arrays: Sequence[NDArray], stored: NDArray) -> None:
    """Refuse several arrays that cannot be added up in the place of ``stored`` (MXNetError)."""
    shape = stored.shape
    for array in arrays:
        if array.shape != shape:
            raise refusal(
                "KVStore/push-alike",
                f"the arrays pushed to key {key!r} must have the stored shape {shape}; got {array.shape}",
            )


@decides("KVStore/sum-order-local", "KVStore/sum-order-device", "ExecutorGroup/same-result")
def added_up(arrays: Sequence[NDArray], context: Context, dtype: Any, size: int) -> NDArray:
    """Return the sum of two or more arrays of one shape, cast to ``dtype``.

    The first array is the total; each group of ``size`` later arrays is added up, and its sum is added to the total.
    """
    memory, alike = context.memory, list[NDArray]()
    for array in arrays:
        cast = array if array.dtype is dtype else array.astype(dtype)
        # copied where an operator on ``context`` could not read it
        alike.append(cast if cast._buffer.device == memory else cast.as_in_context(context))
    total, *rest = map(attrgetter("handle"), alike)
    for start in range(0, len(rest), size):
        group, *others = rest[start : start + size]
        for other in others:
            group = _added(group, other)
        total = _added(total, group)
    return NDArray(total, alike[0].context)


def _added(left: Buffer, right: Buffer) -> Buffer:
    """``elemwise_add(left, right)``, for arrays that are known to be alike."""
    total = allocate(left.shape, left.flat.dtype, left.device)
    runner.forward(get("elemwise_add"), NoParams(), [left, right], [total])
    return total
