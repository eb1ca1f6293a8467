"""Operators written in Python: values. What MXNet 1.9.1 does was seen by running the same classes in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import autograd, operator

from .custom_operators import Square, SquareProp, bound, forget, odd


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    forget()
    yield
    forget()


def test_on_arrays() -> None:
    x = mx.nd.array([1, 2, 3])
    assert mx.nd.Custom(x, op_type="test_square", scale=3).asnumpy().tolist() == [3, 12, 27]
    assert mx.nd.Custom(data=x, op_type="test_square").asnumpy().tolist() == [1, 4, 9]
    out = mx.nd.zeros(3)
    assert mx.nd.Custom(x, op_type="test_square", out=out) is out
    assert out.asnumpy().tolist() == [1, 4, 9]


@pytest.mark.clause("Custom/parameters")
def test_parameters_come_as_strings() -> None:
    mx.nd.Custom(
        mx.nd.ones(1), op_type="test_square", scale=3, more=(1, 2), listed=[1, 2], absent=None, small=1e-9,
        kind=np.float32, number=np.float32(0.5), flag=True,
    )
    assert SquareProp.given == [{
        "scale": "3", "more": "(1, 2)", "listed": "[1, 2]", "absent": "None", "small": "1e-09",
        "kind": "float32", "number": "0.5", "flag": "True",
    }]


@pytest.mark.clause("Custom/created")
def test_what_create_operator_gets() -> None:
    mx.nd.Custom(mx.nd.ones((2, 3), dtype="float64"), op_type="test_square")
    mx.nd.Custom(mx.nd.ones((3,), ctx=mx.cpu(1), dtype="float16"), op_type="test_square")
    assert SquareProp.created == [(mx.cpu(0), [[2, 3]], [1]), (mx.cpu(1), [[3]], [2])]


def test_arrays_keep_type_and_context() -> None:
    x = mx.nd.array([1, 2], ctx=mx.cpu(1), dtype="float16")
    y = mx.nd.Custom(x, op_type="test_square")
    assert (y.dtype, y.context, y.asnumpy().tolist()) == (np.float16, mx.cpu(1), [1, 4])
    assert Square.made[-1].seen == [(False, ["write"], np.float16, mx.cpu(1), mx.cpu(1))]


def test_names_of_a_node() -> None:
    made = mx.sym.Custom(op_type="test_square", scale=2, name="me")
    assert (made.list_arguments(), made.list_outputs()) == (["me_data"], ["me_output"])
    assert made.attr_dict() == {
        "me_data": {"op_type": "test_square", "scale": "2"}, "me": {"op_type": "test_square", "scale": "2"},
    }
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    for multi in (mx.sym.Custom(a, b, op_type="test_multi", name="m"),
                  mx.sym.Custom(right=b, left=a, op_type="test_multi", name="m")):
        assert multi.list_arguments() == ["a", "b"]
        assert multi.list_outputs() == ["m_sum", "m_scaled"]
        assert multi.list_auxiliary_states() == ["m_count"]
    assert mx.sym.Custom(right=b, op_type="test_multi", name="m").list_arguments() == ["m_left", "b"]


@pytest.mark.clause("Custom/states")
@pytest.mark.parametrize(("req", "left", "right", "count"), [
    ("write", [6, 6], [1, 1], 11), ("add", [6, 6], [1, 1], 11), ({"a": "write"}, [6, 6], None, 11),
    ("null", None, None, 1),
])
def test_several_of_everything(req: Any, left: Any, right: Any, count: int) -> None:
    net = mx.sym.Custom(mx.sym.Variable("a"), mx.sym.Variable("b"), op_type="test_multi", name="m")
    executor = bound(net, grad_req=req)
    executor.forward(is_train=True, a=mx.nd.array([1, 2]), b=mx.nd.array([3, 4]))
    executor.backward([mx.nd.ones(2), mx.nd.ones(2) * 5])
    assert [out.asnumpy().tolist() for out in executor.outputs] == [[4, 6], [0, 0]]
    found = [None if g is None else g.asnumpy().tolist() for g in executor.grad_arrays]
    assert found == [left, right]
    assert executor.aux_dict["m_count"].asnumpy().tolist() == [count]


def test_states_of_arrays() -> None:
    x, count = mx.nd.array([1, 2]), mx.nd.array([3])
    total, scaled = mx.nd.Custom(x, x, count, op_type="test_multi")
    assert (total.asnumpy().tolist(), scaled.asnumpy().tolist()) == ([2, 4], [3, 6])
    assert count.asnumpy().tolist() == [4]


@pytest.mark.clause("Custom/round-trip")
def test_json_round_trip() -> None:
    net = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_square", scale=2, flag=True, __lr_mult__="2")
    again = mx.sym.load_json(net.tojson())
    assert again.tojson() == net.tojson()
    assert SquareProp.given[-1] == {"scale": "2", "flag": "True"}
    executor = bound(again)
    assert executor.forward(a=mx.nd.array([1, 3]))[0].asnumpy().tolist() == [2, 18]


def test_gradient_through_neighbours() -> None:
    a = mx.sym.Variable("a")
    executor = bound(3 * mx.sym.Custom(a + 1, op_type="test_square", scale=2))
    executor.forward(is_train=True, a=mx.nd.array([1, 2]))
    executor.backward(mx.nd.array([1, 10]))
    # 3 * 2 * (a + 1)^2 has the slope 12 (a + 1)
    assert executor.grad_arrays[0].asnumpy().tolist() == [24, 360]


@pytest.mark.clause("Custom/own-object")
def test_one_object_per_node_of_an_executor() -> None:
    net = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_square")
    first, second = bound(net), bound(net)
    for _ in range(3):
        first.forward(is_train=True)
    first.backward(mx.nd.ones(2))
    second.forward()
    assert [made.calls for made in Square.made] == [3, 1]


@pytest.mark.clause("Custom/own-object")
def test_one_object_per_call() -> None:
    for _ in range(2):
        mx.nd.Custom(mx.nd.ones(2), op_type="test_square")
    assert [made.calls for made in Square.made] == [1, 1]


@pytest.mark.clause("Custom/unwritten")
def test_what_is_not_written_is_zero() -> None:
    assert odd("silent") == [0, 0, 0]
    executor = bound(mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="silent"))
    executor.grad_arrays[0][:] = 5
    executor.forward(is_train=True)
    executor.backward()
    assert executor.grad_arrays[0].asnumpy().tolist() == [0, 0]


@pytest.mark.clause("Custom/null")
def test_unwanted_gradients_have_memory_of_their_own() -> None:
    executor = bound(mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="plain"), grad_req="add")
    executor.grad_arrays[0][:] = 100
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert executor.grad_arrays[0].asnumpy().tolist() == [107, 107]
    two = mx.sym.Custom(mx.sym.Variable("a"), mx.sym.Variable("b"), op_type="test_multi")
    one = bound(two, grad_req={"b": "write"})
    one.forward(is_train=True)
    one.backward([mx.nd.ones(2)] * 2)
    assert one.grad_arrays[1].asnumpy().tolist() == [1, 1]


@pytest.mark.clause("Custom/dependency")
def test_only_what_was_declared() -> None:
    executor = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="only_input").simple_bind(mx.cpu(), a=(3,))
    executor.forward(is_train=True)
    executor.backward()  # no head gradient is declared: a loss
    assert executor.grad_arrays[0].asnumpy().tolist() == [7, 7, 7]


def test_inside_another() -> None:
    assert odd("recurse") == [2, 4, 6]


def test_threads() -> None:
    found: dict[int, list] = {}

    def work(number: int) -> None:
        for _ in range(20):
            x = mx.nd.full((4,), number)
            found[number] = mx.nd.Custom(x, op_type="test_square").asnumpy().tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [n * n] * 4 for n in range(4)}


def test_defaults_of_the_bases() -> None:
    prop = operator.CustomOpProp()
    assert prop.infer_shape([[2]]) == ([[2]], [[2]], [])
    assert prop.infer_type([np.float64]) == ([np.float64], [np.float64], [])
    assert prop.infer_storage_type(["default"]) == (["default"], ["default"], [])
    assert prop.infer_storage_type_backward(["default"], [], [], ["undefined"], []) == [
        ["default"], [], [], ["default"], [],
    ]
    assert operator.CustomOpProp(need_top_grad=False).declare_backward_dependency([0], [1], [2]) == [1, 2]
    assert isinstance(prop.create_operator(mx.cpu(), [[1]], [0]), operator.CustomOp)


@pytest.mark.parametrize("how", ["double", "name"])
def test_types_by_the_property_class(how: str) -> None:
    assert mx.nd.Custom(mx.nd.ones(3), op_type="test_odd", how=how).dtype == np.float64


def test_assign() -> None:
    target = mx.nd.ones(2)
    for req, found in (("null", 1), ("write", 3), ("inplace", 3), ("add", 6)):
        operator.CustomOp().assign(target, req, mx.nd.array([3, 3]))
        assert target.asnumpy().tolist() == [found, found]
    operator.CustomOp().assign(target, "add", np.array([1, 2]))
    assert target.asnumpy().tolist() == [7, 8]


def test_shapes_may_be_tuples() -> None:
    assert odd("tuples") == [2, 4, 6]


def test_tape() -> None:
    x, y = mx.nd.array([1, 2]), mx.nd.array([3, 4])
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        # two calls alike in everything but their arrays: each has an object of its own
        first = mx.nd.Custom(x, op_type="test_square")
        second = mx.nd.Custom(y, op_type="test_square")
        total = first + 10 * second
    assert [made.seen[0][0] for made in Square.made] == [True, True]
    total.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]
    assert y.grad.asnumpy().tolist() == [60, 80]


def test_the_users_code_is_not_recorded() -> None:
    x = mx.nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_recording")
        assert autograd.is_recording()
    y.backward()
    assert (y.asnumpy().tolist(), x.grad.asnumpy().tolist()) == ([2, 4], [2, 2])


def test_a_failing_call_keeps_recording() -> None:
    x = mx.nd.ones(3)
    x.attach_grad()
    with autograd.record():
        with pytest.raises(mx.MXNetError, match="boom"):
            mx.nd.Custom(x, op_type="test_odd", how="forward").asnumpy()
        assert autograd.is_recording()


def test_in_data_parallel_training() -> None:
    net = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_square", name="square")
    module = mx.mod.Module(net, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([("data", (4, 2))], inputs_need_grad=True)
    module.init_params()
    data = np.arange(8, dtype=np.float32).reshape(4, 2)
    module.forward(mx.io.DataBatch([mx.nd.array(data)]), is_train=True)
    module.backward([mx.nd.ones((4, 2))])
    assert module.get_outputs()[0].asnumpy().tolist() == (data * data).tolist()
    assert module.get_input_grads()[0].asnumpy().tolist() == (2 * data).tolist()
    assert sorted(made.seen[0][3].device_id for made in Square.made) == [0, 1]
