"""Several contexts in one graph: the context of each node, and the copies between contexts.

A node runs on the context to which ``group2ctx`` maps its attribute ``ctx_group``; a node without that attribute
runs on the context of the executor. Where an operator reads a value of another context, it reads a ``_CrossDeviceCopy``
of it: one copy for all readers on the same context in forward, and another in backward for an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import get
from .graph import Graph
from .inference import Key, key_of
from .ir import Entry, Node, is_placeholder

COPY = "_CrossDeviceCopy"


@decides("Executor/groups")
def contexts(order: Iterable[Node], default: Context, places: Mapping[str, Context] | None) -> dict[int, Context]:
    """The context of every node, by its id.

    Raises:
        TypeError: ``places`` is not a dict from names to contexts.
        MXNetError: a node belongs to a group that ``places`` does not name.
    """
    if places is not None and not isinstance(places, Mapping):
        raise refusal(
            "Executor/group2ctx", f"group2ctx is a dict of group name to Context, got {type(places)}", TypeError
        )
    for name, place in (places or {}).items():
        if not isinstance(name, str):
            raise refusal("Executor/group2ctx", f"group2ctx has the key {name!r}, which names no group", TypeError)
        if not isinstance(place, Context):
            raise refusal("Executor/group2ctx", f"group {name!r} is mapped to {place!r}, no Context", TypeError)
    found = {}
    for node in order:
        group = node.attrs.get("__ctx_group__") if places else None
        if group is not None and group not in places:  # type: ignore[operator]  # places is not empty here
            raise refusal(
                "Executor/group-known",
                f"The device assignment not found for group {group} of node {node.name}; group2ctx has"
                f" {sorted(places or {})}",
            )
        found[id(node)] = places[group] if places and group is not None else default
    return found


@decides("Executor/groups-copied")
def connect(graph: Graph, targets: list[Context]) -> Graph:
    """The graph with copies wherever a value changes its context.

    ``targets`` are the contexts on which the gradients are wanted.
    """
    copies: dict[tuple[Key, Context, bool], Entry] = {}

    def brought(entry: Entry, context: Context, forward: bool) -> Entry:
        if graph.contexts[id(entry.node)] == context or is_placeholder(entry.node):
            return entry
        key, earlier = (key_of(entry), context, forward), (key_of(entry), context, True)
        if not entry.node.is_variable and earlier in copies:  # an argument may change before backward reads it
            return copies[earlier]
        if key not in copies:
            node = Node(get(COPY), f"{entry.node.name}_{entry.index}_copy", {}, [entry])
            copies[key] = graph.record(node, entry, context, forward)
        return copies[key]

    def visit(node: Node, inputs: list[Entry]) -> Node:
        place, forward = graph.contexts[id(node)], id(node) in graph.forward
        return graph.with_inputs(node, [brought(entry, place, forward) for entry in inputs])

    made = graph.rewritten(visit)
    gradients = [brought(e, place, forward=False) for e, place in zip(made.gradients, targets, strict=True)]
    return Graph(made.outputs, gradients, made.shapes, made.types, made.contexts, made.forward)
