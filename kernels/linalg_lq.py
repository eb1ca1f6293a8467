"""_linalg_gelqf: A = L Q, L lower triangular, the rows of Q orthonormal.

The examples of gradients have heads of ones for both outputs.

[linalg_gelqf/factors] two outputs, first Q, (rows, columns) like A, then L, (rows, rows), zero above its diagonal.
    >>> run("_linalg_gelqf", [[-3, -4], [1, -2]])
    ([[-0.6, -0.8], [-0.8, 0.6]], [[5.0, 0.0], [1.0, -2.0]])

[linalg_gelqf/sign] Householder reflections bring one row after another onto its axis. A reflection gives the number on
    L's diagonal the opposite sign of the number that earlier reflections left there (negative where that was 0). A row
    that lies on its axis is not reflected, and keeps its sign.
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

from math import sqrt

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    Sources,
    either,
    items,
    merge,
    register,
    require,
    scalar,
    steps,
    told,
)
from .foundation.texts import inlined
from .shared.linalg import (
    ADD_SCALED,
    MIRROR,
    SOLVE_LEFT,
    batch,
    infer_type,
    matrices,
    matrices_of,
    multiply,
    rows_of,
    triangle_of,
    working,
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


@inlined
@scalar
def bring_to_axis(work, factors, g, i):
    """Find the reflection I - factor v v^T that brings row i onto axis i, from column i on.

    v_i = 1; the row's other numbers become those of v, its number i what the reflection makes of it.
    """
    first, rest = work[g, i, i], np.float64(0)
    for j in range(i + 1, work.shape[2]):
        rest += work[g, i, j] * work[g, i, j]
    factors[g, i] = 0
    if rest > 0:
        length = sqrt(first * first + rest)
        onto = -length if first >= 0 else length
        factors[g, i] = (onto - first) / onto
        for j in range(i + 1, work.shape[2]):
            work[g, i, j] /= first - onto
        work[g, i, i] = onto
    elif rest != rest:
        work[g, i, i] = rest


@inlined
@scalar
def reflect_rows(x, first, work, factors, g, i):
    """Rows k of x, from row ``first`` on, become x_k (I - factor v v^T), for the reflection that belongs to row i."""
    for k in range(first, x.shape[1]):
        share = x[g, k, i]
        for j in range(i + 1, x.shape[2]):
            share += x[g, k, j] * work[g, i, j]
        share *= factors[g, i]
        x[g, k, i] -= share
        for j in range(i + 1, x.shape[2]):
            x[g, k, j] -= share * work[g, i, j]


def reflect(a, q, lower, work, factors):
    """A = L Q. ``work`` has A's shape: what reflections make of A, L below the diagonal, and their vectors above it."""
    n = a.shape[1]
    for g in items(a.shape[0]):
        for i, j in steps(a.shape[1:]):
            work[g, i, j] = a[g, i, j]
            q[g, i, j] = 1 if i == j else 0
        for i in range(n):
            bring_to_axis(work, factors, g, i)
            reflect_rows(work, i + 1, work, factors, g, i)
        for i, j in steps(lower.shape[1:]):
            lower[g, i, j] = work[g, i, j] if j <= i else 0
        for back in range(n):
            reflect_rows(q, 0, work, factors, g, n - 1 - back)


REFLECT = Loop(reflect)


# --- the operator -------------------------------------------------------------------------------


def forward(p, a, q, lower):
    work, factors = working(a, a.shape, a.shape[:-1])
    REFLECT(batch(a), batch(q), batch(lower), batch(work), rows_of(factors))


def backward(p, head_q, head_l, q, lower, d_a):
    if d_a is None:
        return
    both, other, right = working(q, lower.shape, lower.shape, q.shape)
    multiply(matrices_of(lower).transposed, matrices_of(head_l), matrices_of(both))
    multiply(matrices_of(head_q), matrices_of(q).transposed, matrices_of(other))
    ADD_SCALED(other, both, lower.size, -1.0)
    MIRROR(batch(both))
    multiply(matrices_of(both), matrices_of(q), matrices_of(right))
    ADD_SCALED(head_q, right, q.size, 1.0)
    SOLVE_LEFT(batch(lower), batch(right), batch(d_a), triangle_of(lower=True, transpose=True), 1.0)


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
