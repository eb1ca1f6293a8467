"""Names and calls of MXNet's Symbol that belong to no other test: gradients as symbols, passes by name, numbers."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import refimpl as mx

# dir(mx.sym.Symbol) of MXNet 1.9.1 without underscores
NAMES = """
abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort as_in_context as_nd_ndarray
as_np_ndarray asnumpy asscalar astype attr attr_dict backward bind broadcast_axes broadcast_like broadcast_to cbrt
ceil clip copy cosh debug_str degrees depth_to_space detach diag eval exp expand_dims expm1 fix flatten flip floor
get_backend_symbol get_children get_internals gradient handle infer_shape infer_shape_partial infer_type
infer_type_partial list_arguments list_attr list_auxiliary_states list_inputs list_outputs log log10 log1p log2
log_softmax max mean min name nanprod nansum norm one_hot ones_like optimize_for pad pick prod radians rcbrt
reciprocal relu repeat reshape reshape_like rint round rsqrt save shape_array sigmoid sign simple_bind sin sinh
size_array slice slice_axis slice_like softmax softmin sort space_to_depth split split_v2 square squeeze sum swapaxes
take tan tanh tile tojson topk transpose trunc wait_to_read zeros_like
""".split()


def test_every_name_of_mxnet_is_there() -> None:
    symbol = mx.sym.Variable("a")
    assert len(NAMES) == 115
    assert [name for name in NAMES if not hasattr(symbol, name)] == []


@pytest.mark.clause("Symbol/gradient")
def test_a_gradient_is_a_symbol_that_is_bound_like_any_other() -> None:
    x, w = mx.sym.Variable("x"), mx.sym.Variable("w")
    net = mx.sym.Activation(mx.sym.FullyConnected(x, w, no_bias=True, num_hidden=2), act_type="tanh")
    draw = np.random.RandomState(0)
    values = {"x": draw.uniform(-1, 1, (4, 3)), "w": draw.uniform(-1, 1, (2, 3))}
    head = mx.nd.array(draw.uniform(-1, 1, (4, 2)))
    slope = net.gradient(["w", "x"])
    assert slope.infer_shape(x=(4, 3))[1] == [(2, 3), (4, 3)]
    found = slope.eval(_head_grad_0=head, **{n: mx.nd.array(v) for n, v in values.items()})
    bound = net.simple_bind(mx.cpu(), x=(4, 3))
    bound.copy_params_from({n: mx.nd.array(v) for n, v in values.items()})
    bound.forward(is_train=True)
    bound.backward(head)
    for name, array in zip(["w", "x"], found, strict=True):
        np.testing.assert_allclose(array.asnumpy(), bound.grad_dict[name].asnumpy(), rtol=0, atol=1e-6)


@pytest.mark.clause("Symbol/gradient")
def test_a_gradient_made_of_loops_has_the_shapes_of_what_it_belongs_to() -> None:
    x = mx.sym.Variable("x")
    slope = mx.sym.Pooling(x, kernel=(2, 2), pool_type="max").gradient("x")
    assert slope.infer_shape(x=(1, 1, 2, 2)) == ([(1, 1, 1, 1), (1, 1, 2, 2)], [(1, 1, 2, 2)], [])
    assert slope.infer_type(x="float64")[0] == [np.float64, np.float64]
    (value,) = slope.eval(x=mx.nd.array([[[[1, 4], [2, 3]]]]), _head_grad_0=mx.nd.full((1, 1, 1, 1), 5))
    assert value.asnumpy().tolist() == [[[[0, 5], [0, 0]]]]


@pytest.mark.clause("Symbol/gradient")
def test_a_gradient_is_zero_where_nothing_depends_on_the_argument() -> None:
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    net = x * 2 + mx.sym.BlockGrad(y)
    (value,) = net.gradient("y").eval(y=mx.nd.array([3, 4]))
    assert value.asnumpy().tolist() == [0, 0]


@pytest.mark.clause("Symbol/gradient-name")
def test_a_gradient_with_respect_to_nothing_known_is_refused() -> None:
    with pytest.raises(mx.MXNetError, match="'z' is no argument; there are x") as caught:
        mx.sym.exp(mx.sym.Variable("x")).gradient(["z"])
    assert caught.value.clause == "Symbol/gradient-name"


@pytest.mark.clause("Symbol/gradient-file")
@pytest.mark.clause("gradient/differentiable")
def test_a_gradient_made_of_loops_is_neither_saved_nor_differentiated() -> None:
    slope = mx.sym.Pooling(mx.sym.Variable("x"), kernel=(2, 2), pool_type="max", name="pool").gradient("x")
    with pytest.raises(mx.MXNetError, match="pool_backward is the gradient of Pooling") as caught:
        slope.tojson()
    assert caught.value.clause == "Symbol/gradient-file"
    with pytest.raises(mx.MXNetError, match=r"_backward_Pooling .* is non-differentiable"):
        slope.gradient("x")


@pytest.mark.clause("gradient/differentiable")
def test_every_output_of_a_gradient_node_refuses_a_gradient() -> None:
    names = ("x", "gamma", "beta")
    net = mx.sym.InstanceNorm(*map(mx.sym.Variable, names))  # its gradient is one node of three outputs
    for name in names:
        with pytest.raises(mx.MXNetError, match=r"_backward_InstanceNorm .* is non-differentiable"):
            net.gradient(name).gradient("x")


@pytest.mark.clause("Symbol/gradient")
def test_a_gradient_can_be_copied_and_composed() -> None:
    slope = copy.deepcopy((mx.sym.Variable("x") ** 2).gradient("x"))
    (value,) = slope(_head_grad_0=mx.sym.Variable("h")).eval(x=mx.nd.array([3]), h=mx.nd.array([10]))
    assert value.asscalar() == 60


@pytest.mark.clause("Symbol/backend")
def test_a_backend_gives_the_symbol_after_its_pass() -> None:
    a = mx.sym.Variable("a")
    both = mx.sym.exp(a, name="one") + mx.sym.exp(a, name="two")
    assert [n.name for n in both.get_backend_symbol("default").order()][:2] == ["a", "one"]
    assert len(both.get_backend_symbol("default").order()) == 3
    assert both.get_backend_symbol("MKLDNN").tojson() == both.tojson()
    with pytest.raises(mx.MXNetError, match="SubgraphProperty nope is not found"):
        both.get_backend_symbol("nope")


@pytest.mark.clause("Symbol/backend")
def test_zeros_of_unknown_shape_are_not_merged_and_groups_are_kept_apart() -> None:
    zeros = [mx.sym.zeros((0, 2)) for _ in range(2)]
    assert len(mx.sym.Group(zeros).get_backend_symbol("default").order()) == 2
    with mx.AttrScope(ctx_group="far"):
        there = mx.sym.exp(mx.sym.Variable("a"))
    here = mx.sym.exp(there.get_children())
    assert len((here + there).get_backend_symbol("default").order()) == 4


@pytest.mark.clause("Symbol/optimize-for")
def test_optimize_for_warns_of_what_it_does_not_know() -> None:
    a = mx.sym.exp(mx.sym.Variable("a"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert a.optimize_for("nope", {"a": mx.nd.ones((2,))}) is a
    assert "backend nope is unknown" in str(seen[0].message)
    assert a.optimize_for("default").tojson() == a.tojson()


@pytest.mark.clause("Symbol/numpy-symbol")
def test_there_are_no_numpy_symbols() -> None:
    a = mx.sym.Variable("a")
    assert a.as_nd_ndarray() is a
    assert a.handle is a.entries
    with pytest.raises(mx.MXNetError, match=r"there is no mx\.np"):
        a.as_np_ndarray()


@pytest.mark.clause("Symbol/split-where")
def test_split_v2_cuts_by_number_or_by_index() -> None:
    a = mx.sym.Variable("a", shape=(2, 6))
    assert a.split_v2(3, axis=1).infer_shape()[1] == [(2, 2)] * 3
    assert mx.sym.split_v2(a, (1, 3), axis=1).infer_shape()[1] == [(2, 1), (2, 2), (2, 3)]
    assert mx.sym.split_v2(a, 2, axis=0, squeeze_axis=True).infer_shape()[1] == [(6,), (6,)]
    with pytest.raises(ValueError, match="either int or tuple of ints"):
        a.split_v2("x")


@pytest.mark.clause("Symbol/numbers")
def test_functions_of_two_numbers_are_numbers() -> None:
    # MXNet 1.9.1: mx.sym.maximum(2, 3), minimum(2, 3), pow(2, 3), hypot(3, 4)
    assert (mx.sym.maximum(2, 3), mx.sym.minimum(2, 3), mx.sym.pow(2, 3), mx.sym.hypot(3, 4)) == (3, 2, 8, 5.0)
    with pytest.raises(TypeError, match="not supported"):
        mx.sym.maximum("a", 2)


@pytest.mark.clause("Symbol/attr-of-group")
def test_a_group_has_no_attribute_of_its_own() -> None:
    a, b = mx.sym.Variable("a", lr_mult=2), mx.sym.Variable("b")
    assert mx.sym.Group([a, b]).attr("lr_mult") is None
    assert a.attr("lr_mult") == "2"


@pytest.mark.clause("Symbol/attributes")
def test_storage_is_an_attribute_with_mxnets_number() -> None:
    assert mx.sym.Variable("a", stype="csr").attr("__storage_type__") == "2"


@pytest.mark.clause("Symbol/attributes")
def test_a_parameter_that_is_set_as_an_attribute_takes_effect() -> None:
    # MXNet 1.9.1: fc._set_attr(num_hidden='5'); fc.infer_shape(data=(2, 3))[1] == [(2, 5)]
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4)
    net._set_attr(num_hidden="5")
    assert net.infer_shape(data=(2, 3))[1] == [(2, 5)]


@pytest.mark.clause("passes/common-expressions")
def test_the_optimized_symbol_of_a_cached_operator_has_merged_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    from refimpl.symbol import passes

    a = mx.sym.Variable("a")
    both = mx.sym.exp(a, name="one") + mx.sym.exp(a, name="two")
    assert len(mx.sym.Symbol(passes.optimized(both.entries)).order()) == 3
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", "0")
    assert len(mx.sym.Symbol(passes.optimized(both.entries)).order()) == 4


def test_debug_str_is_mxnets_text() -> None:
    # MXNet 1.9.1: print(BatchNorm(FullyConnected(a, num_hidden=3, name='fc'), name='bn').debug_str())
    net = mx.sym.FullyConnected(mx.sym.Variable("a"), num_hidden=3, name="fc")
    assert mx.sym.BatchNorm(net, name="bn").debug_str().splitlines() == [
        "Symbol Outputs:", "\toutput[0]=bn(0)", "Variable:a", "Variable:fc_weight", "Variable:fc_bias",
        "--------------------", "Op:FullyConnected, Name=fc", "Inputs:", "\targ[0]=a(0) version=0",
        "\targ[1]=fc_weight(0) version=0", "\targ[2]=fc_bias(0) version=0", "Attrs:", "\tnum_hidden=3",
        "Variable:bn_gamma", "Variable:bn_beta", "Variable:bn_moving_mean", "Variable:bn_moving_var",
        "--------------------", "Op:BatchNorm, Name=bn", "Inputs:", "\targ[0]=fc(0)",
        "\targ[1]=bn_gamma(0) version=0", "\targ[2]=bn_beta(0) version=0", "\targ[3]=bn_moving_mean(0) version=1",
        "\targ[4]=bn_moving_var(0) version=1",
    ]


# by hand: mean 0.5 * 1 + 0.5 * 1, var the same, and 2 - 0.5 * (1 * 1 / sqrt(1) + 0.25 * 2)
@pytest.mark.clause("Symbol/adamw")
@pytest.mark.parametrize("scale", [0.5, mx.sym.Variable("scale")], ids=["number", "symbol"])
def test_adamw_as_a_graph(scale: object) -> None:
    names = ("weight", "grad", "mean", "var", "weight32")
    inputs = [mx.sym.Variable(name) for name in names]
    options = {"lr": 1.0, "eta": 0.5, "beta1": 0.5, "beta2": 0.5, "epsilon": 0, "wd": 0.25}
    for rule, count, dtype in (
        (mx.sym.contrib.adamw_update, 4, "float32"), (mx.sym.contrib.mp_adamw_update, 5, "float16"),
    ):
        graph = rule(*inputs[:count], scale, name="step", **options)
        values = dict.fromkeys(("weight", "grad"), mx.nd.array([2.0], dtype=dtype))
        values["scale"] = mx.nd.array([0.5])
        states = {"mean": mx.nd.ones(1), "var": mx.nd.ones(1), "weight32": mx.nd.array([2.0])}
        executor = graph.bind(
            mx.cpu(), {name: values[name].copy() for name in graph.list_arguments()},
            aux_states={name: states[name] for name in graph.list_auxiliary_states()},
        )
        assert executor.forward(is_train=True)[0].asnumpy().tolist() == [1.25]
        assert graph.list_outputs() == ["step_output"]
        assert executor.aux_dict["mean"].asscalar() == 1.0
