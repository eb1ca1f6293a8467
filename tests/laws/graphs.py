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


def added(a: Value, b: Value) -> Value:
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


def _folded(a: Value) -> Value:
    """Views of views: the same elements in three shapes."""
    flat = mx.sym.Flatten(mx.sym.expand_dims(mx.sym.Reshape(a.symbol, shape=(-1,)), axis=0))
    return Value(a.data, mx.sym.reshape_like(mx.sym.squeeze(flat), a.symbol), [a], lambda g: [g])


def _twice(a: Value) -> Value:
    """One expression spelled twice."""
    both = mx.sym.Activation(a.symbol, act_type="relu") + mx.sym.Activation(a.symbol, act_type="relu")
    return Value(2 * np.maximum(a.data, 0), both, [a], lambda g: [2 * g * (a.data > 0)])


def _rows_swapped(a: Value) -> Value:
    rows = mx.sym.split(a.symbol, num_outputs=2, axis=0)
    return Value(a.data[::-1], mx.sym.Concat(rows[1], rows[0], dim=0), [a], lambda g: [g[::-1]])


def _first_row_twice(a: Value) -> Value:
    """An output that nobody reads: its head gradient is zero."""
    row = mx.sym.split(a.symbol, num_outputs=2, axis=0)[0]
    return Value(
        a.data[[0, 0]], mx.sym.Concat(row, row, dim=0), [a],
        lambda g: [np.stack([g.sum(axis=0), np.zeros(2)])],
    )


def _measured(a: Value, b: Value) -> Value:
    """The branch of b is only measured."""
    return Value(a.data, a.symbol + mx.sym.zeros_like(b.symbol), [a, b], lambda g: [g, np.zeros_like(g)])


def _joined(a: Value, b: Value) -> Value:
    """The second row of a above the first of b."""
    both = mx.sym.slice_axis(mx.sym.Concat(a.symbol, b.symbol, dim=0), axis=0, begin=1, end=3)
    none = np.zeros(2)
    return Value(
        np.stack([a.data[1], b.data[0]]), both, [a, b],
        lambda g: [np.stack([none, g[0]]), np.stack([g[1], none])],
    )


ONE = (
    _half, _negative, _relu, _blocked, _transposed, _identity, _folded, _twice, _rows_swapped, _first_row_twice,
)
TWO = (added, _sub, _mul, _dot, _measured, _joined)


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
        limited = (added, _sub, _measured, _joined) if products >= 3 else TWO
        if draw(st.booleans()):
            made = draw(st.sampled_from(ONE))(draw(pick))
        else:
            rule = draw(st.sampled_from(limited))
            products += rule in (_mul, _dot)
            made = rule(draw(pick), draw(pick))
        values.append(made)
    outputs = draw(st.lists(st.sampled_from(values[-3:]), min_size=1, max_size=3))
    return Graph(variables, outputs)


CONSUMERS = (_half, _negative, _relu, _transposed, _folded, _rows_swapped, _identity)


def fan_out(consumers: int) -> tuple[Graph, list[Graph]]:
    """One value read by many operators whose results are added up; and each of these operators alone."""
    a = Value(dyadic(consumers), mx.sym.Variable("a"))
    shared = _mul(a, a)
    branches = [CONSUMERS[number % len(CONSUMERS)](shared) for number in range(consumers)]
    total = branches[0]
    for branch in branches[1:]:
        total = added(total, branch)
    return Graph({"a": a}, [total]), [Graph({"a": a}, [branch]) for branch in branches]
