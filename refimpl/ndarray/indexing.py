"""Indexing: reads and writes the part of an array that a key selects.

``a[i]`` and ``a[i:j]`` share memory with ``a``, as does every basic index that selects one contiguous run of memory;
any other index copies. While autograd records, indexing is recorded on the tape.
"""

from __future__ import annotations

import contextlib
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import as_buffer
from ..kernels.foundation.shapes import strides_of
from . import classes, operators, tape

if TYPE_CHECKING:
    from .ndarray import NDArray, Shape


@decides("NDArray/view", "NDArray/index")
def get_item(array: NDArray, key: Any) -> NDArray:
    """``array[key]``."""
    if type(key) is not slice:
        key = _plain_key(key)
    try:
        place = _locate(array.shape, key)
        if tape.STATE.recording and tape.on_tape(array):
            return _recorded(array, key, place)
        if place is not None:
            return array._shared(*place)
        values = np.atleast_1d(array.asnumpy()[key])
    except IndexError as error:
        raise refusal("NDArray/index-range", f"{error}; its shape is {array.shape}", IndexError) from None
    return _array(values, array.context)


def set_item(array: NDArray, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    tape.require_writable(array)
    key = _plain_key(key)
    whole = isinstance(key, slice) and key == slice(None)
    if isinstance(value, classes.ndarray):
        if whole and value.shape == array.shape and not value.is_sparse:
            if value._buffer is not array._buffer:
                source = value._data
                engine.overwrite(array._buffer)
                array._buffer.copy_from(source)
                _follow(array, value)
            return
        if tape.STATE.recording and tape.on_tape(value):
            raise refusal(
                "autograd/assign-part", "a recorded array can be assigned to the whole of another, not to a part:"
                " no gradient would flow; build the result with concat, stack or where",
            )
        value = value.asnumpy()
    value = _numbers(value)
    if whole:
        engine.overwrite(array._buffer)
    memory = array._data
    host = memory.flat.reshape(array.shape) if memory.device == "cpu" else memory.to_numpy()
    try:
        host[key] = _fitting(value, host[key].shape)
    except IndexError as error:
        raise refusal("NDArray/index-range", f"{error}; its shape is {array.shape}", IndexError) from None
    except ValueError as error:
        raise refusal("NDArray/assign", f"{error}; the array has shape {array.shape}", ValueError) from None
    if memory.device != "cpu":
        memory.fill_from(host)


def _follow(array: NDArray, value: NDArray) -> None:
    """``array[:] = value`` while recording: ``array`` takes the place of ``value`` on the tape, as its cast."""
    if tape.STATE.recording and tape.on_tape(value):
        value._noted("Cast", array, dtype=np.dtype(array.dtype).name)


@decides("autograd/parts")
def _recorded(array: NDArray, key: Any, place: tuple[Shape, int] | None) -> NDArray:
    """A part of an array that is on the tape, recorded as Reshape and slice_axis (a view) or as take (a copy)."""
    flat = array.reshape((-1,))
    shape: Shape
    if place is not None and 0 not in place[0]:
        shape, start = place
        part = flat._noted(
            "slice_axis", flat._shared((prod(shape),), start), axis=0, begin=start, end=start + prod(shape)
        )
    else:
        numbers = np.atleast_1d(np.arange(array.size, dtype=np.int64).reshape(array.shape)[key])
        shape = numbers.shape
        part = operators.call("take", flat, _array(numbers.reshape(-1), array.context))
    return part.reshape(shape)


def _array(values: np.ndarray, context: Context) -> NDArray:
    """An array of these values in new memory."""
    return classes.ndarray(as_buffer(values, context.memory), context)


def _locate(shape: Shape, key: Any) -> tuple[Shape, int] | None:
    """(shape, index of the first element) of a key that selects one contiguous run of memory; else None."""
    if type(key) is int and shape and -shape[0] <= key < shape[0]:
        rest = shape[1:] or (1,)
        return rest, (key % shape[0]) * prod(shape[1:])
    if type(key) is slice and shape and key.step in (None, 1):
        first, last, _ = key.indices(shape[0])
        count = max(last - first, 0)
        return (count, *shape[1:]), first * prod(shape[1:]) if count else 0
    return _contiguous(shape, key if isinstance(key, tuple) else (key,))


def _contiguous(shape: Shape, parts: tuple[Any, ...]) -> tuple[Shape, int] | None:
    """As :func:`_locate`, for an index of any number of axes, which NumPy looks up in an array without memory."""
    if not all(part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice)) for part in parts):
        return None
    skeleton = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), shape, strides_of(shape))
    # with an ellipsis NumPy returns a single element as an array, and does not read the missing memory
    part = skeleton[parts if any(p is Ellipsis for p in parts) else (*parts, ...)]
    if not part.flags.c_contiguous:
        return None
    start = part.__array_interface__["data"][0] - skeleton.__array_interface__["data"][0]
    return part.shape or (1,), start if part.size else 0


def _plain_key(key: Any) -> Any:
    """The key with arrays as integer NumPy arrays; a key of another type, which NumPy would misread, is refused."""
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in key)
    if isinstance(key, classes.ndarray):
        return key.asnumpy().astype(np.int64)
    if isinstance(key, (list, np.ndarray)):
        # boolean index arrays are read as the integers 0 and 1, as MXNet 1.x does
        return np.asarray(key).astype(np.int64)
    if isinstance(key, (int, np.integer)):
        return int(key)
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    raise refusal(
        "NDArray/key", f"NDArray does not support slicing with key {key!r} of type {type(key)}", ValueError
    )


def _numbers(value: Any) -> Any:
    """``value``, with text parsed as numbers, as in MXNet; other text and complex numbers are refused."""
    kind = value.dtype.kind if isinstance(value, np.generic | np.ndarray) else np.asarray(value).dtype.kind
    if kind not in "USc":
        return value
    if kind != "c":
        with contextlib.suppress(ValueError):
            return np.asarray(value, np.float64)
    raise refusal(
        "NDArray/assign-numbers",
        f"{value!r} of type {type(value).__name__} is not made of real numbers; assign a number, a list of"
        " them or an array", TypeError,
    )


def _fitting(value: Any, shape: Shape) -> Any:
    """``value`` without leading axes of length 1 that ``shape`` does not have, which MXNet drops."""
    values = np.asarray(value)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    return values
