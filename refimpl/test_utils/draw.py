"""Random shapes and arrays, drawn from NumPy's global generator, and small helpers on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import refusal
from ..io import DataBatch, DataIter
from ..ndarray import NDArray, arange
from ..ndarray import array as nd_array
from .tolerance import default_dtype


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A shape of ``num_dim`` sides between 1 (or 0) and ``dim``."""
    return _sides((dim,) * num_dim, allow_zero_size)


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A shape of two sides, each between 1 (or 0) and its largest."""
    return _sides((dim0, dim1), allow_zero_size)


def rand_shape_3d(
    dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False
) -> tuple[int, ...]:
    """A shape of three sides, each between 1 (or 0) and its largest.

    Args:
        dim0, dim1, dim2: the largest sides.
        allow_zero_size: whether a side may be 0.
    """
    return _sides((dim0, dim1, dim2), allow_zero_size)


def _sides(largest: Sequence[int], allow_zero_size: bool) -> tuple[int, ...]:
    least = 0 if allow_zero_size else 1
    if any(side < least for side in largest):
        raise refusal(
            "test_utils/shape-range", f"no side lies between {least} and {min(largest)};"
            " give a larger one, or allow_zero_size=True", ValueError,
        )
    return tuple(int(np.random.randint(least, side + 1)) for side in largest)


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> tuple[int, int]:
    """A whole number from x_low up to (not including) x_high, and one from y_low up to y_high."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def random_arrays(*shapes: tuple[int, ...]) -> Any:
    """Standard normal NumPy arrays in float32: a list, or the array itself for one shape."""
    arrays: list[np.ndarray] = [np.asarray(np.random.randn(*shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: tuple[int, ...], **kwargs: Any) -> list[np.ndarray]:
    """A list of NumPy arrays between ``low`` (0) and ``high`` (1), of type ``dtype`` (float32)."""
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    return [np.asarray(np.random.uniform(low, high, size=shape)).astype(dtype) for shape in shapes]


def random_sample(population: Sequence, k: int) -> list:
    """``k`` different elements, in random order.

    Raises:
        AssertionError: there are not so many.
    """
    if not 0 <= k <= len(population):
        raise refusal(
            "test_utils/sample-size", f"cannot draw {k} of {len(population)} elements", AssertionError
        )
    return [population[i] for i in np.random.permutation(len(population))[:k]]


def create_vector(size: int, dtype: Any = np.int64) -> NDArray:
    """0, 1, 2 ... up to ``size``."""
    return arange(0, size, dtype=np.dtype(dtype).name)


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """A matrix whose rows hold their own number."""
    return nd_array(np.broadcast_to(np.arange(rows)[:, None], (rows, columns)), dtype=dtype)


# --- on NumPy arrays -----------------------------------------------------------------------------------


def assign_each(the_input: np.ndarray, function: Callable | None) -> np.ndarray:
    """``function`` of each element; a copy without a function."""
    return _each(function, the_input)


def assign_each2(input1: np.ndarray, input2: np.ndarray, function: Callable | None) -> np.ndarray:
    """``function`` of each pair of elements; a copy of the first array without a function."""
    return _each(function, input1, input2)


def _each(function: Callable | None, *arrays: np.ndarray) -> np.ndarray:
    result = np.array(arrays[0])
    if function is not None:
        for index in np.ndindex(result.shape):
            result[index] = function(*(array[index] for array in arrays))
    return result


def np_reduce(dat: np.ndarray, axis: Any, keepdims: Any, numpy_reduce_func: Callable) -> np.ndarray:
    """A NumPy reduction along one axis, several, or all (None), as MXNet's operators count them.

    Args:
        dat: the array.
        axis: one axis, several, or None for all.
        keepdims: whether these axes stay, with side 1.
        numpy_reduce_func: such as ``numpy.sum``.
    """
    axes = tuple(range(dat.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    result = dat
    for one in sorted((a % dat.ndim for a in axes), reverse=True):
        result = numpy_reduce_func(result, axis=one)
    if keepdims:
        shape = list(dat.shape)
        for one in axes:
            shape[one] = 1
        result = np.reshape(result, shape)
    return result


def collapse_sum_like(a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum ``a`` over the axes along which an array of ``shape`` was broadcast to it.

    Raises:
        AssertionError: ``shape`` does not broadcast to that of ``a``.
    """
    spread = a.ndim - len(shape)
    if spread < 0 or any(s not in (1, side) for s, side in zip(shape, a.shape[spread:], strict=True)):
        raise refusal(
            "test_utils/collapse", f"an array of shape {shape} does not broadcast to {a.shape}", AssertionError
        )
    axes = [i for i in range(a.ndim) if i < spread or (shape[i - spread] == 1 and a.shape[i] != 1)]
    return a.sum(axis=tuple(axes)).reshape(shape) if axes else a


class DummyIter(DataIter):
    """The first batch of another iterator, again and again: for measuring without reading data."""

    def __init__(self, real_iter: DataIter) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(iter(real_iter))

    def __iter__(self) -> DummyIter:
        return self

    def next(self) -> DataBatch:
        """The batch; there is always another."""
        return self.the_batch
