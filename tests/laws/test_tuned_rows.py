"""Convolution row by row against the plain loops: what tiles decline has the plain loops' bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import convolution
from refimpl.kernels.tuned import convolution_rows

from .test_tuned import SEEDS, called, geometries, normal, plainly, pytestmark, three_loops  # noqa: F401  # the mark too

BY_ROWS = {
    convolution.CONVOLVE: convolution_rows.convolve_rows,
    convolution.SEND_BACK: convolution_rows.send_back_rows,
    convolution.GATHER_WEIGHT: convolution_rows.gather_weight_rows,
}


@given(geometries(), st.sampled_from([np.float32, np.float64]), st.sampled_from([0.25, np.inf, np.nan]), SEEDS)
def test_rows_have_the_bits_of_the_plain_loops(geometry, dtype, special, seed):
    """What tiles decline is summed in the plain loop's order: doubles, and where there are few filters."""
    rng = np.random.default_rng(seed)
    for loop, shapes, out, numbers in three_loops(*geometry):
        inputs = [normal(rng, shape) for shape in shapes]
        for values in inputs:
            values.reshape(-1)[-1] = special
        expected = plainly(loop, inputs, out, numbers, dtype)

        def by_rows(*buffers, loop=loop):
            *arrays, g = buffers
            BY_ROWS[loop](*(array.flat for array in arrays), tuple(g))

        for twin in (by_rows, loop) if dtype == np.float64 else (by_rows,):
            got = called(twin, inputs, out, numbers, dtype)
            np.testing.assert_array_equal(got, expected, str(loop))
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]), str(loop))
