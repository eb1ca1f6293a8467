"""DLPack: arrays from other libraries, and capsules for them. The methods of arrays are in ``ndarray.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtype_of, refusal
from ..context import cpu
from ..kernels.foundation import as_buffer
from .ndarray import NDArray, _unpickled


def from_dlpack(dlpack: Any) -> NDArray:
    """An array with a copy of the values of a DLPack capsule, or of any object with ``__dlpack__`` (CPU only).

    Raises:
        TypeError: ``dlpack`` is neither, or an NDArray cannot have its dtype or layout.
    """
    held = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    try:
        values = np.from_dlpack(held)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise refusal("NDArray/from-dlpack", f"this cannot be read as a DLPack capsule: {error}", TypeError) from None
    dtype_of(values.dtype)
    return NDArray(as_buffer(values), cpu(0))  # as_buffer copies into memory that may be read past the end


class _Capsule:
    """A bare capsule with the methods that NumPy calls."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``, not to be written."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``; writes through the capsule change ``data``."""
    return data.to_dlpack_for_write()

__all__ = ["_unpickled", "from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write"]  # older pickles name the first
