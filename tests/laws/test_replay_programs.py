"""Runs that are replayed: bits, errors and effects are those of the steps, whatever happens between runs."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example as shown
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.engine import fast_road
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import buffer
from refimpl.kernels.tuned import kernel
from refimpl.oracle.pages.calls import gradient_inputs, has_gradient
from refimpl.oracle.pages.draws import Example, SeededDraw, example
from refimpl.replay import programs
from refimpl.symbol.operators import make_function

from .bound import ACTIONS, EXTRAS, SURROUNDINGS, WATCH, WAYS, Bound, bits, dyadic, held, seen
from .graphs import Graph, fan_out, graphs

pytestmark = pytest.mark.usefixtures("nothing_has_failed")  # after a failure the steps run
OPERATORS = [op.name for op in distinct() if op.cases is not None]
compiled = pytest.mark.skipif(fast_road.road is None, reason="machine code without checks is for the usual lane only")


def _rows(executor: mx.executor.Executor) -> list[programs.Rows | None]:
    """What was recorded of runs in training."""
    tables = executor.program.forward_table, executor.program.backward_table
    return [table and table.recorder.made.get((True, None)) for table in tables]


# --- every operator ------------------------------------------------------------------------------


def _runs(of: Example, kind: str) -> tuple[list[Any], mx.executor.Executor]:
    """Four runs both ways of a graph that is one operator, on values that change; and the executor."""
    names = [f"input{i}" for i in range(len(of.arrays))]
    variables = [mx.sym.Variable(name) for name in names]
    by_name = {} if of.op.variadic else dict(zip(of.names, variables, strict=True))
    symbol = make_function(of.op, of.op.name)(*([] if by_name else variables), **by_name, **of.params)
    wanted = dict(zip(names, gradient_inputs(of), strict=True)) if has_gradient(of) else {}
    arrays = {n: mx.nd.array(a, dtype=a.dtype) for n, a in zip(names, of.arrays, strict=True)}
    mx.random.seed(3)
    with WAYS[kind]():
        executor = symbol.bind(
            mx.cpu(), {n: arrays[n] for n in symbol.list_arguments()},
            {n: mx.nd.zeros(arrays[n].shape, dtype=arrays[n].dtype) for n in symbol.list_arguments() if wanted.get(n)},
            {n: "write" if wanted.get(n) else "null" for n in symbol.list_arguments()},
            {n: arrays[n] for n in symbol.list_auxiliary_states()},
        )
        history = []
        for turn in range(4):
            for name, values in zip(names, of.arrays, strict=True):
                arrays[name][:] = values.reshape(-1)[:: 1 - 2 * (turn % 2)].reshape(values.shape)
            history.append(seen(lambda: executor.forward(is_train=True) and None))
            heads = [mx.nd.array(dyadic(out.shape, turn), dtype=out.dtype) for out in executor.outputs]
            if any(wanted.values()):
                history.append(seen(lambda h=heads: executor.backward(h)))
            history.append(held(executor))
    return history, executor


FIRST_TYPE = ["float32", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("float64", "float16"))]


def _agrees(name: str, seed: int, dtype: str) -> int:
    """Compare tables with steps; how many of the steps are no steps in the table."""
    try:
        of = example(get(name), SeededDraw(seed), dtype)
    except mx.MXNetError:
        return 0  # not every operator takes every type
    expected, _ = _runs(of, "steps")
    found, executor = _runs(of, "table")
    assert found == expected, f"{of}"
    return sum(call.func.__name__ != "run" for rows in _rows(executor) if rows for call in rows.calls)


@pytest.mark.heavy
@pytest.mark.clause("Executor/table")
@pytest.mark.parametrize("dtype", FIRST_TYPE)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_gives_its_bits_again(name: str, dtype: str) -> None:
    for seed in range(2):
        _agrees(name, seed, dtype)


@pytest.mark.parametrize("name", [
    "elemwise_mul", "_mul_scalar", "Activation", "FullyConnected", "Concat", "SliceChannel", "dot", "softmax",
    "SoftmaxOutput", "BatchNorm", "Embedding", "sum", "Pooling", "LayerNorm",
])
@compiled
def test_what_programs_use_most_is_in_the_table(name: str) -> None:
    assert any(_agrees(name, seed, "float32") for seed in range(4))


@pytest.mark.parametrize("name", ["Dropout", "_random_uniform_like", "_sample_multinomial", "linalg_syevd"])
def test_what_draws_or_looks_at_values_stays_a_step(name: str) -> None:
    assert not any(_agrees(name, seed, "float32") for seed in range(4))


# --- events between runs -------------------------------------------------------------------------


EVENTS = st.tuples(st.sampled_from(list(SURROUNDINGS)), st.sampled_from(list(ACTIONS)), st.integers(0, 9))


def _history(
    kind: str, symbol: mx.sym.Symbol, values: dict[str, np.ndarray], requirements: list[str], events: list[tuple]
) -> list[Any]:
    """Everything that can be seen after each event."""
    names = symbol.list_arguments()
    wanted = {name: requirements[number % len(requirements)] for number, name in enumerate(names)}
    history: list[Any] = []
    with WAYS[kind]():
        bound = Bound(symbol, values, wanted)
        for surrounding, action, seed in events:
            WATCH.told.clear()
            bound.told.clear()
            mx.random.seed(seed)
            with SURROUNDINGS[surrounding]():
                problem = seen(lambda a=action, s=seed: ACTIONS[a](bound, s))
                now = held(bound.executor)
            history.append((problem, now, list(WATCH.told), list(bound.told)))
    return history


EVERYTHING = [
    *[("nothing", "run", 1)] * 3, *[(surrounding, "run", 2) for surrounding in SURROUNDINGS],
    *[("nothing", action, seed) for action in ACTIONS for seed in (3, 4)],
]
REQUIREMENTS = st.lists(st.sampled_from(["write", "add", "null"]), min_size=1, max_size=3)


@pytest.mark.clause("Executor/table")
@shown(graph=fan_out(3)[0], extra="nothing", requirements=["write"], events=EVERYTHING)
@shown(graph=fan_out(2)[0], extra="Dropout", requirements=["add"], events=EVERYTHING)
@given(
    graph=graphs(), extra=st.sampled_from(list(EXTRAS)), requirements=REQUIREMENTS,
    events=st.lists(EVENTS | st.just(("nothing", "run", 1)), min_size=3, max_size=12),
)
def test_nothing_that_happens_between_runs_is_missed(
    graph: Graph, extra: str, requirements: list[str], events: list[tuple]
) -> None:
    symbol = mx.sym.Group([EXTRAS[extra](out.symbol) for out in graph.outputs])
    values = {name: value.data for name, value in graph.variables.items()}
    expected, found = (_history(kind, symbol, values, requirements, events) for kind in ("steps", "table"))
    for event, one, other in zip(events, expected, found, strict=True):
        assert one == other, event


# --- what is in a table, and when it is used -------------------------------------------------------


def _dense() -> mx.executor.Executor:
    """A bound layer with a loss, and values in its arrays."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    executor = mx.sym.MakeLoss(mx.sym.tanh(net)).simple_bind(mx.cpu(), data=(4, 5))
    for number, array in enumerate(executor.arg_arrays):
        array[:] = dyadic(array.shape, number)
    return executor


def _step(executor: mx.executor.Executor) -> list[Any]:
    executor.forward(is_train=True)
    executor.backward()
    return held(executor)


@compiled
@pytest.mark.clause("Executor/table")
def test_the_second_run_writes_the_table_down() -> None:
    executor = _dense()
    for written in (False, True, True):
        _step(executor)
        tables = executor.program.forward_table, executor.program.backward_table
        assert [bool(t.recorder.made) for t in tables] == [written, written]
    for rows in _rows(executor):
        assert rows is not None
        assert all(call.func.__name__ != "run" for call in rows.calls)


def test_zeros_of_either_sign_are_not_the_same_parameter() -> None:
    a = mx.sym.Variable("a")
    executor = mx.sym.Group([a * 0.0, a * -0.0]).bind(mx.cpu(), {"a": mx.nd.ones(2)})
    for _ in range(3):
        signs = [np.signbit(out.asnumpy()).tolist() for out in executor.forward()]
        assert signs == [[False, False], [True, True]]


@compiled
def test_every_mode_and_set_of_quirks_has_a_table_of_its_own() -> None:
    executor = _dense()
    for _ in range(2):
        for is_train in (False, True):
            executor.forward(is_train=is_train)
            with mx.quirks("mxnet-1.9.1"):
                executor.forward(is_train=is_train)
    assert len(executor.program.forward_table.recorder.made) == 4
    assert None not in executor.program.forward_table.recorder.made.values()


@compiled
def test_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LIMIT", 1)
    executor = _dense()
    for is_train, recorded in ((False, 0), (False, 1), (True, 1), (True, 1), (False, 1)):
        executor.forward(is_train=is_train)
        assert len(executor.program.forward_table.recorder.made) == recorded


def _shared(one: np.ndarray, others: list[np.ndarray]) -> bool:
    return any(np.shares_memory(one, other) for other in others)


@compiled
def test_memory_to_work_in_belongs_to_the_program() -> None:
    """What a thread lends to its pages is used again by whatever runs next in it."""
    executors = [_dense(), _dense()]
    for executor in executors:
        for _ in range(3):
            _step(executor)
    thread = [block.flat for block in buffer._ARENA.blocks.values()] + list(kernel._WORKSPACE.blocks.values())
    assert thread
    lent = [list(executor.program.pool.lent.values()) for executor in executors]
    assert all(lent)
    for mine, other in (lent, lent[::-1]):
        assert not any(_shared(block, [*thread, *other]) for block in mine)
        assert not any(_shared(block, thread) for block in mine)


@compiled
def test_steps_that_borrow_much_stay_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MOST_BORROWED", 0)  # how much is borrowed depends on the processor
    executor = _dense()
    for _ in range(3):
        _step(executor)
    (rows, _) = _rows(executor)
    assert rows is not None
    assert rows.calls[0].func.__name__ == "run"
    assert not executor.program.pool.lent


@compiled
@pytest.mark.clause("Executor/table")
@pytest.mark.parametrize(("row", "step"), [(1, 0), (2, 1)])
def test_a_failure_in_a_table_stays_with_what_its_step_writes(row: int, step: int) -> None:
    data = mx.sym.Variable("data")
    both = mx.sym.Group([mx.sym.FullyConnected(data, num_hidden=3, name="fc"), mx.sym.square(data)])
    executor = both.simple_bind(mx.cpu(), grad_req="null", data=(4, 5))
    for number, array in enumerate(executor.arg_arrays):
        array[:] = dyadic(array.shape, number)
    for _ in range(3):
        executor.forward()
    expected = held(executor)
    made = executor.program.forward_table.recorder.made
    rows = made[False, None]
    assert rows is not None
    assert rows.steps == [0, 0, 1]
    failing = mock.Mock(side_effect=mx.MXNetError("no memory to work in"))
    calls = [failing if number == row else call for number, call in enumerate(rows.calls)]
    one_by_one = [programs.Piece(0, len(calls), None)]
    with mock.patch.dict(made, {(False, None): rows._replace(calls=calls, pieces=one_by_one)}):
        executor.forward()
    with pytest.raises(mx.MXNetError, match="no memory to work in"):
        executor.outputs[step].asnumpy()
    assert bits([executor.outputs[1 - step]]) == expected[0][1 - step : 2 - step]
    executor.forward()
    assert held(executor) == expected


@compiled
@pytest.mark.parametrize("surrounding", ["no twins", "Python", "steps", "threads", "profiler"])
@pytest.mark.clause("fast-road/replay")
def test_where_nothing_may_be_replayed_the_steps_run(surrounding: str) -> None:
    executor = _dense()
    for _ in range(3):
        _step(executor)
    with mock.patch.object(programs.Table, "is_replayed", autospec=True) as replayed, SURROUNDINGS[surrounding]():
        _step(executor)
    assert not replayed.called
