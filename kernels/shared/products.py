"""The product of two matrices, each of which may be stored as its transpose, and the sum of rows.

Layers, dot, recurrent networks and linear algebra use these loops.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer, Loop, items, scalar, scratch


@scalar
def element(a, g, i, j, turned):
    """A[i, j] of matrix g, where memory holds A, or its transpose if ``turned``."""
    return a[g, j, i] if turned else a[g, i, j]


@scalar
def put(a, g, i, j, turned, value):
    """Make ``value`` the :func:`element` A[i, j]."""
    if turned:
        a[g, j, i] = value
    else:
        a[g, i, j] = value


class Product(NamedTuple):
    """out (n, m) = a . b, with a[i, t] at ``i a_row + t a_step`` and b[t, j] at ``t b_row + j b_step``.

    With ``onto`` 1, products are added to the elements of ``out``.
    """

    n: int
    m: int
    k: int
    a_row: int
    a_step: int
    b_row: int
    b_step: int
    onto: int = 0


def product(a, b, out, g: Product):
    """out (n, m) = a . b, or out + a . b with ``onto``; products are added in increasing t below k. a[i, t] lies at
    i a_row + t a_step and b[t, j] at t b_row + j b_step, so that a matrix may be stored either way round.
    """
    for i in items(g.n):
        for j in range(g.m):
            out[i * g.m + j] = out[i * g.m + j] if g.onto else 0
        for t in range(g.k):
            left = a[i * g.a_row + t * g.a_step]
            for j in range(g.m):
                out[i * g.m + j] += left * b[t * g.b_row + j * g.b_step]


def product_cuda(a, b, out, g: Product):
    """The same sums with one element per item."""
    for i, j in items((g.n, g.m)):
        at = i * g.m + j
        out[at] = out[at] if g.onto else 0
        for t in range(g.k):
            out[at] += a[i * g.a_row + t * g.a_step] * b[t * g.b_row + j * g.b_step]


def turn(b, out):
    """out[t, j] = b[j, t]."""
    for t in items(out.shape[0]):
        for j in range(out.shape[1]):
            out[t, j] = b[j, t]


def sum_rows(head, out):
    """out[j] = the sum of head[i, j] over i, in increasing i."""
    for j in items(head.shape[1]):
        out[j] = 0
    for i in range(head.shape[0]):  # row by row, which adds to every sum in the same order as column by column
        for j in items(head.shape[1]):
            out[j] += head[i, j]


PRODUCT = Loop(product, cuda_function=product_cuda)
TURN, SUM_ROWS = Loop(turn), Loop(sum_rows)


@lru_cache(maxsize=4096)
def product_of(n, k, m, transpose_a=False, transpose_b=False):
    """a (n, k) . b (k, m), each stored row by row, or as its transpose."""
    a_steps, b_steps = (1, n) if transpose_a else (k, 1), (1, k) if transpose_b else (m, 1)
    return Product(n, m, k, *a_steps, *b_steps)


def multiply(a, b, out, g):
    """``product`` for a geometry of ``product_of``; where no twin computes that, the transpose of b is copied first."""
    if g.b_step != 1 and out.dtype != np.float32:
        (copied,) = scratch(out, g.k * g.m)
        TURN(b.reshape((g.m, g.k)), copied.reshape((g.k, g.m)))
        b, g = copied, g._replace(b_row=g.m, b_step=1)
    PRODUCT(a, b, out, g)


# --- a right operand that is kept ---------------------------------------------------------------
#
# A recurrent layer multiplies by the same matrix at every time: it is packed once, before the first.


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
    """The number of elements in the kept form of a (k, m) matrix, packed or not."""
    return k * -(-m // WIDTH) * WIDTH


class Kept(NamedTuple):
    """A (rows, columns) matrix in the form that :func:`multiply_by_kept` reads."""

    buffer: Buffer
    rows: int
    columns: int


def kept_of(matrix, memory, *, transpose=False):
    """Copy a matrix, or its transpose, into the form of :class:`Kept`, in ``memory`` of ``kept_size`` elements."""
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
