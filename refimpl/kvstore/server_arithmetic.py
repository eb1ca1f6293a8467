"""Arithmetic on the values of servers: sums in a stated order, and rows of row_sparse arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides
from .messages import Rows, Value
from .optimizer_step import frozen


@decides("Cluster/rows", "Cluster/rank-order")
def add_up(values: Sequence[Value], in_float32: bool = False) -> Value:
    """((v0 + v1) + v2) + ..., each sum rounded to the dtype of v0 (float32 instead of float16 if ``in_float32``).

    The sum of row_sparse arrays is row_sparse; with a dense array among them it is dense.
    """
    if all(isinstance(value, Rows) for value in values):
        total, *others = values
        for other in others:
            total = _joined(total, other)
        return total
    first, *rest = [dense(value) for value in values]
    if in_float32:
        first = dense(widened(first))
    if not rest:
        return _unchanging(first)
    total = np.asarray(first + rest[0].astype(first.dtype, copy=False))  # the only new memory
    for each in rest[1:]:
        np.add(total, each.astype(total.dtype, copy=False), out=total)
    return frozen(total)


def _unchanging(numbers: np.ndarray) -> np.ndarray:
    """A read-only array: the array itself if it is read-only, else a copy."""
    return frozen(numbers.copy()) if numbers.flags.writeable else numbers


def _joined(left: Value, right: Value) -> Rows:
    """The sum of two row_sparse arrays: it stores the rows that either of them stores."""
    assert isinstance(left, Rows)
    assert isinstance(right, Rows)
    ids = np.union1d(left.ids, right.ids)
    data = np.zeros((len(ids), *left.data.shape[1:]), left.dtype)
    data[np.searchsorted(ids, left.ids)] = left.data
    data[np.searchsorted(ids, right.ids)] += right.data
    return Rows(frozen(ids), frozen(data), left.shape)


def rows_of(held: Value, ids: np.ndarray) -> Rows:
    """Rows ``ids`` (ascending, once each) of an array; a row that a row_sparse array does not store is zeros."""
    if not isinstance(held, Rows):
        return Rows(frozen(np.array(ids, np.int64)), frozen(held[ids]), held.shape)
    data = np.zeros((len(ids), *held.data.shape[1:]), held.dtype)
    there = np.isin(ids, held.ids)
    data[there] = held.data[np.searchsorted(held.ids, ids[there])]
    return Rows(frozen(np.array(ids, np.int64)), frozen(data), held.shape)


def cast(value: Value, dtype: np.dtype) -> Value:
    """``value`` as another dtype."""
    if value.dtype == dtype:
        return value
    if isinstance(value, Rows):
        return Rows(value.ids, frozen(value.data.astype(dtype)), value.shape)
    return frozen(value.astype(dtype))


@decides("Cluster/multi-precision")
def widened(value: Value) -> Value:
    """A float16 value as float32; any other value itself."""
    return cast(value, np.dtype(np.float32)) if value.dtype == np.float16 else value


def dense(value: Value) -> np.ndarray:
    """The dense array with all rows of ``value``."""
    if not isinstance(value, Rows):
        return value
    whole = np.zeros(value.shape, value.dtype)
    whole[value.ids] = value.data
    return frozen(whole)


def stored_like(value: Value, held: Value) -> Value:
    """``value`` in the storage and dtype of ``held``; a dense value made row_sparse stores every row."""
    if isinstance(held, Rows):
        if isinstance(value, Rows):
            return Rows(value.ids, frozen(value.data.astype(held.dtype)), value.shape)
        return Rows(frozen(np.arange(len(value), dtype=np.int64)), frozen(value.astype(held.dtype)), value.shape)
    whole = dense(value)
    return _unchanging(whole) if whole.dtype == held.dtype else frozen(whole.astype(held.dtype))


def cut(value: Value, begin: int, end: int) -> Value:
    """Rows ``begin`` to ``end`` of an array."""
    if not value.shape:
        return value
    shape = (end - begin, *value.shape[1:])
    if isinstance(value, Rows):
        inside = slice(*np.searchsorted(value.ids, [begin, end]))
        return Rows(frozen(value.ids[inside] - begin), frozen(value.data[inside].copy()), shape)
    return frozen(value[begin:end])


def joined(parts: Sequence[tuple[int, Value]]) -> Value:
    """The array that :func:`cut` was called on, from its parts; each is (first row, value)."""
    values = [value for _, value in parts]
    if len(values) == 1:
        return values[0]
    if not all(isinstance(value, Rows) for value in values):
        return frozen(np.concatenate([dense(value) for value in values]))
    ids = np.concatenate([value.ids + begin for begin, value in parts])  # type: ignore[union-attr]
    shape = (sum(value.shape[0] for value in values), *values[0].shape[1:])
    return Rows(frozen(ids), frozen(np.concatenate([value.data for value in values])), shape)  # type: ignore[union-attr]


def plain_value(value: Value) -> Any:
    """``value`` as :func:`refimpl.kvstore.plain.pack` takes it."""
    return value if not isinstance(value, Rows) else (value.ids, value.data, list(value.shape))


def from_plain(plain: Any) -> Value:
    """The value from which :func:`plain_value` made ``plain``."""
    return plain if not isinstance(plain, tuple) else Rows(plain[0], plain[1], tuple(plain[2]))


__all__ = ["add_up", "cast", "cut", "dense", "from_plain", "joined", "plain_value", "rows_of", "stored_like", "widened"]
