"""What the pages linalg_*.py share: shapes and types, products of many matrices, and triangular systems.

The last two axes of an array hold matrices, the axes before them number those.

[linalg/types] all arrays of one call have one type, single or double precision; others are refused.

[linalg/rank] matrices have two axes or more.

[linalg/square] matrices whose inverse, determinant, eigenvalues or triangle is asked for are square.

[linalg/shape] the shape of the output follows from those of the inputs. A known output tells the shape of an unknown
    input where both have the same one.

Formulas of gradients are those of Seeger, Hetzel, Dai, Meissner and Lawrence, Auto-Differentiating Linear Algebra
(2017), and of Giles, Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation
(2008).
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer, Loop, agree, allocate, either, items, merge, refusal, require, same_type, scalar
from .products import PRODUCT, Product

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


class Layout(NamedTuple):
    """Where the matrices of an array lie.

    Matrix g begins at (g // middle) * size + (g % middle) * shift; its element (i, j) lies i * row_step +
    j * column_step behind. ``middle`` counts the matrices that interleave: those that are numbered by the axes between
    that of the rows and that of the columns. It is 1 where there are no such axes.
    """

    rows: int
    columns: int
    middle: int
    size: int
    shift: int
    row_step: int
    column_step: int

    @property
    def transposed(self):
        return self._replace(
            rows=self.columns, columns=self.rows, row_step=self.column_step, column_step=self.row_step
        )


class Triangles(NamedTuple):
    """E X for ``count`` triangular matrices E, (n, n), and as many matrices X, (n, m).

    Only one triangle of E is read: the lower one where ``lower`` is 1, else the upper one.
    """

    count: int
    n: int
    m: int
    e_row: int
    e_column: int
    x_row: int
    x_column: int
    lower: int

    @property
    def transposed(self):
        """E^T X, for the same memory."""
        return self._replace(e_row=self.e_column, e_column=self.e_row, lower=1 - self.lower)


@scalar
def start_of(g, layout):
    """Where matrix number ``g`` begins."""
    return (g // layout.middle) * layout.size + (g % layout.middle) * layout.shift


def products(a, b, out, count, of_a: Layout, of_b: Layout, of_out: Layout, alpha):
    """out = alpha a . b for ``count`` pairs of matrices, products added in increasing index.

    The columns of ``out`` are neighbours.
    """
    n, k, m = of_a.rows, of_a.columns, of_b.columns
    for item in items(count * n):
        g, i = item // n, item % n
        left = start_of(g, of_a) + i * of_a.row_step
        right = start_of(g, of_b)
        to = start_of(g, of_out) + i * of_out.row_step
        for j in range(m):
            out[to + j] = 0
        for t in range(k):
            factor = a[left + t * of_a.column_step]
            for j in range(m):
                out[to + j] += factor * b[right + t * of_b.row_step + j * of_b.column_step]
        for j in range(m):
            out[to + j] *= alpha


def scale(out, n, alpha):
    for i in items(n):
        out[i] *= alpha


def add_scaled(c, out, n, beta):
    for i in items(n):
        out[i] += c[i] * beta


def triangle_times(e, x, out, g: Triangles, alpha):
    """out = alpha E X; out is laid out as X is."""
    for item in items(g.count * g.m):
        number, j = item // g.m, item % g.m
        base, column = number * g.n * g.n, number * g.n * g.m + j * g.x_column
        for i in range(g.n):
            total = e[base] * 0
            for t in range(0 if g.lower else i, i + 1 if g.lower else g.n):
                total += e[base + i * g.e_row + t * g.e_column] * x[column + t * g.x_row]
            out[column + i * g.x_row] = alpha * total


def triangle_solve(e, x, out, g: Triangles, alpha):
    """E out = alpha X, by substitution; out is laid out as X is."""
    for item in items(g.count * g.m):
        number, j = item // g.m, item % g.m
        base, column = number * g.n * g.n, number * g.n * g.m + j * g.x_column
        for step in range(g.n):
            i = step if g.lower else g.n - 1 - step
            total = alpha * x[column + i * g.x_row]
            for t in range(0 if g.lower else i + 1, i if g.lower else g.n):
                total -= e[base + i * g.e_row + t * g.e_column] * out[column + t * g.x_row]
            out[column + i * g.x_row] = total / e[base + i * g.e_row + i * g.e_column]


def keep_triangle(x, count, n, lower, alpha):
    """x = alpha x in the lower or the upper triangle, 0 outside it."""
    for item in items(count * n):
        i = item % n
        for j in range(n):
            if (lower and j <= i) or (not lower and j >= i):
                x[item * n + j] *= alpha
            else:
                x[item * n + j] = 0


def add_transposed(x, out, count, n):
    """out = x + its transpose."""
    for item in items(count * n):
        g, i = item // n, item % n
        for j in range(n):
            out[item * n + j] = x[item * n + j] + x[g * n * n + j * n + i]


def mirror(x, count, n):
    """Copy what lies below the diagonal to what lies above."""
    for g in items(count):
        for i in range(n):
            for j in range(i):
                x[g * n * n + j * n + i] = x[g * n * n + i * n + j]


def identity(out, count, n):
    for item in items(count * n):
        for j in range(n):
            out[item * n + j] = 1 if j == item % n else 0


PRODUCTS, SCALE, ADD_SCALED = Loop(products), Loop(scale), Loop(add_scaled)
TRIANGLE_TIMES, TRIANGLE_SOLVE = Loop(triangle_times), Loop(triangle_solve)
KEEP_TRIANGLE, ADD_TRANSPOSED = Loop(keep_triangle), Loop(add_transposed)
MIRROR, IDENTITY = Loop(mirror), Loop(identity)


# --- calling them -------------------------------------------------------------------------------


class Matrices(NamedTuple):
    """Matrices in a buffer."""

    buffer: Buffer
    layout: Layout

    @property
    def transposed(self):
        return self._replace(layout=self.layout.transposed)

    def transposed_if(self, wanted):
        return self.transposed if wanted else self


def matrices_of(buffer, shape=None, axis=-2):
    """The matrices whose rows are numbered by ``axis`` and whose columns by the last."""
    return Matrices(buffer, layout_of(buffer.shape if shape is None else shape, axis))


@lru_cache(maxsize=4096)
def layout_of(shape, axis=-2):
    rows, columns, middle = shape[axis], shape[-1], prod(shape[axis % len(shape) + 1 : -1])
    return Layout(
        rows=rows, columns=columns, middle=middle, size=rows * middle * columns, shift=columns,
        row_step=middle * columns, column_step=1,
    )


def multiply(left, right, out, alpha=1.0):
    """out = alpha left . right, each of them :class:`Matrices`, out with neighbouring columns."""
    a, b, c = left.layout, right.layout, out.layout
    n, k, m = a.rows, a.columns, b.columns
    count = out.buffer.size // max(n * m, 1)
    if n * m * k >= LARGE and c.middle == 1 and out.buffer.dtype == np.float32:
        product = Product(n, m, k, a.row_step, a.column_step, b.row_step, b.column_step)
        for g in range(count):
            PRODUCT(*(piece(each.buffer, g * each.layout.size) for each in (left, right, out)), product)
        if alpha != 1:
            SCALE(out.buffer, out.buffer.size, float(alpha))
        return
    PRODUCTS(left.buffer, right.buffer, out.buffer, count, a, b, c, float(alpha))


def on_the_left(shape, lower=True):
    """E X, for matrices X in an array of this shape and as many triangular E."""
    *leading, rows, columns = shape
    return Triangles(
        count=prod(leading), n=rows, m=columns, e_row=rows, e_column=1, x_row=columns, x_column=1, lower=int(lower)
    )


def on_the_right(shape, lower=True):
    """X E, for matrices X in an array of this shape, which is read as E^T X^T."""
    *leading, rows, columns = shape
    return Triangles(
        count=prod(leading), n=columns, m=rows, e_row=1, e_column=columns, x_row=1, x_column=columns,
        lower=int(not lower),
    )


def piece(buffer, start):
    """Memory from ``start`` on."""
    return Buffer(buffer.flat[start:], (buffer.size - start,), buffer.device)


def batch(a):
    """How many square matrices ``a`` holds, and their side."""
    return prod(a.shape[:-2]), a.shape[-1]


def per_matrix(like, kind=np.int64):
    """A number for each matrix of ``like``, where a loop reports."""
    return allocate((prod(like.shape[:-2]),), np.dtype(kind), like.device)


def refuse_reported(clause, reports, what, advice):
    """Refuse when a loop reported a row, counted from 1, of any matrix: ``what`` is wrong with it, and ``advice``."""
    found = reports.to_numpy()
    if found.any():
        number = int(np.flatnonzero(found)[0])
        raise refusal(clause, f"matrix {number} of the batch {what} (row {int(found[number]) - 1}); {advice}")
