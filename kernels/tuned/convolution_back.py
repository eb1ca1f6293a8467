"""The gradient of a convolution by its data, in three ways.

*Gathering*: a pixel sums over every filter and tap that read it, d_data[pixel] += weight[f, tap] .
head[f, pixel - tap]. This is one long sum in registers and one store, the product of forward with the head
in place of the image. But the head needs a border of zeros, and where the kernel is large compared with the
image, most multiplications are by zero.

*Scattering*: an output pixel adds its head to every pixel that it read, image[pixel + tap] += weight[f, tap] .
head[f, pixel]. This is a sum over filters only, added to memory tap by tap. No multiplication is by zero, but
tiles are loaded and stored more often.

*Inside*: as gathering, by tiles with channels in their lanes that read no zeros (``convolution_inside``). It takes as
many channels as lanes.

``send_back`` takes whichever does least work. The shapes alone decide it, so that results depend on nothing else.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..convolution import SEND_BACK
from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from . import convolution_inside, depthwise, pointwise
from .convolution_rows import send_back_rows
from .image import BackView, View, back_view, depth_to_space, space_to_depth, store_runs, view
from .kernel import FLOATS, TILE_COST, few_rows_tile, kernel, twin, workspace
from .simd import add_tiles, copy_masked, fma_tile, load_offsets, load_tile, ramp, store_tile, zero_tile


@kernel
def pack_weights(weight, g: Geometry, v: BackView, packed, rows):
    """packed[part, group, row of tiles, tap, row] = the weights in the order in which they are read.

    Returns whether all of them are finite.
    """
    share, to, check = g.channels // g.num_group, 0, weight[0] * 0
    start, taps = 0, g.kernel_d * g.kernel_h * g.kernel_w
    weights, group_size = v.weights, len(weight) // g.num_group
    for part in range(len(v.ends)):
        for group in range(g.num_group):
            for row in range(0, share, len(rows)):
                for t in range(start, v.ends[part]):
                    for r in range(row, row + len(rows)):
                        value = weight[group * group_size + min(r, share - 1) * taps + weights[t]]
                        packed[to] = value
                        check += value * 0
                        to += 1
        start = v.ends[part]
    return check == 0


@kernel
def send_back_tiles(head, packed, d_data, g: Geometry, v: BackView, image, narrow, rows, blocks):
    """Gradient by data, one part of it after the other."""
    share, each, height = g.channels // g.num_group, g.num_filter // g.num_group, len(rows)
    head_size = g.num_filter * g.out_d * g.out_h * g.out_w
    data_size = g.channels * g.depth * g.height * g.width
    taps, plane = v.taps, v.counts[0] * v.counts[1] * v.counts[2] // v.run * v.pitch
    direct = len(v.ends) == 1 and v.pitch == v.run
    ones = ramp(0, 1, height, rows)
    for q in range(g.num_filter * v.channel):
        image[q] = 0
    for item in range(g.batch_size):
        space_to_depth(head, item * head_size, g.num_filter, v.sizes, image)
        result, base = narrow, 0
        if direct:
            result, base = d_data, item * data_size
        if not direct:
            for q in range(data_size):
                d_data[item * data_size + q] = 0
        weights, begin = 0, 0
        for part in range(len(v.ends)):
            if v.ends[part] == begin:  # no tap reads these pixels
                continue
            for first in range(0, g.channels, share):
                source = first // share * each * v.channel
                for row in range(first, first + share, height):
                    target = ramp(
                        base + row * plane, plane, base + (first + share - 1) * plane, rows
                    )
                    for q in range(0, len(v.blocks), len(blocks)):
                        right = load_offsets(v.blocks, q, blocks)
                        tile = zero_tile(rows, blocks)
                        at = weights
                        for t in range(begin, v.ends[part]):
                            tile = fma_tile(tile, packed, ones, at, image, right, source + taps[t])
                            at += height
                        store_tile(tile, result, target, load_offsets(v.places, q, blocks), 0)
                    weights += (v.ends[part] - begin) * height
            begin = v.ends[part]
            if not direct:
                a = part // (g.stride_h * g.stride_w)
                b, e = part // g.stride_w % g.stride_h, part % g.stride_w
                store_runs(
                    narrow, g.channels, plane, v.run, v.pitch, (v.counts[1], v.counts[2]), d_data, item * data_size,
                    (g.depth, g.height, g.width), (g.stride_d, g.stride_h, g.stride_w), (a, b, e),
                )


@kernel
def pack_by_tap(weight, g: Geometry, packed, rows):
    """packed[group, tap, row of tiles, filter, row]; returns whether all weights are finite."""
    share, each, to, check = g.channels // g.num_group, g.num_filter // g.num_group, 0, weight[0] * 0
    taps = g.kernel_d * g.kernel_h * g.kernel_w
    for first in range(0, g.num_filter, each):
        for tap in range(taps):
            for row in range(0, share, len(rows)):
                for one in range(first, first + each):
                    for r in range(row, row + len(rows)):
                        value = weight[(one * share + min(r, share - 1)) * taps + tap]
                        packed[to] = value
                        check += value * 0
                        to += 1
    return check == 0


@kernel
def scatter_tiles(head, packed, d_data, g: Geometry, v: View, padded, image, rows, blocks):
    """Gradient by data, added up in ``image``; ``padded`` holds the head with runs a multiple of 8."""
    share, each, height = g.channels // g.num_group, g.num_filter // g.num_group, len(rows)
    taps, plane = g.kernel_d * g.kernel_h * g.kernel_w, len(v.pixels) // v.run * v.pitch
    size, final = g.depth * g.height * g.width, g.out_d * g.out_h * g.out_w
    ones = ramp(0, 1, height, rows)
    for item in range(g.batch_size):
        for q in range(g.channels * v.channel):
            image[q] = 0
        for line in range(g.num_filter * final // v.run):
            for x in range(0, v.pitch, 16):
                for z in range(max(x, v.run), min(x + 16, v.pitch)):
                    padded[line * v.pitch + z] = 0
                copy_masked(
                    head, item * g.num_filter * final + line * v.run + x, padded, line * v.pitch + x, v.run - x
                )
        weights = 0
        for first in range(0, g.channels, share):
            source = first // share * each * plane
            for tap in range(taps):
                for row in range(first, first + share, height):
                    target = ramp(row * v.channel, v.channel, (first + share - 1) * v.channel, rows)
                    for q in range(0, len(v.blocks), len(blocks)):
                        right = load_offsets(v.places, q, blocks)
                        tile = zero_tile(rows, blocks)
                        for one in range(each):
                            tile = fma_tile(
                                tile, packed, ones, weights + one * height,
                                padded, right, source + one * plane,
                            )
                        # Surplus lanes add 0 to the pixels after their run. Blocks are stored in the order of
                        # their addresses, so the block to which those pixels belong is stored after this one.
                        to = load_offsets(v.blocks, q, blocks)
                        tile = add_tiles(load_tile(image, target, to, v.taps[tap]), tile)
                        store_tile(tile, image, target, to, v.taps[tap])
                    weights += each * height
        depth_to_space(image, g.channels, v.sizes, d_data, item * g.channels * size)


def _costs(g: Geometry, gathering: BackView, scattering: View, height: int) -> tuple[int, int]:
    """How long gathering and scattering take for one image by tiles of ``height`` rows, in products."""
    share, each, taps = g.channels // g.num_group, g.num_filter // g.num_group, prod(g.kernel)
    rows = g.num_group * -(-share // height) * height * 8
    gather = len(gathering.blocks) * (len(gathering.taps) + TILE_COST * len(gathering.ends))
    return rows * gather, rows * len(scattering.blocks) * taps * (each + TILE_COST)


@twin(SEND_BACK, dtypes=FLOATS)
def send_back(head: Buffer, weight: Buffer, d_data: Buffer, g: Geometry) -> None:
    """Gradient by data."""
    share, each = g.channels // g.num_group, g.num_filter // g.num_group
    sliding = head.dtype == np.float32 and depthwise.takes(g)
    if sliding and depthwise.convolve(head, weight, d_data, g, back=True):
        return
    if sliding or head.dtype != np.float32:
        send_back_rows(head.flat, weight.flat, d_data.flat, tuple(g))
        return
    if pointwise.takes(g):
        pointwise.multiply(weight, head, d_data, g, back=True)
        return
    rows, blocks = few_rows_tile(share)
    height, taps = len(rows), g.kernel_d * g.kernel_h * g.kernel_w
    v, s = back_view(g, len(blocks)), view(g, len(blocks), overlap=False)
    gather_cost, scatter_cost = _costs(g, v, s, height)
    if g.kernel != (1, 1, 1) and convolution_inside.cost(g, back=True) <= min(gather_cost, scatter_cost):
        convolution_inside.convolve(head, weight, d_data, g, back=True)
        return
    scatter = scatter_cost < gather_cost
    packed = workspace("packed", g.num_group * -(-share // height) * height * each * taps)
    finite = (
        pack_by_tap(weight.flat, tuple(g), packed, rows) if scatter
        else pack_weights(weight.flat, tuple(g), tuple(v), packed, rows)
    )
    if not finite:  # tiles would meet zeros that the plain loop does not multiply
        send_back_rows(head.flat, weight.flat, d_data.flat, tuple(g))
    elif scatter:
        scatter_tiles(
            head.flat, packed, d_data.flat, tuple(g), tuple(s),
            workspace("narrow", g.num_filter * s.plane), workspace("image", g.channels * s.channel), rows, blocks,
        )
    else:
        direct = len(v.ends) == 1 and v.pitch == v.run
        send_back_tiles(
            head.flat, packed, d_data.flat, tuple(g), tuple(v), workspace("image", g.num_filter * v.channel),
            workspace("narrow", 0 if direct else g.channels * v.plane), rows, blocks,
        )
