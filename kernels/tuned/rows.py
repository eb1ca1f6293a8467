"""LayerNorm and L2Normalization along rows of neighbours; all bits are the page's.

Sixteen lanes add up a row (clause reduce/sum-order). What must be computed for each element before it is added, and the
part of a row that fills no vector, is written to working memory in double precision first. Behind its end this memory
holds zeros, up to a whole vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ..foundation import Buffer
from ..l2_normalization import LENGTHS, SHORTEN_BACK
from ..layer_norm import COLLECT_WEIGHTS, NORMALISE_ROWS, ROW_STATISTICS, THROUGH_ROWS
from .kernel import FLOATS, kernel, twin, workspace
from .lanes import add, broadcast, load, multiply, subtract
from .reductions import BESIDE, FEWEST, sum_of_lanes


class Through(NamedTuple):
    """``rows`` rows of ``side`` elements; ``seen``: whether gradients come through mean and std."""

    seen: int
    rows: int
    side: int
    along: int
    count: int


@kernel
def fill_row_statistics(data, mean, std, eps, wide, rows, side):
    whole = side // 16 * 16
    for i in range(16):
        wide[i] = 0
    for r in range(rows):
        start, end, rest = r * side, r * side + whole, side - whole
        totals = broadcast(0.0)
        for i in range(start, end, 16):
            totals = add(totals, load(data, i))
        if rest > 0:
            for i in range(rest):
                wide[i] = data[end + i]
            totals = add(totals, load(wide, 0))
        centre = sum_of_lanes(totals) / side
        totals, centres = broadcast(0.0), broadcast(centre)
        for i in range(start, end, 16):
            off = subtract(load(data, i), centres)
            totals = add(totals, multiply(off, off))
        if rest > 0:
            for i in range(rest):
                wide[i] = data[end + i] - centre
            off = load(wide, 0)
            totals = add(totals, multiply(off, off))
        mean[r] = centre
        std[r] = sqrt(sum_of_lanes(totals) / side + eps)


@kernel
def fill_normalised(data, gamma, beta, mean, std, out, rows, side, along, count):
    for r in range(rows):
        start, weight, shift = r * side, gamma[r % count], beta[r % count]
        centre, scale = mean[r], std[r]
        if along == 1:
            for i in range(side):
                out[start + i] = (data[start + i] - centre) / scale * gamma[i] + beta[i]
        else:
            for i in range(side):
                out[start + i] = (data[start + i] - centre) / scale * weight + shift


@kernel
def fill_through_rows(head, d_mean, d_std, data, gamma, mean, std, d_data, weighed, normal, g: Through):
    side, padded = g.side, (g.side + 15) // 16 * 16
    for i in range(side, padded):
        weighed[i] = 0
        normal[i] = 0
    for r in range(g.rows):
        start, weight = r * side, gamma[r % g.count]
        centre, scale = mean[r] * 1.0, std[r] * 1.0
        inverse = 1.0 / scale
        if g.along == 1:
            for i in range(side):
                weighed[i] = head[start + i] * gamma[i]
        else:
            for i in range(side):
                weighed[i] = head[start + i] * weight
        for i in range(side):
            normal[i] = (data[start + i] - centre) * inverse
        levels, slopes = broadcast(0.0), broadcast(0.0)
        for i in range(0, padded, 16):
            lanes = load(weighed, i)
            levels = add(levels, lanes)
            slopes = add(slopes, multiply(lanes, load(normal, i)))
        level, slope = sum_of_lanes(levels), sum_of_lanes(slopes)
        if g.seen:
            level -= d_mean[r] * scale
            slope -= d_std[r] * scale
        level /= side
        slope /= side
        for i in range(side):
            d_data[start + i] = (weighed[i] - level - normal[i] * slope) * inverse


@kernel
def fill_weights(head, data, mean, std, d_gamma, d_beta, dots, totals, rows, side):
    for left in range(0, side, BESIDE):
        width = min(BESIDE, side - left)
        for i in range(width):
            dots[i] = 0
            totals[i] = 0
        for r in range(rows):
            start, centre, inverse = r * side + left, mean[r] * 1.0, 1.0 / std[r]
            for i in range(width):
                totals[i] += head[start + i]
                dots[i] += head[start + i] * ((data[start + i] - centre) * inverse)
        for i in range(width):
            d_gamma[left + i] = dots[i]
            d_beta[left + i] = totals[i]


@kernel
def fill_lengths(data, norm, wide, rows, side, eps):
    whole = side // 16 * 16
    for i in range(16):
        wide[i] = 0
    for r in range(rows):
        end, rest = r * side + whole, side - whole
        totals = broadcast(0.0)
        for i in range(r * side, end, 16):
            lanes = load(data, i)
            totals = add(totals, multiply(lanes, lanes))
        if rest > 0:
            for i in range(rest):
                wide[i] = data[end + i]
            lanes = load(wide, 0)
            totals = add(totals, multiply(lanes, lanes))
        norm[r] = sqrt(sum_of_lanes(totals) + eps)


@kernel
def fill_shortened_back(head, out, norm, d_data, wide, rows, side):
    padded = (side + 15) // 16 * 16
    for i in range(side, padded):
        wide[i] = 0
    for r in range(rows):
        start, length = r * side, norm[r]
        for i in range(side):
            wide[i] = np.float64(head[start + i]) * out[start + i]
        totals = broadcast(0.0)
        for i in range(0, padded, 16):
            totals = add(totals, load(wide, i))
        dot = sum_of_lanes(totals)
        for i in range(side):
            d_data[start + i] = (head[start + i] - out[start + i] * dot) / length


def takes(args: Sequence[Any]) -> bool:
    """Whether twins run a call over LayerNorm's rows: not for few elements, and not where a sum is in C order."""
    return args[-1].lanes > 1 and args[0].size >= FEWEST


def takes_vectors(args: Sequence[Any]) -> bool:
    """The same for vectors of L2Normalization."""
    return args[-1] > 1 and args[0].size >= FEWEST


def _wide(name: str, side: int) -> np.ndarray:
    return workspace(name, side + 15, np.float64)


@twin(ROW_STATISTICS, dtypes=FLOATS, takes=takes)
def row_statistics(data: Buffer, mean: Buffer, std: Buffer, eps: float, g: Any) -> None:
    """Mean and standard deviation of each row; ``g`` is the page's NormalisedRows."""
    flat = data.flat
    fill_row_statistics(
        flat, mean.flat, std.flat, flat.dtype.type(eps), _wide("row", 1), mean.size, data.shape[2]
    )


@twin(NORMALISE_ROWS, dtypes=FLOATS, takes=takes)
def normalise_rows(
    data: Buffer, gamma: Buffer, beta: Buffer, mean: Buffer, std: Buffer, out: Buffer, g: Any
) -> None:
    """Fill out with the normalised rows, weighed and shifted."""
    arrays = data.flat, gamma.flat, beta.flat, mean.flat, std.flat, out.flat
    fill_normalised(*arrays, mean.size, data.shape[2], g.along, data.shape[1])


@twin(THROUGH_ROWS, dtypes=FLOATS, takes=takes)
def through_rows(
    head: Buffer, d_mean: Buffer, d_std: Buffer, data: Buffer, gamma: Buffer, mean: Buffer, std: Buffer,
    d_data: Buffer, seen: int, g: Any,
) -> None:  # fmt: skip
    """The gradient by data."""
    arrays = head, d_mean, d_std, data, gamma, mean, std, d_data
    _, groups, side, _ = data.shape
    spare = _wide("weighed", side), _wide("row", side)
    numbers = Through(int(seen), mean.size, side, g.along, groups)
    fill_through_rows(*[a.flat for a in arrays], *spare, tuple(numbers))


@twin(COLLECT_WEIGHTS, dtypes=FLOATS, takes=takes)
def collect_weights(
    head: Buffer, data: Buffer, mean: Buffer, std: Buffer, d_gamma: Buffer, d_beta: Buffer, g: Any
) -> None:
    """Gradients of the weights and shifts of LayerNorm."""
    arrays = head, data, mean, std, d_gamma, d_beta
    spare = _wide("weighed", BESIDE), _wide("row", BESIDE)
    fill_weights(*[a.flat for a in arrays], *spare, mean.size, data.shape[2])


@twin(LENGTHS, dtypes=FLOATS, takes=takes_vectors)
def lengths(data: Buffer, norm: Buffer, eps: float, lanes: int) -> None:
    """The length of each vector."""
    flat = data.flat
    fill_lengths(flat, norm.flat, _wide("row", 1), *data.shape[:2], flat.dtype.type(eps))


@twin(SHORTEN_BACK, dtypes=FLOATS, takes=takes_vectors)
def shorten_back(head: Buffer, out: Buffer, norm: Buffer, d_data: Buffer, lanes: int) -> None:
    """The gradient through the division by lengths."""
    arrays = head, out, norm, d_data
    rows, side, _ = head.shape
    fill_shortened_back(*[a.flat for a in arrays], _wide("row", side), rows, side)
