"""Arrays: values that MXNet 1.9.1 gives for the same expressions, views, assignment, contexts, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kernels.foundation.loop import SIMULATED

nd = mx.nd
A = [[1, 2, 3], [4, 5, 6]]

# Printed by MXNet 1.9.1 for a = mx.nd.array([[1, 2, 3], [4, 5, 6]]):
#   for e in EXPRESSIONS: print(e, eval(e).asnumpy().tolist())
EXPRESSIONS = {
    "a[0]": [1, 2, 3],
    "a[0:1]": [[1, 2, 3]],
    "a[:, 1]": [2, 5],
    "a[1, 2]": [6],
    "a[::2]": [[1, 2, 3]],
    "a[0][np.int64(1)]": [2],
    "a[np.int64(1), np.int32(2)]": [6],
    "a[True]": [4, 5, 6],
    "a[True, 1]": [5],
    "a[0][True]": [2],
    "a[-1]": [4, 5, 6],
    "a[0][1]": [2],
    "a[[0, 1]]": [[1, 2, 3], [4, 5, 6]],
    "a[nd.array([1, 0])]": [[4, 5, 6], [1, 2, 3]],
    "a[None].reshape((3, 2))": [[1, 2], [3, 4], [5, 6]],
    "a[..., 0]": [1, 4],
    "a + 1": [[2, 3, 4], [5, 6, 7]],
    "1 - a": [[0, -1, -2], [-3, -4, -5]],
    "a / 2": [[0.5, 1, 1.5], [2, 2.5, 3]],
    "2 ** a": [[2, 4, 8], [16, 32, 64]],
    "a ** 2": [[1, 4, 9], [16, 25, 36]],
    "a % 2": [[1, 0, 1], [0, 1, 0]],
    "a == 1": [[1, 0, 0], [0, 0, 0]],
    "a > 1": [[0, 1, 1], [1, 1, 1]],
    "-a": [[-1, -2, -3], [-4, -5, -6]],
    "abs(-a)": [[1, 2, 3], [4, 5, 6]],
    "a.sum()": [21],
    "a.mean(axis=1)": [2, 5],
    "a.max()": [6],
    "a.argmax(axis=1)": [2, 2],
    "a.reshape(3, 2)": [[1, 2], [3, 4], [5, 6]],
    "a.reshape((-1,))": [1, 2, 3, 4, 5, 6],
    "a.T": [[1, 4], [2, 5], [3, 6]],
    "a + nd.array([1, 2, 3])": [[2, 4, 6], [5, 7, 9]],
    "a.astype('int32') / 2": [[0, 1, 1], [2, 2, 3]],
    "nd.array([1, 2], dtype='int32') * 1.5": [1, 2],
    "a.slice_axis(axis=1, begin=0, end=1)": [[1], [4]],
    "nd.arange(5)": [0, 1, 2, 3, 4],
    "nd.maximum(a, 3)": [[3, 3, 3], [4, 5, 6]],
    "nd.subtract(1, a)": [[0, -1, -2], [-3, -4, -5]],
    "nd.concatenate([a, a]).sum(axis=0)": [10, 14, 18],
}


@pytest.mark.clause("NDArray/index")
@pytest.mark.clause("NDArray/arithmetic")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression_gives_the_recorded_value(expression: str) -> None:
    result = eval(expression, {"a": nd.array(A), "nd": nd, "np": np})  # literals of this file
    assert result.asnumpy().tolist() == EXPRESSIONS[expression]


@pytest.mark.clause("NDArray/default-type")
def test_types() -> None:
    assert nd.array(np.arange(3)).dtype is np.float32
    assert nd.array(nd.array([1], dtype="int32")).dtype is np.int32
    assert nd.zeros((2,), dtype="float16").dtype is np.float16
    assert nd.array(3).shape == ()
    assert nd.array([]).shape == (0,)
    assert (nd.array(A) > 1).dtype is np.float32


@pytest.mark.clause("NDArray/view")
def test_leading_slices_and_reshape_share_memory() -> None:
    b = nd.zeros((3, 4))
    b[1:3][:] = 5
    b[0][1] = 7
    b.reshape((12,))[0:1] = 3
    assert b.asnumpy().tolist() == [[3, 7, 0, 0], [5, 5, 5, 5], [5, 5, 5, 5]]


@pytest.mark.clause("NDArray/view")
def test_other_indexing_copies() -> None:
    b = nd.zeros((3, 4))
    for copy in (b[:, 1], b[::2], b[[0, 1]], b.T):
        copy[:] = 9
    assert b.asnumpy().sum() == 0


@pytest.mark.clause("NDArray/view")
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    start=st.integers(0, 3), stop=st.integers(0, 4),
)
def test_a_slice_of_rows_writes_through(shape: list[int], start: int, stop: int) -> None:
    array = nd.zeros(tuple(shape))
    mirror = np.zeros(shape)
    if start < stop and start < shape[0]:
        array[start:stop][:] = 1
        mirror[start:stop] = 1
    assert np.array_equal(array.asnumpy(), mirror)


@pytest.mark.clause("NDArray/assign")
def test_assignment() -> None:
    b = nd.zeros((3, 4))
    b[:, 2] = 9
    b[0, 0] = 1
    b[1:2, :] = nd.array([1, 2, 3, 4])
    b[2] = [4, 3, 2, 1]
    assert b.asnumpy().tolist() == [[1, 0, 9, 0], [1, 2, 3, 4], [4, 3, 2, 1]]
    with pytest.raises(ValueError, match="broadcast"):
        b[0] = nd.ones((3,))


@pytest.mark.clause("NDArray/in-place")
def test_in_place_arithmetic_keeps_the_memory() -> None:
    a = nd.array(A)
    alias = a[0]
    a += 1
    a *= nd.array([1, 2, 3])
    assert alias.asnumpy().tolist() == [2, 6, 12]


@pytest.mark.clause("NDArray/context")
def test_arrays_on_other_contexts() -> None:
    with mx.cpu(2):
        assert nd.zeros((1,)).context == mx.cpu(2)
    a = nd.array(A, ctx=mx.cpu(1))
    assert a.as_in_context(mx.cpu(1)) is a
    moved = a.as_in_context(mx.cpu(0))
    moved[:] = 0
    assert a.asnumpy().tolist() == A
    assert str(mx.cpu(1)) == "cpu(1)"
    assert mx.Context("cpu_pinned", 2).device_typeid == 3
    with pytest.raises(KeyError):
        mx.Context("tpu")


@pytest.mark.clause("Context/gpu-present")
@pytest.mark.skipif(mx.num_gpus() > 0, reason="a CUDA device is present")
def test_an_absent_gpu_is_refused() -> None:
    with pytest.raises(mx.MXNetError, match=r"use mx\.cpu") as caught:
        nd.zeros((1,), ctx=mx.gpu(0))
    assert caught.value.clause == "Context/gpu-present"


@pytest.mark.clause("NDArray/copy-self")
def test_copy_to_itself_warns() -> None:
    a = nd.array(A)
    with pytest.warns(RuntimeWarning, match="itself"):
        assert a.copyto(a) is False


@pytest.mark.clause("NDArray/out")
def test_out_receives_the_result_also_when_it_is_an_input() -> None:
    a = nd.array(A)
    assert nd.broadcast_add(a, a, out=a) is a
    assert a.asnumpy().tolist() == [[2, 4, 6], [8, 10, 12]]
    b = nd.array([[1, 2], [3, 4]])
    nd.dot(b, b, out=b)
    assert b.asnumpy().tolist() == [[7, 10], [15, 22]]


@pytest.mark.clause("NDArray/pickle")
def test_pickle() -> None:
    a = nd.array(A, ctx=mx.cpu(1), dtype="int32")
    again = pickle.loads(pickle.dumps(a))  # our own bytes
    assert again.context == mx.cpu(1)
    assert again.dtype is np.int32
    assert again.asnumpy().tolist() == A


# where the functions that pickles name stood before
@pytest.mark.clause("NDArray/pickle")
@pytest.mark.parametrize(("stype", "now", "before"), [
    ("default", b"refimpl.ndarray.ndarray\n_unpickled", b"refimpl.ndarray.exchange\n_unpickled"),
    ("csr", b"refimpl.ndarray.sparse.base\nfrom_parts", b"refimpl.ndarray.sparse.creation\nfrom_parts"),
])
def test_older_pickles_can_be_read(stype: str, now: bytes, before: bytes) -> None:
    array = nd.array([[1, 0, 2]], ctx=mx.cpu(1)).tostype(stype)
    written = pickle.dumps(array, 0)
    assert now in written
    read = pickle.loads(written.replace(now, before))
    assert (read.stype, read.context, read.asnumpy().tolist()) == (stype, mx.cpu(1), [[1, 0, 2]])


def test_one_element_of_a_large_array_is_found_without_reading_elsewhere() -> None:
    a = nd.empty((20000, 5000), dtype="int8")
    a[19999, 4999] = 3
    assert a[19999, 4999].asscalar() == 3


def test_a_remembered_parameter_keeps_the_sign_of_zero() -> None:
    lifted = [nd.clip(nd.array([-3]), a_min, 5).asnumpy() for a_min in (0.0, -0.0, 0.0)]
    assert [bool(np.signbit(x[0])) for x in lifted] == [False, True, False]


@pytest.mark.clause("NDArray/out")
def test_out_may_overlap_an_input() -> None:
    # by hand: what is read are the values before the call
    a = nd.arange(6)
    nd.elemwise_add(a[0:5], a[1:6], out=a[1:6])
    assert a.asnumpy().tolist() == [0, 1, 3, 5, 7, 9]
    b = nd.arange(6)
    nd.transpose(b.reshape((2, 3)), out=b.reshape((3, 2)))
    assert b.asnumpy().tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
@pytest.mark.clause("NDArray/out")
def test_on_a_device_out_may_overlap_an_input_and_states_elsewhere_are_updated() -> None:
    a = nd.arange(6, ctx=mx.gpu(0))
    nd.transpose(a.reshape((2, 3)), out=a.reshape((3, 2)))
    assert a.asnumpy().tolist() == [0, 3, 1, 4, 2, 5]
    weight, momentum = nd.ones((2,), ctx=mx.gpu(0)), nd.zeros((2,))
    nd.sgd_mom_update(weight, weight.copy(), momentum, lr=0.5, momentum=0.5, out=weight)
    assert momentum.asnumpy().tolist() == [-0.5, -0.5]


def test_what_python_asks_of_an_array() -> None:
    a = nd.array(A)
    assert len(a) == 2
    assert [row.asnumpy().tolist() for row in a] == A
    assert nd.array([3]).asscalar() == 3
    assert bool(nd.array([1]))
    assert "NDArray 2x3 @cpu(0)" in repr(a)
    assert a.stype == "default"
    assert nd.moveaxis(nd.zeros((2, 3, 4)), 0, 2).shape == (3, 4, 2)
    with pytest.raises(AttributeError, match="foo"):
        a.foo  # noqa: B018  # the access is the test


def test_single_numbers_meet_under_np_shape():
    with mx.util.np_shape(True):
        one, two = nd.full((), 1.0), nd.full((), 2.0)
        assert [(one + two).asscalar(), nd.broadcast_power(two, two).asscalar()] == [3, 4]
        one += two
        assert (one.shape, one.asscalar()) == ((), 3)


def test_an_array_without_memory_has_no_handle() -> None:
    # MXNet 1.9.1: mx.nd.NDArray(None).handle is None
    assert mx.nd.NDArray(None).handle is None
    assert mx.nd.ones(2).handle is not None
