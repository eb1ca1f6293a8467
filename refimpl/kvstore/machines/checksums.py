"""Checksums of messages and records; a byte beside each checksum has its kind."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

from ...base import decides

try:
    import xxhash
except ImportError:  # it comes with the extra "test"
    xxhash = None

Bytes = bytes | bytearray | memoryview

CRC32, XXH3 = 1, 2
NAMES = {CRC32: "crc32", XXH3: "xxh3"}
FASTEST = CRC32 if xxhash is None else XXH3


@decides("Cluster/checksum")
def checksum(kind: int, pieces: Iterable[Bytes], refused: Callable[[str], Exception]) -> int:
    """The checksum of kind ``kind`` of several pieces, one after the other.

    Raises:
        MXNetError: ``refused(reason)``, when there is no such checksum, or its package is missing.
    """
    if kind == CRC32:
        value = 0
        for piece in pieces:
            value = zlib.crc32(piece, value)
        return value
    if kind not in NAMES:
        raise refused(f"there is no checksum {kind}: {', '.join(f'{k} is {n}' for k, n in NAMES.items())}")
    if xxhash is None:
        raise refused("its checksum is xxh3, and the package xxhash is not installed: pip install xxhash")
    state = xxhash.xxh3_64()
    for piece in pieces:
        state.update(piece)
    return int(state.intdigest())


__all__ = ["CRC32", "FASTEST", "NAMES", "XXH3", "Bytes", "checksum"]
