"""Arrays beside protected memory: a process that reads past the permitted slack, or before the array, crashes.

``aligned_empty`` replaces the kernels' own function of that name. ``PLACE`` and ``POISON`` come from the environment:
"end" lays the slack of every array against the protected page, "start" its beginning; the slack holds the poison.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np

from refimpl.kernels.foundation import SLACK, Buffer

PLACE = os.environ.get("REFIMPL_PROTECTED", "")
POISON = float(os.environ.get("REFIMPL_PROTECTED_POISON", "nan"))
PAGE = mmap.PAGESIZE
_NOTHING = 0  # PROT_NONE


def _between_protected_pages(size: int) -> np.ndarray:
    """Whole pages of at least ``size`` bytes with a page before and one behind that nobody may touch."""
    pages = -(-size // PAGE) * PAGE
    mapping = mmap.mmap(-1, pages + 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    for edge in (address, address + PAGE + pages):
        if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(edge), ctypes.c_size_t(PAGE), _NOTHING):
            raise OSError(ctypes.get_errno(), "mprotect")
    return np.frombuffer(mapping, np.uint8)[PAGE : PAGE + pages]


class Protected:
    """An array in such memory, like ``Surrounded`` of the tests of tuned twins."""

    def __init__(self, values: np.ndarray, place: str = PLACE) -> None:
        kind = values.dtype
        self._bytes = _between_protected_pages((values.size + SLACK) * kind.itemsize)
        poison = POISON if kind.kind == "f" or POISON == POISON else np.iinfo(kind).max if kind.kind in "iu" else True
        memory = self._bytes.view(kind)
        memory[:] = poison
        start = memory.size - values.size - SLACK if place == "end" else 0
        inside = memory[start : start + values.size]
        self._outside = [memory[:start], memory[start + values.size :]]
        self._before = [part.tobytes() for part in self._outside]
        inside[:] = values.reshape(-1)
        self.buffer = Buffer(inside, values.shape)

    def intact(self) -> bool:
        """Whether the slack still holds the poison."""
        return [part.tobytes() for part in self._outside] == self._before


def aligned_empty(size: int, dtype: Any) -> np.ndarray:
    """Memory for ``size`` elements, poisoned, with slack that ends or begins at a protected page."""
    kind = np.dtype(dtype)
    return Protected(np.full(size, POISON if kind.kind == "f" else 1, kind)).buffer.flat
