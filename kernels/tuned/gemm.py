"""The matrix product, tile by tile.

The right operand is packed, ``DEPTH`` rows at a time, into panels: one tile's width of columns each, in which a
tile's blocks are contiguous. ``PANELS`` of them stay in the second cache while all rows of the left operand are
multiplied with them, so packing pays off from a few rows on; the rows of one tile stay in the first cache meanwhile.
Where ``k`` exceeds ``DEPTH``, the tile is loaded again for the next panels and accumulation continues, so that every
sum still adds its products in increasing k.
"""

from __future__ import annotations

from typing import Any

from ..foundation import Buffer
from ..shared.products import Product
from .kernel import Tuples, kernel, tiled, workspace
from .simd import copy_16, fma_tile, load_tile, ramp, store_tile, zero_tile
from .transpose import transpose_16x16

DEPTH, PANELS = 384, 8  # panels of 32 columns then fill 384 KiB


@kernel
def fill_panel(b, start, b_row, b_step, depth, columns, width, panel, to):
    """panel[to + t width + j] = b[start + t b_row + j b_step] for ``columns`` columns, then zeros up to ``width``."""
    done = 0
    if b_step == 1:
        done = columns // 16 * 16
        for j in range(0, done, 16):
            for t in range(depth):
                copy_16(b, start + t * b_row + j, panel, to + t * width + j)
    elif b_row == 1:
        for j in range(0, columns - 15, 16):
            for t in range(0, depth - 15, 16):
                transpose_16x16(b, start + t + j * b_step, b_step, panel, to + t * width + j, width)
            for t in range(depth // 16 * 16, depth):
                for i in range(j, j + 16):
                    panel[to + t * width + i] = b[start + t + i * b_step]
            done = j + 16
    for t in range(depth):
        for j in range(done, columns):
            panel[to + t * width + j] = b[start + t * b_row + j * b_step]
        for j in range(columns, width):
            panel[to + t * width + j] = 0


@kernel
def store_inside(edge, width, out, start, m, height, columns):
    """Store the part of a tile that lies inside ``out``, from ``start`` on; rows of ``out`` are ``m`` long."""
    for i in range(height):
        for j in range(columns):
            out[start + i * m + j] = edge[i * width + j]


@kernel
def multiply_tiles(a, b, out, g: Product, start, end, panels, edge, rows, blocks):
    """out = a . b for columns from ``start`` to before ``end``; ``edge`` holds a tile wider than the columns that are
    left, ``rows`` its height.
    """
    width, height = 8 * len(blocks), len(rows)
    lines = ramp(0, width, height * width, rows)
    blocks = ramp(0, 8, 8 * len(blocks), blocks)  # the same numbers, now known to the compiler
    for first in range(0, g.k, DEPTH):
        depth = min(DEPTH, g.k - first)
        for begin in range(start, end, PANELS * width):
            stop = min(end, begin + PANELS * width)
            for column in range(begin, stop, width):
                corner, to = first * g.b_row + column * g.b_step, (column - begin) * depth
                fill_panel(b, corner, g.b_row, g.b_step, depth, min(width, end - column), width, panels, to)
            for row in range(0, g.n, height):
                # Rows beyond the last repeat it, and store the same values to the same place.
                left = ramp(row * g.a_row, g.a_row, (g.n - 1) * g.a_row, rows)
                target = ramp(row * g.m, g.m, (g.n - 1) * g.m, rows)
                inside = min(height, g.n - row)
                for column in range(begin, stop, width):
                    columns, panel = min(width, end - column), (column - begin) * depth
                    tile = zero_tile(rows, blocks)
                    if first > 0 or g.onto:
                        if columns == width:
                            tile = load_tile(out, target, blocks, column)
                        else:
                            for i in range(inside):
                                for j in range(columns):
                                    edge[i * width + j] = out[(row + i) * g.m + column + j]
                            tile = load_tile(edge, lines, blocks, 0)
                    for t in range(depth):
                        tile = fma_tile(tile, a, left, (first + t) * g.a_step, panels, blocks, panel + t * width)
                    if columns == width:
                        store_tile(tile, out, target, blocks, column)
                    else:
                        store_tile(tile, edge, lines, blocks, 0)
                        store_inside(edge, width, out, row * g.m + column, g.m, inside, columns)


def memory_for(k: int, columns: int, tile: Tuples) -> tuple[Any, Any]:
    """``panels`` and ``edge`` of ``multiply_tiles``."""
    width = 8 * len(tile[1])
    size = min(k, DEPTH) * width * min(PANELS, -(-columns // width))
    return workspace("panels", size), workspace("edge", len(tile[0]) * width)


def product(a: Buffer, b: Buffer, out: Buffer, g: Product) -> None:
    """out (n, m) = a . b."""
    for start, end, tile in tiled(g.m):
        memory = memory_for(g.k, end - start, tile)
        multiply_tiles(a.flat, b.flat, out.flat, tuple(g), start, end, *memory, *tile)
