"""Sums over one row, in double precision and in the order of the clause reduce/sum-order.

A row is ``n`` elements from ``start`` on, ``step`` apart, in ``lanes`` lanes (``foundation.walks.lanes_of``).
"""

import numpy as np

from ..foundation import scalar
from ..foundation.texts import inlined


@inlined
@scalar
def sum_of_row(data, o, k, j, lanes):
    """The sum of data[o, k, i, j] over i."""
    total = np.float64(0)
    for first in range(min(4, lanes)):
        quarter = np.float64(0)
        for lane in range(first, lanes, 4):
            part = np.float64(0)
            for i in range(lane, data.shape[2], lanes):
                part += data[o, k, i, j]
            quarter += part
        total += quarter
    return total


@inlined
@scalar
def squares_of_row(data, centre, o, k, j, lanes):
    """The sum of (data[o, k, i, j] - centre)^2 over i."""
    total = np.float64(0)
    for first in range(min(4, lanes)):
        quarter = np.float64(0)
        for lane in range(first, lanes, 4):
            part = np.float64(0)
            for i in range(lane, data.shape[2], lanes):
                part += (data[o, k, i, j] - centre) * (data[o, k, i, j] - centre)
            quarter += part
        total += quarter
    return total


@scalar
def products_of_row(left, right, start, n, step, lanes):
    total = np.float64(0)
    for first in range(min(4, lanes)):
        quarter = np.float64(0)
        for lane in range(first, lanes, 4):
            part = np.float64(0)
            for i in range(lane, n, lanes):
                part += np.float64(left[start + i * step]) * right[start + i * step]
            quarter += part
        total += quarter
    return total
