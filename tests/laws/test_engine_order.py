"""Engines: any legal order gives the numbers of the program's own order, bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx

from .graphs import Graph, dyadic, graphs
from .test_graphs import run

SEEDS = 1000
CONTEXTS = [mx.cpu(0), mx.cpu(1), mx.cpu(2)]
UNARY = ["tanh", "negative", "relu", "square"]
BINARY = ["elemwise_add", "elemwise_mul", "broadcast_maximum"]


def _statement(draw: random.Random, arrays: list[mx.nd.NDArray]) -> None:
    """One random line of a program over arrays that it reads, replaces and writes in place."""
    kind = draw.randrange(9)
    i, j, k = (draw.randrange(len(arrays)) for _ in range(3))
    if kind == 0:
        arrays[k] = getattr(mx.nd, draw.choice(UNARY))(arrays[i])
    elif kind == 1:
        arrays[k] = getattr(mx.nd, draw.choice(BINARY))(arrays[i], arrays[j])
    elif kind == 2:
        getattr(mx.nd, draw.choice(BINARY))(arrays[i], arrays[j], out=arrays[k])
    elif kind == 3:
        arrays[k] *= 0.5
    elif kind == 4:
        arrays[k][1:3] += arrays[i][0:2]  # views: the same memory under another name
    elif kind == 5:
        mx.nd.random.uniform(-1, 1, shape=(4,), out=arrays[k])
    elif kind == 6:
        arrays[k] = arrays[i].as_in_context(draw.choice(CONTEXTS)).copy()
    elif kind == 7:
        arrays[k][draw.randrange(4)] = draw.randrange(5)
    else:
        arrays[i].copyto(arrays[k]) if i != k else arrays[i].asnumpy()


def _program(seed: int) -> bytes:
    """Run program number ``seed`` and return every bit of its arrays."""
    draw = random.Random(seed)
    mx.random.seed(seed)
    arrays = [mx.nd.array(np.arange(4) - n, ctx) for n, ctx in enumerate(CONTEXTS)]
    for _ in range(draw.randint(3, 12)):
        _statement(draw, arrays)
    return b"".join(a.asnumpy().tobytes() for a in arrays)


@pytest.mark.clause("engine/order", "engine/choice")
def test_shuffled_is_naive() -> None:
    """A thousand programs, each in an order of its own."""
    for seed in range(SEEDS):
        expected = _program(seed)
        with mx.engine.use("shuffled", seed=seed):
            assert _program(seed) == expected, f"program {seed}"


@pytest.mark.clause("engine/choice")
def test_threaded_is_naive() -> None:
    for seed in range(60):
        expected = _program(seed)
        with mx.engine.use("threaded"):
            assert _program(seed) == expected, f"program {seed}"


def test_shuffled_really_shuffles() -> None:
    """Independent work comes in different orders for different seeds, dependent work never does."""
    orders = set()
    for seed in range(20):
        with mx.engine.use("shuffled", seed=seed) as engine:
            a = mx.nd.ones((2,))
            first, second = mx.nd.tanh(a), mx.nd.square(a)
            both = mx.nd.elemwise_add(first, second)
            both.wait_to_read()
            assert engine.ran[-1] == "elemwise_add"
            orders.add(tuple(engine.ran))
    assert orders == {("tanh", "square", "elemwise_add"), ("square", "tanh", "elemwise_add")}


def test_a_forgotten_write_is_found() -> None:
    """The law can fail: a task that hides what it writes gives other numbers under some seed."""
    found = set()
    for seed in range(20):
        with mx.engine.use("shuffled", seed=seed):
            hidden, shown = mx.nd.zeros((1,)), mx.nd.zeros((1,))
            source, target = hidden._buffer, shown._buffer
            mx.engine.run("liar", "cpu(0)", lambda to=source: to.fill(1), [], [])
            mx.engine.run(
                "reader", "cpu(0)", lambda src=source, to=target: to.copy_from(src), [source], [target]
            )
            mx.nd.waitall()
            found.add(float(shown.asscalar()))
    assert found == {0.0, 1.0}


@given(graphs(), st.integers(0, 10_000), st.sampled_from(["write", "add"]))
@pytest.mark.clause("engine/order")
def test_executors_under_any_order(graph: Graph, seed: int, requirement: str) -> None:
    """Forward and backward of a graph, every output and gradient, over memory that values share."""
    heads = [dyadic(seed + i) for i in range(len(graph.outputs))]

    def everything() -> list[bytes]:
        requirements = dict.fromkeys(graph.symbol().list_arguments(), requirement)
        outputs, grads, _ = run(graph, requirements, 3.0, heads)
        return [array.tobytes() for array in (*outputs, *grads.values())]

    expected = everything()
    with mx.engine.use("shuffled", seed=seed):
        assert everything() == expected


def test_gradients_that_are_copied_wait_for_what_they_copy() -> None:
    """One value is the gradient of two arguments: it is computed for one, and copied for the other."""
    a, b, c = (mx.sym.Variable(name) for name in "abc")
    arrays = {"a": mx.nd.array([1, 2]), "b": mx.nd.array([3, 4]), "c": mx.nd.array([5, 6])}
    for seed in range(20):
        grads = {name: mx.nd.zeros((2,)) for name in "abc"}
        with mx.engine.use("shuffled", seed=seed):
            executor = ((a + b) * c).bind(mx.cpu(), arrays, grads)
            executor.forward()
            executor.backward(mx.nd.ones((2,)))
        assert {k: v.asnumpy().tolist() for k, v in grads.items()} == {"a": [5, 6], "b": [5, 6], "c": [4, 6]}


def _trained(contexts: list[mx.Context]) -> bytes:
    """Three steps of a small net with Dropout and BatchNorm; every bit of its parameters and states."""
    mx.random.seed(3)
    data = mx.sym.Variable("data")
    net = mx.sym.Dropout(data, p=0.5) + mx.sym.tanh(mx.sym.Dropout(data, p=0.5))  # two draws from one stream
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(net, num_hidden=6, name="fc1"), name="bn")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")
    rows = np.random.default_rng(0)
    data = mx.io.NDArrayIter(rows.normal(size=(24, 5)), rows.integers(0, 3, 24), batch_size=8)
    module = mx.mod.Module(net, context=contexts)
    module.fit(data, num_epoch=2, initializer=mx.init.Uniform(0.5), optimizer_params={"momentum": 0.9})
    arguments, states = module.get_params()
    return b"".join(v.asnumpy().tobytes() for _, v in sorted({**arguments, **states}.items()))


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("kind", ["shuffled", "threaded"])
def test_training_under_any_order(devices: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value has memory of its own: memory that values share would order steps that need no order."""
    monkeypatch.setenv("REFIMPL_MEMORY_PLAN", "off")
    contexts = [mx.cpu(i) for i in range(devices)]
    expected = _trained(contexts)
    for seed in range(5):
        with mx.engine.use(kind, seed=seed):
            assert _trained(contexts) == expected
