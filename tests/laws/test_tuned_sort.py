"""Rows sorted by their digits, and the first of rows found without sorting, against merges: equal order."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.kernels import sort
from refimpl.kernels.foundation import Buffer, plain_kernels
from refimpl.kernels.shared.sorting import SORT_ROWS

from .test_tuned import Memory, pytestmark  # noqa: F401  # the mark too

SPECIALS = np.float32([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1.0, -1.0])


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("side", [1, 63, 64, 65, 300])
@pytest.mark.parametrize(("rows", "inner"), [(1, 1), (4, 2)])
@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_order(side, rows, inner, ascending, fraction):
    """Ties, zeros of both signs, NaN of any bits, subnormal numbers; along any axis."""
    rng = np.random.default_rng(side)
    data = (rng.standard_normal((rows, side)) * 10.0 ** rng.integers(-3, 4, (rows, side))).astype(np.float32)
    special = rng.random(data.shape) < fraction
    data[special] = rng.choice(SPECIALS, special.sum())

    def order(loop, *count):
        memory = [Memory(data), *(Memory(np.zeros(data.size)) for _ in range(2))]
        indices, merged = (Buffer(m.buffer.flat.view(np.int64), (rows // inner, inner, side)) for m in memory[1:])
        more = () if count else (merged,)
        loop(memory[0].buffer.reshape((rows // inner, side, inner)), indices, *more, *count, ascending)
        assert all(each.intact() for each in memory)
        return indices.to_numpy().reshape(rows, side)

    tuned, count = order(SORT_ROWS), min(side, 20)
    with plain_kernels():
        np.testing.assert_array_equal(tuned, order(SORT_ROWS))
    np.testing.assert_array_equal(tuned[:, :count], order(sort.SELECT, count)[:, :count])
