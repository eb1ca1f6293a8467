"""Dead-branch removal: a value of which only the shape is read is not computed.

``zeros_like(x)`` reads the shape of x, never its values; so does the gradient of ``Concat``. Shapes are known
before anything runs, so such an edge is cut: the operator reads a placeholder that has a shape and no memory.
An operator whose outputs are then read by nobody never runs; a value that others still read is freed earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base import decides
from .common_expressions import has_side_effects
from .graph import Graph
from .ir import Entry, Node


def shape_only_inputs(node: Node) -> set[int]:
    """Positions of the inputs of which the operator reads the shape only."""
    op = node.op
    assert op is not None
    if node.primal is None:
        names, start = node.signature.inputs, 0
        wanted: Sequence[str] = op.shape_only
    else:
        names, start = node.signature.reads, node.signature.heads
        wanted = op.shape_needs(node.params) if callable(op.shape_needs) else op.shape_needs
    return {i for i in range(start, len(names)) if names[i] in wanted} if wanted else set()


def is_placeholder(node: Node) -> bool:
    """Whether the node is such a placeholder."""
    return node.is_variable and "__placeholder__" in node.attrs


@decides("passes/dead-branches")
def _cut(graph: Graph, positions: dict[int, set[int]]) -> Graph:
    """The graph without the edges at ``positions`` of the inputs of nodes."""
    placeholders: dict[tuple[int, int], Entry] = {}

    def placeholder(entry: Entry) -> Entry:
        key = (id(entry.node), entry.index)
        if key not in placeholders:
            name = f"shape({entry.node.entry_name(entry.index)})"
            node = Node(None, name, {"__placeholder__": "1"})
            placeholders[key] = graph.record(node, entry, graph.contexts[id(entry.node)], forward=True)
        return placeholders[key]

    def visit(node: Node, inputs: list[Entry]) -> Node:
        cut = positions.get(id(node), ())
        return graph.with_inputs(node, [placeholder(e) if i in cut else e for i, e in enumerate(inputs)])

    return graph.rewritten(visit)


@decides("passes/consequences")
def remove(graph: Graph) -> Graph:
    """The graph without edges that carry only a shape, and so without the branches that end there.

    If an operator would go that draws random numbers or changes its inputs, all of forward stays.
    """

    def consequences(of: Graph) -> int:
        return sum(not node.is_variable and has_side_effects(node) for node in of.order())

    positions = {}
    for node in graph.order():
        found = set() if node.is_variable else shape_only_inputs(node)
        if found:
            positions[id(node)] = {i for i in found if not node.inputs[i].node.is_variable}
    if not any(positions.values()):
        return graph
    made = _cut(graph, positions)
    if consequences(made) == consequences(graph):
        return made
    return _cut(graph, {number: cut for number, cut in positions.items() if number not in graph.forward})
