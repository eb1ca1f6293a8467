"""Products of sparse and dense matrices. The operator `dot` has its own page; `refimpl.ndarray.sparse` calls these.

A right operand consists of rows of values and, for every row number, the place of that row among them (-1 where it is
not stored). In this form a dense matrix and a row_sparse array look alike.

[sparse-dot/sum-order] products are added in the type of the operands: of csr . dense in ascending columns of a row,
    of the transposed csr . dense in ascending rows, of dense . csr in ascending rows of the csr matrix.
    >>> import numpy as np
    >>> from refimpl.kernels.foundation import as_buffer
    >>> from refimpl.kernels.shared.sparse_dot import csr_dot
    >>> values = as_buffer(np.array([1e8, 1, -1e8], np.float32))
    >>> indices, indptr = as_buffer(np.array([0, 1, 2])), as_buffer(np.array([0, 3]))
    >>> ones, places = as_buffer(np.ones((3, 1), np.float32)), as_buffer(np.arange(3))
    >>> csr_dot(values, indices, indptr, ones, places).to_numpy().tolist()
    [[0.0]]
"""

from ..foundation import Loop, allocate, decides, items
from ..foundation.loops import FILL
from .starts import INDEX, LIST_MARKED, starts_of

# --- loops --------------------------------------------------------------------------------------


def csr_product(values, indices, indptr, right, places, out):
    """out = csr . right: item i owns row i."""
    for i in items(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
        for e in range(indptr[i], indptr[i + 1]):
            place = places[indices[e]]
            if place >= 0:
                for j in range(out.shape[1]):
                    out[i, j] += values[e] * right[place, j]


def csr_product_cuda(values, indices, indptr, right, places, out):
    """The same sums with one element per item."""
    for i, j in items(out.shape):
        out[i, j] = 0
        for e in range(indptr[i], indptr[i + 1]):
            place = places[indices[e]]
            if place >= 0:
                out[i, j] += values[e] * right[place, j]


def turned_product(values, indices, indptr, right, places, slots, out, n):
    """out += csr^T . right; row c of the product lies at row slots[c] of out. Items own columns of out."""
    for i in range(n):
        if places[i] >= 0:
            for e in range(indptr[i], indptr[i + 1]):
                for j in items(out.shape[1]):
                    out[slots[indices[e]], j] += values[e] * right[places[i], j]


def mark_columns(indices, indptr, places, marks, n):
    """marks[c] = 1 for every column stored in a row that the right operand has: one item, as columns repeat."""
    for _ in items(1):
        for i in range(n):
            if places[i] >= 0:
                for e in range(indptr[i], indptr[i + 1]):
                    marks[indices[e]] = 1


def dense_product(left, values, indices, indptr, out):
    """out = left . csr: item i owns row i."""
    for i in items(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
        for t in range(left.shape[1]):
            for e in range(indptr[t], indptr[t + 1]):
                out[i, indices[e]] += left[i, t] * values[e]


def dense_turned_product(left, values, indices, indptr, out):
    """out = left . csr^T."""
    for i in items(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
            for e in range(indptr[j], indptr[j + 1]):
                out[i, j] += left[i, indices[e]] * values[e]


CSR_PRODUCT = Loop(csr_product, cuda_function=csr_product_cuda)
TURNED_PRODUCT, MARK_COLUMNS = Loop(turned_product), Loop(mark_columns)
DENSE_PRODUCT, DENSE_TURNED_PRODUCT = Loop(dense_product), Loop(dense_turned_product)


# --- calling them -------------------------------------------------------------------------------


@decides("sparse-dot/sum-order")
def csr_dot(values, indices, indptr, right, places):
    """csr (n, k) . right (k, m), dense."""
    out = allocate((indptr.size - 1, right.shape[1]), values.dtype, values.device)
    CSR_PRODUCT(values, indices, indptr, right, places, out)
    return out


@decides("sparse-dot/sum-order")
def turned_dot(values, indices, indptr, right, places, slots, count):
    """csr^T . right as ``count`` rows; ``slots`` gives the place of each row of the product."""
    out = allocate((count, right.shape[1]), values.dtype, values.device)
    FILL(out, 0.0, out.size)
    TURNED_PRODUCT(values, indices, indptr, right, places, slots, out, indptr.size - 1)
    return out


def rows_reached(indices, indptr, places, columns):
    """(slots, rows): which rows csr^T . right can have, in order, and the slot of each row number."""
    marks = allocate((columns,), INDEX, indices.device)
    FILL(marks, 0, columns)
    MARK_COLUMNS(indices, indptr, places, marks, indptr.size - 1)
    slots, count = starts_of(marks, columns)
    rows = allocate((count,), INDEX, indices.device)
    LIST_MARKED(marks, slots, rows, columns)
    return slots, rows


@decides("sparse-dot/sum-order")
def dense_dot(left, values, indices, indptr, columns, turned):
    """left (n, k) . csr (k, columns), or . csr^T when ``turned``, dense."""
    out = allocate((left.shape[0], columns), values.dtype, values.device)
    loop = DENSE_TURNED_PRODUCT if turned else DENSE_PRODUCT
    loop(left, values, indices, indptr, out)
    return out
