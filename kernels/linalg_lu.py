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

from .foundation import Case, Loop, Op, Sources, allocate, items, merge, register, require_some, scratch
from .shared.linalg import (
    Layout,
    batch,
    infer_alike,
    infer_type,
    layout_of,
    matrices_of,
    multiply,
    per_matrix,
    refuse_reported,
    scalars,
    square,
)


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


def factor(a, lu, pivots, report, count, n):
    """Rows swapped so that L U = P A; pivots name the row that each row was swapped with."""
    for g in items(count):
        base = g * n * n
        report[g] = 0
        for k in range(base, base + n * n):
            lu[k] = a[k]
        for k in range(n):
            best = k
            for i in range(k + 1, n):
                if abs(lu[base + i * n + k]) > abs(lu[base + best * n + k]):
                    best = i
            pivots[g * n + k] = best
            if best != k:
                for j in range(n):
                    kept = lu[base + k * n + j]
                    lu[base + k * n + j] = lu[base + best * n + j]
                    lu[base + best * n + j] = kept
            pivot = lu[base + k * n + k]
            if pivot == 0:
                if report[g] == 0:
                    report[g] = k + 1
                continue
            for i in range(k + 1, n):
                share = lu[base + i * n + k] / pivot
                lu[base + i * n + k] = share
                for j in range(k + 1, n):
                    lu[base + i * n + j] -= share * lu[base + k * n + j]


def invert(lu, pivots, factors, out, count, to: Layout):
    """Each inverse times the factor of its matrix, column by column; ``to`` says where they lie in ``out``."""
    n, row = to.rows, to.row_step
    for item in items(count * n):
        g, column = item // n, item % n
        base, start = g * n * n, g * n * n + column * to.column_step
        for i in range(n):
            out[start + i * row] = 0
        place = column
        for k in range(n):
            if pivots[g * n + k] == place:
                place = k
            elif k == place:
                place = pivots[g * n + k]
        if factors[g] != 0:
            out[start + place * row] = 1
            for i in range(n):
                total = out[start + i * row]
                for t in range(i):
                    total -= lu[base + i * n + t] * out[start + t * row]
                out[start + i * row] = total
            for back in range(n):
                i = n - 1 - back
                total = out[start + i * row]
                for t in range(i + 1, n):
                    total -= lu[base + i * n + t] * out[start + t * row]
                out[start + i * row] = total / lu[base + i * n + i]
            for i in range(n):
                out[start + i * row] *= factors[g]


def fill_with_one(out, n):
    for i in items(n):
        out[i] = 1


def determinant(lu, pivots, out, count, n):
    for g in items(count):
        total = lu[g * n * n]
        if pivots[g * n] != 0:
            total = -total
        for k in range(1, n):
            total *= lu[(g * n + k) * n + k]
            if pivots[g * n + k] != k:
                total = -total
        out[g] = total


def sign_and_logarithm(lu, pivots, sign, size, count, n):
    for g in items(count):
        total, turns = 0.0, 1
        for k in range(n):
            pivot = lu[(g * n + k) * n + k]
            if pivots[g * n + k] != k:
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
    count, n = batch(a)
    lu, ones = scratch(a, a.size, count)
    pivots, report = allocate((count * n,), np.dtype(np.int32), a.device), per_matrix(a)
    FACTOR(a, lu, pivots, report, count, n)
    refuse_reported(
        "linalg_inverse/singular", report, "is singular and has no inverse",
        "invert matrices whose linalg.det is not 0, or add a small number to the diagonal",
    )
    FILL_WITH_ONE(ones, count)
    INVERT(lu, pivots, ones, out, count, layout_of(a.shape))


def backward_inverse(p, head, out, d_a):
    if d_a is None:
        return
    (half,) = scratch(out, out.size)
    transposed = matrices_of(out).transposed
    multiply(transposed, matrices_of(head), matrices_of(half, out.shape), -1.0)
    multiply(matrices_of(half, out.shape), transposed, matrices_of(d_a))


def forward_determinant(p, a, out, lu, pivots):
    FACTOR(a, lu, pivots, per_matrix(a), *batch(a))
    DETERMINANT(lu, pivots, out, *batch(a))


def forward_parts(p, a, sign, size, lu, pivots):
    FACTOR(a, lu, pivots, per_matrix(a), *batch(a))
    SIGN_AND_LOGARITHM(lu, pivots, sign, size, *batch(a))


def slope(head, sizes, lu, pivots, d_a, *, is_log):
    if d_a is None:
        return
    count, _ = batch(lu)
    (factors,) = scratch(lu, count)
    SLOPE_FACTORS(head, sizes, factors, count, is_log)
    INVERT(lu, pivots, factors, d_a, count, layout_of(lu.shape).transposed)


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
