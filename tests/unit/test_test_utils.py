"""mx.test_utils: that its checks pass what is right, fail what is wrong, and say where."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import symbol as sym
from refimpl import test_utils as tu

X = np.array([[1.0, 2.0], [3.0, 4.0]])
Y = np.array([[2.0, 2.0], [1.0, 1.0]])
x, y = sym.Variable("x"), sym.Variable("y")


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(0)


def refused(kind: type, clause: str, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return str(caught.value)


# --- comparing ----------------------------------------------------------------------------------------

# MXNet 1.9.1: assert_almost_equal(a, b, **options) passes
PASSES = [
    (np.ones((3, 4)), np.ones(4), {}), ([1, 2], [1, 2], {}), (1, 1 + 1e-6, {}),
    (np.float32([0]), np.float32([5e-4]), {}), (np.float16([1]), np.array([1.1]), {}),
    (np.array([1, np.inf]), np.array([1, np.inf]), {}), (np.zeros((0, 2)), np.zeros((0, 2)), {}),
    (np.array([np.nan]), np.array([np.nan]), {"equal_nan": True}),
]
# ... fails, and what the message says
FAILS = [
    (np.array([1, 2]), np.array([1, 3]), {}, "in 50.000000% of the elements"),
    (1, 1.5, {}, "a and b differ by 33333.333333 times the tolerance (rtol=1e-05, atol=1e-20)"),
    (np.array([np.nan]), np.array([np.nan]), {}, "differ by nan times"),
    (np.array([1, np.inf]), np.array([1, -np.inf]), {}, "a=inf, b=-inf"),
    (np.array([1.0, np.nan]), np.array([5.0, 1.0]), {}, "the largest error at (1,): a=nan, b=1.00000000"),
    (np.ones(2, bool), np.array([True, False]), {}, "in 50.000000%"),
    (np.ones((3, 4)), np.ones(4), {"use_broadcast": False}, "the shapes differ: (3, 4) and (4,)"),
    (np.arange(4.0), np.array([5.0, 1, 2, 3]), {"rtol": 0.1, "atol": 0, "names": ("p", "q")},
     "the largest error at (0,): p=0.00000000, q=5.00000000"),
    (np.float32([1]), np.float32([1.1]), {"rtol": {np.dtype(np.float32): 1e-3}}, "rtol=0.001"),
]


@pytest.mark.parametrize(("a", "b", "options"), PASSES)
def test_almost_equal_passes(a, b, options) -> None:
    tu.assert_almost_equal(a, b, **options)
    if hasattr(a, "dtype"):
        tu.assert_almost_equal(nd.array(a, dtype=a.dtype), b, **options)


@pytest.mark.clause("test_utils/almost-equal")
@pytest.mark.parametrize(("a", "b", "options", "said"), FAILS)
def test_almost_equal_fails(a, b, options, said) -> None:
    text = refused(AssertionError, "test_utils/almost-equal", lambda: tu.assert_almost_equal(a, b, **options))
    assert said in text


# MXNet 1.9.1: assert_almost_equal of m ones and 30 - m zeros with zeros, mismatches=limits
COUNTS = [
    (30, (2, 3), 2, "at least 13.333333%"), (30, (0, 0), 0, "in 100.000000%"),
    (30, (0, 10), 0, "at least 36.666667%"), (4, (1, 4), 1, "in 13.333333%"),
    (5, (1, 4), 1, "at least 16.666667%"),
]


@pytest.mark.parametrize(("wrong", "limits", "printed", "said"), COUNTS)
def test_mismatches_are_counted(wrong, limits, printed, said, capsys) -> None:
    a = np.r_[np.ones(wrong), np.zeros(30 - wrong)]
    with pytest.raises(AssertionError, match=said):
        tu.assert_almost_equal(a, np.zeros(30), mismatches=limits)
    report = capsys.readouterr().out
    assert "the largest errors of 30 elements, in tolerances (rtol=1e-05, atol=1e-20):" in report
    assert report.count("  error at (") == printed


@pytest.mark.clause("test_utils/comparable")
@pytest.mark.clause("test_utils/tolerance-type")
def test_what_cannot_be_compared() -> None:
    refused(ValueError, "test_utils/comparable", lambda: tu.assert_almost_equal(np.ones((2, 3)), np.ones((3, 2))))
    table = {np.dtype(np.float32): 1e-3}
    refused(KeyError, "test_utils/tolerance-type", lambda: tu.assert_almost_equal(X, X, rtol=table))


@given(st.lists(st.floats(width=32), min_size=1, max_size=5), st.lists(st.floats(width=32), min_size=1, max_size=5))
def test_agrees_with_numpy(a, b) -> None:
    one, other = np.float32(a), np.float32(b[:1])
    expected = bool(np.allclose(one, other, rtol=1e-4, atol=1e-3, equal_nan=True))
    if expected:
        tu.assert_almost_equal(one, other, equal_nan=True)
    else:
        with pytest.raises(AssertionError):
            tu.assert_almost_equal(one, other, equal_nan=True)
    assert tu.almost_equal(one, other, 1e-4, 1e-3, equal_nan=True) is expected


def test_relatives_of_almost_equal() -> None:
    tu.assert_allclose(np.array([np.nan]), np.array([np.nan]))
    tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([1, 3.0]))
    tu.assert_almost_equal_with_err(np.ones(10), np.r_[np.zeros(1), np.ones(9)], etol=0.1)
    for call in (
        lambda: tu.assert_allclose(np.ones(2), np.array([1, 1 + 1e-6])),
        lambda: tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([2, 3.0])),
        lambda: tu.assert_almost_equal_with_err(np.ones(10), np.r_[np.zeros(1), np.ones(9)]),
        lambda: tu.assert_almost_equal_with_err(np.ones(10), np.r_[np.zeros(2), np.ones(8)], etol=0.1),
        lambda: tu.checkShapes(np.ones(2), np.ones(3)),
        lambda: tu.almost_equal(np.ones((2, 3)), np.ones(3), use_broadcast=False),
        lambda: tu.compare_ndarray_tuple((None, (nd.ones(1),)), (None, (nd.zeros(1),))),
    ):
        refused(AssertionError, "test_utils/almost-equal", call)
    tu.compare_ndarray_tuple((nd.ones(1), None), (nd.ones(1), nd.zeros(1)))


def test_same() -> None:
    assert tu.same(np.ones(2), nd.ones(2))
    assert not tu.same(np.array([np.nan]), np.array([np.nan]))
    assert not tu.same(np.ones((1, 2)), np.ones(2))


@pytest.mark.parametrize("values", [[0, 1], [0.5, 0.5], [np.nan, np.inf], [1e30, -1]])
def test_same_array(values) -> None:
    a = nd.array(values)
    assert tu.same_array(a, a.reshape((2,)))
    assert not tu.same_array(a, a.copy())
    assert not tu.same_array(nd.zeros(2), nd.ones(2))
    np.testing.assert_array_equal(a.asnumpy(), np.float32(values))


def test_tolerances() -> None:
    # MXNet 1.9.1: get_tols of a float16 and a float64 array; of float32 and int32; of a number and float64
    assert tu.get_tols(np.ones(1, np.float16), np.ones(1), None, None) == (1e-2, 1e-1)
    assert tu.get_tols(np.ones(1, np.float32), np.ones(1, np.int32), None, None) == (1e-4, 1e-3)
    assert tu.get_tols(1.0, np.ones(1), None, None) == (1e-5, 1e-20)
    assert (tu.get_rtol(), tu.get_rtol(0.5), tu.get_atol(dtype=np.float16)) == (1e-5, 0.5, 0.1)
    assert (tu.get_etol(), tu.get_etol(0.25), tu.default_dtype()) == (0, 0.25, np.float32)
    assert tu.default_numeric_eps()[np.dtype(np.float32)] == 0.001953125
    assert tu.effective_dtype(nd.ones(1, dtype="float16")) == np.float16


def test_same_symbol_structure() -> None:
    # MXNet 1.9.1: True, False, False, True
    others = [sym.Variable("p") + sym.Variable("q"), x + x, x * y]
    assert [tu.same_symbol_structure(x + y, other) for other in others] == [True, False, False]
    assert tu.same_symbol_structure(x + 1, x + 2)


# --- drawing ------------------------------------------------------------------------------------------


@given(st.integers(0, 4), st.integers(1, 5), st.booleans())
def test_shapes(rank, largest, zero) -> None:
    shapes = [
        tu.rand_shape_nd(rank, largest, zero), tu.rand_shape_2d(largest, 2, zero),
        tu.rand_shape_3d(1, largest, 2, zero),
    ]
    assert [len(shape) for shape in shapes] == [rank, 2, 3]
    assert all((0 if zero else 1) <= side <= max(largest, 2) for shape in shapes for side in shape)


@pytest.mark.clause("test_utils/shape-range")
@pytest.mark.clause("test_utils/sample-size")
@pytest.mark.clause("test_utils/collapse")
def test_refusals_of_drawing() -> None:
    refused(ValueError, "test_utils/shape-range", lambda: tu.rand_shape_nd(3, 0))
    refused(AssertionError, "test_utils/sample-size", lambda: tu.random_sample(range(4), 9))
    refused(AssertionError, "test_utils/sample-size", lambda: tu.random_sample(range(4), -1))
    assert [sorted(tu.random_sample(range(4), count)) for count in (0, 4)] == [[], [0, 1, 2, 3]]
    refused(AssertionError, "test_utils/collapse", lambda: tu.collapse_sum_like(np.ones((2, 3)), (5,)))


def test_arrays() -> None:
    one, other = tu.random_arrays((2, 3), ())
    assert (one.shape, other.shape, one.dtype, tu.random_arrays((2,)).shape) == ((2, 3), (), np.float32, (2,))
    (drawn,) = tu.random_uniform_arrays((50,), low=2, high=3, dtype="float16")
    assert drawn.dtype == np.float16
    assert ((drawn >= 2) & (drawn <= 3)).all()
    assert sorted(tu.random_sample("abcd", 4)) == list("abcd")
    assert all(low <= v < high for v, low, high in zip(tu.rand_coord_2d(0, 2, 5, 6), (0, 5), (2, 6), strict=True))
    assert tu.rand_ndarray((2,), dtype="float64").dtype is np.float64
    assert tu.create_2d_tensor(3, 2).asnumpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert tu.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    assert tu.create_vector(3).dtype is np.int64
    assert tu.get_identity_mat(2).asnumpy().tolist() == [[1, 0], [0, 1]]
    assert tu.get_identity_mat_batch(3).shape == (2, 3, 3)


def test_on_numpy_arrays() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert tu.np_reduce(values, 1, True, np.sum).tolist() == [[3], [12]]
    assert tu.np_reduce(values, None, True, np.sum).tolist() == [[15]]
    assert tu.np_reduce(values, (0, 1), False, np.sum) == 15
    assert tu.collapse_sum_like(np.ones((2, 3, 4)), (2, 1, 4)).tolist() == [[[3] * 4]] * 2
    assert tu.assign_each(np.arange(3.0), lambda v: v * 2).tolist() == [0, 2, 4]
    assert tu.assign_each2(np.arange(3.0), np.ones(3), lambda a, b: a + b).tolist() == [1, 2, 3]
    assert tu.assign_each(values, None) is not values


def test_matrices() -> None:
    for make in (tu.new_matrix_with_real_eigvals_2d, tu.new_sym_matrix_with_real_eigvals_2d):
        found = np.linalg.eigvals(make(4))
        assert np.isreal(found).all()
        assert np.diff(np.sort(found.real)).min() > 0.9
    symmetric = tu.new_sym_matrix_with_real_eigvals_nd((2, 3, 3))
    np.testing.assert_array_equal(symmetric, symmetric.swapaxes(1, 2))
    assert tu.new_matrix_with_real_eigvals_nd((2, 3, 4, 4)).shape == (2, 3, 4, 4)
    rows = tu.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(rows @ rows.T, np.identity(4), atol=1e-12)


def test_dummy_iter() -> None:
    real = mx.io.NDArrayIter(np.arange(8).reshape(4, 2), np.arange(4), 2)
    dummy = tu.DummyIter(real)
    assert dummy.next() is next(iter(dummy)) is dummy.the_batch
    assert (dummy.batch_size, dummy.provide_data) == (2, real.provide_data)
    assert dummy.the_batch.data[0].asnumpy().tolist() == [[0, 1], [2, 3]]


# --- sparse arrays ------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.booleans())
def test_csr(density, shuffled) -> None:
    array, (indptr, indices, data) = tu.rand_sparse_ndarray((3, 4), "csr", density, shuffle_csr_indices=shuffled)
    dense = np.zeros((3, 4), np.float32)
    rows = np.repeat(np.arange(3), np.diff(indptr.asnumpy()))
    dense[rows, indices.asnumpy()] = data.asnumpy()
    np.testing.assert_array_equal(array.asnumpy(), dense)
    assert not shuffled or array.stype == "csr"


def test_sparse_values() -> None:
    assert tu.create_sparse_array((4, 3), "csr", density=1, data_init=2.0).asnumpy().tolist() == [[2] * 3] * 4
    made = tu.create_sparse_array((2, 3), "row_sparse", density=1, modifier_func=lambda _: 5, dtype="float64")
    assert (made.asnumpy().tolist(), made.dtype) == ([[5] * 3] * 2, np.float64)
    assert tu.create_sparse_array_zd((4, 3), "csr", 0).asnumpy().sum() == 0
    assert tu.create_sparse_array_zd((4, 3), "row_sparse", 0.5).indices.shape == (0,)
    named = tu.create_sparse_array_zd((4, 3), "row_sparse", 0.5, rsp_indices=[1, 2])
    assert named.indices.asnumpy().tolist() == [1, 2]
    csr = tu.rand_ndarray((2, 3), "csr", density=1)
    tu.shuffle_csr_column_indices(csr)
    assert np.sort(csr.indices.asnumpy().reshape(2, 3)).tolist() == [[0, 1, 2]] * 2


@pytest.mark.clause("test_utils/sparse")
@pytest.mark.clause("test_utils/power-law")
def test_refusals_of_sparse_arrays() -> None:
    for call in (
        lambda: tu.rand_sparse_ndarray((3, 3), "foo"), lambda: tu.rand_sparse_ndarray((3,), "csr"),
        lambda: tu.rand_sparse_ndarray((3, 3), "csr", distribution="foo"),
        lambda: tu.rand_sparse_ndarray((3, 3), "row_sparse", distribution="powerlaw"),
        lambda: tu.rand_sparse_ndarray((2, 3), "row_sparse", rsp_indices=[0, 1, 2]),
        lambda: tu.create_sparse_array((3, 3), "default"), lambda: tu.rand_ndarray((3, 3), "foo"),
    ):
        refused(AssertionError, "test_utils/sparse", call)
    for density in (0.9, 0.01):
        refused(
            ValueError, "test_utils/power-law",
            lambda density=density: tu.rand_sparse_ndarray((6, 8), "csr", density, distribution="powerlaw"),
        )
