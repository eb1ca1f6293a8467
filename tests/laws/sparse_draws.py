"""Random sparse arrays of small whole numbers: empty rows, stored zeros, rows stored as zeros, nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import refimpl as mx

TYPES = st.sampled_from(("float32", "float64", "float16", "int32", "int64", "uint8"))
REAL = st.sampled_from(("float32", "float64"))


@st.composite
def dense_numbers(draw: Any, shape: tuple[int, ...], dtype: Any = "float32", low: int = -3) -> np.ndarray:
    """Whole numbers, half of them zero, none negative when the type has none."""
    low = 0 if np.dtype(dtype).kind == "u" else low
    numbers = st.sampled_from([0, 0, 0, *range(low, 4)])
    size = int(np.prod(shape))
    return np.array(draw(st.lists(numbers, min_size=size, max_size=size)), dtype).reshape(shape)


@st.composite
def shapes(draw: Any, rank: int = 2) -> tuple[int, ...]:
    """Sides of 1 to 4."""
    return tuple(draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))


@st.composite
def csr_arrays(draw: Any, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """A csr matrix that stores some zeros too, and the dense matrix that it means."""
    dense = draw(dense_numbers(shape, dtype))
    stored = (dense != 0) | np.array(draw(st.lists(st.booleans(), min_size=dense.size, max_size=dense.size))).reshape(
        shape
    )
    if draw(st.integers(0, 5)) == 0:
        dense, stored = np.zeros_like(dense), np.zeros(shape, bool)
    rows, columns = np.nonzero(stored)
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    made = mx.nd.sparse.csr_matrix((dense[rows, columns], columns, starts), shape=shape, dtype=dtype)
    return made, dense


@st.composite
def row_sparse_arrays(draw: Any, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """A row_sparse array that may store rows of zeros, and the dense array that it means."""
    dense = draw(dense_numbers(shape, dtype))
    kept = np.array(draw(st.lists(st.booleans(), min_size=shape[0], max_size=shape[0])))
    dense[~kept] = 0
    rows = np.flatnonzero(kept)
    return mx.nd.sparse.row_sparse_array((dense[rows], rows), shape=shape, dtype=dtype), dense


def sparse_arrays(stype: str, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """Either storage; "default" gives a dense array."""
    if stype == "csr":
        return csr_arrays(shape, dtype)
    if stype == "row_sparse":
        return row_sparse_arrays(shape, dtype)
    return dense_numbers(shape, dtype).map(lambda values: (mx.nd.array(values, dtype=dtype), values))


def valid(array: Any) -> Any:
    """The array itself, after its format was checked."""
    if array.stype != "default":
        array.check_format()
        assert array.indices.dtype == np.int64
    return array
