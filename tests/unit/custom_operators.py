"""Operators that the tests of mx.operator share, and what they ask of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import refimpl as mx
from refimpl import autograd, operator


class Square(operator.CustomOp):
    """``scale * x * x``; remembers how often it ran, and what it was given."""

    made: ClassVar[list[Square]] = []

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
    given: ClassVar[list[dict[str, str]]] = []
    created: ClassVar[list[tuple]] = []

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


@operator.register("test_types")
class TypesProp(operator.CustomOpProp):
    def infer_type(self, in_type):
        return [np.float64], [np.float64], []


class Recording(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert not autograd.is_recording()
        assert autograd.is_training() is is_train
        out_data[0][:] = in_data[0]
        out_data[0][:] = out_data[0] * 2

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        in_grad[0][:] = out_grad[0] * 2


@operator.register("test_recording")
class RecordingProp(operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Recording()


def odd(how: str) -> Any:
    return mx.nd.Custom(mx.nd.array([1, 2, 3]), op_type="test_odd", how=how).asnumpy().tolist()


def bound(symbol: mx.sym.Symbol, **options: Any) -> mx.Executor:
    shapes = dict.fromkeys(symbol.list_arguments(), (2,))
    return symbol.simple_bind(options.pop("ctx", mx.cpu()), **options, **shapes)


def refused(clause: str, call: Any, kind: type[Exception] = mx.MXNetError) -> Exception:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return caught.value


def forget() -> None:
    """Empty the lists in which the classes above keep what they saw."""
    for seen in (Square.made, SquareProp.given, SquareProp.created):
        seen.clear()
