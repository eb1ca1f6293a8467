"""Loops that bring two sparse arrays onto one pattern, and one that drops what became zero.

Rows of csr matrices hold ascending columns; the stored rows of a row_sparse array are one such row. Both patterns
are merged, and each operand is spread onto the union: after that any elementwise page works on the values.
No operator is registered here: `refimpl.ndarray.sparse` calls the functions at the end.

[sparse-union/places] the union of two patterns holds every place that either stores, in ascending order, once.
    >>> import numpy as np
    >>> from refimpl.kernels.foundation import as_buffer
    >>> from refimpl.kernels.sparse_union import union
    >>> flat = lambda *numbers: as_buffer(np.array(numbers, np.int64))
    >>> indices, indptr, from_left, from_right = union((flat(1, 4), flat(0, 2)), (flat(0, 4), flat(0, 2)))
    >>> indices.to_numpy().tolist(), indptr.to_numpy().tolist()
    ([0, 1, 4], [0, 3])

    What comes from either side is told by place, -1 where a side stores nothing.
    >>> from_left.to_numpy().tolist(), from_right.to_numpy().tolist()
    ([-1, 0, 1], [0, -1, 1])
"""

from .cast_storage import INDEX, starts_of
from .foundation import Loop, allocate, items

# --- loops --------------------------------------------------------------------------------------


def count_union(left, left_starts, right, right_starts, counts, rows):
    for r in items(rows):
        i = left_starts[r]
        j = right_starts[r]
        found = 0
        while i < left_starts[r + 1] or j < right_starts[r + 1]:
            if j >= right_starts[r + 1]:
                i += 1
            elif i >= left_starts[r + 1]:
                j += 1
            elif left[i] < right[j]:
                i += 1
            elif left[i] > right[j]:
                j += 1
            else:
                i += 1
                j += 1
            found += 1
        counts[r] = found


def fill_union(left, left_starts, right, right_starts, indices, indptr, from_left, from_right, rows):
    for r in items(rows):
        i = left_starts[r]
        j = right_starts[r]
        for at in range(indptr[r], indptr[r + 1]):
            take_left = i < left_starts[r + 1]
            take_right = j < right_starts[r + 1]
            if take_left and take_right:
                take_left = left[i] <= right[j]
                take_right = right[j] <= left[i]
            from_left[at] = -1
            from_right[at] = -1
            if take_left:
                indices[at] = left[i]
                from_left[at] = i
                i += 1
            if take_right:
                indices[at] = right[j]
                from_right[at] = j
                j += 1


def count_kept(values, indptr, counts, rows):
    """counts[r] = stored values of row r that differ from zero."""
    for r in items(rows):
        found = 0
        for e in range(indptr[r], indptr[r + 1]):
            if values[e] != 0:
                found += 1
        counts[r] = found


def keep(values, indices, indptr, kept_values, kept_indices, kept_starts, rows):
    for r in items(rows):
        at = kept_starts[r]
        for e in range(indptr[r], indptr[r + 1]):
            if values[e] != 0:
                kept_values[at] = values[e]
                kept_indices[at] = indices[e]
                at += 1


def gather_stored(dense, indices, indptr, out, rows, row_step, column_step):
    """out[e] = the element of a dense matrix at the place of stored value e; steps of 0 stretch it."""
    for r in items(rows):
        for e in range(indptr[r], indptr[r + 1]):
            out[e] = dense[r * row_step + indices[e] * column_step]


COUNT_UNION, FILL_UNION = Loop(count_union), Loop(fill_union)
COUNT_KEPT, KEEP = Loop(count_kept), Loop(keep)
GATHER_STORED = Loop(gather_stored)


# --- calling them -------------------------------------------------------------------------------


def union(left, right):
    """(indices, indptr, from_left, from_right) of two patterns, each given as (indices, indptr)."""
    rows = left[1].size - 1
    device = left[0].device
    counts = allocate((rows,), INDEX, device)
    COUNT_UNION(*left, *right, counts, rows)
    indptr, stored = starts_of(counts, rows)
    indices, from_left, from_right = (allocate((stored,), INDEX, device) for _ in range(3))
    FILL_UNION(*left, *right, indices, indptr, from_left, from_right, rows)
    return indices, indptr, from_left, from_right


def without_zeros(values, indices, indptr):
    """The same csr matrix with no zero stored."""
    rows = indptr.size - 1
    counts = allocate((rows,), INDEX, values.device)
    COUNT_KEPT(values, indptr, counts, rows)
    starts, stored = starts_of(counts, rows)
    kept = allocate((stored,), values.dtype, values.device)
    columns = allocate((stored,), INDEX, values.device)
    KEEP(values, indices, indptr, kept, columns, starts, rows)
    return kept, columns, starts
