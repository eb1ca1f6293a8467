"""Reductions, extremes and normalised rows by lanes against the plain loops: equal bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.kernels import argmax, l2_normalization, layer_norm
from refimpl.kernels.foundation import LOOPS, Buffer
from refimpl.kernels.foundation.walks import lanes_of, reduction_of

from .test_tuned import SEEDS, called, normal, plainly, pytestmark  # noqa: F401  # the mark too

REDUCERS = {loop.name: loop for loop in LOOPS if ".reduce_rows_" in loop.name and loop._tuned is not None}
SUM = "reduce.reduce_rows_add_add_as_it_is"
SPECIAL = st.sampled_from([1.0, 2.0**60, -0.0, np.inf, -np.inf, np.nan])
drawn_often = settings(max_examples=8 * settings.default.max_examples)
SIDES = st.sampled_from([1, 2, 3, 4, 7, 16, 17, 31, 32, 33, 40, 64, 75])


def drawn(rng, shape, special):
    """Numbers near 1, which products bear, some zeros of both signs and special ones, of either sign as often.

    Large ones cancel, and what is lost beside them shows the order of a sum that is rounded to single precision.
    """
    values = 1 + normal(rng, shape) / 8
    values[rng.random(shape) < 0.1] = rng.choice([0.0, -0.0])
    places = rng.permutation(values.size)[: values.size // 32 * 2]
    values.reshape(-1)[places[::2]], values.reshape(-1)[places[1::2]] = special, -special
    return values


def same_bits(loop, inputs, shape, numbers, dtype, outputs=1):
    """The twin itself, also of calls that are too small for it, has the bits of the page."""

    def writing(run):
        def call(*args):
            out = args[len(inputs)]
            parts = [Buffer(part, shape[outputs > 1 :]) for part in np.split(out.flat, outputs)]
            run(*args[: len(inputs)], *parts, *numbers)

        return call

    got = called(writing(loop._tuned), inputs, shape, numbers, dtype)
    expected = plainly(writing(loop), inputs, shape, numbers, dtype)
    np.testing.assert_array_equal(got, expected, str(loop))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]), str(loop))


def reduces(name, dtype, shape, kept, special, seed):
    kept = tuple(side if stays else 1 for side, stays in zip(shape, kept, strict=False))
    data = drawn(np.random.default_rng(seed), shape, special)
    start = np.float64({"larger": -math.inf, "smaller": math.inf}.get(name.split("_")[2], "multiply" in name))
    numbers = (start, math.prod(shape) // math.prod(kept), *reduction_of(shape, kept, np.dtype(dtype), "cpu"))
    if numbers[-1].lanes > 1 or numbers[-1].step > 1:  # few neighbours are the page's
        same_bits(REDUCERS[name], [data], kept, numbers, dtype)


SHAPES = st.lists(SIDES, min_size=1, max_size=4).map(tuple).filter(lambda shape: math.prod(shape) < 20_000)
KEPT = st.tuples(*[st.booleans()] * 4)


@drawn_often
@given(SHAPES, KEPT, SPECIAL, SEEDS)
def test_sums(shape, kept, special, seed):
    """Any axes, with rows that fill vectors and that do not."""
    reduces(SUM, np.float64, shape, kept, special, seed)


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(REDUCERS))
@drawn_often
@given(SHAPES, KEPT, SPECIAL, SEEDS)
def test_all_reductions(name, dtype, shape, kept, special, seed):
    reduces(name, dtype, shape, kept, special, seed)


def test_more_groups_side_by_side_than_are_kept():
    reduces(SUM, np.float32, (3, 5, 1030), (True, False, True), np.nan, 1)


def seeks(loop, dtype, outer, side, inner, special, seed):
    data = np.random.default_rng(seed).integers(-2, 3, (outer, side, inner)).astype(dtype)
    data[np.random.default_rng(seed + 1).random(data.shape) < 0.02] = special
    inner = inner if side > 31 else max(inner, 2)  # short rows of neighbours are the page's
    data = np.resize(data, (outer, side, inner))
    same_bits(loop, [data], (outer, inner), (), dtype)


PLACES = st.integers(1, 3), st.sampled_from([1, 2, 31, 32, 40, 64, 65, 129, 200]), st.sampled_from([1, 1, 2, 40])


@drawn_often
@given(*PLACES, SPECIAL, SEEDS)
def test_places_of_extremes(outer, side, inner, special, seed):
    """The first of several, the first NaN, in every part of a row."""
    seeks(argmax.SEEK_LARGEST, np.float32, outer, side, inner, special, seed)


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loop", [argmax.SEEK_LARGEST, argmax.SEEK_SMALLEST], ids=str)
@drawn_often
@given(*PLACES, SPECIAL, SEEDS)
def test_all_places_of_extremes(loop, dtype, outer, side, inner, special, seed):
    seeks(loop, dtype, outer, side, inner, special, seed)


def normalises(dtype, rows, side, along, special, seed):
    rng = np.random.default_rng(seed)
    g = layer_norm.NormalisedRows(along, lanes_of(side, 1, np.dtype(dtype)))
    groups = 1 if along or rows % 2 else 2
    outer, weights = (rows // groups, groups), (groups, side if along else 1)
    head, data = (normal(rng, (*outer, side, 1)) for _ in range(2))
    data[0, 0, side // 2] = special
    gamma, beta, mean, std = (normal(rng, shape) for shape in (weights, weights, (*outer, 1), (*outer, 1)))
    same_bits(layer_norm.ROW_STATISTICS, [data], (2, *mean.shape), (0.5, g), dtype, outputs=2)
    same_bits(layer_norm.NORMALISE_ROWS, [data, gamma, beta, mean, std], data.shape, (g,), dtype)
    for seen in (0, 1):
        arrays = [head, mean, std, data, gamma, mean, std]
        same_bits(layer_norm.THROUGH_ROWS, arrays, data.shape, (seen, g), dtype)
    if along:
        same_bits(layer_norm.COLLECT_WEIGHTS, [head, data, mean, std], (2, *weights), (g,), dtype, outputs=2)
    head, data, std = head.reshape(rows, side, 1), data.reshape(rows, side, 1), std.reshape(rows, 1)
    same_bits(l2_normalization.LENGTHS, [data], (rows, 1), (0.5, g.lanes), dtype)
    same_bits(l2_normalization.SHORTEN_BACK, [head, data, std], data.shape, (g.lanes,), dtype)


ROWS = st.integers(1, 4), st.sampled_from([32, 33, 47, 48, 64, 75, 600]), st.integers(0, 1)


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@drawn_often
@given(*ROWS, SPECIAL, SEEDS)
def test_normalised_rows(dtype, rows, side, along, special, seed):
    normalises(dtype, rows, side, along, special, seed)


def test_few_elements_run_the_plain_loop():
    """Their twins would need more time to call, and to compile, than they save."""
    for shape in ((4, 255), (4, 256)):
        data = Buffer(np.ones(math.prod(shape), np.float32), shape)
        numbers = (np.float64(0), 1, *reduction_of(shape, (4, 1), data.dtype, "cpu"))
        assert REDUCERS[SUM].has_twin_for((data, data, *numbers)) == (shape[1] == 256)
        assert argmax.SEEK_LARGEST.has_twin_for((data.reshape((*shape, 1)), data)) == (shape[1] == 256)
    assert not argmax.SEEK_LARGEST.has_twin_for((data.reshape((64, 16, 1)), data))
