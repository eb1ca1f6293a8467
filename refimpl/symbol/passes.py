"""The passes between a symbol and the steps of its executor, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..context import Context
from . import common_expressions, dead_branches, devices, inference
from .graph import Graph
from .ir import Entry, post_order


def simplified(graph: Graph, targets: list[Context]) -> Graph:
    """The graph that an executor runs; ``targets`` are the contexts where its gradients are wanted."""
    merging = common_expressions.merging if common_expressions.enabled() else None
    graph = common_expressions.separate(dead_branches.remove(graph, merging))
    places = {id(place): place for place in graph.contexts.values()}  # comparing objects by id is faster
    return graph if len(set(places.values())) <= 1 else devices.connect(graph, targets)


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
    return common_expressions.eliminate(graph).outputs if common_expressions.enabled() else graph.outputs


BACKENDS: dict[str, Callable[[Graph], Graph]] = {
    "default": common_expressions.eliminate,
    "MKLDNN": lambda graph: graph,
}
"""Name for ``get_backend_symbol`` -> pass. MXNet's MKLDNN fuses operators; no operators are fused here."""
