"""Dead-branch removal: a value is not computed if operators read only its shape.

``zeros_like(x)`` reads the shape of x, but no element; so does the gradient of ``Concat``. Shapes are known before the
graph runs, so such an edge is cut: the operator reads a placeholder, which has a shape and no memory. An operator whose
outputs then have no reader never runs; the memory of a value that other operators read is freed earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import decides
from .common_expressions import has_side_effects
from .graph import Graph, Visit
from .ir import Entry, Node


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


def is_placeholder(node: Node) -> bool:
    """Whether the node is a placeholder, which has a shape and no memory."""
    return node.is_variable and "__placeholder__" in node.attrs


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
def remove(graph: Graph, merging: Callable[[Graph], Visit] | None = None) -> Graph:
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
