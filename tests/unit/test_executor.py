"""The 1.x executor: whose memory it uses, when it writes, what it calls."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

nd, sym = mx.nd, mx.sym


def _square_net() -> mx.sym.Symbol:
    return sym.make_loss(sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f").sum(), name="loss")


@pytest.mark.clause("Executor/aliases")
def test_the_callers_arrays_are_used_themselves() -> None:
    a, grad = nd.array([1, 2]), nd.zeros((2,))
    executor = (sym.Variable("a") * 3).bind(mx.cpu(), {"a": a}, {"a": grad})
    assert executor.arg_dict["a"] is a
    assert executor.forward()[0].asnumpy().tolist() == [3, 6]
    a[:] = 5
    assert executor.forward()[0].asnumpy().tolist() == [15, 15]
    executor.backward(nd.array([1, 2]))
    assert grad.asnumpy().tolist() == [3, 6]


@pytest.mark.clause("Executor/outputs-keep-memory")
def test_outputs_exist_from_the_start_and_keep_their_memory() -> None:
    executor = (sym.Variable("a") * 3).bind(mx.cpu(), [nd.array([1, 2])])
    kept = executor.outputs[0]
    assert kept.shape == (2,)
    assert executor.forward()[0] is kept
    assert executor.forward(a=nd.array([4, 5]))[0] is kept
    assert kept.asnumpy().tolist() == [12, 15]


@pytest.mark.clause("Executor/output-is-argument")
def test_an_output_that_is_an_argument_is_a_copy() -> None:
    a = nd.array([1, 2])
    variable = sym.Variable("a")
    executor = sym.Group([variable, variable * 2, variable]).bind(mx.cpu(), [a], [nd.zeros((2,))])
    outputs = executor.forward()
    outputs[1][:] = 0
    assert a.asnumpy().tolist() == [1, 2]
    assert outputs[0].asnumpy().tolist() == [1, 2]
    executor.backward([nd.array([1, 1]), nd.array([10, 10]), nd.array([100, 100])])
    assert executor.grad_dict["a"].asnumpy().tolist() == [121, 121]


@pytest.mark.clause("Executor/current-arguments")
def test_backward_reads_the_current_arguments() -> None:
    a, b, grad = nd.array([1]), nd.array([2]), nd.zeros((1,))
    executor = (sym.Variable("a") * sym.Variable("b")).bind(mx.cpu(), [a, b], [grad, None], {"a": "write"})
    executor.forward(is_train=True)
    b[:] = 7
    executor.backward(nd.array([1]))
    assert grad.asnumpy().tolist() == [7]


@pytest.mark.clause("Executor/head-needed")
def test_losses_need_no_head_gradient_and_blocked_outputs_neither() -> None:
    a = sym.Variable("a")
    net = sym.Group([sym.make_loss(a), sym.BlockGrad(a * 3)])
    executor = net.bind(mx.cpu(), {"a": nd.ones((2,))}, {"a": nd.zeros((2,))})
    executor.forward(is_train=True)
    executor.backward()
    assert executor.grad_dict["a"].asnumpy().tolist() == [1, 1]  # MXNet 1.9.1 prints the same
    mixed = sym.Group([sym.make_loss(a), a * 3]).bind(mx.cpu(), [nd.ones((2,))], [nd.zeros((2,))])
    mixed.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="not a loss"):
        mixed.backward()
    mixed.backward([nd.ones((2,)), nd.array([1, 2])])
    assert mixed.grad_dict["a"].asnumpy().tolist() == [4, 7]


def test_head_gradients_by_name() -> None:
    executor = (sym.Variable("a") * 3).bind(mx.cpu(), [nd.ones((2,))], [nd.zeros((2,))])
    (name,) = executor.output_dict
    executor.forward(is_train=True)
    executor.backward({name: nd.array([1, 2])})
    assert executor.grad_arrays[0].asnumpy().tolist() == [3, 6]
    with pytest.raises(KeyError):
        executor.backward({"nothing": nd.ones((2,))})


@pytest.mark.clause("gradient/unreached")
def test_an_argument_that_no_loss_reaches_gets_zero() -> None:
    a, b = sym.Variable("a"), sym.Variable("b")
    net = sym.Group([sym.make_loss(a), sym.BlockGrad(b)])
    grads = {"a": nd.full((2,), np.nan), "b": nd.full((2,), np.nan)}
    executor = net.bind(mx.cpu(), {"a": nd.ones((2,)), "b": nd.ones((2,))}, grads)
    executor.forward(is_train=True)
    executor.backward()
    assert grads["b"].asnumpy().tolist() == [0, 0]


@pytest.mark.clause("Executor/monitor")
def test_the_monitor_sees_every_node() -> None:
    seen: list[str] = []
    executor = _square_net().simple_bind(mx.cpu(), a=(2, 3))
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward(is_train=True)
    forward = list(seen)
    executor.backward()
    assert [name for name in forward if name.startswith(("f_", "loss"))] == ["f_output", "loss_loss"]
    assert [n for n in seen if n.startswith("f_backward")] == [f"f_backward_output{i}" for i in range(3)]
    seen.clear()
    executor.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=True)
    executor.forward()
    assert seen[:7] == ["a", "f_data", "f_weight", "f_weight", "f_bias", "f_bias", "f_output"]
    executor.set_monitor_callback(None)
    seen.clear()
    executor.forward()
    assert seen == []


@pytest.mark.clause("Executor/reshape")
def test_reshape_shares_the_front_of_what_shrinks_and_all_parameters() -> None:
    executor = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f").simple_bind(mx.cpu(), a=(4, 3))
    executor.arg_dict["a"][:] = nd.arange(12).reshape((4, 3))
    smaller = executor.reshape(a=(2, 3))
    assert smaller.outputs[0].shape == (2, 2)
    assert smaller.arg_dict["a"].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    smaller.arg_dict["a"][:] = 9
    assert executor.arg_dict["a"].asnumpy()[:, 0].tolist() == [9, 9, 6, 9]
    smaller.arg_dict["f_weight"][:] = 1
    assert executor.arg_dict["f_weight"].asnumpy().sum() == 6
    larger = executor.reshape(allow_up_sizing=True, a=(8, 3))
    assert larger.forward()[0].shape == (8, 2)


def test_reshape_to_as_many_elements_needs_no_new_memory() -> None:
    executor = (sym.Variable("a") * 2).simple_bind(mx.cpu(), a=(2, 3))
    turned = executor.reshape(a=(3, 2))
    turned.arg_dict["a"][:] = 7
    assert executor.arg_dict["a"].asnumpy().tolist() == [[7, 7, 7], [7, 7, 7]]


@pytest.mark.filterwarnings("error")
def test_parameters_that_are_there_already_are_not_copied() -> None:
    executor = _square_net().simple_bind(mx.cpu(), a=(2, 3))
    executor.copy_params_from(executor.arg_dict)


@pytest.mark.clause("Executor/copy-params")
def test_copy_params_from_is_all_or_nothing() -> None:
    executor = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f").simple_bind(mx.cpu(), a=(4, 3))
    good = {"f_bias": nd.array([1, 2], dtype="float64")}
    executor.copy_params_from(good)
    assert executor.arg_dict["f_bias"].asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="nothing"):
        executor.copy_params_from({"f_bias": nd.array([5, 5]), "nothing": nd.array([1])})
    assert executor.arg_dict["f_bias"].asnumpy().tolist() == [1, 2]
    executor.copy_params_from({"nothing": nd.array([1])}, allow_extra_params=True)


@pytest.mark.clause("binding/shared-buffer")
def test_a_shared_buffer_lends_its_front_and_is_replaced_when_too_small() -> None:
    net = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f")
    buffer: dict[str, mx.nd.NDArray] = {}
    names = ["f_weight", "f_bias"]
    first = net.simple_bind(mx.cpu(), a=(4, 3), shared_buffer=buffer, shared_arg_names=names)
    assert set(buffer) == {"a", "grad of a"}
    second = net.simple_bind(
        mx.cpu(), a=(2, 3), shared_buffer=buffer, shared_arg_names=names, shared_exec=first
    )
    second.arg_dict["a"][:] = 5
    assert first.arg_dict["a"].asnumpy()[:2].sum() == 30
    assert second.arg_dict["f_weight"] is first.arg_dict["f_weight"]
    with pytest.warns(UserWarning, match="larger"):
        third = net.simple_bind(mx.cpu(), a=(9, 3), shared_buffer=buffer, shared_arg_names=names)
    assert buffer["a"].shape == (9, 3)
    assert third.arg_dict["a"].shape == (9, 3)


@pytest.mark.clause("binding/types")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_types_reach_every_array(dtype: str) -> None:
    executor = _square_net().simple_bind(mx.cpu(), a=(2, 3), type_dict={"a": dtype})
    assert {np.dtype(x.dtype).name for x in (*executor.arg_arrays, *executor.grad_arrays)} == {dtype}
    executor.arg_dict["a"][:] = 1
    executor.arg_dict["f_weight"][:] = 0.5
    assert executor.forward(is_train=True)[0].asnumpy().tolist() == [6]
    executor.backward()
    assert executor.grad_dict["f_weight"].asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]


@pytest.mark.clause("Executor/duplicate-names")
def test_two_arguments_of_one_name_keep_their_own_shapes() -> None:
    net = sym.concat(sym.Variable("a"), sym.Variable("a"), dim=0)
    executor = net.bind(mx.cpu(), [nd.ones((1, 2)), nd.zeros((2, 2))])
    assert executor.forward()[0].asnumpy().tolist() == [[1, 1], [0, 0], [0, 0]]


@pytest.mark.clause("Executor/gradient-alike")
def test_an_array_that_takes_no_gradient_may_have_any_shape() -> None:
    net, a = sym.Variable("a") * 3, nd.ones((2,))
    assert net.bind(mx.cpu(), [a], [nd.zeros((5,))], grad_req="null").forward()[0].asnumpy().tolist() == [3, 3]


@pytest.mark.clause("Executor/reshape")
def test_reshape_ignores_shapes_of_other_names() -> None:
    executor = _square_net().simple_bind(mx.cpu(), a=(2, 3))
    assert executor.reshape(a=(1, 3), other=(7,)).arg_dict["a"].shape == (1, 3)


@pytest.mark.clause("memory/described")
def test_the_plan_saves_memory_and_says_so() -> None:
    net = sym.Variable("a")
    for _ in range(20):
        net = sym.exp(sym.FullyConnected(net, num_hidden=8))
    executor = net.simple_bind(mx.cpu(), grad_req="null", a=(4, 8))
    assert len(executor.plan.blocks) <= 2
    assert executor.plan.total * 10 < executor.plan.requested
    assert "Total 0 MB allocated" in executor.debug_str()
