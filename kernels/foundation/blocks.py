"""A loop for CUDA in which the threads of a block work together on numbers that they share.

A page's loop gives each thread items of its own. Where neighbouring items read the same elements, a block of threads
reads them once, into the memory that it shares, and where an item is a long sum in lanes, each lane gets a thread. The
terms of a sum and their order are those of the page, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .buffer import Buffer

MOST_BLOCKS = 65_535
"""More blocks than this are not started: a block takes every so many-th piece of work."""

FLOATS = (np.float32, np.float64)


class BlockTwin(NamedTuple):
    """The faster form of a loop for CUDA, with the same arguments.

    ``function`` divides its work among blocks by ``cuda.blockIdx`` and among threads by ``cuda.threadIdx``. What the
    threads share is ``cuda.shared.array(0, dtype)``, whose ``shared`` elements have the type of the first argument.
    """

    function: FunctionType
    pieces: Callable[[Sequence[Any]], int]
    """Into how many pieces, one for each block, a call with these arguments falls."""
    threads: int
    shared: int
    fits: Callable[[Sequence[Any]], bool] = lambda args: True
    """Whether the form is for a call with these arguments."""

    def takes(self, args: Sequence[Any]) -> bool:
        """Whether a call runs in this form: the arrays before the first number have one real type and are not empty."""
        arrays = []
        for arg in args:
            if type(arg) is not Buffer:
                break
            arrays.append(arg.flat)
        return (
            all(flat.dtype == arrays[0].dtype and flat.size for flat in arrays)
            and arrays[0].dtype.type in FLOATS and self.fits(args)
        )

    def grid(self, args: Sequence[Any]) -> tuple[int, int, int]:
        """Blocks, threads in each, and bytes that a block shares."""
        blocks = max(1, min(self.pieces(args), MOST_BLOCKS))
        return blocks, self.threads, self.shared * args[0].dtype.itemsize
