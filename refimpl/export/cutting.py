"""The text of a symbol, cut off behind a layer, so that operators further on need not be there."""

from __future__ import annotations

import json
from typing import Any

from ..base import decides, refusal


def customs(text: str) -> list[tuple[str, str, list[str]]]:
    """The layers of a symbol's text whose operator is written in Python: name, type, and the layers that they read.

    Raises:
        MXNetError: the text is no symbol.
    """
    nodes = _graph(text)["nodes"]
    return [
        (node["name"], _custom_type(node), [nodes[source[0]]["name"] for source in node["inputs"]
                                            if nodes[source[0]]["op"] != "null"])
        for node in nodes if node["op"] == "Custom"
    ]


@decides("Export/until")
def cut(text: str, until: str) -> str:
    """The text with the layers only that ``until``, the name of a layer or of its output, needs.

    A name that no layer has leaves the text as it is.

    Raises:
        MXNetError: the text is no symbol.
    """
    graph = _graph(text)
    nodes = graph["nodes"]
    ends = [place for place, node in enumerate(nodes)
            if node["op"] != "null" and (until == node["name"] or until.startswith(f"{node['name']}_"))]
    if not ends:
        return text
    kept = _needed(nodes, ends)
    moved = {old: new for new, old in enumerate(kept)}
    made = [{**nodes[old], "inputs": [[moved[s[0]], *s[1:]] for s in nodes[old]["inputs"]]} for old in kept]
    for node in made:  # of the oldest files: the forward node of a gradient
        node.pop("backward_source_id", None)
    variables = [place for place, node in enumerate(made) if node["op"] == "null"]
    more = {key: value for key, value in graph.items() if key not in ("nodes", "arg_nodes", "node_row_ptr", "heads")}
    heads = [[moved[place], 0] for place in ends]
    return json.dumps({"nodes": made, "arg_nodes": variables, "heads": heads, **more})


def _needed(nodes: list[dict[str, Any]], ends: list[int]) -> list[int]:
    """The places of the nodes that the nodes at ``ends`` read, directly or not, and of these."""
    needed, waiting = set(), list(ends)
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            waiting += [source[0] for source in nodes[place]["inputs"]]
    return sorted(needed)


def _graph(text: str) -> dict[str, Any]:
    try:
        graph = json.loads(text)
        sound = all({"op", "name", "inputs"} <= set(node) for node in graph["nodes"])
        sound = sound and all(0 <= s[0] < place for place, node in enumerate(graph["nodes"]) for s in node["inputs"])
    except (ValueError, TypeError, KeyError, IndexError):
        sound = False
    if not sound:
        raise refusal("Export/symbol", "the text is no symbol of MXNet")
    return graph  # type: ignore[no-any-return]  # a dict, see above


def _custom_type(node: dict[str, Any]) -> str:
    found = {**node.get("param", {}), **node.get("attr", {}), **node.get("attrs", {})}
    return str(found.get("op_type", "unknown"))


__all__ = ["customs", "cut"]
