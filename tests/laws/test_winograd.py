"""Winograd's convolution: the twin has the bits of the loops, and both keep to the bound that the chapter states.

The three matrices stand here as Lavin and Gray (2016) print them; no expected number comes from the formulas.
"""

from __future__ import annotations

import threading
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels.foundation import as_buffer
from refimpl.kernels.foundation.loop import _CHOICE
from refimpl.kernels.shared.convolution_geometry import geometry_of
from refimpl.kernels.shared.winograd import correlate, gather
from refimpl.kernels.shared.winograd_tiles import fused
from refimpl.kernels.tuned import winograd as twins

from .test_tuned import SEEDS, called, plainly

pytestmark = pytest.mark.heavy  # each of its kernels is compiled

B = np.array([
    [4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
    [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1],
], float)  # fmt: skip
G = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
A = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]], float)
TINY, UNIT = float(np.finfo(np.float32).tiny), 2.0**-24


def geometry(batch, channels, height, width, filters, pad):
    out = (batch, filters, height + 2 * pad[0] - 2, width + 2 * pad[1] - 2)
    return geometry_of((batch, channels, height, width), out, (3, 3), (1, 1), pad, (1, 1))


def shapes(g, back):
    """Of what goes in, of the weights, and of what comes out."""
    ends = (g.batch_size, g.channels, g.height, g.width), (g.batch_size, g.num_filter, g.out_h, g.out_w)
    return (ends[1], (g.num_filter, g.channels, 3, 3), ends[0]) if back else (ends[0], weight_of(g), ends[1])


def weight_of(g):
    return g.num_filter, g.channels, 3, 3


def run(data, weight, out, g, back):
    correlate(data, weight, out, g, back=back)


def run_weight(head, data, out, g):
    gather(head, data, out, g)


def call_of(kind, g, seed, *spreads):
    """What is called, with drawn inputs: "forward", "data" or "weight" for the gradients."""
    if kind == "weight":
        ends = shapes(g, back=False)
        inputs = [drawn(seed, ends[2], spreads[0]), drawn(seed + 1, ends[0], spreads[1])]
        return run_weight, inputs, weight_of(g), (g,)
    ins, weight, out = shapes(g, kind == "data")
    return run, [drawn(seed, ins, spreads[0]), drawn(seed + 1, weight, spreads[1])], out, (g, kind == "data")


def as_forward(weight, g, back):
    """The filters and the pad of the forward convolution that is to be computed."""
    if back:
        return weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1], (2 - g.pad_h, 2 - g.pad_w)
    return weight, (g.pad_h, g.pad_w)


def truth(data, weight, g, back):
    """The usual sum in double precision."""
    filters, (pad_h, pad_w) = as_forward(weight.astype(float), g, back)
    padded = np.pad(data.astype(float), ((0, 0), (0, 0), (pad_h, pad_h), (pad_w, pad_w)))
    high, wide = padded.shape[2] - 2, padded.shape[3] - 2
    taps = [(i, j) for i in range(3) for j in range(3)]
    return sum(np.einsum("fc,nchw->nfhw", filters[..., i, j], padded[..., i : i + high, j : j + wide]) for i, j in taps)


def allowed(data, weight, g, back):
    """(C + 12) u S of the chapter, by the magnitudes of the three matrices."""
    filters, (pad_h, pad_w) = as_forward(np.abs(weight.astype(float)), g, back)
    n, c, h, w = data.shape
    out_h, out_w = h + 2 * pad_h - 2, w + 2 * pad_w - 2
    high, wide = -(-out_h // 4), -(-out_w // 4)
    padded = np.zeros((n, c, 4 * high + 2, 4 * wide + 2))
    padded[:, :, pad_h : pad_h + h, pad_w : pad_w + w] = np.abs(data)
    points = np.maximum(np.abs(G) @ filters @ np.abs(G).T, TINY)
    found = np.zeros((n, len(filters), 4 * high, 4 * wide))
    for y in range(high):
        for x in range(wide):
            pixels = np.abs(B) @ padded[:, :, 4 * y : 4 * y + 6, 4 * x : 4 * x + 6] @ np.abs(B).T
            products = np.maximum(pixels[:, None] * points, TINY).sum(2)
            found[:, :, 4 * y : 4 * y + 4, 4 * x : 4 * x + 4] = np.abs(A) @ products @ np.abs(A).T
    return (c + 12) * UNIT * found[:, :, :out_h, :out_w]


def weight_truth(head, data, g):
    """The usual gradient of the weights in double precision."""
    padded = np.pad(data.astype(float), ((0, 0), (0, 0), (g.pad_h, g.pad_h), (g.pad_w, g.pad_w)))
    found = np.zeros(weight_of(g))
    for i in range(3):
        for j in range(3):
            seen = padded[:, :, i : i + g.out_h, j : j + g.out_w]
            found[:, :, i, j] = np.einsum("nfhw,nchw->fc", head.astype(float), seen)
    return found


def weight_allowed(head, data, g):
    """(T + 12) u S of the chapter."""
    high, wide = -(-g.out_h // 4), -(-g.out_w // 4)
    padded = np.zeros((g.batch_size, g.channels, 4 * high + 2, 4 * wide + 2))
    padded[:, :, g.pad_h : g.pad_h + g.height, g.pad_w : g.pad_w + g.width] = np.abs(data)
    heads = np.zeros((g.batch_size, g.num_filter, 4 * high, 4 * wide))
    heads[:, :, : g.out_h, : g.out_w] = np.abs(head)
    products = np.zeros((g.num_filter, g.channels, 6, 6))
    for y in range(high):
        for x in range(wide):
            pixels = np.abs(B) @ padded[:, :, 4 * y : 4 * y + 6, 4 * x : 4 * x + 6] @ np.abs(B).T
            points = np.abs(A).T @ heads[:, :, 4 * y : 4 * y + 4, 4 * x : 4 * x + 4] @ np.abs(A)
            products += np.maximum(points[:, :, None] * pixels[:, None], TINY).sum(0)
    section = min(-(-64 // wide), g.batch_size * high) * wide
    every = section + -(-g.batch_size * high * wide // section)
    return (every + 12) * UNIT * (np.abs(G).T @ products @ np.abs(G))


def same_bits(one, other):
    """Whether all numbers are the same, each NaN counting as one number."""
    numbers = ~np.isnan(one)
    return np.array_equal(numbers, ~np.isnan(other)) and np.array_equal(
        one[numbers].view(np.int32), other[numbers].view(np.int32)
    )


KINDS = st.sampled_from(["forward", "data", "weight"])
SIDE, PAD = st.integers(3, 14), st.integers(0, 2)
GEOMETRIES = st.builds(
    geometry, st.integers(1, 3), st.integers(16, 40), SIDE, SIDE, st.integers(16, 70), st.tuples(PAD, PAD)
)
SPREADS = st.sampled_from([0, 0, 4, 12, 30])  # in powers of ten


def drawn(seed, shape, spread):
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) * 10.0 ** random.uniform(-spread, spread / 4, shape)
    return values.astype(np.float32)


jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or _CHOICE.plain, reason="twins exist in machine code only")


@jit
@pytest.mark.heavy
@pytest.mark.clause("winograd/arithmetic")
@given(GEOMETRIES, KINDS, SPREADS, st.sampled_from([None, np.nan, np.inf, 3e38]), SEEDS)
def test_the_twin_has_the_bits_of_the_loops(g, kind, spread, special, seed):
    call = call_of(kind, g, seed, spread, spread)
    if special is not None:
        chosen = call[1][seed % 2]
        chosen.reshape(-1)[seed % chosen.size] = special
    assert same_bits(called(*call), plainly(*call))


@jit
@pytest.mark.clause("winograd/weight-gradient")
def test_a_section_has_64_tiles():
    """The first weight sees 2^24 in the first of 130 images of one tile each, and 1 in all others.

    In one sum every 1 would be lost beside 2^24; of two sections the second has 64 of them, and the third two.
    """
    g = geometry(130, 16, 6, 6, 16, (0, 0))
    head, data = np.zeros((130, 16, 4, 4), np.float32), np.zeros((130, 16, 6, 6), np.float32)
    head[:, 2, 0, 0], data[:, 3, 0, 0] = 1, 1
    head[0, 2, 0, 0] = 2**24
    expected = np.zeros((16, 16, 3, 3))
    expected[2, 3, 0, 0] = 2**24 + 64 + 2
    np.testing.assert_array_equal(called(run_weight, [head, data], expected.shape, (g,)), expected)


@pytest.mark.clause("winograd/error", "winograd/weight-gradient")
@pytest.mark.parametrize("kind", ["forward", "data", "weight"])
def test_the_error_of_the_smallest_layer_is_within_its_bound(kind):
    """Also where loops run as plain Python."""
    assert is_within_its_bound(geometry(1, 16, 3, 3, 17, (1, 0)), kind, 6, 0, 0)


@jit
@pytest.mark.clause("winograd/arithmetic")
@pytest.mark.parametrize("kind", ["forward", "weight"])
def test_where_no_product_and_sum_are_fused_the_loops_run(kind, monkeypatch):
    call = call_of(kind, geometry(1, 16, 3, 5, 17, (1, 1)), 4, 0, 0)
    expected = called(*call)
    monkeypatch.setattr(twins, "_fuses", lambda: False)
    monkeypatch.setattr(twins, "convolve_lines", None)
    monkeypatch.setattr(twins, "gather_lines", None)
    assert same_bits(called(*call), expected)


@jit
@pytest.mark.clause("winograd/weight-gradient")
def test_sections_are_added_in_their_order():
    """Of twenty lines of five tiles: a section has thirteen lines, and one has seven."""
    call = call_of("weight", geometry(5, 16, 16, 18, 17, (1, 1)), 3, 0, 0)
    assert same_bits(called(*call), plainly(*call))


def is_within_its_bound(g, kind, seed, *spreads):
    call = call_of(kind, g, seed, *spreads)
    right, bound = (weight_truth, weight_allowed) if kind == "weight" else (truth, allowed)
    return (np.abs(called(*call) - right(*call[1], *call[3])) <= bound(*call[1], *call[3])).all()


@jit
@pytest.mark.heavy
@pytest.mark.clause("winograd/error")
@given(GEOMETRIES, KINDS, SPREADS, SPREADS, SEEDS)
def test_the_error_is_within_its_bound(g, kind, spread, other, seed):
    """Over numbers of one size, and over many powers of ten."""
    assert is_within_its_bound(g, kind, seed, spread, other)


@jit
@pytest.mark.clause("winograd/error")
@pytest.mark.parametrize("kind", ["forward", "data", "weight"])
@pytest.mark.parametrize("spreads", [(0, 0), (12, 0), (30, 4), (4, 30)], ids=str)
def test_the_error_of_one_layer_is_within_its_bound(kind, spreads):
    assert is_within_its_bound(geometry(2, 17, 7, 10, 19, (1, 2)), kind, 5, *spreads)


@pytest.mark.clause("winograd/arithmetic")
@given(st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24),
       st.integers(-60, 60), st.integers(-2, 2))
def test_one_rounding_for_product_and_sum(a, b, total, scale, beside):
    """Against exact fractions; totals are drawn that leave the sum near the middle of two numbers."""
    a, b = np.float32(a), np.float32(b)
    exact = Fraction(float(a)) * Fraction(float(b))
    for added in (np.float32(total) * np.float32(2.0) ** scale, np.float32(float(exact * 2**30)) + np.float32(beside),
                  np.float32(float(exact)) * np.float32(2**25), np.float32(float(exact))):
        expected = nearest(exact + Fraction(float(added)))
        with np.errstate(all="ignore"):
            assert fused(a, b, added) == expected


def nearest(number):
    """The single number that is nearest to a fraction; of two, the even one."""
    guess = np.float32(float(number))
    near = [guess, np.nextafter(guess, np.float32(np.inf)), np.nextafter(guess, np.float32(-np.inf))]
    return min(near, key=lambda one: (abs(Fraction(float(one)) - number), int(one.view(np.int32)) & 1))


def test_one_rounding_in_the_middle():
    """1 + 2^-24 lies between 1 and 1 + 2^-23, and a product of 2^-24 (1 - 2^-46) is a little less: 1."""
    product = np.float32(1 + 2**-23), np.float32(2**-24 * (1 - 2**-23))
    assert float(product[0]) * float(product[1]) < 2**-24
    assert fused(*product, np.float32(1 + 2**-23)) == np.float32(1 + 2**-23)
    assert np.float32(float(product[0]) * float(product[1]) + 1 + 2**-23) == np.float32(1 + 2**-22)


REACHES = [[0], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [3]]


def reached(place, count, pad):
    """The outputs along one axis that a pixel reaches: those of its place among the six of each tile that reads it."""
    tiles = range(-(-count // 4))
    every = [4 * t + y for t in tiles if 0 <= place + pad - 4 * t < 6 for y in REACHES[place + pad - 4 * t]]
    return [y for y in every if y < count]


@jit
@pytest.mark.clause("winograd/not-finite")
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("pad", [0, 1, 2])
def test_how_far_a_pixel_reaches_that_is_not_finite(pad, special):
    g = geometry(1, 16, 11, 9, 17, (pad, 2 - pad))
    data, weight = drawn(1, (1, 16, 11, 9), 0), drawn(2, (17, 16, 3, 3), 0)
    finite = called(run, [data, weight], shapes(g, False)[2], (g, False))
    for y in range(11):
        for x in (0, y % 9, 8):
            changed = data.copy()
            changed[0, 5, y, x] = special
            found = called(run, [changed, weight], finite.shape, (g, False))
            expected = np.zeros(finite.shape, bool)
            expected[:, :, [[row] for row in reached(y, g.out_h, g.pad_h)], reached(x, g.out_w, g.pad_w)] = True
            np.testing.assert_array_equal(~np.isfinite(found), expected)
            np.testing.assert_array_equal(found[~expected], finite[~expected])


@jit
@pytest.mark.clause("winograd/not-finite")
@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("back", [False, True])
def test_how_far_a_weight_reaches_that_is_not_finite(back, special):
    g = geometry(1, 16, 6, 5, 17, (1, 1))
    ins, weight, out = shapes(g, back)
    inputs = [drawn(1, ins, 0), drawn(2, weight, 0)]
    for tap in range(9):
        changed = inputs[1].copy()
        changed[7, 3, tap // 3, tap % 3] = special
        found = called(run, [inputs[0], changed], out, (g, back))
        assert not np.isfinite(found[:, 3 if back else 7]).any()
        assert np.isfinite(np.delete(found, 3 if back else 7, 1)).all()


@jit
@pytest.mark.clause("winograd/arithmetic")
def test_the_same_bits_in_every_thread_and_for_every_part_of_the_batch():
    g = geometry(6, 17, 9, 10, 21, (1, 1))
    ins, weight, out = shapes(g, False)
    data, filters = drawn(1, ins, 0), drawn(2, weight, 0)
    whole = called(run, [data, filters], out, (g, False))
    for parts in (1, 2, 3):
        found = np.empty_like(whole)

        def part(i, size=6 // parts, found=found):
            share = as_buffer(data[i * size : (i + 1) * size])
            result = as_buffer(np.full((size, *out[1:]), np.nan, np.float32))
            correlate(share, as_buffer(filters), result, geometry(size, 17, 9, 10, 21, (1, 1)))
            found[i * size : (i + 1) * size] = result.to_numpy()

        threads = [threading.Thread(target=part, args=(i,)) for i in range(parts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(found.view(np.int32), whole.view(np.int32))


@jit
@pytest.mark.clause("winograd/not-finite")
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_which_gradients_of_weights_are_reached(special):
    g = geometry(1, 16, 6, 10, 17, (0, 0))  # one line of two tiles: columns 0 to 5, and 4 to 9
    _, (head, data), out, _ = call_of("weight", g, 5, 0, 0)
    for row, column, rows, columns in (
        (0, 0, [0], [0]), (5, 9, [2], [2]), (0, 9, [0], [2]), (3, 4, [0, 1, 2], [0, 1, 2]), (5, 5, [2], [0, 1, 2]),
        (1, 0, [0, 1, 2], [0]),
    ):
        changed = data.copy()
        changed[0, 3, row, column] = special
        found = called(run_weight, [head, changed], out, (g,))
        expected = np.zeros(out, bool)
        expected[:, 3, [[i] for i in rows], columns] = True
        np.testing.assert_array_equal(~np.isfinite(found), expected)
    for row, column in ((0, 0), (3, 7), (2, 4)):
        changed = head.copy()
        changed[0, 5, row, column] = special
        found = called(run_weight, [changed, data], out, (g,))
        assert not np.isfinite(found[5]).any()
        assert np.isfinite(np.delete(found, 5, 0)).all()
