"""Loops that several pages share: copying, filling, multiplying, and reading whole numbers from any type.

``BLOCKS`` copies runs of contiguous elements (concatenation, splitting, slicing along one axis).
``GATHER`` reads an array of any rank through strides, ``SCATTER`` writes through them. Both go row by row
along the last axis, so that an index is unravelled once per row and not once per element.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from .buffer import Buffer
from .loop import Loop
from .texts import items, scalar
from .walks import integers, joined, offset_of

# --- whole numbers ------------------------------------------------------------------------------


@scalar
def truncated(value):
    """Return the whole part as an int64; NaN and values beyond 4e18 become a number that is never an index."""
    if value > -4e18 and value < 4e18:
        return np.int64(value)
    return np.int64(-4000000000000000000)


@scalar
def clipped(value, side):
    """Return the whole part, kept inside 0 .. side - 1; NaN counts as 0."""
    if value >= side:
        return np.int64(side - 1)
    if value > 0:
        return np.int64(value)
    return np.int64(0)


@scalar
def clipped_up(value, side):
    """Return the least whole number not below ``value``, kept inside 0 .. side - 1; NaN counts as 0."""
    below = clipped(value, side)
    return below + 1 if below < value and below < side - 1 else below


@scalar
def wrapped(value, side):
    """Return the whole part modulo ``side``, never negative."""
    return truncated(value) % np.int64(side)


# --- loops --------------------------------------------------------------------------------------


def copy(source, target, n):
    for i in items(n):
        target[i] = source[i]


def multiply(data, factors, out, n):
    for i in items(n):
        out[i] = data[i] * factors[i]


def fill(target, value, n):
    for i in items(n):
        target[i] = value


def blocks(source, target, count, length, source_start, source_step, target_start, target_step):
    """Copy ``count`` runs of ``length`` elements; starts and steps are in elements."""
    for b in items(count):
        read = source_start + b * source_step
        write = target_start + b * target_step
        for i in range(length):
            target[write + i] = source[read + i]


def blocks_cuda(source, target, count, length, source_start, source_step, target_start, target_step):
    """The same copy with one element per item."""
    for t in items(count * length):
        b = t // length
        i = t - b * length
        target[target_start + b * target_step + i] = source[source_start + b * source_step + i]


def gather(source, target, sides, steps, outer, start, rows, length, step):
    """Read dense target (rows, length) from source; the rows are numbered along ``outer`` axes of ``sides``."""
    for r in items(rows):
        read = start + offset_of(r, sides, steps, outer)
        if step == 0:
            for i in range(length):
                target[r * length + i] = source[read]
        else:
            for i in range(length):
                target[r * length + i] = source[read + i * step]


def scatter(source, target, sides, steps, outer, start, rows, length, step):
    """Write dense source (rows, length) into target, to the places that gather would read."""
    for r in items(rows):
        write = start + offset_of(r, sides, steps, outer)
        for i in range(length):
            target[write + i * step] = source[r * length + i]


COPY, FILL, MULTIPLY = Loop(copy), Loop(fill), Loop(multiply)
BLOCKS = Loop(blocks, cuda_function=blocks_cuda)
GATHER, SCATTER = Loop(gather), Loop(scatter)


# --- calling them -------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def walk(
    shape: tuple[int, ...], steps: tuple[int, ...], start: int, device: str
) -> tuple[Buffer, Buffer, int, int, int, int, int]:
    """Return the last seven arguments of GATHER and SCATTER: dense ``shape``, ``steps`` per axis of the other array.

    Adjacent axes that are contiguous with each other are joined first, and axes of one element are left out.
    """
    sides, (strides,) = joined(shape, steps)
    if not sides:
        sides, strides = (1,), (1,)
    outer = sides[:-1]
    return (
        integers(outer, device), integers(strides[:-1], device), len(outer), start, prod(outer),
        sides[-1], strides[-1],
    )


def zero(target: Buffer | None) -> None:
    """Fill with zeros, if there is a target at all."""
    if target is not None:
        FILL(target, 0, target.size)


def outer_side_inner(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """Read a shape as three axes: everything before ``axis``, the axis, everything after."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
