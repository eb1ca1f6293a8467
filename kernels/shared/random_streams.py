"""Random streams: 1,024 Mersenne Twisters side by side, number for number those of MXNet 1.9.1's CPU.

[random/engines] a device holds 1,024 MT19937 engines; seed s starts engine j from s * 127 + j
    (modulo 2^32).
    >>> run("_random_uniform", shape=(3,))
    [0.548814, 0.592845, 0.715189]

[random/shares] n numbers are made by T = min(ceil(n / 64), 1024) engines, each filling ceil(n / T)
    neighbours; every engine goes on from where its last call left it. So the numbers do not depend
    on threads.

[random/unit] a unit number u in [0, 1) is one draw * 2^-32 in single precision, and (first + second
    * 2^32) * 2^-64 from two draws in double precision. What would round to 1 is the number below.

[random/normal] a normal number takes pairs (x, y) = (2u - 1, 2u - 1) until 0 < r = x^2 + y^2 <= 1
    and is y * sqrt(-2 ln(r) / r): Marsaglia's polar method with nothing kept. The logarithm is the
    C library's, so the last bit of one number in a few hundred may differ outside glibc.

[random/single-engine] one more engine, started from s * 127, serves what cannot be shared among
    engines: shuffling, and drawing classes (shuffle.py, multinomial.py).
    >>> run("_shuffle", [1, 2, 3, 4, 5])
    [1.0, 3.0, 4.0, 2.0, 5.0]

State: one row of 625 words per engine, 624 of the twister and the position of the next one.
Position 625 marks an engine that has only its seed, in word 0: seeding is cheap, and an engine
fills its words when it is first used. Without a state (at a prompt) an operator draws from fresh
streams of seed 0.
"""

import math

import numpy as np

from ..foundation import Buffer, Loop, allocate, decides, items, scalar, scratch

ENGINES = 1024
WORDS = 624
ROW = WORDS + 1
SINGLE_ENGINE = ENGINES * ROW
"""Where the row of the single engine begins."""

STATE_SIZE = (ENGINES + 1) * ROW
"""Number of uint32 words in the state of one device."""

ONLY_SEED = WORDS + 1
LEAST_SHARE = 64
SHIFT = 397
BELOW_ONE_SINGLE = np.float32(1 - 2**-24)
BELOW_ONE_DOUBLE = 1 - 2**-53


# --- one engine -----------------------------------------------------------------------------------


@scalar
def spread(state, row):
    """Fill the 624 words of an engine from the seed in its first."""
    word = np.int64(state[row])
    for k in range(1, WORDS):
        word = (1812433253 * (word ^ (word >> 30)) + k) & 0xFFFFFFFF
        state[row + k] = word


@scalar
def twist(state, row):
    """Replace all 624 words by the next 624."""
    for k in range(WORDS):
        after = k + 1 if k + 1 < WORDS else 0
        far = k + SHIFT if k + SHIFT < WORDS else k + SHIFT - WORDS
        mixed = (np.int64(state[row + k]) & 0x80000000) | (np.int64(state[row + after]) & 0x7FFFFFFF)
        state[row + k] = np.int64(state[row + far]) ^ (mixed >> 1) ^ ((mixed & 1) * 0x9908B0DF)


@scalar
def refill(state, row):
    """The next 624 words of an engine, position 0."""
    if state[row + WORDS] == ONLY_SEED:
        spread(state, row)
    twist(state, row)
    state[row + WORDS] = 0


@scalar
def temper(word):
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


@scalar
def draw(state, row):
    """The next whole number below 2^32 of the engine whose row begins at ``row``."""
    if state[row + WORDS] >= WORDS:
        refill(state, row)
    position = np.int64(state[row + WORDS])
    state[row + WORDS] = position + 1
    return temper(np.int64(state[row + position]))


# --- numbers --------------------------------------------------------------------------------------


@scalar
@decides("random/unit")
def single(word):
    """Unit number of one draw."""
    return min(np.float32(word * 2.0**-32), BELOW_ONE_SINGLE)


@scalar
@decides("random/unit")
def double(first, second):
    """Unit number of two draws."""
    return min((first * 1.0 + second * 2.0**32) * 2.0**-64, BELOW_ONE_DOUBLE)


@scalar
def unit_single(words, i):
    """The i-th unit number of an array of draws."""
    return single(words[i])


@scalar
def unit_double(words, i):
    return double(words[2 * i], words[2 * i + 1])


@scalar
@decides("random/normal")
def normal_single(state, row):
    while True:
        x = np.float32(2 * single(draw(state, row)) - 1)
        y = np.float32(2 * single(draw(state, row)) - 1)
        r = x * x + y * y
        if r > 0 and r <= 1:
            return y * np.float32(math.sqrt(np.float32(-2 * np.float32(math.log(r)) / r)))


@scalar
def normal_double(state, row):
    while True:
        first = draw(state, row)
        x = 2 * double(first, draw(state, row)) - 1
        first = draw(state, row)
        y = 2 * double(first, draw(state, row)) - 1
        r = x * x + y * y
        if r > 0 and r <= 1:
            return y * math.sqrt(-2 * math.log(r) / r)


@scalar
def whole(first, second, span):
    """A whole number below ``span`` from two draws."""
    return ((np.int64(first) << 31) + np.int64(second)) % span


# --- the state of a device ------------------------------------------------------------------------


def plant(state, seed):
    for j in items(ENGINES + 1):
        number = j if j < ENGINES else 0
        state[j * ROW] = (seed * 127 + number) & 0xFFFFFFFF
        state[j * ROW + WORDS] = ONLY_SEED


def take(words, state, n, engines, share):
    """Fill an array with the next draws of every engine, ``share`` neighbours each."""
    for j in items(engines):
        row = j * ROW
        i = j * share
        end = min(i + share, n)
        while i < end:
            if state[row + WORDS] >= WORDS:
                refill(state, row)
            position = np.int64(state[row + WORDS])
            count = min(end - i, WORDS - position)
            for k in range(count):
                words[i + k] = temper(np.int64(state[row + position + k]))
            state[row + WORDS] = position + count
            i += count


PLANT, TAKE = Loop(plant), Loop(take)


@decides("random/engines")
def seed_streams(state: Buffer, seed: int) -> None:
    """Restart all engines of ``state`` (uint32, ``STATE_SIZE``) from ``seed`` (any int, modulo 2^32)."""
    PLANT(state, int(seed) % 2**32)


def new_streams(device: str = "cpu", seed: int = 0) -> Buffer:
    """Make the state of a device ("cpu" or "gpu"), seeded."""
    state = allocate((STATE_SIZE,), np.dtype(np.uint32), device)
    seed_streams(state, seed)
    return state


@decides("random/shares")
def shares(count: int) -> tuple[int, int]:
    """Return the number of engines that make ``count`` numbers, and the number of neighbours that each engine fills."""
    engines = max(1, min(-(-count // LEAST_SHARE), ENGINES))
    return engines, -(-count // engines)


def draws(out: Buffer, rng: Buffer | None) -> Buffer:
    """Lend the draws for one unit number per element of ``out``: one draw each, two in double precision."""
    state = new_streams(out.device) if rng is None else rng
    each = 2 if out.dtype == np.float64 or out.dtype.kind == "i" else 1
    engines, share = shares(out.size)
    (words,) = scratch(out, out.size * each, dtype=np.uint32)
    TAKE(words, state, out.size * each, engines, share * each)
    return words


@decides("random/single-engine")
def single_engine(device: str, rng: Buffer | None) -> Buffer:
    """Return the state of the one engine for what cannot be shared: a row of its own."""
    state = new_streams(device) if rng is None else rng
    return Buffer(state.flat[SINGLE_ENGINE:], (ROW,), state.device)
