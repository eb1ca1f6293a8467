"""Memory of other libraries, by DLPack. The methods of an array that give its own memory are in ``ndarray.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtype_of, refusal
from ..context import cpu
from ..kernels.foundation import as_buffer
from .ndarray import NDArray, _unpickled


def from_dlpack(dlpack: Any) -> NDArray:
    """A copy of what a DLPack capsule, or any object with ``__dlpack__``, holds (CPU only).

    Raises:
        TypeError: it is neither, or its element type or layout is not one of ours.
    """
    held = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    try:
        values = np.from_dlpack(held)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise refusal("NDArray/from-dlpack", f"this cannot be read as a DLPack capsule: {error}", TypeError) from None
    dtype_of(values.dtype)
    return NDArray(as_buffer(values), cpu(0))  # kernels may read past an array's end: that of others has none to spare


class _Capsule:
    """Gives a bare capsule the methods that NumPy asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``; whoever holds it should not write."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``; writes through it are seen there."""
    return data.to_dlpack_for_write()

__all__ = ["_unpickled", "from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write"]  # older pickles name the first
