"""The memory that executors share: one arena per context, in which the plan gives every value an offset."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..base import decides
from ..context import Context
from ..kernels.foundation import Buffer, Shape, allocate

SLACK_BYTES = 512
"""Vector kernels may read 64 elements past the end of an array, of at most 8 bytes each."""


class Arena:
    """``size`` bytes of memory of one context."""

    def __init__(self, context: Context, size: int) -> None:
        self.size = size
        self.memory = allocate((size + SLACK_BYTES,), np.dtype(np.uint8), context.memory)


@decides("memory/contexts", "memory/shared-pool")
class Pool:
    """The arenas of executors that share memory: each context has the largest that was asked for."""

    def __init__(self) -> None:
        self.arenas: dict[Context, Arena] = {}
        self.lent: dict[tuple[Any, np.dtype], np.ndarray] = {}  # what kernels work in: see `table.py`
        self.unfinished = False  # whether the last forward that used this memory was left in the middle

    def arena(self, context: Context, size: int) -> Arena:
        """An arena of at least ``size`` bytes; executors made earlier keep the one they have."""
        found = self.arenas.get(context)
        if found is None or found.size < size:
            found = self.arenas[context] = Arena(context, size)
        return found


def part(memory: Buffer, offset: int, dtype: np.dtype, shape: Shape) -> Buffer:
    """An array over a part of other memory.

    Args:
        memory: the whole, of any type.
        offset: the byte of it where the array begins.
        dtype: the type of the array's elements.
        shape: the array's shape.
    """
    piece = _seen_as(memory, memory.flat, np.dtype(np.uint8))[offset : offset + prod(shape) * dtype.itemsize]
    return Buffer(_seen_as(memory, piece, dtype), shape, memory.device)


def _seen_as(memory: Buffer, flat: Any, dtype: np.dtype) -> Any:
    """The same bytes as elements of another type."""
    if flat.dtype == dtype:
        return flat
    seen: Any = flat.view(dtype)
    if memory.device == "gpu" and not hasattr(seen, "copy_to_host"):
        seen = type(memory.flat)(seen)  # the simulator's view is a bare NumPy array
    return seen
