"""Calls of operators that programs of 2015-2022 make, beside the plain ones; numbers from MXNet 1.9.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import nd, sym
from refimpl.symbol.inferred_lists import known_shapes


def value_and_gradient(run: Any, data: Any, head: Any) -> tuple[Any, Any]:
    x = nd.array(data, dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = run(x)
    y.backward(nd.array(head, dtype="float64"))
    return y.asnumpy(), x.grad.asnumpy()


HEAD = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.clause("linalg_potrf/factor", "linalg_potrf/gradient")
def test_upper_factor() -> None:
    # x = mx.nd.array([[4, 2, 1], [9, 5, 3], [9, 9, 7]], dtype="float64"); x.attach_grad()
    # with mx.autograd.record(): y = mx.nd.linalg.potrf(x, lower=False)
    # y.backward(head); y, x.grad
    value, gradient = value_and_gradient(
        lambda x: nd.linalg.potrf(x, lower=False), [[4, 2, 1], [9, 5, 3], [9, 9, 7]], HEAD
    )
    np.testing.assert_allclose(value, [[2, 1, 0.5], [0, 2, 1.25], [0, 0, 2.277608394786075]], rtol=1e-15)
    np.testing.assert_allclose(gradient, [
        [0.2733427995305251, -0.10842799530525102, 0.12348479248840163],
        [-0.10842799530525105, 1.0842799530525102, 0.26515207511598365],
        [0.1234847924884016, 0.2651520751159837, 1.9757566798144262],
    ], rtol=1e-14)


@pytest.mark.clause("linalg_potri/inverse", "linalg_potri/gradient")
def test_inverse_from_an_upper_factor() -> None:
    # as above, of mx.nd.linalg.potri(x, lower=False) at [[2, 1, 3], [7, 4, 5], [8, 9, 1]]
    value, gradient = value_and_gradient(
        lambda x: nd.linalg.potri(x, lower=False), [[2, 1, 3], [7, 4, 5], [8, 9, 1]], HEAD
    )
    assert value.tolist() == [[1.03125, 1.0625, -0.875], [1.0625, 1.625, -1.25], [-0.875, -1.25, 1.0]]
    assert gradient.tolist() == [[0.15625, 0.3125, -0.375], [0, -1.359375, 1.03125], [0, 0, 4.21875]]


def test_a_symbol_holds_which_triangle() -> None:
    # mx.sym.linalg.potrf(mx.sym.var("a"), lower=False).tojson()
    factor = sym.linalg.potrf(sym.var("a"), lower=False)
    assert factor.list_attr() == {"lower": "False"}
    # mx.nd.linalg.potrf(a, lower="x"): Invalid Parameter format for lower expect boolean but value='x'
    with pytest.raises(mx.MXNetError, match="lower"):
        sym.linalg.potrf(sym.var("a"), lower="x")


@pytest.mark.parametrize("name", ["step", "repeat", "infer_range"])
def test_linspace_takes_only_its_own_parameters(name: str) -> None:
    # mx.nd._internal._linspace(start=0, stop=1, num=5, step=2), and so on: help() lists the parameters of _arange,
    # and MXNetError: Cannot find argument 'step'
    with pytest.raises(mx.MXNetError, match=name):
        nd._internal._linspace(start=0, stop=1, num=5, **{name: 1})


@pytest.mark.parametrize("value", [True, False])
def test_sparse_embedding_takes_no_sparse_grad(value: bool) -> None:
    # mx.nd.contrib.SparseEmbedding(d, w, input_dim=3, output_dim=1, sparse_grad=True): help() lists the parameters of
    # Embedding, and MXNetError: Cannot find argument 'sparse_grad' ... deterministic : boolean, optional, default=0
    with pytest.raises(mx.MXNetError, match="sparse_grad"):
        nd.contrib.SparseEmbedding(nd.array([2, 0]), nd.ones((3, 1)), input_dim=3, output_dim=1, sparse_grad=value)


def gradients(run: Any, arrays: Any, head: Any, dtype: str = "float32") -> list[Any]:
    """The value of ``run`` and the gradients of all arrays, as lists."""
    arrays = [nd.array(each, dtype=dtype) for each in arrays]
    for each in arrays:
        each.attach_grad()
    with mx.autograd.record():
        y = run(*arrays)
    y.backward(nd.array(head, dtype=y.dtype))
    return [each.asnumpy().tolist() for each in (y, *(a.grad for a in arrays))]


def prelu(data: Any, gamma: Any) -> Any:
    return nd.LeakyReLU(data, gamma, act_type="prelu")


@pytest.mark.clause("LeakyReLU/prelu", "LeakyReLU/gamma-shape")
def test_a_gamma_for_every_element() -> None:
    # value and gradients of mx.nd.LeakyReLU(data, gamma, act_type="prelu"), under record, with the head given
    data, gamma = [[-1, -2, 3], [-4, 5, -6]], [[0.5, 1, 2], [3, 4, 5]]
    assert gradients(prelu, [data, gamma], [[1, 2, 3], [4, 5, 6]]) == [
        [[-0.5, -2, 3], [-12, 5, -30]], [[0.5, 2, 3], [12, 5, 30]], [[-1, -4, 0], [-16, 0, -36]],
    ]
    # (1, channels)
    data = [[[-1, -2], [-3, -4]], [[-5, -6], [-7, -8]]]
    assert gradients(prelu, [data, [[2, 3]]], np.ones((2, 2, 2))) == [
        [[[-2, -4], [-9, -12]], [[-10, -12], [-21, -24]]], [[[2, 2], [3, 3]]] * 2, [[-14, -22]],
    ]
    # by hand: MXNet fails for data with three axes
    assert gradients(prelu, [data, np.negative(data)], np.ones((2, 2, 2))) == [
        [[[-1, -4], [-9, -16]], [[-25, -36], [-49, -64]]], np.negative(data).tolist(), data,
    ]


@pytest.mark.clause("LeakyReLU/gamma-shape")
@pytest.mark.parametrize(
    ("data", "gamma", "found"),
    [
        ((4, 5, 2, 3), (0, 5), (1, 5)), ((4, 0, 0, 3), (0, 2), (1, 2)), ((4, 5), (0, 5), (0, 5)),
        ((4, 5), (4, 0), (4, 5)), ((4, 5, 2, 3), (4, 0, 2, 0), (4, 5, 2, 3)), ((4, 5, 2, 3), (0, 0), (0, 0)),
    ],
)
def test_gamma_of_prelu_is_inferred_as_far_as_it_follows(data: tuple, gamma: tuple, found: tuple) -> None:
    prelu = mx.sym.LeakyReLU(mx.sym.Variable("data"), mx.sym.Variable("gamma"), act_type="prelu")
    assert known_shapes(prelu.entries, {"data": data, "gamma": gamma})[0] == [data, found]


@pytest.mark.clause("LeakyReLU/gamma-shape")
@pytest.mark.parametrize("gamma", [(2, 1), (3, 1), (1, 2), (1, 3, 1), (2, 3, 1), (6,)])
def test_other_gammas_are_refused(gamma: tuple[int, ...]) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        prelu(nd.ones((2, 3)), nd.ones(gamma))
    assert caught.value.clause == "LeakyReLU/gamma-shape"


@pytest.mark.clause("FullyConnected/bias-column", "FullyConnected/bias-shape")
def test_a_bias_with_two_axes() -> None:
    # mx.nd.sparse.FullyConnected(x, w.tostype("row_sparse"), bias, num_hidden=2): [[21, 37], [14, 26]]
    x, w, bias = [[1, 2], [0, 1]], [[3, 4], [5, 6]], [[10], [20]]
    sparse = nd.sparse.FullyConnected(
        nd.array(x), nd.array(w).tostype("row_sparse"), nd.array(bias), num_hidden=2
    )
    assert sparse.asnumpy().tolist() == [[21, 37], [14, 26]]
    # mx.sym.FullyConnected(d, w, sym.var("b", shape=(0, 1)), num_hidden=2).infer_shape(d=(3, 2))
    net = sym.FullyConnected(sym.var("d"), sym.var("w"), sym.var("b", shape=(0, 1)), num_hidden=2)
    assert net.infer_shape(d=(3, 2)) == ([(3, 2), (2, 2), (2, 1)], [(3, 2)], [])
    # the gradient by hand: MXNet fails
    found = gradients(
        lambda x, w, b: nd.FullyConnected(x, w, b, num_hidden=2), [x, w, bias], [[1, 10], [2, 20]]
    )
    assert (found[0], found[3]) == ([[21, 37], [14, 26]], [[3], [30]])
    for wrong in [(1, 2), (2, 2), (2, 1, 1), (1,)]:
        with pytest.raises(mx.MXNetError, match="FullyConnected/bias-shape"):
            nd.FullyConnected(nd.array(x), nd.array(w), nd.ones(wrong), num_hidden=2)


@pytest.mark.clause("FullyConnected/bias-column")
def test_a_bias_with_two_axes_is_differentiated_twice() -> None:
    x, w, bias = nd.array([[1, 2]]), nd.array([[3, 4]]), nd.array([[10]])
    bias.attach_grad()
    with mx.autograd.record():
        y = nd.FullyConnected(x, w, bias, num_hidden=1) ** 2
        (slope,) = mx.autograd.grad(y, [bias], create_graph=True)
    slope.backward()  # y = (21 + ...)^2: slope 2 y', its own slope 2
    assert (slope.asnumpy().tolist(), bias.grad.asnumpy().tolist()) == ([[42]], [[2]])


@pytest.mark.clause("elementwise/mod")
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_whole_numbers_modulo_whole_numbers_have_no_slope(dtype: str) -> None:
    # of a % b, mx.nd.broadcast_mod(a, b), a % 3 and 7 % b under record, with a head of tens
    a, b, head, none = [5, 7, 8, 3], [3, 2, 5, 0], [10] * 4, [0] * 4
    assert gradients(lambda a, b: a % b, [a, b], head, dtype) == [[2, 1, 3, 0], none, none]
    assert gradients(nd.broadcast_mod, [a, b], head, dtype) == [[2, 1, 3, 0], none, none]
    assert gradients(nd._internal._mod, [a, b], head, dtype) == [[2, 1, 3, 0], none, none]
    assert gradients(lambda a: a % 3, [a], head, dtype) == [[2, 1, 2, 0], none]
    assert gradients(lambda b: 7 % b, [b], head, dtype) == [[1, 1, 2, 0], none]


@pytest.mark.clause("elementwise/mod")
@pytest.mark.parametrize(("dtype", "slope"), [("int32", 0), ("float32", 1)])
def test_slopes_of_modulo_that_can_be_differentiated_again(dtype: str, slope: int) -> None:
    for run in (lambda a: a % 3, lambda a: a % nd.array([3], dtype=a.dtype), lambda a: nd._internal._mod(a, a * 2)):
        x = nd.array([5], dtype=dtype)
        x.attach_grad()
        with mx.autograd.record():
            (found,) = mx.autograd.grad(run(x), [x], create_graph=True)
        assert found.asscalar() == slope


@pytest.mark.clause("gradientmultiplier/value", "gradientmultiplier/gradient")
@pytest.mark.parametrize(("dtype", "scalar", "expected"), [
    ("float32", -2.5, [-2.5, -5.0, -7.5, -10.0]), ("int32", 2.5, [2, 4, 6, 8]),
    ("float64", 0.1, [0.1, 0.2, 0.30000000000000004, 0.4]),
])
def test_gradient_multiplier(dtype: str, scalar: float, expected: list[float]) -> None:
    # of mx.nd.contrib.gradientmultiplier(x, scalar=scalar) under record, with the head [1, 2, 3, 4]
    data = [5, -7, 8, 3]
    found = gradients(lambda x: nd.contrib.gradientmultiplier(x, scalar=scalar), [data], [1, 2, 3, 4], dtype)
    assert found == [data, expected]
    # mx.sym.contrib.gradientmultiplier(a, scalar=2).tojson(): {"scalar": "2"}
    with mx.name.NameManager():
        net = sym.contrib.gradientmultiplier(sym.var("a"), scalar=2)
    assert (net.name, net.list_attr()) == ("gradientmultiplier0", {"scalar": "2"})
    assert nd.contrib.gradientmultiplier(nd.ones((2, 1)).tostype("csr"), scalar=2).stype == "csr"


@pytest.mark.clause("elementwise/scatter")
def test_division_of_stored_rows() -> None:
    # mx.nd._internal._scatter_elemwise_div(lhs.tostype(...), rhs.tostype(...)), its stype and values
    lhs, rhs = nd.array([[4, 2], [0, 0], [9, 3]]), nd.array([[2, 0], [5, 0], [3, 3]])
    for stype in ("default", "row_sparse"):
        found = nd._internal._scatter_elemwise_div(lhs.tostype("row_sparse"), rhs.tostype(stype))
        assert (found.stype, found.indices.asnumpy().tolist()) == ("row_sparse", [0, 2])
        assert found.asnumpy().tolist() == [[2, np.inf], [0, 0], [3, 1]]
    few = nd.array([[2, 4], [0, 0], [0, 0]]).tostype("row_sparse")
    found = nd._internal._scatter_elemwise_div(lhs.tostype("row_sparse"), few)
    assert found.asnumpy().tolist() == [[2, 0.5], [0, 0], [np.inf, np.inf]]
    for left, right in (("default", "default"), ("csr", "default"), ("default", "row_sparse"), ("csr", "row_sparse")):
        found = nd._internal._scatter_elemwise_div(lhs.tostype(left), rhs.tostype(right))
        assert found.stype == "default"
        np.testing.assert_array_equal(found.asnumpy(), [[2, np.inf], [0, np.nan], [3, 1]])


@pytest.mark.clause("scalar/scatter")
@pytest.mark.parametrize(("stype", "rest"), [("row_sparse", 0), ("csr", 0), ("default", 1.5)])
def test_addition_to_stored_values(stype: str, rest: float) -> None:
    # mx.nd._internal._scatter_plus_scalar(data.tostype(stype), scalar=1.5), and minus
    data = nd.array([[4, 2], [0, 0], [9, 3]])
    more = nd._internal._scatter_plus_scalar(data.tostype(stype), scalar=1.5)
    less = nd._internal._scatter_minus_scalar(data.tostype(stype), scalar=1.5)
    assert more.stype == less.stype == stype
    assert more.asnumpy().tolist() == [[5.5, 3.5], [rest, rest], [10.5, 4.5]]
    assert less.asnumpy().tolist() == [[2.5, 0.5], [-rest, -rest], [7.5, 1.5]]
    assert gradients(lambda x: nd._internal._scatter_plus_scalar(x, scalar=2), [[1, 2]], [3, 4])[1] == [3, 4]
    # of int32 [1, 2]: [2, 3] and [0, 1]
    whole = nd.array([1, 2], dtype="int32")
    assert nd._internal._scatter_plus_scalar(whole, scalar=1.5).asnumpy().tolist() == [2, 3]


@pytest.mark.parametrize(("given", "params", "arguments"), [
    ("dow", {}, ["d", "o", "w", "c_bias"]), ("do", {}, ["d", "o", "c_weight", "c_bias"]),
    ("dowb", {}, ["d", "o", "w", "b"]), ("dow", {"no_bias": True}, ["d", "o", "w"]),
])
def test_inputs_of_deformable_convolution_in_order(given: str, params: dict, arguments: list[str]) -> None:
    # mx.sym.contrib.DeformableConvolution(*map(mx.sym.var, given), kernel=(3, 3), num_filter=2, name="c", **params)
    variables = [sym.var(name) for name in given]
    net = sym.contrib.DeformableConvolution(*variables, kernel=(3, 3), num_filter=2, name="c", **params)
    assert net.list_arguments() == arguments
    # mx.sym.contrib.ModulatedDeformableConvolution of d, o, m, w, b
    net = sym.contrib.ModulatedDeformableConvolution(*map(sym.var, "domwb"), kernel=(3, 3), num_filter=2)
    assert net.list_arguments() == [*"domwb"]
    # by hand: still offsets, a weight of 2 and a bias of 1
    x, still, weight = nd.array([[[[1, 3]]]]), nd.zeros((1, 2, 1, 2)), nd.array([[[[2]]]])
    found = nd.contrib.DeformableConvolution(x, still, weight, nd.array([1]), kernel=(1, 1), num_filter=1)
    assert found.asnumpy().tolist() == [[[[3, 7]]]]


@pytest.mark.clause("broadcast_like/types")
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_broadcast_like_an_array_of_another_type(dtype: str) -> None:
    # mx.nd.broadcast_like(mx.nd.array([[1.5], [2]], dtype="float64"), mx.nd.zeros((2, 3), dtype=dtype))
    found = nd.broadcast_like(nd.array([[1.5], [2]], dtype="float64"), nd.zeros((2, 3), dtype=dtype))
    assert (found.dtype, found.asnumpy().tolist()) == (np.float64, [[1.5] * 3, [2] * 3])
    net = sym.broadcast_like(sym.var("a"), sym.var("b"))
    # net.infer_type(a="float64", b="int32"); net.infer_type_partial(a="float64")
    kinds = net.infer_type(a="float64", b=dtype)
    assert kinds == ([np.float64, np.dtype(dtype).type], [np.float64], [])
    assert net.infer_type_partial(a="float64")[0] == [np.float64, None]
    # net.simple_bind(mx.cpu(), a=(2, 1), b=(2, 3), type_dict=...): the gradients after a head of ones
    executor = net.simple_bind(mx.cpu(), a=(2, 1), b=(2, 3), type_dict={"a": np.float64, "b": dtype})
    executor.forward(is_train=True)
    executor.backward(nd.ones((2, 3), dtype="float64"))
    assert executor.grad_dict["a"].asnumpy().tolist() == [[3], [3]]
    assert executor.grad_dict["b"].asnumpy().tolist() == [[0] * 3] * 2


@pytest.mark.clause("Symbol/ignored-arguments")
def test_arguments_of_symbol_functions_that_are_ignored() -> None:
    # list_arguments() of each; in every one out=3 does the same
    a, b, z = map(sym.var, "abz")
    for out in (z, 3, nd.ones(1), None):
        assert sym.relu(a, out=out).list_arguments() == ["a"]
        assert sym.add_n(a, b, out=out).list_arguments() == ["a", "b"]
        assert sym.Concat(a, b, out=out).list_attr() == {"num_args": "2"}
        assert sym._internal._zeros(shape=(2,), out=out).list_attr() == {"shape": "(2,)"}
        assert sym.random.uniform(0, 1, shape=(2,), out=out).list_arguments() == []
        assert sym.zeros((2,), out=out).list_arguments() == []
        assert a.relu(out=out).list_arguments() == ["a"]
    with pytest.raises(TypeError):  # a function of Python's
        sym.maximum(a, b, out=z)
    assert sym._internal._zeros(shape=(2,), foo=z).list_arguments() == []
    assert sym._internal._arange(start=0, stop=3, foo=z).list_arguments() == []
    assert sym._internal._random_uniform(low=0, data=z, shape=(2,)).list_arguments() == []
    assert sym.zeros((2,), data=z).list_arguments() == []
    for refused in (
        lambda: sym.relu(a, foo=z), lambda: sym.FullyConnected(a, num_hidden=3, foo=z),
        lambda: sym._internal._arange(start=z, stop=3), lambda: sym._internal._zeros(shape=z),
        lambda: sym._internal._zeros(z), lambda: sym._internal._zeros(shape=(2,), foo=3),
    ):
        with pytest.raises(mx.MXNetError):
            refused()


@pytest.mark.clause("Symbol/parts")
def test_children_of_a_group() -> None:
    # get_children().list_outputs() of each
    a, b = map(sym.var, "ab")
    total, product, layer = a + b, a * b, sym.FullyConnected(a, num_hidden=2, name="f")
    parts = sym.SliceChannel(a, num_outputs=2, name="s")
    for group, children in (
        ([a + a], "a a"), ([total, product], "a b a b"), ([total, total], "a b"), ([parts], "a"),
        ([parts[1], parts[0]], "a"), ([parts[0] + parts[1]], "s_output0 s_output1"), ([a, layer], "a f_weight f_bias"),
        ([total, layer, total, parts], "a b a f_weight f_bias a"),
    ):
        assert sym.Group(group).get_children().list_outputs() == children.split()
    assert sym.Group([a, b]).get_children() is None
