"""Sums over the channels of (outer, channels, inner): what BatchNorm and the bias of a convolution need.

A channel is ``outer`` runs of ``inner`` contiguous elements. Each run adds its elements, sixteen at a time, to sixteen
partial sums (``lanes``), and the remainder at its end to a single sum.
"""

from __future__ import annotations

from math import sqrt

from ..batch_norm import BATCH_STATISTICS, HEAD_SUMS
from ..convolution import GATHER_BIAS
from ..foundation import Buffer
from .kernel import kernel, twin
from .lanes import add, broadcast, fma, load, reduce_sum, subtract


@kernel
def fill_statistics(data, mean, inverse, outer, channels, inner, eps):
    whole, count = inner // 16 * 16, outer * inner
    for c in range(channels):
        partial, rest = broadcast(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                partial = add(partial, load(data, j))
            for j in range(start + whole, start + inner):
                rest += data[j]
        centre = (reduce_sum(partial) + rest) / count
        centres, partial, rest = broadcast(centre), broadcast(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                off = subtract(load(data, j), centres)
                partial = fma(partial, off, off)
            for j in range(start + whole, start + inner):
                rest += (data[j] - centre) * (data[j] - centre)
        mean[c] = centre
        inverse[c] = 1.0 / sqrt((reduce_sum(partial) + rest) / count + eps)


@kernel
def fill_head_sums(head, data, mean, inverse, sums, outer, channels, inner):
    whole = inner // 16 * 16
    for c in range(channels):
        centre = mean[c] * 1.0
        centres, heads, products = broadcast(centre), broadcast(0.0), broadcast(0.0)
        rest, product = 0.0, 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                lanes = load(head, j)
                heads = add(heads, lanes)
                products = fma(products, lanes, subtract(load(data, j), centres))
            for j in range(start + whole, start + inner):
                rest += head[j]
                product += head[j] * (data[j] - centre)
        sums[2 * c] = reduce_sum(heads) + rest
        sums[2 * c + 1] = (reduce_sum(products) + product) * inverse[c]


@kernel
def fill_sums(head, out, outer, channels, inner):
    whole = inner // 16 * 16
    for c in range(channels):
        partial, rest = broadcast(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                partial = add(partial, load(head, j))
            for j in range(start + whole, start + inner):
                rest += head[j]
        out[c] = reduce_sum(partial) + rest


@twin(BATCH_STATISTICS)
def batch_statistics(
    data: Buffer, mean: Buffer, inverse: Buffer, eps: float
) -> None:
    """Mean and 1 / sqrt(variance + eps) of each channel."""
    fill_statistics(data.flat, mean.flat, inverse.flat, *data.shape, eps)


@twin(HEAD_SUMS)
def head_sums(
    head: Buffer, data: Buffer, mean: Buffer, inverse: Buffer, sums: Buffer
) -> None:
    """Per channel the sum of head and that of head . (data - mean) . inverse."""
    fill_head_sums(head.flat, data.flat, mean.flat, inverse.flat, sums.flat, *data.shape)


@twin(GATHER_BIAS)
def channel_sums(head: Buffer, out: Buffer) -> None:
    """Per channel the sum of head (outer, channels, inner)."""
    fill_sums(head.flat, out.flat, *head.shape)
