"""The rows of a table of parameters, the order in which gradients are added up, and the arrays that a table allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ndarray import NDArray
from ..optimizer.rule import Index
from .native.update_kernels import address_of
from .rule_call import SINGLE, Unfit


class Row(NamedTuple):
    """A parameter: its key in the updater, its weight, the gradients to add up, and copies of the new weight."""

    key: Index
    weight: NDArray
    grads: Sequence[NDArray]
    copies: Sequence[NDArray] = ()


def order_of_addition(count: int, together: int) -> list[tuple[int, int, int]]:
    """The additions (one, other, sum) that add up ``count`` gradients.

    Gradients have the numbers below ``count``, the total has number ``count``, and a sum of a group ``count + 1``.
    After the first gradient, each group of ``together`` gradients is added up before it joins the total, as in
    ``kvstore.sums.added_up``.
    """
    total, group, made = 0, count + 1, []
    for start in range(1, count, together):
        joining = start
        for other in range(start + 1, min(start + together, count)):
            made.append((joining, other, group))
            joining = group
        made.append((total, joining, count))
        total = count
    return made


def require_alike(arrays: Sequence[NDArray]) -> None:
    """Require dense, writable float32 arrays of one shape on the CPU.

    Raises:
        Unfit: an array differs.
    """
    shape = arrays[0].shape
    for array in arrays:
        if type(array) is not NDArray or array.shape != shape or array.context.memory != "cpu" or not array.writable:
            raise Unfit
        flat = array._buffer.flat
        if flat.dtype != SINGLE or flat.strides != (SINGLE.itemsize,):
            raise Unfit


def require_apart(rows: Sequence[Row], states: Sequence[NDArray]) -> None:
    """Require that no memory is written twice, or both written and read.

    Raises:
        Unfit: arrays overlap.
    """
    written = [*states, *[array for row in rows for array in (row.weight, *row.copies)]]
    read = [array for row in rows for array in row.grads]
    spans = []
    for arrays, is_written in ((written, True), (read, False)):
        for array in arrays:
            start = address_of(array._buffer.flat)
            spans.append((start, start + array._buffer.flat.nbytes, is_written))
    last = last_written = 0
    for start, end, is_written in sorted(span for span in spans if span[0] < span[1]):
        if start < (last if is_written else last_written):
            raise Unfit
        last = max(last, end)
        last_written = max(last_written, end) if is_written else last_written


__all__ = ["Row", "order_of_addition", "require_alike", "require_apart"]
