"""Pooling of sixteen planes at a time against the plain loops: equal bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.kernels import get, pooling
from refimpl.kernels.shared import pooling_windows

from .test_tuned import SEEDS, called, plainly, pytestmark  # noqa: F401  # the mark too

LEAST = float(np.finfo(np.float32).min)


@st.composite
def windows(draw):
    """Shapes of data and output, buffers of windows, geometry."""
    rank = draw(st.integers(1, 3))
    axis = st.tuples(st.integers(1, 5 - rank), st.integers(1, 3), st.integers(0, 2))
    kernel, stride, pad = zip(*(draw(axis) for _ in range(rank)), strict=True)
    longest = {1: 40, 2: 12, 3: 5}[rank]
    image = tuple(max(k - 2 * b, 1) + draw(st.integers(0, longest)) for k, b in zip(kernel, pad, strict=True))
    op = get("Pooling")
    p = op.parse({
        "kernel": kernel, "stride": stride, "pad": pad, "pool_type": draw(st.sampled_from(["avg", "sum"])),
        "pooling_convention": draw(st.sampled_from(["valid", "full"])), "count_include_pad": draw(st.booleans()),
        "global_pool": draw(st.integers(0, 4)) == 0,
    })
    data = (*draw(st.sampled_from([(1, 16), (2, 11), (4, 8), (1, 3), (17, 1)])), *image)
    _, (out,) = op.infer(p, [data], [None])
    *tables, g = pooling_windows.windows(p, data, out, "cpu")
    return data, out, tables, g


def bits_agree(loop, inputs, shape, numbers):
    got, expected = (run(loop, inputs, shape, numbers) for run in (called, plainly))
    np.testing.assert_array_equal(got, expected, str(loop))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]), str(loop))


def uneven(rng, shape, special):
    """Numbers of many sizes, zeros of both signs, some ties, and one special value."""
    values = (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(np.float32)
    values[rng.random(shape) < 0.3] = rng.choice(np.float32([0.0, -0.0, 1.0, 2.0]))
    values.reshape(-1)[rng.integers(values.size)] = special
    return values


@settings(max_examples=5 * settings.default.max_examples)
@given(windows(), st.sampled_from([-0.0, np.inf, -np.inf, np.nan]), SEEDS)
def test_windows(setting, special, seed):
    """Sums, means, maxima and their gradients, over every border there is."""
    data_shape, out_shape, (begin, end, size), g = setting
    rng = np.random.default_rng(seed)
    data, head = uneven(rng, data_shape, special), uneven(rng, out_shape, special)
    mean, mean_back = pooling.SUM[1]
    bits_agree(mean, [data], out_shape, (begin, end, size, g))
    bits_agree(pooling.MAX, [data], out_shape, (begin, end, LEAST, g))
    bits_agree(pooling.MAX_BACK, [head, data], data_shape, (begin, end, LEAST, g))
    bits_agree(mean_back, [head, data, head], data_shape, (begin, end, size, g))
