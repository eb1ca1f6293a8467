"""A matrix turned round, in squares of 16 x 16 that are shuffled in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.extending import intrinsic

from ..foundation import Buffer
from ..foundation.walks import offset_of
from ..transpose import TILES
from .kernel import kernel, twin
from .simd import _FLOAT, _VECTOR, _shuffle


def turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose 16 vectors.

    Four rounds of shuffles: the first two mix rows inside every quarter of a vector, the others move quarters. CPUs do
    so faster than they gather lanes from anywhere.
    """
    quarters = [*range(4), *range(8, 12), *range(16, 20), *range(24, 28)]
    single, double = (
        [16 * (k // s % 2) + g + k // (2 * s) * s + k % s for g in range(0, 16, 4) for k in range(4)] for s in (1, 2)
    )
    for d, lanes, further in ((1, single, 2), (2, double, 2), (4, quarters, 4), (8, quarters, 4)):
        lower, upper = _shuffle(lanes), _shuffle(j + further for j in lanes)
        for i in range(16):
            if not i & d:
                first, second = rows[i], rows[i + d]
                rows[i] = builder.shuffle_vector(first, second, lower)
                rows[i + d] = builder.shuffle_vector(first, second, upper)
    return [rows[i + j] for i in range(0, 16, 4) for j in (0, 2, 1, 3)]


def _transposing(module: Any, index: Any) -> Any:
    """The function that transposes 16 x 16. A copy in every kernel that calls it would take long to compile."""
    kind = ir.FunctionType(ir.VoidType(), [_FLOAT.as_pointer(), index, _FLOAT.as_pointer(), index])
    function = cgutils.get_or_insert_function(module, kind, "refimpl.transpose_16x16")
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    builder = ir.IRBuilder(function.append_basic_block())
    source, pitch, target, to_pitch = function.args
    rows = []
    for _ in range(16):
        rows.append(builder.load(builder.bitcast(source, _VECTOR.as_pointer()), align=4))
        source = builder.gep(source, [pitch])
    for row in turned(builder, rows):
        builder.store(row, builder.bitcast(target, _VECTOR.as_pointer()), align=4)
        target = builder.gep(target, [to_pitch])
    builder.ret_void()
    return function


@intrinsic
def transpose_16x16(typing, source, start, pitch, target, to, to_pitch):
    """Transpose 16 x 16: ``target[to + j to_pitch + i] = source[start + i pitch + j]``."""
    if not source.dtype == target.dtype == types.float32:
        raise TypingError(f"float32 is transposed, not {source.dtype} and {target.dtype}")

    def build(context, builder, signature, args):
        kinds = signature.args
        read, write = (context.make_array(kinds[i])(context, builder, args[i]).data for i in (0, 3))
        function = _transposing(builder.module, args[1].type)
        builder.call(function, [builder.gep(read, [args[1]]), args[2], builder.gep(write, [args[4]]), args[5]])
        return context.get_dummy_value()

    numbers = (types.intp, types.intp)
    return types.void(source, *numbers, target, *numbers), build


@kernel
def transpose(source, start, pitch, n, m, out, to, out_pitch):
    """out[to + j out_pitch + i] = source[start + i pitch + j] for n rows and m columns."""
    for i in range(0, n - 15, 16):
        for j in range(0, m - 15, 16):
            transpose_16x16(source, start + i * pitch + j, pitch, out, to + j * out_pitch + i, out_pitch)
        for j in range(m // 16 * 16, m):
            for r in range(i, i + 16):
                out[to + j * out_pitch + r] = source[start + r * pitch + j]
    for i in range(n // 16 * 16, n):
        for j in range(m):
            out[to + j * out_pitch + i] = source[start + i * pitch + j]


@kernel
def transpose_all(source, target, sides, reads, writes, outer, count, rows, write_step, columns, read_step):
    for t in range(count):
        read, write = offset_of(t, sides, reads, outer), offset_of(t, sides, writes, outer)
        transpose(source, read, read_step, columns, rows, target, write, write_step)


@twin(TILES)
def tiles(
    source: Buffer, target: Buffer, sides: Buffer, reads: Buffer, writes: Buffer,
    outer: int, count: int, rows: int, write_step: int, columns: int, read_step: int,
) -> None:  # fmt: skip
    """``count`` matrices turned round, which lie where ``outer`` axes of ``sides`` say."""
    tables = sides.flat, reads.flat, writes.flat
    transpose_all(source.flat, target.flat, *tables, outer, count, rows, write_step, columns, read_step)
