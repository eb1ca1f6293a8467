"""A matrix turned round, in squares of 16 x 16 that are shuffled in registers."""

from __future__ import annotations

from ..foundation import Buffer
from ..foundation.walks import offset_of
from .kernel import kernel, twin
from .simd import transpose_16x16


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


@twin
def tiles(
    source: Buffer, target: Buffer, sides: Buffer, reads: Buffer, writes: Buffer,
    outer: int, count: int, rows: int, write_step: int, columns: int, read_step: int,
) -> None:  # fmt: skip
    """``count`` matrices turned round, which lie where ``outer`` axes of ``sides`` say."""
    tables = sides.flat, reads.flat, writes.flat
    transpose_all(source.flat, target.flat, *tables, outer, count, rows, write_step, columns, read_step)
