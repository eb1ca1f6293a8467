"""Chains of kernels that became one give the bits of the kernels, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.executor import chains, table
from refimpl.executor.rows import Piece, Rows
from refimpl.kernels import distinct, get
from refimpl.kernels.add_n import ADD_TWO
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol.operators import make_function

from .bound import ACTIONS, SURROUNDINGS, Bound, dyadic, held, seen, walked_at_once
from .graphs import Graph, graphs

Symbol = mx.sym.Symbol
COMPILED = not (numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK or table.SIMULATED)
pytestmark = [
    pytest.mark.usefixtures("nothing_has_failed"),
    pytest.mark.skipif(not COMPILED, reason="chains are made of machine code without checks"),
]


@contextmanager
def kept(kind: str) -> Iterator[None]:
    with mock.patch.dict(os.environ, {chains.SWITCH: kind}), walked_at_once():
        yield


def runs(symbol: Symbol, values: dict[str, np.ndarray], kind: str, req: str = "write") -> tuple[list[Any], Any]:
    """Everything that can be seen in four runs, on values that change; and the executor."""
    with kept(kind):
        arguments = {name: mx.nd.array(values[name], dtype=values[name].dtype) for name in symbol.list_arguments()}
        executor = symbol.bind(
            mx.cpu(), arguments, {n: mx.nd.ones(a.shape, dtype=a.dtype) for n, a in arguments.items()}, req,
        )
        history = []
        for turn in range(4):
            for name, array in arguments.items():
                array[:] = values[name].reshape(-1)[:: 1 - 2 * (turn % 2)].reshape(array.shape)
            executor.forward(is_train=True)
            heads = [mx.nd.array(dyadic(out.shape, turn), dtype=out.dtype) for out in executor.outputs]
            history.append(seen(lambda h=heads: executor.backward(h)))
            history.append(held(executor))
    return history, executor


def calls_of(executor: Any) -> int:
    tables = executor.program.forward_table, executor.program.backward_table
    return sum(len(rows.calls) for rows in (each.rows(is_train=True) for each in tables) if rows is not None)


def gelu(x: Symbol) -> Symbol:
    return x * 0.5 * (mx.sym.tanh((x + x * x * x * 0.044715) * 0.79788456) + 1)


def gates(x: Symbol) -> Symbol:
    """The cell of an LSTM, with its state in the place of its gates."""
    opened = mx.sym.Activation(x, act_type="sigmoid")
    state = opened * x + opened * mx.sym.Activation(x, act_type="tanh")
    return opened * mx.sym.Activation(state, act_type="tanh")


def rounded(x: Symbol) -> Symbol:
    """Formulas of doubles, which are rounded to the type of the arrays between them."""
    return mx.sym.softsign(mx.sym.square(mx.sym.softsign(x) / 3) - 0.3) * x


def interrupted(x: Symbol) -> Symbol:
    """A softmax is no loop over elements, and other sizes are no equal arrays."""
    before = mx.sym.relu(x + x * 2) * 0.5
    after = mx.sym.softmax(before) * 3 + x
    return after + mx.sym.broadcast_mul(after * 2, mx.sym.sum(x, axis=1, keepdims=True) * 2 + 1)


NETS: dict[str, Callable[[Symbol], Symbol]] = {f.__name__: f for f in (gelu, gates, rounded, interrupted)}


CASES = [
    ("rounded", "float32", "write"),
    pytest.param("gelu", "float32", "add", marks=pytest.mark.heavy),
    pytest.param("interrupted", "float32", "write", marks=pytest.mark.heavy),
    *[
        pytest.param(name, dtype, req, marks=pytest.mark.long)
        for name in NETS for dtype in ("float32", "float64") for req in ("write", "add")
    ],
]


@pytest.mark.clause("Executor/chains")
@pytest.mark.parametrize(("name", "dtype", "req"), CASES)
def test_chains_give_the_bits_of_their_kernels(name: str, dtype: str, req: str) -> None:
    values = {"x": np.random.RandomState(0).normal(size=(5, 27)).astype(dtype)}
    net = NETS[name](mx.sym.Variable("x"))
    expected, apart = runs(net, values, "apart", req)
    found, fused = runs(net, values, "fused", req)
    assert found == expected
    assert calls_of(fused) < calls_of(apart)


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_arrays_of_other_types_are_in_no_chain(dtype: str) -> None:
    values = {"x": np.arange(-7, 8).astype(dtype)}
    net = (mx.sym.Variable("x") * 3 + 1) * mx.sym.Variable("x")
    expected, apart = runs(net, values, "apart")
    found, fused = runs(net, values, "fused")
    assert found == expected
    assert calls_of(fused) == calls_of(apart)


# --- every operator, and graphs ------------------------------------------------------------------


OPERATORS = [op.name for op in distinct() if op.cases is not None and op.outputs and not op.random and not op.aux]


@pytest.mark.long
@pytest.mark.clause("Executor/chains")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_may_be_in_a_chain(name: str, dtype: str) -> None:
    op = get(name)
    for seed in range(2):
        try:
            of = example(op, SeededDraw(seed), dtype)
        except mx.MXNetError:
            return  # not every operator takes every type
        names = [f"input{i}" for i in range(len(of.arrays))]
        inputs = [mx.sym.Variable(n) * 1 for n in names]
        by_name = {} if op.variadic else dict(zip(of.names, inputs, strict=True))
        try:
            made = make_function(op, op.name)(*([] if by_name else inputs), **by_name, **of.params)
        except mx.MXNetError:
            return  # inputs that must be variables
        symbol, values = mx.sym.Group([out * 3 + 1 for out in made]), dict(zip(names, of.arrays, strict=True))
        apart, fused = (seen(lambda k=kind, s=symbol, v=values: runs(s, v, k)[0]) for kind in ("apart", "fused"))
        assert fused == apart


EVENTS = st.tuples(st.sampled_from(list(SURROUNDINGS)), st.sampled_from(list(ACTIONS)), st.integers(0, 9))


def _history(kind: str, graph: Graph, requirement: str, events: list[tuple]) -> list[Any]:
    symbol, history = graph.symbol(), []
    with kept(kind):
        bound = Bound(
            symbol, {name: value.data for name, value in graph.variables.items()},
            dict.fromkeys(symbol.list_arguments(), requirement),
        )
        for surrounding, action, seed in events:
            mx.random.seed(seed)
            with SURROUNDINGS[surrounding]():
                problem = seen(lambda a=action, s=seed: ACTIONS[a](bound, s))
                history.append((problem, held(bound.executor)))
    return history


@pytest.mark.long
@pytest.mark.clause("Executor/chains")
@given(
    graph=graphs(), requirement=st.sampled_from(["write", "add"]),
    events=st.lists(EVENTS | st.just(("nothing", "run", 1)), min_size=3, max_size=9),
)
def test_chains_of_any_graph_give_its_bits(graph: Graph, requirement: str, events: list[tuple]) -> None:
    assert _history("fused", graph, requirement, events) == _history("apart", graph, requirement, events)


# --- what is no chain -----------------------------------------------------------------------------


def _sums(*operands: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Rows:
    """A table of sums: the last of each three arrays becomes the sum of the others."""
    dispatcher = ADD_TWO.cpu
    calls = []
    for arrays in operands:
        dispatcher(*(np.zeros(1, np.float32) for _ in arrays), 1)
        calls.append(partial(dispatcher, *arrays, len(arrays[0])))
    made = dispatcher.overloads[tuple(map(dispatcher.typeof_pyval, calls[0].args))]
    names = ["add_two"] * len(calls)
    return Rows(calls, [*range(len(calls))], [made] * len(calls), [Piece(0, len(calls), None)], names=names)


@pytest.mark.clause("Executor/chains")
@pytest.mark.parametrize(("start", "count"), [(0, 1), (1, 2), (7, 2), (8, 1)])
def test_arrays_that_overlap_end_a_chain(start: int, count: int) -> None:
    """The first sum overwrites what the second reads: at the same places, at later ones, or beside them."""
    results = []
    for fuse in (False, True):
        memory = np.arange(16, dtype=np.float32)
        a, b = memory[:8], memory[start : start + 8]
        rows = _sums((a, a, a), (b, a, b))
        if fuse:
            rows = chains.fused(rows, [ADD_TWO.cpu] * 2)
            assert len(rows.calls) == count
        for call in rows.calls:
            call()
        results.append(memory.tolist())
    assert results[0] == results[1]


@pytest.mark.clause("Executor/chains-switch")
def test_the_switch_has_two_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chains.SWITCH, "chained")
    with pytest.raises(mx.MXNetError, match="REFIMPL_CHAINS must be one of apart, fused, it is 'chained'"):
        (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)})
