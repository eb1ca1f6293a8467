"""Loops and branches as nodes compute what the same Python computes: outputs and gradients, for bodies of any make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx

SIDE = 2
Line = tuple[str, int, int]
OPERATORS = {
    "add": lambda world, a, b: a + b,
    "half product": lambda world, a, b: a * b * 0.5,
    "minus": lambda world, a, b: a - b,
    "tanh": lambda world, a, b: world.tanh(a),
    "relu": lambda world, a, b: world.relu(a),
    "transpose": lambda world, a, b: world.transpose(a),
    "blocked": lambda world, a, b: world.BlockGrad(a) + b,
    "dot": lambda world, a, b: world.tanh(world.dot(a, b)),
    "rows": lambda world, a, b: world.concat(*world.split(a, num_outputs=2, axis=0)[::-1], dim=0),
}
lines = st.lists(
    st.tuples(st.sampled_from(sorted(OPERATORS)), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6,
)


def computed(world: Any, program: list[Line], *values: Any) -> tuple[Any, Any]:
    """Run a program on arrays (``mx.nd``) or symbols (``mx.sym``): an output, and a next state that stays small."""
    found = [*values, values[0] + values[1]]
    for name, i, j in program:
        found.append(OPERATORS[name](world, found[i % len(found)], found[j % len(found)]))
    return found[-1] + values[0], world.tanh(found[-1] - values[1])


def numbers(seed: int, steps: int) -> dict[str, np.ndarray]:
    """Values for the data, the first state and a free variable."""
    draw = np.random.RandomState(seed)
    shapes = {"x": (steps, SIDE, SIDE), "s": (SIDE, SIDE), "w": (SIDE, SIDE)}
    return {name: draw.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def by_executor(net: Any, values: dict[str, np.ndarray], seed: int = 0) -> list[np.ndarray]:
    """Outputs, then gradients of all values for random head gradients."""
    arrays = {name: mx.nd.array(value, dtype=value.dtype) for name, value in values.items()}
    slopes = {name: mx.nd.full(value.shape, np.nan, dtype=value.dtype) for name, value in values.items()}
    used = set(net.list_arguments())
    executor = net.bind(mx.cpu(), {n: arrays[n] for n in used}, args_grad={n: slopes[n] for n in used})
    executor.forward(is_train=True)
    executor.backward(heads_for(executor.outputs, seed))
    zero = (n for n in values if n not in used)
    slopes.update({name: mx.nd.zeros(values[name].shape) for name in zero})
    return [a.asnumpy() for a in [*executor.outputs, *slopes.values()]]


def by_tape(run: Callable[..., list], values: dict[str, np.ndarray], seed: int = 0) -> list[np.ndarray]:
    """The same for a function of arrays, by autograd."""
    arrays = {name: mx.nd.array(value) for name, value in values.items()}
    for array in arrays.values():
        array.attach_grad()
    with mx.autograd.record():
        outputs = run(**arrays)
    mx.autograd.backward(outputs, heads_for(outputs, seed))
    return [a.asnumpy() for a in [*outputs, *(array.grad for array in arrays.values())]]


def heads_for(outputs: list, seed: int) -> list:
    """Head gradients that depend on the seed and the shapes only."""
    draw = np.random.RandomState(seed)
    return [mx.nd.array(draw.uniform(-1, 1, output.shape), dtype=output.dtype) for output in outputs]


def agree(one: list[np.ndarray], other: list[np.ndarray], outputs: int) -> None:
    """Outputs are equal bit for bit; gradients up to the order of sums."""
    for number, (left, right) in enumerate(zip(one, other, strict=True)):
        if number < outputs:
            np.testing.assert_array_equal(left, right, strict=True)
        else:
            np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def variables() -> list:
    """Symbols for the values."""
    return [mx.sym.Variable(name) for name in "xsw"]


@pytest.mark.clause("control-flow/foreach", "control-flow/gradient")
@given(program=lines, steps=st.integers(1, 4), seed=st.integers(0, 99))
def test_foreach_is_the_unrolled_graph(program: list[Line], steps: int, seed: int) -> None:
    x, s, w = variables()
    net = mx.sym.Group(list(mx.sym.contrib.foreach(lambda row, t: computed(mx.sym, program, row, t, w), x, s)))
    outputs, state = [], s
    for step in range(steps):
        row = mx.sym.slice_axis(x, axis=0, begin=step, end=step + 1).reshape((SIDE, SIDE))
        output, state = computed(mx.sym, program, row, state, w)
        outputs.append(output)
    unrolled = mx.sym.Group([mx.sym.stack(*outputs), state])
    values = numbers(seed, steps)
    agree(by_executor(net, values), by_executor(unrolled, values), 2)


@pytest.mark.clause("control-flow/foreach", "control-flow/gradient")
@given(program=lines, steps=st.integers(1, 4), seed=st.integers(0, 99))
def test_foreach_on_arrays_is_foreach_in_a_graph(program: list[Line], steps: int, seed: int) -> None:
    x, s, w = variables()
    net = mx.sym.Group(list(mx.sym.contrib.foreach(lambda row, t: computed(mx.sym, program, row, t, w), x, s)))
    values = numbers(seed, steps)

    def on_arrays(x: Any, s: Any, w: Any) -> list:
        return list(mx.nd.contrib.foreach(lambda row, t: computed(mx.nd, program, row, t, w), x, s))

    def as_cached_op(**arrays: Any) -> list:
        return mx.cached_op.CachedOp(net)(*[arrays[name] for name in net.list_inputs()])

    found = by_executor(net, values)
    agree(by_tape(on_arrays, values), found, 2)
    for left, right in zip(by_tape(as_cached_op, values), found, strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


@pytest.mark.clause("control-flow/while-loop", "control-flow/gradient")
@given(program=lines, steps=st.integers(0, 4), most=st.integers(1, 4), seed=st.integers(0, 99))
def test_while_loop_is_a_python_loop(program: list[Line], steps: int, most: int, seed: int) -> None:
    _, s, w = variables()
    count = mx.sym.Variable("count")

    def below(i: Any, t: Any) -> Any:
        return i < steps

    def body(i: Any, t: Any) -> Any:
        output, state = computed(mx.sym, program, t, t, w)
        return [output], [i + 1, state]

    (rows,), (last_count, state) = mx.sym.contrib.while_loop(below, body, [count, s], max_iterations=most)
    net = mx.sym.Group([rows, last_count, state])
    values = {**{n: v for n, v in numbers(seed, 1).items() if n != "x"}, "count": np.zeros(1, np.float32)}

    def by_hand(s: Any, w: Any, count: Any) -> list:
        outputs, state = [], s * 1
        for _ in range(min(steps, most)):
            output, state = computed(mx.nd, program, state, state, w)
            outputs.append(output)
        outputs += [w * 0] * (most - len(outputs))
        return [mx.nd.stack(*outputs), count + min(steps, most), state]

    agree(by_executor(net, values), by_tape(by_hand, values), 3)


@pytest.mark.clause("control-flow/cond", "control-flow/gradient")
@given(first=lines, second=lines, seed=st.integers(0, 99))
def test_cond_is_the_branch_that_is_taken(first: list[Line], second: list[Line], seed: int) -> None:
    _, s, w = variables()
    values = {name: value for name, value in numbers(seed, 1).items() if name != "x"}
    for bound, program in ((9, first), (-9, second)):
        made = mx.sym.contrib.cond(
            s.sum() < bound, lambda: computed(mx.sym, first, s, w), lambda: computed(mx.sym, second, s, w)
        )
        taken = mx.sym.Group(list(computed(mx.sym, program, s, w)))
        agree(by_executor(mx.sym.Group(made), values), by_executor(taken, values), 2)


@pytest.mark.clause("control-flow/captured", "control-flow/gradient")
@given(program=lines, outer=st.integers(1, 3), inner=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_loop_in_a_loop_is_two_loops(program: list[Line], outer: int, inner: int, seed: int) -> None:
    x, s, w = variables()
    shape = (outer, inner, SIDE, SIDE)

    def nested(world: Any, x: Any, s: Any, w: Any) -> list:
        def step(rows: Any, t: Any) -> Any:
            shift = world.tanh(t * w)  # the inner body reads what the outer one made
            return world.contrib.foreach(lambda row, u: computed(world, program, row, u, shift), rows, t)

        return list(world.contrib.foreach(step, x, s))

    values = {**numbers(seed, 1), "x": np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)}
    found = by_executor(mx.sym.Group(nested(mx.sym, x, s, w)), values)
    agree(by_tape(lambda **arrays: nested(mx.nd, **arrays), values), found, 2)


@pytest.mark.clause("control-flow/gradient", "gradient/shared-weight")
@pytest.mark.parametrize(("kind", "dtype"), [("merged", "float32"), ("merged", "float16"), ("apart", "float32")])
def test_a_recurrent_net_is_unrolled_bit_for_bit(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every weight is read once in a step, or by layers alone: both ways add up the same numbers in the same order.

    A loop rounds the sum of a bias in half precision in every step.
    """
    monkeypatch.setenv("REFIMPL_SHARED_WEIGHTS", kind)
    steps, batch, size = 5, 3, 4
    x, h = mx.sym.Variable("x"), mx.sym.Variable("h")
    names = ("wi", "wh", "b")
    shapes = {"x": (steps, batch, size), "h": (batch, size), "wi": (size, size), "wh": (size, size), "b": (size,)}
    weights = {name: mx.sym.Variable(name) for name in names}

    def cell(row: Any, state: Any) -> Any:
        bias = [] if dtype == "float16" else [weights["b"]]
        fed = mx.sym.FullyConnected(row, weights["wi"], *bias, no_bias=not bias, num_hidden=size)
        back = mx.sym.FullyConnected(state, weights["wh"], no_bias=True, num_hidden=size)
        if kind == "merged":
            back = mx.sym.FullyConnected(mx.sym.tanh(back), weights["wh"], no_bias=True, num_hidden=size, flatten=False)
        new = mx.sym.tanh(fed + back)
        return new, new

    draw = np.random.RandomState(0)
    values = {name: draw.uniform(-1, 1, shape).astype(dtype) for name, shape in shapes.items()}
    looped = mx.sym.Group(list(mx.sym.contrib.foreach(cell, x, h)))
    rows, outputs, state = mx.sym.split(x, num_outputs=steps, axis=0, squeeze_axis=True), [], h
    for row in rows:
        output, state = cell(row, state)
        outputs.append(output)
    unrolled = mx.sym.Group([mx.sym.stack(*outputs), state])
    for left, right in zip(by_executor(looped, values), by_executor(unrolled, values), strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


@pytest.mark.clause("control-flow/random")
def test_dropout_draws_for_each_step_and_is_differentiated_with_what_was_drawn() -> None:
    x, s = mx.sym.Variable("x"), mx.sym.Variable("s")
    net = mx.sym.contrib.foreach(lambda row, t: (mx.sym.Dropout(row, p=0.5) + t * 0, t), x, s)[0]
    values = {"x": mx.nd.ones((4, 50)), "s": mx.nd.zeros(50)}
    slope = mx.nd.zeros((4, 50))
    executor = net.bind(mx.cpu(), values, args_grad={"x": slope})
    mx.random.seed(1)
    rows = executor.forward(is_train=True)[0].asnumpy()
    assert len({row.tobytes() for row in rows}) == 4
    executor.backward(mx.nd.ones((4, 50)))
    np.testing.assert_array_equal(slope.asnumpy(), rows)
    mx.random.seed(1)
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), rows)
    np.testing.assert_array_equal(executor.forward(is_train=False)[0].asnumpy(), np.ones((4, 50)))


@pytest.mark.clause("engine/order")
@pytest.mark.parametrize(("kind", "seed"), [("naive", 0), ("threaded", 0), *(("shuffled", seed) for seed in range(9))])
def test_every_engine_finds_the_same(kind: str, seed: int) -> None:
    x, s, w = variables()
    program = [("dot", 0, 1), ("half product", 2, 3), ("tanh", 5, 0)]
    net = mx.sym.Group(list(mx.sym.contrib.foreach(lambda row, t: computed(mx.sym, program, row, t, w), x, s)))
    values = numbers(3, 3)
    usual = by_executor(net, values)
    with mx.engine.use(kind, seed):
        for left, right in zip(by_executor(net, values), usual, strict=True):
            np.testing.assert_array_equal(left, right, strict=True)
