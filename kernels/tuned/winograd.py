"""Winograd's convolution with sixteen channels in a vector, and products of points as matrix products.

Patches are transposed until the numbers of sixteen channels at one pixel are adjacent (as in ``depthwise``). The
formulas of ``shared/winograd_tiles`` are then applied to vectors, and point after point the tiles (as rows) are
multiplied with the weights (in panels), each sum in the order of channels. All results have the bits of the page.

The last sixteen of channels that are no multiple of 16 repeat some of those before, and store the same numbers again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from llvmlite import ir
from numba import config
from numba.core import types
from numba.core.codegen import get_host_cpu_features
from numba.core.extending import intrinsic

from ..foundation import Buffer, scalar
from ..shared.winograd_tiles import (
    Tiles,
    data_points,
    head_points,
    output_sums,
    weight_points,
    weight_sums,
)
from .kernel import kernel, plain, tile_for, twin, workspace
from .simd import add_tiles, fma_tile, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose, transpose_16x16

_VECTOR = ir.VectorType(ir.FloatType(), 16)
_DOUBLES = ir.VectorType(ir.DoubleType(), 16)


class _Numbers:
    """Sixteen numbers while machine code is written: formulas compute with them as if they were one."""

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder, self.value = builder, value

    def __add__(self, other: _Numbers) -> _Numbers:
        return _Numbers(self._builder, self._builder.fadd(self.value, other.value))

    def __sub__(self, other: _Numbers) -> _Numbers:
        return _Numbers(self._builder, self._builder.fsub(self.value, other.value))

    def __mul__(self, number: float) -> _Numbers:
        return _Numbers(self._builder, self._builder.fmul(self.value, ir.Constant(_DOUBLES, [number] * 16)))


def weight_grid(*weights: Any) -> Iterator[Any]:
    """The 36 points of nine weights."""
    down = [weight_points(*weights[j::3]) for j in range(3)]
    for columns in zip(*down, strict=True):
        yield from weight_points(*columns)


def gradient_grid(*points: Any) -> Iterator[Any]:
    """The gradients of nine weights from those of their 36 points."""
    down = [weight_sums(*points[j::6]) for j in range(6)]
    for columns in zip(*down, strict=True):
        yield from weight_sums(*columns)


def on_vectors(formula: Callable, count: int, *, wide: bool = False) -> Any:
    """``formula`` of ``count`` numbers for sixteen lanes: it reads vectors ``step`` apart and stores them ``apart``.

    Where ``wide``, it computes in double precision and rounds what it stores.
    """

    @intrinsic
    def apply(typing, source, start, step, target, to, apart):  # type: ignore[no-untyped-def]  # as Numba wants it
        def build(context, builder, signature, args):  # type: ignore[no-untyped-def]  # likewise
            _, start, step, _, to, apart = args
            read, write = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 3))

            def place(memory: Any, offset: Any) -> Any:
                return builder.bitcast(builder.gep(memory, [offset], inbounds=True), _VECTOR.as_pointer())

            numbers = []
            for _ in range(count):
                value = builder.load(place(read, start), align=4)
                numbers.append(_Numbers(builder, builder.fpext(value, _DOUBLES) if wide else value))
                start = builder.add(start, step)
            for number in formula(*numbers):
                value = builder.fptrunc(number.value, _VECTOR) if wide else number.value
                builder.store(value, place(write, to), align=4)
                to = builder.add(to, apart)
            return context.get_dummy_value()

        numbers = (types.intp, types.intp)
        return types.void(source, *numbers, target, *numbers), build

    return apply


points_of_pixels, sums_of_points = on_vectors(data_points, 6), on_vectors(output_sums, 6)
points_of_heads = on_vectors(head_points, 4)
points_of_weights, weights_of_points = on_vectors(weight_grid, 9, wide=True), on_vectors(gradient_grid, 36, wide=True)


class Side(NamedTuple):
    """Images whose tiles become points: the data, or the head."""

    channels: int
    height: int
    width: int
    pad_h: int
    pad_w: int
    reach: int
    """Rows that a tile reads."""
    row: int
    """Numbers of a slot."""
    pitch: int
    """Numbers from a point to the next."""


@scalar
def data_side(t: Tiles) -> Side:
    """The data of that convolution."""
    return Side(t.ins, t.height, t.width, t.pad_h, t.pad_w, 6, t.ins, t.in_pitch)


@scalar
def head_side(t: Tiles) -> Side:
    """Its head."""
    return Side(t.outs, t.out_h, t.out_w, 0, 0, 4, t.panels * t.panel, t.out_pitch)


@kernel
def fill_weights(weight, weights, t: Tiles, taps):
    """Points of the weights of sixteen outs at a time, which are brought together in ``taps`` first."""
    row, column, first, turn = t.ins * 9, 9, 0, 16
    if t.back:
        row, column, first, turn = 9, t.outs * 9, 128, -16
    for group in range(0, t.panels * t.panel, 16):
        for c in range(t.ins):
            start = group * row + c * column
            if group + 16 <= t.outs:
                transpose_16x16(weight, start, row, taps, 0, 16)
            else:
                for q in range(144):
                    taps[q] = 0
                for one in range(t.outs - group):
                    for k in range(9):
                        taps[16 * k + one] = weight[start + one * row + k]
            to = (group // t.panel * t.ins + c) * t.panel + group % t.panel
            points_of_weights(taps, first, turn, weights, to, t.panels * t.ins * t.panel)


@twin
def transform_weights(weight: Buffer, weights: Buffer, t: Tiles) -> None:
    """Points of all weights."""
    fill_weights(weight.flat, weights.flat, tuple(t), workspace("taps", 256))


def fill(source, t: Tiles, side: Side, first, lines, points, dense, columns):
    """points[point, slot, channel] of ``lines`` lines of tiles; ``columns`` holds zeros beside the image."""
    plane, pitch = side.height * side.width, (4 * t.tiles_w + 2) * 16
    for line in range(lines):
        image, top = (first + line) // t.tiles_h, (first + line) % t.tiles_h * 4 - side.pad_h
        low = max(0, top)
        high = max(low, min(side.height, top + side.reach))
        for group in range(0, side.channels, 16):
            channel = min(group, side.channels - 16)
            for q in range((low - top) * side.width * 16):
                dense[q] = 0
            for q in range((high - top) * side.width * 16, side.reach * side.width * 16):
                dense[q] = 0
            transpose(
                source, (image * side.channels + channel) * plane + low * side.width, plane, 16,
                (high - low) * side.width, dense, (low - top) * side.width * 16, 16,
            )
            for x in range(side.width):
                to = (side.pad_w + x) * 16
                formula(dense, x * 16, side.width * 16, columns, to, pitch)  # noqa: F821  # bound below
            for tile in range(t.tiles_w):
                to = (line * t.tiles_w + tile) * side.row + channel
                for i in range(6):
                    start, target = i * pitch + tile * 64, 6 * i * side.pitch + to
                    formula(columns, start, 16, points, target, side.pitch)  # noqa: F821


fill_points = kernel(fill, "pixels", formula=points_of_pixels)
fill_heads = kernel(fill, "heads", formula=points_of_heads)


@kernel
def multiply_points(points, weights, products, t: Tiles, count, rows, blocks):
    """products[point, slot, out] = the sum over channels of weights . points, for ``count`` slots."""
    width, long = 8 * len(blocks), t.panels * t.panel
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    for point in range(36):
        for panel in range(t.panels):
            start = (point * t.panels + panel) * t.ins * t.panel
            for block in range(0, min(t.panel, t.outs - panel * t.panel), width):
                for row in range(0, count, len(rows)):
                    left = ramp(row * t.ins, t.ins, (count - 1) * t.ins, rows)
                    target = ramp(row * long, long, (count - 1) * long, rows)
                    tile = zero_tile(rows, blocks)
                    for c in range(t.ins):
                        tile = fma_tile(
                            tile, points, left, point * t.in_pitch + c, weights, blocks, start + c * t.panel + block
                        )
                    store_tile(tile, products, target, blocks, point * t.out_pitch + panel * t.panel + block)


@kernel
def store_outputs(products, out, t: Tiles, first, lines, dense, columns):
    """Write ``lines`` lines of tiles of outputs."""
    plane, pitch, long = t.out_h * t.out_w, 6 * t.tiles_w * 16, t.panels * t.panel
    for line in range(lines):
        image, top = (first + line) // t.tiles_h, (first + line) % t.tiles_h * 4
        for group in range(0, t.outs, 16):
            channel = min(group, t.outs - 16)
            for tile in range(t.tiles_w):
                start = (line * t.tiles_w + tile) * long + channel
                for j in range(6):
                    sums_of_points(
                        products, j * t.out_pitch + start, 6 * t.out_pitch, columns, (6 * tile + j) * 16, pitch
                    )
            for i in range(4):  # what a tile has beyond its row is overwritten by the next row
                for tile in range(t.tiles_w):
                    sums_of_points(columns, i * pitch + tile * 96, 16, dense, (i * t.out_w + 4 * tile) * 16, 16)
            count = min(4, t.out_h - top) * t.out_w
            transpose(dense, 0, 16, count, 16, out, (image * t.outs + channel) * plane + top * t.out_w, plane)


@kernel
def convolve_lines(data, weights, out, points, products, t: Tiles, dense, columns, sums, rows, blocks):
    """As many lines of tiles at a time as there is memory for."""
    every, most = t.batch_size * t.tiles_h, t.slots // t.tiles_w
    for q in range(6 * (4 * t.tiles_w + 2) * 16):
        columns[q] = 0
    for first in range(0, every, most):
        lines = min(most, every - first)
        fill_points(data, t, data_side(t), first, lines, points, dense, columns)
        multiply_points(points, weights, products, t, lines * t.tiles_w, rows, blocks)
        store_outputs(products, out, t, first, lines, dense, sums)


@kernel
def add_products(points, heads, sums, t: Tiles, count, more, rows, blocks):
    """sums[point, channel, out] += the sum over ``count`` slots of points . heads; sums begin at 0 unless ``more``."""
    width, long = 8 * len(blocks), t.panels * t.panel
    blocks = ramp(0, 8, width, blocks)  # the same numbers, now known to the compiler
    for point in range(36):
        for column in range(0, t.outs, width):
            for row in range(0, t.ins, len(rows)):
                left = ramp(row, 1, t.ins - 1, rows)
                target = ramp((point * t.ins + row) * long, long, (point * t.ins + t.ins - 1) * long, rows)
                tile = zero_tile(rows, blocks)
                for slot in range(count):
                    tile = fma_tile(
                        tile, points, left, point * t.in_pitch + slot * t.ins,
                        heads, blocks, point * t.out_pitch + slot * long + column,
                    )
                total = zero_tile(rows, blocks)
                if more:
                    total = load_tile(sums, target, blocks, column)
                tile = add_tiles(total, tile)
                store_tile(tile, sums, target, blocks, column)


@kernel
def store_gradients(sums, d_weight, t: Tiles, taps):
    """Gradients of weights from those of their points, sixteen outs at a time."""
    long = t.panels * t.panel
    for c in range(t.ins):
        for group in range(0, t.outs, 16):
            out = min(group, t.outs - 16)
            weights_of_points(sums, c * long + out, t.ins * long, taps, 0, 16)
            for one in range(16):
                for k in range(9):
                    d_weight[((out + one) * t.ins + c) * 9 + k] = taps[16 * k + one]


@kernel
def gather_lines(head, data, d_weight, points, heads, sums, t: Tiles, dense, columns, rows, blocks):
    """Gradient by weight, one section after the other."""
    every, most = t.batch_size * t.tiles_h, t.slots // t.tiles_w
    for first in range(0, every, most):
        lines = min(most, every - first)
        for q in range(6 * (4 * t.tiles_w + 2) * 16):
            columns[q] = 0
        fill_points(data, t, data_side(t), first, lines, points, dense, columns)
        for q in range(6 * (4 * t.tiles_w + 2) * 16):
            columns[q] = 0
        fill_heads(head, t, head_side(t), first, lines, heads, dense, columns)
        add_products(points, heads, sums, t, lines * t.tiles_w, first > 0, rows, blocks)
    store_gradients(sums, d_weight, t, columns)


@twin
def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, points: Buffer, products: Buffer, t: Tiles) -> None:
    """Gradient by weight."""
    if not _fuses():
        plain("shared.winograd", "GATHER_WEIGHT", head, data, d_weight, points, products, t)
        return
    rows, blocks = tile_for(t.outs)
    gather_lines(
        head.flat, data.flat, d_weight.flat, points.flat, products.flat, workspace("sums", t.weights), tuple(t),
        workspace("dense", 96 * max(t.width, t.out_w)), workspace("columns", 96 * (4 * t.tiles_w + 2)), rows, blocks,
    )


def _fuses() -> bool:
    """Whether this CPU multiplies and adds with one rounding."""
    features = config.CPU_FEATURES
    features = (get_host_cpu_features() if features is None else features).split(",")
    return "+fma" in features or "+neon" in features


@twin
def convolve(data: Buffer, weights: Buffer, out: Buffer, points: Buffer, products: Buffer, t: Tiles) -> None:
    """Outputs from pixels and points of weights."""
    if not _fuses():
        plain("shared.winograd", "CONVOLVE", data, weights, out, points, products, t)
        return
    rows, blocks = tile_for(t.outs)
    convolve_lines(
        data.flat, weights.flat, out.flat, points.flat, products.flat, tuple(t),
        workspace("dense", 16 * max(6 * t.width, 4 * t.out_w + 4)), workspace("columns", 96 * (4 * t.tiles_w + 2)),
        workspace("sums", 384 * t.tiles_w), rows, blocks,
    )
