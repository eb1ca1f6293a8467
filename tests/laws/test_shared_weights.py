"""The gradient of a weight that layers share is one sum, which is made here one addition after another.

Terms are whole numbers times powers of two: every product is exact, so that the order of a sum alone decides its bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.symbol import shared_weights

from .bound import SURROUNDINGS

pytestmark = pytest.mark.usefixtures("nothing_has_failed")
WAYS = {True: [(1,), (1, 1)], False: [(), (2,), (1, 2)]}
"""flatten -> what may stand between the rows and the columns, or beside them."""


@dataclass
class Reader:
    """Something that reads the weight: a layer of some rows, or an operator of another kind."""

    rows: int
    flatten: bool = True
    bias: bool = False
    middle: tuple[int, ...] = ()
    again: bool = False
    """It has the data of the first reader."""
    group: int = 0

    @property
    def is_layer(self) -> bool:
        return self.rows > 0

    def shape(self, columns: int) -> tuple[int, ...]:
        return (self.rows, columns, *self.middle) if self.flatten else (self.rows, *self.middle, columns)


def reader(draw: st.DrawFn) -> Reader:
    flatten = draw(st.booleans())
    return Reader(
        draw(st.integers(0, 4)), flatten, draw(st.booleans()), draw(st.sampled_from([(), *WAYS[flatten]])),
        draw(st.booleans()), draw(st.integers(0, 2)),
    )


@dataclass
class Net:
    """Readers of one weight of (hidden, columns), each an output of the graph."""

    readers: list[Reader]
    hidden: int = 3
    columns: int = 2
    dtype: str = "float32"

    def __post_init__(self) -> None:
        first = self.readers[0]
        for one in self.readers:
            one.again = one.again and one.is_layer and first.is_layer and one is not first
            if one.again:
                one.rows, one.flatten, one.middle = first.rows, first.flatten, first.middle

    def data_name(self, number: int) -> str:
        return "x0" if self.readers[number].again else f"x{number}"

    def apply(self, package: Any, of: dict[str, Any]) -> list[Any]:
        """The outputs, of ``mx.nd`` or ``mx.sym``, of arguments by name."""
        made = []
        for number, one in enumerate(self.readers):
            with mx.AttrScope(ctx_group=f"group{one.group}"):
                if not one.is_layer:
                    made.append(of["w"] * 3)
                    continue
                more = [of["b"]] if one.bias else []
                made.append(package.FullyConnected(
                    of[self.data_name(number)], of["w"], *more, num_hidden=self.hidden, no_bias=not one.bias,
                    flatten=one.flatten,
                ))
        return made

    def arguments(self) -> dict[str, np.ndarray]:
        shapes = {self.data_name(i): one.shape(self.columns) for i, one in enumerate(self.readers) if one.is_layer}
        shapes["w"] = self.hidden, self.columns
        if any(one.bias and one.is_layer for one in self.readers):
            shapes["b"] = (self.hidden,)
        return {name: self.numbers(shape, 7 + number) for number, (name, shape) in enumerate(shapes.items())}

    def heads(self) -> list[np.ndarray]:
        made = []
        for number, one in enumerate(self.readers):
            shape = (self.hidden, self.columns)
            if one.is_layer:
                shape = (one.rows, self.hidden) if one.flatten else (one.rows, *one.middle, self.hidden)
            made.append(self.numbers(shape, 100 + number))
        return made

    def numbers(self, shape: tuple[int, ...], seed: int) -> np.ndarray:
        """Small odd numbers among some large ones, whose products cancel and have few bits."""
        large = {"float16": 32, "float32": 2**14, "float64": 2**30}[self.dtype]
        small = np.array([1, 3, 5, -7]) / (64 if self.dtype == "float16" else 1)
        return np.random.RandomState(seed).choice([*small, *small, large, -large], shape).astype(self.dtype)


# --- the rule, in NumPy ---------------------------------------------------------------------------


def product(heads: list[np.ndarray], data: list[np.ndarray]) -> np.ndarray:
    """Rows are added in their order; half precision is rounded after those of each layer."""
    kind = np.float64 if heads[0].dtype == np.float64 else np.float32
    total = np.zeros((heads[0].shape[1], data[0].shape[1]), kind)
    for head, rows in zip(heads, data, strict=True):
        for slope, row in zip(head.astype(kind), rows.astype(kind), strict=True):
            total = total + np.outer(slope, row)
        total = total.astype(head.dtype).astype(kind)
    return total.astype(heads[0].dtype)


def added(parts: list[np.ndarray]) -> np.ndarray:
    """The sum of add_n; half precision is rounded at the end."""
    kind = np.float64 if parts[0].dtype == np.float64 else np.float32
    total = parts[0].astype(kind)
    for part in parts[1:]:
        total = total + part.astype(kind)
    return total.astype(parts[0].dtype)


def gradient_of_weight(net: Net, kind: str) -> np.ndarray:
    arguments, heads = net.arguments(), net.heads()
    parts: list[Any] = []  # heads and data of a product, or what another operator contributes
    merged: tuple[list, list] | None = None
    for number in reversed(range(len(net.readers))):
        one, head = net.readers[number], heads[number]
        if not one.is_layer:
            parts.append(head * np.array(3, net.dtype))
            continue
        if kind == "apart" or merged is None:
            merged = [], []
            parts.append(merged)
        merged[0].append(head.reshape(-1, net.hidden))
        merged[1].append(arguments[net.data_name(number)].reshape(-1, net.columns))
    return added([product(*part) if isinstance(part, tuple) else part for part in parts])


# --- what computes it -----------------------------------------------------------------------------


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    with mock.patch.dict(os.environ, variables):
        yield


def by_executor(net: Net, kind: str, req: str, way: str, plan: str, surrounding: str) -> dict[str, np.ndarray]:
    """All gradients after some runs: tables are written and walked meanwhile."""
    arguments = net.arguments()
    symbol = mx.sym.Group(net.apply(mx.sym, {name: mx.sym.Variable(name) for name in arguments}))
    places = {f"group{number}": mx.cpu(number) for number in range(3)} if way == "contexts" else None
    with environment(REFIMPL_SHARED_WEIGHTS=kind, REFIMPL_MEMORY_PLAN=plan):
        executor = symbol.simple_bind(
            mx.cpu(), grad_req=dict.fromkeys(arguments, req), group2ctx=places,
            type_dict=dict.fromkeys(arguments, net.dtype), **{name: a.shape for name, a in arguments.items()},
        )
        if way == "shared":  # as a bucket, which works in the memory of another one
            before, executor = executor, executor.reshape(
                allow_up_sizing=True, **{name: a.shape for name, a in arguments.items()}
            )
            before.forward(is_train=True)
        executor.copy_params_from({name: mx.nd.array(a, dtype=net.dtype) for name, a in arguments.items()})
        heads = [
            mx.nd.array(head, dtype=net.dtype, ctx=out.context)
            for head, out in zip(net.heads(), executor.outputs, strict=True)
        ]
        for turn in range(4):
            with SURROUNDINGS[surrounding if turn == 3 else "nothing"]():
                for name, grad in executor.grad_dict.items():
                    if grad is not None:
                        grad[:] = 5 if name == "w" and req == "add" else 0
                executor.forward(is_train=True)
                executor.backward(heads)
    return {name: grad.asnumpy() for name, grad in executor.grad_dict.items() if grad is not None}


def by_autograd(net: Net, kind: str, req: str) -> dict[str, np.ndarray]:
    arrays = {name: mx.nd.array(a, dtype=net.dtype) for name, a in net.arguments().items()}
    heads = [mx.nd.array(head, dtype=net.dtype) for head in net.heads()]
    with environment(REFIMPL_SHARED_WEIGHTS=kind):
        for _ in range(3):
            for name, array in arrays.items():
                array.attach_grad(grad_req=req)
                array.grad[:] = 5 if name == "w" and req == "add" else 0
            with mx.autograd.record():
                outputs = net.apply(mx.nd, arrays)
            mx.autograd.backward(outputs, heads)
    return {name: array.grad.asnumpy() for name, array in arrays.items()}


@st.composite
def nets(draw: st.DrawFn) -> Net:
    readers = [reader(draw) for _ in range(draw(st.integers(1, 6)))]
    return Net(
        readers, draw(st.integers(1, 3)), draw(st.integers(1, 3)),
        draw(st.sampled_from(["float32", "float32", "float64", "float16"])),
    )


UNROLLED = Net([Reader(40) for _ in range(11)], hidden=19, columns=37)  # more rows than one panel of a product has
MIXED = Net([Reader(3), Reader(0), Reader(2, bias=True), Reader(0), Reader(2, flatten=False, middle=(2,)), Reader(1)])


@pytest.mark.clause("gradient/shared-weight", "gradient/shared-switch")
@example(net=UNROLLED, req="write", way="alone", plan="keep", surrounding="nothing")
@example(net=MIXED, req="add", way="contexts", plan="once", surrounding="steps")
@given(
    net=nets(), req=st.sampled_from(["write", "add"]), way=st.sampled_from(["alone", "contexts", "shared"]),
    plan=st.sampled_from(["keep", "once", "off"]),
    surrounding=st.sampled_from(["nothing", "steps", "no twins", "Python", "threads", "another order", "profiler"]),
)
def test_the_gradient_of_a_shared_weight_is_one_sum(net: Net, req: str, way: str, plan: str, surrounding: str) -> None:
    found = {kind: by_executor(net, kind, req, way, plan, surrounding) for kind in shared_weights.KINDS}
    taped = {kind: by_autograd(net, kind, req) for kind in shared_weights.KINDS}
    for kind in shared_weights.KINDS:
        slope = gradient_of_weight(net, kind)
        expected = added([np.full_like(slope, 5), slope]) if req == "add" else slope
        for name, grad in found[kind].items():
            np.testing.assert_array_equal(grad, expected if name == "w" else found["apart"][name])
            np.testing.assert_array_equal(grad, taped[kind][name])


@pytest.mark.clause("gradient/shared-switch")
def test_the_switch_has_two_values() -> None:
    w = mx.sym.Variable("w")
    one, two = (mx.sym.FullyConnected(mx.sym.Variable(n), w, num_hidden=1, no_bias=True) for n in "ab")
    arguments = {name: mx.nd.ones((1, 2)) for name in ("a", "b", "w")}
    refused = pytest.raises(mx.MXNetError, match="REFIMPL_SHARED_WEIGHTS must be one of merged, apart, it is 'once'")
    with environment(REFIMPL_SHARED_WEIGHTS="once"), refused:
        (one + two).bind(mx.cpu(), arguments, {name: mx.nd.zeros((1, 2)) for name in arguments})
