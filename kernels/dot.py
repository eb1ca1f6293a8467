"""dot, batch_dot: products of matrices, and of arrays read as matrices.

[dot/axes] the last axis of lhs is multiplied with the first axis of rhs; the other axes of lhs, then those
    of rhs, make up the result. Two vectors give an array of one element.
    >>> run("dot", [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    [[19.0, 22.0], [43.0, 50.0]]
    >>> run("dot", [1, 2], [3, 4])
    [11.0]
    >>> run("dot", [[1, 2]], [[[1], [2]], [[3], [4]]])
    [[[7.0], [10.0]]]

[dot/transpose] with transpose_a the first axis of lhs is multiplied instead of its last, with transpose_b
    the last axis of rhs instead of its first; the order of the other axes stays.
    >>> run("dot", [[1, 2], [3, 4]], [1, 10], transpose_a=True)
    [31.0, 42.0]
    >>> run("dot", [[1, 2]], [[3, 4], [5, 6]], transpose_b=True)
    [[11.0, 17.0]]

[dot/vectors] two vectors are never transposed.

[dot/inner] the two axes that are multiplied are equally long.

[batch_dot/axes] one product of matrices for each index of the leading axes, in which lhs and rhs agree;
    transpose_a and transpose_b turn the matrices.
    >>> run("batch_dot", [[[1, 2]], [[3, 4]]], [[[5], [6]], [[7], [8]]])
    [[[17.0]], [[53.0]]]

[batch_dot/rank] lhs and rhs have one rank, 3 or more.

[batch_dot/inner] the axes that are multiplied are equally long, and so are the leading axes.

[dot/sum-order] products are added in increasing index of the axis that is summed over.
    >>> run("dot", [1e8, 1, -1e8], [1, 1, 1])
    [0.0]

[dot/gradient] each gradient is the product of the head and the other operand, transposed as the shapes demand.
    >>> grad("dot", [[1, 2], [3, 4]], [3, 4], transpose_a=True, head=[5, 6])
    ([[15.0, 18.0], [20.0, 24.0]], [17.0, 39.0])
"""

from math import prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, agree, items, merge, require, scratch
from .multilinear import register_multilinear
from .shared.products import element, multiply, product_of
from .transpose import move


class Params(NamedTuple):
    transpose_a: bool = False
    transpose_b: bool = False
    forward_stype: Literal["None", "default", "csr", "row_sparse"] | None = None


def infer(p, ins, outs):
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return ins, outs
    require("dot/vectors", lhs and rhs, f"lhs {list(lhs)} and rhs {list(rhs)} must have an axis each; use lhs * rhs")
    require(
        "dot/vectors", len(lhs) + len(rhs) > 2 or not (p.transpose_a or p.transpose_b),
        "two vectors cannot be transposed; leave transpose_a and transpose_b out",
    )
    left, right = 0 if p.transpose_a else -1, -1 if p.transpose_b else 0
    require(
        "dot/inner", agree(lhs[left], rhs[right]),
        f"lhs {list(lhs)} and rhs {list(rhs)} cannot be multiplied: {lhs[left]} is not {rhs[right]}"
        f" (transpose_a={p.transpose_a}, transpose_b={p.transpose_b})",
    )
    wanted = (lhs[1:] if p.transpose_a else lhs[:-1]) + (rhs[:-1] if p.transpose_b else rhs[1:])
    return ins, [merge("dot/axes", "output", outs[0], wanted or (1,))]


def infer_batch(p, ins, outs):
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return ins, outs
    require(
        "batch_dot/rank", len(lhs) == len(rhs) >= 3,
        f"batch_dot needs two arrays of one rank, 3 or more, given {list(lhs)} and {list(rhs)}",
    )
    (n, k), (inner, m) = lhs[-2:], rhs[-2:]
    if p.transpose_a:
        n, k = k, n
    if p.transpose_b:
        inner, m = m, inner
    *batch, k = merge("batch_dot/inner", "lhs and rhs", (*lhs[:-2], k), (*rhs[:-2], inner))
    ends = ((k, n) if p.transpose_a else (n, k)), ((m, k) if p.transpose_b else (k, m))
    shapes = [(*batch, *end) for end in ends]
    return shapes, [merge("batch_dot/axes", "output", outs[0], (*batch, n, m))]


# --- loops --------------------------------------------------------------------------------------


def products(a, b, out, a_turned, b_turned):
    """out[g, i, j] = sum over t of A[i, t] B[t, j], those of matrix g; memory may hold the transpose of A or B."""
    for g, i in items(out.shape[:2]):
        for j in range(out.shape[2]):
            out[g, i, j] = 0
        for t in range(a.shape[1] if a_turned else a.shape[2]):
            left = element(a, g, i, t, a_turned)
            for j in range(out.shape[2]):
                out[g, i, j] += left * element(b, g, t, j, b_turned)


PRODUCTS = Loop(products)


# --- the operators ------------------------------------------------------------------------------


def multiply_matrices(multiply, p, lhs, rhs, out, n, m, k):
    multiply(lhs, rhs, out, n, k, m, p.transpose_a, p.transpose_b)


def gradients_of_matrices(multiply, p, head, lhs, rhs, d_lhs, d_rhs, n, m, k):
    a, b = p.transpose_a, p.transpose_b
    if d_lhs is not None and a:
        multiply(rhs, head, d_lhs, k, m, n, b, True)
    elif d_lhs is not None:
        multiply(head, rhs, d_lhs, n, m, k, False, not b)
    if d_rhs is not None and b:
        multiply(head, lhs, d_rhs, m, n, k, True, a)
    elif d_rhs is not None:
        multiply(lhs, head, d_rhs, k, n, m, not a, False)


def multiply_once(a, b, out, n, k, m, a_turned, b_turned):
    """out (n, m) = A (n, k) B (k, m), of which memory may hold the transposes."""
    multiply(a, b, out, product_of(n, k, m, a_turned, b_turned))


def sides(p, lhs, rhs):
    """Rows, columns and summed side of the matrices that dot reads its operands as."""
    rows = lhs.shape[1:] if p.transpose_a else lhs.shape[:-1]
    columns = rhs.shape[:-1] if p.transpose_b else rhs.shape[1:]
    return prod(rows), prod(columns), lhs.shape[0 if p.transpose_a else -1]


def forward(p, lhs, rhs, out):
    multiply_matrices(multiply_once, p, lhs, rhs, out, *sides(p, lhs, rhs))


def backward(p, head, lhs, rhs, d_lhs, d_rhs):
    gradients_of_matrices(multiply_once, p, head, lhs, rhs, d_lhs, d_rhs, *sides(p, lhs, rhs))


def batch_sides(p, lhs, rhs):
    n, k = lhs.shape[-2:][:: -1 if p.transpose_a else 1]
    return n, rhs.shape[-2 if p.transpose_b else -1], k


def multiply_each(a, b, out, n, k, m, a_turned, b_turned):
    """``multiply_once`` for every matrix of a batch."""
    count = prod(out.shape[:-2])
    a = a.reshape((count, k, n) if a_turned else (count, n, k))
    b = b.reshape((count, m, k) if b_turned else (count, k, m))
    if b_turned and out.dtype != np.float32:
        (copied,) = scratch(out, b.size)
        turned, b, b_turned = b, copied.reshape((count, k, m)), False
        move(turned, b, (0, 2, 1))
    PRODUCTS(a, b, out.reshape((count, n, m)), a_turned, b_turned)


def forward_batch(p, lhs, rhs, out):
    multiply_matrices(multiply_each, p, lhs, rhs, out, *batch_sides(p, lhs, rhs))


def backward_batch(p, head, lhs, rhs, d_lhs, d_rhs):
    gradients_of_matrices(multiply_each, p, head, lhs, rhs, d_lhs, d_rhs, *batch_sides(p, lhs, rhs))


def cases(draw):
    lhs, rhs = draw.shape(1, 3), draw.shape(1, 3)
    k = draw.integer(1, 4)
    a, b = draw.boolean(), draw.boolean()
    if len(lhs) + len(rhs) == 2:
        a = b = False
    shapes = {
        "lhs": (k, *lhs[1:]) if a else (*lhs[:-1], k), "rhs": (*rhs[:-1], k) if b else (k, *rhs[1:]),
    }
    return Case({"transpose_a": a, "transpose_b": b}, shapes)


def cases_batch(draw):
    batch = draw.shape(1, 2)
    n, m, k = (draw.integer(1, 4) for _ in range(3))
    a, b = draw.boolean(), draw.boolean()
    shapes = {
        "lhs": (*batch, *((k, n) if a else (n, k))), "rhs": (*batch, *((m, k) if b else (k, m))),
    }
    return Case({"transpose_a": a, "transpose_b": b}, shapes)


register_multilinear(Op(
    name="dot", doc=__doc__, params=Params, inputs=("lhs", "rhs"), infer=infer, forward=forward,
    backward=backward, needs=("lhs", "rhs"), aliases=("_sparse_dot",), cases=cases,
    refusals={
        "dot/inner": {"params": {}, "shapes": {"lhs": (2, 3), "rhs": (4, 5)}},
        "dot/vectors": {"params": {"transpose_a": True}, "shapes": {"lhs": (3,), "rhs": (3,)}},
    },
    tier=1,
), ("lhs",), ("rhs",))
register_multilinear(Op(
    name="batch_dot", doc=__doc__, params=Params, inputs=("lhs", "rhs"), infer=infer_batch,
    forward=forward_batch, backward=backward_batch, needs=("lhs", "rhs"), cases=cases_batch,
    refusals={
        "batch_dot/rank": {"params": {}, "shapes": {"lhs": (2, 3), "rhs": (3, 4)}},
        "batch_dot/inner": {"params": {}, "shapes": {"lhs": (2, 3, 4), "rhs": (2, 5, 6)}},
    },
    tier=1, reports=Sources(),
), ("lhs",), ("rhs",))
