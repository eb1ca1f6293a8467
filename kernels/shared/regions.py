"""Bilinear sampling of feature maps, and regions of interest, for the pages about regions."""

from typing import Annotated

import numpy as np

from ..foundation import AtLeast, AtMost, agree, require, require_some, scalar
from ..foundation.loops import clipped, truncated
from ..foundation.texts import inlined

Fraction = Annotated[float, AtLeast(0), AtMost(1)]
MOST_POINTS = 2**10
Points = Annotated[int, AtMost(MOST_POINTS)]  # along a side of a bin
WHOLE = 2.0**52  # doubles of this size and more are whole numbers


@scalar
def rounded(value):
    """Round halves away from zero; NaN and infinities stay as they are."""
    half = 0.5 if value >= 0 else -0.5
    return np.float64(truncated(value + half)) if abs(value) < WHOLE else np.float64(value)


@scalar
def image_of(value, batch):
    """The image of a region, the whole part of its number; -1 where the batch has no image of this number."""
    if value > -1 and value < batch:
        return np.int64(value)
    return np.int64(-1)


@scalar
def lower(at, side):
    """The pixel at or before ``at``, inside 0 .. side - 1."""
    return clipped(at, side)


@scalar
def share(at, side):
    """The fraction of the way from the pixel before ``at`` to the next one; 0 at and beyond the edges."""
    low = lower(at, side)
    return at - low if at > 0 and low < side - 1 else at * 0


@scalar
def reached(at, side):
    """Whether ``at`` lies in the map or within a pixel of it."""
    return at >= -1 and at <= side


@scalar
def first_point(low, start, step, count):
    """An index before which all points start + (i + 0.5) step are below ``low``; 0 where step is not positive."""
    return clipped((low - start) / step - 2, count + 1) if step > 0 else np.int64(0)


@scalar
def end_point(high, start, step, count):
    """An index from which on all these points are above ``high``; ``count`` where step is not positive."""
    return clipped((high - start) / step + 2, count + 1) if step > 0 else np.int64(count)


@inlined
@scalar
def between(data, n, c, y, x):
    """Bilinear value at (y, x) of a map of data (batch, channels, height, width); 0 more than a pixel outside."""
    high, wide = data.shape[2], data.shape[3]
    if not (reached(y, high) and reached(x, wide)):
        return 0.0
    top, left, down, right = lower(y, high), lower(x, wide), share(y, high), share(x, wide)
    bottom, after = min(top + 1, high - 1), min(left + 1, wide - 1)
    upper = (1 - right) * data[n, c, top, left] + right * data[n, c, top, after]
    under = (1 - right) * data[n, c, bottom, left] + right * data[n, c, bottom, after]
    return (1 - down) * upper + down * under


@inlined
@scalar
def spread(target, n, c, y, x, amount):
    """Add ``amount`` to the four pixels that ``between`` reads, in proportion to their weights."""
    high, wide = target.shape[2], target.shape[3]
    if reached(y, high) and reached(x, wide):
        top, left, down, right = lower(y, high), lower(x, wide), share(y, high), share(x, wide)
        bottom, after = min(top + 1, high - 1), min(left + 1, wide - 1)
        target[n, c, top, left] += amount * (1 - down) * (1 - right)
        target[n, c, top, after] += amount * (1 - down) * right
        target[n, c, bottom, left] += amount * down * (1 - right)
        target[n, c, bottom, after] += amount * down * right


def checked_regions(clause, data, rois, numbers):
    """Refuse data that is no batch of images, and regions that are not rows of ``numbers`` numbers."""
    require(
        clause, data is None or len(data) == 4,
        f"data has shape {data}; give (batch, channels, height, width)",
    )
    require(
        clause, rois is None or (len(rois) == 2 and agree(rois[1], numbers)),
        f"rois has shape {rois}; give (regions, {numbers})",
    )
    if data is not None:
        require_some(f"data of shape {list(data)}", data[0] * data[2] * data[3], rois)
