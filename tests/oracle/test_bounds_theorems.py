"""Bounds of eigenvalues and eigenvectors: another library's method is inside, and what is wrong is outside."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle.bounds import FIRST_ORDER, RIGOROUS, tracking
from refimpl.oracle.programs.values import array_of


def expected(matrix, arithmetic=FIRST_ORDER):
    with tracking(arithmetic) as shadow:
        return [shadow.of(each) for each in mx.nd.linalg.syevd(mx.nd.array(matrix, dtype=matrix.dtype))]


def lapack(matrix):
    """Rows of eigenvectors with signs as the clause linalg_syevd/sign has them, and eigenvalues."""
    values, columns = np.linalg.eigh(matrix)
    rows = np.swapaxes(columns, -1, -2)
    first = np.argmax(np.abs(rows) > np.abs(rows).max(-1, keepdims=True) * (1 - 1e-6), -1)
    return rows * np.sign(np.take_along_axis(rows, first[..., None], -1)), values


def wrong(found, wanted):
    return [abs(each - values) > bounds for each, (values, bounds) in zip(found, wanted, strict=True)]


@pytest.mark.clause("oracle/eigenvectors")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first order", "rigorous"])
def test_what_another_library_computes_is_inside_and_little_is_free(arithmetic) -> None:
    for seed in range(12):
        style = ("normal", "dyadic", "wide")[seed % 3]
        spec = {"shape": [3, 4, 4], "dtype": "float32", "kind": "definite", "style": style, "seed": seed}
        matrix = array_of(spec)
        wanted = expected(matrix, arithmetic)
        assert not any(each.any() for each in wrong(lapack(matrix), wanted))
        assert all(np.isfinite(bounds).all() for _, bounds in wanted)
        assert all(bounds.max() < 1e-3 * abs(values).max() for values, bounds in wanted)
        assert any(each.any() for each in wrong(lapack(matrix * np.float32(1.0001)), wanted))
        assert any(each.any() for each in wrong(lapack(matrix + np.float32(1e-3)), wanted))


@pytest.mark.clause("oracle/eigenvectors")
def test_vectors_of_equal_eigenvalues_and_signs_of_equal_numbers_are_free() -> None:
    (vectors, bounds), (values, of_values) = expected(np.diag(np.float32([2, 2, 7])))
    assert values.tolist() == [2, 2, 7]
    assert np.isinf(bounds).tolist() == [[True] * 3, [True] * 3, [False] * 3]
    assert 0 < of_values.max() < 1e-4
    (vectors, bounds), _ = expected(np.float32([[2, 1], [1, 2]]))  # (1, -1) may be (-1, 1), (1, 1) may not
    assert np.isinf(bounds).tolist() == [[True, True], [False, False]]
    assert vectors[1] == pytest.approx([0.5**0.5] * 2)


@pytest.mark.clause("oracle/eigenvectors")
def test_a_matrix_that_is_not_known_gives_wider_bounds_and_one_of_nan_none() -> None:
    matrix = np.float32([[2, 0.5], [0.5, 9]])
    with tracking() as shadow:
        known = shadow.of(mx.nd.linalg.syevd(mx.nd.array(matrix))[1])[1]
        unknown = shadow.of(mx.nd.linalg.syevd(mx.nd.exp(mx.nd.log(mx.nd.array(matrix))))[1])[1]
    assert (unknown > known).all()
    (vectors, bounds), (values, _) = expected(np.float32([[np.nan, 0], [0, 1]]))
    assert np.isnan(vectors).all()
    assert np.isnan(values).all()
    assert not bounds.any()
