"""Loops that bring two sparse arrays to one pattern of stored places, and a loop that drops values that became zero.

Rows of csr matrices hold ascending columns; the numbers of the stored rows of a row_sparse array are one such row. The
two patterns are merged, and the values of each operand are copied to their places in the union; then any elementwise
page works on the values. No operator is registered here: `refimpl.ndarray.sparse` calls the functions at the end.

[sparse-union/places] the union of two patterns holds every place that either stores, in ascending order, once.
    >>> import numpy as np
    >>> from refimpl.kernels.foundation import as_buffer
    >>> from refimpl.kernels.shared.sparse_union import union
    >>> flat = lambda *numbers: as_buffer(np.array(numbers, np.int64))
    >>> indices, indptr, from_left, from_right = union((flat(1, 4), flat(0, 2)), (flat(0, 4), flat(0, 2)))
    >>> indices.to_numpy().tolist(), indptr.to_numpy().tolist()
    ([0, 1, 4], [0, 3])

    What comes from either side is told by place, -1 where a side stores nothing.
    >>> from_left.to_numpy().tolist(), from_right.to_numpy().tolist()
    ([-1, 0, 1], [0, -1, 1])

    Of csr matrices both values are told at once, 0 where a side stores nothing.
    >>> from refimpl.kernels.shared.sparse_union import aligned
    >>> ones = as_buffer(np.ones(2, np.float32))
    >>> [part.to_numpy().tolist() for part in aligned(ones, (flat(1, 4), flat(0, 2)), ones, (flat(0, 4), flat(0, 2)))]
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0, 1, 4], [0, 3]]
"""

from ..foundation import Loop, allocate, decides, items
from .starts import INDEX, starts_of

# --- loops --------------------------------------------------------------------------------------


def count_union(left, left_starts, right, right_starts, counts, rows):
    """Where both sides have a place, both advance. Selecting without a branch avoids wrong branch predictions."""
    for r in items(rows):
        i = left_starts[r]
        j = right_starts[r]
        found = 0
        while i < left_starts[r + 1] and j < right_starts[r + 1]:
            one = left[i]
            other = right[j]
            i += 1 if one <= other else 0
            j += 1 if other <= one else 0
            found += 1
        counts[r] = found + left_starts[r + 1] - i + right_starts[r + 1] - j


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


def fill_aligned(
    a, left, left_starts, b, right, right_starts, a_out, b_out, indices, indptr, rows
):
    """Fill the union as above, with the values themselves instead of their places."""
    for r in items(rows):
        i = left_starts[r]
        j = right_starts[r]
        at = indptr[r]
        while i < left_starts[r + 1] and j < right_starts[r + 1]:
            one = left[i]
            other = right[j]
            from_left = a[i]
            from_right = b[j]
            indices[at] = one if one < other else other
            a_out[at] = from_left if one <= other else 0
            b_out[at] = from_right if other <= one else 0
            i += 1 if one <= other else 0
            j += 1 if other <= one else 0
            at += 1
        while i < left_starts[r + 1]:
            indices[at] = left[i]
            a_out[at] = a[i]
            b_out[at] = 0
            i += 1
            at += 1
        while j < right_starts[r + 1]:
            indices[at] = right[j]
            a_out[at] = 0
            b_out[at] = b[j]
            j += 1
            at += 1


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


COUNT_UNION, FILL_UNION, FILL_ALIGNED = Loop(count_union), Loop(fill_union), Loop(fill_aligned)
COUNT_KEPT, KEEP = Loop(count_kept), Loop(keep)
GATHER_STORED = Loop(gather_stored)


# --- calling them -------------------------------------------------------------------------------


def _starts(left, right):
    """Where each row of the union begins, and its size."""
    rows = left[1].size - 1
    counts = allocate((rows,), INDEX, left[0].device)
    COUNT_UNION(*left, *right, counts, rows)
    return starts_of(counts, rows)


@decides("sparse-union/places")
def union(left, right):
    """(indices, indptr, from_left, from_right) of two patterns, each given as (indices, indptr)."""
    indptr, stored = _starts(left, right)
    indices, from_left, from_right = (allocate((stored,), INDEX, indptr.device) for _ in range(3))
    FILL_UNION(*left, *right, indices, indptr, from_left, from_right, indptr.size - 1)
    return indices, indptr, from_left, from_right


def aligned(left_values, left, right_values, right):
    """(values of the left, values of the right, indices, indptr) of two csr matrices on the union of their patterns."""
    indptr, stored = _starts(left, right)
    one, other = (allocate((stored,), values.dtype, values.device) for values in (left_values, right_values))
    indices = allocate((stored,), INDEX, indptr.device)
    FILL_ALIGNED(left_values, *left, right_values, *right, one, other, indices, indptr, indptr.size - 1)
    return one, other, indices, indptr


def without_zeros(values, indices, indptr):
    """The same csr matrix with no zero stored; the given parts where they hold none."""
    rows = indptr.size - 1
    counts = allocate((rows,), INDEX, values.device)
    COUNT_KEPT(values, indptr, counts, rows)
    starts, stored = starts_of(counts, rows)
    if stored == values.size:
        return values, indices, indptr
    kept = allocate((stored,), values.dtype, values.device)
    columns = allocate((stored,), INDEX, values.device)
    KEEP(values, indices, indptr, kept, columns, starts, rows)
    return kept, columns, starts
