"""Draws from Mersenne Twisters and normal numbers made of them: number for number those of ``shared/random_streams``.

The loops of the page handle one word at a time. Here each step runs over many: the next 624 words of an engine, their
tempering, and the pairs of Marsaglia's method. A number takes a pair or more, so the pairs for all numbers that are
still missing are drawn at once, and those that are refused are made up for in the next round. Only the logarithm is
taken one by one, because its last bit is the C library's.
"""

from __future__ import annotations

import math

import numpy as np

from ..foundation import Buffer
from ..random import NORMAL
from ..shared.random_streams import TAKE
from .elementary import inlined
from .kernel import kernel, twin, workspace

F, U, P = np.float32, np.uint32, np.uintp
WORDS, SHIFT, ONLY_SEED = P(624), P(397), U(625)
ROW, BACK, LAST = P(625), P(227), P(623)
TOP_BIT, LOW_BITS, MIXED = U(0x80000000), U(0x7FFFFFFF), U(0x9908B0DF)
ONE, PAIR, SMALLEST_STEP, BELOW_ONE = P(1), P(2), F(2.0**-32), F(1 - 2**-24)
UNIT, DOUBLED, MINUS_TWO, NOTHING = F(1), F(2), F(-2), F(0)
LOWEST, SEVEN, ELEVEN, FIFTEEN, EIGHTEEN = U(1), U(7), U(11), U(15), U(18)
MASK_7, MASK_15 = U(0x9D2C5680), U(0xEFC60000)


@inlined
def mixed(word, after, far):
    both = U((word & TOP_BIT) | (after & LOW_BITS))
    return U(far ^ U(both >> LOWEST) ^ U(U(both & LOWEST) * MIXED))


@inlined
def refill(state, row):
    """The next 624 words of an engine."""
    if state[row + WORDS] == ONLY_SEED:
        word = np.int64(state[row])
        for k in range(1, 624):
            word = (1812433253 * (word ^ (word >> 30)) + k) & 0xFFFFFFFF
            state[row + P(k)] = word
    for k in range(row, row + BACK):
        state[k] = mixed(state[k], state[k + ONE], state[k + SHIFT])
    for k in range(row + BACK, row + LAST):
        state[k] = mixed(state[k], state[k + ONE], state[k - BACK])
    state[row + LAST] = mixed(state[row + LAST], state[row], state[row + LAST - BACK])
    state[row + WORDS] = 0


@inlined
def take(words, first, end, state, row):
    """The next draws of an engine."""
    i = first
    while i < end:
        if state[row + WORDS] >= WORDS:
            refill(state, row)
        position = P(state[row + WORDS])
        count = min(end - i, WORDS - position)
        for k in range(count):
            word = U(state[row + position + k])
            word ^= U(word >> ELEVEN)
            word ^= U(U(word << SEVEN) & MASK_7)
            word ^= U(U(word << FIFTEEN) & MASK_15)
            words[i + k] = U(word ^ U(word >> EIGHTEEN))
        state[row + WORDS] = position + count
        i += count


@kernel
def fill_draws(words, state, n, engines, share):
    for j in range(engines):
        take(words, P(j * share), P(min(j * share + share, n)), state, P(j) * ROW)


@inlined
def symmetric(word):
    """Twice the unit number of a draw, less 1."""
    return DOUBLED * min(F(word) * SMALLEST_STEP, BELOW_ONE) - UNIT


@kernel
def fill_normal(out, state, words, heights, radii, n, engines, share, scale, loc):
    for j in range(engines):
        missing, at = P(max(min(share, n - j * share), 0)), P(j * share)
        while missing > 0:
            take(words, P(0), missing * PAIR, state, P(j) * ROW)
            for k in range(missing):
                x, y = symmetric(words[k * PAIR]), symmetric(words[k * PAIR + ONE])
                heights[k] = y
                radii[k] = x * x + y * y
            found = P(0)
            for k in range(missing):
                height, radius = heights[k], radii[k]
                heights[found], radii[found] = height, radius
                found += P(radius > NOTHING and radius <= UNIT)
            for k in range(found):
                out[at + k] = math.log(radii[k])
            for k in range(found):
                number = heights[k] * np.sqrt(MINUS_TWO * out[at + k] / radii[k])
                out[at + k] = number * scale + loc
            at += found
            missing -= found


@twin(TAKE, dtypes=(np.uint32,))
def draw(words: Buffer, state: Buffer, n: int, engines: int, share: int) -> None:
    """The next draws of every engine, ``share`` neighbours each."""
    fill_draws(words.flat, state.flat, n, engines, share)


@twin(NORMAL[0])
def normal(out: Buffer, state: Buffer, n: int, engines: int, share: int, scale: float, loc: float) -> None:
    """loc + scale times the next normal numbers of every engine, ``share`` neighbours each."""
    words = workspace("words", 2 * share).view(np.uint32)
    kept = workspace("heights", share), workspace("radii", share)
    fill_normal(out.flat, state.flat, words, *kept, n, engines, share, np.float32(scale), np.float32(loc))
