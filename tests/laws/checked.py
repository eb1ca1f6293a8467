"""Loops as plain Python over memory that refuses every index outside of it.

Machine code would read or write there without a word, and Python's own lists take -1 for the last element. Here an
index that is negative, too large or no whole number raises :class:`OutsideError`, and so does a number handed to a loop
that does not fit into 64 bits. What would take too long or too much memory to run in this way raises
:class:`TooMuchError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from refimpl.kernels.foundation import buffer, loop

ACCESSES = 60_000
ELEMENTS = 20_000


class OutsideError(AssertionError):
    """A loop left its buffers."""


class TooMuchError(Exception):
    """The call is larger than what can be checked in this way; it says nothing about the operator."""


class Budget:
    """How many accesses the loops of one call may still make."""

    def __init__(self, accesses: int) -> None:
        self.left = accesses


class Checked:
    """An array as loops see it: flat, or of as many axes as the loop names."""

    __slots__ = ("_budget", "_flat", "shape")

    def __init__(self, flat: np.ndarray, budget: Budget, shape: tuple[int, ...] | None = None) -> None:
        self._flat, self._budget = flat, budget
        self.shape = tuple(map(np.int64, flat.shape if shape is None else shape))

    def reshape(self, shape: tuple[int, ...]) -> Checked:
        """The same memory with other axes."""
        return Checked(self._flat, self._budget, shape)

    def _inside(self, place: Any) -> Any:
        indices = place if isinstance(place, tuple) else (place,)
        for index, side in zip(indices, self.shape, strict=True):
            if not isinstance(index, (int, np.integer)) or not 0 <= index < side:
                raise OutsideError(f"index {place!r} into an array of shape {self.shape}")
        index = int(np.ravel_multi_index(indices, self.shape)) if isinstance(place, tuple) else place
        self._budget.left -= 1
        if self._budget.left < 0:
            raise TooMuchError
        return index

    def __getitem__(self, index: Any) -> Any:
        value = self._flat[self._inside(index)]
        return value if self._flat.dtype.kind == "f" else np.int64(value)  # machine code reckons in 64 bits

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._inside(index)
        try:
            self._flat[at] = value
        except (OverflowError, ValueError):  # machine code wraps whole numbers around, and has some number for NaN
            self._flat[at] = _wrapped(value, self._flat.dtype)


def _wrapped(value: Any, kind: np.dtype) -> Any:
    if isinstance(value, (int, np.integer)):
        return np.uint64(int(value) % 2**64).astype(kind)
    return np.float64(value).astype(kind)


@contextmanager
def small_arrays(elements: int = 2**22, poison: float | None = None) -> Iterator[None]:
    """Within this block there is no memory for more ``elements`` at a time, and working memory is new.

    New memory holds ``poison``, if there is one, or for NaN a whole number that is no index.
    """
    reserve = buffer.aligned_empty

    def bounded(size: int, dtype: Any) -> np.ndarray:
        if elements < size < 2**40:  # what is larger is refused before it is asked for
            raise TooMuchError
        memory, kind = reserve(size, dtype), np.dtype(dtype)
        if poison is not None:
            whole = kind.kind in "iu" and math.isnan(poison)
            memory[...] = np.iinfo(kind).max if whole else poison
        return memory

    with mock.patch.object(buffer, "aligned_empty", bounded), mock.patch.dict(buffer._ARENA.blocks, clear=True):
        yield


@contextmanager
def checked_loops(device: str = "cpu", poison: float = math.nan) -> Iterator[None]:
    """Within this block loops run in the text for ``device``, with checked indices and within bounds of work."""
    unwrapped, budget = loop.Loop.unwrapped, Budget(ACCESSES)

    def checked(of: loop.Loop, args: tuple[Any, ...]) -> list[Any]:
        given = unwrapped(of, args)
        for arg in given:
            for number in arg if isinstance(arg, tuple) else (arg,):
                if isinstance(number, int) and not -(2**63) <= number < 2**63:
                    raise OutsideError(f"a loop was handed {number}, which has more than 64 bits")
        return [Checked(arg, budget) if isinstance(arg, np.ndarray) else arg for arg in given]

    with (
        loop.python_loops(device), mock.patch.object(loop.Loop, "unwrapped", checked), small_arrays(ELEMENTS, poison),
    ):
        yield
