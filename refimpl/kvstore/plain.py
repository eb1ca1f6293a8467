"""Plain values as bytes, for the values that a worker gives a server to keep. Reading bytes never runs code.

The bytes are: ``RIPV``, the length of a header (8 bytes, little-endian), the header as JSON, then the arrays, each at a
multiple of 64 bytes from the beginning. The header is ``[[type, shape, offset] of each array, the value]``; in the
value ``{"a": i}`` is array i, ``{"b": i}`` its bytes, ``{"n": i}`` a NumPy number, ``{"t": [...]}`` a tuple and
``{"d": [[key, value], ...]}`` a dict.
"""

from __future__ import annotations

import json
import math
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..base import decides, refusal

MAGIC = b"RIPV"
ALIGNED = 64
_HEAD = struct.Struct("<4sQ")


@decides("Cluster/plain")
def pack(value: Any) -> bytes:
    """``value`` as bytes: None, numbers, text, bytes, NumPy arrays of numbers, and lists, tuples and dicts of these.

    Raises:
        MXNetError: ``value`` holds an object of another type.
    """
    return b"".join(parts(value))


def parts(value: Any) -> list[bytes | memoryview]:
    """The pieces of bytes that :func:`pack` joins; contiguous arrays are not copied."""
    known: _Known = {}
    said = _said(value, known)
    table, offset = [], 0
    arrays = [array for *_, array in known.values()]
    for array in arrays:
        table.append([array.dtype.str, list(array.shape), offset])
        offset += _aligned(array.nbytes)
    header = json.dumps([table, said]).encode()
    size = _HEAD.size + len(header)
    made: list[bytes | memoryview] = [_HEAD.pack(MAGIC, len(header)) + header + bytes(_aligned(size) - size)]
    for array in arrays:
        if array.nbytes:
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            made += [flat.data, bytes(_aligned(array.nbytes) - array.nbytes)]
    return made


def _aligned(size: int) -> int:
    """``size`` rounded up to a multiple of ``ALIGNED``, at which the next array begins."""
    return -(-size // ALIGNED) * ALIGNED


_Known = dict[int, tuple[int, Any, np.ndarray]]
"""Id of an object -> (number of its array, the object, which is kept so that ids stay unique, its array)."""


def _said(value: Any, arrays: _Known) -> Any:
    """The JSON form of a value; its arrays are added to ``arrays``."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list):
        return [_said(one, arrays) for one in value]
    if type(value) is tuple:
        return {"t": [_said(one, arrays) for one in value]}
    if type(value) is dict:
        return {"d": [[_said(key, arrays), _said(one, arrays)] for key, one in value.items()]}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return {"n" if isinstance(value, np.generic) else "a": _place(value, np.asarray(value), arrays)}
    if isinstance(value, bytes):
        return {"b": _place(value, np.frombuffer(value, np.uint8), arrays)}
    raise refusal(
        "Cluster/plain",
        f"servers keep numbers, text, bytes, arrays, lists, tuples and dicts of these, not a {type(value).__name__}",
    )


def _place(value: Any, array: np.ndarray, arrays: _Known) -> int:
    """The number of an array among ``arrays``, to which a new array is added; a shared array is written once."""
    return arrays.setdefault(id(value), (len(arrays), value, array))[0]


class Pieces:
    """Bytes in several pieces, read as one sequence without joining them in memory.

    Args:
        pieces: the pieces.
        skipped: the number of bytes at the beginning of the first piece that are left out.
    """

    def __init__(self, pieces: Sequence[bytes | bytearray | memoryview], skipped: int = 0) -> None:
        self.views = [memoryview(piece).toreadonly() for piece in pieces if len(piece)]
        if skipped:
            self.views[0] = self.views[0][skipped:]
        self._ends = list(accumulate(len(view) for view in self.views))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def between(self, begin: int, end: int) -> memoryview:
        """Bytes ``begin`` to ``end``: a view if one piece has them all, otherwise a copy."""
        first = bisect_right(self._ends, begin)
        if begin >= end or first == len(self.views):
            return memoryview(b"")
        before = self._ends[first] - len(self.views[first])
        if end <= self._ends[first]:
            return self.views[first][begin - before : end - before]
        last = bisect_left(self._ends, end)
        return memoryview(b"".join(self.views[first : last + 1]))[begin - before : end - before]


@decides("Cluster/plain")
def unpack(content: bytes | memoryview | Pieces, name: str = "what was kept") -> Any:
    """The value whose bytes :func:`pack` made; its arrays are read-only views of ``content``.

    Raises:
        MXNetError: ``content`` is damaged; the message begins with ``name``.
    """
    if not isinstance(content, Pieces):
        content = Pieces([content])
    try:
        magic, size = _HEAD.unpack(content.between(0, _HEAD.size))
        if magic != MAGIC or size > len(content) - _HEAD.size:
            raise ValueError(f"it begins with {magic!r} and a header of {size} bytes, in {len(content)} bytes")
        table, said = json.loads(bytes(content.between(_HEAD.size, _HEAD.size + size)))
        start = _aligned(_HEAD.size + size)
        arrays = [_array(content, start, *entry) for entry in table]
        sizes = [offset + _aligned(array.nbytes) for (*_, offset), array in zip(table, arrays, strict=True)]
        if len(content) != start + max(sizes, default=0):
            raise ValueError(f"it has {len(content)} bytes, {start + max(sizes, default=0)} by its header")
        return _meant(said, arrays)
    except (ValueError, TypeError, KeyError, IndexError, struct.error, RecursionError) as error:
        raise refusal("Cluster/plain", f"{name} is damaged: {error}") from error


def _array(content: Pieces, start: int, kind: str, shape: list[int], offset: int) -> np.ndarray:
    dtype = np.dtype(kind)
    if dtype.kind not in "biufc" or not all(isinstance(side, int) and side >= 0 for side in (*shape, offset)):
        raise ValueError(f"an array of type {kind!r} and shape {shape} at {offset}")
    count = math.prod(shape)
    begin, size = start + offset, count * dtype.itemsize
    if begin + size > len(content):
        raise ValueError(f"an array of shape {shape} at {offset} does not fit into {len(content)} bytes")
    return np.frombuffer(content.between(begin, begin + size), dtype, count).reshape(shape)


def _meant(said: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(said, list):
        return [_meant(one, arrays) for one in said]
    if not isinstance(said, dict):
        return said
    (kind, what), = said.items()
    if kind == "t":
        return tuple(_meant(one, arrays) for one in what)
    if kind == "d":
        return {_meant(key, arrays): _meant(one, arrays) for key, one in what}
    array = arrays[what]
    return {"a": array, "n": array[()], "b": array.tobytes() if kind == "b" else None}[kind]


__all__ = ["Pieces", "pack", "parts", "unpack"]
