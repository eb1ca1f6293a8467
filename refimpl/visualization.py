"""Look at a network: a table of its layers, or a picture of its graph (``mx.viz``)."""

from __future__ import annotations

import importlib.util
import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .base import decides, printable, refusal, require
from .kernels.foundation import REGISTRY
from .symbol import Symbol

Shapes = Mapping[str, Sequence[int]]

# Arguments that belong to a layer rather than to the graph: not drawn, and counted as parameters.
_OWNED = (
    "_weight", "_bias", "_gamma", "_beta", "_moving_mean", "_moving_var", "_running_mean", "_running_var",
)
_COUNTED = _OWNED[:4]

_UNSAID = {"kernel": "[]", "stride": "1", "pool_type": "max", "act_type": "Leaky"}
"""What MXNet's pictures write for a parameter that a node does not say."""
_EMPTY = {"kernel": "", "stride": "1"}
"""Parameters that are sizes along axes -> what is written for no axes."""
_VARIABLE_FILL, _OTHER_FILL = "#8dd3c7", "#fccde5"


class _Graph(NamedTuple):
    """A symbol's nodes, and the shapes of their outputs where they are known."""

    nodes: list[dict[str, Any]]
    heads: set[int]
    shapes: dict[str, tuple[int, ...]]
    types: dict[str, Any]
    outputs: dict[str, list[str]]

    def inputs(self, node: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
        """The nodes that ``node`` reads, each with the number of the output."""
        return [(self.nodes[entry[0]], entry[1]) for entry in node["inputs"]]

    def owned(self, node: dict[str, Any]) -> bool:
        """Whether a node is a weight of some layer."""
        return node["op"] == "null" and node["name"].endswith(_OWNED)

    @decides("Visualization/several-outputs")
    def shape(self, node: dict[str, Any]) -> tuple[int, ...] | None:
        """Shape of a node's first output."""
        return self.found(self.shapes, node, 0)

    def found(self, table: Mapping[str, Any], node: dict[str, Any], index: int) -> Any:
        """What a table says of one output of a node."""
        if node["op"] == "null":
            return table.get(node["name"])
        outputs = self.outputs.get(node["name"], [])
        return table.get(outputs[index]) if index < len(outputs) else None

    @decides("Visualization/several-outputs")
    def arrow(self, source: dict[str, Any], index: int) -> str:
        """Label of an arrow: the shape without the batch, the type in parentheses."""
        shape, kind = self.found(self.shapes, source, index), self.found(self.types, source, index)
        sides = "" if shape is None else "x".join(map(str, shape[1:]))
        return sides if kind is None else f"{sides}({np.dtype(kind).name})"


def _graph(symbol: Symbol, shape: Shapes | None, dtype: Mapping[str, Any] | None = None) -> _Graph:
    if not isinstance(symbol, Symbol):
        raise refusal("Visualization/symbol", "symbol must be a Symbol", TypeError)
    inner = symbol.get_internals()

    def by_name(given: Mapping[str, Any] | None, what: str, infer: Callable[..., tuple]) -> dict[str, Any]:
        if given is None:
            return {}
        found = infer(**given)
        if found[1] is None:
            raise refusal(
                "Visualization/shape-complete",
                f"the {what}s {dict(given)} do not determine every layer of the network", ValueError,
            )
        names = (inner.list_arguments(), inner.list_outputs(), inner.list_auxiliary_states())
        return {
            name: value for group, values in zip(names, found, strict=True)
            for name, value in zip(group, values, strict=True)
        }

    text = json.loads(symbol.tojson(), strict=False)  # MXNet's files escape no control characters
    shapes = by_name(None if shape is None else {k: tuple(v) for k, v in shape.items()}, "shape", inner.infer_shape)
    types = by_name(dtype, "type", inner.infer_type)
    outputs = {
        node.name: [node.entry_name(index) for index in range(node.visible_count())] for node in symbol.order()
    }
    return _Graph(text["nodes"], {head[0] for head in text["heads"]}, shapes, types, outputs)


def _layers(graph: _Graph) -> list[dict[str, Any]]:
    """The nodes that have a row: operators and data."""
    return [
        node for number, node in enumerate(graph.nodes)
        if not graph.owned(node) and (node["op"] != "null" or _is_data(graph, number))
    ]


def _uncounted(graph: _Graph, node: dict[str, Any], counted: set[str]) -> int:
    """How many parameters a node has that no node before it has; ``counted`` gets their names."""
    weights = {
        source["name"] for source, _ in graph.inputs(node) if source["name"].endswith(_COUNTED)
    } - counted
    counted |= weights
    return sum(prod(graph.shapes[w]) for w in weights if w in graph.shapes)


@decides("Visualization/parameters-need-shape")
def print_summary(
    symbol: Symbol,
    shape: Shapes | None = None,
    line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:
    """Print a table with one row per layer: type, output shape without the batch, parameters, inputs.

    Args:
        symbol: the network.
        shape: shapes of inputs by name, such as ``{"data": (1, 1, 8, 8)}``; without it the columns of
            shapes and parameters stay empty.
        line_length: width of the table in characters.
        positions: where each of the four columns ends, as fractions of the width, or in characters.

    Raises:
        TypeError: not a symbol.
        ValueError: the shapes given leave others unknown.
    """
    graph = _graph(symbol, shape)
    ends = [int(line_length * p) for p in positions] if positions[-1] <= 1 else list(positions)

    def row(*fields: str) -> None:
        line = ""
        for field, end in zip(fields, ends, strict=True):
            line = (line + printable(field))[: int(end)].ljust(int(end))
        print(line)

    print("_" * line_length)
    row("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    total = 0
    counted: set[str] = set()
    shown = _layers(graph)
    for node in shown:
        size = _uncounted(graph, node, counted)
        total += size
        found = graph.shape(node)
        previous = [s["name"] for s, _ in graph.inputs(node) if s in shown] or [""]
        row(
            f"{node['name']}({node['op']})",
            "" if found is None else "x".join(map(str, found[1:])),
            "" if shape is None else str(size),
            previous[0],
        )
        for name in previous[1:]:
            row("", "", "", name)
        print(("=" if node is shown[-1] else "_") * line_length)
    print(f"Total params: {total if shape is not None else 'unknown, give shape='}")
    print("_" * line_length)


def _is_data(graph: _Graph, number: int) -> bool:
    """Whether a variable is what the network reads, rather than a label that only a loss reads."""
    users = [n for n in graph.nodes if any(entry[0] == number for entry in n["inputs"])]
    return number in graph.heads or not graph.nodes[number]["name"].endswith("label") or any(
        user["inputs"][0][0] == number for user in users
    )


def graphviz_missing() -> str | None:
    """Say what keeps pictures from being drawn here; None when nothing does."""
    if importlib.util.find_spec("graphviz") is None:
        return "the Python package graphviz is not installed (pip install 'refimpl[viz]')"
    if shutil.which("dot") is None:
        return "Graphviz's program dot is not installed (apt install graphviz, brew install graphviz)"
    return None


def plot_network(
    symbol: Symbol,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Shapes | None = None,
    dtype: Any = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
) -> Any:
    """Draw a network as a ``graphviz.Digraph``; ``.render()`` writes the picture.

    Args:
        symbol: the network.
        title: name of the graph, and of the file that ``render`` writes.
        save_format: picture format, such as "pdf" or "svg".
        shape: shapes of inputs by name, to label the arrows.
        dtype: types of inputs by name, to label the arrows too.
        node_attrs: Graphviz attributes for every node.
        hide_weights: leave out weights and biases.

    Raises:
        ImportError: the Python package graphviz is missing.
        TypeError: not a symbol.
        ValueError: the shapes or types given leave others unknown.
    """
    graph = _graph(symbol, shape, dtype)
    require(
        "Visualization/graphviz",
        importlib.util.find_spec("graphviz") is not None,
        "plot_network needs the Python package graphviz: pip install 'refimpl[viz]'",
        ImportError,
    )
    from graphviz import Digraph

    names = [node["name"] for node in graph.nodes]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        warnings.warn(
            f"several nodes have one name and are drawn as one: {printable(', '.join(repeated))}",
            RuntimeWarning, stacklevel=2,
        )
    style = {
        "shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled",
        **(node_attrs or {}),
    }
    picture = Digraph(name=title, format=save_format)
    shown = [node for node in graph.nodes if not (hide_weights and graph.owned(node))]
    for node in shown:
        if node["op"] == "null":
            own = {**style, "fillcolor": _VARIABLE_FILL, "shape": "oval"}
        else:
            own = {**style, "fillcolor": REGISTRY[node["op"]].color or _OTHER_FILL}
        picture.node(node["name"], label=_label(node), **own)
    for node in shown:
        for source, index in graph.inputs(node):
            if source in shown:
                picture.edge(
                    node["name"], source["name"], dir="back", arrowtail="open",
                    label=graph.arrow(source, index),
                )
    return picture


def _sides(text: str) -> str:
    return "x".join(word.strip() for word in text.strip("()[] ").split(",") if word.strip())


def _label(node: dict[str, Any]) -> str:
    """What is written in a node: what the page of its operator says, or its name."""
    if node["op"] == "null" or not REGISTRY[node["op"]].label:
        return str(node["name"])
    attrs = node.get("attrs", {})
    shapes = {name: _sides(attrs[name]) or default for name, default in _EMPTY.items() if name in attrs}
    return REGISTRY[node["op"]].label.format_map({**_UNSAID, **attrs, **shapes})
