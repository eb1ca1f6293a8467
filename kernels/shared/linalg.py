"""What the pages linalg_*.py share: shapes and types, products of many matrices, and triangular systems.

The last two axes of an array hold matrices, the axes before them number those.

[linalg/types] all arrays of one call have one type, single or double precision; others are refused.

[linalg/rank] matrices have two axes or more.

[linalg/square] for an inverse, a determinant, eigenvalues or a triangle the matrices are square.

[linalg/shape] the output has the shape that follows from the inputs, and tells an unknown input of the same shape.

Formulas of gradients are those of Seeger, Hetzel, Dai, Meissner and Lawrence, Auto-Differentiating Linear Algebra
(2017), and of Giles, Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation
(2008).
"""

from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer, Loop, agree, allocate, either, items, merge, refusal, require, same_type
from ..fully_connected import PRODUCT

LARGE = 32**3
"""From so many products on, the tuned matrix product is worth a call of its own."""


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


def products(
    a, b, out, count, n, m, k, middle, a_size, a_shift, a_row, a_step, b_size, b_shift, b_row, b_step, out_size,
    out_shift, out_row, alpha,
):  # fmt: skip
    """out = alpha a . b for ``count`` matrices (n, k) and (k, m), products added in increasing index."""
    for item in items(count * n):
        g, i = item // n, item % n
        outer, inner = g // middle, g % middle
        left = outer * a_size + inner * a_shift + i * a_row
        right = outer * b_size + inner * b_shift
        to = outer * out_size + inner * out_shift + i * out_row
        for j in range(m):
            out[to + j] = 0
        for t in range(k):
            factor = a[left + t * a_step]
            for j in range(m):
                out[to + j] += factor * b[right + t * b_row + j * b_step]
        for j in range(m):
            out[to + j] *= alpha


def scale(out, n, alpha):
    for i in items(n):
        out[i] *= alpha


def add_scaled(c, out, n, beta):
    for i in items(n):
        out[i] += c[i] * beta


def triangle_times(a, x, out, count, n, m, a_row, a_step, x_row, x_step, low, alpha):
    """out = alpha E x: E, (n, n) in a, is read in one triangle; x and out are (n, m) with strides."""
    for item in items(count * m):
        g, j = item // m, item % m
        e, base = g * n * n, g * n * m + j * x_step
        for i in range(n):
            total = a[e] * 0
            for t in range(0 if low else i, i + 1 if low else n):
                total += a[e + i * a_row + t * a_step] * x[base + t * x_row]
            out[base + i * x_row] = alpha * total


def triangle_solve(a, x, out, count, n, m, a_row, a_step, x_row, x_step, low, alpha):
    """E out = alpha x, by substitution."""
    for item in items(count * m):
        g, j = item // m, item % m
        e, base = g * n * n, g * n * m + j * x_step
        for back in range(n):
            i = back if low else n - 1 - back
            total = alpha * x[base + i * x_row]
            for t in range(0 if low else i + 1, i if low else n):
                total -= a[e + i * a_row + t * a_step] * out[base + t * x_row]
            out[base + i * x_row] = total / a[e + i * a_row + i * a_step]


def keep_triangle(x, count, n, low, alpha):
    """x = alpha x in the triangle, 0 elsewhere."""
    for item in items(count * n):
        i = item % n
        for j in range(n):
            if (low and j <= i) or (not low and j >= i):
                x[item * n + j] *= alpha
            else:
                x[item * n + j] = 0


def add_turned(x, out, count, n):
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
KEEP_TRIANGLE, ADD_TURNED, MIRROR, IDENTITY = Loop(keep_triangle), Loop(add_turned), Loop(mirror), Loop(identity)


# --- calling them -------------------------------------------------------------------------------


class Matrices(NamedTuple):
    """Matrices in an array: element (i, t) of number g lies at
    (g // middle) size + (g % middle) shift + i row + t step.
    """

    buffer: Buffer
    rows: int
    columns: int
    middle: int
    size: int
    shift: int
    row: int
    step: int

    @property
    def turned(self):
        return self._replace(rows=self.columns, columns=self.rows, row=self.step, step=self.row)

    def turned_if(self, wanted):
        return self.turned if wanted else self


def matrices_of(buffer, shape=None, axis=-2):
    """The matrices whose rows are numbered by ``axis`` and whose columns by the last."""
    shape = buffer.shape if shape is None else shape
    rows, columns, middle = shape[axis], shape[-1], prod(shape[axis % len(shape) + 1 : -1])
    return Matrices(buffer, rows, columns, middle, rows * middle * columns, columns, middle * columns, 1)


def multiply(left, right, out, alpha=1.0):
    """out = alpha left . right, each of them :class:`Matrices`, out with neighbouring columns."""
    n, k, m = left.rows, left.columns, right.columns
    count = out.buffer.size // max(n * m, 1)
    if n * m * k >= LARGE and out.middle == 1 and out.buffer.dtype == np.float32:
        for g in range(count):
            a, b, c = (piece(each.buffer, g * each.size) for each in (left, right, out))
            PRODUCT(a, b, c, n, m, k, left.row, left.step, right.row, right.step)
        if alpha != 1:
            SCALE(out.buffer, out.buffer.size, float(alpha))
        return
    PRODUCTS(
        left.buffer, right.buffer, out.buffer, count, n, m, k, out.middle, left.size, left.shift, left.row, left.step,
        right.size, right.shift, right.row, right.step, out.size, out.shift, out.row, float(alpha),
    )


def piece(buffer, start):
    """Memory from ``start`` on."""
    return Buffer(buffer.flat[start:], (buffer.size - start,), buffer.device)


def per_matrix(like, kind=np.int64):
    """A number for each matrix of ``like``, where a loop reports."""
    return allocate((prod(like.shape[:-2]),), np.dtype(kind), like.device)


def complain(clause, reports, what, mend):
    """Refuse when a loop reported a row (counted from 1) for any matrix: what it is, and what would mend it."""
    found = reports.to_numpy()
    if found.any():
        number = int(np.flatnonzero(found)[0])
        raise refusal(clause, f"matrix {number} of the batch {what} (row {int(found[number]) - 1}); {mend}")
