"""Laws of the whole machine: whatever the graph, the executor computes what a plain tape computes."""

from __future__ import annotations

import os
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx

from .graphs import ONE, SHAPE, TWO, Graph, Value, added, dyadic, fan_out, graphs


def arrays_of(graph: Graph, names: list[str]) -> list[mx.nd.NDArray]:
    return [mx.nd.array(graph.variables[name].data) for name in names]


def run(graph: Graph, requirements: dict[str, str], start: float, heads: list[np.ndarray]):
    """Bind, run once and return (outputs, gradients by name)."""
    symbol = graph.symbol()
    names = symbol.list_arguments()
    grads = {name: mx.nd.full(SHAPE, start) for name in names}
    executor = symbol.bind(mx.cpu(), arrays_of(graph, names), grads, requirements)
    for out in executor.outputs:
        out[:] = np.nan
    for arena in executor.program.pool.arenas.values():
        arena.memory.flat[:] = 255  # not a number in every floating type
    executor.forward(is_train=True)
    executor.backward([mx.nd.array(h) for h in heads])
    return [o.asnumpy() for o in executor.outputs], {n: g.asnumpy() for n, g in grads.items()}, executor


@pytest.mark.clause("gradient/chain")
@pytest.mark.clause("memory/lifetime")
@pytest.mark.clause("memory/inplace")
@given(graph=graphs(), seed=st.integers(0, 99))
def test_outputs_and_gradients_are_those_of_the_tape(graph: Graph, seed: int) -> None:
    heads = [dyadic(seed + i) for i in range(len(graph.outputs))]
    names = graph.symbol().list_arguments()
    outputs, grads, _ = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
    for out, value in zip(outputs, graph.outputs, strict=True):
        np.testing.assert_array_equal(out, value.data)
    expected = graph.gradients(heads)
    for name in names:
        np.testing.assert_array_equal(grads[name], expected[name])


@pytest.mark.clause("gradient/chain")
@pytest.mark.parametrize("rule", [*ONE, *TWO], ids=lambda rule: rule.__name__.strip("_"))
def test_every_rule_alone_is_that_of_the_tape(rule: Callable) -> None:
    """Also beside a second consumer of its input, and as one of two outputs of which one is an input."""
    count = 1 if rule in ONE else 2
    variables = {name: Value(dyadic(k + 1), mx.sym.Variable(name)) for k, name in enumerate("ab"[:count])}
    made = rule(*variables.values())
    for outputs in ([made], [made, variables["a"]], [added(made, made), made]):
        graph = Graph(variables, outputs)
        heads = [dyadic(20 + k) for k in range(len(outputs))]
        names = graph.symbol().list_arguments()
        found, grads, _ = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
        for out, value in zip(found, outputs, strict=True):
            np.testing.assert_array_equal(out, value.data)
        for name in names:
            np.testing.assert_array_equal(grads[name], graph.gradients(heads)[name])


@pytest.mark.clause("gradient/chain")
@pytest.mark.parametrize("consumers", range(1, 13))
def test_a_gradient_is_the_sum_of_those_of_single_consumers(consumers: int) -> None:
    head = dyadic(consumers + 50)
    graph, alone = fan_out(consumers)
    _, grads, _ = run(graph, {"a": "write"}, np.nan, [head])
    parts = [run(one, {"a": "write"}, np.nan, [head])[1]["a"] for one in alone]
    np.testing.assert_array_equal(grads["a"], np.sum(parts, axis=0))
    np.testing.assert_array_equal(grads["a"], graph.gradients([head])["a"])


@pytest.mark.clause("Executor/grad-req-add")
@given(graph=graphs())
def test_add_is_the_old_value_plus_write(graph: Graph) -> None:
    heads = [np.ones(SHAPE) for _ in graph.outputs]
    names = graph.symbol().list_arguments()
    _, written, _ = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
    _, added, _ = run(graph, dict.fromkeys(names, "add"), 4.0, heads)
    for name in names:
        np.testing.assert_array_equal(added[name], written[name] + 4.0)


@pytest.mark.clause("Executor/grad-req-independent")
@given(graph=graphs(), data=st.data())
def test_a_gradient_does_not_depend_on_other_requirements(graph: Graph, data: st.DataObject) -> None:
    heads = [np.ones(SHAPE) for _ in graph.outputs]
    names = graph.symbol().list_arguments()
    requirements = {n: data.draw(st.sampled_from(["write", "add", "null"])) for n in names}
    outputs, all_written, _ = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
    same_outputs, mixed, _ = run(graph, requirements, 8.0, heads)
    np.testing.assert_array_equal(same_outputs, outputs)
    for name in names:
        expected = {"write": all_written[name], "add": all_written[name] + 8.0, "null": np.full(SHAPE, 8.0)}
        np.testing.assert_array_equal(mixed[name], expected[requirements[name]])


@pytest.mark.clause("Executor/repeatable")
@given(graph=graphs())
def test_forward_and_backward_may_be_repeated(graph: Graph) -> None:
    heads = [np.ones(SHAPE) for _ in graph.outputs]
    names = graph.symbol().list_arguments()
    outputs, grads, executor = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
    executor.backward([mx.nd.array(h) for h in heads])
    for name in names:
        np.testing.assert_array_equal(executor.grad_dict[name].asnumpy(), grads[name])
    executor.forward(is_train=False)
    for out, before in zip(executor.outputs, outputs, strict=True):
        np.testing.assert_array_equal(out.asnumpy(), before)
    executor.backward([mx.nd.array(h) for h in heads])
    for name in names:
        np.testing.assert_array_equal(executor.grad_dict[name].asnumpy(), grads[name])


@pytest.mark.clause("memory/shared-pool")
@given(first=graphs(), second=graphs())
def test_executors_that_share_memory_give_the_same_numbers(first: Graph, second: Graph) -> None:
    heads = [np.ones(SHAPE) for _ in second.outputs]
    names = second.symbol().list_arguments()
    alone, alone_grads, _ = run(second, dict.fromkeys(names, "write"), np.nan, heads)
    _, _, owner = run(
        first, dict.fromkeys(first.symbol().list_arguments(), "write"), np.nan,
        [np.ones(SHAPE) for _ in first.outputs],
    )
    grads = {name: mx.nd.zeros(SHAPE) for name in names}
    sharing = second.symbol().bind(
        mx.cpu(), arrays_of(second, names), grads, "write", shared_exec=owner
    )
    owner.forward(is_train=True)
    sharing.forward(is_train=True)
    sharing.backward([mx.nd.array(h) for h in heads])
    for out, expected in zip(sharing.outputs, alone, strict=True):
        np.testing.assert_array_equal(out.asnumpy(), expected)
    for name in names:
        np.testing.assert_array_equal(grads[name].asnumpy(), alone_grads[name])


def everything(graph: Graph, heads: list[np.ndarray], **environment: str) -> list[np.ndarray]:
    """Outputs and gradients under other settings."""
    names = graph.symbol().list_arguments()
    with mock.patch.dict(os.environ, environment):
        outputs, grads, _ = run(graph, dict.fromkeys(names, "write"), np.nan, heads)
    return [*outputs, *grads.values()]


@pytest.mark.clause("memory/plan-changes-nothing")
@pytest.mark.clause("memory/views")
@given(graph=graphs(max_operators=14), seed=st.integers(0, 99))
def test_sharing_memory_changes_no_bit(graph: Graph, seed: int) -> None:
    heads = [dyadic(seed + i) for i in range(len(graph.outputs))]
    alone = everything(graph, heads, REFIMPL_MEMORY_PLAN="off")
    for mode in ("keep", "once"):
        for one, other in zip(alone, everything(graph, heads, REFIMPL_MEMORY_PLAN=mode), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=mode)


@pytest.mark.clause("passes/common-expressions")
@given(graph=graphs(max_operators=14), seed=st.integers(0, 99))
def test_computing_once_what_is_spelled_twice_changes_no_bit(graph: Graph, seed: int) -> None:
    heads = [dyadic(seed + i) for i in range(len(graph.outputs))]
    spelled = everything(graph, heads, MXNET_ELIMINATE_COMMON_EXPR="0")
    for one, other in zip(spelled, everything(graph, heads, MXNET_ELIMINATE_COMMON_EXPR="1"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.clause("symbol-file/round-trip")
@given(graph=graphs())
def test_a_graph_read_from_its_file_computes_the_same(graph: Graph) -> None:
    symbol = graph.symbol()
    again = mx.sym.load_json(symbol.tojson())
    arrays = arrays_of(graph, symbol.list_arguments())
    for one, other in zip(*(
        s.bind(mx.cpu(), arrays, grad_req="null").forward() for s in (symbol, again)
    ), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@pytest.mark.clause("symbol-file/round-trip")
@given(graph=graphs())
def test_a_graph_survives_its_file(graph: Graph) -> None:
    symbol = graph.symbol()
    again = mx.sym.load_json(symbol.tojson())
    assert again.tojson() == symbol.tojson()
    assert again.list_arguments() == symbol.list_arguments()
    assert again.list_outputs() == symbol.list_outputs()


@pytest.mark.clause("infer/fixpoint")
@given(graph=graphs())
def test_inference_needs_only_one_shape_and_never_contradicts(graph: Graph) -> None:
    symbol = graph.symbol()
    full_answer = symbol.infer_shape(**dict.fromkeys(symbol.list_arguments(), SHAPE))
    partial = symbol.infer_shape_partial(**{symbol.list_arguments()[0]: SHAPE})
    for known, guess in zip(full_answer, partial, strict=True):
        for a, b in zip(known, guess, strict=True):
            assert b == () or all(y in (0, x) for x, y in zip(a, b, strict=True))


@pytest.mark.clause("infer/fixpoint")
@given(graph=graphs(), data=st.data())
def test_inference_is_idempotent_and_monotone(graph: Graph, data: st.DataObject) -> None:
    symbol = graph.symbol()
    names = symbol.list_arguments()
    known = {name: SHAPE for name in names if data.draw(st.booleans())}
    arguments, outputs, _ = symbol.infer_shape_partial(**known)
    learned = {name: shape for name, shape in zip(names, arguments, strict=True) if shape}
    assert symbol.infer_shape_partial(**learned)[:2] == (arguments, outputs)
    more, more_outputs, _ = symbol.infer_shape_partial(**{**known, data.draw(st.sampled_from(names)): SHAPE})
    for before, after in zip([*arguments, *outputs], [*more, *more_outputs], strict=True):
        assert before == () or all(a in (0, b) for a, b in zip(before, after, strict=True))
