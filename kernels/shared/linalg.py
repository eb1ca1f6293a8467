"""Shapes, types, products of many matrices, and triangular systems, for the pages linalg_*.py.

The last two axes of an array are the rows and columns of matrices, the axes before them number the matrices.

[linalg/types] all arrays of one call have one type, single or double precision; others are refused.

[linalg/rank] matrices have two axes or more.

[linalg/square] matrices whose inverse, determinant, eigenvalues or triangle is asked for are square.

[linalg/shape] the shape of the output follows from those of the inputs. A known output tells the shape of an unknown
    input where both have the same one.

Formulas of gradients are those of Seeger, Hetzel, Dai, Meissner and Lawrence, Auto-Differentiating Linear Algebra
(2017), and of Giles, Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation
(2008).
"""

from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import (
    Buffer,
    Loop,
    agree,
    allocate,
    either,
    items,
    merge,
    refusal,
    require,
    same_type,
    scalar,
    scratch,
)
from ..foundation.texts import inlined
from .products import PRODUCT, element, product_of

LARGE = 32**3
"""A product of two matrices that takes as many multiplications, or more, is a call of its own of the tuned product."""


# --- shapes and types ---------------------------------------------------------------------------


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "linalg/types", ins[0] is None or ins[0] in (np.float32, np.float64),
        f"operators of linear algebra take float32 and float64, not {ins[0]}; use Cast",
    )
    return ins, outs


def matrices(name, shape):
    """Refuse a known shape that holds no matrices."""
    require("linalg/rank", shape is None or len(shape) >= 2, f"{name} {shape} needs two axes or more")


def square(name, shape):
    """A shape of square matrices, one side telling the other; None stays."""
    matrices(name, shape)
    if shape is None:
        return None
    *leading, rows, columns = shape
    require("linalg/square", agree(rows, columns), f"{name} {list(shape)} holds no square matrices")
    return (*leading, either(rows, columns), either(rows, columns))


def infer_alike(p, ins, outs):
    """Square matrices in, matrices of the same shape out."""
    shape = square("A", merge("linalg/shape", "A", ins[0], outs[0]))
    return [shape], [shape] * len(outs)


def scalars(shape):
    """One number per matrix; for a single matrix an array of one number."""
    return None if shape is None else (shape[:-2] or (1,))


# --- loops --------------------------------------------------------------------------------------
#
# Arrays of matrices are (matrices, rows, columns), but those of ``products``.


class Triangle(NamedTuple):
    """How triangular matrices E are read: from the lower or the upper triangle; all other elements count as zeros.

    With ``turned`` memory holds the transposes of E.
    """

    lower: int
    turned: int

    @property
    def transposed(self):
        """E^T, for the same memory."""
        return Triangle(1 - self.lower, 1 - self.turned)


def triangle_of(lower, transpose=False):
    """E for matrices A that are read in their lower or upper triangle: A, or A^T with ``transpose``."""
    return Triangle(int(lower != transpose), int(transpose))


@inlined
@scalar
def swap_rows(x, g, i, k):
    """Swap rows i and k of matrix g."""
    for j in range(x.shape[2]):
        kept = x[g, i, j]
        x[g, i, j] = x[g, k, j]
        x[g, k, j] = kept


@scalar
def part_of(a, g, i, c, j, turned):
    """A[i, j] of matrix (g, c)."""
    return a[g, j, c, i] if turned else a[g, i, c, j]


def products(a, b, out, a_turned, b_turned, alpha):
    """out[g, i, c, j] = alpha times the sum over t of A[i, t] B[t, j], those of matrix (g, c), in increasing t."""
    inner = a.shape[1] if a_turned else a.shape[3]
    for g, i, c in items(out.shape[:3]):
        for j in range(out.shape[3]):
            out[g, i, c, j] = 0
        for t in range(inner):
            factor = part_of(a, g, i, c, t, a_turned)
            for j in range(out.shape[3]):
                out[g, i, c, j] += factor * part_of(b, g, t, c, j, b_turned)
        for j in range(out.shape[3]):
            out[g, i, c, j] *= alpha


def scale(out, n, alpha):
    for i in items(n):
        out[i] *= alpha


def add_scaled(c, out, n, beta):
    for i in items(n):
        out[i] += c[i] * beta


def solve_left(e, x, out, s: Triangle, alpha):
    """E out = alpha x, by substitution."""
    n = x.shape[1]
    for g, j in items((x.shape[0], x.shape[2])):
        for step in range(n):
            i = step if s.lower else n - 1 - step
            total = alpha * x[g, i, j]
            for t in range(0 if s.lower else i + 1, i if s.lower else n):
                total -= element(e, g, i, t, s.turned) * out[g, t, j]
            out[g, i, j] = total / e[g, i, i]


def solve_right(e, x, out, s: Triangle, alpha):
    """out E = alpha x, by substitution."""
    n = x.shape[2]
    for g, i in items(x.shape[:2]):
        for step in range(n):
            j = n - 1 - step if s.lower else step
            total = alpha * x[g, i, j]
            for t in range(j + 1 if s.lower else 0, n if s.lower else j):
                total -= element(e, g, t, j, s.turned) * out[g, i, t]
            out[g, i, j] = total / e[g, j, j]


def keep_triangle(x, lower, alpha):
    """x = alpha x in the lower or the upper triangle, 0 outside it."""
    for g, i, j in items(x.shape):
        if (lower and j <= i) or (not lower and j >= i):
            x[g, i, j] *= alpha
        else:
            x[g, i, j] = 0


def add_transposed(x, out):
    """out = x + its transpose."""
    for g, i, j in items(x.shape):
        out[g, i, j] = x[g, i, j] + x[g, j, i]


def mirror(x):
    """Copy the elements below the diagonal to the places above it."""
    for g, i in items(x.shape[:2]):
        for j in range(i):
            x[g, j, i] = x[g, i, j]


def identity(out):
    for g, i, j in items(out.shape):
        out[g, i, j] = 1 if j == i else 0


PRODUCTS, SCALE, ADD_SCALED = Loop(products), Loop(scale), Loop(add_scaled)
SOLVE_LEFT, SOLVE_RIGHT = Loop(solve_left), Loop(solve_right)
KEEP_TRIANGLE, ADD_TRANSPOSED = Loop(keep_triangle), Loop(add_transposed)
MIRROR, IDENTITY = Loop(mirror), Loop(identity)


# --- calling them -------------------------------------------------------------------------------


class Matrices(NamedTuple):
    """Matrices in a buffer (outer, rows, inner, columns), numbered by outer and inner; ``turned`` where transposed."""

    buffer: Buffer
    turned: bool = False

    @property
    def transposed(self):
        return Matrices(self.buffer, not self.turned)

    def transposed_if(self, wanted):
        return self.transposed if wanted else self


def matrices_of(buffer, axis=-2):
    """The matrices whose rows are numbered by ``axis`` and whose columns by the last."""
    shape = buffer.shape
    axis %= len(shape)
    return Matrices(buffer.reshape((prod(shape[:axis]), shape[axis], prod(shape[axis + 1 : -1]), shape[-1])))


def multiply(left, right, out, alpha=1.0):
    """out = alpha left . right, each of them :class:`Matrices`, out not transposed."""
    a, b, c = left.buffer, right.buffer, out.buffer
    count, n, inner, m = c.shape
    k = a.shape[1 if left.turned else 3]
    if n * m * k >= LARGE and inner == 1 and c.dtype == np.float32:
        product = product_of(n, k, m, left.turned, right.turned)
        for g in range(count):
            PRODUCT(piece(a, g * n * k), piece(b, g * k * m), piece(c, g * n * m), product)
        if alpha != 1:
            SCALE(c, c.size, float(alpha))
        return
    PRODUCTS(a, b, c, left.turned, right.turned, float(alpha))


def piece(buffer, start):
    """Memory from ``start`` on."""
    return Buffer(buffer.flat[start:], (buffer.size - start,), buffer.device)


def batch(a):
    """The matrices of an array under three axes: (matrices, rows, columns)."""
    return a if len(a.shape) == 3 else a.reshape((prod(a.shape[:-2]), *a.shape[-2:]))


def rows_of(a):
    """An array under two axes: (rows, columns)."""
    return a.reshape((prod(a.shape[:-1]), a.shape[-1]))


def working(like, *shapes, dtype=None):
    """A working buffer of each shape; see ``scratch``."""
    lent = scratch(like, *map(prod, shapes), dtype=dtype)
    return [buffer.reshape(shape) for buffer, shape in zip(lent, shapes, strict=True)]


def per_matrix(like, kind=np.int64):
    """A number for each matrix of ``like``, where a loop reports."""
    return allocate((prod(like.shape[:-2]),), np.dtype(kind), like.device)


def refuse_reported(clause, reports, what, advice):
    """Refuse when a loop reported a row, counted from 1, of any matrix: ``what`` is wrong with it, and ``advice``."""
    found = reports.to_numpy()
    if found.any():
        number = int(np.flatnonzero(found)[0])
        raise refusal(clause, f"matrix {number} of the batch {what} (row {int(found[number]) - 1}); {advice}")
