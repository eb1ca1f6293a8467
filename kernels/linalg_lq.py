"""_linalg_gelqf: A = L Q, L lower triangular, the rows of Q orthonormal.

[linalg_gelqf/factors] two outputs, first Q, (rows, columns) like A, then L, (rows, rows), zero above its diagonal.
    >>> run("_linalg_gelqf", [[-3, -4], [1, -2]])
    ([[-0.6, -0.8], [-0.8, 0.6]], [[5.0, 0.0], [1.0, -2.0]])

[linalg_gelqf/sign] Householder reflections bring one row after another onto its axis. A reflection gives the number on
    L's diagonal the opposite sign of the number that stood there. A row that lies on its axis is not reflected, and
    keeps its sign.
    >>> run("_linalg_gelqf", [[3, 4], [0, 0]])
    ([[-0.6, -0.8], [-0.8, 0.6]], [[-5.0, 0.0], [0.0, 0.0]])
    >>> run("_linalg_gelqf", [[-3]])
    ([[1.0]], [[-3.0]])

[linalg_gelqf/wide] A has at least as many columns as rows.

[linalg_gelqf/sum-order] sums run in increasing column; the reflections are applied from the last to the first.

[linalg_gelqf/gradient] L^-T (dQ + P Q), where dQ and dL are the heads and P is the lower triangle of L^T dL - dQ Q^T,
    mirrored. A zero on L's diagonal is divided by.
    >>> grad("_linalg_gelqf", [[3, 4]])
    [[-0.632, -0.776]]
"""

from math import prod, sqrt

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, Sources, either, items, merge, register, require, scratch, told
from .shared.linalg import (
    ADD_SCALED,
    MIRROR,
    TRIANGLE_SOLVE,
    batch,
    infer_type,
    matrices,
    matrices_of,
    multiply,
    on_the_left,
)


def infer(p, ins, outs):
    a = merge("linalg/shape", "A", ins[0], outs[0])
    matrices("A", a)
    lower = outs[1]
    if lower is not None:
        matrices("L", lower)
        a = merge("linalg/shape", "A", a, (*lower[:-2], either(lower[-1], lower[-2]), UNKNOWN))
    if a is None:
        return ins, outs
    require(
        "linalg_gelqf/wide", not told(*a[-2:]) or a[-2] <= a[-1],
        f"A {list(a)} has more rows than columns; turn it, and L Q becomes R^T Q^T",
    )
    return [a], [a, merge("linalg/shape", "L", lower, (*a[:-2], a[-2], a[-2]))]


# --- loops --------------------------------------------------------------------------------------


def reflect(a, q, lower, work, count, n, m):
    """``work`` has (n, m + 1) numbers for each matrix: a row as it is reflected, then the vector of its reflection, and
    in the last column the reflection's factor.
    """
    for g in items(count):
        base, wide = g * n * (m + 1), m + 1
        for i in range(n):
            for j in range(m):
                work[base + i * wide + j] = a[(g * n + i) * m + j]
        for i in range(n):
            row = base + i * wide
            rest = np.float64(0)
            for j in range(i + 1, m):
                rest += work[row + j] * work[row + j]
            first = work[row + i]
            work[row + m] = 0
            if rest > 0:
                length = sqrt(first * first + rest)
                onto = -length if first >= 0 else length
                work[row + m] = (onto - first) / onto
                for j in range(i + 1, m):
                    work[row + j] /= first - onto
                work[row + i] = onto
            elif rest != rest:
                work[row + i] = rest
            for k in range(i + 1, n):
                other = base + k * wide
                share = work[other + i]
                for j in range(i + 1, m):
                    share += work[other + j] * work[row + j]
                share *= work[row + m]
                work[other + i] -= share
                for j in range(i + 1, m):
                    work[other + j] -= share * work[row + j]
        for i in range(n):
            for j in range(n):
                lower[(g * n + i) * n + j] = work[base + i * wide + j] if j <= i else 0
            for j in range(m):
                q[(g * n + i) * m + j] = 1 if i == j else 0
        for back in range(n):
            i = n - 1 - back
            row = base + i * wide
            for k in range(n):
                target = (g * n + k) * m
                share = q[target + i]
                for j in range(i + 1, m):
                    share += q[target + j] * work[row + j]
                share *= work[row + m]
                q[target + i] -= share
                for j in range(i + 1, m):
                    q[target + j] -= share * work[row + j]


REFLECT = Loop(reflect)


# --- the operator -------------------------------------------------------------------------------


def forward(p, a, q, lower):
    n, m = a.shape[-2:]
    count = prod(a.shape[:-2])
    (work,) = scratch(a, count * n * (m + 1))
    REFLECT(a, q, lower, work, count, n, m)


def backward(p, head_q, head_l, q, lower, d_a):
    if d_a is None:
        return
    both, other, right = scratch(q, lower.size, lower.size, q.size)
    multiply(matrices_of(lower).transposed, matrices_of(head_l), matrices_of(both, lower.shape))
    multiply(matrices_of(head_q), matrices_of(q).transposed, matrices_of(other, lower.shape))
    ADD_SCALED(other, both, lower.size, -1.0)
    MIRROR(both, *batch(lower))
    multiply(matrices_of(both, lower.shape), matrices_of(q), matrices_of(right, q.shape))
    ADD_SCALED(head_q, right, q.size, 1.0)
    TRIANGLE_SOLVE(lower, right, d_a, on_the_left(q.shape).transposed, 1.0)


def cases(draw):
    n = draw.integer(1, 3)
    leading = draw.shape(0, 2, 2)
    return Case({}, {"A": (*leading, n, n + draw.integer(0, 2))}, {"A": "regular"})


register(Op(
    name="_linalg_gelqf", doc=__doc__, inputs=("A",), outputs=("output0", "output1"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("output0", "output1"),
    aliases=("linalg_gelqf",), cases=cases,
    refusals={
        "linalg_gelqf/wide": {"params": {}, "shapes": {"A": (3, 2)}},
        "linalg/shape": {"params": {}, "shapes": {"A": (2, 3), "output1": (3, 3)}},
    },
    tier=1, reports=Sources(),
))
