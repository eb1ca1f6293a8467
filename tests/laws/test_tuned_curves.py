"""Polynomials in place of the C library's functions: their errors in units in the last place, and special values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import activation, leaky_relu, lrn, softmax
from refimpl.kernels.foundation import LOOPS, Buffer

from .test_tuned import EPS, SEEDS, called, plainly, pytestmark  # noqa: F401  # the mark too

TINY = float(np.finfo(np.float32).tiny)
ROOT_HALF, DENSITY = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)
error_function = np.vectorize(math.erf, otypes=[np.float64])
complement = np.vectorize(math.erfc, otypes=[np.float64])


def share_below(x):
    return complement(-x * ROOT_HALF) / 2


def loop(name):
    return next(each for each in LOOPS if each.name == name)


def logistic(x):
    return np.exp(-np.logaddexp(0, -x))


# loop, its function in double precision, units in the last place, numbers after the arrays
CURVES = {
    "exp": (loop("unary.map_one_exp"), np.exp, 1.04, ()),
    "expm1": (loop("unary.map_one_expm1"), np.expm1, 1.6, ()),
    "log": (loop("unary.map_one_log"), np.log, 0.85, ()),
    "erf": (loop("unary.map_one_erf"), error_function, 2.5, ()),
    "gelu": (leaky_relu.CURVES["gelu"][0], lambda x: x * share_below(x), 6.5, (0.25,)),
    "tanh": (activation.MAP["tanh"], np.tanh, 1.5, ()),
    "sigmoid": (activation.MAP["sigmoid"], logistic, 3, ()),
    "softrelu": (activation.MAP["softrelu"], lambda x: np.logaddexp(0, x), 3, ()),
}
SLOPES = {
    "erf": (loop("unary.chain_one_erf_slope"), lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), 2.8, ()),
    "expm1": (loop("unary.chain_one_exp"), np.exp, 1.04, ()),
    "gelu": (
        leaky_relu.CURVES["gelu"][1], lambda x: share_below(x) + x * DENSITY * np.exp(-x * x / 2), None, (0.25,)
    ),
}
"""The slope of gelu is 0 near -0.75, so its error is absolute: ``ABSOLUTE``."""
ABSOLUTE = 1.5e-7


def off(found, true):
    """Distances in units in the last place; 0 where the true value is beyond normal numbers."""
    with np.errstate(all="ignore"):
        size = np.abs(true)
        unit = np.spacing(np.maximum(size, TINY).astype(np.float32)).astype(np.float64)
        distance = np.abs(found - true) / unit
        return np.where((size >= TINY) & np.isfinite(true.astype(np.float32)), distance, 0)


def worst(row, x, head=None):
    """The largest error over ``x``, in units, or absolute where no units are given."""
    run, function, units, numbers = row
    inputs = [x] if head is None else [head, x]
    found = called(run, inputs, x.shape, (x.size, *numbers)).astype(np.float64)
    with np.errstate(all="ignore"):
        true = function(x.astype(np.float64))
        if units is None:
            return float(np.nanmax(np.abs(found - true)))
        beyond = ~np.isfinite(true.astype(np.float32))
        np.testing.assert_array_equal(found[beyond], true.astype(np.float32)[beyond])
        return float(off(found, true).max())


def sample():
    middle = np.concatenate([np.linspace(-12, 12, 6001), np.logspace(-30, 2, 2000)])
    return np.concatenate([middle, -middle[6001:], np.linspace(-104, 89, 1000)]).astype(np.float32)


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_near_the_true_function(name):
    row = CURVES[name]
    assert worst(row, sample()) <= row[2]


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_near_the_true_slope(name):
    row, x = SLOPES[name], sample()
    assert worst(row, x, np.ones_like(x)) <= (row[2] or ABSOLUTE)


SPECIAL = np.array([
    0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, -1e-38, 2e-38, 88.722, 88.723, 88.8, -87.4, -103.9, -104.1,
    3e38, -3e38, 1, -1,
], np.float32)  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_special_values_are_those_of_the_page(name):
    """NaN, infinities, the sign of 0, numbers below the normal ones, and where results overflow."""
    run, _, units, numbers = CURVES[name]
    for n in (len(SPECIAL), 3):  # whole vectors, and what is left over
        x = SPECIAL[-n:] if n == len(SPECIAL) else SPECIAL[:n]
        found, expected = (way(run, [x], x.shape, (n, *numbers)) for way in (called, plainly))
        number = np.isfinite(expected)
        np.testing.assert_array_equal(found[~number], expected[~number])
        np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))
        np.testing.assert_allclose(found[number], expected[number], rtol=4 * units * 2.0**-23, atol=2e-45)


@pytest.mark.long
@pytest.mark.parametrize("name", CURVES)
def test_every_float32(name):
    """Two to thirty minutes each; ``math.erf`` and ``math.erfc`` are called once for every number."""
    row = CURVES[name]
    for first in range(0, 2**32, 2**24):
        x = np.arange(first, first + 2**24, dtype=np.uint32).view(np.float32)
        if name == "gelu":
            x = x[~(x < -12.9)]  # the share below is no normal number
        assert worst(row, x) <= row[2]


@pytest.mark.long
@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_every_float32(name):
    row = SLOPES[name]
    for first in range(0, 2**32, 2**24):
        x = np.arange(first, first + 2**24, dtype=np.uint32).view(np.float32)
        assert worst(row, x, np.ones_like(x)) <= (row[2] or ABSOLUTE)




# --- softmax -------------------------------------------------------------------------------------

ROWS = st.integers(1, 300)
SIDES = st.one_of(st.integers(1, 40), st.sampled_from([127, 128, 300, 2047, 2048, 2050]))
SCALES = st.sampled_from([1.0, -1.0, 0.25])


@given(ROWS, SIDES, SCALES, SEEDS)
def test_rows_of_log_softmax(rows, side, scale, seed):
    """Within a few units of the size of the numbers that are subtracted."""
    rows = max(1, min(rows, 6000 // side))
    data = (3 * np.random.default_rng(seed).standard_normal((rows, side))).astype(np.float32)
    found = called(softmax.LOG_SOFTMAX, [data[:, :, None]], (rows, side, 1), (scale,)).reshape(data.shape)
    wide = data.astype(np.float64) * scale
    top = wide.max(axis=1, keepdims=True)
    true = wide - top - np.log(np.exp(wide - top).sum(axis=1, keepdims=True))
    assert (np.abs(found - true) <= EPS * (1 + np.abs(wide - top) + np.abs(true))).all()


@given(ROWS, SIDES, SCALES, SEEDS)
def test_gradients_of_rows(rows, side, scale, seed):
    """Sums of doubles in whatever order; products of float32 are rounded as on the page."""
    rows = max(1, min(rows, 6000 // side))
    rng = np.random.default_rng(seed)
    data, head = (rng.standard_normal((rows, side)).astype(np.float32) for _ in range(2))
    data, head = data[:, :, None], head[:, :, None]
    log_of = called(softmax.LOG_SOFTMAX, [data], data.shape, (1.0,))
    share = np.exp(log_of.astype(np.float64)).astype(np.float32)
    length = Buffer(np.zeros(1, np.int32), (1, 1))

    def slope(head, share, d_data, *numbers):
        softmax.SOFTMAX_SLOPE(head, share, d_data, length, *numbers, 0)

    call = ([head, share], data.shape, (scale,))
    found, expected = called(slope, *call), plainly(slope, *call)
    np.testing.assert_allclose(found, expected, rtol=2 * EPS, atol=1e-15)
    call = ([head, log_of], data.shape, (scale,))
    found = called(softmax.LOG_SOFTMAX_SLOPE, *call)
    wide, total = head.astype(np.float64), head.astype(np.float64).sum(axis=1, keepdims=True)
    product = np.exp(log_of.astype(np.float64)) * total
    true = (wide - product) * scale
    assert (np.abs(found - true) <= EPS * (np.abs(true) + 1.5 * np.abs(product))).all()


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("side", [3, 39])
def test_rows_with_special_values(special, side):
    """Their places are those of the page, in each loop, and the next row sees nothing of them."""
    data = np.linspace(-1, 1, 3 * side).astype(np.float32).reshape(3, side, 1)
    spoilt = data.copy()
    spoilt[1, side // 2] = special
    for loop_of_rows in (softmax.LOG_SOFTMAX, softmax.LOG_SOFTMAX_SLOPE):
        inputs = [spoilt] if loop_of_rows is softmax.LOG_SOFTMAX else [data, spoilt]
        call = (loop_of_rows, inputs, data.shape, (1.0,))
        np.testing.assert_allclose(called(*call), plainly(*call), rtol=4 * EPS, atol=1e-6)


# --- local response normalisation ----------------------------------------------------------------


@given(st.integers(1, 3), st.integers(1, 9), st.sampled_from([1, 5, 16, 35]), st.integers(0, 3), SEEDS)
def test_local_response(n, channels, inner, half, seed):
    """The scales of the page bit for bit; the power of -0.75, and with it the gradient, near the true one."""
    rng = np.random.default_rng(seed)
    data, head = (rng.standard_normal((n, channels, inner)).astype(np.float32) for _ in range(2))
    numbers = (half, 0.5)
    call = (lrn.SCALES, [data], data.shape, (*numbers, 2.0))
    scale = called(*call)
    np.testing.assert_array_equal(scale, plainly(*call))
    wide = scale.astype(np.float64)
    np.testing.assert_allclose(
        called(lrn.RESPOND, [data, scale], data.shape, (data.size, 0.75)), data * wide**-0.75, rtol=2.5 * EPS
    )
    found = called(lrn.RESPOND_BACK, [head, data, scale], data.shape, (*numbers, 0.75))
    terms = head.astype(np.float64) * data * wide**-1.75
    padded = np.pad(terms, ((0, 0), (half, half), (0, 0)))
    sums = sum(padded[:, k : k + channels] for k in range(2 * half + 1))
    sizes = sum(np.abs(padded[:, k : k + channels]) for k in range(2 * half + 1))
    true = head * wide**-0.75 - 0.75 * data * sums
    assert (np.abs(found - true) <= 4 * EPS * (np.abs(head) * wide**-0.75 + np.abs(data) * sizes)).all()


@pytest.mark.parametrize("beta", [0.75, 0.5])
def test_local_response_of_special_values(beta):
    scale = np.array([0, -0.0, 1e-45, 1e-38, 3e38, np.inf, -np.inf, -1, np.nan, 1], np.float32)
    data = np.ones_like(scale)
    call = (lrn.RESPOND, [data, scale], data.shape, (data.size, beta))
    np.testing.assert_allclose(called(*call), plainly(*call), rtol=2 * EPS)
