"""_linalg_syevd: eigenvalues and eigenvectors of symmetric matrices.

[linalg_syevd/factors] two outputs, first U, whose rows are eigenvectors of length 1, then their eigenvalues: A = U^T
    diag(values) U. A is symmetric, and read in its lower triangle.
    >>> run("_linalg_syevd", [[2, 9], [1, 3]])
    ([[0.850651, -0.525731], [0.525731, 0.850651]], [1.381966, 3.618034])

[linalg_syevd/order] eigenvalues ascend; which vectors belong to equal ones is not defined.
    >>> run("_linalg_syevd", [[1, 0], [0, -1]])
    ([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0])

[linalg_syevd/sign] the first of a vector's largest numbers is positive.
    >>> run("_linalg_syevd", [[0, -3], [-3, 8]])
    ([[0.948683, 0.316228], [-0.316228, 0.948683]], [-1.0, 9.0])

[linalg_syevd/method] Jacobi's: rotations turn every number below the diagonal to zero, row by row, again and again
    until all are negligible, in double precision. A matrix with NaN or infinity gives NaN.

[linalg_syevd/gradient] U^T (S + diag(d_values)) U, where S is the symmetric part of the matrix whose element (i, j) is
    (d_U U^T)_ij / (value_i - value_j). S is zero on the diagonal and where two eigenvalues are equal.
    >>> grad("_linalg_syevd", [[0, -3], [-3, 8]])
    [[0.981026, 0.025298], [0.025298, 1.018974]]
"""

from math import nan, prod, sqrt

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register, scratch
from .shared.linalg import infer_type, matrices_of, multiply, square


def infer(p, ins, outs):
    a = square("A", merge("linalg/shape", "A", ins[0], outs[0]))
    values = outs[1]
    if values is not None:
        a = square("A", merge("linalg/shape", "A", a, (*values, values[-1] if values else UNKNOWN)))
    return [a], [a, None if a is None else a[:-1]]


# --- loops --------------------------------------------------------------------------------------

SWEEPS = 60  # a few are enough for any matrix


def rotate(a, vectors, values, work, turns, count, n):
    """``work`` and ``turns`` are (count, n, n), in double precision.

    ``work`` holds the matrix as it becomes diagonal, ``turns`` the product of the rotations.
    """
    for g in items(count):
        base = g * n * n
        for i in range(n):
            for j in range(n):
                low = i * n + j if j <= i else j * n + i
                work[base + i * n + j] = a[base + low]
                turns[base + i * n + j] = 1.0 if i == j else 0.0
        bad = False
        for _ in range(SWEEPS):
            beside, whole = 0.0, 0.0
            for k in range(n * n):
                squared = work[base + k] * work[base + k]
                whole += squared
                if k // n != k % n:
                    beside += squared
            bad = whole - whole != 0
            if bad or beside <= 1e-34 * whole:
                break
            for p in range(1, n):
                for q in range(p):
                    corner = work[base + p * n + q]
                    if corner == 0:
                        continue
                    slope = (work[base + p * n + p] - work[base + q * n + q]) / (2.0 * corner)
                    tangent = 1.0 / (abs(slope) + sqrt(slope * slope + 1.0))
                    if slope < 0:
                        tangent = -tangent
                    cosine = 1.0 / sqrt(tangent * tangent + 1.0)
                    sine = tangent * cosine
                    for k in range(n):
                        x, y = work[base + k * n + q], work[base + k * n + p]
                        work[base + k * n + q] = cosine * x - sine * y
                        work[base + k * n + p] = sine * x + cosine * y
                    for k in range(n):
                        x, y = work[base + q * n + k], work[base + p * n + k]
                        work[base + q * n + k] = cosine * x - sine * y
                        work[base + p * n + k] = sine * x + cosine * y
                        x, y = turns[base + q * n + k], turns[base + p * n + k]
                        turns[base + q * n + k] = cosine * x - sine * y
                        turns[base + p * n + k] = sine * x + cosine * y
        for i in range(n):
            best = i
            for j in range(i + 1, n):
                if work[base + j * n + j] < work[base + best * n + best]:
                    best = j
            value = work[base + best * n + best]
            work[base + best * n + best] = work[base + i * n + i]
            values[g * n + i] = nan if bad else value
            largest = 0
            for k in range(n):
                number = turns[base + best * n + k]
                turns[base + best * n + k] = turns[base + i * n + k]
                turns[base + i * n + k] = number
                # among numbers that differ by rounding only, the first counts as the largest
                if abs(number) > abs(turns[base + i * n + largest]) * (1 + 1e-12):
                    largest = k
            sign = -1.0 if turns[base + i * n + largest] < 0 else 1.0
            for k in range(n):
                vectors[(g * n + i) * n + k] = nan if bad else sign * turns[base + i * n + k]


def share_gaps(product, head, values, out, count, n):
    """out[i, j] = the symmetric part of product[i, j] / (value_i - value_j), and head[i] on the diagonal."""
    for item in items(count * n):
        g, i = item // n, item % n
        for j in range(n):
            gap = values[item] - values[g * n + j]
            part = product[item * n + j] - product[(g * n + j) * n + i]
            if i == j:
                part = head[item]
            elif gap != 0:
                part = part / (gap + gap)
            else:
                part = 0
            out[item * n + j] = part


ROTATE, SHARE_GAPS = Loop(rotate), Loop(share_gaps)


# --- the operator -------------------------------------------------------------------------------


def forward(p, a, vectors, values):
    work, turns = scratch(a, a.size, a.size, dtype=np.float64)
    ROTATE(a, vectors, values, work, turns, prod(a.shape[:-2]), a.shape[-1])


def backward(p, head_vectors, head_values, vectors, values, d_a):
    if d_a is None:
        return
    shape = vectors.shape
    product, inner = scratch(vectors, vectors.size, vectors.size)
    rows = matrices_of(vectors)
    multiply(matrices_of(head_vectors), rows.transposed, matrices_of(product, shape))
    SHARE_GAPS(product, head_values, values, inner, prod(shape[:-2]), shape[-1])
    multiply(matrices_of(inner, shape), rows, matrices_of(product, shape))
    multiply(rows.transposed, matrices_of(product, shape), matrices_of(d_a))


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
