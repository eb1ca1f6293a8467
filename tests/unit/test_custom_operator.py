"""Operators written in Python. What MXNet 1.9.1 does was seen by running the classes below in it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import operator


class Square(operator.CustomOp):
    """``scale * x * x``; remembers how often it ran, and what it was given."""

    made: list[Square] = []

    def __init__(self, scale: float) -> None:
        self.scale, self.calls, self.seen = scale, 0, []
        Square.made.append(self)

    def forward(self, is_train, req, in_data, out_data, aux):
        self.calls += 1
        self.seen.append((bool(is_train), req, in_data[0].dtype, in_data[0].context, mx.current_context()))
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * self.scale)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0] * self.scale)


@operator.register("test_square")
class SquareProp(operator.CustomOpProp):
    given: list[dict[str, str]] = []
    created: list[tuple] = []

    def __init__(self, scale: str = "1", **rest: str) -> None:
        super().__init__(need_top_grad=True)
        self.scale = float(scale)
        SquareProp.given.append({"scale": scale, **rest})

    def create_operator(self, ctx, in_shapes, in_dtypes):
        SquareProp.created.append((ctx, in_shapes, in_dtypes))
        return Square(self.scale)


class SumAndScaled(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + in_data[1])
        self.assign(out_data[1], req[1], in_data[0] * aux[0])
        aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] * aux[0])
        self.assign(in_grad[1], req[1], out_grad[0])
        aux[0][:] += 10


@operator.register("test_multi")
class MultiProp(operator.CustomOpProp):
    def list_arguments(self):
        return ["left", "right"]

    def list_outputs(self):
        return ["sum", "scaled"]

    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0], in_shape[0]], [(1,)]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return SumAndScaled()


class Odd(operator.CustomOp):
    """Does what ``how`` says."""

    def __init__(self, how: str) -> None:
        self.how = how

    def forward(self, is_train, req, in_data, out_data, aux):
        if self.how == "forward":
            raise ValueError("boom")
        if self.how == "write_input":
            in_data[0][:] = 1
        if self.how == "silent":
            return
        if self.how == "req":
            self.assign(out_data[0], "strange", in_data[0])
        if self.how == "recurse":
            self.assign(out_data[0], req[0], mx.nd.Custom(in_data[0], op_type="test_odd", how="plain"))
            return
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        if self.how == "backward":
            raise KeyError("bang")
        if self.how == "silent":
            return
        if self.how == "only_input":
            assert [a.shape for a in (*out_grad, *in_data, *out_data)] == [(0,), (3,), (0,)]
        in_grad[0][:] = 7  # whatever req says


@operator.register("test_odd")
class OddProp(operator.CustomOpProp):
    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        if how == "init":
            raise ValueError("init")

    def list_arguments(self):
        return {"list": lambda: 1 // 0, "names": lambda: ["output"]}.get(self.how, lambda: ["data"])()

    def list_outputs(self):
        return [] if self.how == "no_output" else ["output"]

    def infer_shape(self, in_shape):
        first = in_shape[0]
        return {
            "shape": lambda: first[7], "one_list": lambda: (in_shape,), "few": lambda: (in_shape, []),
            "other": lambda: ([[9, 9]], [first]), "half_side": lambda: (in_shape, [[1.5]]),
            "tuples": lambda: (tuple(in_shape), (tuple(first),), ()),
        }.get(self.how, lambda: (in_shape, [first], []))()

    def infer_type(self, in_type):
        kinds = {"double": np.float64, "complex": np.complex64, "name": "float64"}
        return in_type, [kinds.get(self.how, in_type[0])], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        chosen = {"only_input": list(in_data), "number": [99], "silent": list(in_data)}
        return chosen.get(self.how, [*out_grad, *in_data, *out_data])

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return None if self.how == "create" else Odd(self.how)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    for seen in (Square.made, SquareProp.given, SquareProp.created):
        seen.clear()
    yield


def odd(how: str) -> Any:
    return mx.nd.Custom(mx.nd.array([1, 2, 3]), op_type="test_odd", how=how).asnumpy().tolist()


def bound(symbol: mx.sym.Symbol, **options: Any) -> mx.Executor:
    shapes = {name: (2,) for name in symbol.list_arguments()}
    return symbol.simple_bind(options.pop("ctx", mx.cpu()), **options, **shapes)


# --- values ----------------------------------------------------------------------------------------


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


# --- refusals --------------------------------------------------------------------------------------


def refused(clause: str, call: Any, kind: type[Exception] = mx.MXNetError) -> Exception:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return caught.value


@pytest.mark.clause("Custom/req")
def test_unknown_req() -> None:
    refused("Custom/req", lambda: operator.CustomOp().assign(mx.nd.ones(1), "strange", 0), ValueError)
    assert isinstance(refused("Custom/user-error", lambda: odd("req")).__cause__, ValueError)


@pytest.mark.clause("Custom/registered")
def test_unregistered() -> None:
    x = mx.sym.Variable("x")
    for call in (lambda: mx.nd.Custom(mx.nd.ones(1), op_type="absent"), lambda: mx.sym.Custom(x, op_type="absent")):
        assert "Cannot find custom operator absent" in str(refused("Custom/registered", call))
    text = mx.sym.Custom(x, op_type="test_square").tojson().replace("test_square", "absent")
    refused("Custom/registered", lambda: mx.sym.load_json(text))


@pytest.mark.clause("Custom/op-type")
def test_op_type_is_needed() -> None:
    refused("Custom/op-type", lambda: mx.nd.Custom(mx.nd.ones(1)))
    refused("Custom/op-type", lambda: mx.sym.Custom(mx.sym.Variable("x")))


@pytest.mark.clause("Custom/user-error")
@pytest.mark.parametrize(("how", "where", "cause"), [
    ("init", "test_odd.__init__", ValueError), ("list", "test_odd.list_arguments", ZeroDivisionError),
    ("shape", "test_odd.infer_shape", IndexError), ("forward", "CustomOp.forward", ValueError),
    ("write_input", "CustomOp.forward", ValueError), ("half_side", "test_odd.infer_shape", TypeError),
    ("complex", "test_odd.infer_type", TypeError),
])
def test_errors_of_users(how: str, where: str, cause: type[Exception]) -> None:
    error = refused("Custom/user-error", lambda: odd(how))
    assert f"Error in {where}" in str(error)
    assert type(error.__cause__) is cause


@pytest.mark.clause("Custom/user-error")
def test_errors_in_backward() -> None:
    executor = bound(mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="backward"))
    executor.forward(is_train=True)
    error = refused("Custom/user-error", lambda: executor.backward(mx.nd.ones(2)))
    assert "Error in CustomOp.backward: KeyError: 'bang'" in str(error)


@pytest.mark.clause("Custom/infer-lists")
@pytest.mark.parametrize("how", ["one_list", "few"])
def test_lists_of_the_wrong_length(how: str) -> None:
    refused("Custom/infer-lists", lambda: odd(how))


@pytest.mark.clause("Custom/shape")
def test_contradicting_shapes() -> None:
    assert "inferred shape=[9, 9]" in str(refused("Custom/shape", lambda: odd("other")))


@pytest.mark.clause("Custom/type")
def test_contradicting_types() -> None:
    net = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="double")
    doubled = mx.sym.Custom(net, mx.sym.Variable("b"), op_type="test_multi")
    assert doubled.infer_type(a="float32", b="float64")[1] == [np.float64, np.float64]
    square = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_types")
    refused("Custom/type", lambda: square.infer_type(a="float32"))


@operator.register("test_types")
class TypesProp(operator.CustomOpProp):
    def infer_type(self, in_type):
        return [np.float64], [np.float64], []


@pytest.mark.clause("Custom/dependency")
def test_numbers_that_were_not_given() -> None:
    refused("Custom/dependency", lambda: odd("number"))


@pytest.mark.clause("Custom/create")
def test_nothing_created() -> None:
    refused("Custom/create", lambda: odd("create"))


@pytest.mark.clause("Custom/names")
@pytest.mark.parametrize("how", ["names", "no_output"])
def test_names(how: str) -> None:
    refused("Custom/names", lambda: odd(how))


@pytest.mark.clause("Custom/dense")
def test_sparse_arrays_need_a_rule() -> None:
    prop = operator.CustomOpProp()
    refused("Custom/dense", lambda: prop.infer_storage_type(["csr"]), AssertionError)
    refused("Custom/dense", lambda: prop.infer_storage_type_backward([], [], [], ["csr"], []), AssertionError)


@pytest.mark.clause("Custom/positional-or-named")
def test_positional_and_named() -> None:
    x = mx.sym.Variable("x")
    refused("Custom/positional-or-named", lambda: mx.sym.Custom(x, right=x, op_type="test_multi"), TypeError)


@pytest.mark.clause("Custom/input-name")
@pytest.mark.clause("Custom/input")
def test_inputs() -> None:
    x = mx.nd.ones(1)
    refused("Custom/input-name", lambda: mx.nd.Custom(wrong=x, op_type="test_square"))
    refused("Custom/input-name", lambda: mx.sym.Custom(wrong=mx.sym.Variable("x"), op_type="test_square"))
    refused("Custom/input", lambda: mx.nd.Custom(3, op_type="test_square"), AssertionError)
    refused("nd/input-count", lambda: mx.nd.Custom(x, x, op_type="test_square"))
    refused("nd/input-count", lambda: mx.nd.Custom(x, x, op_type="test_multi"))


@pytest.mark.clause("Custom/register")
def test_what_can_be_registered(caplog: pytest.LogCaptureFixture) -> None:
    refused("Custom/register", lambda: operator.register(3), TypeError)
    refused("Custom/register", lambda: operator.register("test_bad")(object), TypeError)

    class Doubled(SquareProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Square(2)

    operator.register("test_again")(SquareProp)
    x = mx.nd.array([1, 2])
    assert mx.nd.Custom(x, op_type="test_again").asnumpy().tolist() == [1, 4]
    with caplog.at_level(logging.WARNING):
        operator.register("test_again")(Doubled)
    assert "overriding" in caplog.text
    assert mx.nd.Custom(x, op_type="test_again").asnumpy().tolist() == [2, 8]


# --- legacy operators and lists --------------------------------------------------------------------


class Softmax(operator.NumpyOp):
    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]]

    def forward(self, in_data, out_data):
        out_data[0][:] = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0] /= out_data[0].sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        label = in_data[1].astype(int)
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(label.size), label] -= 1


@pytest.mark.clause("Custom/legacy")
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_numpy_operators() -> None:
    net = Softmax()(mx.sym.Variable("x"), name="soft")
    assert (net.list_arguments(), net.list_outputs()) == (["x", "soft_label"], ["soft_output"])
    executor = net.simple_bind(mx.cpu(), x=(1, 2))
    executor.forward(is_train=True, x=mx.nd.array([[0, 0]]), soft_label=mx.nd.array([1]))
    executor.backward()
    assert executor.outputs[0].asnumpy().tolist() == [[0.5, 0.5]]
    assert executor.grad_dict["x"].asnumpy().tolist() == [[0.5, -0.5]]


class Doubling(operator.NDArrayOp):
    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 2

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * 2


@pytest.mark.clause("Custom/legacy")
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_ndarray_operators() -> None:
    with mx.name.NameManager():
        net = Doubling().get_symbol(data=mx.sym.Variable("x"))
    assert net.name == "_ndarray0"
    executor = net.simple_bind(mx.cpu(), x=(2,), grad_req="add")
    executor.forward(is_train=True, x=mx.nd.array([1, 2]))
    for _ in range(2):
        executor.backward(mx.nd.ones(2))
    assert executor.outputs[0].asnumpy().tolist() == [2, 4]
    assert executor.grad_arrays[0].asnumpy().tolist() == [4, 4]
    plain = operator.NumpyOp().get_symbol(mx.sym.Variable("x")).simple_bind(mx.cpu(), x=(2,))
    plain.forward(is_train=True, x=mx.nd.array([1, 2]))
    plain.backward(mx.nd.ones(2))
    assert plain.outputs[0].asnumpy().tolist() == [1, 2]
    assert plain.grad_arrays[0].asnumpy().tolist() == [1, 1]
    refused("Custom/legacy", operator.PythonOp().get_symbol, NotImplementedError)


def test_lists_of_operators() -> None:
    names = operator.get_all_registered_operators()
    assert {"FullyConnected", "Custom", "_plus_scalar"} <= set(names)
    assert names == sorted(names)
    # mx.operator.get_operator_arguments("FullyConnected") of MXNet 1.9.1
    assert operator.get_operator_arguments("FullyConnected") == (
        6, ["data", "weight", "bias", "num_hidden", "no_bias", "flatten"],
        ["NDArray-or-Symbol"] * 3 + [
            "int, required", "boolean, optional, default=0", "boolean, optional, default=1",
        ],
    )
    assert operator.get_operator_arguments("Activation").types[1] == (
        "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"
    )
    assert operator.get_operator_arguments("Custom") == (2, ["data", "op_type"], ["NDArray-or-Symbol[]", "string"])
    assert operator.get_operator_arguments("Concat").names == ["data", "num_args", "dim"]
    refused("contract/known-operator", lambda: operator.get_operator_arguments("absent"))
