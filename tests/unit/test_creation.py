"""Arrays made from nothing whose shape only their consumer knows."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import get
from refimpl.kernels.foundation import UNKNOWN, allocate


@pytest.mark.clause("_arange/infer-range")
def test_a_range_takes_its_length_from_the_consumer() -> None:
    # mx.sym.arange(2, infer_range=True) + mx.sym.var('x'), x of shape (4,): infer_shape, then forward
    op = get("_arange")
    p = op.parse({"start": 2, "infer_range": True})
    assert op.infer(p, [], [None]) == ([], [(UNKNOWN,)])
    assert op.infer(p, [], [(4,)]) == ([], [(4,)])
    out = allocate((4,), np.dtype(np.float32))
    op.forward(p, out)
    assert out.to_numpy().tolist() == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.clause("creation/shape")
def test_unknown_sides_come_from_the_consumer() -> None:
    # (mx.sym.zeros((0, 3)) + mx.sym.var('x')).infer_shape(x=(4, 3)) == ([(4, 3)], [(4, 3)], [])
    zeros = mx.sym.zeros((0, 3))
    assert zeros.infer_shape_partial() == ([], [(0, 3)], [])
    assert (zeros + mx.sym.var("x")).infer_shape(x=(4, 3)) == ([(4, 3)], [(4, 3)], [])
