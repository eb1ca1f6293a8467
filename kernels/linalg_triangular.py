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

from .foundation import UNKNOWN, Case, Loop, Op, items, merge, register
from .foundation.loops import zero
from .shared.linalg import (
    TRIANGLE_SOLVE,
    TRIANGLE_TIMES,
    Triangles,
    batch,
    infer_type,
    matrices,
    on_the_left,
    on_the_right,
    square,
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


def triangles_of(p):
    """op(A) B or B op(A)."""
    found = (on_the_right if p.rightside else on_the_left)(p.lower)
    return found.transposed if p.transpose else found


# --- loops --------------------------------------------------------------------------------------


def outer_triangle(slope, x, d_e, s: Triangles, alpha):
    """dE = alpha S X^T in the triangle of E that is read, zeros elsewhere; S is stored as X is."""
    for g, i, t in items(d_e.shape):
        if (s.lower and t <= i) or (not s.lower and t >= i):
            total = element(slope, g, i, 0, s.x_turned) * element(x, g, t, 0, s.x_turned)
            for j in range(1, x.shape[1] if s.x_turned else x.shape[2]):
                total += element(slope, g, i, j, s.x_turned) * element(x, g, t, j, s.x_turned)
            put(d_e, g, i, t, s.e_turned, alpha * total)
        else:
            put(d_e, g, i, t, s.e_turned, 0)


OUTER_TRIANGLE = Loop(outer_triangle)


# --- the operators ------------------------------------------------------------------------------


def forward_times(p, a, b, out):
    TRIANGLE_TIMES(batch(a), batch(b), batch(out), triangles_of(p), p.alpha)


def slope_of_triangle(slope, x, d_a, triangles, alpha):
    if x.size:
        OUTER_TRIANGLE(batch(slope), batch(x), batch(d_a), triangles, alpha)
    else:  # a sum of no products
        zero(d_a)


def backward_times(p, head, a, b, d_a, d_b):
    triangles = triangles_of(p)
    if d_a is not None:
        slope_of_triangle(head, b, d_a, triangles, p.alpha)
    if d_b is not None:
        TRIANGLE_TIMES(batch(a), batch(head), batch(d_b), triangles.transposed, p.alpha)


def forward_solve(p, a, b, out):
    TRIANGLE_SOLVE(batch(a), batch(b), batch(out), triangles_of(p), p.alpha)


def backward_solve(p, head, a, out, d_a, d_b):
    triangles = triangles_of(p)
    if d_b is not None:
        TRIANGLE_SOLVE(batch(a), batch(head), batch(d_b), triangles.transposed, p.alpha)
    if d_a is not None:
        (solved,) = working(head, head.shape)
        TRIANGLE_SOLVE(batch(a), batch(head), batch(solved), triangles.transposed, 1.0)
        slope_of_triangle(solved, out, d_a, triangles, -1.0)


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
