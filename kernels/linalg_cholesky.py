"""_linalg_potrf, _linalg_potri, _linalg_sumlogdiag: the Cholesky factor, the inverse from it, its logarithms.

[linalg_potrf/factor] the lower triangular L with positive diagonal for which L L^T = A; above the diagonal it is zero.
    A is symmetric and positive definite, and read in its lower triangle. With lower=False A is read in its upper
    triangle, and the result is L^T: the upper triangular U for which U^T U = A.
    >>> run("_linalg_potrf", [[4, 2], [2, 5]])
    [[2.0, 0.0], [1.0, 2.0]]
    >>> run("_linalg_potrf", [[[9]], [[16]]])
    [[[3.0]], [[4.0]]]
    >>> run("_linalg_potrf", [[4, 2], [9, 5]], lower=False)
    [[2.0, 1.0], [0.0, 2.0]]

[linalg_potrf/positive-definite] a matrix that is not positive definite is refused when it is factored.

[linalg_potrf/nan] NaN is no reason to refuse: what follows from it is NaN.
    >>> run("_linalg_potrf", [[np.nan, 0], [1, 2]])
    [[nan, 0.0], [nan, nan]]

[linalg_potrf/gradient] towards A as a symmetric matrix: half of L^-T P L^-1, where P is the lower triangle of L^T head,
    mirrored. With lower=False L is the result transposed, and head is transposed too.
    >>> grad("_linalg_potrf", [[4, 2], [2, 5]], head=[[1, 2], [3, 4]])
    [[0.125, 0.25], [0.25, 1.0]]
    >>> grad("_linalg_potrf", [[4, 2], [9, 5]], lower=False, head=[[1, 2], [3, 4]])
    [[0.25, 0.0], [0.0, 1.0]]

[linalg_potri/inverse] the inverse of L L^T, for an L that is read in its lower triangle; with lower=False that of
    U^T U, for a U that is read in its upper one.
    >>> run("_linalg_potri", [[2, 7], [1, 2]])
    [[0.3125, -0.125], [-0.125, 0.25]]
    >>> run("_linalg_potri", [[2, 1], [7, 2]], lower=False)
    [[0.3125, -0.125], [-0.125, 0.25]]

[linalg_potri/singular] a zero on the diagonal of L or U is refused when the inverse is computed.

[linalg_potri/gradient] -R (head + head^T) L^-T in the lower triangle, R being the result; zeros above.
    With lower=False it is -U^-T (head + head^T) R in the upper triangle, zeros below.
    >>> grad("_linalg_potri", [[2, 7], [1, 2]], head=[[1, 2], [3, 4]])
    [[-0.0, 0.0], [-0.5, -0.4375]]
    >>> grad("_linalg_potri", [[2, 1], [7, 2]], lower=False, head=[[1, 2], [3, 4]])
    [[-0.0, -0.5], [0.0, -0.4375]]

[linalg_sumlogdiag/sum] the sum of the logarithms of the diagonal, one number for each matrix; a single matrix gives an
    array of one number. The logarithm of a negative number is NaN.
    >>> run("_linalg_sumlogdiag", [[2, 1], [1, 3]]), float(np.round(np.log(6), 6))
    ([1.791759], 1.791759)
    >>> run("_linalg_sumlogdiag", [[[1, 0], [0, 1]], [[2, 0], [0, -1]]])
    [0.0, nan]

[linalg_sumlogdiag/gradient] head divided by the diagonal, on the diagonal.
    >>> grad("_linalg_sumlogdiag", [[2, 1], [1, 4]], head=[2])
    [[1.0, 0.0], [0.0, 0.5]]

[linalg_cholesky/sum-order] products are added, or subtracted, in increasing index; logarithms likewise, in double
    precision.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, items, merge, outputs_only, register, scratch
from .shared.linalg import (
    ADD_TRANSPOSED,
    IDENTITY,
    KEEP_TRIANGLE,
    TRIANGLE_SOLVE,
    batch,
    infer_alike,
    infer_type,
    matrices_of,
    multiply,
    on_the_left,
    on_the_right,
    per_matrix,
    refuse_reported,
    scalars,
    square,
)


class Params(NamedTuple):
    lower: bool = True


def infer_sum(p, ins, outs):
    a = square("A", ins[0])
    out = merge("linalg/shape", "output", outs[0], scalars(a))
    if a is not None and len(a) > 2:
        a = (*out, *a[-2:])
    return [a], [out]


# --- loops --------------------------------------------------------------------------------------


def cholesky(a, out, report, count, n, row, column):
    """L row by row; report tells, from 1, the row where a number that must be positive is not.

    ``row`` and ``column`` are strides: element (i, j) of A and L lies i * row + j * column behind the matrix's first.
    """
    for g in items(count):
        base = g * n * n
        report[g] = 0
        for i in range(n):
            for j in range(i + 1):
                total = a[base + i * row + j * column]
                for k in range(j):
                    total -= out[base + i * row + k * column] * out[base + j * row + k * column]
                if i > j:
                    out[base + i * row + j * column] = total / out[base + j * (row + column)]
                else:
                    if total <= 0 and report[g] == 0:
                        report[g] = i + 1
                    out[base + i * (row + column)] = sqrt(total)
            for j in range(i + 1, n):
                out[base + i * row + j * column] = 0


def mirrored_product(factor, slope, out, count, n, row, column):
    """The lower triangle of factor^T slope, both being read there only, copied above the diagonal.

    ``row`` and ``column`` are strides: element (i, j) of factor and slope lies i * row + j * column behind the first.
    """
    for item in items(count * n):
        g, i = item // n, item % n
        base = g * n * n
        for j in range(i + 1):
            total = slope[base] * 0  # a zero of the matrices' type
            for k in range(i, n):
                total += factor[base + k * row + i * column] * slope[base + k * row + j * column]
            out[base + i * n + j] = total
            out[base + j * n + i] = total


def find_zero(a, report, count, n):
    """report tells, from 1, the first row with a zero on the diagonal."""
    for g in items(count):
        report[g] = 0
        for i in range(n):
            if report[g] == 0 and a[(g * n + i) * n + i] == 0:
                report[g] = i + 1


def sum_of_logarithms(a, out, count, n):
    for g in items(count):
        total = np.float64(0)
        for i in range(n):
            total += log(a[(g * n + i) * n + i])
        out[g] = total


def slope_of_logarithms(head, a, d_a, count, n):
    for item in items(count * n):
        for j in range(n):
            d_a[item * n + j] = 0
        at = item * n + item % n
        d_a[at] = head[item // n] / a[at]


CHOLESKY, MIRRORED_PRODUCT, FIND_ZERO = Loop(cholesky), Loop(mirrored_product), Loop(find_zero)
SUM_OF_LOGARITHMS, SLOPE_OF_LOGARITHMS = Loop(sum_of_logarithms), Loop(slope_of_logarithms)


# --- the operators ------------------------------------------------------------------------------


def strides(p, n):
    """How far apart rows and columns lie in memory; an upper triangle is read and written as its transpose."""
    return (n, 1) if p.lower else (1, n)


def forward_factor(p, a, out):
    report = per_matrix(a)
    count, n = batch(a)
    CHOLESKY(a, out, report, count, n, *strides(p, n))
    refuse_reported(
        "linalg_potrf/positive-definite", report, "is not positive definite",
        "factor a symmetric matrix with positive eigenvalues, or add a small number to its diagonal",
    )


def backward_factor(p, head, out, d_a):
    if d_a is None:
        return
    count, n = batch(out)
    both, half = scratch(out, out.size, out.size)
    MIRRORED_PRODUCT(out, head, both, count, n, *strides(p, n))
    left, right = on_the_left(out.shape, p.lower), on_the_right(out.shape, p.lower)
    TRIANGLE_SOLVE(out, both, half, left.transposed if p.lower else left, 1.0)
    TRIANGLE_SOLVE(out, half, d_a, right if p.lower else right.transposed, 0.5)


def forward_inverse(p, a, out):
    count, n = batch(a)
    report = per_matrix(a)
    FIND_ZERO(a, report, count, n)
    refuse_reported(
        "linalg_potri/singular", report, "is no Cholesky factor: it has a zero on its diagonal",
        "give what linalg.potrf returned",
    )
    one, half = scratch(a, a.size, a.size)
    IDENTITY(one, count, n)
    left = on_the_left(a.shape, p.lower)
    first, second = (left, left.transposed) if p.lower else (left.transposed, left)
    TRIANGLE_SOLVE(a, one, half, first, 1.0)
    TRIANGLE_SOLVE(a, half, out, second, 1.0)


def backward_inverse(p, head, a, out, d_a):
    if d_a is None:
        return
    count, n = batch(a)
    both, product = scratch(a, a.size, a.size)
    ADD_TRANSPOSED(head, both, count, n)
    factors = matrices_of(out), matrices_of(both, a.shape)
    multiply(*(factors if p.lower else factors[::-1]), matrices_of(product, a.shape))
    side = on_the_right if p.lower else on_the_left
    TRIANGLE_SOLVE(a, product, d_a, side(a.shape, p.lower).transposed, 1.0)
    KEEP_TRIANGLE(d_a, count, n, p.lower, -1.0)


def forward_sum(p, a, out):
    SUM_OF_LOGARITHMS(a, out, *batch(a))


def backward_sum(p, head, a, d_a):
    if d_a is not None:
        SLOPE_OF_LOGARITHMS(head, a, d_a, *batch(a))


def cases_of(values, triangles=(True, False)):
    def cases(draw):
        leading, n = draw.shape(0, 2, 2), draw.integer(1, 4)
        params = {"lower": draw.choice(triangles)} if triangles else {}
        return Case(params, {"A": (*leading, n, n)}, {"A": values})

    return cases


SQUARE = {"params": {}, "shapes": {"A": (2, 3)}}
register(Op(
    name="_linalg_potrf", doc=__doc__, params=Params, inputs=("A",), infer=infer_alike, infer_type=infer_type,
    forward=forward_factor, backward=backward_factor, needs=("output",), aliases=("linalg_potrf",),
    cases=cases_of("definite"),
    differentiable=False,  # the gradient treats A as symmetric, forward reads one triangle
    refusals={
        "linalg_potrf/positive-definite": {"params": {}, "shapes": {"A": (2, 2)}}, "linalg/square": SQUARE,
    },
    tier=2,
))
register(Op(
    name="_linalg_potri", doc=__doc__, params=Params, inputs=("A",), infer=infer_alike, infer_type=infer_type,
    forward=forward_inverse, backward=backward_inverse, needs=("A", "output"), aliases=("linalg_potri",),
    cases=cases_of("regular"),
    refusals={"linalg_potri/singular": {"params": {}, "shapes": {"A": (2, 2)}}, "linalg/square": SQUARE},
    tier=2,
))
register(Op(
    name="_linalg_sumlogdiag", doc=__doc__, inputs=("A",), infer=infer_sum, infer_type=infer_type,
    forward=forward_sum, backward=backward_sum, needs=("A",), aliases=("linalg_sumlogdiag",),
    cases=cases_of("positive", ()), refusals={"linalg/square": SQUARE},
    tier=2, reports=outputs_only,
))
