"""The ``.params`` format: a little-endian list of arrays with optional names.

    u64 0x112, u64 0, u64 n, n array records, u64 k (0 or n), k times (u64 length, UTF-8 bytes)

An array record (version 2) is
    u32 0xF993FAC9, i32 storage (0 dense, 1 row_sparse, 2 csr), for sparse arrays the shape of the stored values,
    shape, i32 device type, i32 device id, i32 dtype flag, for each array of indices i32 dtype flag and
    shape, the values in C order, the indices
where a shape is i32 rank, rank x i64 dimensions. spec/reference/files/formats.md has the older and the newer versions.

A file may be hostile: every size is checked against the rest of the file before memory is allocated, and an error names
the file and the byte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..base import DTYPE_FLAGS, FLAG_DTYPES, MXNetError, decides, refusal, require
from ..context import Context, cpu, num_gpus
from ..files import reading
from ..files.atomic import write_atomically
from ..files.mistaken import what_it_is
from ..util import is_np_shape
from . import sparse
from .ndarray import NDArray, array

_NO_CHARACTERS = re.compile("[\0\ud800-\udfff]")
_LIST_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_STORAGE = {"default": 0, "row_sparse": 1, "csr": 2}
_BFLOAT16 = 12
_MAX_RANK = 32
_MAX_BYTES = 2**62


# --- reading --------------------------------------------------------------------------------------


class _Reader:
    """The bytes of one file with a position; every read checks that the bytes are there."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.at = data, name, 0

    def fail(self, reason: str, at: int | None = None, slug: str = "valid") -> Exception:
        place = self.at if at is None else at
        return refusal(
            f"params-file/{slug}", f"Invalid NDArray file format: {self.name}, byte {place}: {reason}"
        )

    def take(self, count: int) -> bytes:
        return bytes(self.skip(count))

    def skip(self, count: int) -> memoryview:
        """Step over ``count`` bytes; returns a view of them, without a copy."""
        left = len(self.data) - self.at
        if count > left:
            raise self.fail(f"needs {count} more bytes, the file has {left}")
        self.at += count
        return memoryview(self.data)[self.at - count : self.at]

    def number(self, code: str) -> int:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return value

    def sides(self, code: str, rank: int) -> tuple[int, ...]:
        """A shape of ``rank`` dimensions, each of struct code ``code``."""
        start = self.at
        if not 0 <= rank <= _MAX_RANK:
            raise self.fail(f"rank {rank} is not between 0 and {_MAX_RANK}", start - 4)
        sides = tuple(self.number(code) for _ in range(rank))
        if any(side < 0 for side in sides):
            raise self.fail(f"negative side in shape {sides}", start)
        # NumPy cannot hold so large a dimension, even in a shape without elements
        if prod(side or 1 for side in sides) > _MAX_BYTES // 8:
            raise self.fail(f"shape {sides} is larger than any memory", start)
        return sides

    def shape(self) -> tuple[int, ...]:
        return self.sides("q", self.number("i"))

    def dtype(self) -> np.dtype:
        flag = self.number("i")
        if flag not in FLAG_DTYPES:
            known = " (bfloat16, which is not supported here)" if flag == _BFLOAT16 else ""
            raise self.fail(f"unknown dtype flag {flag}{known}", self.at - 4)
        return FLAG_DTYPES[flag]

    def values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        raw = self.skip(prod(shape) * dtype.itemsize)
        if dtype == np.bool_:  # any byte but 0 is true
            return (np.frombuffer(raw, np.uint8) != 0).reshape(shape)
        return np.frombuffer(raw, dtype.newbyteorder("<")).reshape(shape)


def _require_version(reader: _Reader, magic: int, start: int) -> None:
    """Refuse a record of version 3 outside np_shape, and a record of any other version inside it."""
    if (magic == _V3) == is_np_shape():
        return
    if magic == _V3:
        reason = "the array was saved under np_shape; read it inside `with mx.util.np_shape(True):`"
    else:
        reason = "the array was not saved under np_shape; read it inside `with mx.util.np_shape(False):`"
    raise reader.fail(reason, start, "np-shape")


@decides("params-file/unallocated", "params-file/older-versions")
def _read_array(reader: _Reader, *, alone: bool = False) -> NDArray | None:
    """Read one record; None for an array without memory. ``alone``: read a pickle's record under any np_shape."""
    start = reader.at
    magic = reader.number("I")
    stored: tuple[int, ...] = ()
    storage = 0
    if magic in (_V2, _V3):
        storage = reader.number("i")
        if storage not in _STORAGE.values() or (storage and magic == _V3):
            known = "0" if magic == _V3 else "0 (dense), 1 (row_sparse) or 2 (csr)"
            raise reader.fail(f"storage type {storage} is not {known}", reader.at - 4)
        if storage:
            stored = reader.shape()
        shape = reader.shape()
    elif magic == _V1:
        shape = reader.shape()
    else:  # before version 1 the record began with the rank
        shape = reader.sides("I", magic)
    if not alone:
        _require_version(reader, magic, start)
    if not shape and magic != _V3 and not storage:
        return None  # an array that was never allocated: the record ends here
    device, number = reader.number("i"), reader.number("i")
    dtype = reader.dtype()
    gpu_present = device == Context.devstr2type["gpu"] and 0 <= number < num_gpus()
    ctx = Context("gpu", number) if gpu_present else cpu(0)
    if storage:
        return _read_sparse(reader, storage, stored, shape, dtype, ctx)
    return array(reader.values(shape, dtype), ctx, dtype)


@decides("params-file/sparse")
def _read_sparse(
    reader: _Reader, storage: int, stored: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype,
    ctx: Context,
) -> NDArray:
    """Read the rest of a sparse record: dtypes and shapes of the indices, the values, the indices."""
    start = reader.at
    kinds = []
    for _ in range(storage):
        kind = reader.dtype()
        if kind.name not in ("int64", "int32"):
            raise reader.fail(f"indices of type {kind.name}, not int64", reader.at - 4)
        kinds.append((reader.shape(), kind))
    sizes = [sides for sides, _ in kinds]
    if storage == _STORAGE["row_sparse"]:
        fits = bool(shape) and stored[1:] == shape[1:] and sizes == [stored[:1]]
    else:
        fits = len(shape) == 2 and len(stored) == 1 and sizes == [(shape[0] + 1,), stored]
    if not fits:
        raise reader.fail(f"values of shape {stored} with indices of shapes {sizes} do not make {shape}", start)
    data = reader.values(stored, dtype)
    start = reader.at
    indices = [reader.values(sides, kind).astype(np.int64) for sides, kind in kinds]
    made: Any
    if storage == _STORAGE["row_sparse"]:
        made = sparse.row_sparse_array((data, indices[0]), shape=shape, ctx=ctx, dtype=dtype)
    else:
        made = sparse.csr_matrix((data, indices[1], indices[0]), shape=shape, ctx=ctx, dtype=dtype)
    try:
        return made._ordered()
    except MXNetError as error:
        raise reader.fail(str(error), start) from None


@decides("params-file/version-2")
def load_frombuffer(buf: bytes, name: str = "buffer") -> Any:
    """Read a ``.params`` file's bytes: a dict when arrays have names, otherwise a list.

    Raises:
        MXNetError: the bytes are no ``.params`` file; the message has ``name`` and the position of the wrong byte.
        TypeError: ``buf`` is not bytes.
    """
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise refusal("params-file/buffer", f"buf must be bytes, got {type(buf).__name__}", TypeError)
    reader = _Reader(bytes(buf), name)
    if len(reader.data) < 8 or reader.number("Q") != _LIST_MAGIC:
        plain = "it does not begin with an NDArray list (0x112)"
        raise reader.fail(what_it_is(reader.data) or plain, 0)
    reader.number("Q")
    count = reader.number("Q")
    if count > len(reader.data) // 4:
        raise reader.fail(f"{count} arrays are declared, more than the file can hold", reader.at - 8)
    arrays = [_read_array(reader) for _ in range(count)]
    names_count = reader.number("Q")
    if names_count not in (0, count):
        raise reader.fail(f"{names_count} names for {count} arrays", reader.at - 8)
    if names_count == 0:
        return arrays
    names = []
    for _ in range(names_count):
        raw = reader.take(reader.number("Q"))
        try:
            if b"\0" in raw:
                raise reader.fail("a name holds a NUL", reader.at - len(raw))
            names.append(raw.decode("utf-8"))
        except UnicodeDecodeError:
            raise reader.fail("a name is not UTF-8 text", reader.at - len(raw)) from None
    return dict(zip(names, arrays, strict=True))


def load(fname: str) -> Any:
    """Read a ``.params`` file: a dict when its arrays have names, otherwise a list.

    Raises:
        MXNetError: the file is missing, unreadable or damaged.
        TypeError: ``fname`` is not a string or path.
    """
    return load_frombuffer(read_file(fname), str(fname))


def read_file(fname: str) -> bytes:
    """The bytes of a file for :func:`load_frombuffer`.

    Raises:
        MXNetError: the file is missing or unreadable.
        TypeError: ``fname`` is not a string or path.
    """
    if not isinstance(fname, (str, Path)):
        raise refusal("params-file/name", f"fname must be a string, got {type(fname).__name__}", TypeError)
    try:
        return reading.read_file(fname)
    except OSError as error:
        raise refusal("params-file/readable", f"cannot read {fname}: {error.strerror}") from None


@decides("States/sparse")
def from_record(raw: bytes, name: str = "buffer") -> NDArray | None:
    """The array of one record, as in a pickle; None for an array without memory.

    Raises:
        MXNetError: the bytes are not a record.
    """
    return _read_array(_Reader(bytes(raw), name), alone=True)


# --- writing --------------------------------------------------------------------------------------


def _shape(sides: Sequence[int]) -> bytes:
    return struct.pack(f"<i{len(sides)}q", len(sides), *sides)


def _values(values: np.ndarray) -> memoryview:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def record(source: Any, *, np_shape: bool = False) -> bytes:
    """One array (dense, row_sparse or csr) as a record: version 3 under np_shape or without axes, else version 2.

    Raises:
        MXNetError: a sparse array under np_shape, for which MXNet has no record, or with wrong indices.
    """
    return b"".join(_record(source, np_shape=np_shape))


def _record(source: Any, *, np_shape: bool) -> Sequence[bytes | memoryview]:
    """The parts of a record, in order."""
    place = struct.pack(
        "<iii", source.context.device_typeid, source.context.device_id,
        DTYPE_FLAGS[np.dtype(source.dtype).name],
    )
    storage = _STORAGE[source.stype]
    if not storage:
        values = source.asnumpy()
        magic = _V3 if np_shape or not values.ndim else _V2
        return struct.pack("<Ii", magic, storage) + _shape(values.shape) + place, _values(values)
    if np_shape:
        raise refusal(
            "params-file/np-shape", f"under np_shape only dense arrays are written, not {source.stype};"
            " write it inside `with mx.util.np_shape(False):` or as a.tostype('default')",
        )
    source = source._ordered()
    data = source.data.asnumpy()
    indices = [source.indices.asnumpy().astype(np.int64)]
    if storage == _STORAGE["csr"]:
        indices.insert(0, source.indptr.asnumpy().astype(np.int64))
    kinds = [struct.pack("<i", DTYPE_FLAGS["int64"]) + _shape(part.shape) for part in indices]
    head = struct.pack("<Ii", _V2, storage) + _shape(data.shape) + _shape(source.shape) + place
    return [head, *kinds, _values(data), *map(_values, indices)]


def _named(data: Any) -> tuple[list[str], list[Any]]:
    """Check ``data``, which is to be saved; returns (names, arrays)."""
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
    for name in names:
        require(
            "params-file/names", not _NO_CHARACTERS.search(name),
            f"{name[:80]!r} holds a NUL or half a character; no name in a file can",
        )
    if any(a.shape == () for a in arrays) and not is_np_shape():
        raise refusal(
            "params-file/rank-0", "a single number has no place in a file outside np_shape; save"
            " a.reshape((1,)), or save and load inside `with mx.util.np_shape(True):`",
        )
    return names, arrays


def _parts(names: list[str], arrays: list[Any], np_shape: bool) -> Iterator[bytes | memoryview]:
    yield struct.pack("<QQQ", _LIST_MAGIC, 0, len(arrays))
    for source in arrays:
        yield from _record(source, np_shape=np_shape)
    yield struct.pack("<Q", len(names))
    for name in names:
        raw = name.encode("utf-8")
        yield struct.pack("<Q", len(raw)) + raw


@decides("params-file/sparse", "params-file/version-2")
def to_bytes(data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> bytes:
    """The whole file for one array, a list or a dict of arrays."""
    return b"".join(_parts(*_named(data), is_np_shape()))


def save(fname: str, data: NDArray | Sequence[NDArray] | Mapping[str, NDArray]) -> None:
    """Write arrays to a file that MXNet 1.x reads; a crash leaves the old file or the new one, whole.

    Raises:
        MXNetError: the folder is missing or not writable, or the format cannot hold an array or a name.
        ValueError: ``data`` is not an NDArray, a list or a dict.
        TypeError: an item of the list or dict is not an NDArray, or a name is not a string.
    """
    write_atomically(fname, _parts(*_named(data), is_np_shape()))
