"""Dense operators on the values of sparse arrays, and half precision on its way into loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...context import Context
from ...kernels.foundation import Buffer, Op, allocate, get
from ...kernels.foundation import run as runner
from .. import dense
from ..ndarray import NDArray

_WIDER: dict[np.dtype, np.dtype] = {np.dtype(np.float16): np.dtype(np.float32), np.dtype(np.bool_): np.dtype(np.uint8)}


def widened(array: NDArray) -> Buffer:
    """The memory of a dense array, as a copy in a wider type where loops do not take its own."""
    memory = array._data
    kind = _WIDER.get(memory.dtype)
    if kind is None:
        return memory
    wide = allocate(memory.shape, kind, memory.device)
    wide.copy_from(memory)
    return wide


def narrowed(memory: Buffer, dtype: Any, ctx: Context) -> NDArray:
    """``memory`` as a dense array of type ``dtype``."""
    if memory.dtype == dtype:
        return NDArray(memory, ctx)
    narrow = allocate(memory.shape, np.dtype(dtype), memory.device)
    narrow.copy_from(memory)
    return NDArray(narrow, ctx)


def on_dense(op: Op | str, p: Any, arrays: Sequence[NDArray]) -> NDArray:
    """The one output of a dense operator on dense arrays, which may be empty and are never put on the tape.

    ``p`` holds parsed parameters, or the attributes themselves.
    """
    if isinstance(op, str):
        op = get(op)
    if isinstance(p, dict):
        p = op.parse({op.variadic: len(arrays), **p} if op.variadic else p)
    ctx = arrays[0].context
    memories = [array.as_in_context(ctx)._data for array in arrays]
    (shape, dtype), *_ = dense.plan_of(op, p, memories).results
    out = allocate(shape, dtype, ctx.memory)
    runner.forward(op, p, memories, [out])
    return NDArray(out, ctx)
