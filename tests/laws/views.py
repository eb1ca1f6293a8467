"""Buffers under the shapes that loops see."""

from __future__ import annotations

from typing import Any

import numpy as np

from refimpl.kernels.foundation import Buffer


def viewed(loop: Any, buffers: list[Buffer]) -> list[Buffer]:
    """Buffers with as many axes as a loop names: sides of 1 behind the first two, or all the last ones as one."""
    made = list(buffers)
    for position, count in getattr(loop, "axes", ()):
        shape = made[position].shape
        if count < len(shape):
            shape = (*shape[: count - 1], int(np.prod(shape[count - 1 :])))
        made[position] = made[position].reshape((*shape[:2], *(1,) * (count - len(shape)), *shape[2:]))
    return made
