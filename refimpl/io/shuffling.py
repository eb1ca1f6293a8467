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


@decides("ImageRecordIter/draws")
def unit(stream: np.random.MT19937) -> np.float32:
    """A number from 0 to 1, less than 1: a 32-bit number times 2^-32, in float32."""
    drawn = np.float32(np.uint32(stream.random_raw())) * np.float32(2.0**-32)
    return min(drawn, np.float32(1) - np.float32(2.0**-24))


@decides("ImageRecordIter/draws")
def real(stream: np.random.MT19937, least: float, most: float) -> np.float32:
    """A number from ``least`` to ``most``: ``unit * (most - least) + least`` in float32."""
    low, high = np.float32(least), np.float32(most)
    return np.float32(unit(stream) * (high - low) + low)


@decides("ImageRecordIter/draws")
def normals(stream: np.random.MT19937, deviation: float, count: int) -> list[np.float32]:
    """Normally distributed numbers by Marsaglia's polar method, two from a pair of units; a last one may be lost."""
    made: list[np.float32] = []
    one, two = np.float32(1), np.float32(2)
    while len(made) < count:
        x, y = two * unit(stream) - one, two * unit(stream) - one
        size = x * x + y * y
        if 0 < size <= 1:
            factor = np.sqrt(-two * np.log(size) / size)
            made += [y * factor * np.float32(deviation), x * factor * np.float32(deviation)]
    return made[:count]


@decides("ImageRecordIter/order")
def shuffled(order: np.ndarray, stream: np.random.MT19937) -> np.ndarray:
    """A Fisher-Yates shuffle from the front: position i (1, 2, ...) is exchanged with one of 0 to i."""
    made = order.copy()
    for position in range(1, len(made)):
        other = below(stream, position + 1)
        made[position], made[other] = made[other], made[position]
    return made


__all__ = ["below", "normals", "real", "shuffled", "stream_of", "unit"]
