"""Common-subexpression elimination: equal nodes are computed once.

Two nodes are merged when operator, parameters, inputs and context are equal. Nodes that draw random numbers, change
their inputs or run a user's code are never merged, because running them once differs from running them twice.
"""

from __future__ import annotations

import os
from typing import Any

from ..base import decides
from ..kernels.foundation import get, known
from .graph import Graph, Visit
from .inference import key_of
from .ir import Entry, Node

SWITCH = "MXNET_ELIMINATE_COMMON_EXPR"
"""The environment variable that turns the elimination off when it is 0, as in MXNet."""


def enabled() -> bool:
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
