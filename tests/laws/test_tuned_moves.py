"""Twins that move numbers against the plain loops: equal bits, whatever the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.kernels import transpose

from .test_tuned import called, plainly, pytestmark  # noqa: F401  # the mark too


def bits_agree(loop, inputs, shape, numbers):
    got, expected = (run(loop, inputs, shape, numbers) for run in (called, plainly))
    np.testing.assert_array_equal(got.view(np.int32), expected.view(np.int32), str(loop))


@pytest.mark.parametrize("shape", [(16, 32), (15, 17), (1, 40), (40, 1), (33, 50), (3, 16, 20), (2, 3, 17, 33)])
def test_transposes(shape):
    """Whole squares and what is left over, one matrix and several, neighbours and far apart."""
    data = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    data.reshape(-1)[[0, -1]] = np.nan, -0.0
    last = len(shape) - 1
    for axes in {(*range(last, -1, -1),), (*range(1, last + 1), 0), (*range(last - 1), last, last - 1)}:
        together, numbers = transpose.route(shape, axes, "cpu")
        assert not together
        made = tuple(shape[axis] for axis in axes)
        bits_agree(transpose.TILES, [data], made, numbers)
        np.testing.assert_array_equal(called(transpose.TILES, [data], made, numbers), data.transpose(axes))
