"""The ``.params`` format: a little-endian list of arrays with optional names.

    u64 0x112, u64 0, u64 n, n array records, u64 k (0 or n), k times (u64 length, UTF-8 bytes)

An array record (version 2) is
    u32 0xF993FAC9, i32 storage (0: dense), i32 rank, rank x i64 sides, i32 device type, i32 device id,
    i32 dtype flag, the values in C order.

Files are hostile until read: every size is checked against what is left of the file before memory is
reserved, and a refusal names the file and the byte.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import write_atomically
from ..base import DTYPE_FLAGS, FLAG_DTYPES, refusal
from ..context import Context, cpu, num_gpus
from .ndarray import NDArray, array

_LIST_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_MAX_RANK = 32


class _Reader:
    """Bytes of one file with a position; every read is checked."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.at = data, name, 0

    def fail(self, reason: str) -> Exception:
        return refusal(
            "params-file/valid",
            f"Invalid NDArray file format: {self.name}, byte {self.at}: {reason}",
        )

    def take(self, count: int) -> bytes:
        left = len(self.data) - self.at
        if count > left:
            raise self.fail(f"needs {count} more bytes, the file has {left}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code: str) -> int:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return value


def _read_shape(reader: _Reader, code: str, rank: int) -> tuple[int, ...]:
    if not 0 <= rank <= _MAX_RANK:
        raise reader.fail(f"rank {rank} is not between 0 and {_MAX_RANK}")
    sides = tuple(reader.number(code) for _ in range(rank))
    if any(side < 0 for side in sides):
        raise reader.fail(f"negative side in shape {sides}")
    return sides


def _read_array(reader: _Reader) -> NDArray | None:
    magic = reader.number("I")
    if magic in (_V2, _V3):
        storage = reader.number("i")
        if storage != 0:
            raise reader.fail(f"storage type {storage} (sparse) is not supported, only dense (0)")
        shape = _read_shape(reader, "q", reader.number("i"))
    elif magic == _V1:
        shape = _read_shape(reader, "q", reader.number("i"))
    else:  # before version 1 the record began with the rank
        shape = _read_shape(reader, "I", magic)
    if not shape and magic != _V3:
        return None  # an array that was never allocated: nothing follows
    device, number = reader.number("i"), reader.number("i")
    flag = reader.number("i")
    if flag not in FLAG_DTYPES:
        raise reader.fail(f"unknown dtype flag {flag}")
    dtype = FLAG_DTYPES[flag]
    values = np.frombuffer(reader.take(prod(shape) * dtype.itemsize), dtype.newbyteorder("<"))
    gpu_present = device == Context.devstr2type["gpu"] and number < num_gpus()
    ctx = Context("gpu", number) if gpu_present else cpu(0)
    return array(values.reshape(shape), ctx, dtype)


def load_frombuffer(buffer: bytes, name: str = "buffer") -> Any:
    """Read a ``.params`` file's bytes: a dict when arrays have names, otherwise a list.

    Raises:
        MXNetError: the bytes are not such a file; the message names ``name`` and the byte.
    """
    reader = _Reader(bytes(buffer), name)
    if reader.number("Q") != _LIST_MAGIC:
        reader.at = 0
        raise reader.fail("the file does not begin with an NDArray list (0x112)")
    reader.number("Q")
    count = reader.number("Q")
    if count > len(buffer) // 4:
        raise reader.fail(f"{count} arrays are declared, more than the file can hold")
    arrays = [_read_array(reader) for _ in range(count)]
    names_count = reader.number("Q")
    if names_count not in (0, count):
        raise reader.fail(f"{names_count} names for {count} arrays")
    if names_count == 0:
        return arrays
    names = []
    for _ in range(names_count):
        raw = reader.take(reader.number("Q"))
        try:
            names.append(raw.decode("utf-8"))
        except UnicodeDecodeError:
            raise reader.fail("a name is not UTF-8 text") from None
    return dict(zip(names, arrays, strict=True))


def load(fname: str) -> Any:
    """Read a ``.params`` file: a dict when its arrays have names, otherwise a list.

    Raises:
        MXNetError: the file is missing, unreadable or damaged.
        TypeError: ``fname`` is not a string or path.
    """
    if not isinstance(fname, (str, Path)):
        raise refusal("params-file/name", f"fname must be a string, got {type(fname).__name__}", TypeError)
    try:
        data = Path(fname).read_bytes()
    except OSError as error:
        raise refusal("params-file/readable", f"cannot read {fname}: {error.strerror}") from None
    return load_frombuffer(data, str(fname))


def record(source: NDArray) -> bytes:
    """One array as a version 2 record."""
    values = source.asnumpy()
    dtype = values.dtype
    header = struct.pack("<Iii", _V2, 0, values.ndim)
    sides = struct.pack(f"<{values.ndim}q", *values.shape)
    place = struct.pack(
        "<iii", source.context.device_typeid, source.context.device_id, DTYPE_FLAGS[dtype.name]
    )
    return header + sides + place + np.ascontiguousarray(values, dtype.newbyteorder("<")).tobytes()


def to_bytes(data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> bytes:
    """The whole file for one array, a list or a dict of arrays."""
    names: list[Any] = []
    arrays: list[Any] = [data]
    if isinstance(data, Mapping):
        names, arrays = list(data.keys()), list(data.values())
    elif isinstance(data, list):
        arrays = data
    elif not isinstance(data, NDArray):
        raise refusal(
            "params-file/content",
            f"save takes an NDArray, a list of NDArrays or a dict of str to NDArray, got {type(data).__name__}",
            ValueError,
        )
    if not all(isinstance(a, NDArray) for a in arrays) or not all(isinstance(n, str) for n in names):
        raise refusal(
            "params-file/content",
            "save only accepts an NDArray, a list of NDArrays or a dict of str to NDArray", TypeError,
        )
    parts = [struct.pack("<QQQ", _LIST_MAGIC, 0, len(arrays)), *map(record, arrays)]
    parts.append(struct.pack("<Q", len(names)))
    for name in names:
        raw = name.encode("utf-8")
        parts += [struct.pack("<Q", len(raw)), raw]
    return b"".join(parts)


def save(fname: str, data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> None:
    """Write arrays to a file that MXNet 1.x reads; a crash leaves the old file or the new one, whole.

    Raises:
        MXNetError: the folder is missing or not writable.
        ValueError: ``data`` is not an NDArray, a list or a dict.
        TypeError: the list or dict holds something else than NDArrays, or names that are no text.
    """
    write_atomically(fname, to_bytes(data))
