"""Where the stored values of a row begin: running sums of counts, and the places of marks, from which csr and
row_sparse arrays are made.
"""

import numpy as np

from ..foundation import Loop, allocate, items

INDEX = np.dtype(np.int64)


def running_sum(counts, starts, n):
    """starts[i] = counts[0] + .. + counts[i - 1], for i up to and including n."""
    for _ in items(1):
        total = 0
        starts[0] = 0
        for i in range(n):
            total += counts[i]
            starts[i + 1] = total


def list_marked(marks, starts, found, n):
    """The places of marks, in order; ``starts`` is the running sum of marks."""
    for i in items(n):
        if marks[i] != 0:
            found[starts[i]] = i


RUNNING_SUM, LIST_MARKED = Loop(running_sum), Loop(list_marked)


def starts_of(counts, n):
    """The running sum of n counts, and its end, which is read back from the device."""
    starts = allocate((n + 1,), INDEX, counts.device)
    RUNNING_SUM(counts, starts, n)
    return starts, int(starts.to_numpy()[n])
