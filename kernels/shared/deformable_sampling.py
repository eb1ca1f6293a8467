"""Columns of deformable convolution: what every tap of the kernel reads, and the way back; see the page."""

from math import floor
from typing import NamedTuple

import numpy as np

from ..foundation import Loop, items, scalar


class Geometry(NamedTuple):
    """Of one image. A column is channel and tap, a row of it all outputs."""

    channels: int
    offset_channels: int
    """How many channels share their offsets."""
    height: int
    width: int
    kernel_h: int
    kernel_w: int
    out_h: int
    out_w: int
    stride_h: int
    stride_w: int
    pad_h: int
    pad_w: int
    dilate_h: int
    dilate_w: int
    edges: bool
    """Whether the map ends at its last pixels' centers and then stays constant for a pixel; else it fades to zero."""
    masked: bool
    """Whether a mask is multiplied with what is read."""


@scalar
def inside(at, side, edges):
    """Whether a point may have a value at all."""
    return at > -1 and at < side and (at >= 0 or not edges)


@scalar
def constant(at, side, edges):
    """Whether the value does not change from here on."""
    return edges and at >= side - 1


@scalar
def pixel(data, plane, y, x, high, wide):
    """The pixel, 0 outside the map."""
    if y < 0 or x < 0 or y >= high or x >= wide:
        return 0.0
    return np.float64(data[plane + y * wide + x])


@scalar
def value_at(data, plane, y, x, g):
    """Bilinear value between four pixels."""
    high, wide, edges = g.height, g.width, g.edges
    if not (inside(y, high, edges) and inside(x, wide, edges)):
        return 0.0
    top, left = np.int64(floor(y)), np.int64(floor(x))
    down = 0.0 if constant(y, high, edges) else y - top
    right = 0.0 if constant(x, wide, edges) else x - left
    upper = (1 - right) * pixel(data, plane, top, left, high, wide)
    upper += right * pixel(data, plane, top, left + 1, high, wide)
    under = (1 - right) * pixel(data, plane, top + 1, left, high, wide)
    under += right * pixel(data, plane, top + 1, left + 1, high, wide)
    return (1 - down) * upper + down * under


@scalar
def slope_at(data, plane, y, x, axis, g):
    """How the value changes along y (axis 0) or x (axis 1), to the right of a kink."""
    high, wide, edges = g.height, g.width, g.edges
    if not (inside(y, high, edges) and inside(x, wide, edges)):
        return 0.0
    if constant(x if axis else y, wide if axis else high, edges):
        return 0.0
    top, left = np.int64(floor(y)), np.int64(floor(x))
    down = 0.0 if constant(y, high, edges) else y - top
    right = 0.0 if constant(x, wide, edges) else x - left
    first = pixel(data, plane, top, left, high, wide)
    last = pixel(data, plane, top + 1, left + 1, high, wide)
    beside = pixel(data, plane, top, left + 1, high, wide)
    below = pixel(data, plane, top + 1, left, high, wide)
    if axis:
        return (1 - down) * (beside - first) + down * (last - below)
    return (1 - right) * (below - first) + right * (last - beside)


@scalar
def row_of(offset, at, q, tap, g):
    """Where tap reads for output q, along y."""
    start = q // g.out_w * g.stride_h - g.pad_h + tap // g.kernel_w * g.dilate_h
    return start + np.float64(offset[at * 2 * g.out_h * g.out_w + q])


@scalar
def column_of(offset, at, q, tap, g):
    """Where tap reads for output q, along x."""
    start = q % g.out_w * g.stride_w - g.pad_w + tap % g.kernel_w * g.dilate_w
    return start + np.float64(offset[(at * 2 + 1) * g.out_h * g.out_w + q])


def sample(data, offset, mask, columns, image, g: Geometry):
    """columns (channels, kernel_h, kernel_w, out_h, out_w) of one image."""
    taps, pixels = g.kernel_h * g.kernel_w, g.out_h * g.out_w
    for item in items(g.channels * taps):
        channel, tap = item // taps, item % taps
        at = (image * (g.channels // g.offset_channels) + channel // g.offset_channels) * taps + tap
        plane = (image * g.channels + channel) * g.height * g.width
        for q in range(pixels):
            y, x = row_of(offset, at, q, tap, g), column_of(offset, at, q, tap, g)
            value = value_at(data, plane, y, x, g)
            columns[item * pixels + q] = value * mask[at * pixels + q] if g.masked else value


def sample_back(columns, offset, mask, d_data, image, g: Geometry):
    """Gradient of one image from that of its columns; an item is a channel."""
    taps, pixels = g.kernel_h * g.kernel_w, g.out_h * g.out_w
    for channel in items(g.channels):
        plane = (image * g.channels + channel) * g.height * g.width
        for i in range(plane, plane + g.height * g.width):
            d_data[i] = 0
        for tap in range(taps):
            at = (image * (g.channels // g.offset_channels) + channel // g.offset_channels) * taps + tap
            for q in range(pixels):
                y, x = row_of(offset, at, q, tap, g), column_of(offset, at, q, tap, g)
                if inside(y, g.height, g.edges) and inside(x, g.width, g.edges):
                    head = columns[(channel * taps + tap) * pixels + q]
                    amount = np.float64(head * mask[at * pixels + q] if g.masked else head)
                    top, left = np.int64(floor(y)), np.int64(floor(x))
                    for corner in range(4):
                        i, j = top + corner // 2, left + corner % 2
                        down = 0.0 if constant(y, g.height, g.edges) else y - top
                        right = 0.0 if constant(x, g.width, g.edges) else x - left
                        part = (down if corner // 2 else 1 - down) * (right if corner % 2 else 1 - right)
                        if 0 <= i < g.height and 0 <= j < g.width:
                            d_data[plane + i * g.width + j] += amount * part


def move_back(columns, data, offset, mask, target, image, of_mask, g: Geometry):
    """Gradient of offset, or of mask, for one image; an item is one tap of one group and axis."""
    taps, pixels, ways = g.kernel_h * g.kernel_w, g.out_h * g.out_w, 1 if of_mask else 2
    for item in items(g.channels // g.offset_channels * taps * ways):
        group, tap, axis = item // ways // taps, item // ways % taps, item % ways
        at = (image * (g.channels // g.offset_channels) + group) * taps + tap
        for q in range(pixels):
            y, x = row_of(offset, at, q, tap, g), column_of(offset, at, q, tap, g)
            total = np.float64(0)
            for channel in range(group * g.offset_channels, (group + 1) * g.offset_channels):
                plane = (image * g.channels + channel) * g.height * g.width
                head = columns[(channel * taps + tap) * pixels + q]
                if of_mask:
                    total += head * value_at(data, plane, y, x, g)
                else:
                    total += head * slope_at(data, plane, y, x, axis, g)
            if g.masked and not of_mask:
                total *= mask[at * pixels + q]
            target[(at * ways + axis) * pixels + q] = total


# --- products: weight (f, share taps) in g groups, n images of f by ``pixels`` outputs --------------


def multiply(weight, columns, out, image, f, g, length, pixels):
    """out of one image = weight . columns; the taps are added row by row."""
    for one in items(f):
        to = (image * f + one) * pixels
        for q in range(pixels):
            out[to + q] = 0
        for tap in range(length):
            value = weight[one * length + tap]
            start = (one // (f // g) * length + tap) * pixels
            for q in range(pixels):
                out[to + q] += value * columns[start + q]


def multiply_back(weight, head, columns, image, f, g, length, pixels):
    """columns = weight transposed . head, of one image."""
    for item in items(g * length):
        for q in range(pixels):
            columns[item * pixels + q] = 0
        group, tap = item // length, item % length
        for one in range(group * (f // g), (group + 1) * (f // g)):
            value = weight[one * length + tap]
            start = (image * f + one) * pixels
            for q in range(pixels):
                columns[item * pixels + q] += value * head[start + q]


def gather_weight(head, columns, d_weight, image, f, g, length, pixels):
    """d_weight of the first image, or what another one adds to it."""
    for item in items(f * length):
        one, tap = item // length, item % length
        start = (one // (f // g) * length + tap) * pixels
        total = np.float64(d_weight[item]) if image > 0 else np.float64(0)
        for q in range(pixels):
            total += head[(image * f + one) * pixels + q] * columns[start + q]
        d_weight[item] = total


SAMPLE, SAMPLE_BACK, MOVE_BACK = Loop(sample), Loop(sample_back), Loop(move_back)
MULTIPLY, MULTIPLY_BACK, GATHER_WEIGHT = Loop(multiply), Loop(multiply_back), Loop(gather_weight)
