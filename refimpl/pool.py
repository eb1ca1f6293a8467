"""The memory that executors share: one arena per context, out of which the plan cuts its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .context import Context
from .kernels.foundation import Buffer, Shape, allocate

SLACK_BYTES = 512
"""Vector kernels may read 64 elements past the end of an array, of at most 8 bytes each."""


class Arena:
    """``size`` bytes of memory of one context."""

    def __init__(self, context: Context, size: int) -> None:
        self.size = size
        self.memory = allocate((size + SLACK_BYTES,), np.dtype(np.uint8), context.memory)

    def part(self, offset: int, count: int, dtype: np.dtype, shape: Shape) -> Buffer:
        """``count`` elements that begin at byte ``offset``."""
        piece = self.memory.flat[offset : offset + count * dtype.itemsize]
        flat: Any = piece.view(dtype)
        if self.memory.device == "gpu" and not hasattr(flat, "copy_to_host"):
            flat = type(piece)(flat)  # the simulator's view is a bare NumPy array
        return Buffer(flat, shape, self.memory.device)


class Pool:
    """The arenas of executors that share memory: each context has the largest that was asked for."""

    def __init__(self) -> None:
        self.arenas: dict[Context, Arena] = {}

    def arena(self, context: Context, size: int) -> Arena:
        """An arena of at least ``size`` bytes; executors made earlier keep the one they have."""
        found = self.arenas.get(context)
        if found is None or found.size < size:
            found = self.arenas[context] = Arena(context, size)
        return found
