"""Windows of Pooling, and images whose channels come last, for Pooling and Pooling_v1."""

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import UNKNOWN, Loop, as_buffer, items, require, scratch, told
from .convolution_geometry import planes


def channel_last(p):
    return p.layout.endswith("C")


def image_of(p, data):
    """The image's sides, without batch and channels."""
    return data[1:-1] if channel_last(p) else data[2:]


def checked(p, rank):
    """kernel, stride and pad for an image of ``rank`` sides, or a refusal."""
    given = f"kernel={p.kernel}, stride={p.stride}, pad={p.pad} for an image with {rank} sides"
    require("Pooling/sides", 1 <= rank <= 3, f"data has an image of {rank} sides, 1 to 3 are known")
    require(
        "Pooling/layout", p.layout == "None" or len(p.layout) == rank + 2,
        f"layout {p.layout} does not fit data with {rank + 2} axes",
    )
    stride = p.stride or (1,) * rank
    pad = p.pad if any(p.pad) else (0,) * rank
    if p.global_pool:
        return (1,) * rank, (1,) * rank, (0,) * rank
    require("Pooling/sides", len(p.kernel) == len(stride) == len(pad) == rank, f"got {given}")
    require("Pooling/sides", min(p.kernel) > 0 and min(stride) > 0 and min(pad) >= 0, f"got {given}")
    require(
        "Pooling/convention", p.pooling_convention != "same" or (rank == 1 and not any(pad)),
        f"pooling_convention same takes one side and no pad, got {given}",
    )
    return p.kernel, stride, pad


def count(p, side, kernel, stride, pad):
    """The number of windows along an axis."""
    if p.global_pool:
        return 1
    if not told(side):
        return UNKNOWN
    require(
        "Pooling/kernel-fits", kernel <= side + 2 * pad,
        f"kernel size ({kernel}) exceeds input ({side} padded to {side + 2 * pad})",
    )
    if p.pooling_convention == "same":
        return -(-side // stride)
    rest = side + 2 * pad - kernel
    return (-(-rest // stride) if p.pooling_convention == "full" else rest // stride) + 1


class Geometry(NamedTuple):
    """The numbers that the loops of Pooling read; sides that an image lacks are 1."""

    planes: int
    """Images of one channel: batch times channels."""
    depth: int
    height: int
    width: int
    out_d: int
    out_h: int
    out_w: int
    average: int
    """1 where a sum is divided by the size of its window, else 0."""


@lru_cache(maxsize=1024)
def windows(p, data, out, device):
    """The windows and the geometry for shapes of data and output whose channels come second.

    Returns where every window begins and ends in data and its size, as three int64 buffers of out_d + out_h +
    out_w windows each, and the geometry.
    """
    image, counts = data[2:], out[2:]
    kernel, stride, pad = checked(p, len(image))
    if p.global_pool:
        kernel = image
    table = [(0, 1, 1)] * (3 - len(image))
    for side, n, width, step, before in zip(image, counts, kernel, stride, pad, strict=True):
        for o in range(n):
            begin = o * step - before
            end = min(begin + width, side + before)
            inside = max(begin, 0), min(end, side)
            padded = p.count_include_pad is not False
            table.append((*inside, end - begin if padded else inside[1] - inside[0]))
    buffers = [as_buffer(np.array(column, np.int64), device) for column in zip(*table, strict=True)]
    ones = (1,) * (3 - len(image))
    return *buffers, Geometry(prod(data[:2]), *ones, *image, *ones, *counts, int(p.pool_type == "avg"))


def pairs(p, image):
    """Whether windows of 2 x 2 lie side by side, none over an edge."""
    plain = p.kernel == p.stride == (2, 2) and not any(p.pad) and not p.global_pool
    return plain and (p.pooling_convention == "valid" or not any(side % 2 for side in image))


def channels_first(data, out):
    """out[n, c, i] = data[n, i, c]."""
    for n, c in items(out.shape[:2]):
        for i in range(out.shape[2]):
            out[n, c, i] = data[n, i, c]


def channels_last(data, out):
    """out[n, i, c] = data[n, c, i]."""
    for n, c in items(data.shape[:2]):
        for i in range(data.shape[2]):
            out[n, i, c] = data[n, c, i]


CHANNELS_FIRST, CHANNELS_LAST = Loop(channels_first), Loop(channels_last)


def in_planes(p, reads, writes, work):
    """Call ``work`` with buffers whose channels come second: copies, where ``p`` has them last."""
    if not channel_last(p):
        work(reads, writes)
        return
    both = [*reads, *writes]
    copies = [
        plain.reshape((b.shape[0], b.shape[-1], *b.shape[1:-1]))
        for plain, b in zip(scratch(both[0], *(b.size for b in both)), both, strict=True)
    ]
    for buffer, copy in zip(reads, copies, strict=False):
        CHANNELS_FIRST(_last(buffer), planes(copy))
    work(copies[: len(reads)], copies[len(reads) :])
    for buffer, copy in zip(both, copies, strict=True):
        if any(buffer is w for w in writes):
            CHANNELS_LAST(planes(copy), _last(buffer))


def _last(buffer):
    """An image whose channels come last, with one side."""
    return buffer.reshape((buffer.shape[0], prod(buffer.shape[1:-1]), buffer.shape[-1]))
