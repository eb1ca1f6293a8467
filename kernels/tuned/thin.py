"""Matrix products that read or write a large matrix once and compute little with it: one side is short.

``gemm`` packs the right operand, which takes longer than such a product. Here it is read where it lies: in whole rows,
where it is stored row by row, else in squares that are transposed in registers. Every sum adds the same products in the
same order as there, so that the results have its bits.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..dot import PRODUCTS
from ..foundation import Buffer
from ..shared.products import PRODUCT, Product, product_of
from . import gemm
from .gemm import multiply_tiles
from .kernel import kernel, tile_for, twin, workspace
from .simd import _FLOAT, _VECTOR, _Memory, fma_tile, load_tile, ramp, store_tile, zero_tile
from .transpose import turned

SHORT = 8  # rows of the left operand, or of the right one, that are multiplied without packing
STREAMS = 16  # rows that are read side by side


@intrinsic
def fused(typing, left, right, total):
    """Return ``total + left . right``, with one rounding where the CPU has a fused multiply-add."""

    def build(context, builder, signature, args):
        kind = ir.FunctionType(_FLOAT, [_FLOAT] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.f32"), args)

    return types.float32(types.float32, types.float32, types.float32), build


@intrinsic
def multiply_square(typing, sums, n, a, a_at, a_row, a_step, b, b_at, b_step):
    """For i < n and j < 16: ``sums[16 i + j] += a[a_at + i a_row + t a_step] . b[b_at + j b_step + t]``, t below 16."""

    def build(context, builder, signature, args):
        memory = {i: _Memory(context, builder, signature.args[i], args[i]) for i in (0, 2, 6)}
        n, a_at, a_row, a_step, b_at, b_step = (args[i] for i in (1, 3, 4, 5, 7, 8))
        fuse = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fmuladd.v16f32"
        )
        rows = []
        for _ in range(16):
            rows.append(memory[6].load_row(b_at))
            b_at = builder.add(b_at, b_step)
        columns = turned(builder, rows)
        with cgutils.for_range(builder, n) as loop:
            place = builder.mul(loop.index, ir.Constant(n.type, 16))
            total, at = memory[0].load_row(place), builder.add(a_at, builder.mul(loop.index, a_row))
            for column in columns:
                total = builder.call(fuse, [memory[2].broadcast(ir.Constant(n.type, 0), at), column, total])
                at = builder.add(at, a_step)
            memory[0].store_row(place, total)
        return context.get_dummy_value()

    n = types.intp
    return types.void(sums, n, a, n, n, n, b, n, n), build


@kernel
def multiply_columns(a, b, out, g: Product, sums):
    """out = a . b for few rows of a, with b stored column by column, 16 columns or more."""
    whole = g.k // 16 * 16
    for start in range(0, g.m, 16):
        column = min(start, g.m - 16)
        for i in range(16 * g.n):
            sums[i] = 0
        for t in range(0, whole, 16):
            multiply_square(sums, g.n, a, t * g.a_step, g.a_row, g.a_step, b, column * g.b_step + t, g.b_step)
        for i in range(g.n):
            for t in range(whole, g.k):
                left = a[i * g.a_row + t * g.a_step]
                for j in range(16):
                    sums[16 * i + j] = fused(left, b[(column + j) * g.b_step + t], sums[16 * i + j])
            for j in range(16):
                out[i * g.m + column + j] = sums[16 * i + j]


@kernel
def multiply_rows(a, b, out, g: Product, rows, blocks):
    """out = a . b with b stored row by row."""
    width, height = 8 * len(blocks), len(rows)
    blocks = ramp(0, 8, 8 * len(blocks), blocks)  # the same numbers, now known to the compiler
    whole = g.m // width * width
    for row in range(0, g.n, height):
        # Rows beyond the last repeat it, and store the same values to the same place.
        left = ramp(row * g.a_row, g.a_row, (g.n - 1) * g.a_row, rows)
        target = ramp(row * g.m, g.m, (g.n - 1) * g.m, rows)
        for first in range(0, g.k, STREAMS):
            for column in range(0, whole, width):
                tile = zero_tile(rows, blocks)
                if first > 0 or g.onto:
                    tile = load_tile(out, target, blocks, column)
                for t in range(first, min(first + STREAMS, g.k)):
                    tile = fma_tile(tile, a, left, t * g.a_step, b, blocks, t * g.b_row + column)
                store_tile(tile, out, target, blocks, column)
    for i in range(g.n if whole < g.m else 0):
        for j in range(whole, g.m):
            out[i * g.m + j] = out[i * g.m + j] if g.onto else 0
        for t in range(g.k):
            left = a[i * g.a_row + t * g.a_step]
            for j in range(whole, g.m):
                out[i * g.m + j] = fused(left, b[t * g.b_row + j], out[i * g.m + j])


@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def after(array, start):
    """The elements from ``start`` on: kernels cannot say so, because their subscripts are unsigned numbers."""
    return array[start:]


@kernel
def multiply_each(a, b, out, count, g: Product, panels, edge, rows, blocks):
    """``count`` products of matrices that lie one behind another."""
    one = g.n, g.m, g.k, g.a_row, g.a_step, g.b_row, g.b_step, g.onto
    for i in range(count):
        left, right, target = after(a, i * g.n * g.k), after(b, i * g.k * g.m), after(out, i * g.n * g.m)
        multiply_tiles(left, right, target, one, 0, g.m, panels, edge, rows, blocks)


@twin(PRODUCTS)
def products(a: Buffer, b: Buffer, out: Buffer, a_turned: bool, b_turned: bool) -> None:
    """As ``dot.products``."""
    count, n, m = out.shape
    g = product_of(n, a.shape[1 if a_turned else 2], m, a_turned, b_turned)
    tile = tile_for(g.m)
    multiply_each(a.flat, b.flat, out.flat, count, tuple(g), *gemm.memory_for(g.k, g.m, tile), *tile)


@twin(PRODUCT)
def product(a: Buffer, b: Buffer, out: Buffer, g: Product) -> None:
    """out (n, m) = a . b, thin or not; k is at least 1, since calls with an empty operand run the plain loop."""
    if g.b_step == 1 and min(g.n, g.k) <= SHORT and g.m >= 64:
        rows, blocks = tile_for(g.m)
        multiply_rows(a.flat, b.flat, out.flat, tuple(g), rows[:1] if g.n <= 2 else rows, blocks)
    elif g.b_row == 1 and g.n <= SHORT and g.m >= 16 and g.k >= 16 and not g.onto:  # it makes some columns twice
        multiply_columns(a.flat, b.flat, out.flat, tuple(g), workspace("sums", 16 * SHORT))
    else:
        gemm.product(a, b, out, g)
