"""LRN: sums of a window of channels for many pixels at once, in the page's order, and the power of -0.75 by two roots.

s^0.75 = sqrt(s) . sqrt(sqrt(s)), wrong by at most 2.4 units in the last place, its inverse by 3.8. Other powers are
left to the page.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..foundation import Buffer
from ..lrn import RESPOND, RESPOND_BACK, SCALES
from .elementary import choose, inlined
from .kernel import kernel, plain, twin, workspace
from .lanes import broadcast, fma, load, store

ONE, INFINITE, BETA = np.float32(1), np.float32(np.inf), 0.75


@inlined
def power(s):
    """s^0.75; infinite for both infinities, as ``pow`` is."""
    root = sqrt(choose(s == -INFINITE, INFINITE, s))
    return root * sqrt(root)


@kernel
def fill_scales(data, scale, sums, rows, channels, inner, half, share, knorm):
    whole = inner // 16 * 16
    for row in range(rows):
        c, start = row % channels, row * inner
        first, end = row - min(half, c), row + min(half + 1, channels - c)
        for i in range(0, whole, 16):
            partial = broadcast(0.0)
            for at in range(first * inner + i, end * inner, inner):
                values = load(data, at)
                partial = fma(partial, values, values)  # a product of two float32 is exact in doubles
            store(partial, sums, i)
        for i in range(whole, inner):
            total = 0.0
            for at in range(first * inner + i, end * inner, inner):
                total += np.float64(data[at]) * data[at]
            sums[i] = total
        for i in range(inner):
            scale[start + i] = knorm + share * sums[i]


@kernel
def fill_response(data, scale, out, n):
    for i in range(n):
        out[i] = data[i] / power(scale[i])


@kernel
def fill_response_back(head, data, scale, d_data, terms, sums, images, channels, inner, half, factor):
    size = channels * inner
    for image in range(0, images * size, size):
        for i in range(size):
            s = scale[image + i]
            share = ONE / power(s)
            d_data[image + i] = head[image + i] * share
            terms[i] = np.float64(head[image + i]) * data[image + i] * (share / s)
        for c in range(channels):
            start = image + c * inner
            for i in range(inner):
                sums[i] = 0.0
            for k in range(c - min(half, c), min(c + half + 1, channels)):
                for i in range(inner):
                    sums[i] += terms[k * inner + i]
            for i in range(inner):
                d_data[start + i] -= factor * data[start + i] * sums[i]


def _doubles(name: str, size: int) -> np.ndarray:
    return workspace(name, 2 * size).view(np.float64)


@twin(SCALES)
def scales(
    data: Buffer, scale: Buffer, half: int, share: float, knorm: float
) -> None:
    """knorm plus share times the sum of the squares of each window of channels."""
    (n, channels, inner), single = data.shape, (np.float32(share), np.float32(knorm))
    fill_scales(data.flat, scale.flat, _doubles("sums", inner), n * channels, channels, inner, half, *single)


@twin(RESPOND)
def respond(data: Buffer, scale: Buffer, out: Buffer, n: int, beta: float) -> None:
    """data / scale^beta."""
    if beta == BETA:
        fill_response(data.flat, scale.flat, out.flat, n)
    else:
        plain(RESPOND, data, scale, out, n, beta)


@twin(RESPOND_BACK)
def respond_back(
    head: Buffer, data: Buffer, scale: Buffer, d_data: Buffer, half: int, share: float, beta: float
) -> None:
    """The gradient of data / scale^beta."""
    if beta == BETA:
        n, channels, inner = data.shape
        flat = [each.flat for each in (head, data, scale, d_data)]
        memory = _doubles("terms", channels * inner), _doubles("sums", inner)
        fill_response_back(*flat, *memory, n, channels, inner, half, 2.0 * np.float32(share) * BETA)
    else:
        plain(RESPOND_BACK, head, data, scale, d_data, half, share, beta)
