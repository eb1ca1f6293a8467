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
def products_of_row(left, right, n, j, lanes):
    """The sum of products along the middle of three axes, at ``n`` and ``j`` of the others."""
    total = np.float64(0)
    for first in range(min(4, lanes)):
        quarter = np.float64(0)
        for lane in range(first, lanes, 4):
            part = np.float64(0)
            for i in range(lane, left.shape[1], lanes):
                part += np.float64(left[n, i, j]) * right[n, i, j]
            quarter += part
        total += quarter
    return total
