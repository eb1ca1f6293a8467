"""A matrix turned round, in squares of 16 x 16 that are shuffled in registers."""

from __future__ import annotations

from .kernel import kernel
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
