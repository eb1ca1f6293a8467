"""Convolution row by row, for float64 and for float32 calls that tiles do not handle; sums in the page's order.

The outputs of a row whose pixels lie inside the image are contiguous, so the inner loop over them has no test and
LLVM vectorises it. The taps are the outer loop: each is applied to a whole row.
"""

from __future__ import annotations

import numpy as np

from ..foundation import scalar
from ..shared.convolution_geometry import Geometry
from .kernel import kernel


@scalar
def first_inside(offset, stride, count):
    """The first of ``count`` outputs whose pixel, x stride + offset, is not left of the image."""
    return min(count, max(0, (stride - 1 - offset) // stride))


@scalar
def end_inside(offset, stride, count, size):
    """One past the last of ``count`` outputs whose pixel is not right of the image."""
    return min(count, max(0, (size - 1 - offset) // stride + 1))


@kernel
def convolve_rows(data, weight, out, g: Geometry):
    """out = weight over data, one filter over one image after the other."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    positions, taps = g.kernel_d * g.kernel_h * g.kernel_w, group_channels * g.kernel_d * g.kernel_h * g.kernel_w
    for plane in range(g.batch_size * g.num_filter):
        image, one = plane // g.num_filter, plane % g.num_filter
        channel = image * g.channels + one // group_filters * group_channels
        to = plane * g.out_d * g.out_h * g.out_w
        for q in range(g.out_d * g.out_h * g.out_w):
            out[to + q] = 0
        for tap in range(taps):
            value = weight[one * taps + tap]
            k = tap // (g.kernel_h * g.kernel_w) % g.kernel_d * g.dilate_d - g.pad_d
            i, j = tap // g.kernel_w % g.kernel_h * g.dilate_h - g.pad_h, tap % g.kernel_w * g.dilate_w - g.pad_w
            first = first_inside(j, g.stride_w, g.out_w)
            end = max(first, end_inside(j, g.stride_w, g.out_w, g.width))
            for row in range(g.out_d * g.out_h):
                z, y = row // g.out_h * g.stride_d + k, row % g.out_h * g.stride_h + i
                low, high = g.out_w, g.out_w
                if 0 <= z < g.depth and 0 <= y < g.height:
                    low, high = first, end
                start = (((channel + tap // positions) * g.depth + z) * g.height + y) * g.width + j
                for x in range(low):
                    out[to + row * g.out_w + x] += value * 0
                for x in range(low, high):
                    out[to + row * g.out_w + x] += value * data[start + x * g.stride_w]
                for x in range(high, g.out_w):
                    out[to + row * g.out_w + x] += value * 0


@kernel
def send_back_rows(head, weight, d_data, g: Geometry):
    """Gradient by data, one channel of one image after the other."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    taps = g.kernel_d * g.kernel_h * g.kernel_w
    for plane in range(g.batch_size * g.channels):
        image, channel = plane // g.channels, plane % g.channels
        first = channel // group_channels * group_filters
        for q in range(g.depth * g.height * g.width):
            d_data[plane * g.depth * g.height * g.width + q] = 0
        for step in range(group_filters * taps):
            one, tap = first + step // taps, step % taps
            value = weight[(one * group_channels + channel % group_channels) * taps + tap]
            k = tap // (g.kernel_h * g.kernel_w) * g.dilate_d - g.pad_d
            i, j = tap // g.kernel_w % g.kernel_h * g.dilate_h - g.pad_h, tap % g.kernel_w * g.dilate_w - g.pad_w
            low = first_inside(j, g.stride_w, g.out_w)
            high = end_inside(j, g.stride_w, g.out_w, g.width)
            for row in range(g.out_d * g.out_h):
                z, y = row // g.out_h * g.stride_d + k, row % g.out_h * g.stride_h + i
                if 0 <= z < g.depth and 0 <= y < g.height:
                    start = ((plane * g.depth + z) * g.height + y) * g.width + j
                    source = ((image * g.num_filter + one) * g.out_d * g.out_h + row) * g.out_w
                    for x in range(low, high):
                        d_data[start + x * g.stride_w] += value * head[source + x]


@kernel
def gather_weight_rows(head, data, d_weight, g: Geometry):
    """Gradient by weight, one weight after the other."""
    group_channels, group_filters = g.channels // g.num_group, g.num_filter // g.num_group
    positions = g.kernel_d * g.kernel_h * g.kernel_w
    for item in range(g.num_filter * group_channels * positions):
        one, tap = item // (group_channels * positions), item % positions
        channel = one // group_filters * group_channels + item // positions % group_channels
        k = tap // (g.kernel_h * g.kernel_w) * g.dilate_d - g.pad_d
        i, j = tap // g.kernel_w % g.kernel_h * g.dilate_h - g.pad_h, tap % g.kernel_w * g.dilate_w - g.pad_w
        first = first_inside(j, g.stride_w, g.out_w)
        end = max(first, end_inside(j, g.stride_w, g.out_w, g.width))
        total = np.float64(0)
        for row in range(g.batch_size * g.out_d * g.out_h):
            image, line = row // (g.out_d * g.out_h), row % (g.out_d * g.out_h)
            z, y = line // g.out_h * g.stride_d + k, line % g.out_h * g.stride_h + i
            source = ((image * g.num_filter + one) * g.out_d * g.out_h + line) * g.out_w
            low, high = g.out_w, g.out_w
            if 0 <= z < g.depth and 0 <= y < g.height:
                low, high = first, end
            start = (((image * g.channels + channel) * g.depth + z) * g.height + y) * g.width + j
            for x in range(low):
                total += head[source + x] * 0
            for x in range(low, high):
                total += head[source + x] * data[start + x * g.stride_w]
            for x in range(high, g.out_w):
                total += head[source + x] * 0
        d_weight[item] = total
