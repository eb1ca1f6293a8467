"""How a convolution reads images without their padding: outputs by the taps that they meet.

Near the border of an image some taps lie in the padding. Outputs that read the same taps are of one *kind*: with a
kernel of 3 x 3 and a pad of 1 there are nine, the inner outputs, four edges and four corners. All outputs of a kind
have the same list of taps, so that a tile of them, of one image or several, multiplies no padding. The gradient by data
has kinds as well: with a stride, pixels of different remainders are read by different taps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from ..shared.convolution_geometry import Geometry, Triple
from .image import cartesian, readonly

Taps = tuple[tuple[int, int], ...]
"""Along one axis: the number of each tap inside the image, and how far behind the first it reads."""
Axis = dict[Taps, list[tuple[int, int]]]
"""Kinds along one axis: (output, what it reads at first) of each output."""
Read = Callable[[int], tuple[int, list[tuple[int, int]]]]
"""What an output reads along one axis: the first place, and its taps."""


class Sums(NamedTuple):
    """A convolution, or its gradient by data, as sums over the channels of a source and the taps inside it."""

    batch_size: int
    num_group: int
    ins: int
    """Channels of the source in one group."""
    size: int
    """Numbers of a channel of the source."""
    outs: int
    plane: int
    """The same of the result."""
    taps: int
    in_step: int
    out_step: int
    """From a weight to that of the next channel of the source, and of the result."""
    reads: np.ndarray
    """Kind by kind, where each output of a plane reads."""
    writes: np.ndarray
    """Which number of the plane that output is."""
    ends: np.ndarray
    """Where the outputs of each kind end."""
    moves: np.ndarray
    """Kind by kind, the offset of each tap to what an output reads; 0 for the taps outside, which come last."""
    numbers: np.ndarray
    """Which tap of the kernel that is."""
    inside: np.ndarray
    """Where the taps of each kind inside the image end."""
    outside: np.ndarray
    """Where all taps of each kind end; the same place where taps outside are not multiplied."""
    bands: np.ndarray
    """A plane of many outputs is made in bands of lines: where the kinds of each band end."""
    firsts: np.ndarray
    """The first output of each band, and the end."""
    padded: int
    """1 where there are taps outside, else 0."""
    images: int = 0
    """So many images are made together,"""
    deep: int = 0
    """from so many channels at a time,"""
    listed: int = 0
    """with lists of outputs so long."""


def _kinds(outputs: range, read: Read) -> Axis:
    kinds: Axis = {}
    for output in outputs:
        first, taps = read(output)
        kinds.setdefault(tuple(taps), []).append((output, first))
    return kinds


def _forward(out: int, size: int, k: int, stride: int, pad: int, dilate: int) -> Read:
    """Output x reads x stride - pad + j dilate."""

    def read(x: int) -> tuple[int, list[tuple[int, int]]]:
        first = x * stride - pad
        return first, [(j, j * dilate) for j in range(k) if 0 <= first + j * dilate < size]

    return read


def _back(out: int, size: int, k: int, stride: int, pad: int, dilate: int) -> Read:
    """Pixel x is read by the output (x + pad - j dilate) / stride, for each j that makes this whole."""

    def read(x: int) -> tuple[int, list[tuple[int, int]]]:
        found = [(j, *divmod(x + pad - j * dilate, stride)) for j in range(k)]
        return x // stride, [(j, y - x // stride) for j, y, rest in found if rest == 0 and 0 <= y < out]

    return read


def _by_bands(reads: list[Read], sides: Triple, most: int) -> list[list[Axis]]:
    """The kinds of each band: bands are lines, or planes where there are several, of up to ``most`` outputs."""
    banded = 0 if sides[0] > 1 else 1
    every = sides[banded]
    lines = max(1, min(every, most // prod(sides[banded + 1 :])))
    lines = -(-every // -(-every // lines))
    parts = [range(first, min(every, first + lines)) for first in range(0, every, lines)]
    return [
        [_kinds(part if axis == banded else range(sides[axis]), reads[axis]) for axis in range(3)] for part in parts
    ]


def _tables(
    bands: list[list[Axis]], source: Triple, kernel: Triple, result: Triple, *, padded: bool
) -> list[np.ndarray]:
    """``reads`` to ``firsts``."""
    by_source, by_kernel, by_result = (
        (sides[1] * sides[2], sides[2], 1) for sides in (source, kernel, result)
    )
    reads, writes, moves, numbers, lengths, inside = [], [], [], [], [], []
    kinds = [(axes, taps) for axes in bands for taps in product(*axes)]
    for axes, taps in kinds:
        pixels = [np.array(axis[one]).T for axis, one in zip(axes, taps, strict=True)]
        writes.append(cartesian(*[step * each[0] for step, each in zip(by_result, pixels, strict=True)]))
        reads.append(cartesian(*[step * each[1] for step, each in zip(by_source, pixels, strict=True)]))
        pairs = [np.array(one, np.int64).reshape(-1, 2).T for one in taps]
        here = cartesian(*[step * each[0] for step, each in zip(by_kernel, pairs, strict=True)])
        others = np.setdiff1d(np.arange(prod(kernel) if padded else 0), here)
        move = cartesian(*[step * each[1] for step, each in zip(by_source, pairs, strict=True)])
        moves.append(np.pad(move, (0, len(others))))
        numbers.append(np.concatenate([here, others]))
        lengths.append(len(numbers[-1]))
        inside.append(len(here))
    ends, outside = np.cumsum([len(each) for each in reads]), np.cumsum(lengths)
    by_band = np.cumsum([prod(map(len, axes)) for axes in bands])
    firsts = np.concatenate([[0], ends[by_band - 1]])
    flat = (np.concatenate(tables) for tables in (reads, writes, moves, numbers))
    reads, writes, moves, numbers = flat
    inside = outside - lengths + inside
    return readonly(reads, writes, ends, moves, numbers, inside, outside, by_band, firsts)  # type: ignore[arg-type]


@lru_cache(maxsize=512)
def sums_of(g: Geometry, most: int, *, back: bool = False) -> Sums:
    """The sums of a convolution, or of its gradient by data, in bands of up to ``most`` outputs.

    Forward, taps outside the image are listed too: a weight that is not finite is multiplied with the padding.
    """
    share, each, taps = g.channels // g.num_group, g.num_filter // g.num_group, prod(g.kernel)
    sides = zip(g.out, g.size, g.kernel, g.stride, g.pad, g.dilate, strict=True)
    reads = [(_back if back else _forward)(*one) for one in sides]
    if back:
        tables = _tables(_by_bands(reads, g.size, most), g.out, g.kernel, g.size, padded=False)
        numbers = each, prod(g.out), share, prod(g.size), taps, share * taps, taps
    else:
        tables = _tables(_by_bands(reads, g.out, most), g.size, g.kernel, g.out, padded=True)
        numbers = share, prod(g.size), each, prod(g.out), taps, taps, share * taps
    padded = int((tables[6] > tables[5]).any())
    return Sums(g.batch_size, g.num_group, *numbers, *tables, padded)
