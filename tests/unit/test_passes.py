"""The passes of bind: what they merge, cut and leave alone, seen in the graphs before and after."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import refimpl as mx
from refimpl.cli.benchmark.rows.graphs import GRAPHS
from refimpl.symbol import devices, passes
from refimpl.symbol.describe import graph_text
from refimpl.symbol.graph import Graph
from refimpl.symbol.ir import is_placeholder


def _executor(symbol: mx.sym.Symbol, grad_req: str = "null", **shapes: tuple[int, ...]) -> mx.executor.Executor:
    return symbol.simple_bind(mx.cpu(), grad_req=grad_req, **(shapes or {"a": (2, 2)}))


def _steps(executor: mx.executor.Executor) -> list[str]:
    """Kinds of the operators that forward runs."""
    return [step.node.kind for step in executor.program.forward_steps if hasattr(step, "node")]


def _text(graph: Graph) -> str:
    return graph_text(graph.entries())


@pytest.mark.clause("passes/pure")
def test_a_pass_can_be_printed_before_and_after() -> None:
    a = mx.sym.Variable("a")
    graph = _executor(mx.sym.exp(a, name="one") + mx.sym.exp(a, name="two")).program.derived
    before = _text(graph)
    after = _text(passes.eliminate(graph))
    total = graph.outputs[0].node.name
    assert before == f"a\none = exp(a)\ntwo = exp(a)\n{total} = elemwise_add(one, two)\n-> {total}"
    assert after == before.replace("two = exp(a)\n", "").replace("(one, two)", "(one, one)")
    assert _text(graph) == before


@pytest.mark.clause("passes/pure")
def test_shapes_types_and_contexts_are_printed_with_the_graph() -> None:
    graph = _executor(mx.sym.exp(mx.sym.Variable("a"), name="one")).program.graph
    lines = [" ".join(line.split()) for line in graph_text(graph.entries(), graph).splitlines()]
    assert lines == ["a float32 (2, 2) on cpu(0)", "one = exp(a) float32 (2, 2) on cpu(0)", "-> one"]


@pytest.mark.clause("passes/dead-branches")
@pytest.mark.parametrize("name", GRAPHS)
def test_two_passes_in_one_walk_make_what_they_make_one_after_the_other(name: str) -> None:
    net, shapes = GRAPHS[name](mx, 60)
    a = mx.sym.slice_axis(net[0], axis=-1, begin=0, end=2)
    zeros = [mx.sym.zeros_like(mx.sym.exp(a)) for _ in range(2)]  # merged, and each has an edge to cut
    joined = mx.sym.Concat(a, *zeros, mx.sym.Dropout(mx.sym.exp(a), p=0.5), dim=-1)
    program = mx.sym.Group([net, joined, mx.sym.exp(a)]).simple_bind(mx.cpu(), **shapes).program
    apart = passes.remove_dead_branches(passes.eliminate(program.derived))
    assert _text(program.graph) == _text(apart) != _text(program.derived)


@pytest.mark.clause("passes/common-expressions")
def test_equal_branches_are_merged_whole() -> None:
    a = mx.sym.Variable("a")
    weight = mx.sym.Variable("w")
    branches = [mx.sym.tanh(mx.sym.FullyConnected(a, weight, no_bias=True, num_hidden=3)) for _ in range(3)]
    executor = _executor(mx.sym.Concat(*branches, dim=1))
    assert _steps(executor) == ["FullyConnected", "tanh", "Concat"]
    assert executor.outputs[0].shape == (2, 9)


@pytest.mark.clause("passes/common-expressions")
@pytest.mark.parametrize(
    "two",
    [
        lambda a, b: mx.sym.exp(a) + mx.sym.exp(b),
        lambda a, b: mx.sym.sum(a, axis=0) + mx.sym.sum(a, axis=1),
        lambda a, b: (a * 0.0) / (a * -0.0),
        lambda a, b: (a - b) * (b - a),
    ],
    ids=["inputs", "parameters", "signed-zeros", "order-of-inputs"],
)
def test_what_differs_is_not_merged(two: Callable[..., mx.sym.Symbol]) -> None:
    symbol = two(mx.sym.Variable("a"), mx.sym.Variable("b"))
    assert len(_steps(_executor(symbol, **dict.fromkeys(symbol.list_arguments(), (2, 2))))) == 3


@pytest.mark.clause("passes/common-expressions")
def test_gradients_of_one_head_and_two_shapes_are_not_merged() -> None:
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    flat = mx.sym.Reshape(a, shape=(-1,)) + mx.sym.Reshape(b, shape=(-1,))
    executor = _executor(flat, "write", a=(2, 6), b=(3, 4))
    executor.forward(is_train=True)
    executor.backward(mx.nd.arange(12))
    assert executor.grad_dict["a"].asnumpy().tolist() == np.arange(12).reshape(2, 6).tolist()
    assert executor.grad_dict["b"].asnumpy().tolist() == np.arange(12).reshape(3, 4).tolist()


@pytest.mark.clause("passes/common-expressions")
def test_the_environment_turns_merging_off(monkeypatch: pytest.MonkeyPatch) -> None:
    a = mx.sym.Variable("a")
    symbol = mx.sym.exp(a) + mx.sym.exp(a)
    assert len(_steps(_executor(symbol))) == 2
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", "0")
    assert len(_steps(_executor(symbol))) == 3


@pytest.mark.clause("passes/alone")
def test_random_operators_and_those_with_states_are_never_merged() -> None:
    a = mx.sym.Variable("a")
    dropped = mx.sym.Dropout(a, p=0.5) + mx.sym.Dropout(a, p=0.5)
    assert _steps(_executor(dropped)).count("Dropout") == 2
    states = {"gamma": mx.sym.Variable("g"), "beta": mx.sym.Variable("b"),
              "moving_mean": mx.sym.Variable("m"), "moving_var": mx.sym.Variable("v")}
    normalised = mx.sym.BatchNorm(a, **states) + mx.sym.BatchNorm(a, **states)
    assert _steps(_executor(normalised)).count("BatchNorm") == 2


@pytest.mark.clause("passes/alone")
def test_equal_nodes_on_two_contexts_are_not_merged() -> None:
    a = mx.sym.Variable("a")
    with mx.AttrScope(ctx_group="far"):
        there = mx.sym.exp(a)
    symbol = mx.sym.exp(a) + there
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", group2ctx={"far": mx.cpu(1)}, a=(2,))
    assert _steps(executor).count("exp") == 2
    assert _steps(executor).count(devices.COPY) == 2


@pytest.mark.clause("passes/own-outputs")
@pytest.mark.parametrize("merging", ["0", "1"])
def test_outputs_that_coincide_have_memory_of_their_own(merging: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", merging)
    a = mx.sym.Variable("a")
    one = mx.sym.exp(a, name="one")
    executor = _executor(mx.sym.Group([one, mx.sym.exp(a, name="two"), one, a, a]))
    outputs = executor.forward()
    outputs[0][:] = 7
    assert all(out.asnumpy().tolist() == [[1, 1], [1, 1]] for out in outputs[1:3])
    outputs[3][:] = 7
    assert outputs[4].asnumpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.clause("passes/own-outputs")
def test_names_of_outputs_are_those_of_the_symbol() -> None:
    # MXNet 1.9.1 names the copies of three equal outputs one_0_copy and one_0_copy_0_copy
    a = mx.sym.Variable("a")
    executor = _executor(mx.sym.Group([mx.sym.exp(a, name=name) for name in ("one", "two", "three")]))
    assert list(executor.output_dict) == ["one_output", "two_output", "three_output"]
    assert [n.name for n in executor.program.graph.order()] == ["a", "one", "one_0_copy", "one_0_copy_0_copy"]


@pytest.mark.clause("passes/dead-branches")
def test_what_is_only_measured_is_not_computed() -> None:
    a = mx.sym.Variable("a")
    deep = mx.sym.exp(mx.sym.exp(mx.sym.dot(a, a, name="product")), name="deep")
    executor = _executor(a + mx.sym.zeros_like(deep, name="nothing"))
    assert _steps(executor) == ["zeros_like", "elemwise_add"]
    assert "nothing = zeros_like(shape(deep_output))" in _text(executor.program.graph)
    assert executor.arg_dict.keys() == {"a"}


@pytest.mark.clause("passes/dead-branches")
def test_what_only_a_removed_branch_reads_is_still_an_argument() -> None:
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    executor = _executor(a + mx.sym.zeros_like(mx.sym.exp(b)), "write", a=(2, 2), b=(2, 2))
    executor.grad_dict["b"][:] = 5
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 2)))
    assert executor.arg_dict.keys() == {"a", "b"}
    assert executor.grad_dict["b"].asnumpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.clause("passes/dead-branches")
def test_the_gradient_of_concat_keeps_no_input_alive() -> None:
    a = mx.sym.Variable("a")
    parts = [mx.sym.exp(a, name=f"part{i}") * (i + 1) for i in range(3)]
    executor = _executor(mx.sym.Concat(*parts, dim=0), "write")
    (backward,) = [s for s in executor.program.backward_steps if s.node.name.startswith("concat")]
    assert all(is_placeholder(entry.node) for entry in backward.node.inputs[1:])
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((6, 2)))
    assert executor.grad_dict["a"].asnumpy().tolist() == [[6, 6], [6, 6]]


@pytest.mark.clause("passes/dead-branches")
def test_a_placeholder_has_a_shape_in_half_precision_too() -> None:
    a = mx.sym.Variable("a")
    symbol = mx.sym.Concat(mx.sym.exp(a), mx.sym.zeros_like(mx.sym.tanh(a)), dim=0)
    executor = symbol.simple_bind(mx.cpu(), type_dict={"a": "float16"}, a=(1, 2))
    (out,) = executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 2), dtype="float16"))
    assert out.asnumpy().tolist() == [[1, 1], [0, 0]]
    assert executor.grad_dict["a"].asnumpy().tolist() == [[1, 1]]


@pytest.mark.clause("passes/consequences")
def test_a_random_branch_is_run_although_only_measured() -> None:
    a = mx.sym.Variable("a")
    random = mx.sym.Dropout(a, p=0.5, mode="always")
    symbol = mx.sym.Group([mx.sym.zeros_like(random), mx.sym.Dropout(a, p=0.5, mode="always")])
    executor = _executor(symbol)
    assert _steps(executor).count("Dropout") == 2
    executor.arg_dict["a"][:] = 1
    mx.random.seed(3)
    with_branch = executor.forward()[1].asnumpy()
    mx.random.seed(3)
    both = _executor(mx.sym.Group([random, mx.sym.Dropout(a, p=0.5, mode="always")]))
    both.arg_dict["a"][:] = 1
    np.testing.assert_array_equal(with_branch, both.forward()[1].asnumpy())


@pytest.mark.clause("passes/monitored")
def test_a_monitor_sees_what_runs() -> None:
    a = mx.sym.Variable("a")
    same = mx.sym.exp(a, name="one") + mx.sym.exp(a, name="two")
    executor = _executor(same + mx.sym.zeros_like(mx.sym.tanh(a, name="measured"), name="nothing"))
    seen: list[str] = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward()
    assert "one_output" in seen
    assert not {"two_output", "measured_output"} & set(seen)


@pytest.mark.clause("passes/monitored")
def test_a_monitor_sees_views_with_their_shapes() -> None:
    a = mx.sym.Variable("a")
    symbol = mx.sym.exp(mx.sym.Reshape(mx.sym.exp(a, name="one"), shape=(-1,), name="flat"), name="two")
    executor = _executor(symbol)
    seen: list[tuple[str, tuple[int, ...]]] = []
    executor.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    executor.forward()
    assert seen == [("one_output", (2, 2)), ("flat_output", (4,)), ("two_output", (4,))]


@pytest.mark.clause("passes/monitored")
def test_a_monitor_of_inputs_sees_none_of_which_only_the_shape_is_read() -> None:
    a = mx.sym.Variable("a")
    executor = _executor(mx.sym.zeros_like(mx.sym.tanh(a, name="measured"), name="nothing"))
    seen: dict[str, list[float]] = {}
    executor.set_monitor_callback(lambda name, array: seen.update({name: array.asnumpy().ravel().tolist()}), True)
    executor.forward()
    assert seen == {"nothing_output": [0.0, 0.0, 0.0, 0.0]}


@pytest.mark.clause("Executor/debug-string")
def test_debug_str_shows_the_graph_that_runs_and_ends_with_its_cost() -> None:
    # MXNet 1.9.1: exp(exp(a)) of a (512, 512) bound for training says 3 MB, and these lines at either end
    a = mx.sym.Variable("a")
    symbol = mx.sym.exp(mx.sym.exp(a, name="one"), name="two")
    lines = _executor(symbol, "write", a=(512, 512)).debug_str().split("\n")
    assert lines[0] == "Symbol Outputs:"
    assert lines[1:3] == ["\toutput[0]=two(0)", "\toutput[1]=one_backward(0)"]
    assert lines[-4] == "\tcdep[0]=one"
    assert lines[-3] == "Total 3 MB allocated"
    assert lines[-2:] == ["Total 11 TempSpace resource requested", ""]
