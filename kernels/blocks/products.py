"""The product of two matrices by tiles: a block makes SIDE x SIDE elements of the result.

It reads SIDE x SIDE elements of either matrix into the memory that its threads share, adds their products, and goes on
to the next ones: each element is read once for SIDE results. Each thread adds the products of its result in the
page's order.
"""

from collections.abc import Sequence
from typing import Any

from ..foundation.blocks import BlockTwin
from ..foundation.devices import SIMULATED
from ..foundation.later import cuda
from ..shared.products import PRODUCT, Product

SIDE = 2 if SIMULATED else 16
ROW = SIDE + 1  # so that threads that write one below the other do not wait for the same bank of memory
TILE = SIDE * ROW


def product(a, b, out, g: Product):
    """As ``products.product``."""
    tile = cuda.shared.array(0, a.dtype)  # first a's, then b's
    y, x = cuda.threadIdx.x // SIDE, cuda.threadIdx.x % SIDE
    a_y, a_x = (y, x) if g.a_step == 1 else (x, y)  # neighbouring threads read neighbours in memory
    b_y, b_x = (y, x) if g.b_step == 1 else (x, y)
    across = (g.m + SIDE - 1) // SIDE
    for piece in range(cuda.blockIdx.x, across * ((g.n + SIDE - 1) // SIDE), cuda.gridDim.x):
        top, left = piece // across * SIDE, piece % across * SIDE
        at, inside = (top + y) * g.m + left + x, top + y < g.n and left + x < g.m
        total = a.dtype.type(0)
        if g.onto and inside:
            total = out[at]
        for first in range(0, g.k, SIDE):
            if top + a_y < g.n and first + a_x < g.k:
                tile[a_y * ROW + a_x] = a[(top + a_y) * g.a_row + (first + a_x) * g.a_step]
            if first + b_y < g.k and left + b_x < g.m:
                tile[TILE + b_y * ROW + b_x] = b[(first + b_y) * g.b_row + (left + b_x) * g.b_step]
            cuda.syncthreads()
            for t in range(min(SIDE, g.k - first)):
                total += tile[y * ROW + t] * tile[TILE + t * ROW + x]
            cuda.syncthreads()
        if inside:
            out[at] = total


def pieces(args: Sequence[Any]) -> int:
    g = args[3]
    return -(-g.n // SIDE) * -(-g.m // SIDE)


PRODUCT.use_blocks(BlockTwin(product, pieces, threads=SIDE * SIDE, shared=2 * TILE))
