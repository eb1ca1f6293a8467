"""Columns of deformable convolution: the values that every tap of the kernel reads, and their gradients; see the page.

data is (batch, channels, height, width), columns (channels, kernel_h, kernel_w, out_h, out_w) of one image. Channels
that move together are a group: offset is (batch, groups, kernel_h, kernel_w, 2, out_h, out_w), first along y, and mask
(batch, groups, kernel_h, kernel_w, out_h, out_w).
"""

from math import floor
from typing import NamedTuple

import numpy as np

from ..foundation import Loop, items, scalar, steps


class Geometry(NamedTuple):
    """How the kernel lies on an image."""

    offset_channels: int
    """How many channels share their offsets."""
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
    """Whether a point lies where the map may have a value other than 0."""
    return at > -1 and at < side and (at >= 0 or not edges)


@scalar
def constant(at, side, edges):
    """Whether the value does not change from here on."""
    return edges and at >= side - 1


@scalar
def pixel(data, n, c, y, x):
    """The pixel, 0 outside the map."""
    if y < 0 or x < 0 or y >= data.shape[2] or x >= data.shape[3]:
        return 0.0
    return np.float64(data[n, c, y, x])


@scalar
def value_at(data, n, c, y, x, edges):
    """Bilinear value between four pixels."""
    high, wide = data.shape[2], data.shape[3]
    if not (inside(y, high, edges) and inside(x, wide, edges)):
        return 0.0
    top, left = np.int64(floor(y)), np.int64(floor(x))
    down = 0.0 if constant(y, high, edges) else y - top
    right = 0.0 if constant(x, wide, edges) else x - left
    upper = (1 - right) * pixel(data, n, c, top, left)
    upper += right * pixel(data, n, c, top, left + 1)
    under = (1 - right) * pixel(data, n, c, top + 1, left)
    under += right * pixel(data, n, c, top + 1, left + 1)
    return (1 - down) * upper + down * under


@scalar
def slope_at(data, n, c, y, x, axis, edges):
    """How the value changes along y (axis 0) or x (axis 1), to the right of a kink."""
    high, wide = data.shape[2], data.shape[3]
    if not (inside(y, high, edges) and inside(x, wide, edges)):
        return 0.0
    if constant(x if axis else y, wide if axis else high, edges):
        return 0.0
    top, left = np.int64(floor(y)), np.int64(floor(x))
    down = 0.0 if constant(y, high, edges) else y - top
    right = 0.0 if constant(x, wide, edges) else x - left
    first = pixel(data, n, c, top, left)
    last = pixel(data, n, c, top + 1, left + 1)
    beside = pixel(data, n, c, top, left + 1)
    below = pixel(data, n, c, top + 1, left)
    if axis:
        return (1 - down) * (beside - first) + down * (last - below)
    return (1 - right) * (below - first) + right * (last - beside)


@scalar
def row_of(offset, n, group, i, j, y, x, g):
    """Where tap (i, j) reads for output (y, x), along y."""
    start = y * g.stride_h - g.pad_h + i * g.dilate_h
    return start + np.float64(offset[n, group, i, j, 0, y, x])


@scalar
def column_of(offset, n, group, i, j, y, x, g):
    """Where tap (i, j) reads for output (y, x), along x."""
    start = x * g.stride_w - g.pad_w + j * g.dilate_w
    return start + np.float64(offset[n, group, i, j, 1, y, x])


def sample(data, offset, mask, columns, n, g: Geometry):
    """columns[c, i, j, y, x] = data[n, c] at the point that tap (i, j) reads for output (y, x), times its mask."""
    for c, i, j in items(columns.shape[:3]):
        group = c // g.offset_channels
        for y, x in steps(columns.shape[3:]):
            row, column = row_of(offset, n, group, i, j, y, x, g), column_of(offset, n, group, i, j, y, x, g)
            value = value_at(data, n, c, row, column, g.edges)
            columns[c, i, j, y, x] = value * mask[n, group, i, j, y, x] if g.masked else value


def sample_back(columns, offset, mask, d_data, n, g: Geometry):
    """d_data[n] = the gradients of its columns, spread to the four pixels around each point; an item is a channel."""
    high, wide = d_data.shape[2], d_data.shape[3]
    for c in items(d_data.shape[1]):
        group = c // g.offset_channels
        for row, column in steps(d_data.shape[2:]):
            d_data[n, c, row, column] = 0
        for i, j, y, x in steps(columns.shape[1:]):
            row, column = row_of(offset, n, group, i, j, y, x, g), column_of(offset, n, group, i, j, y, x, g)
            if inside(row, high, g.edges) and inside(column, wide, g.edges):
                head = columns[c, i, j, y, x]
                amount = np.float64(head * mask[n, group, i, j, y, x] if g.masked else head)
                top, left = np.int64(floor(row)), np.int64(floor(column))
                down = 0.0 if constant(row, high, g.edges) else row - top
                right = 0.0 if constant(column, wide, g.edges) else column - left
                for below, beside in steps((2, 2)):
                    part = (down if below else 1 - down) * (right if beside else 1 - right)
                    if 0 <= top + below < high and 0 <= left + beside < wide:
                        d_data[n, c, top + below, left + beside] += amount * part


def move_back(columns, data, offset, mask, d_offset, n, g: Geometry):
    """d_offset[n, group, i, j, axis, y, x] = sum over the group's channels of columns . slope at the point."""
    for group, i, j, axis in items(d_offset.shape[1:5]):
        for y, x in steps(d_offset.shape[5:]):
            row, column = row_of(offset, n, group, i, j, y, x, g), column_of(offset, n, group, i, j, y, x, g)
            total = np.float64(0)
            for c in range(group * g.offset_channels, (group + 1) * g.offset_channels):
                total += columns[c, i, j, y, x] * slope_at(data, n, c, row, column, axis, g.edges)
            if g.masked:
                total *= mask[n, group, i, j, y, x]
            d_offset[n, group, i, j, axis, y, x] = total


def mask_back(columns, data, offset, d_mask, n, g: Geometry):
    """d_mask[n, group, i, j, y, x] = sum over the group's channels of columns . value at the point."""
    for group, i, j in items(d_mask.shape[1:4]):
        for y, x in steps(d_mask.shape[4:]):
            row, column = row_of(offset, n, group, i, j, y, x, g), column_of(offset, n, group, i, j, y, x, g)
            total = np.float64(0)
            for c in range(group * g.offset_channels, (group + 1) * g.offset_channels):
                total += columns[c, i, j, y, x] * value_at(data, n, c, row, column, g.edges)
            d_mask[n, group, i, j, y, x] = total


# --- products: weight (groups, filters, taps), columns (groups, taps, pixels), out (n, groups, filters, pixels) -----


def multiply(weight, columns, out, n):
    """out[n, k, f, q] = sum over t of weight[k, f, t] . columns[k, t, q]; the taps are added row by row."""
    for k, f in items(weight.shape[:2]):
        for q in range(out.shape[3]):
            out[n, k, f, q] = 0
        for t in range(weight.shape[2]):
            value = weight[k, f, t]
            for q in range(out.shape[3]):
                out[n, k, f, q] += value * columns[k, t, q]


def multiply_back(weight, head, columns, n):
    """columns[k, t, q] = sum over f of weight[k, f, t] . head[n, k, f, q]."""
    for k, t in items(columns.shape[:2]):
        for q in range(columns.shape[2]):
            columns[k, t, q] = 0
        for f in range(weight.shape[1]):
            value = weight[k, f, t]
            for q in range(columns.shape[2]):
                columns[k, t, q] += value * head[n, k, f, q]


def gather_weight(head, columns, d_weight, n):
    """d_weight[k, f, t] = sum over q of head[n, k, f, q] . columns[k, t, q]; images after the first add theirs."""
    for k, f, t in items(d_weight.shape):
        total = np.float64(d_weight[k, f, t]) if n > 0 else np.float64(0)
        for q in range(columns.shape[2]):
            total += head[n, k, f, q] * columns[k, t, q]
        d_weight[k, f, t] = total


SAMPLE, SAMPLE_BACK, MOVE_BACK, MASK_BACK = Loop(sample), Loop(sample_back), Loop(move_back), Loop(mask_back)
MULTIPLY, MULTIPLY_BACK, GATHER_WEIGHT = Loop(multiply), Loop(multiply_back), Loop(gather_weight)
