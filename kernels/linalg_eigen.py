"""_linalg_syevd: eigenvalues and eigenvectors of symmetric matrices.

The examples of gradients have heads of ones for both outputs.

[linalg_syevd/factors] two outputs, first U, whose rows are eigenvectors of length 1, then their eigenvalues: A = U^T
    diag(values) U. A is symmetric, and read in its lower triangle.
    >>> run("_linalg_syevd", [[2, 9], [1, 3]])
    ([[0.850651, -0.525731], [0.525731, 0.850651]], [1.381966, 3.618034])

[linalg_syevd/order] eigenvalues ascend; which vectors belong to equal ones is not defined.
    >>> run("_linalg_syevd", [[1, 0], [0, -1]])
    ([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0])

[linalg_syevd/sign] of a vector's numbers that are largest in magnitude, the first is positive.
    >>> run("_linalg_syevd", [[0, -3], [-3, 8]])
    ([[0.948683, 0.316228], [-0.316228, 0.948683]], [-1.0, 9.0])

[linalg_syevd/method] Jacobi's: rotations turn every number below the diagonal to zero, row by row, again and again
    until all are negligible, in double precision. A matrix with NaN or infinity gives NaN.

[linalg_syevd/gradient] U^T (S + diag(d_values)) U, where S is the symmetric part of the matrix whose element (i, j) is
    (d_U U^T)_ij / (value_i - value_j). S is zero on the diagonal and where two eigenvalues are equal.
    >>> grad("_linalg_syevd", [[0, -3], [-3, 8]])
    [[0.981026, 0.025298], [0.025298, 1.018974]]
"""

from math import nan, sqrt

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, scalar, steps
from .foundation.texts import inlined
from .shared.linalg import batch, infer_type, matrices_of, multiply, rows_of, square, swap_rows, working


def infer(p, ins, outs):
    a = square("A", merge("linalg/shape", "A", ins[0], outs[0]))
    values = outs[1]
    if values is not None:
        a = square("A", merge("linalg/shape", "A", a, (*values, values[-1] if values else UNKNOWN)))
    return [a], [a, None if a is None else a[:-1]]


# --- loops --------------------------------------------------------------------------------------

SWEEPS = 60  # a few are enough for any matrix


@inlined
@scalar
def squares(work, g):
    """The sum of the squares of all numbers but the diagonal, and that of all numbers."""
    beside, whole = 0.0, 0.0
    for i, j in steps(work.shape[1:]):
        squared = work[g, i, j] * work[g, i, j]
        whole += squared
        if i != j:
            beside += squared
    return beside, whole


@scalar
def tangent_of(corner, difference):
    """The tangent of the smaller angle whose rotation makes zero of ``corner``, the element (p, q).

    ``difference`` is that of the diagonal: element (p, p) - element (q, q).
    """
    slope = difference / (2.0 * corner)
    tangent = 1.0 / (abs(slope) + sqrt(slope * slope + 1.0))
    return -tangent if slope < 0 else tangent


@inlined
@scalar
def rotate_rows(x, g, q, p, cosine, sine):
    """Row q becomes cosine times row q - sine times row p, row p sine times row q + cosine times row p; q < p."""
    for k in range(x.shape[2]):
        upper, lower = x[g, q, k], x[g, p, k]
        x[g, q, k] = cosine * upper - sine * lower
        x[g, p, k] = sine * upper + cosine * lower


@inlined
@scalar
def rotate_columns(x, g, q, p, cosine, sine):
    """As ``rotate_rows``, with columns."""
    for k in range(x.shape[1]):
        left, right = x[g, k, q], x[g, k, p]
        x[g, k, q] = cosine * left - sine * right
        x[g, k, p] = sine * left + cosine * right


@inlined
@scalar
def sweep(work, turns, g):
    """Rotate every number below the diagonal to zero, row by row, and ``turns`` along."""
    for p in range(1, work.shape[1]):
        for q in range(p):
            if work[g, p, q] != 0:
                tangent = tangent_of(work[g, p, q], work[g, p, p] - work[g, q, q])
                cosine = 1.0 / sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                rotate_columns(work, g, q, p, cosine, sine)
                rotate_rows(work, g, q, p, cosine, sine)
                rotate_rows(turns, g, q, p, cosine, sine)


@inlined
@scalar
def least_from(work, g, first):
    """The number of the least element of the diagonal, from number ``first`` on."""
    best = first
    for j in range(first + 1, work.shape[1]):
        if work[g, j, j] < work[g, best, best]:
            best = j
    return best


@inlined
@scalar
def sign_of_row(turns, g, i):
    """The sign of the largest number of a row.

    Among numbers that differ by rounding only, the first counts as the largest.
    """
    largest = 0
    for k in range(1, turns.shape[2]):
        if abs(turns[g, i, k]) > abs(turns[g, i, largest]) * (1 + 1e-12):
            largest = k
    return -1.0 if turns[g, i, largest] < 0 else 1.0


def rotate(a, vectors, values, work, turns):
    """A = vectors^T diag(values) vectors; ``work`` and ``turns`` have A's shape, in double precision.

    All the time A = turns^T work turns: ``work`` becomes diagonal, ``turns`` is the product of the rotations.
    """
    for g in items(a.shape[0]):
        for i, j in steps(a.shape[1:]):
            work[g, i, j] = a[g, max(i, j), min(i, j)]
            turns[g, i, j] = 1.0 if i == j else 0.0
        beside, whole = squares(work, g)
        for _ in range(SWEEPS):
            if whole - whole != 0 or beside <= 1e-34 * whole:  # NaN or infinity is left alone
                break
            sweep(work, turns, g)
            beside, whole = squares(work, g)
        bad = whole - whole != 0
        for i in range(a.shape[1]):
            best = least_from(work, g, i)
            values[g, i] = nan if bad else work[g, best, best]
            work[g, best, best] = work[g, i, i]
            swap_rows(turns, g, i, best)
            sign = nan if bad else sign_of_row(turns, g, i)
            for k in range(a.shape[2]):
                vectors[g, i, k] = sign * turns[g, i, k]


def share_gaps(product, head, values, out):
    """out[i, j] = the symmetric part of product[i, j] / (value_i - value_j), and head[i] on the diagonal."""
    for g, i, j in items(out.shape):
        gap = values[g, i] - values[g, j]
        if i == j:
            out[g, i, j] = head[g, i]
        elif gap != 0:
            out[g, i, j] = (product[g, i, j] - product[g, j, i]) / (gap + gap)
        else:
            out[g, i, j] = 0


ROTATE, SHARE_GAPS = Loop(rotate), Loop(share_gaps)


# --- the operator -------------------------------------------------------------------------------


def forward(p, a, vectors, values):
    work, turns = working(a, a.shape, a.shape, dtype=np.float64)
    ROTATE(batch(a), batch(vectors), rows_of(values), batch(work), batch(turns))


def backward(p, head_vectors, head_values, vectors, values, d_a):
    if d_a is None:
        return
    product, inner = working(vectors, vectors.shape, vectors.shape)
    rows = matrices_of(vectors)
    multiply(matrices_of(head_vectors), rows.transposed, matrices_of(product))
    SHARE_GAPS(batch(product), rows_of(head_values), rows_of(values), batch(inner))
    multiply(matrices_of(inner), rows, matrices_of(product))
    multiply(rows.transposed, matrices_of(product), matrices_of(d_a))


def cases(draw):
    n = draw.integer(1, 4)
    return Case({}, {"A": (*draw.shape(0, 2, 2), n, n)}, {"A": "definite"})


register(Op(
    name="_linalg_syevd", doc=__doc__, inputs=("A",), outputs=("output0", "output1"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("output0", "output1"), cases=cases,
    differentiable=False,  # the gradient treats A as symmetric, forward reads one triangle
    refusals={"linalg/square": {"params": {}, "shapes": {"A": (2, 3)}}},
    tier=2,
))
