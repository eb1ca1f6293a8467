"""Overlap of boxes and non-maximum suppression, for the pages about detection.

A box in corner form is (left, top, right, bottom); in center form (x, y, width, height). ``extent`` is 0
where corners are points, 1 where they are pixels that belong to the box.
"""

from math import inf, log, nan
from typing import NamedTuple

import numpy as np

from ..foundation import Loop, items, require, same_type, scalar
from .sorting import put_in_order


@scalar
def shared(low, high, other_low, other_high, extent):
    """Length of the intersection of two intervals; not positive where they are disjoint."""
    left = low if low > other_low else other_low
    right = high if high < other_high else other_high
    return right - left + extent


@scalar
def corners(boxes, n, i, start):
    """Left, top, right and bottom of box ``i`` of image ``n``: the columns of its row from ``start`` on."""
    return boxes[n, i, start], boxes[n, i, start + 1], boxes[n, i, start + 2], boxes[n, i, start + 3]


@scalar
def area(box, extent):
    """Area of a box (left, top, right, bottom); 0 where a side is negative."""
    left, top, right, bottom = box
    width, height = right - left + extent, bottom - top + extent
    return extent - extent if width < 0 or height < 0 else width * height


@scalar
def overlap(one, other, extent):
    """Intersection over union of two boxes (left, top, right, bottom), in their own precision."""
    left, top, right, bottom = one
    other_left, other_top, other_right, other_bottom = other
    width = shared(left, right, other_left, other_right, extent)
    height = shared(top, bottom, other_top, other_bottom, extent)
    if width <= 0 or height <= 0:
        return extent - extent
    meet = width * height
    return meet / (area(one, extent) + area(other, extent) - meet)


@scalar
def limited(coordinate, clip):
    """A coordinate, inside 0 .. 1 if ``clip`` says so."""
    return min(max(coordinate, 0.0), 1.0) if clip else coordinate


@scalar
def log_ratio(length, side):
    """Logarithm of a ratio of sides; minus infinity for 0, NaN for negative ones."""
    ratio = length / side
    if ratio > 0:
        return np.float64(log(ratio))
    return -inf if ratio == 0 else nan


# --- loops --------------------------------------------------------------------------------------


class Suppression(NamedTuple):
    """How boxes (batch, boxes, width) are read, and which of them take part."""

    coord_start: int
    """The column of left; those of top, right and bottom follow it."""
    limit: int
    """Only so many boxes of an image take part, the first in order."""
    most: int
    """The search ends when so many boxes of an image are kept."""
    inclusive: int
    """Whether an overlap of exactly the threshold suppresses a box."""


def suppress(boxes, kinds, alive, order, threshold, extent, g: Suppression):
    """Non-maximum suppression: each box that is still alive, in order, suppresses later ones of its kind.

    alive[n, box] becomes 0 where an earlier box overlaps it by more than threshold. ``order`` (batch, boxes) numbers
    the boxes of an image, the first one first.
    """
    for n in items(alive.shape[0]):
        kept = 0
        for i in range(g.limit):
            one = order[n, i]
            if alive[n, one] > 0:
                kept += 1
                box = corners(boxes, n, one, g.coord_start)
                for j in range(i + 1, g.limit if kept < g.most else 0):
                    other = order[n, j]
                    if alive[n, other] > 0 and kinds[n, one] == kinds[n, other]:
                        much = overlap(box, corners(boxes, n, other, g.coord_start), extent)
                        if much > threshold or (g.inclusive and much == threshold):
                            alive[n, other] = 0


SUPPRESS = Loop(suppress)


# --- for forward and infer ----------------------------------------------------------------------


def ranked(keys, order, other, rows, side, *, ascending=False):
    """Rank every row of ``keys`` (rows, side), the largest key first; of equal keys the lower index goes first.

    ``order`` and ``other`` are int64 buffers of the size of ``keys``; returns the buffer that holds the order.
    """
    order, other = order.reshape((rows, 1, side)), other.reshape((rows, 1, side))
    return put_in_order(keys.reshape((rows, side, 1)), order, other, ascending)


def floating(clause):
    """``infer_type`` of operators whose inputs and outputs have one floating-point type."""

    def infer_type(p, ins, outs):
        ins, outs = same_type(p, ins, outs)
        given = f"operands are {ins[0]}; only floating-point types are supported, use Cast"
        require(clause, ins[0] is None or ins[0].kind == "f", given)
        return ins, outs

    return infer_type


def nothing(make, p, heads, inputs, outputs):
    """``gradient`` of operators whose inputs all have gradient zero."""
    return [None] * len(inputs)
