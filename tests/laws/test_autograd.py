"""Tape and graph tell one story: what autograd finds is what the executor of the same graph finds, bit for bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.ndarray import NDArray, dense

from .graphs import SHAPE, Graph, fan_out, graphs


def run_by_hand(symbol: mx.sym.Symbol, arrays: dict[str, NDArray]) -> list[NDArray]:
    """Call every operator of a graph on arrays, one after the other, as a user would."""
    values: dict[tuple[int, int], NDArray] = {}
    for node in symbol.order():
        if node.is_variable:
            values[id(node), 0] = arrays[node.name]
            continue
        inputs = [values[id(entry.node), entry.index] for entry in node.inputs]
        made = dense.execute(node.op, node.params, dict(node.attrs), inputs, mx.cpu())
        values.update({(id(node), i): array for i, array in enumerate(made if isinstance(made, list) else [made])})
    return [values[id(entry.node), entry.index] for entry in symbol.entries]


def both_gradients(graph: Graph, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Gradients of all arguments at random points: by autograd, and by the executor."""
    values = np.random.RandomState(seed)
    symbol = graph.symbol()
    names = symbol.list_arguments()
    numbers = {name: values.normal(size=SHAPE) for name in names}
    heads = [mx.nd.array(values.normal(size=SHAPE)) for _ in graph.outputs]

    arrays = {name: mx.nd.array(numbers[name]) for name in names}
    for array in arrays.values():
        array.attach_grad()
    with mx.autograd.record():
        outputs = run_by_hand(symbol, arrays)
    mx.autograd.backward(outputs, heads)

    grads = {name: mx.nd.zeros(SHAPE) for name in names}
    executor = symbol.bind(mx.cpu(), {name: mx.nd.array(numbers[name]) for name in names}, grads)
    executor.forward(is_train=True)
    executor.backward(heads)
    return [arrays[name].grad.asnumpy() for name in names], [grads[name].asnumpy() for name in names]


@given(graph=graphs(), seed=st.integers(0, 1000))
def test_autograd_is_the_executor(graph: Graph, seed: int) -> None:
    for by_tape, by_graph in zip(*both_gradients(graph, seed), strict=True):
        np.testing.assert_array_equal(by_tape, by_graph, strict=True)


def test_so_it_is_however_many_consumers_a_value_has() -> None:
    for consumers in range(1, 13):
        graph, _ = fan_out(consumers)
        for by_tape, by_graph in zip(*both_gradients(graph, consumers), strict=True):
            np.testing.assert_array_equal(by_tape, by_graph, strict=True)


@given(graph=graphs(), seed=st.integers(0, 1000))
def test_a_gradient_that_can_be_differentiated_is_the_same_gradient(graph: Graph, seed: int) -> None:
    """``create_graph`` composes gradients of other operators; only rounding may differ."""
    values = np.random.RandomState(seed)
    symbol = graph.symbol()
    arrays = {name: mx.nd.array(values.normal(size=SHAPE), dtype="float64") for name in symbol.list_arguments()}
    for array in arrays.values():
        array.attach_grad()
    with mx.autograd.record():
        outputs = run_by_hand(symbol, arrays)
    variables = list(arrays.values())
    plain = mx.autograd.grad(outputs, variables, retain_graph=True)
    again = mx.autograd.grad(outputs, variables, create_graph=True)
    for one, other in zip(plain, again, strict=True):
        np.testing.assert_allclose(other.asnumpy(), one.asnumpy(), rtol=1e-13, atol=1e-13)
