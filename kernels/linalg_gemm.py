"""_linalg_gemm, _linalg_gemm2, _linalg_syrk: products of matrices, one for each index of the leading axes.

[linalg_gemm/formula] alpha op(A) op(B) + beta C; op transposes A with transpose_a, and B with transpose_b.
    >>> run("_linalg_gemm", [[1, 2], [3, 4]], [[1], [1]], [[10], [20]])
    [[13.0], [27.0]]
    >>> options = {"transpose_a": True, "alpha": 2, "beta": -1}
    >>> run("_linalg_gemm", [[1, 2], [3, 4]], [[1], [1]], [[10], [20]], **options)
    [[-2.0], [-8.0]]

[linalg_gemm2/formula] alpha op(A) op(B).
    >>> run("_linalg_gemm2", [[1, 2], [3, 4]], [[1, 0], [2, 1]], transpose_b=True, alpha=2)
    [[2.0, 8.0], [6.0, 20.0]]
    >>> run("_linalg_gemm2", [[[1, 2]], [[3, 4]]], [[[5], [6]], [[7], [8]]])
    [[[17.0]], [[53.0]]]

[linalg_gemm/axis] axis numbers the rows of all matrices, the last axis their columns; axes between count as leading.
    >>> run("_linalg_gemm2", [[[1], [2]], [[3], [4]]], [[[10], [100]]], axis=0)
    [[[10.0], [200.0]], [[30.0], [400.0]]]

[linalg_gemm/shapes] matrices fit each other, and leading axes agree.

[linalg_syrk/formula] alpha A A^T, with transpose alpha A^T A.
    >>> run("_linalg_syrk", [[1, 2, 3], [4, 5, 6]], alpha=2)
    [[28.0, 64.0], [64.0, 154.0]]
    >>> run("_linalg_syrk", [[1, 2], [3, 4]], transpose=True)
    [[10.0, 14.0], [14.0, 20.0]]

[linalg_gemm/sum-order] products are added in increasing index of the side that is summed over (a tuned twin fuses
    product and sum), then scaled, then beta C is added.

[linalg_gemm/gradient] the gradient of op(A) is alpha head op(B)^T, that of op(B) is alpha op(A)^T head, that of C is
    beta head. Where op transposes a matrix, its gradient is the transpose of that of op.
    >>> grad("_linalg_gemm2", [[1, 2], [3, 4]], [[1, 0], [2, 1]], transpose_b=True, alpha=2, head=[[1, 2], [3, 4]])
    ([[10.0, 4.0], [22.0, 8.0]], [[20.0, 28.0], [28.0, 40.0]])
    >>> grad("_linalg_gemm", [[2]], [[3]], [[5]], beta=7, head=[[1]])
    ([[3.0]], [[2.0]], [[7.0]])

[linalg_syrk/gradient] alpha (head + head^T) A, with transpose alpha A (head + head^T).
    >>> grad("_linalg_syrk", [[1, 2, 3], [4, 5, 6]], alpha=2, head=[[1, 2], [3, 4]])
    [[44.0, 58.0, 72.0], [74.0, 100.0, 126.0]]
"""

from typing import NamedTuple

from .foundation import UNKNOWN, Case, Op, Sources, either, merge, register, require
from .foundation.loops import COPY
from .shared.linalg import (
    ADD_SCALED,
    ADD_TRANSPOSED,
    SCALE,
    batch,
    infer_type,
    matrices,
    matrices_of,
    multiply,
    working,
)


class Params(NamedTuple):
    transpose_a: bool = False
    transpose_b: bool = False
    alpha: float = 1.0
    beta: float = 1.0
    axis: int = -2


class Params2(NamedTuple):
    transpose_a: bool = False
    transpose_b: bool = False
    alpha: float = 1.0
    axis: int = -2


class SyrkParams(NamedTuple):
    transpose: bool = False
    alpha: float = 1.0


def infer(p, ins, outs):
    a, b = ins[:2]
    ranks = {len(shape) for shape in (*ins, *outs) if shape is not None}
    for name, shape in zip("ABC", ins, strict=False):
        matrices(name, shape)
    if not ranks:
        return ins, outs
    rank = ranks.pop()
    require("linalg_gemm/shapes", not ranks, f"A {a}, B {b} and the others need one number of axes")
    axis = p.axis % rank
    require(
        "linalg_gemm/axis", -rank <= p.axis < rank and axis < rank - 1,
        f"axis {p.axis} cannot number the rows of matrices in {rank} axes, of which the last numbers columns",
    )
    unknown = (UNKNOWN,) * rank
    a, b, out = (unknown if shape is None else shape for shape in (a, b, outs[0]))
    if len(ins) > 2:
        out = merge("linalg_gemm/shapes", "C", ins[2], out)

    def others(shape):
        return (*shape[:axis], *shape[axis + 1 : -1])

    leading = others(out)
    for name, shape in (("A", a), ("B", b)):
        leading = merge("linalg_gemm/shapes", f"leading axes of {name}", others(shape), leading)
    left, right = (a[axis], a[-1]), (b[axis], b[-1])
    left, right = left[::-1] if p.transpose_a else left, right[::-1] if p.transpose_b else right
    n, k, m = (
        merge("linalg_gemm/shapes", f"A and B, whose {what} must fit each other", (x,), (y,))[0]
        for what, x, y in (
            ("rows", left[0], out[axis]), ("columns and rows", left[1], right[0]), ("columns", right[1], out[-1]),
        )
    )
    ends = ((k, n) if p.transpose_a else (n, k)), ((m, k) if p.transpose_b else (k, m)), (n, m)
    found = [(*leading[:axis], rows, *leading[axis:], columns) for rows, columns in ends]
    return found[:2] + [found[2]] * (len(ins) - 2), [found[2]]


def infer_syrk(p, ins, outs):
    matrices("A", ins[0])
    side = -1 if p.transpose else -2
    a, out = ins[0], outs[0]
    if a is not None:
        out = merge("linalg/shape", "output", out, (*a[:-2], a[side], a[side]))
    if out is not None:
        n = either(out[-1], out[-2])
        out = merge("linalg/shape", "output", out, (*out[:-2], n, n))
        a = merge("linalg/shape", "A", a, (*out[:-2], UNKNOWN, n) if p.transpose else (*out[:-2], n, UNKNOWN))
    return [a], [out]


# --- the operators ------------------------------------------------------------------------------


def forward2(p, a, b, out):
    left, right, product = (matrices_of(each, axis=p.axis) for each in (a, b, out))
    multiply(left.transposed_if(p.transpose_a), right.transposed_if(p.transpose_b), product, p.alpha)


def backward2(p, head, a, b, d_a, d_b):
    left, right, slope = (matrices_of(each, axis=p.axis) for each in (a, b, head))
    left, right = left.transposed_if(p.transpose_a), right.transposed_if(p.transpose_b)
    if d_a is not None:
        pair = (right, slope.transposed) if p.transpose_a else (slope, right.transposed)
        multiply(*pair, matrices_of(d_a, axis=p.axis), p.alpha)
    if d_b is not None:
        pair = (slope.transposed, left) if p.transpose_b else (left.transposed, slope)
        multiply(*pair, matrices_of(d_b, axis=p.axis), p.alpha)


def forward(p, a, b, c, out):
    forward2(p, a, b, out)
    ADD_SCALED(c, out, out.size, p.beta)


def backward(p, head, a, b, d_a, d_b, d_c):
    backward2(p, head, a, b, d_a, d_b)
    if d_c is not None:
        COPY(head, d_c, head.size)
        SCALE(d_c, head.size, p.beta)


def forward_syrk(p, a, out):
    left = matrices_of(a).transposed_if(p.transpose)
    multiply(left, left.transposed, matrices_of(out), p.alpha)


def backward_syrk(p, head, a, d_a):
    if d_a is None:
        return
    (both,) = working(head, head.shape)
    ADD_TRANSPOSED(batch(head), batch(both))
    slope, left = matrices_of(both), matrices_of(a)
    multiply(*((left, slope) if p.transpose else (slope, left)), matrices_of(d_a), p.alpha)


def cases_gemm(*, with_c):
    def cases(draw):
        leading = draw.shape(0, 2, 2)
        axis = draw.integer(0, len(leading))
        n, m, k = (draw.integer(1, 4) for _ in range(3))
        a, b = draw.boolean(), draw.boolean()
        params = {"transpose_a": a, "transpose_b": b, "alpha": draw.choice((1.0, -0.5))}
        if with_c:
            params["beta"] = draw.choice((1.0, 2.0))
        params["axis"] = draw.choice((axis, axis - len(leading) - 2))
        ends = {"A": (k, n) if a else (n, k), "B": (m, k) if b else (k, m)}
        shapes = {
            name: (*leading[:axis], rows, *leading[axis:], columns) for name, (rows, columns) in ends.items()
        }
        return Case(params, shapes)

    return cases


def cases_syrk(draw):
    return Case({"transpose": draw.boolean(), "alpha": draw.choice((1.0, -0.5))}, {"A": draw.shape(2, 4)})


WRONG = {
    "linalg_gemm/shapes": {"params": {}, "shapes": {"A": (2, 3), "B": (2, 3)}},
    "linalg_gemm/axis": {"params": {"axis": -1}, "shapes": {"A": (2, 3), "B": (3, 3)}},
    "linalg/rank": {"params": {}, "shapes": {"A": (3,), "B": (3,)}},
    "linalg/types": {
        "params": {}, "shapes": {"A": (2, 2), "B": (2, 2)}, "dtypes": {"A": "float16", "B": "float16"},
    },
}
register(Op(
    name="_linalg_gemm", doc=__doc__, params=Params, inputs=("A", "B", "C"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("A", "B"), aliases=("linalg_gemm",), cases=cases_gemm(with_c=True),
    refusals=WRONG,
    tier=2, reports=Sources(2),
))
register(Op(
    name="_linalg_gemm2", doc=__doc__, params=Params2, inputs=("A", "B"), infer=infer, infer_type=infer_type,
    forward=forward2, backward=backward2, needs=("A", "B"), aliases=("linalg_gemm2",),
    cases=cases_gemm(with_c=False), refusals=WRONG,
    tier=2, reports=Sources(),
))
register(Op(
    name="_linalg_syrk", doc=__doc__, params=SyrkParams, inputs=("A",), infer=infer_syrk, infer_type=infer_type,
    forward=forward_syrk, backward=backward_syrk, needs=("A",), aliases=("linalg_syrk",), cases=cases_syrk,
    refusals={"linalg/shape": {"params": {}, "shapes": {"A": (2, 3), "output": (3, 3)}}},
    tier=2, reports=Sources(),
))
