"""Iterating over arrays of any rank together: which axes can be joined, and where an element lies.

A walk goes over the elements of one *dense* array in C order while others are read through steps of their
own (0 along an axis where they are broadcast or summed). Adjacent axes that are contiguous in every array are
joined, so that most walks have one or two axes. An index over the other axes is unravelled once per row of the
last axis.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from .buffer import Buffer, as_buffer
from .loop import scalar
from .shapes import strides_of

Shape = tuple[int, ...]


@lru_cache(maxsize=4096)
def integers(values: Shape, device: str) -> Buffer:
    """Return a read-only int64 buffer of ``values``, for loops over any rank."""
    return as_buffer(np.array(values or (0,), np.int64), device)


@scalar
def offset_of(index, sides, steps, rank):
    """Where element ``index`` of a walk over ``sides`` lies in an array with these ``steps``."""
    offset = 0
    for axis in range(rank - 1, -1, -1):
        rest = index // sides[axis]
        offset += (index - rest * sides[axis]) * steps[axis]
        index = rest
    return offset


def joined(shape: Shape, *steps: Shape) -> tuple[Shape, tuple[Shape, ...]]:
    """Leave out axes of one element and join adjacent axes that are contiguous in every array."""
    sides: list[int] = []
    kept: list[list[int]] = [[] for _ in steps]
    for axis, side in enumerate(shape):
        here = [each[axis] for each in steps]
        if side == 1:
            continue
        if sides and all(k[-1] == side * step for k, step in zip(kept, here, strict=True)):
            sides[-1] *= side
            for k, step in zip(kept, here, strict=True):
                k[-1] = step
        else:
            sides.append(side)
            for k, step in zip(kept, here, strict=True):
                k.append(step)
    return tuple(sides), tuple(tuple(k) for k in kept)


def stretched(shape: Shape, to: Shape) -> Shape:
    """Steps, along the axes of ``to``, of a dense array of ``shape`` that is broadcast to it."""
    padded = (1,) * (len(to) - len(shape)) + tuple(shape)
    return tuple(
        0 if side == 1 else step for side, step in zip(padded, strides_of(padded), strict=True)
    )


class Rows(NamedTuple):
    """The last arguments of a loop over rows with two arrays read through steps."""

    rows: int
    length: int
    rank: int
    sides: Buffer
    a_steps: Buffer
    b_steps: Buffer
    a_step: int
    b_step: int


@lru_cache(maxsize=4096)
def rows_of(a_shape: Shape, b_shape: Shape, out_shape: Shape, device: str) -> Rows:
    """A walk over dense ``out_shape`` with two arrays that are broadcast to it."""
    steps = stretched(a_shape, out_shape), stretched(b_shape, out_shape)
    sides, (a, b) = joined(out_shape, *steps)
    if not sides:
        sides, a, b = (1,), (1,), (1,)
    return Rows(
        prod(sides[:-1]), sides[-1], len(sides) - 1, integers(sides[:-1], device),
        integers(a[:-1], device), integers(b[:-1], device), a[-1], b[-1],
    )


class Reduction(NamedTuple):
    """The last arguments of a loop that reads, for each of ``n`` results, ``rows`` rows of ``length``."""

    n: int
    kept_rank: int
    kept_sides: Buffer
    kept_steps: Buffer
    rows: int
    length: int
    rank: int
    sides: Buffer
    steps: Buffer
    step: int


@lru_cache(maxsize=4096)
def reduction_of(shape: Shape, kept_shape: Shape, device: str) -> Reduction:
    """Reduce a dense ``shape`` to ``kept_shape``, which has 1 where an axis is reduced (or lacks it)."""
    sides, (dense, kept) = joined(shape, strides_of(shape), stretched(kept_shape, shape))
    axes = range(len(sides))
    stay, go = [i for i in axes if kept[i]], [i for i in axes if not kept[i]]
    last = go[-1] if go else None
    return Reduction(
        prod(sides[i] for i in stay), len(stay), integers(tuple(sides[i] for i in stay), device),
        integers(tuple(dense[i] for i in stay), device), prod(sides[i] for i in go[:-1]),
        1 if last is None else sides[last], len(go[:-1]),
        integers(tuple(sides[i] for i in go[:-1]), device),
        integers(tuple(dense[i] for i in go[:-1]), device), 1 if last is None else dense[last],
    )
