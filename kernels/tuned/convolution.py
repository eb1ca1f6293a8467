"""Convolution as an implicit matrix product: the matrix of patches (im2col) is never stored.

Forward, out[f, pixel] = sum over taps of weight[f, tap] . data[pixel + tap] is a product of filters and pixels:
a tile holds a few filters times some blocks of adjacent pixels, and loads its right operand
from the image through a table of offsets (``image``). The gradient by weight is made in ``weights_inside`` and
``weights_patches``, that by data in ``convolution_back``.

Where there are enough filters, convolutions are made in another way, which multiplies no padding
(``convolution_inside``); these tiles make those of few channels or filters, of one pixel, and some of shallow ones.

Images are computed one after the other, so that each stays in the cache. Sums run in the order of the plain loops,
except that the gradient by weight first sums up to ``CHUNK`` outputs.

Tiles hold float32 and pay off from a few filters on. One filter for each channel is computed apart
(``depthwise``), and so are kernels of one pixel (``pointwise``); all other calls run row by row (``convolution_rows``).
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..convolution import CONVOLVE, GATHER_WEIGHT
from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from . import convolution_inside, depthwise, pointwise, weights_inside, weights_patches
from .convolution_rows import convolve_rows, gather_weight_rows
from .image import View, space_to_depth, store_runs, view
from .kernel import FLOATS, TILE_COST, kernel, twin, wide_tile, workspace
from .simd import fma_tile, load_offsets, ramp, store_tile, zero_tile

FEW = 8  # so many filters fill no more than half of the lanes of ``convolution_inside``,
NARROW = 6  # which then is faster only for padded images, and for lines of outputs shorter than this


@kernel
def convolve_tiles(data, weight, out, g: Geometry, v: View, image, narrow, rows, blocks):
    """out = weight over data; ``image`` is memory for one image, ``narrow`` for its outputs."""
    share, each = g.channels // g.num_group, g.num_filter // g.num_group
    depth = share * g.kernel_d * g.kernel_h * g.kernel_w
    size, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    taps, plane = v.taps, len(v.pixels) // v.run * v.pitch
    for q in range(g.channels * v.channel):  # the padding stays 0 for all images
        image[q] = 0
    for item in range(g.batch_size):
        space_to_depth(data, item * g.channels * size, g.channels, v.sizes, image)
        result, base = out, item * g.num_filter * final
        if v.pitch > v.run:
            result, base = narrow, 0
        for first in range(0, g.num_filter, each):
            source = first // each * share * v.channel
            for row in range(first, first + each, len(rows)):
                last = first + each - 1
                left = ramp(row * depth, depth, last * depth, rows)
                target = ramp(base + row * plane, plane, base + last * plane, rows)
                for q in range(0, len(v.blocks), len(blocks)):
                    right = load_offsets(v.blocks, q, blocks)
                    tile = zero_tile(rows, blocks)
                    for t in range(depth):
                        tile = fma_tile(tile, weight, left, t, image, right, source + taps[t])
                    store_tile(tile, result, target, load_offsets(v.places, q, blocks), 0)
        if v.pitch > v.run:
            store_runs(
                narrow, g.num_filter, plane, v.run, v.pitch, (g.out_h, g.out_w), out,
                item * g.num_filter * final, (g.out_d, g.out_h, g.out_w), (1, 1, 1), (0, 0, 0),
            )


def cost(g: Geometry, v: View, height: int) -> int:
    """How long tiles of ``height`` rows take for one image, in products."""
    filters, depth = g.num_filter // g.num_group, g.channels // g.num_group * prod(g.kernel)
    return g.num_group * -(-filters // height) * height * len(v.blocks) * 8 * (depth + TILE_COST)


@twin(CONVOLVE, dtypes=FLOATS)
def convolve(data: Buffer, weight: Buffer, out: Buffer, g: Geometry) -> None:
    """Forward."""
    filters = g.num_filter // g.num_group
    if data.dtype == np.float32 and depthwise.takes(g):
        depthwise.convolve(data, weight, out, g)
        return
    if filters < 3 or data.dtype != np.float32:
        convolve_rows(data.flat, weight.flat, out.flat, tuple(g))
        return
    if pointwise.takes(g):
        pointwise.multiply(weight, data, out, g)
        return
    rows, blocks = wide_tile(filters)
    v = view(g, len(blocks))
    few = filters <= FEW and g.out_w >= NARROW and not any(g.pad)
    if not few and g.kernel != (1, 1, 1) and convolution_inside.cost(g) <= cost(g, v, len(rows)):
        convolution_inside.convolve(data, weight, out, g)
        return
    convolve_tiles(
        data.flat, weight.flat, out.flat, tuple(g), tuple(v), workspace("image", g.channels * v.channel),
        workspace("narrow", g.num_filter * v.plane if v.pitch > v.run else 0), rows, blocks,
    )


@twin(GATHER_WEIGHT, dtypes=FLOATS)
def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """Gradient by weight."""
    filters = g.num_filter // g.num_group
    if data.dtype == np.float32 and depthwise.takes(g):
        depthwise.gather_weight(head, data, d_weight, g)
        return
    if filters < 3 or data.dtype != np.float32:
        gather_weight_rows(head.flat, data.flat, d_weight.flat, tuple(g))
        return
    inside = weights_inside.cost(g) <= weights_patches.cost(g)
    (weights_inside if inside else weights_patches).gather_weight(head, data, d_weight, g)
