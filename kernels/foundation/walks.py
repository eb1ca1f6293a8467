"""Iterating over arrays of any rank together: which axes can be joined, and where an element lies.

A walk goes over the elements of one *dense* array in C order while other arrays are read through steps of their own (0
along an axis where they are broadcast or summed). Adjacent axes that are contiguous in every array are joined, so that
most walks have one or two axes. An index over the other axes is unravelled once per row of the last axis.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from .buffer import Buffer, as_buffer
from .shapes import strides_of
from .texts import inlined, scalar

Shape = tuple[int, ...]


@lru_cache(maxsize=4096)
def integers(values: Shape, device: str) -> Buffer:
    """Return a read-only int64 buffer of ``values``, for loops over any rank."""
    return as_buffer(np.array(values or (0,), np.int64), device)


@inlined
@scalar
def offset_of(index, sides, steps, rank):
    """Where element ``index`` of a walk over ``sides`` lies in an array with these ``steps``."""
    offset = 0
    for axis in range(rank - 1, 0, -1):
        rest = index // sides[axis]
        offset += (index - rest * sides[axis]) * steps[axis]
        index = rest
    return offset + index * steps[0]  # also where rank is 0: then index is 0, and ``integers`` gives one 0


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


class RowSizes(NamedTuple):
    """``rows`` rows of ``length`` elements, numbered by ``rank`` axes.

    Along a row an array ``a`` is read in steps of ``a_step`` elements, an array ``b`` in steps of ``b_step``.
    """

    rows: int
    length: int
    rank: int
    a_step: int
    b_step: int


class Rows(NamedTuple):
    """The last arguments of a loop over rows of a dense array, with two arrays that are read through steps.

    ``sides`` and the two ``steps`` belong to the axes that number the rows.
    """

    sides: Buffer
    a_steps: Buffer
    b_steps: Buffer
    g: RowSizes

    def under(self, dense: Buffer) -> Buffer:
        """The dense array under the axes (rows, length)."""
        return dense.reshape((self.g.rows, self.g.length))


@lru_cache(maxsize=4096)
def rows_of(a_shape: Shape, b_shape: Shape, out_shape: Shape, device: str) -> Rows:
    """A walk over dense ``out_shape`` with two arrays that are broadcast to it."""
    steps = stretched(a_shape, out_shape), stretched(b_shape, out_shape)
    sides, (a, b) = joined(out_shape, *steps)
    if not sides:
        sides, a, b = (1,), (1,), (1,)
    sizes = RowSizes(rows=prod(sides[:-1]), length=sides[-1], rank=len(sides) - 1, a_step=a[-1], b_step=b[-1])
    return Rows(
        integers(sides[:-1], device), integers(a[:-1], device), integers(b[:-1], device), sizes
    )


LANES = 16
SHORTEST = 32  # a row of fewer neighbours is combined in one lane


def lanes_of(length: int, step: int, kind: np.dtype) -> int:
    """In how many lanes a row of ``length`` elements ``step`` apart is combined; see the clause reduce/sum-order."""
    return LANES if step == 1 and length >= SHORTEST and kind.kind == "f" else 1


class GroupSizes(NamedTuple):
    """``n`` groups of elements, numbered by ``kept_rank`` axes.

    Each has ``rows`` rows, numbered by ``rank`` axes, of ``length`` elements, ``step`` apart. A loop combines the
    elements c, c + ``lanes``, c + 2 ``lanes`` and so on of each row first.
    """

    n: int
    kept_rank: int
    rows: int
    rank: int
    length: int
    step: int
    lanes: int


class Reduction(NamedTuple):
    """The last arguments of a loop that makes one result of each group of elements.

    The first two buffers belong to the axes that number the groups, the other buffers to the axes that number a group's
    rows.
    """

    kept_sides: Buffer
    kept_steps: Buffer
    sides: Buffer
    steps: Buffer
    g: GroupSizes


@lru_cache(maxsize=4096)
def reduction_of(shape: Shape, kept_shape: Shape, kind: np.dtype, device: str) -> Reduction:
    """Reduce a dense ``shape`` of type ``kind`` to ``kept_shape``, which has 1 where an axis is reduced."""
    sides, (dense, kept) = joined(shape, strides_of(shape), stretched(kept_shape, shape))
    axes = range(len(sides))
    stay, go = [i for i in axes if kept[i]], [i for i in axes if not kept[i]]
    length, step = (sides[go[-1]], dense[go[-1]]) if go else (1, 1)
    sizes = GroupSizes(
        n=prod(sides[i] for i in stay), kept_rank=len(stay), rows=prod(sides[i] for i in go[:-1]), rank=len(go[:-1]),
        length=length, step=step, lanes=lanes_of(length, step, kind),
    )

    def of(axes: list[int], numbers: Shape) -> Buffer:
        return integers(tuple(numbers[i] for i in axes), device)

    return Reduction(of(stay, sides), of(stay, dense), of(go[:-1], sides), of(go[:-1], dense), sizes)
