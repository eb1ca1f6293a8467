"""Sums of squares of whole arrays, for updates that are measured by the length of a weight.

An array is cut into runs of neighbouring elements; the sum of each run is an item of its own, made in double
precision from left to right, and the sums of the runs are added in their order.
"""

import numpy as np

from ..foundation import Loop, items, scalar

RUNS = 1024


@scalar
def added(sums, count):
    """Return the sum of the first ``count`` of ``sums``, from left to right."""
    total = 0.0
    for k in range(count):
        total += sums[k]
    return total


def squares(data, sums, n, runs, length):
    for k in items(runs):
        total = np.float64(0)
        for i in range(k * length, min(n, (k + 1) * length)):
            value = np.float64(data[i])
            total += value * value
        sums[k] = total


SQUARES = Loop(squares)


def runs_of(size):
    """(number of runs, length of each) for an array of ``size`` elements."""
    length = max(-(-size // RUNS), 1)
    return -(-size // length), length


def sum_squares(data, sums):
    """Fill ``sums``, working memory of double precision, with the sums of the runs of ``data``."""
    runs, length = runs_of(data.size)
    SQUARES(data, sums, data.size, runs, length)
