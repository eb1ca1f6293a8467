"""Draws and normal numbers made many at a time: number for number those of the page, which are MXNet's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import random
from refimpl.kernels.foundation import Buffer, plain_kernels
from refimpl.kernels.shared import random_streams

from .test_tuned import SEEDS, Memory, pytestmark  # noqa: F401  # the mark too

COUNTS = st.lists(st.one_of(st.integers(1, 200), st.sampled_from([65, 4097, 70_000])), min_size=1, max_size=3)


def words_of(state, count):
    engines, share = random_streams.shares(count)
    words = Buffer(np.zeros(count + 16, np.uint32), (count,))
    random_streams.TAKE(words, state, count, engines, share)
    assert not words.flat[count:].any()
    return words.flat


def normal_numbers(state, count):
    out = Memory(np.full(count, np.nan, np.float32))
    random.NORMAL[0](out.buffer, state, count, *random_streams.shares(count), 1.5, 0.25)
    assert out.intact()
    return out.buffer.to_numpy()


def drawn(seed, counts):
    """Draws and numbers in turn, so that engines go on from odd positions too; then what the engines hold."""
    state = random_streams.new_streams(seed=seed)
    found = [make(state, count) for count in counts for make in (words_of, normal_numbers)]
    engines = state.flat.reshape(-1, random_streams.ROW).copy()
    engines[engines[:, -1] == random_streams.ONLY_SEED, 1:-1] = 0  # not yet filled
    return [*found, engines]


@given(COUNTS, SEEDS)
def test_streams_are_those_of_the_page(counts, seed):
    found = drawn(seed, counts)
    with plain_kernels():
        expected = drawn(seed, counts)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_numbers_of_each_engine():
    """An engine is refilled in the middle of a call, several times."""
    found = drawn(3, [900_000])
    with plain_kernels():
        expected = drawn(3, [900_000])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
