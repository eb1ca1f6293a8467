"""The memory that executors share: one arena per context, in which the memory plan gives every value an offset."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..base import decides
from ..context import Context
from ..kernels.foundation import Buffer, Shape, allocate
from ..kernels.foundation.forks import own_lock

SLACK_BYTES = 512
"""Vector kernels may read 64 elements past the end of an array, of at most 8 bytes each."""


class Arena:
    """``size`` bytes of memory of one context."""

    def __init__(self, context: Context, size: int) -> None:
        self.size = size
        self.memory = allocate((size + SLACK_BYTES,), np.dtype(np.uint8), context.memory)


@decides("memory/contexts", "memory/shared-pool")
class Pool:
    """The arenas of executors that share memory: each context keeps the largest arena that was requested."""

    def __init__(self) -> None:
        self.arenas: dict[Context, Arena] = {}
        self.lent: dict[tuple[Any, np.dtype], np.ndarray] = {}  # memory that kernels borrow: `replay/programs.py`
        self.turn = own_lock()  # held by the thread that runs one of the executors
        self.unfinished = False  # whether the last forward that used this memory was left in the middle

    def arena(self, context: Context, size: int) -> Arena:
        """An arena of at least ``size`` bytes; executors made earlier keep their arena."""
        found = self.arenas.get(context)
        if found is None or found.size < size:
            found = self.arenas[context] = Arena(context, size)
        return found


class Parts:
    """Makes arrays over parts of memory; each memory is viewed as each dtype only once."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, np.dtype], tuple[Buffer, Any]] = {}

    def part(self, memory: Buffer, offset: int, dtype: np.dtype, shape: Shape) -> Buffer:
        """An array over a part of ``memory``.

        Args:
            memory: the whole memory, of any dtype.
            offset: the byte at which the array begins, a multiple of the bytes of an element.
            dtype: the dtype of the array.
            shape: the shape of the array.
        """
        found = self._seen.get((id(memory), dtype))
        if found is None:
            found = self._seen[id(memory), dtype] = memory, _seen_as(memory, dtype)
        start = offset // dtype.itemsize
        return Buffer(found[1][start : start + prod(shape)], shape, memory.device)


def part(memory: Buffer, offset: int, dtype: np.dtype, shape: Shape) -> Buffer:
    """An array over a part of ``memory``; see :meth:`Parts.part`."""
    return Parts().part(memory, offset, dtype, shape)


def _seen_as(memory: Buffer, dtype: np.dtype) -> Any:
    """The whole memory as elements of another dtype, without last bytes that are too few for an element."""
    flat = memory.flat
    if flat.dtype == dtype:
        return flat
    seen: Any = flat.view(np.dtype(np.uint8))
    seen = seen[: seen.size // dtype.itemsize * dtype.itemsize].view(dtype)
    if memory.device != "cpu" and not hasattr(seen, "copy_to_host"):
        seen = type(flat)(seen)  # the simulator's view is a bare NumPy array
    return seen
