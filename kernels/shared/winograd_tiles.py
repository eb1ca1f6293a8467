"""What Winograd's convolution (``winograd``) is made of: its formulas, and the numbers of its loops.

The formulas of pixels and outputs are sums, differences and doublings alone, so that they round in one way only, and
the twin in ``tuned`` applies the same text to vectors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..foundation import scalar
from .convolution_geometry import Geometry

MEMORY = 200_000  # numbers of the tiles that are computed together, for pixels and for products: 800 KB each
FEWEST = 64  # tiles, whatever memory they take: all weights are read once for them
SECTION = 64
"""The gradient of a weight is summed over so many tiles at least, before the sum is added to those of other tiles."""


class Tiles(NamedTuple):
    """Images of ``ins`` channels become images of ``outs`` channels, tile by tile."""

    batch_size: int
    ins: int
    outs: int
    height: int
    width: int
    out_h: int
    out_w: int
    pad_h: int
    pad_w: int
    tiles_h: int
    """Tiles of an image, one above the other."""
    tiles_w: int
    """Tiles of a line."""
    slots: int
    """So many tiles, whole lines of them, have memory of their own."""
    panel: int
    """Points of weights lie in panels of so many outs; the last panel ends in zeros."""
    panels: int
    in_pitch: int
    """Numbers from a point of pixels to the next; a few more than are used, which spares the cache collisions."""
    out_pitch: int
    """The same for points of products, or of the head."""
    back: int
    """1 for the gradient of the data: filters are turned round, and outs are the channels of the weights."""

    @property
    def weights(self) -> int:
        """Numbers of the points of all weights."""
        return 36 * self.ins * self.panels * self.panel


@lru_cache(maxsize=512)
def tiles(g: Geometry, *, back: bool = False, sections: bool = False) -> Tiles:
    """The tiles of a convolution, or, where ``back``, of the gradient of its data from the head.

    Where ``sections``, there is memory for one section: the fewest lines that have ``SECTION`` tiles.
    """
    ins, outs, size, out = g.channels, g.num_filter, (g.height, g.width), (g.out_h, g.out_w)
    pad = (g.pad_h, g.pad_w)
    if back:
        ins, outs, size, out, pad = outs, ins, out, size, (2 - g.pad_h, 2 - g.pad_w)
    tiles_h, tiles_w = (-(-side // 4) for side in out)
    panel = 16 if outs <= 16 else 32
    panels = -(-outs // panel)
    longest = 36 * max(ins, panels * panel)
    together = SECTION if sections else max(FEWEST, MEMORY // longest)
    lines = min(g.batch_size * tiles_h, -(-together // tiles_w))
    slots = lines * tiles_w
    return Tiles(
        batch_size=g.batch_size, ins=ins, outs=outs, height=size[0], width=size[1], out_h=out[0], out_w=out[1],
        pad_h=pad[0], pad_w=pad[1], tiles_h=tiles_h, tiles_w=tiles_w, slots=slots, panel=panel, panels=panels,
        in_pitch=slots * ins + 16, out_pitch=slots * panels * panel + 16, back=int(back),
    )


# --- formulas ------------------------------------------------------------------------------------


@scalar
def doubled(x):
    return x + x


@scalar
def weight_points(x, y, z):
    """Six points of three weights."""
    ends, wide = x + z, x + doubled(doubled(z))
    return (
        x * 0.25, (ends + y) * (-1 / 6), (ends - y) * (-1 / 6),
        (wide + doubled(y)) * (1 / 24), (wide - doubled(y)) * (1 / 24), z,
    )  # fmt: skip


@scalar
def data_points(a, b, c, d, e, f):
    """Six points of six pixels."""
    even, odd = e - doubled(doubled(c)), d - doubled(doubled(b))
    near, far = e - c, doubled(d - b)
    return (
        doubled(doubled(a - c)) + near, even + odd, even - odd,
        near + far, near - far, doubled(doubled(b - d)) + (f - d),
    )  # fmt: skip


@scalar
def output_sums(a, b, c, d, e, f):
    """Four outputs of six points of products."""
    p, q, r, s = b + c, b - c, d + e, doubled(d - e)
    return (a + p) + r, q + s, p + doubled(doubled(r)), (q + doubled(doubled(s))) + f


@scalar
def head_points(a, b, c, d):
    """Six points of four heads: ``output_sums`` transposed."""
    even, odd, far, wide = a + c, b + d, a + doubled(doubled(c)), doubled(b + doubled(doubled(d)))
    return a, even + odd, even - odd, far + wide, far - wide, d


@scalar
def weight_sums(a, b, c, d, e, f):
    """Gradients of three weights from those of their six points: ``weight_points`` transposed."""
    near, far = (b + c) * (1 / 6), d + e
    return a * 0.25 - near + far * (1 / 24), (c - b) * (1 / 6) + (d - e) * (1 / 12), far * (1 / 6) - near + f


@scalar
def fused(a, b, total):
    """total + a . b rounded once to single precision, as a fused multiply-add does.

    The product is exact in double precision. The sum with ``total`` rounds there first, which matters only where it
    then lies halfway between two single numbers: what was rounded off tells which of them is nearer.
    """
    product, before = np.float64(a) * np.float64(b), np.float64(total)
    double = product + before
    back = double - product
    lost = (product - (double - back)) + (before - back)
    single = np.float32(double)
    left = double - np.float64(single)
    other = np.float64(single) + (left + left)
    if lost != 0 and left != 0 and (lost > 0) == (left > 0) and np.float64(np.float32(other)) == other:
        return np.float32(other)
    return single
