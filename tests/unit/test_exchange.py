"""How arrays leave for NumPy, DLPack and pickles, and come back."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray.exchange import from_dlpack

nd = mx.nd
TYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64")


def numbered(dtype: str = "float32") -> mx.nd.NDArray:
    return nd.array(np.arange(6).reshape(2, 3), dtype=dtype)


@pytest.mark.clause("NDArray/array-copy")
def test_numpy_gets_a_copy_with_the_same_type() -> None:
    for dtype in TYPES:
        a = numbered(dtype)
        seen = np.asarray(a)
        assert (seen.dtype, seen.tolist()) == (np.dtype(dtype), [[0, 1, 2], [3, 4, 5]])
        seen[:] = 9
        assert a.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.asarray(numbered(), dtype="int32").dtype == np.int32
    assert np.add(numbered(), 1).tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.clause("NDArray/array-copy")
def test_numpy_is_refused_the_memory_itself() -> None:
    with pytest.raises(ValueError, match="copied") as caught:
        numbered().__array__(copy=False)
    assert caught.value.clause == "NDArray/array-copy"  # type: ignore[attr-defined]  # every refusal carries one


@pytest.mark.clause("NDArray/dlpack")
@pytest.mark.parametrize("dtype", TYPES)
def test_dlpack_shares_memory(dtype: str) -> None:
    a = numbered(dtype)
    seen = np.from_dlpack(a)
    assert (seen.dtype, seen.tolist(), a.__dlpack_device__()) == (np.dtype(dtype), [[0, 1, 2], [3, 4, 5]], (1, 0))
    a[1] = 7
    assert seen.tolist() == [[0, 1, 2], [7, 7, 7]]


@pytest.mark.clause("NDArray/dlpack")
def test_dlpack_shares_a_view() -> None:
    a = numbered()
    seen = np.from_dlpack(a[1])
    a[1:2] = 7
    assert seen.tolist() == [7, 7, 7]


@pytest.mark.clause("NDArray/from-dlpack")
def test_capsules_come_back_as_arrays() -> None:
    a = numbered()
    for capsule in (a.to_dlpack_for_read(), a.to_dlpack_for_write()):
        back = from_dlpack(capsule)
        assert (back.shape, back.context, back.dtype) == ((2, 3), mx.cpu(0), np.float32)
        a[0] = 9
        assert back.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]  # a copy
        a[:] = nd.array(np.arange(6).reshape(2, 3))


@pytest.mark.clause("NDArray/from-dlpack")
def test_what_is_no_capsule_is_refused() -> None:
    for wrong in (3, "capsule", None):
        with pytest.raises(TypeError) as caught:
            from_dlpack(wrong)
        assert caught.value.clause == "NDArray/from-dlpack"  # type: ignore[attr-defined]  # as above


def test_tostype_default_is_a_copy() -> None:
    a = numbered()
    b = a.tostype("default")
    b[:] = 0
    assert (a.asnumpy().tolist(), b.stype) == ([[0, 1, 2], [3, 4, 5]], "default")


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_tostype_goes_there_and_back(stype: str) -> None:
    a = nd.array([[0, 0], [1, 0], [0, 2]])
    there = a.tostype(stype)
    assert (there.stype, there.shape) == (stype, (3, 2))
    assert there.tostype("default").asnumpy().tolist() == [[0, 0], [1, 0], [0, 2]]


@pytest.mark.parametrize("dtype", TYPES)
def test_pickles_keep_values_type_and_context(dtype: str) -> None:
    a = nd.array(np.arange(6).reshape(2, 3), ctx=mx.cpu(1), dtype=dtype)
    for back in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):  # our own bytes
        assert (back.context, back.dtype) == (mx.cpu(1), np.dtype(dtype).type)
        assert back.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_slice_assign_replaces_a_part() -> None:
    # x.slice_assign(nd.ones((1, 2)) * 9, (0, 1), (1, 3), (1, 1)); x.slice_assign_scalar(5, (1, 0), (2, 2), (1, 1))
    with_array = numbered().slice_assign(nd.full((1, 2), 9), (0, 1), (1, 3), (1, 1))
    assert with_array.asnumpy().tolist() == [[0, 9, 9], [3, 4, 5]]
    with_number = numbered().slice_assign_scalar(8, (1, 0), (2, 2), (1, 1))
    assert with_number.asnumpy().tolist() == [[0, 1, 2], [8, 8, 5]]
