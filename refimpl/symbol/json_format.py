"""Symbol files: the JSON graph that every MXNet 1.x release wrote and reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..attribute import HIDDEN_KEYS
from ..base import refusal
from ..kernels.foundation import get
from .ir import Entry, Node, post_order

VERSION = 10901  # major * 10000 + minor * 100 + patch of the MXNet whose format this is
MAX_NODES = 1_000_000


def _versions(order: Sequence[Node]) -> dict[tuple[int, int], int]:
    """(consumer id, input position) -> how often that variable was updated, this use included."""
    updates: dict[int, int] = {}
    found: dict[tuple[int, int], int] = {}
    for node in order:
        if node.op is None:
            continue
        names = node.op.input_names(node.params)
        for position, (name, entry) in enumerate(zip(names, node.inputs, strict=True)):
            # MXNet does not count BatchNorm's reset of gamma as an update
            if name in node.op.aux or (name in node.op.mutates and name != "gamma"):
                updates[id(entry.node)] = updates.get(id(entry.node), 0) + 1
            if entry.node.is_variable:
                found[id(node), position] = updates.get(id(entry.node), 0)
    return found


def _layout(value: Any, indent: int = 0) -> str:
    """Text in the layout of MXNet's writer: two spaces, one-line maps of a single entry, one-line triples."""
    pad = "  " * (indent + 1)
    if isinstance(value, dict):
        if not value:
            return "{}"
        lines = [f"{json.dumps(k)}: {_layout(v, indent + 1)}" for k, v in value.items()]
        if len(lines) == 1:
            return "{" + lines[0] + "}"
        return "{\n" + pad + f", \n{pad}".join(lines) + "\n" + "  " * indent + "}"
    if isinstance(value, list):
        flat = all(not isinstance(v, (dict, list)) for v in value)
        if (flat and len(value) <= 10) or all(isinstance(v, list) for v in value):
            return "[" + ", ".join(_layout(v, indent) for v in value) + "]"
        return "[\n" + pad + f", \n{pad}".join(_layout(v, indent + 1) for v in value) + "\n" + "  " * indent + "]"
    return json.dumps(value)


def to_json(heads: Sequence[Entry]) -> str:
    """The graph below ``heads`` as text."""
    order = post_order(heads)
    number = {id(node): i for i, node in enumerate(order)}
    versions = _versions(order)
    nodes, rows = [], [0]
    for node in order:
        fields: dict[str, Any] = {"op": node.kind, "name": node.name}
        if node.attrs:
            fields["attrs"] = dict(sorted(node.attrs.items()))
        fields["inputs"] = [
            [number[id(e.node)], e.index, versions.get((id(node), i), 0)]
            for i, e in enumerate(node.inputs)
        ]
        nodes.append(fields)
        rows.append(rows[-1] + node.output_count())
    graph = {
        "nodes": nodes,
        "arg_nodes": [i for i, node in enumerate(order) if node.is_variable],
        "node_row_ptr": rows,
        "heads": [[number[id(e.node)], e.index, 0] for e in heads],
        "attrs": {"mxnet_version": ["int", VERSION]},
    }
    return _layout(graph)


class _Graph:
    """A parsed file whose every reference is checked before it is followed."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        try:
            graph = json.loads(text)
        except (json.JSONDecodeError, RecursionError, UnicodeDecodeError) as error:
            where = getattr(error, "pos", 0)
            raise self.fail(f"character {where}: not JSON ({error})") from None
        if not isinstance(graph, dict) or not isinstance(graph.get("nodes"), list):
            raise self.fail("the file has no list of nodes")
        if len(graph["nodes"]) > MAX_NODES:
            raise self.fail(f"{len(graph['nodes'])} nodes, more than {MAX_NODES}")
        self.graph = graph
        self.nodes: list[Node] = []

    def fail(self, reason: str) -> Exception:
        return refusal("symbol-file/valid", f"Failed to load symbol from {self.source}: {reason}")

    def entry(self, reference: Any, where: str) -> Entry:
        """[node, output, (version)] as an Entry; only earlier nodes may be referred to."""
        if (
            not isinstance(reference, list) or len(reference) < 2
            or not all(isinstance(n, int) and n >= 0 for n in reference[:2])
        ):
            raise self.fail(f"{where}: {reference!r} is not [node, output]")
        number, index = reference[:2]
        if number >= len(self.nodes):
            raise self.fail(f"{where} refers to node {number}, which does not come before it")
        if index >= self.nodes[number].output_count():
            raise self.fail(f"{where} refers to output {index} of {self.nodes[number].name}")
        return Entry(self.nodes[number], index)

    def read_node(self, number: int, fields: Any) -> Node:
        where = f"node {number}"
        if not isinstance(fields, dict) or not isinstance(fields.get("op"), str):
            raise self.fail(f"{where} has no operator name")
        name = fields.get("name")
        if not isinstance(name, str):
            raise self.fail(f"{where} has no name")
        attrs: dict[str, str] = {}
        for key in ("param", "attr", "attrs"):
            found = fields.get(key) or {}
            if not isinstance(found, dict):
                raise self.fail(f"{where} ({name}): {key} is not a map")
            for attribute, value in found.items():
                if not isinstance(value, str):
                    raise self.fail(f"{where} ({name}): attribute {attribute} is not a string")
                attrs[f"__{attribute}__" if attribute in HIDDEN_KEYS else attribute] = value
        inputs = fields.get("inputs") or []
        if not isinstance(inputs, list):
            raise self.fail(f"{where} ({name}): inputs is not a list")
        entries = [self.entry(reference, f"{where} ({name})") for reference in inputs]
        if fields["op"] == "null":
            return Node(None, name, attrs)
        op = get(fields["op"])
        if op.variadic:
            attrs.setdefault(op.variadic, str(len(entries)))
        node = Node(op, name, attrs, entries)
        self._add_auxiliary(node)
        expected = len(op.input_names(node.params))
        if len(node.inputs) != expected:
            raise self.fail(f"{where} ({name}): {op.name} takes {expected} inputs, got {len(node.inputs)}")
        return node

    def _add_auxiliary(self, node: Node) -> None:
        """Files before 0.9 leave auxiliary states out: they are made here."""
        assert node.op is not None
        names = node.op.input_names(node.params)
        for name in names[len(node.inputs) :]:
            if name not in node.op.aux:
                return
            attrs = {"__init__": node.op.initial_attrs[name]} if name in node.op.initial_attrs else {}
            node.inputs.append(Entry(Node(None, f"{node.name}_{name}", attrs), 0))

    def read(self) -> list[Entry]:
        for number, fields in enumerate(self.graph["nodes"]):
            self.nodes.append(self.read_node(number, fields))
        heads = self.graph.get("heads")
        if not isinstance(heads, list) or not heads:
            raise self.fail("the file has no heads")
        return [self.entry(reference, "heads") for reference in heads]


def from_json(text: str, source: str = "json") -> list[Entry]:
    """The heads of a graph from its text.

    Raises:
        MXNetError: the text is not a symbol file, or names an operator or a value that is refused.
    """
    return _Graph(text, source).read()
