"""Random graphs, and a tape in plain NumPy that says what they compute.

The tape knows nothing of refimpl: values are float64 arrays of small dyadic numbers, so that every sum and
product is exact in float32 as well, in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import refimpl as mx

SHAPE = (2, 2)


@dataclass
class Value:
    """A number array, its symbol, and how it sends a gradient to what it was made of."""

    data: np.ndarray
    symbol: mx.sym.Symbol
    inputs: list[Value] = field(default_factory=list)
    send: Callable | None = None


def _add(a: Value, b: Value) -> Value:
    return Value(a.data + b.data, a.symbol + b.symbol, [a, b], lambda g: [g, g])


def _sub(a: Value, b: Value) -> Value:
    return Value(a.data - b.data, a.symbol - b.symbol, [a, b], lambda g: [g, -g])


def _mul(a: Value, b: Value) -> Value:
    return Value(a.data * b.data, a.symbol * b.symbol, [a, b], lambda g: [g * b.data, g * a.data])


def _half(a: Value) -> Value:
    return Value(a.data * 0.5, a.symbol * 0.5, [a], lambda g: [g * 0.5])


def _negative(a: Value) -> Value:
    return Value(-a.data, mx.sym.negative(a.symbol), [a], lambda g: [-g])


def _relu(a: Value) -> Value:
    return Value(
        np.maximum(a.data, 0), mx.sym.Activation(a.symbol, act_type="relu"), [a],
        lambda g: [g * (a.data > 0)],
    )


def _blocked(a: Value) -> Value:
    return Value(a.data, mx.sym.BlockGrad(a.symbol), [a], lambda g: [np.zeros_like(g)])


def _transposed(a: Value) -> Value:
    return Value(a.data.T, mx.sym.transpose(a.symbol), [a], lambda g: [g.T])


def _identity(a: Value) -> Value:
    return Value(a.data, mx.sym.identity(a.symbol), [a], lambda g: [g])


def _dot(a: Value, b: Value) -> Value:
    return Value(
        a.data @ b.data, mx.sym.dot(a.symbol, b.symbol), [a, b],
        lambda g: [g @ b.data.T, a.data.T @ g],
    )


ONE = (_half, _negative, _relu, _blocked, _transposed, _identity)
TWO = (_add, _sub, _mul, _dot)


@dataclass
class Graph:
    """Variables by name, and the values chosen as outputs."""

    variables: dict[str, Value]
    outputs: list[Value]

    def symbol(self) -> mx.sym.Symbol:
        return mx.sym.Group([out.symbol for out in self.outputs])

    def gradients(self, heads: list[np.ndarray]) -> dict[str, np.ndarray]:
        """What reverse accumulation gives for every variable."""
        order: list[Value] = []
        seen: set[int] = set()

        def visit(value: Value) -> None:
            if id(value) in seen:
                return
            seen.add(id(value))
            for source in value.inputs:
                visit(source)
            order.append(value)

        for out in self.outputs:
            visit(out)
        sums = {id(value): np.zeros(SHAPE) for value in [*order, *self.variables.values()]}
        for out, head in zip(self.outputs, heads, strict=True):
            sums[id(out)] = sums[id(out)] + head
        for value in reversed(order):
            if value.send is not None:
                for source, part in zip(value.inputs, value.send(sums[id(value)]), strict=True):
                    sums[id(source)] = sums[id(source)] + part
        return {name: sums[id(value)] for name, value in self.variables.items()}


def dyadic(seed: int) -> np.ndarray:
    """Small numbers, never 0: whole halves from -2 to 2."""
    picked = np.random.RandomState(seed).choice([-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0], size=SHAPE)
    return picked


@st.composite
def graphs(draw: st.DrawFn, max_operators: int = 9) -> Graph:
    """A graph over up to three variables, biased to many consumers of one value."""
    count = draw(st.integers(1, 3))
    variables = {}
    for number in range(count):
        name = "abc"[number]
        variables[name] = Value(dyadic(draw(st.integers(0, 1000))), mx.sym.Variable(name))
    values = list(variables.values())
    favourite = values[0]
    products = 0
    for _ in range(draw(st.integers(1, max_operators))):
        pick = st.sampled_from(values[-4:]) | st.just(favourite)
        limited = (_add, _sub) if products >= 3 else TWO
        if draw(st.booleans()):
            made = draw(st.sampled_from(ONE))(draw(pick))
        else:
            rule = draw(st.sampled_from(limited))
            products += rule in (_mul, _dot)
            made = rule(draw(pick), draw(pick))
        values.append(made)
    outputs = draw(st.lists(st.sampled_from(values[-3:]), min_size=1, max_size=3))
    return Graph(variables, outputs)


def fan_out(consumers: int) -> Graph:
    """One variable read by many operators whose results are added up."""
    a = Value(dyadic(consumers), mx.sym.Variable("a"))
    total = _half(a)
    for _ in range(consumers - 1):
        total = _add(total, _half(a))
    return Graph({"a": a}, [total])
