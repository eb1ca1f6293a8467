"""_linalg_inverse, _linalg_det, _linalg_slogdet: by the LU factors of square matrices, with pivots.

[linalg_inverse/inverse] the matrix with which A multiplies to the identity.
    >>> run("_linalg_inverse", [[0, 2], [4, 0]])
    [[0.0, 0.25], [0.5, 0.0]]

[linalg_inverse/singular] a matrix with a zero among its pivots is refused when it is inverted.

[linalg_det/determinant] one number for each matrix; a single matrix gives an array of one number.
    >>> run("_linalg_det", [[2, 1], [1, 3]]), run("_linalg_det", [[[1, 2], [3, 4]], [[0, 1], [1, 0]]])
    ([5.0], [-2.0, -1.0])

[linalg_slogdet/parts] there are two outputs: the sign of the determinant, and the logarithm of its absolute value,
    which does not overflow. For a singular matrix they are 0 and -infinity.
    >>> run("_linalg_slogdet", [[[1, 2], [3, 4]], [[1, 2], [2, 4]]])
    ([-1.0, 0.0], [0.693147, -inf])

[linalg_lu/pivot] the largest remaining number of each column becomes its pivot, the upper one of equals.

[linalg_lu/sum-order] columns are eliminated in increasing order; a determinant is the product of the pivots in that
    order, its logarithm the sum of theirs.

[linalg_inverse/gradient] -R^T head R^T, R being the inverse.
    >>> grad("_linalg_inverse", [[2, 1], [1, 3]], head=[[1, 2], [3, 4]])
    [[0.08, -0.16], [-0.36, -0.28]]

[linalg_lu/gradient] the gradient of det is head det(A) A^-T, that of the logarithm is head A^-T; the sign has none.
    Where the determinant is 0, the gradient is 0.
    >>> grad("_linalg_det", [[2, 1], [1, 3]]), grad("_linalg_det", [[1, 2], [2, 4]])
    ([[3.0, -1.0], [-1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> grad("_linalg_slogdet", [[2, 1], [1, -3]])
    [[0.428571, 0.142857], [0.142857, -0.285714]]
"""

from math import log

import numpy as np

from .foundation import (
    Case,
    Loop,
    Op,
    Sources,
    allocate,
    items,
    merge,
    register,
    require_some,
    scalar,
    scratch,
    steps,
)
from .foundation.texts import inlined
from .shared.linalg import (
    batch,
    infer_alike,
    infer_type,
    matrices_of,
    multiply,
    per_matrix,
    refuse_reported,
    rows_of,
    scalars,
    square,
    swap_rows,
    working,
)
from .shared.products import element, put


def infer_numbers(p, ins, outs):
    """det and slogdet: visible numbers, then the factors and pivots."""
    *numbers, factors, pivots = outs
    a = square("A", merge("linalg/shape", "A", ins[0], factors))
    if pivots is not None:
        a = square("A", merge("linalg/shape", "A", a, (*pivots, pivots[-1])))
    found = scalars(a)
    if a is not None:
        require_some("a matrix", a[-1], found)
    for number in numbers:
        found = merge("linalg/shape", "output", number, found)
    if a is not None and len(a) > 2:
        a = (*found, *a[-2:])
    return [a], [found] * len(numbers) + [a, None if a is None else a[:-1]]


def infer_number_types(p, ins, outs):
    ins, found = infer_type(p, ins, outs[:-1])
    return ins, [*found, np.dtype(np.int32)]


# --- loops --------------------------------------------------------------------------------------


@inlined
@scalar
def largest_below(lu, g, k):
    """The row, from row k on, with the largest number of column k: the upper one of equals."""
    best = k
    for i in range(k + 1, lu.shape[1]):
        if abs(lu[g, i, k]) > abs(lu[g, best, k]):
            best = i
    return best


def factor(a, lu, pivots, report):
    """Rows swapped so that L U = P A; pivots name the row that each row was swapped with.

    L is below the diagonal of ``lu``, its own diagonal being ones, and U on and above it. ``report`` tells, from 1, the
    first row with a pivot of zero.
    """
    for g in items(a.shape[0]):
        report[g] = 0
        for i, j in steps(a.shape[1:]):
            lu[g, i, j] = a[g, i, j]
        for k in range(a.shape[1]):
            best = largest_below(lu, g, k)
            pivots[g, k] = best
            if best != k:
                swap_rows(lu, g, k, best)
            pivot = lu[g, k, k]
            if pivot == 0:
                if report[g] == 0:
                    report[g] = k + 1
                continue
            for i in range(k + 1, a.shape[1]):
                share = lu[g, i, k] / pivot
                lu[g, i, k] = share
                for j in range(k + 1, a.shape[2]):
                    lu[g, i, j] -= share * lu[g, k, j]


@inlined
@scalar
def place_after(pivots, g, row):
    """Where the swaps move a row."""
    for k in range(pivots.shape[1]):
        if pivots[g, k] == row:
            row = k
        elif k == row:
            row = pivots[g, k]
    return row


def invert(lu, pivots, factors, out, turned):
    """out[g] = factors[g] times the inverse, whose column c solves L U x = P times column c of the identity.

    Zeros where the factor is 0. With ``turned`` the transpose is written.
    """
    n = lu.shape[1]
    for g, c in items(lu.shape[:2]):
        if factors[g] == 0:
            for i in range(n):
                put(out, g, i, c, turned, 0)
            continue
        place = place_after(pivots, g, c)
        for i in range(n):
            put(out, g, i, c, turned, 1 if i == place else 0)
            total = element(out, g, i, c, turned)
            for t in range(i):
                total -= lu[g, i, t] * element(out, g, t, c, turned)
            put(out, g, i, c, turned, total)
        for back in range(n):
            i = n - 1 - back
            total = element(out, g, i, c, turned)
            for t in range(i + 1, n):
                total -= lu[g, i, t] * element(out, g, t, c, turned)
            put(out, g, i, c, turned, total / lu[g, i, i])
        for i in range(n):
            put(out, g, i, c, turned, element(out, g, i, c, turned) * factors[g])


def fill_with_one(out, n):
    for i in items(n):
        out[i] = 1


def determinant(lu, pivots, out):
    """The product of the pivots; each swap of two rows turns its sign."""
    for g in items(lu.shape[0]):
        total = lu[g, 0, 0]
        if pivots[g, 0] != 0:
            total = -total
        for k in range(1, lu.shape[1]):
            total *= lu[g, k, k]
            if pivots[g, k] != k:
                total = -total
        out[g] = total


def sign_and_logarithm(lu, pivots, sign, size):
    """The sign of the determinant, and the sum of the logarithms of the pivots' sizes."""
    for g in items(lu.shape[0]):
        total, turns = 0.0, 1
        for k in range(lu.shape[1]):
            pivot = lu[g, k, k]
            if pivots[g, k] != k:
                turns = -turns
            if pivot < 0:
                turns = -turns
            if pivot == 0:
                turns = 0
            total += log(abs(pivot))
        size[g] = total
        sign[g] = turns


def slope_factors(head, sizes, out, count, is_log):
    """What A^-T is multiplied by; it is 0 where the matrix is singular."""
    for g in items(count):
        out[g] = head[g] if is_log else head[g] * sizes[g]
        if sizes[g] == 0:
            out[g] = 0


FACTOR, INVERT, DETERMINANT = Loop(factor), Loop(invert), Loop(determinant)
SIGN_AND_LOGARITHM, SLOPE_FACTORS, FILL_WITH_ONE = Loop(sign_and_logarithm), Loop(slope_factors), Loop(fill_with_one)


# --- the operators ------------------------------------------------------------------------------


def forward_inverse(p, a, out):
    lu, ones = working(a, a.shape, (batch(a).shape[0],))
    pivots, report = allocate(a.shape[:-1], np.dtype(np.int32), a.device), per_matrix(a)
    FACTOR(batch(a), batch(lu), rows_of(pivots), report)
    refuse_reported(
        "linalg_inverse/singular", report, "is singular and has no inverse",
        "invert matrices whose linalg.det is not 0, or add a small number to the diagonal",
    )
    FILL_WITH_ONE(ones, ones.size)
    INVERT(batch(lu), rows_of(pivots), ones, batch(out), False)


def backward_inverse(p, head, out, d_a):
    if d_a is None:
        return
    (half,) = working(out, out.shape)
    transposed = matrices_of(out).transposed
    multiply(transposed, matrices_of(head), matrices_of(half), -1.0)
    multiply(matrices_of(half), transposed, matrices_of(d_a))


def forward_determinant(p, a, out, lu, pivots):
    factors = batch(lu), rows_of(pivots)
    FACTOR(batch(a), *factors, per_matrix(a))
    DETERMINANT(*factors, out)


def forward_parts(p, a, sign, size, lu, pivots):
    factors = batch(lu), rows_of(pivots)
    FACTOR(batch(a), *factors, per_matrix(a))
    SIGN_AND_LOGARITHM(*factors, sign, size)


def slope(head, sizes, lu, pivots, d_a, *, is_log):
    if d_a is None:
        return
    (factors,) = scratch(lu, sizes.size)
    SLOPE_FACTORS(head, sizes, factors, sizes.size, is_log)
    INVERT(batch(lu), rows_of(pivots), factors, batch(d_a), True)


def backward_determinant(p, head, out, lu, pivots, d_a):
    slope(head, out, lu, pivots, d_a, is_log=False)


def backward_parts(p, head_sign, head, sign, lu, pivots, d_a):
    slope(head, sign, lu, pivots, d_a, is_log=True)


def cases(draw):
    n = draw.integer(1, 4)
    return Case({}, {"A": (*draw.shape(0, 2, 2), n, n)}, {"A": "regular"})


SQUARE = {"linalg/square": {"params": {}, "shapes": {"A": (2, 3)}}}
register(Op(
    name="_linalg_inverse", doc=__doc__, inputs=("A",), infer=infer_alike, infer_type=infer_type,
    forward=forward_inverse, backward=backward_inverse, needs=("output",), aliases=("linalg_inverse",), cases=cases,
    refusals={**SQUARE, "linalg_inverse/singular": {"params": {}, "shapes": {"A": (2, 2)}}},
    tier=2, reports=Sources(),
))
register(Op(
    name="_linalg_det", doc=__doc__, inputs=("A",), outputs=("output0", "LU", "pivot"), hidden=2, infer=infer_numbers,
    infer_type=infer_number_types, forward=forward_determinant, backward=backward_determinant,
    needs=("output0", "LU", "pivot"), aliases=("linalg_det",), cases=cases, refusals=SQUARE,
    tier=2, reports=Sources(),
))
register(Op(
    name="_linalg_slogdet", doc=__doc__, inputs=("A",), outputs=("output0", "output1", "LU", "pivot"), hidden=2,
    infer=infer_numbers, infer_type=infer_number_types, forward=forward_parts, backward=backward_parts,
    needs=("output0", "LU", "pivot"), aliases=("linalg_slogdet",), cases=cases, refusals=SQUARE,
    tier=2, reports=Sources(),
))
