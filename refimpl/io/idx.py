"""The idx-ubyte file format of MNIST: a big-endian header, then bytes, first axis slowest.

    byte 0   00 00 08 rank     magic number: 08 means unsigned bytes; 2049 for labels, 2051 for images
    byte 4   one 32-bit size for each axis
    then     the values

A file may come from anywhere, so nothing that it says is believed before it is checked: the sizes are
compared with the length of the file before memory is taken for them.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from ..base import decides, refusal
from ..files.reading import open_file

LARGEST = 2**31  # bytes; four times the largest file in use (EMNIST)
MOST_COMPRESSED = 1032  # a deflate stream cannot hold more bytes than this for each of its own
LABELS, IMAGES = 1, 3


def read_idx(path: str | os.PathLike, rank: int) -> np.ndarray:
    """Read an idx-ubyte file, plain or compressed with gzip.

    Args:
        path: name of the file.
        rank: number of axes it must have: ``LABELS`` (1) or ``IMAGES`` (3).

    Returns:
        A uint8 array with ``rank`` axes, each of size 1 or more. Bytes after the last value are ignored.

    Raises:
        MXNetError: the file cannot be opened, is not of this kind, is cut short, or promises more than
            it holds. The message names the file and the byte where it went wrong.
    """
    path = Path(path)
    try:
        with open_file(path) as raw:
            length = os.fstat(raw.fileno()).st_size
            compressed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if compressed:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    return _parse(path, unpacked, rank, length * MOST_COMPRESSED)  # type: ignore[arg-type]
            return _parse(path, raw, rank, length)
    except OSError as error:
        reason = error.strerror or error
        raise refusal("MNISTIter/open", f'cannot open "{path}": {reason}') from error


def _parse(path: Path, stream: IO[bytes], rank: int, most: int) -> np.ndarray:
    """Check the header, then read. ``most`` is the largest number of bytes that can come."""
    kind = {LABELS: "label", IMAGES: "image"}[rank]
    magic = struct.unpack(">I", _read(path, stream, 0, 4, "the magic number"))[0]
    if magic != 0x800 + rank:
        raise refusal(
            "MNISTIter/magic", f'"{path}", byte 0: magic number {magic}, but an idx {kind} file begins'
            f" with {0x800 + rank}; check that images and labels are not exchanged",
        )
    sizes = struct.unpack(f">{rank}I", _read(path, stream, 4, 4 * rank, "the sizes"))
    for axis, size in enumerate(sizes):
        if size == 0:
            raise refusal(
                "MNISTIter/sizes", f'"{path}", byte {4 + 4 * axis}: axis {axis} has size 0, expected 1'
                " or more",
            )
    header, count = 4 + 4 * rank, math.prod(sizes)
    shown = " x ".join(map(str, sizes))
    if count > LARGEST:
        raise refusal(
            "MNISTIter/sizes", f'"{path}", byte 4: {shown} values are more than the limit of {LARGEST}'
        )
    if header + count > most:
        raise refusal(
            "MNISTIter/truncated", f'"{path}", byte {most}: the file ends here, but its header promises'
            f" {shown} = {count} values after byte {header}; fetch the file again",
        )
    values = _read(path, stream, header, count, f"the {shown} = {count} values", check=True)
    return np.frombuffer(values, np.uint8).reshape(sizes)


@decides("MNISTIter/gzip")
def _read(
    path: Path, stream: IO[bytes], start: int, count: int, what: str, *, check: bool = False
) -> bytes:
    """Read ``count`` bytes, piece by piece, so that memory grows only with what is really there."""
    pieces: list[bytes] = []
    got = 0
    try:
        while got < count:
            piece = stream.read(min(count - got, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            got += len(piece)
        if check:
            stream.read(1)  # gzip compares its checksum when it meets the end
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise refusal(
            "MNISTIter/truncated", f'"{path}", byte {start + got} (unpacked): the gzip stream is broken'
            f" or cut short within {what} ({error}); fetch the file again",
        ) from error
    if got < count:
        raise refusal(
            "MNISTIter/truncated", f'"{path}", byte {start + got}: the file ends within {what};'
            " fetch the file again",
        )
    return b"".join(pieces)


__all__ = ["IMAGES", "LABELS", "read_idx"]
