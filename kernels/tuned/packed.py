"""Matrix products with one right operand, which is packed once: a recurrent layer multiplies it at every step.

The packed form holds all panels of the operand (see ``gemm``) one after another, each as deep as the matrix, so that
every tile is stored once.
"""

from __future__ import annotations

from ..foundation import Buffer
from ..shared.products import BY_KEPT, KEEP, Product
from .gemm import fill_panel, store_inside
from .kernel import kernel, tiled, twin, workspace
from .simd import fma_tile, ramp, store_tile, zero_tile


@kernel
def multiply_packed(a, packed, out, g: Product, start, end, edge, rows, blocks):
    """out = a . b for columns from ``start`` to before ``end``; ``edge`` holds a tile wider than the columns
    that are left, ``rows`` its height.
    """
    width, height = 8 * len(blocks), len(rows)
    lines = ramp(0, width, height * width, rows)
    blocks = ramp(0, 8, 8 * len(blocks), blocks)  # the same numbers, now known to the compiler
    for column in range(start, end, width):
        columns = min(width, end - column)
        for row in range(0, g.n, height):
            # Rows beyond the last repeat it, and store the same values to the same place.
            left = ramp(row * g.a_row, g.a_row, (g.n - 1) * g.a_row, rows)
            tile = zero_tile(rows, blocks)
            for t in range(g.k):
                tile = fma_tile(tile, a, left, t * g.a_step, packed, blocks, column * g.k + t * width)
            if columns == width:
                store_tile(tile, out, ramp(row * g.m, g.m, (g.n - 1) * g.m, rows), blocks, column)
            else:
                store_tile(tile, edge, lines, blocks, 0)
                store_inside(edge, width, out, row * g.m + column, g.m, min(height, g.n - row), columns)


@twin(KEEP)
def pack(b: Buffer, packed: Buffer, k: int, m: int, b_row: int, b_step: int) -> None:
    """Pack b (k, m), with b[t, j] at ``t b_row + j b_step``, into panels."""
    for start, end, (_, blocks) in tiled(m):
        width = 8 * len(blocks)
        for column in range(start, end, width):
            columns, panel = min(width, end - column), column * k
            fill_panel(b.flat, column * b_step, b_row, b_step, k, columns, width, packed.flat, panel)


@twin(BY_KEPT)
def product(a: Buffer, packed: Buffer, out: Buffer, n: int, m: int, k: int, a_row: int, a_step: int) -> None:
    """out (n, m) = a . b, with a[i, t] at ``i a_row + t a_step`` and b packed."""
    g = Product(n, m, k, a_row, a_step, 0, 0)  # b has no steps
    for start, end, (rows, blocks) in tiled(m):
        edge = workspace("edge", 8 * len(blocks) * len(rows))
        multiply_packed(a.flat, packed.flat, out.flat, tuple(g), start, end, edge, rows, blocks)
