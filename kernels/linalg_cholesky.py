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

from .foundation import Case, Loop, Op, items, merge, outputs_only, register
from .shared.linalg import (
    ADD_TRANSPOSED,
    IDENTITY,
    KEEP_TRIANGLE,
    SOLVE_LEFT,
    SOLVE_RIGHT,
    batch,
    infer_alike,
    infer_type,
    matrices_of,
    multiply,
    per_matrix,
    refuse_reported,
    scalars,
    square,
    triangle_of,
    working,
)
from .shared.products import element, put


class Params(NamedTuple):
    lower: bool = True


def infer_sum(p, ins, outs):
    a = square("A", ins[0])
    out = merge("linalg/shape", "output", outs[0], scalars(a))
    if a is not None and len(a) > 2:
        a = (*out, *a[-2:])
    return [a], [out]


# --- loops --------------------------------------------------------------------------------------


def cholesky(a, out, report, turned):
    """L row by row; report tells, from 1, the row where a number that must be positive is not.

    With ``turned`` the transposes of A and L are read and written.
    """
    for g in items(a.shape[0]):
        report[g] = 0
        for i in range(a.shape[1]):
            for j in range(i + 1):
                total = element(a, g, i, j, turned)
                for k in range(j):
                    total -= element(out, g, i, k, turned) * element(out, g, j, k, turned)
                if i > j:
                    put(out, g, i, j, turned, total / out[g, j, j])
                    put(out, g, j, i, turned, 0)
                else:
                    if total <= 0 and report[g] == 0:
                        report[g] = i + 1
                    out[g, i, i] = sqrt(total)


def mirrored_product(factor, slope, out, turned):
    """The lower triangle of factor^T slope, both being lower triangles, copied above the diagonal.

    Sums are in double precision. With ``turned`` the transposes of factor and slope are read.
    """
    for g, i in items(out.shape[:2]):
        for j in range(i + 1):
            total = np.float64(0)
            for k in range(i, out.shape[1]):
                total += element(factor, g, k, i, turned) * element(slope, g, k, j, turned)
            out[g, i, j] = total
            out[g, j, i] = total


def find_zero(a, report):
    """report tells, from 1, the first row with a zero on the diagonal."""
    for g in items(a.shape[0]):
        report[g] = 0
        for i in range(a.shape[1]):
            if report[g] == 0 and a[g, i, i] == 0:
                report[g] = i + 1


def sum_of_logarithms(a, out):
    for g in items(a.shape[0]):
        total = np.float64(0)
        for i in range(a.shape[1]):
            total += log(a[g, i, i])
        out[g] = total


def slope_of_logarithms(head, a, d_a):
    for g, i in items(a.shape[:2]):
        for j in range(a.shape[2]):
            d_a[g, i, j] = 0
        d_a[g, i, i] = head[g] / a[g, i, i]


CHOLESKY, MIRRORED_PRODUCT, FIND_ZERO = Loop(cholesky), Loop(mirrored_product), Loop(find_zero)
SUM_OF_LOGARITHMS, SLOPE_OF_LOGARITHMS = Loop(sum_of_logarithms), Loop(slope_of_logarithms)


# --- the operators ------------------------------------------------------------------------------


def factor_of(p):
    """L, for memory that holds L, or with lower=False U = L^T."""
    return triangle_of(p.lower, transpose=not p.lower)


def forward_factor(p, a, out):
    report = per_matrix(a)
    CHOLESKY(batch(a), batch(out), report, not p.lower)
    refuse_reported(
        "linalg_potrf/positive-definite", report, "is not positive definite",
        "factor a symmetric matrix with positive eigenvalues, or add a small number to its diagonal",
    )


def backward_factor(p, head, out, d_a):
    if d_a is None:
        return
    both, half = (batch(each) for each in working(out, out.shape, out.shape))
    MIRRORED_PRODUCT(batch(out), batch(head), both, not p.lower)
    factor = factor_of(p)
    SOLVE_LEFT(batch(out), both, half, factor.transposed, 1.0)
    SOLVE_RIGHT(batch(out), half, batch(d_a), factor, 0.5)


def forward_inverse(p, a, out):
    report = per_matrix(a)
    FIND_ZERO(batch(a), report)
    refuse_reported(
        "linalg_potri/singular", report, "is no Cholesky factor: it has a zero on its diagonal",
        "give what linalg.potrf returned",
    )
    one, half = (batch(each) for each in working(a, a.shape, a.shape))
    IDENTITY(one)
    factor = factor_of(p)
    SOLVE_LEFT(batch(a), one, half, factor, 1.0)
    SOLVE_LEFT(batch(a), half, batch(out), factor.transposed, 1.0)


def backward_inverse(p, head, a, out, d_a):
    if d_a is None:
        return
    both, product = working(a, a.shape, a.shape)
    ADD_TRANSPOSED(batch(head), batch(both))
    inverse, slope = matrices_of(out), matrices_of(both)
    if p.lower:
        multiply(inverse, slope, matrices_of(product))
        SOLVE_RIGHT(batch(a), batch(product), batch(d_a), factor_of(p).transposed, 1.0)
    else:
        multiply(slope, inverse, matrices_of(product))
        SOLVE_LEFT(batch(a), batch(product), batch(d_a), factor_of(p), 1.0)
    KEEP_TRIANGLE(batch(d_a), p.lower, -1.0)


def forward_sum(p, a, out):
    SUM_OF_LOGARITHMS(batch(a), out)


def backward_sum(p, head, a, d_a):
    if d_a is not None:
        SLOPE_OF_LOGARITHMS(head, batch(a), batch(d_a))


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
