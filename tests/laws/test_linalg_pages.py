"""Laws of linear algebra that the laws over all operators cannot know.

They work in double precision, on the text of the loops; heavy laws compare its bits with those of machine code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.base import MXNetError
from refimpl.kernels.foundation.harness import Call

from ..loops_as_text import only_twins_are_compiled


@pytest.fixture(autouse=True)
def _text_of_loops() -> Iterator[None]:
    with only_twins_are_compiled():
        yield


def forward(name: str, *arrays: np.ndarray, **params: Any) -> list[np.ndarray]:
    return Call(name, list(arrays), params).forward()


def symmetric_slope(name: str, seed: int, outputs: int) -> tuple[float, float]:
    """The slope of the outputs along a symmetric direction, and what the gradient says of it."""
    values, step = np.random.default_rng(seed), 1e-6
    a, along = values.uniform(-1, 1, (2, 3, 3, 3))
    a, along = a @ np.swapaxes(a, 1, 2) + np.diag([1.0, 2.0, 3.0]), along + np.swapaxes(along, 1, 2)
    call = Call(name, [a], {})
    heads = [values.uniform(-1, 1, each.shape) for each in call.forward()[:outputs]]
    (gradient,) = call.backward(heads)
    ahead, behind = (
        sum(float((o * h).sum()) for o, h in zip(forward(name, a + sign * step * along), heads, strict=False))
        for sign in (1, -1)
    )
    np.testing.assert_allclose(gradient, np.swapaxes(gradient, 1, 2), atol=1e-9)
    return (ahead - behind) / (2 * step), float((gradient * along).sum())


@pytest.mark.clause("linalg_potrf/gradient", "linalg_syevd/gradient")
@pytest.mark.parametrize(("name", "outputs"), [("_linalg_potrf", 1), ("_linalg_syevd", 2)])
@pytest.mark.parametrize("seed", range(5))
def test_gradient_towards_a_symmetric_matrix(name: str, outputs: int, seed: int) -> None:
    slope, claim = symmetric_slope(name, seed, outputs)
    assert abs(slope - claim) < 1e-5 * (1 + abs(slope))


@pytest.mark.clause("linalg_syevd/gradient")
def test_equal_eigenvalues_leave_their_part_out() -> None:
    call = Call("_linalg_syevd", [np.eye(3)], {})
    call.forward()
    np.testing.assert_allclose(call.backward()[0], np.eye(3), atol=1e-12)


@pytest.mark.clause("linalg_syevd/factors", "linalg_syevd/order", "linalg_syevd/sign", "linalg_syevd/method")
@given(st.integers(1, 6), st.integers(0, 99))
def test_eigenvalues(n: int, seed: int) -> None:
    a = np.random.default_rng(seed).integers(-3, 3, (2, n, n), endpoint=True).astype(np.float64)
    vectors, values = forward("_linalg_syevd", a)
    lower = np.tril(a, -1)
    whole = np.tril(a) + np.swapaxes(lower, 1, 2)
    np.testing.assert_allclose(np.swapaxes(vectors, 1, 2) * values[:, None, :] @ vectors, whole, atol=1e-11)
    np.testing.assert_allclose(vectors @ np.swapaxes(vectors, 1, 2), [np.eye(n)] * 2, atol=1e-12)
    assert (np.diff(values, axis=-1) >= 0).all()
    sizes = abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=-1, keepdims=True) * (1 - 1e-9), axis=-1)
    assert (np.take_along_axis(vectors, first[..., None], -1) > 0).all()


def test_nan_and_infinity_give_no_eigenvalues() -> None:
    for bad in (np.nan, np.inf):
        for each in forward("_linalg_syevd", np.array([[bad, 0], [1, 2]])):
            assert np.isnan(each).all()


@pytest.mark.clause("linalg_lu/pivot", "linalg_inverse/inverse", "linalg_det/determinant", "linalg_slogdet/parts")
@given(st.permutations(range(5)), st.integers(0, 99))
def test_a_permuted_matrix(order: list[int], seed: int) -> None:
    """Powers of two on a permuted diagonal: everything is exact."""
    powers = 2.0 ** np.random.default_rng(seed).integers(-3, 3, 5, endpoint=True)
    a = np.eye(5)[list(order)] * powers
    turns = sum(x > y for i, x in enumerate(order) for y in order[i + 1 :])
    np.testing.assert_array_equal(forward("_linalg_inverse", a)[0], (np.eye(5)[list(order)] / powers).T)
    assert forward("_linalg_det", a)[0] == [(-1) ** turns * powers.prod()]
    sign, size = forward("_linalg_slogdet", a)[:2]
    assert sign == [(-1) ** turns]
    np.testing.assert_allclose(size, [np.log(powers).sum()], atol=1e-12)
    slope = Call("_linalg_det", [a], {})
    slope.forward()
    np.testing.assert_array_equal(slope.backward()[0], powers.prod() * (-1) ** turns * np.eye(5)[list(order)] / powers)


@pytest.mark.clause("linalg_gelqf/factors", "linalg_gelqf/sign")
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 99))
def test_lq(n: int, more: int, seed: int) -> None:
    a = np.random.default_rng(seed).integers(-2, 2, (3, n, n + more), endpoint=True).astype(np.float64)
    q, lower = forward("_linalg_gelqf", a)
    np.testing.assert_allclose(lower @ q, a, atol=1e-12)
    np.testing.assert_allclose(q @ np.swapaxes(q, 1, 2), [np.eye(n)] * 3, atol=1e-12)
    assert not np.triu(lower, 1).any()


@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
def test_large_products_are_exact_on_whole_numbers(flips: tuple[bool, bool]) -> None:
    """They go through the tuned product, matrix by matrix."""
    values = np.random.default_rng(3)
    a, b, c = values.integers(-3, 3, (3, 2, 40, 40), endpoint=True).astype(np.float32)
    left, right = (np.swapaxes(m, 1, 2) if flip else m for m, flip in zip((a, b), flips, strict=True))
    options = {"transpose_a": flips[0], "transpose_b": flips[1], "alpha": 0.5, "beta": 2.0}
    np.testing.assert_array_equal(forward("_linalg_gemm", a, b, c, **options)[0], left @ right / 2 + 2 * c)
    np.testing.assert_array_equal(forward("_linalg_syrk", a)[0], a @ np.swapaxes(a, 1, 2))


@pytest.mark.clause("linalg_potrf/positive-definite", "linalg_inverse/singular", "linalg_potri/singular")
@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("_linalg_potrf", "linalg_potrf/positive-definite"), ("_linalg_inverse", "linalg_inverse/singular"),
        ("_linalg_potri", "linalg_potri/singular"),
    ],
)
def test_failures_name_the_matrix_and_wait_for_the_reader(name: str, clause: str) -> None:
    good, bad = np.eye(2), np.zeros((2, 2))
    result = getattr(mx.nd.op, name.removeprefix("_"))(mx.nd.array([good, good, bad]))
    with pytest.raises(MXNetError, match="matrix 2 of the batch") as caught:
        result.asnumpy()
    assert caught.value.clause == clause


@pytest.mark.clause("linalg_trmm/formula", "linalg_potrf/gradient")
def test_an_infinite_first_number_reaches_only_what_it_is_a_term_of() -> None:
    a, b = np.array([[np.inf, 0], [1, 2]]), np.array([[1.0], [2]])
    np.testing.assert_array_equal(forward("_linalg_trmm", a, b)[0], [[np.inf], [5]])
    np.testing.assert_array_equal(forward("_linalg_trmm", a, b.T, rightside=True)[0], [[np.inf, 4]])
    call = Call("_linalg_potrf", [np.array([[4.0, 2], [2, 5]])], {})
    call.forward()
    (gradient,) = call.backward([np.array([[np.nan, 0], [3, 4]])])
    np.testing.assert_array_equal(np.isnan(gradient), [[True, False], [False, False]])
