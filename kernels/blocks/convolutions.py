"""Convolution and its weight's gradient as products by tiles: see ``products``.

Forward, a row of the left matrix is a filter, and a column of the right one holds what that filter's weights meet in
one output. For the gradient a row is the head of a filter, over all images, and a column what one weight met. The
right matrix is never stored: a thread that fills a place of a tile looks its pixel up.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..convolution import CONVOLVE, GATHER_WEIGHT
from ..foundation import scalar
from ..foundation.blocks import BlockTwin
from ..foundation.later import cuda
from ..shared.convolution_geometry import Geometry
from .products import ROW, SIDE, TILE


@scalar
def place_of(plane, pixel, tap, g: Geometry):
    """Where the pixel lies that a tap of an output meets in a plane of one channel; -1 in the padding."""
    depth = pixel // (g.out_h * g.out_w) * g.stride_d - g.pad_d + tap // (g.kernel_h * g.kernel_w) * g.dilate_d
    row = pixel // g.out_w % g.out_h * g.stride_h - g.pad_h + tap // g.kernel_w % g.kernel_h * g.dilate_h
    column = pixel % g.out_w * g.stride_w - g.pad_w + tap % g.kernel_w * g.dilate_w
    if 0 <= depth < g.depth and 0 <= row < g.height and 0 <= column < g.width:
        return ((plane * g.depth + depth) * g.height + row) * g.width + column
    return -1


def convolve(data, weight, out, g: Geometry):
    """As ``convolution.convolve``."""
    tile = cuda.shared.array(0, data.dtype)  # first weights, then pixels
    y, x = cuda.threadIdx.x // SIDE, cuda.threadIdx.x % SIDE
    channels, filters = g.channels // g.num_group, g.num_filter // g.num_group
    window, pixels = g.kernel_d * g.kernel_h * g.kernel_w, g.out_d * g.out_h * g.out_w
    taps, zero = channels * window, data.dtype.type(0)
    across, down = (pixels + SIDE - 1) // SIDE, (filters + SIDE - 1) // SIDE
    for piece in range(cuda.blockIdx.x, g.batch_size * g.num_group * down * across, cuda.gridDim.x):
        image = piece // across // down // g.num_group
        group = piece // across // down % g.num_group
        own, pixel = piece // across % down * SIDE + y, piece % across * SIDE + x
        f = group * filters + own
        total = zero
        for first in range(0, taps, SIDE):
            if own < filters and first + x < taps:
                tile[y * ROW + x] = weight[f * taps + first + x]
            tap = first + y
            if pixel < pixels and tap < taps:
                plane = image * g.channels + group * channels + tap // window
                place = place_of(plane, pixel, tap % window, g)
                tile[TILE + y * ROW + x] = data[place] if place >= 0 else zero
            cuda.syncthreads()
            for t in range(min(SIDE, taps - first)):
                total += tile[y * ROW + t] * tile[TILE + t * ROW + x]
            cuda.syncthreads()
        if own < filters and pixel < pixels:
            out[(image * g.num_filter + f) * pixels + pixel] = total


def gather_weight(head, data, d_weight, g: Geometry):
    """As ``convolution.gather_weight``."""
    tile = cuda.shared.array(0, data.dtype)  # first the head, then pixels
    y, x = cuda.threadIdx.x // SIDE, cuda.threadIdx.x % SIDE
    channels, filters = g.channels // g.num_group, g.num_filter // g.num_group
    window, pixels = g.kernel_d * g.kernel_h * g.kernel_w, g.out_d * g.out_h * g.out_w
    taps, zero, count = channels * window, data.dtype.type(0), g.batch_size * pixels
    across, down = (taps + SIDE - 1) // SIDE, (filters + SIDE - 1) // SIDE
    for piece in range(cuda.blockIdx.x, g.num_group * down * across, cuda.gridDim.x):
        group = piece // across // down
        own, tap = piece // across % down * SIDE + y, piece % across * SIDE + x
        f = group * filters + own
        total = np.float64(0)
        for first in range(0, count, SIDE):
            output = first + x
            if own < filters and output < count:
                tile[y * ROW + x] = head[(output // pixels * g.num_filter + f) * pixels + output % pixels]
            output = first + y
            if tap < taps and output < count:
                plane = output // pixels * g.channels + group * channels + tap // window
                place = place_of(plane, output % pixels, tap % window, g)
                tile[TILE + y * ROW + x] = data[place] if place >= 0 else zero
            cuda.syncthreads()
            for t in range(min(SIDE, count - first)):
                total += tile[y * ROW + t] * tile[TILE + t * ROW + x]
            cuda.syncthreads()
        if own < filters and tap < taps:
            d_weight[f * taps + tap] = total


def pieces_of_outputs(args: Sequence[Any]) -> int:
    g = args[3]
    filters, pixels = g.num_filter // g.num_group, g.out_d * g.out_h * g.out_w
    return g.batch_size * g.num_group * -(-filters // SIDE) * -(-pixels // SIDE)


def pieces_of_weights(args: Sequence[Any]) -> int:
    g = args[3]
    taps = g.channels // g.num_group * g.kernel_d * g.kernel_h * g.kernel_w
    return g.num_group * -(-(g.num_filter // g.num_group) // SIDE) * -(-taps // SIDE)


CONVOLVE.use_blocks(BlockTwin(convolve, pieces_of_outputs, threads=SIDE * SIDE, shared=2 * TILE))
GATHER_WEIGHT.use_blocks(BlockTwin(gather_weight, pieces_of_weights, threads=SIDE * SIDE, shared=2 * TILE))
