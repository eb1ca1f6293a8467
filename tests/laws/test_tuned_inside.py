"""Convolution over the taps inside the image: the bits of other tiles, whatever is made together, and the padding."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import convolution
from refimpl.kernels.shared.convolution_geometry import geometry_of
from refimpl.kernels.tuned import convolution_back, convolution_inside, weights_inside, weights_patches

from .test_tuned import (
    EPS,
    SEEDS,
    called,
    dyadic,
    layer,
    normal,
    plainly,
    pytestmark,  # noqa: F401  # twins exist in machine code only
    three_loops,
)

PARTS = st.fixed_dictionaries({
    "OUTPUTS": st.sampled_from([64, 2048, 1 << 15]), "WEIGHTS": st.sampled_from([1, 600, 1 << 17]),
})


@contextmanager
def inside(*, everywhere=True, **parts):
    """Have every call made so, or none; and so many numbers made together."""
    with ExitStack() as stack:
        cost = 0 if everywhere else float("inf")
        stack.enter_context(mock.patch.object(convolution_inside, "cost", lambda g, **_: cost))
        stack.enter_context(mock.patch.object(weights_inside, "cost", lambda g: cost))
        for name, value in parts.items():
            stack.enter_context(mock.patch.object(convolution_inside, name, value))
        yield


@st.composite
def geometries(draw):
    """Shapes of data, weight and output, and the geometry."""
    rank, groups = draw(st.sampled_from([1, 2, 2, 2, 3])), draw(st.sampled_from([1, 1, 2]))
    axis = st.tuples(st.integers(1, 5 - rank), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2))
    kernel, stride, dilate, pad = zip(*(draw(axis) for _ in range(rank)), strict=True)
    if max(kernel) == 1:
        kernel = (2, *kernel[1:])
    size = tuple(
        max(1, e * (k - 1) + 1 - 2 * p) + draw(st.integers(0, {1: 40, 2: 11, 3: 4}[rank]))
        for k, e, p in zip(kernel, dilate, pad, strict=True)
    )
    out = tuple(
        (n + 2 * p - e * (k - 1) - 1) // s + 1
        for n, k, s, e, p in zip(size, kernel, stride, dilate, pad, strict=True)
    )
    batch, ins, outs = draw(st.integers(1, 5)), draw(st.integers(1, 20)), draw(st.integers(3, 70))
    data, head = (batch, groups * ins, *size), (batch, groups * outs, *out)
    return data, (groups * outs, ins, *kernel), head, geometry_of(data, head, kernel, stride, pad, dilate, groups)


@given(geometries(), PARTS, SEEDS)
def test_outputs_have_the_bits_of_other_tiles(given_shapes, parts, seed):
    """Kinds, bands of lines, channels at a time, groups, and what is left of tiles."""
    data, weight, out, g = given_shapes
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, data), normal(rng, weight)]
    with inside(**parts):
        got = called(convolution.CONVOLVE, inputs, out, (g,))
    with inside(everywhere=False):
        expected = called(convolution.CONVOLVE, inputs, out, (g,))
    np.testing.assert_array_equal(got.view(np.int32), expected.view(np.int32))


@given(geometries(), PARTS, SEEDS)
def test_gradients_by_data_have_the_bits_of_other_tiles(given_shapes, parts, seed):
    """Of those that gather: where tiles scatter, sums have another order."""
    data, weight, out, g = given_shapes
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, out), normal(rng, weight)]
    with inside(**parts):
        got = called(convolution.SEND_BACK, inputs, data, (g,))
    with inside(everywhere=False), mock.patch.object(convolution_back, "_costs", lambda *_: (0, 1)):
        expected = called(convolution.SEND_BACK, inputs, data, (g,))
    np.testing.assert_array_equal(got, expected)


@given(geometries(), st.booleans(), st.sampled_from([1, 9, 32, 256]), SEEDS)
def test_gradients_by_weight(given_shapes, everywhere, chunk, seed):
    """However many outputs are summed at a time: exact where sums are, else within the rounding of each product.

    With filters in the lanes of tiles, or with taps.
    """
    data, weight, out, g = given_shapes
    rng = np.random.default_rng(seed)
    loop, products = convolution.GATHER_WEIGHT, out[0] * int(np.prod(out[2:]))
    chunks = (mock.patch.object(module, "CHUNK", chunk) for module in (weights_inside, weights_patches))
    with inside(everywhere=everywhere), next(chunks), next(chunks):
        inputs = [dyadic(rng, out), dyadic(rng, data)]
        np.testing.assert_array_equal(called(loop, inputs, weight, (g,)), plainly(loop, inputs, weight, (g,)))
        inputs = [normal(rng, shape).astype(np.float32) for shape in (out, data)]
        truth = plainly(loop, inputs, weight, (g,), np.float64)
        size = plainly(loop, [np.abs(a) for a in inputs], weight, (g,), np.float64)
        assert (np.abs(called(loop, inputs, weight, (g,)) - truth) <= (products + 1) * EPS * size).all()


LAYERS = [((2, 8, 7, 9), 3, 33, 1, 1), ((5, 9, 6, 6), 3, 40, 2, 1), ((2, 7, 9, 9), 5, 17, 1, 2)]


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("shapes", LAYERS, ids=str)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.clause("Convolution/padding")
def test_the_padding_is_multiplied_with_what_is_not_finite(shapes, which, special):
    """In two corners and in the middle of either operand; a few channels at a time."""
    for loop, ins, out, numbers in three_loops(*layer(*shapes)):
        rng = np.random.default_rng(4)
        inputs = [dyadic(rng, shape) for shape in ins]
        flat = inputs[which].reshape(-1)
        flat[[0, flat.size // 2, -1]] = special
        for weights in (1, 1 << 17):
            with inside(WEIGHTS=weights):
                got = called(loop, inputs, out, numbers)
            np.testing.assert_array_equal(got, plainly(loop, inputs, out, numbers), str(loop))


def test_layers_of_networks_are_made_so():
    """A tuned choice that took none of them would pass every other test."""
    for side, channels in ((56, 64), (28, 128), (14, 256), (7, 512)):
        _, data, _, out = layer((2, channels, side, side), 3, channels, 1, 1)
        g = geometry_of(data, out, (3, 3), (1, 1), (1, 1), (1, 1))
        gathering = mock.patch.object(weights_inside, "gather_weight")
        with mock.patch.object(convolution_inside, "convolve") as made, gathering as gathered:
            ins = [np.zeros(shape, np.float32) for shape in (data, (channels, channels, 3, 3), out)]
            for loop, first, second, result in (
                (convolution.CONVOLVE, 0, 1, out), (convolution.SEND_BACK, 2, 1, data),
                (convolution.GATHER_WEIGHT, 2, 0, (channels, channels, 3, 3)),
            ):
                called(loop, [ins[first], ins[second]], result, (g,))
        assert (made.call_count, gathered.call_count) == (2, 1)
