"""Products with the matrix by which a recurrent layer multiplies at every time: it is packed once, before the first."""

from typing import NamedTuple

from ..foundation import Buffer, Loop, items


def keep(right, kept, k, m, row_step, step):
    """kept (k, m) row by row: element (t, j) of ``right`` lies at t row_step + j step. A twin packs it."""
    for t in items(k):
        for j in range(m):
            kept[t * m + j] = right[t * row_step + j * step]


def by_kept(a, kept, out, n, m, k, row_step, step):
    """out (n, m) = a . kept, products added in increasing t below k; a[i, t] lies at i row_step + t step."""
    for i in items(n):
        for j in range(m):
            out[i * m + j] = 0
        for t in range(k):
            left = a[i * row_step + t * step]
            for j in range(m):
                out[i * m + j] += left * kept[t * m + j]


def by_kept_cuda(a, kept, out, n, m, k, row_step, step):
    """The same sums with one element per item."""
    for i, j in items((n, m)):
        out[i * m + j] = 0
        for t in range(k):
            out[i * m + j] += a[i * row_step + t * step] * kept[t * m + j]


KEEP, BY_KEPT = Loop(keep), Loop(by_kept, cuda_function=by_kept_cuda)

WIDTH = 32
"""A twin may keep so many columns side by side, and zeros where there are fewer."""


def kept_size(k, m):
    """How many numbers the kept form of a (k, m) matrix has, packed or not."""
    return k * -(-m // WIDTH) * WIDTH


class Kept(NamedTuple):
    """A (rows, columns) matrix in the form that :func:`multiply_by_kept` reads."""

    buffer: Buffer
    rows: int
    columns: int


def kept_of(matrix, memory, *, transpose=False):
    """Bring a matrix, or its transpose, into that form, in ``memory`` of ``kept_size`` numbers."""
    rows, columns = matrix.shape
    if transpose:
        KEEP(matrix, memory, columns, rows, 1, columns)
        return Kept(memory, columns, rows)
    KEEP(matrix, memory, rows, columns, columns, 1)
    return Kept(memory, rows, columns)


def multiply_by_kept(left, kept, out):
    """out = left . kept; ``left`` is a buffer with as many rows as it holds, one after another."""
    inner = kept.rows
    BY_KEPT(left, kept.buffer, out, left.size // inner, kept.columns, inner, inner, 1)
