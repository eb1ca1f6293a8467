"""eye, linspace, onehot_encode, split_v2, histogram, from_numpy; and refusals that pages cannot show.

Numbers and error types were observed in MXNet 1.9.1 by the call in the comment, unless it says otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

nd = mx.nd


def lists(arrays: list) -> list:
    return [array.asnumpy().tolist() for array in arrays]


# --- from nothing ---------------------------------------------------------------------------------


@pytest.mark.clause("_eye/diagonal")
def test_eye() -> None:
    # nd.eye(2, 3, 1, mx.cpu(1)); nd.eye(2, dtype=np.int32)
    made = nd.eye(2, 3, 1, mx.cpu(1))
    assert made.asnumpy().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert (made.dtype, made.context) == (np.float32, mx.cpu(1))
    assert nd.eye(2, dtype=np.int32).dtype == np.int32
    with pytest.raises(mx.MXNetError, match="_eye/rows"):
        nd.eye(-1)
    assert nd.eye(0).shape == (0, 0)  # under np_shape


@pytest.mark.clause("_linspace/values")
def test_linspace() -> None:
    # nd.linspace(0, 1, 5, endpoint=False); nd.linspace(5, 1, 3); nd.linspace(0, 1, 3, dtype=None)
    assert nd.linspace(0, 1, 5, endpoint=False).asnumpy().tolist() == [
        0.0, 0.20000000298023224, 0.4000000059604645, 0.6000000238418579, 0.800000011920929,
    ]
    assert nd.linspace(5, 1, 3, ctx=mx.cpu(2)).asnumpy().tolist() == [5, 3, 1]
    assert nd.linspace(0, 1, 3).dtype == np.float32
    assert nd.linspace(0, 1, 3, dtype=None).dtype == np.float64
    with pytest.raises(mx.MXNetError, match="_linspace/num"):
        nd.linspace(0, 1, -2)
    assert nd.linspace(0, 1, 0).shape == (0,)  # under np_shape


def test_symbols_from_nothing() -> None:
    # mx.sym.eye(2, k=1).infer_shape(); mx.sym.linspace(0, 1, 3, dtype='float64').infer_type()
    assert mx.sym.eye(2, k=1, name="e").infer_shape() == ([], [(2, 2)], [])
    assert mx.sym.linspace(0, 1, 3, dtype="float64").infer_type() == ([], [np.float64], [])
    attrs = mx.sym.eye(2, name="e").attr_dict()["e"]
    assert attrs == {"M": "0", "N": "2", "dtype": "float32", "k": "0"}


def test_set_value_cuts_to_the_type_of_the_target() -> None:
    # nd._internal._set_value(src=3.5, out=nd.ones((2,), dtype='int32'))
    target = nd.ones((2,), dtype="int32")
    assert nd._internal._set_value(src=3.5, out=target) is target
    assert target.asnumpy().tolist() == [3, 3]


@pytest.mark.clause("_zeros_without_dtype/dtype")
def test_zeros_take_the_type_of_the_consumer() -> None:
    zeros = mx.sym._internal._zeros_without_dtype(shape=(2,))
    both = zeros + mx.sym.Variable("x", dtype="float64")
    assert both.infer_type() == ([np.float64], [np.float64], [])
    assert nd._internal._zeros_without_dtype(shape=(2,)).dtype == np.float32


# --- from other arrays ----------------------------------------------------------------------------


@pytest.mark.clause("_onehot_encode/rows")
def test_onehot_encode_writes_its_target() -> None:
    # nd.onehot_encode(nd.array([1, 9, 0]), o) with o = nd.ones((3, 3))
    target = nd.ones((3, 3))
    assert nd.onehot_encode(nd.array([1, 9, 0]), target) is target
    assert target.asnumpy().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    with pytest.raises(mx.MXNetError, match="_onehot_encode/shape"):
        nd.onehot_encode(nd.array([1, 0]), target)
    with pytest.raises(AssertionError):
        nd.onehot_encode([1], target)


@pytest.mark.clause("NDArray/split")
def test_split_v2() -> None:
    # nd.split_v2(nd.arange(4), (1, 2)); nd.split_v2(nd.arange(4), 2); nd.split_v2(nd.arange(4), ())
    a = nd.arange(4)
    assert lists(nd.split_v2(a, (1, 2))) == [[0], [1], [2, 3]]
    assert lists(nd.split_v2(a, 2)) == [[0, 1], [2, 3]]
    assert nd.split_v2(a, ()).asnumpy().tolist() == [0, 1, 2, 3]
    assert lists(nd.split_v2(a.reshape((2, 2)), 2, axis=-1, squeeze_axis=True)) == [[0, 2], [1, 3]]
    for wrong in (3, 0, [1], 1.5):
        with pytest.raises(ValueError, match="NDArray/split"):
            nd.split_v2(a, wrong)
    with pytest.raises(mx.MXNetError, match="_split_v2/parts"):
        nd.split_v2(a, (2, 1))
    for axis in (1, -2):
        with pytest.raises(mx.MXNetError, match="_split_v2/axis"):
            nd.split_v2(a, 2, axis=axis)


def test_symbol_of_one_part() -> None:
    # mx.sym.split_v2(x, ()).list_outputs(); mx.sym.split_v2(x, 3).infer_shape(x=(4, 2))
    x = mx.sym.Variable("x")
    assert mx.sym.split_v2(x, ()).list_outputs()[0].endswith("_output")
    assert mx.sym.split_v2(x, 3).infer_shape(x=(4, 2)) == ([(4, 2)], [(2, 2), (1, 2), (1, 2)], [])


@pytest.mark.clause("NDArray/histogram")
def test_histogram() -> None:
    # nd.histogram(a, 3, (0, 3)); nd.histogram(a, nd.array([0, 2, 4])); nd.histogram(nd.array([1, 1]), bins=3)
    a = nd.array([0, 0.5, 1, 2, 2.5, 3])
    counts, edges = nd.histogram(a, 3, (0, 3))
    assert (counts.asnumpy().tolist(), edges.asnumpy().tolist()) == ([2, 1, 3], [0, 1, 2, 3])
    assert (counts.dtype, edges.dtype) == (np.int64, np.float32)
    assert lists(nd.histogram(a, nd.array([0, 2, 4]))) == [[3, 3], [0, 2, 4]]
    with pytest.warns(UserWarning, match="range is not specified"):
        counts, edges = nd.histogram(nd.array([1, 1]), bins=3)
    assert (counts.dtype, counts.asnumpy().tolist()) == (np.float32, [0, 2, 0])
    assert edges.asnumpy().tolist() == [0.5, 0.8333333134651184, 1.1666666269302368, 1.5]
    for wrong in ("a", 2.0, np.array([0, 1])):
        with pytest.raises(ValueError, match="NDArray/histogram"):
            nd.histogram(a, wrong)


@pytest.mark.clause("Symbol/histogram")
def test_symbol_of_a_histogram() -> None:
    # mx.sym.histogram(x, 3, (0, 1), name='h').list_outputs(); mx.sym.histogram(x)
    x = mx.sym.Variable("x")
    assert mx.sym.histogram(x, 3, (0, 1), name="h").list_outputs() == ["h_output0", "h_output1"]
    assert mx.sym.histogram(x, mx.sym.Variable("b")).list_arguments() == ["x", "b"]
    for wrong in (10, "a"):
        with pytest.raises(ValueError, match="Symbol/histogram"):
            mx.sym.histogram(x, wrong)


@pytest.mark.clause("NDArray/from-numpy")
def test_from_numpy() -> None:
    # nd.from_numpy(np.ones((3, 2)).T) and its refusals; that it copies is a deviation
    values = np.arange(6, dtype=np.float64).reshape(2, 3)
    made = nd.from_numpy(values)
    assert (made.dtype, made.shape, made.asnumpy().tolist()) == (np.float64, (2, 3), values.tolist())
    values[0] = 9
    assert made.asnumpy()[0].tolist() == [0, 1, 2]
    assert nd.from_numpy(values.T, zero_copy=False).asnumpy().tolist() == values.T.tolist()
    for wrong in (values.T, np.array(["a"]), np.array([1], np.uint16)):
        with pytest.raises(ValueError, match="NDArray/from-numpy"):
            nd.from_numpy(wrong)
    with pytest.raises(TypeError, match="NDArray/from-numpy"):
        nd.from_numpy([1])


# --- what the pages of the operators refuse when they run -------------------------------------------


@pytest.mark.clause("gather_nd/range")
@pytest.mark.parametrize("index", [2, -3, float("nan"), float("inf")])
def test_indices_outside_are_refused(index: float) -> None:
    # nd.gather_nd(nd.ones((2,)), nd.array([[2]])).asnumpy(): IndexError
    named = nd.array([[index]])
    with pytest.raises(IndexError, match="gather_nd/range"):
        nd.gather_nd(nd.ones((2,)), named)
    with pytest.raises(IndexError, match="gather_nd/range"):
        nd.scatter_nd(nd.ones((1,)), named, shape=(2,))


@pytest.mark.clause("scatter_nd/last")
def test_only_the_last_write_has_a_gradient() -> None:
    # by hand; MXNet gives [1, 1]
    index, values = nd.array([1, 1]), nd.array([5, 6])
    values.attach_grad()
    with mx.autograd.record():
        out = nd._internal._contrib_index_copy(nd.zeros((2,)), index, values)
    out.backward()
    assert out.asnumpy().tolist() == [0, 6]
    assert values.grad.asnumpy().tolist() == [0, 1]


@pytest.mark.clause("all_finite/init-output")
def test_checks_add_up_in_one_output() -> None:
    # flag = nd.ones((1,)); nd.all_finite(nd.array([inf]), init_output=False, out=flag) gives 0, and stays 0
    flag = nd.ones((1,))
    for value, expected in ((1.0, 1.0), (float("inf"), 0.0), (1.0, 0.0)):
        nd.all_finite(nd.array([value]), init_output=False, out=flag)
        assert flag.asnumpy().tolist() == [expected]


@pytest.mark.clause("reset_arrays/zero")
def test_reset_arrays() -> None:
    # nd.reset_arrays(a, b, num_arrays=2) returns []
    a, b = nd.ones((2,)), nd.ones((1, 3), dtype="int32")
    assert nd.reset_arrays(a, b, num_arrays=2) == []
    assert lists([a, b]) == [[0, 0], [[0, 0, 0]]]


WITHOUT_GRADIENT = {
    "all_finite": nd.all_finite, "argmax_channel": nd.argmax_channel, "khatri_rao": nd.khatri_rao,
    "histogram": lambda x: nd.histogram(x, 2, (0, 1))[1],
    "onehot_encode": lambda x: nd._internal._onehot_encode(nd.array([0, 1]), x),
    "the label's": lambda x: nd.softmax_cross_entropy(nd.ones((2, 2)), x.reshape((-1,))[:2]),
}


@pytest.mark.clause("all_finite/gradient")
@pytest.mark.clause("khatri_rao/gradient")
@pytest.mark.clause("_histogram/gradient")
@pytest.mark.clause("softmax_cross_entropy/label-gradient")
@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_operators_without_gradient_refuse_one(name: str) -> None:
    # the same with autograd: MXNetError, "is non-differentiable" or "Cannot take gradient wrt label"
    x = nd.ones((2, 2))
    x.attach_grad()
    with mx.autograd.record():
        out = WITHOUT_GRADIENT[name](x)
    with pytest.raises(mx.MXNetError):
        out.backward()
        x.grad.wait_to_read()


@pytest.mark.clause("amp_multicast/widest")
@pytest.mark.parametrize(("narrow", "expected"), [(False, "float32"), (True, "float16")])
def test_whole_numbers_keep_their_type(narrow: bool, expected: str) -> None:
    # by hand: MXNet's MKL-DNN build refuses float16 here
    arrays = [nd.ones((2,), dtype=kind) for kind in ("float16", "float32", "int32")]
    made = nd.amp_multicast(*arrays, num_outputs=3, cast_narrow=narrow)
    assert [np.dtype(array.dtype).name for array in made] == [expected, expected, "int32"]


@pytest.mark.clause("sort/gradient")
def test_sort_has_a_gradient_by_default() -> None:
    # by hand; MXNet fails: its gradient cannot read the default axis
    x = nd.array([[3, 1, 2]])
    x.attach_grad()
    with mx.autograd.record():
        y = nd.sort(x)
    y.backward(nd.array([[4, 5, 6]]))
    assert x.grad.asnumpy().tolist() == [[6, 4, 5]]


@pytest.mark.clause("sort/ties")
def test_long_rows_keep_the_order_of_equals() -> None:
    # by hand; MXNet's order of equals changes above 16 elements
    x = nd.array([1, 2] * 20)
    odd, even = list(range(1, 40, 2)), list(range(0, 40, 2))
    assert nd.argsort(x, dtype="int32").asnumpy().tolist() == even + odd
    assert nd.topk(x, k=3, dtype="int32").asnumpy().tolist() == [1, 3, 5]
