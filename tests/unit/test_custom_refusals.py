"""What mx.operator refuses, and how it tells of failures in the user's code."""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Iterator

import numpy as np
import pytest

import refimpl as mx
from refimpl import engine, operator
from refimpl.kernels.foundation import as_buffer
from refimpl.operator import record
from refimpl.operator.record import CustomUse

from .custom_operators import Square, SquareProp, bound, forget, odd, refused


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    forget()
    yield
    forget()


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
    executor.backward(mx.nd.ones(2))
    error = refused("Custom/user-error", executor.grad_dict["a"].asnumpy)
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
    y = mx.sym.Variable("y")
    for made in (
        mx.sym.Custom(x, y, op_type="test_multi"), mx.sym.Custom([x, y], op_type="test_multi"),
        mx.sym.Custom(left=x, right=y, op_type="test_multi"),
    ):
        assert made.list_arguments() == ["x", "y"]


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
    assert "had another class until now" in caplog.text
    assert mx.nd.Custom(x, op_type="test_again").asnumpy().tolist() == [2, 8]


@pytest.mark.clause("Custom/forward-first")
def test_backward_alone() -> None:
    use = CustomUse({"op_type": "test_square"})
    head, data, out, gradient = (as_buffer(np.ones(2)) for _ in range(4))
    refused("Custom/forward-first", lambda: record.backward(use, head, data, out, gradient, is_train=True))


def test_errors_at_bind_keep_their_cause() -> None:
    net = mx.sym.Custom(mx.sym.Variable("a"), op_type="test_odd", how="shape", name="node")
    with pytest.raises(RuntimeError, match="Error in operator node: Error in test_odd") as caught:
        net.simple_bind(mx.cpu(), a=(2,))
    assert caught.value.clause == "Custom/user-error"
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_failure_ends_with_its_arrays(nothing_has_failed: None) -> None:
    assert not engine.attention
    failed = mx.nd.Custom(mx.nd.ones(2), op_type="test_odd", how="forward")
    assert engine.attention
    error = refused("Custom/user-error", failed.asnumpy)
    assert isinstance(error.__cause__, ValueError)
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert 'raise ValueError("boom")' in told  # the line in the user's code
    del failed, error
    gc.collect()
    assert not engine.attention
