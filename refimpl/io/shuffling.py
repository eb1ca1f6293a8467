"""MXNet's random orders and small random numbers: an MT19937 stream, cut into equal buckets."""

from __future__ import annotations

import numpy as np

from ..base import decides


def stream_of(seed: int) -> np.random.MT19937:
    """The stream of 32-bit numbers that C++'s ``mt19937(seed)`` gives."""
    stream = np.random.MT19937()
    stream._legacy_seeding(seed % 2**32)
    return stream


def below(stream: np.random.MT19937, count: int) -> int:
    """A whole number from 0 to ``count`` - 1.

    A 32-bit number is divided by floor((2^32 - 1) / count); a quotient of ``count`` is drawn again.
    """
    bucket = 0xFFFFFFFF // count
    while (quotient := int(stream.random_raw()) // bucket) >= count:
        pass
    return quotient


@decides("ImageRecordIter/order")
def shuffled(order: np.ndarray, stream: np.random.MT19937) -> np.ndarray:
    """A Fisher-Yates shuffle from the front: position i (1, 2, ...) is exchanged with one of 0 to i."""
    made = order.copy()
    for position in range(1, len(made)):
        other = below(stream, position + 1)
        made[position], made[other] = made[other], made[position]
    return made


__all__ = ["below", "shuffled", "stream_of"]
