"""Buffers: the flat memory, shape and device of an array. Loops and pages get buffers, not arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from . import devices
from .later import Later, cuda
from .refusal import refusal

Shape = tuple[int, ...]

# Vector kernels may read (never write) this many elements past an array's end.
SLACK = 64

# Arrays of LONG elements and more begin at a multiple of LINE bytes, a cache line: a vector inside one line
# loads faster than one that lies across two.
LINE = 64
LONG = 1024

_DRIVER = Later("numba.cuda.cudadrv.driver")

MOST_BYTES = 2**63 - 1
"""The size in bytes of the largest array."""


class Buffer:
    """A C-contiguous array as flat memory. ``device`` is "cpu", or "gpu(i)" for the i-th CUDA device.

    ``flat`` is a 1-D NumPy array, or a 1-D device array, of exactly ``prod(shape)`` elements.
    """

    __slots__ = ("device", "flat", "shape")

    def __init__(self, flat: Any, shape: Shape, device: str = "cpu") -> None:
        self.flat = flat
        self.shape = shape
        self.device = device

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        return self.flat.dtype

    def reshape(self, shape: Shape) -> Buffer:
        """Return the same memory, read with another shape of the same size."""
        return Buffer(self.flat, shape, self.device)

    def to_numpy(self) -> np.ndarray:
        """Copy out, with the shape.

        Raises:
            MXNetError: there is no memory for the copy.
        """
        try:
            flat = self.flat.copy() if self.device == "cpu" else self._from_gpu()
        except MemoryError as error:
            raise no_memory(self.shape, self.dtype, "cpu") from error
        return flat.reshape(self.shape)

    def _from_gpu(self) -> np.ndarray:
        with devices.current(self.device) as stream:
            flat = self.flat.copy_to_host(stream=stream)
            stream.synchronize()
        return flat

    def fill_from(self, array: np.ndarray) -> None:
        """Overwrite with the elements of ``array`` (same size), cast to this buffer's type.

        Raises:
            MXNetError: there is no memory for the cast.
        """
        try:
            values = np.ascontiguousarray(array, dtype=self.dtype).reshape(-1)
        except MemoryError as error:
            raise no_memory(self.shape, self.dtype, "cpu") from error
        if self.device == "cpu":
            self.flat[:] = values
        else:
            with devices.current(self.device) as stream:
                self.flat.copy_to_device(values, stream=stream)

    def fill(self, value: float) -> None:
        """Overwrite every element with ``value``, cast to this buffer's type."""
        if self.device == "cpu":
            self.flat[:] = np.asarray(value)  # an array is cast as arrays are: 300 wraps around in uint8
        else:
            self.fill_from(np.broadcast_to(value, self.shape))

    def copy_from(self, source: Buffer) -> None:
        """Overwrite with another buffer of the same size, cast to this one's type, from any device.

        From one GPU to another the elements go through the CPU's memory, which needs no link between them.
        """
        if self.device == source.device == "cpu":
            self.flat[:] = source.flat
        elif self.device == source.device and self.dtype == source.dtype:
            with devices.current(self.device) as stream:
                self.flat.copy_to_device(source.flat, stream=stream)
        else:
            self.fill_from(source.to_numpy())

    def __repr__(self) -> str:
        return f"Buffer({self.dtype} {self.shape} on {self.device})"


def size_of(shape: Shape, dtype: Any) -> int:
    """Number of elements of an array, worked out exactly.

    Raises:
        MXNetError: a side is negative, or the array has more than 2**63 - 1 bytes, or would have them if it had
            elements.
    """
    size = prod(shape)
    if (shape and min(shape) < 0) or (size or prod(s or 1 for s in shape)) > MOST_BYTES // np.dtype(dtype).itemsize:
        raise refusal(
            "shapes/size",
            f"an array of shape {list(shape)} and {np.dtype(dtype)} cannot be made: no side may be negative, and"
            f" there can be at most {MOST_BYTES} bytes",
        )
    return size


def no_memory(shape: Shape, dtype: Any, where: str) -> Exception:
    """The refusal of an array for which there is no memory."""
    size = prod(shape) * np.dtype(dtype).itemsize
    return refusal(
        "shapes/memory",
        f"there is no memory on the {where} for an array of shape {list(shape)} and {np.dtype(dtype)}, which takes"
        f" {size} bytes; use smaller shapes or batches, or free other arrays",
    )


@contextmanager
def reserving(shape: Shape, dtype: Any) -> Iterator[None]:
    """Refuse ``shape`` if NumPy can find no memory for it within this block.

    Raises:
        MXNetError: the shape has no size, or there is no memory.
    """
    size_of(shape, dtype)
    try:
        yield
    except MemoryError as error:
        raise no_memory(shape, dtype, "cpu") from error


def allocate(shape: Shape, dtype: np.dtype, device: str = "cpu") -> Buffer:
    """Reserve memory with unspecified content, readable ``SLACK`` elements past its end.

    Raises:
        MXNetError: the shape has no size, or there is no memory.
    """
    size = size_of(shape, dtype)
    if device != "cpu":
        try:
            with devices.current(device) as stream:
                return Buffer(cuda.device_array(size + SLACK, dtype, stream=stream)[:size], shape, device)
        except (MemoryError, _DRIVER.CudaAPIError) as error:
            raise no_memory(shape, dtype, device) from error
    try:
        return Buffer(aligned_empty(size, dtype), shape, device)
    except (MemoryError, ValueError) as error:  # ValueError: with the slack it has more bytes than NumPy counts
        raise no_memory(shape, dtype, device) from error


def aligned_empty(size: int, dtype: Any) -> np.ndarray:
    """Reserve ``size`` elements of the CPU's memory, readable ``SLACK`` elements past the end; see ``LINE``."""
    if size < LONG:
        return np.empty(size + SLACK, dtype)[:size]
    memory = np.empty(size + SLACK + LINE, dtype)
    start = -memory.__array_interface__["data"][0] % LINE // memory.itemsize
    return memory[start : start + size]


def as_buffer(array: np.ndarray, device: str = "cpu") -> Buffer:
    """Copy ``array`` into a new buffer."""
    buffer = allocate(array.shape, array.dtype, device)
    buffer.fill_from(array)
    return buffer


class _Arena(threading.local):
    """Scratch memory that one thread reuses from call to call."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[str, np.dtype, int], Buffer] = {}


_ARENA = _Arena()


def scratch(like: Buffer, *sizes: int, dtype: Any = None) -> tuple[Buffer, ...]:
    """Borrow one flat working buffer per size, of ``like``'s device and (by default) type.

    The content is unspecified; the memory is valid until the page's forward or backward returns, and a second call in
    the same page invalidates the memory of the first call.
    """
    kind = np.dtype(dtype) if dtype is not None else like.dtype
    lend = getattr(like.flat, "lend", None)  # of elements that are only described
    if lend is not None:
        return lend(sizes, kind)
    lent = []
    for slot, size in enumerate(sizes):
        key = (like.device, kind, slot)
        block = _ARENA.blocks.get(key)
        if block is None or block.flat.size < size:
            block = _ARENA.blocks[key] = allocate((size,), kind, like.device)
        lent.append(Buffer(block.flat[:size], (size,), like.device))
    return tuple(lent)
