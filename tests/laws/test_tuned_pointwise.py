"""Convolution with kernels of one pixel: several images at a time give the bits that one at a time gives."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.kernels.tuned import pointwise

from .test_tuned import SEEDS, called, layer, normal, plainly, pytestmark, three_loops  # noqa: F401  # the mark too


@settings(max_examples=3 * settings.default.max_examples)
@given(st.integers(1, 5), st.integers(3, 20), st.integers(1, 9), st.integers(3, 21),
       st.sampled_from([pointwise.TOGETHER, 700]), SEEDS)
def test_images_side_by_side(batch, channels, side, filters, together, seed):
    rng = np.random.default_rng(seed)
    for loop, shapes, out, numbers in three_loops(*layer((batch, channels, side, side), 1, filters, 1, 0)):
        inputs = [normal(rng, shape) for shape in shapes]
        assert pointwise.takes(*numbers)
        with mock.patch.object(pointwise, "TOGETHER", together):
            got = called(loop, inputs, out, numbers)
        with mock.patch.object(pointwise, "takes", lambda g: False):
            expected = called(loop, inputs, out, numbers)
        np.testing.assert_array_equal(got.view(np.int32), expected.view(np.int32), str(loop))


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_special_values_go_where_the_plain_loop_sends_them(which, special):
    rng = np.random.default_rng(4)
    for loop, shapes, out, numbers in three_loops(*layer((3, 5, 4, 5), 1, 6, 1, 0)):
        inputs = [np.round(4 * normal(rng, shape)) for shape in shapes]
        inputs[which].reshape(-1)[[0, -1]] = special
        got, expected = (run(loop, inputs, out, numbers) for run in (called, plainly))
        np.testing.assert_array_equal(got, expected, str(loop))
