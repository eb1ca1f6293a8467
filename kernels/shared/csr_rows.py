"""Loops over the rows of csr matrices: taking rows and columns out, summing, choosing.

No operator is registered here: slice, take, sum, mean and where of csr matrices are called from
`refimpl.ndarray.sparse`; their dense forms have pages of their own.

[csr/sum-order] sums of a csr matrix are made in double precision, in ascending order of rows and columns, and
    rounded once: as if the zeros were there.
    >>> import numpy as np
    >>> from refimpl.kernels.shared.csr_rows import summed
    >>> from refimpl.kernels.foundation import as_buffer
    >>> values = as_buffer(np.array([1e8, 1, -1e8], np.float32))
    >>> indices, indptr = as_buffer(np.array([0, 1, 2])), as_buffer(np.array([0, 3, 3]))
    >>> summed(values, indices, indptr, 1, (2, 3), 1).to_numpy().tolist()
    [1.0, 0.0]
    >>> summed(values, indices, indptr, 0, (2, 3), 2).to_numpy().tolist()
    [50000000.0, 0.5, -50000000.0]
"""

import numpy as np

from ..foundation import Loop, allocate, decides, items
from ..foundation.loops import COPY, FILL
from .starts import INDEX, starts_of

# --- loops --------------------------------------------------------------------------------------


def count_part(indices, indptr, rows, counts, n, low, high):
    """counts[i] = stored values of row rows[i] in columns low to high - 1."""
    for i in items(n):
        found = 0
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            if indices[e] >= low and indices[e] < high:
                found += 1
        counts[i] = found


def fill_part(values, indices, indptr, rows, part, columns, starts, n, low, high):
    for i in items(n):
        at = starts[i]
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            if indices[e] >= low and indices[e] < high:
                part[at] = values[e]
                columns[at] = indices[e] - low
                at += 1


def sum_rows(values, indptr, out, rows, divisor):
    for r in items(rows):
        total = np.float64(0)
        for e in range(indptr[r], indptr[r + 1]):
            total += values[e]
        out[r] = total / divisor


def sum_columns(totals, values, indices, stored):
    """Add the stored values of each column to ``totals``, doubles; one item, so that the order is fixed."""
    for _ in items(1):
        for e in range(stored):
            totals[indices[e]] += values[e]


def divide(totals, out, n, divisor):
    for i in items(n):
        out[i] = totals[i] / divisor


def choose(condition, indices, indptr, chosen, out, rows, width):
    """out (rows, width) holds y; where the condition is stored and true, it gets the value of ``chosen``."""
    for r in items(rows):
        for e in range(indptr[r], indptr[r + 1]):
            if condition[e] != 0:
                out[r * width + indices[e]] = chosen[r * width + indices[e]]


COUNT_PART, FILL_PART = Loop(count_part), Loop(fill_part)
SUM_ROWS, SUM_COLUMNS, DIVIDE, CHOOSE = Loop(sum_rows), Loop(sum_columns), Loop(divide), Loop(choose)


# --- calling them -------------------------------------------------------------------------------


def part_of(values, indices, indptr, rows, low, high):
    """(values, indices, indptr) of the matrix made of the listed rows, columns low to high - 1."""
    n = rows.size
    counts = allocate((n,), INDEX, values.device)
    COUNT_PART(indices, indptr, rows, counts, n, low, high)
    starts, stored = starts_of(counts, n)
    part = allocate((stored,), values.dtype, values.device)
    columns = allocate((stored,), INDEX, values.device)
    FILL_PART(values, indices, indptr, rows, part, columns, starts, n, low, high)
    return part, columns, starts


@decides("csr/sum-order")
def summed(values, indices, indptr, axis, shape, divisor):
    """Sums of a csr matrix of floats over an axis, divided by ``divisor``."""
    out = allocate((shape[1 - axis],), values.dtype, values.device)
    if axis == 1:
        SUM_ROWS(values, indptr, out, shape[0], float(divisor))
        return out
    totals = allocate(out.shape, np.dtype(np.float64), values.device)
    FILL(totals, 0.0, totals.size)
    SUM_COLUMNS(totals, values, indices, values.size)
    DIVIDE(totals, out, out.size, float(divisor))
    return out


def chosen(condition, indices, indptr, x, y):
    """x where the csr condition holds a value other than zero, y elsewhere."""
    out = allocate(y.shape, y.dtype, y.device)
    COPY(y, out, y.size)
    CHOOSE(condition, indices, indptr, x, out, *y.shape)
    return out
