"""_linalg_trmm, _linalg_trsm: products with triangular matrices, and systems of equations.

[linalg_triangular/triangle] A is read in its lower triangle, or with lower=False in its upper one, as if the rest were
    zeros; transpose turns it after that.
    >>> a, one = [[2, 7], [1, 3]], [[1, 0], [0, 1]]
    >>> run("_linalg_trmm", a, one), run("_linalg_trmm", a, one, transpose=True)
    ([[2.0, 0.0], [1.0, 3.0]], [[2.0, 1.0], [0.0, 3.0]])
    >>> run("_linalg_trmm", a, one, lower=False)
    [[2.0, 7.0], [0.0, 3.0]]

[linalg_trmm/formula] alpha op(A) B, with rightside alpha B op(A).
    >>> run("_linalg_trmm", [[2, 7], [1, 2]], [[1, 2, 3], [4, 5, 6]])
    [[2.0, 4.0, 6.0], [9.0, 12.0, 15.0]]
    >>> run("_linalg_trmm", [[2, 7], [1, 2]], [[1, 2], [3, 4]], rightside=True)
    [[4.0, 4.0], [10.0, 8.0]]
    >>> run("_linalg_trmm", [[2, 7], [1, 2]], [[1], [4]], lower=False, transpose=True, alpha=2)
    [[4.0], [30.0]]

[linalg_trsm/formula] the X for which op(A) X = alpha B, with rightside X op(A) = alpha B.
    >>> run("_linalg_trsm", [[2, 7], [1, 2]], [[1, 2, 3], [4, 5, 6]])
    [[0.5, 1.0, 1.5], [1.75, 2.0, 2.25]]
    >>> run("_linalg_trsm", [[2, 7], [1, 2]], [[1, 2]], rightside=True, lower=False, transpose=True, alpha=2)
    [[-6.0, 2.0]]

[linalg_trsm/zero] a zero on the diagonal is divided by: the results are infinite or NaN.
    >>> run("_linalg_trsm", [[0, 0], [1, 1]], [[1], [3]])
    [[inf], [-inf]]

[linalg_triangular/shapes] A is square, its side that of B which it meets; leading axes agree, the output is as B.

[linalg_triangular/sum-order] products are added in increasing index; solving subtracts each as soon as it is known.

[linalg_triangular/gradient] the gradient of B is computed as the output is, with op(A)^T in place of op(A), from the
    head. The gradient of A is zero but in the triangle that was read. There it is alpha head B^T for trmm and -S X^T
    with S = op(A)^-T head for trsm; transpose and rightside transpose and swap these factors as they do with A.
    >>> grad("_linalg_trmm", [[2, 7], [1, 2]], [[1, 2, 3], [4, 5, 6]], head=[[1, 2, 3], [4, 5, 6]])
    ([[14.0, 0.0], [32.0, 77.0]], [[6.0, 9.0, 12.0], [8.0, 10.0, 12.0]])
    >>> grad("_linalg_trsm", [[2, 7], [1, 2]], [[1, 2, 3], [4, 5, 6]], head=[[1, 2, 3], [4, 5, 6]])
    ([[0.5, 0.0], [-8.0, -15.25]], [[-0.5, -0.25, 0.0], [2.0, 2.5, 3.0]])
"""

from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register
from .foundation.loops import zero
from .shared.linalg import (
    SOLVE_LEFT,
    SOLVE_RIGHT,
    Triangle,
    batch,
    infer_type,
    matrices,
    square,
    triangle_of,
    working,
)
from .shared.products import element, put


class Params(NamedTuple):
    transpose: bool = False
    rightside: bool = False
    lower: bool = True
    alpha: float = 1.0


def infer(p, ins, outs):
    a = square("A", ins[0])
    b = merge("linalg_triangular/shapes", "B", ins[1], outs[0])
    matrices("B", b)
    side = -1 if p.rightside else -2
    if b is not None:
        a = merge("linalg_triangular/shapes", "A", a, (*b[:-2], b[side], b[side]))
    if a is not None:
        wanted = (*a[:-2], UNKNOWN, a[-1]) if p.rightside else (*a[:-2], a[-1], UNKNOWN)
        b = merge("linalg_triangular/shapes", "B", b, wanted)
    return [a, b], [b]


# --- loops --------------------------------------------------------------------------------------


def times_left(e, x, out, s: Triangle, alpha):
    """out = alpha E x, summed in double precision."""
    for g, i, j in items(out.shape):
        total = np.float64(0)
        for t in range(0 if s.lower else i, i + 1 if s.lower else out.shape[1]):
            total += element(e, g, i, t, s.turned) * x[g, t, j]
        out[g, i, j] = alpha * total


def times_right(e, x, out, s: Triangle, alpha):
    """out = alpha x E, summed in double precision."""
    for g, i, j in items(out.shape):
        total = np.float64(0)
        for t in range(j if s.lower else 0, out.shape[2] if s.lower else j + 1):
            total += element(e, g, t, j, s.turned) * x[g, i, t]
        out[g, i, j] = alpha * total


def slope_left(slope, x, d_e, s: Triangle, alpha):
    """d_e = alpha slope x^T in the triangle of E that is read, zeros elsewhere."""
    for g, i, t in items(d_e.shape):
        if (s.lower and t <= i) or (not s.lower and t >= i):
            total = slope[g, i, 0] * x[g, t, 0]
            for j in range(1, x.shape[2]):
                total += slope[g, i, j] * x[g, t, j]
            put(d_e, g, i, t, s.turned, alpha * total)
        else:
            put(d_e, g, i, t, s.turned, 0)


def slope_right(slope, x, d_e, s: Triangle, alpha):
    """d_e = alpha x^T slope in the triangle of E that is read, zeros elsewhere."""
    for g, t, j in items(d_e.shape):
        if (s.lower and j <= t) or (not s.lower and j >= t):
            total = slope[g, 0, j] * x[g, 0, t]
            for i in range(1, x.shape[1]):
                total += slope[g, i, j] * x[g, i, t]
            put(d_e, g, t, j, s.turned, alpha * total)
        else:
            put(d_e, g, t, j, s.turned, 0)


TIMES, SLOPE = (Loop(times_left), Loop(times_right)), (Loop(slope_left), Loop(slope_right))
SOLVE = (SOLVE_LEFT, SOLVE_RIGHT)
"""The loops for op(A) B, and for B op(A) with rightside."""


# --- the operators ------------------------------------------------------------------------------


def forward_times(p, a, b, out):
    TIMES[p.rightside](batch(a), batch(b), batch(out), triangle_of(p.lower, p.transpose), p.alpha)


def slope_of_triangle(p, slope, x, d_a, alpha):
    if x.size:
        SLOPE[p.rightside](batch(slope), batch(x), batch(d_a), triangle_of(p.lower, p.transpose), alpha)
    else:  # a sum of no products
        zero(d_a)


def backward_times(p, head, a, b, d_a, d_b):
    if d_a is not None:
        slope_of_triangle(p, head, b, d_a, p.alpha)
    if d_b is not None:
        transposed = triangle_of(p.lower, p.transpose).transposed
        TIMES[p.rightside](batch(a), batch(head), batch(d_b), transposed, p.alpha)


def forward_solve(p, a, b, out):
    SOLVE[p.rightside](batch(a), batch(b), batch(out), triangle_of(p.lower, p.transpose), p.alpha)


def backward_solve(p, head, a, out, d_a, d_b):
    solve, transposed = SOLVE[p.rightside], triangle_of(p.lower, p.transpose).transposed
    if d_b is not None:
        solve(batch(a), batch(head), batch(d_b), transposed, p.alpha)
    if d_a is not None:
        (solved,) = working(head, head.shape)
        solve(batch(a), batch(head), batch(solved), transposed, 1.0)
        slope_of_triangle(p, solved, out, d_a, -1.0)


def cases(draw):
    leading = draw.shape(0, 2, 2)
    n, m, right = draw.integer(1, 4), draw.integer(1, 4), draw.boolean()
    params = {
        "transpose": draw.boolean(), "rightside": right, "lower": draw.boolean(), "alpha": draw.choice((1.0, -0.5)),
    }
    shapes = {"A": (*leading, n, n), "B": (*leading, m, n) if right else (*leading, n, m)}
    return Case(params, shapes, {"A": "regular"})


WRONG = {
    "linalg_triangular/shapes": {"params": {}, "shapes": {"A": (3, 3), "B": (2, 3)}},
    "linalg/square": {"params": {}, "shapes": {"A": (3, 2), "B": (2, 3)}},
}
register(Op(
    name="_linalg_trmm", doc=__doc__, params=Params, inputs=("A", "B"), infer=infer, infer_type=infer_type,
    forward=forward_times, backward=backward_times, needs=("A", "B"), aliases=("linalg_trmm",), cases=cases,
    refusals=WRONG,
    tier=2,
))
register(Op(
    name="_linalg_trsm", doc=__doc__, params=Params, inputs=("A", "B"), infer=infer, infer_type=infer_type,
    forward=forward_solve, backward=backward_solve, needs=("A", "output"), aliases=("linalg_trsm",), cases=cases,
    refusals=WRONG,
    tier=2,
))
