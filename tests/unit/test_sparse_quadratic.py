"""contrib.quadratic keeps csr where zero stays zero."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

# MXNet 1.9.1, for each row (data, a, b): c = csr_matrix((data, [0, 2, 1], [0, 2, 3]), shape=(2, 3)) in float32
#   y = mx.nd.contrib.quadratic(c, a=a, b=b, c=0); print(y.stype, y.data, y.indices, y.indptr)
ROWS = [
    ([1, -2, 3], 1, 2, [3, 15], [0, 1], [0, 1, 2]), ([1, 0, 3], 1, 2, [3, 15], [0, 1], [0, 1, 2]),
    ([1, 2, 3], 0, 0, [], [], [0, 0, 0]), ([1, 2, 3], 0, 2, [2, 4, 6], [0, 2, 1], [0, 2, 3]),
]


def _csr(data: list[float]) -> mx.nd.NDArray:
    return mx.nd.sparse.csr_matrix((np.array(data, np.float32), [0, 2, 1], [0, 2, 3]), shape=(2, 3))


@pytest.mark.clause("Sparse/quadratic")
@pytest.mark.parametrize(("data", "a", "b", "values", "indices", "indptr"), ROWS)
def test_quadratic_of_csr(
    data: list[float], a: float, b: float, values: list, indices: list, indptr: list
) -> None:
    made = mx.nd.contrib.quadratic(_csr(data), a=a, b=b, c=0)
    assert made.stype == "csr"
    assert [x.asnumpy().tolist() for x in (made.data, made.indices, made.indptr)] == [values, indices, indptr]


# MXNet 1.9.1: quadratic(c, a=1, b=2, c=1) of [[0, 2, 0], [3, 0, 0]] is default, [[1, 9, 1], [16, 1, 1]]; of a
# row_sparse array it is default for every c. Recorded with c=0 on that csr: its gradient is [[2, 6, 2], [8, 2, 2]].
@pytest.mark.clause("Sparse/quadratic", "Sparse/fallback")
def test_what_is_not_csr() -> None:
    dense = mx.nd.array([[0, 2, 0], [3, 0, 0]])
    full = mx.nd.contrib.quadratic(dense.tostype("csr"), a=1, b=2, c=1)
    assert (full.stype, full.asnumpy().tolist()) == ("default", [[1, 9, 1], [16, 1, 1]])
    rows = mx.nd.contrib.quadratic(dense.tostype("row_sparse"), a=1, b=2, c=0)
    assert (rows.stype, rows.asnumpy().tolist()) == ("default", [[0, 8, 0], [15, 0, 0]])
    x = dense.tostype("csr")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.contrib.quadratic(x, a=1, b=2, c=0)
    y.backward()
    assert y.stype == "csr"
    assert x.grad.asnumpy().tolist() == [[2, 6, 2], [8, 2, 2]]
