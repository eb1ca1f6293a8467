"""Overlap of boxes and non-maximum suppression: what the pages about detection share.

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
def area(boxes, i, extent):
    """Area of the box in corner form that begins at ``boxes[i]``; 0 where a side is negative."""
    width = boxes[i + 2] - boxes[i] + extent
    height = boxes[i + 3] - boxes[i + 1] + extent
    return extent - extent if width < 0 or height < 0 else width * height


@scalar
def overlap(boxes, i, others, j, extent):
    """Intersection over union of two boxes in corner form, in their own precision."""
    width = shared(boxes[i], boxes[i + 2], others[j], others[j + 2], extent)
    height = shared(boxes[i + 1], boxes[i + 3], others[j + 1], others[j + 3], extent)
    if width <= 0 or height <= 0:
        return extent - extent
    meet = width * height
    return meet / (area(boxes, i, extent) + area(others, j, extent) - meet)


@scalar
def log_ratio(length, side):
    """Logarithm of a ratio of sides; minus infinity for 0, NaN for negative ones."""
    ratio = length / side
    if ratio > 0:
        return np.float64(log(ratio))
    return -inf if ratio == 0 else nan


# --- loops --------------------------------------------------------------------------------------


class Suppression(NamedTuple):
    """Each image of the batch has ``boxes`` rows; the coordinates of a box begin at column ``coord_start``."""

    batch_size: int
    boxes: int
    width: int
    coord_start: int
    limit: int
    """Only so many boxes of an image take part, the first in order."""
    most: int
    """The search ends when so many boxes of an image are kept."""
    inclusive: int
    """Whether an overlap of exactly the threshold suppresses a box."""


def suppress(boxes, kinds, alive, order, threshold, extent, g: Suppression):
    """Non-maximum suppression: each box that is still alive, in order, suppresses later ones of its kind."""
    for b in items(g.batch_size):
        kept = 0
        for i in range(g.limit):
            one = b * g.boxes + order[b * g.boxes + i]
            if alive[one] > 0:
                kept += 1
                for j in range(i + 1, g.limit if kept < g.most else 0):
                    other = b * g.boxes + order[b * g.boxes + j]
                    if alive[other] > 0 and kinds[one] == kinds[other]:
                        start, other_start = one * g.width + g.coord_start, other * g.width + g.coord_start
                        much = overlap(boxes, start, boxes, other_start, extent)
                        if much > threshold or (g.inclusive and much == threshold):
                            alive[other] = 0


SUPPRESS = Loop(suppress)


# --- for forward and infer ----------------------------------------------------------------------


def ranked(keys, order, other, rows, side, *, ascending=False):
    """Rank every row of ``keys`` (rows, side), the largest first; of equals the lower index goes first.

    ``order`` and ``other`` are int64 buffers of that size; returns the one that holds the order.
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
