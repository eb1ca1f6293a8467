"""Sums over the channels of (outer, channels, inner): what BatchNorm and the bias of a convolution need.

A channel is ``outer`` stretches of ``inner`` neighbours. Each stretch adds its whole sixteens to sixteen partial
sums (``lanes``), and what is left over at its end to a single one.
"""

from __future__ import annotations

from math import sqrt

from ..foundation import Buffer
from .kernel import kernel, twin
from .lanes import minus, plus, plus_product, read, same, total


@kernel
def fill_statistics(data, mean, inverse, outer, channels, inner, eps):
    whole, count = inner // 16 * 16, outer * inner
    for c in range(channels):
        many, rest = same(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                many = plus(many, read(data, j))
            for j in range(start + whole, start + inner):
                rest += data[j]
        centre = (total(many) + rest) / count
        centres, many, rest = same(centre), same(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                off = minus(read(data, j), centres)
                many = plus_product(many, off, off)
            for j in range(start + whole, start + inner):
                rest += (data[j] - centre) * (data[j] - centre)
        mean[c] = centre
        inverse[c] = 1.0 / sqrt((total(many) + rest) / count + eps)


@kernel
def fill_head_sums(head, data, mean, inverse, sums, outer, channels, inner):
    whole = inner // 16 * 16
    for c in range(channels):
        centre = mean[c] * 1.0
        centres, heads, products = same(centre), same(0.0), same(0.0)
        rest, product = 0.0, 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                lanes = read(head, j)
                heads = plus(heads, lanes)
                products = plus_product(products, lanes, minus(read(data, j), centres))
            for j in range(start + whole, start + inner):
                rest += head[j]
                product += head[j] * (data[j] - centre)
        sums[2 * c] = total(heads) + rest
        sums[2 * c + 1] = (total(products) + product) * inverse[c]


@kernel
def fill_sums(head, out, outer, channels, inner):
    whole = inner // 16 * 16
    for c in range(channels):
        many, rest = same(0.0), 0.0
        for o in range(outer):
            start = (o * channels + c) * inner
            for j in range(start, start + whole, 16):
                many = plus(many, read(head, j))
            for j in range(start + whole, start + inner):
                rest += head[j]
        out[c] = total(many) + rest


@twin
def batch_statistics(
    data: Buffer, mean: Buffer, inverse: Buffer, outer: int, channels: int, inner: int, eps: float
) -> None:
    """Mean and 1 / sqrt(variance + eps) of each channel."""
    fill_statistics(data.flat, mean.flat, inverse.flat, outer, channels, inner, eps)


@twin
def head_sums(
    head: Buffer, data: Buffer, mean: Buffer, inverse: Buffer, sums: Buffer,
    outer: int, channels: int, inner: int,
) -> None:  # fmt: skip
    """Per channel the sum of head and that of head . (data - mean) . inverse."""
    fill_head_sums(
        head.flat, data.flat, mean.flat, inverse.flat, sums.flat, outer, channels, inner
    )


@twin
def channel_sums(head: Buffer, out: Buffer, outer: int, channels: int, inner: int) -> None:
    """Per channel the sum of head."""
    fill_sums(head.flat, out.flat, outer, channels, inner)
