"""Density of the Dirichlet distribution: how likely shares that make up a whole are.

[_random_pdf_dirichlet/formula] gamma(a1 + a2 + ...) / (gamma(a1) gamma(a2) ...) x1^(a1 - 1) x2^(a2 - 1) ..., where
    a is along the last axis of alpha and x along that of sample; 0^0 is 1. With is_log, its logarithm. Nobody
    tests whether the shares add up to 1. Computed in double precision and rounded once.
    >>> run("_random_pdf_dirichlet", [[0.2, 0.3, 0.5]], [[1, 2, 3]])
    [4.5]
    >>> run("_random_pdf_dirichlet", [[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]], [[1, 2, 3]], is_log=True)
    [[1.504077, 1.345472]]

[_random_pdf_dirichlet/shape] sample has the shape of alpha with any number of axes before the last one. The output
    has sample's shape without its last axis, and one element if that leaves nothing.
    >>> run("_random_pdf_dirichlet", [0.2, 0.3, 0.5], [1, 2, 3])
    [4.5]

[_random_pdf_dirichlet/gradient] both inputs have one.
    >>> grad("_random_pdf_dirichlet", [[0.2, 0.3, 0.5]], [[1, 2, 3]], is_log=True)
    ([[0.0, 3.333333, 4.0]], [[0.673895, 0.079361, 0.090186]])

[_random_pdf_dirichlet/type] both inputs have one type, of floating point.
"""

import math
from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, items, merge, register, require, require_some, same_type, scalar
from .unary import digamma


class Params(NamedTuple):
    is_log: bool = False


def infer(p, ins, outs):
    sample, alpha = ins
    if sample is not None and alpha is not None:
        rank = len(alpha)
        require(
            "_random_pdf_dirichlet/shape", rank <= len(sample),
            f"sample {list(sample)} has fewer axes than alpha {list(alpha)}",
        )
        seen = (*sample[: rank - 1], sample[-1])
        alpha = merge("_random_pdf_dirichlet/shape", "alpha", alpha, seen)
        sample = (*alpha[:-1], *sample[rank - 1 : -1], alpha[-1])
    out = None if sample is None else sample[:-1] or (1,)
    if alpha:
        require_some("a row of alpha", alpha[-1], out)
    return [sample, alpha], [merge("_random_pdf_dirichlet/shape", "output", outs[0], out)]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "_random_pdf_dirichlet/type", ins[0] is None or ins[0].kind == "f",
        f"densities are computed in floating point, got {ins[0]}; use Cast",
    )
    return ins, outs


# --- loops ----------------------------------------------------------------------------------------


# sample[r, i] is the i-th sample of the distribution whose parameters are alpha[r], both along the last axis.


@scalar
def log_density(sample, alpha, r, i):
    """lgamma(sum of alpha[r, c]) + sum of (alpha[r, c] - 1) . log(sample[r, i, c]) - lgamma(alpha[r, c]) over c."""
    total, result = 0.0, 0.0
    for c in range(alpha.shape[1]):
        power = np.float64(alpha[r, c])
        total += power
        result -= math.lgamma(power)
        if power != 1:
            result += (power - 1) * math.log(np.float64(sample[r, i, c]))
    return result + math.lgamma(total)


@scalar
def weight_of(head, sample, alpha, r, i, is_log):
    """The gradient by the logarithm of the density: head[r, i], times the density unless is_log is 1."""
    if is_log == 1:
        return np.float64(head[r, i])
    return head[r, i] * math.exp(log_density(sample, alpha, r, i))


def densities(sample, alpha, out, is_log):
    """out[r, i] = density of sample[r, i], or its logarithm."""
    for r, i in items(out.shape):
        value = log_density(sample, alpha, r, i)
        out[r, i] = value if is_log == 1 else math.exp(value)


def sample_slopes(sample, alpha, head, d_sample, is_log):
    """d_sample[r, i, c] = weight . (alpha[r, c] - 1) / sample[r, i, c]."""
    for r, i in items(head.shape):
        weight = weight_of(head, sample, alpha, r, i, is_log)
        for c in range(alpha.shape[1]):
            power = np.float64(alpha[r, c]) - 1
            d_sample[r, i, c] = 0.0 if power == 0 else weight * power / np.float64(sample[r, i, c])


def alpha_slopes(sample, alpha, head, d_alpha, is_log):
    """d_alpha[r, c] = sum over i of weight . (digamma(sum of alpha[r]) - digamma(alpha[r, c]) + log of the share)."""
    for r, c in items(d_alpha.shape):
        total = 0.0
        for k in range(alpha.shape[1]):
            total += np.float64(alpha[r, k])
        change = digamma(total) - digamma(np.float64(alpha[r, c]))
        result = 0.0
        for i in range(head.shape[1]):
            weight = weight_of(head, sample, alpha, r, i, is_log)
            result += weight * (change + math.log(np.float64(sample[r, i, c])))
        d_alpha[r, c] = result


DENSITIES, SAMPLE_SLOPES, ALPHA_SLOPES = Loop(densities), Loop(sample_slopes), Loop(alpha_slopes)


# --- the operator ---------------------------------------------------------------------------------


def by_distribution(sample, alpha):
    """The shapes (distributions, samples of each, shares) and (distributions, shares)."""
    rows, shares = prod(alpha.shape[:-1]), alpha.shape[-1]
    return (rows, prod(sample.shape[len(alpha.shape) - 1 : -1]), shares), (rows, shares)


def forward(p, sample, alpha, out):
    shape, rows = by_distribution(sample, alpha)
    DENSITIES(sample.reshape(shape), alpha.reshape(rows), out.reshape(shape[:2]), p.is_log)


def backward(p, head, sample, alpha, d_sample, d_alpha):
    shape, rows = by_distribution(sample, alpha)
    arrays = sample.reshape(shape), alpha.reshape(rows), head.reshape(shape[:2])
    if d_sample is not None:
        SAMPLE_SLOPES(*arrays, d_sample.reshape(shape), p.is_log)
    if d_alpha is not None:
        ALPHA_SLOPES(*arrays, d_alpha.reshape(rows), p.is_log)


def cases(draw):
    *before, k = draw.shape(1, 3)
    middle = draw.shape(0, 1)
    shapes = {"sample": (*before, *middle, k), "alpha": (*before, k)}
    return Case({"is_log": draw.boolean()}, shapes, {"sample": "positive", "alpha": "positive"})


register(Op(
    name="_random_pdf_dirichlet", doc=__doc__, params=Params, inputs=("sample", "alpha"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=("sample", "alpha"),
    aliases=("random_pdf_dirichlet",), cases=cases,
    refusals={
        "_random_pdf_dirichlet/shape": {"shapes": {"sample": (2, 3), "alpha": (2, 2)}},
        "_random_pdf_dirichlet/type": {
            "shapes": {"sample": (2,), "alpha": (2,)}, "dtypes": {"sample": "int32", "alpha": "int32"},
        },
    },
    tier=2, reports=Sources(),
))
