"""Rows of float32 in order, digit by digit: no element is compared with another.

A number is turned into 32 bits that stand in the order of the numbers, and joined to its index. Such pairs are
dealt to 256 places by the last eight bits of the number, then by the eight before them, and so on. Dealing keeps the
order of equals, so that four rounds sort, and equal elements keep the order of their indices.
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer
from ..shared.sorting import SORT_ROWS
from .kernel import kernel, plain, twin

SHORT = 64  # shorter rows are merged as quickly
DIGITS = 256


@kernel
def deal_rows(bits, order, other, places, rows, side, inner, ascending):
    """``bits`` are those of the float32 numbers, as int32."""
    for row in range(rows):
        base, start = (row // inner) * side * inner + row % inner, row * side
        for i in range(4 * DIGITS):
            places[i] = 0
        for i in range(side):
            key = np.int64(bits[base + i * inner])
            size = key & 0x7FFFFFFF
            key = size + 0x80000000 if key >= 0 else 0x80000000 - size  # both zeros are one number
            key = key if size <= 0x7F800000 else 0xFFFFFFFF  # so are all NaN, the largest
            key = key if ascending else 0xFFFFFFFF - key
            order[start + i] = key << 32 | i
            for digit in range(4):
                places[digit * DIGITS + (key >> 8 * digit & 255)] += 1
        for digit in range(4):
            at = start
            for i in range(digit * DIGITS, (digit + 1) * DIGITS):
                count = places[i]
                places[i] = at
                at += count
        for digit in range(0, 4, 2):
            for i in range(start, start + side):
                place = digit * DIGITS + (order[i] >> 32 + 8 * digit & 255)
                other[places[place]] = order[i]
                places[place] += 1
            for i in range(start, start + side):
                place = (digit + 1) * DIGITS + (other[i] >> 40 + 8 * digit & 255)
                order[places[place]] = other[i]
                places[place] += 1
        for i in range(start, start + side):
            order[i] = order[i] & 0xFFFFFFFF


@twin(SORT_ROWS)
def sort_rows(data: Buffer, order: Buffer, merged: Buffer, ascending: bool) -> None:
    """The indices of each row in order."""
    outer, side, inner = data.shape
    if side < SHORT:
        plain(SORT_ROWS, data, order, merged, ascending)
        return
    places = np.empty(4 * DIGITS, np.int64)
    deal_rows(data.flat.view(np.int32), order.flat, merged.flat, places, outer * inner, side, inner, int(ascending))
