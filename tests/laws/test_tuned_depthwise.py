"""Convolution with one filter for each channel, sixteen channels at a time: it has the plain loops' bits.

The gradient by weight has them where sums are exact.
"""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.kernels import convolution, get
from refimpl.kernels.tuned import depthwise

from .test_tuned import (
    EPS,
    SEEDS,
    called,
    dyadic,
    normal,
    plainly,
    pytestmark,  # noqa: F401  # twins exist in machine code only
    three_loops,
)


@st.composite
def depthwise_layers(draw):
    """Parameters and shapes of one or two axes: (p, data, weight, out)."""
    rank, channels = draw(st.integers(1, 2)), draw(st.sampled_from([16, 17, 31, 32, 40]))
    axis = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 4))
    kernel_size, stride, dilate, pad = zip(*(draw(axis) for _ in range(rank)), strict=True)
    sizes = tuple(
        max(1, e * (k - 1) + 1 - 2 * p) + draw(st.integers(0, 20))
        for k, e, p in zip(kernel_size, dilate, pad, strict=True)
    )
    op = get("Convolution")
    p = op.parse({
        "kernel": kernel_size, "stride": stride, "dilate": dilate, "pad": pad, "num_group": channels,
        "num_filter": channels, "no_bias": True,
    })
    (data, weight), (out,) = op.infer(p, [(draw(st.integers(1, 3)), channels, *sizes), None], [None])
    return p, data, weight, out


@pytest.fixture(scope="module", params=[depthwise.BAND, 400])
def _band(request):
    """Bands of the usual size, and some so small that all planes have several."""
    usual, depthwise.BAND = depthwise.BAND, request.param
    depthwise.sliding.cache_clear()
    yield
    depthwise.BAND = usual
    depthwise.sliding.cache_clear()


@pytest.mark.usefixtures("_band")
@settings(max_examples=10 * settings.default.max_examples)
@given(depthwise_layers(), st.sampled_from([0.25, -0.0, np.inf, np.nan]), st.integers(0, 1), SEEDS)
def test_depthwise_has_the_bits_of_the_plain_loops(layer, special, which, seed):
    """Forward and both gradients, with zeros of either sign and special values in either operand."""
    rng = np.random.default_rng(seed)
    for loop, shapes, out, numbers in three_loops(*layer):
        assert depthwise.takes(*numbers)
        inputs = [(dyadic if loop is convolution.GATHER_WEIGHT else normal)(rng, shape) for shape in shapes]
        inputs[which].reshape(-1)[[0, -1]] = special
        got, expected = (run(loop, inputs, out, numbers) for run in (called, plainly))
        np.testing.assert_array_equal(got, expected, str(loop))
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]), str(loop))


@pytest.mark.usefixtures("_band")
@given(depthwise_layers(), st.sampled_from([1, 30, 256]), SEEDS)
def test_gradients_by_weight_are_as_good_as_sums_in_single_precision(layer, chunk, seed):
    """Within the rounding of the products of a chunk, and of the result, however many chunks there are."""
    rng = np.random.default_rng(seed)
    loop, shapes, out, numbers = three_loops(*layer)[2]
    inputs = [normal(rng, shape).astype(np.float32) for shape in shapes]
    truth = plainly(loop, inputs, out, numbers, np.float64)
    size = plainly(loop, [np.abs(a) for a in inputs], out, numbers, np.float64)
    most = max(chunk, shapes[0][-1]) + 2
    with mock.patch.object(depthwise, "CHUNK", chunk):
        assert (np.abs(called(loop, inputs, out, numbers) - truth) <= most * EPS * size).all()
