"""The passes between a symbol and the steps of its executor, in their order.

*Dead-branch removal*: a value is not computed if operators read only its shape. ``zeros_like(x)`` reads the shape of x,
but no element; so does the gradient of ``Concat``. Shapes are known before the graph runs, so such an edge is cut: the
operator reads a placeholder, which has a shape and no memory. An operator whose outputs then have no reader never runs;
the memory of a value that other operators read is freed earlier.

*Common-subexpression elimination*: equal nodes are computed once. Two nodes are merged when operator, parameters,
inputs and context are equal. Nodes that draw random numbers, change their inputs or run a user's code are never merged,
because running them once differs from running them twice.

``devices.py`` has the last pass, which copies values between contexts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..base import decides
from ..context import Context
from ..kernels.foundation import get, known
from . import devices, inference
from .graph import Graph, Visit
from .inference import key_of
from .ir import Entry, Node, post_order


def simplified(graph: Graph, targets: list[Context]) -> Graph:
    """The graph that an executor runs; ``targets`` are the contexts where its gradients are wanted."""
    merged = merging if merges_common_expressions() else None
    graph = separate(remove_dead_branches(graph, merged))
    places = {id(place): place for place in graph.contexts.values()}  # comparing objects by id is faster
    return graph if len(set(places.values())) <= 1 else devices.connect(graph, targets)


# --- dead branches -------------------------------------------------------------------------------


def shape_only_inputs(node: Node) -> set[int]:
    """Positions of the inputs whose shape alone the operator reads."""
    op = node.op
    assert op is not None
    wanted: Any = op.shape_only if node.primal is None else op.shape_needs
    if callable(wanted):
        wanted = wanted(node.params)
    if not wanted:
        return set()
    signature = node.signature
    names, start = (signature.inputs, 0) if node.primal is None else (signature.reads, signature.heads)
    return {i for i in range(start, len(names)) if names[i] in wanted}


@decides("passes/dead-branches")
def cutting(graph: Graph, in_forward: bool = True) -> Visit:
    """The visit that cuts edges that carry only a shape, in backward, and with ``in_forward`` in forward too."""
    placeholders: dict[Entry, Entry] = {}

    def placeholder(entry: Entry) -> Entry:
        if entry.node.op is None:
            return entry
        found = placeholders.get(entry)
        if found is None:
            name = f"shape({entry.node.entry_name(entry.index)})"
            node = Node(None, name, {"__placeholder__": "1"})
            found = graph.record(node, entry, graph.contexts[id(entry.node)], forward=True)
            placeholders[entry] = found
        return found

    def visit(node: Node, inputs: list[Entry]) -> Node:
        op = node.op
        assert op is not None
        if (op.shape_only or op.shape_needs) and (in_forward or id(node) not in graph.forward):
            cut = shape_only_inputs(node)
            inputs = [placeholder(entry) if i in cut else entry for i, entry in enumerate(inputs)]
        return graph.with_inputs(node, inputs)

    return visit


@decides("passes/consequences")
def remove_dead_branches(graph: Graph, merging: Callable[[Graph], Visit] | None = None) -> Graph:
    """The graph without edges that carry only a shape, and so without the branches that end there.

    If this would remove an operator that draws random numbers or changes its inputs, all of forward stays.
    ``merging(graph)`` is the visit of another pass to make in the same walk, so that a changed node is copied once.
    """
    def walked(in_forward: bool) -> Graph:
        others = () if merging is None else (merging(graph),)
        return graph.rewritten(cutting(graph, in_forward), *others)

    made = walked(in_forward=True)
    return made if made is graph or _consequences(made) == _consequences(graph) else walked(in_forward=False)


def _consequences(graph: Graph) -> int:
    return sum([node.op is not None and has_side_effects(node) for node in graph.order()])


# --- common expressions --------------------------------------------------------------------------

SWITCH = "MXNET_ELIMINATE_COMMON_EXPR"
"""The environment variable that turns the elimination off when it is 0, as in MXNet."""


def merges_common_expressions() -> bool:
    """Whether executors eliminate common expressions."""
    return os.environ.get(SWITCH, "1").lower() not in ("0", "false", "off")


@decides("passes/alone")
def has_side_effects(node: Node) -> bool:
    """Whether running the operator does more than fill its outputs."""
    op = node.op
    assert op is not None
    return op.random or bool(op.mutates) or op.name == "Custom"


def _first_key(node: Node, inputs: list[Entry]) -> tuple[Any, ...]:
    """A cheap key: nodes that compute the same have equal keys, and few other nodes do.

    NaN among parameters is equal to itself where ``parsed`` gave both nodes the same parameters.
    """
    params = node.params if isinstance(node.params, tuple) else None  # others are mutable, and compared as text
    return (node.op, node.primal is None, params, tuple(inputs) or repr(node.params))


def _whole_key(graph: Graph, node: Node) -> tuple[Any, ...]:
    """A second key: two nodes with equal first keys compute the same if and only if their second keys are equal."""
    outputs = [(id(node), i) for i in range(node.output_count())]
    return (
        repr(node.params),  # text: 0.0 and -0.0 are equal numbers
        graph.contexts[id(node)], id(node) in graph.forward,
        # two gradient nodes may differ only in the shapes of their outputs
        *[f"{graph.types[key]} {graph.shapes[key]}" for key in outputs],  # text, because a dtype equals None
    )


@decides("passes/common-expressions")
def merging(graph: Graph) -> Visit:
    """The visit that replaces each operator by the first operator equal to it.

    Inputs are compared in their order, parameters by their text.
    """
    first: dict[tuple[Any, ...], Node] = {}
    kept: dict[tuple[Any, ...], dict[tuple[Any, ...], Node]] = {}  # by second key, once two nodes share a first key

    def visit(node: Node, inputs: list[Entry]) -> Node:
        made = graph.with_inputs(node, inputs)
        if has_side_effects(node):
            return made
        if not inputs and not all(known(graph.shapes[id(made), i]) for i in range(made.output_count())):
            return made  # inference may give two such nodes different shapes
        key = _first_key(made, inputs)
        other = first.setdefault(key, made)
        if other is made:
            return made
        if key not in kept:
            kept[key] = {_whole_key(graph, other): other}
        return kept[key].setdefault(_whole_key(graph, made), made)

    return visit


def eliminate(graph: Graph) -> Graph:
    """The graph with equal operators merged into the first of them; each output still has its own memory."""
    return separate(graph.rewritten(merging(graph)))


@decides("passes/own-outputs")
def separate(graph: Graph) -> Graph:
    """The graph with a ``_copy`` for every output that is the same entry as an earlier output."""
    outputs: list[Entry] = []
    latest: dict[tuple[int, int], Entry] = {}
    for entry in graph.outputs:
        made = entry
        if key_of(entry) in latest:
            source = latest[key_of(entry)]  # a copy of the previous copy, so that names differ as in MXNet
            node = Node(get("_copy"), f"{source.node.name}_{source.index}_copy", {}, [source])
            made = graph.record(node, entry, graph.contexts[id(entry.node)], forward=True)
        latest[key_of(entry)] = made
        outputs.append(made)
    if len(latest) == len(outputs):
        return graph
    return Graph(outputs, graph.gradients, graph.shapes, graph.types, graph.contexts, graph.forward)


# --- passes of a symbol that is not bound --------------------------------------------------------


def plain_graph(entries: Sequence[Entry]) -> Graph:
    """The Graph of a symbol that is not bound, for passes: inferred shapes and dtypes, group names as contexts."""
    order = post_order(entries)
    values = inference.numbered(order)
    shapes, types = inference.shapes(order, {}, values=values), inference.types(order, {}, values=values)
    groups: Any = {id(node): node.attrs.get("__ctx_group__") for node in order}
    return Graph(list(entries), [], shapes, types, groups, {id(node) for node in order})


def optimized(entries: Sequence[Entry]) -> list[Entry]:
    """The outputs of a symbol with common expressions merged, unless the environment turns that off."""
    graph = plain_graph(entries)
    return eliminate(graph).outputs if merges_common_expressions() else graph.outputs


BACKENDS: dict[str, Callable[[Graph], Graph]] = {
    "default": eliminate,
    "MKLDNN": lambda graph: graph,
}
"""Name for ``get_backend_symbol`` -> pass. MXNet's MKLDNN fuses operators; no operators are fused here."""
