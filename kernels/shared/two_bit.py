"""Loops of 2-bit gradient compression: three values, +t, 0 and -t, sixteen of them in a word of 32 bits.

No operator is registered here: `refimpl.kvstore.compression` calls the loops.

[two-bit/layout] values 4k to 4k + 3 of a word are its byte k, counted from the lowest; the first of the four is the
    upper two bits. 11 is +t, 10 is -t, 00 and 01 are 0. So it is in the memory of MXNet 1.9.1 on x86.
    >>> import numpy as np
    >>> from refimpl.kernels.foundation import as_buffer
    >>> from refimpl.kernels.shared.two_bit import decode, encode
    >>> gradient = as_buffer(np.array([1, -1, 0, 0, 0, 0, 0, 1], np.float32))
    >>> packed, left = encode(gradient, as_buffer(np.zeros(8, np.float32)), 1.0)
    >>> [f"{word:032b}" for word in packed.to_numpy().tolist()]
    ['00000000000000000000001111100000']
    >>> decode(packed, 1.0, (8,), np.float32).to_numpy().tolist()
    [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
"""

from __future__ import annotations

import numpy as np

from ..foundation import Buffer, Loop, Shape, allocate, decides, items

WORD = np.dtype(np.uint32)
PER_WORD = 16  # values in a word

# --- loops --------------------------------------------------------------------------------------


@decides("two-bit/layout")
def quantise(gradient, residual, left, packed, threshold, n, words):
    """packed[w] = the codes of values 16w to 16w + 15; left = residual + gradient - the values of the codes."""
    for w in items(words):
        word = 0
        for k in range(min(16, n - 16 * w)):
            i = 16 * w + k
            waiting = residual[i] + gradient[i]
            shift = 8 * (k // 4) + 6 - 2 * (k % 4)
            if waiting >= threshold:
                word |= 3 << shift
                waiting -= threshold
            elif waiting <= -threshold:
                word |= 2 << shift
                waiting += threshold
            left[i] = waiting
        packed[w] = word


@decides("two-bit/layout")
def unpack(out, packed, threshold, n):
    for i in items(n):
        k = i % 16
        code = (packed[i // 16] >> (8 * (k // 4) + 6 - 2 * (k % 4))) & 3
        out[i] = 0
        if code == 3:
            out[i] = threshold
        elif code == 2:
            out[i] = -threshold


QUANTISE, UNPACK = Loop(quantise), Loop(unpack)

# --- calls --------------------------------------------------------------------------------------


def encode(gradient: Buffer, residual: Buffer, threshold: float) -> tuple[Buffer, Buffer]:
    """The codes of ``residual + gradient``, packed, and the new residual; both inputs are floats of one type."""
    words = -(-gradient.size // PER_WORD)
    left = allocate(gradient.shape, gradient.dtype, gradient.device)
    packed = allocate((words,), WORD, gradient.device)
    QUANTISE(gradient, residual, left, packed, float(threshold), gradient.size, words)
    return packed, left


def decode(packed: Buffer, threshold: float, shape: Shape, dtype: np.dtype) -> Buffer:
    """The values of packed words, as an array of ``shape``."""
    out = allocate(shape, np.dtype(dtype), packed.device)
    UNPACK(out, packed, float(threshold), out.size)
    return out
