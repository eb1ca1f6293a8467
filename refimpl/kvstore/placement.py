"""The placement of arrays on servers: a small array is whole on one server, the rows of a big one are on all."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..base import decides, refusal
from .messages import Key

# The least number of elements of an array that is split among the servers.
BIG = 1_000_000
SPREAD = 9973  # a prime: consecutive keys go to different servers, whatever the number of servers


@dataclass(frozen=True)
class Part:
    """Rows ``begin`` to ``end`` (along the first axis) of an array, on server ``server``."""

    server: int
    begin: int
    end: int


def big_array_bound() -> int:
    """MXNET_KVSTORE_BIGARRAY_BOUND, or 1,000,000 elements.

    Raises:
        ValueError: the environment variable is not a whole number.
    """
    text = os.environ.get("MXNET_KVSTORE_BIGARRAY_BOUND", str(BIG))
    try:
        return int(text)
    except ValueError:
        raise refusal(
            "Cluster/bound", f"MXNET_KVSTORE_BIGARRAY_BOUND must be a whole number, it is {text!r}", ValueError
        ) from None


@decides("Cluster/placement")
def server_of(key: Key, servers: int) -> int:
    """The server of a small array: (key * 9973) mod servers; a string counts as the CRC-32 of its UTF-8 bytes."""
    number = zlib.crc32(key.encode("utf-8", "surrogatepass")) if isinstance(key, str) else key
    return number * SPREAD % servers


@decides("Cluster/split")
def parts_of(key: Key, shape: Sequence[int], servers: int, bound: int) -> tuple[Part, ...]:
    """The parts of an array: one part, or, from ``bound`` elements on, a part per server (a scalar stays whole).

    Of n servers, part i has the rows from round(rows * i / n) up to round(rows * (i + 1) / n), halves rounded up.
    """
    rows = shape[0] if shape else 1
    if not shape or prod(shape) < bound or servers == 1:
        return (Part(server_of(key, servers), 0, rows),)
    edges = [(2 * rows * i + servers) // (2 * servers) for i in range(servers + 1)]
    return tuple(Part(i, edges[i], edges[i + 1]) for i in range(servers))


__all__ = ["Part", "big_array_bound", "parts_of", "server_of"]
