"""Convolution as an implicit matrix product: the matrix of patches (im2col) is never stored.

Forward, out[f, pixel] = sum over taps of weight[f, tap] . data[pixel + tap] is a product of filters and pixels:
a tile holds a few filters times some blocks of adjacent pixels, and loads its right operand
from the image through a table of offsets (``image``). The gradient by weight is a sum over pixels:
a tile holds a few taps times blocks of filters, and the head is transposed so that filters are contiguous.
The gradient by data is in ``convolution_back``.

Where there are enough filters, convolutions are made in another way, which multiplies no padding
(``convolution_inside``, ``weights_inside``); these tiles make those of few channels or filters, of one pixel, and some
of shallow ones.

Images are computed one after the other, so that each stays in the cache; the gradient by weight takes several small
ones, so that its sums stay there too. Sums run in the order of the plain loops, except that the gradient by weight
first sums up to ``CHUNK`` pixels of one image.

Tiles hold float32 and pay off from a few filters on. One filter for each channel is computed apart
(``depthwise``), and so are kernels of one pixel (``pointwise``); all other calls run row by row (``convolution_rows``).
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer
from ..foundation.cuts import Cut, Given
from ..shared.convolution_geometry import Geometry
from . import convolution_inside, depthwise, pointwise, weights_inside
from .convolution_rows import convolve_rows, gather_weight_rows
from .image import View, space_to_depth, store_runs, view
from .kernel import TILE_COST, cut, kernel, tile_for, twin, wide_tile, workspace
from .simd import add_tiles, fma_tile, load_offsets, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose
from .weights_inside import CHUNK, TOGETHER, products


def _images_of(given: Given, first: int, last: int) -> Given:
    """The call for some images."""
    g = Geometry(*given["g"])
    sizes = {"data": g.channels * prod(g.size), "out": g.num_filter * prod(g.out)}
    arrays = {name: given[name][first * size : last * size] for name, size in sizes.items()}
    return {**arrays, "g": tuple(g._replace(batch_size=last - first))}


IMAGES = Cut(lambda given: given["g"][0], products, _images_of, own=("image", "narrow"))
"""Each part has some images."""


@cut(IMAGES)
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


class Share(NamedTuple):
    """What one call does of the gradient by weight: the taps from ``low`` to before ``high``, of all images."""

    together: int
    """So many images are copied together."""
    low: int
    high: int


def _taps_of(given: Given, first: int, last: int) -> Given:
    """The call for some rows of tiles."""
    whole, height = Share(*given["s"]), len(given["rows"])
    return {"s": tuple(whole._replace(low=first * height, high=min(whole.high, last * height)))}


TAPS = Cut(
    lambda given: -(-given["s"][2] // len(given["rows"])), products, _taps_of, own=("image", "turned", "sums"),
)
"""Each part has some taps of every filter: all images, so that no sum is cut."""


@cut(TAPS)
@kernel
def gather_weight_tiles(
    head, data, d_weight, g: Geometry, v: View, s: Share, image, turned, sums, rows, blocks
):  # fmt: skip
    """Gradient by weight: sums[tap, filter] over images, some at a time, then transposed to d_weight."""
    together, low, high = s.together, s.low, s.high
    share, each, width = g.channels // g.num_group, g.num_filter // g.num_group, 8 * len(blocks)
    depth = share * g.kernel_d * g.kernel_h * g.kernel_w
    taps, pixels, whole = v.taps, v.pixels, g.channels * v.channel
    size, plane = g.depth * g.height * g.width, len(pixels)
    pitch, height = (each + width - 1) // width * width, depth + len(rows)
    for q in range(g.num_group * height * pitch):
        sums[q] = 0
    for q in range(together * whole):
        image[q] = 0
    blocks = ramp(0, 8, width, blocks)
    for first in range(0, g.batch_size, together):
        images = min(together, g.batch_size - first)
        space_to_depth(data, first * g.channels * size, images * g.channels, v.sizes, image)
        for group in range(g.num_group):
            for begin in range(0, plane, CHUNK):
                count = min(plane, begin + CHUNK) - begin
                for i in range(images):
                    start = ((first + i) * g.num_filter + group * each) * plane + begin
                    transpose(head, start, plane, each, count, turned, i * count * pitch, pitch)
                for column in range(0, pitch, width):
                    for tap in range(low, high, len(rows)):
                        left = load_offsets(taps, tap, rows)
                        target = ramp((group * height + tap) * pitch, pitch, g.num_group * height * pitch, rows)
                        for i in range(images):
                            source, right = i * whole + group * share * v.channel, i * count * pitch + column
                            tile = zero_tile(rows, blocks)
                            for q in range(count):
                                tile = fma_tile(
                                    tile, image, left, source + pixels[begin + q], turned, blocks, right + q * pitch
                                )
                            tile = add_tiles(load_tile(sums, target, blocks, column), tile)
                            store_tile(tile, sums, target, blocks, column)
    for group in range(g.num_group):
        start, to = (group * height + low) * pitch, group * each * depth + low
        transpose(sums, start, pitch, high - low, each, d_weight, to, depth)


def cost(g: Geometry, v: View, height: int) -> int:
    """How long tiles of ``height`` rows take for one image, in products."""
    filters, depth = g.num_filter // g.num_group, g.channels // g.num_group * prod(g.kernel)
    return g.num_group * -(-filters // height) * height * len(v.blocks) * 8 * (depth + TILE_COST)


@twin
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
    if g.kernel != (1, 1, 1) and convolution_inside.cost(g) <= cost(g, v, len(rows)):
        convolution_inside.convolve(data, weight, out, g)
        return
    convolve_tiles(
        data.flat, weight.flat, out.flat, tuple(g), tuple(v), workspace("image", g.channels * v.channel),
        workspace("narrow", g.num_filter * v.plane if v.pitch > v.run else 0), rows, blocks,
    )


@twin
def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, g: Geometry) -> None:
    """Gradient by weight."""
    filters, taps = g.num_filter // g.num_group, d_weight.size // g.num_filter
    if data.dtype == np.float32 and depthwise.takes(g):
        depthwise.gather_weight(head, data, d_weight, g)
        return
    if filters < 3 or data.dtype != np.float32:
        gather_weight_rows(head.flat, data.flat, d_weight.flat, tuple(g))
        return
    rows, blocks = tile_for(filters)
    if weights_inside.takes(g, len(rows)):
        weights_inside.gather_weight(head, data, d_weight, g)
        return
    width = 8 * len(blocks)
    v = view(g, len(blocks))
    pitch, plane, whole = -(-filters // width) * width, len(v.pixels), g.channels * v.channel
    together = max(1, min(g.batch_size, CHUNK // plane, TOGETHER // whole))
    gather_weight_tiles(
        head.flat, data.flat, d_weight.flat, tuple(g), tuple(v), tuple(Share(together, 0, taps)),
        workspace("image", together * whole),
        workspace("turned", together * min(CHUNK, plane) * pitch),
        workspace("sums", g.num_group * (taps + len(rows)) * pitch), rows, blocks,
    )
