"""Symbol files: the JSON graph that every MXNet 1.x release wrote and reads."""

from __future__ import annotations

import json
import logging
import re
import reprlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..base import MXNetError, decides, printable, refusal
from ..files.mistaken import what_it_is
from ..kernels.foundation import collector_pause
from ..kernels.foundation.params import Shape, field_types
from ..log import LOG
from ..op_registry.known import find
from ..util import is_np_shape
from . import upgrades
from .ir import Entry, Node, post_order
from .json_text import (
    MAX_DIGITS,
    UNWRITABLE,
    block,
    fields_of,
    first_beyond,
    is_count,
    no_constant,
    numbers_of,
    parts_outside_text,
    quoted,
    short_integer,
    unwritable,
)
from .upgrades import Row

MAX_NODES = 1_000_000
_MAX_DEPTH = 200
_MOST_INSIDE = 20
_LONG_MESSAGE = 800
_LONGEST_SHAPE = 2000
_NODE_FIELDS = {
    "op", "name", "param", "attr", "attrs", "inputs", "control_deps", "subgraphs", "backward_source_id",
}
_ATTRIBUTE_FIELDS = {"param", "attr", "attrs"}
_GRAPH_FIELDS = {"nodes", "arg_nodes", "node_row_ptr", "heads", "attrs"}
_CASTS = ("amp_cast", "amp_multicast")


# --- writing --------------------------------------------------------------------------------------


@decides("symbol-file/amp-cast")
def _without_casts(heads: Sequence[Entry]) -> list[Entry]:
    """The graph without the casts of mixed precision: their readers read the inputs of casts; heads stay."""

    def source(entry: Entry) -> Entry:
        while entry.node.op is not None and entry.node.op.name in _CASTS:
            entry = entry.node.inputs[entry.index]
        return entry

    made: dict[int, Node] = {}

    def bridged(entry: Entry) -> Entry:
        found = source(entry)
        return Entry(made[id(found.node)], found.index)

    for node in post_order(heads):
        made[id(node)] = node.reading([bridged(e) for e in node.inputs])
    return [Entry(made[id(head.node)], head.index) for head in heads]


def _versions(order: Sequence[Node]) -> dict[tuple[int, int], int]:
    """(id of a node, position of an input) -> number of updates of that variable so far, by this node included."""
    updates: dict[int, int] = {}
    found: dict[tuple[int, int], int] = {}
    for node in order:
        op = node.op
        if op is None or not (updates or op.aux or op.mutates):
            continue
        for position, (name, entry) in enumerate(zip(node.signature.inputs, node.inputs, strict=True)):
            # MXNet does not count BatchNorm's reset of gamma as an update
            if name in op.aux or (name in op.mutates and name != "gamma"):
                updates[id(entry.node)] = updates.get(id(entry.node), 0) + 1
            if entry.node.is_variable:
                found[id(node), position] = updates.get(id(entry.node), 0)
    return found


@decides("symbol-file/np-shape", "symbol-file/layout", "symbol-file/round-trip")
def to_json(heads: Sequence[Entry], *, remove_amp_cast: bool = True) -> str:
    """The graph of ``heads`` as JSON text, by default without the casts of mixed precision.

    Raises:
        MXNetError: a node is a gradient.
    """
    order = post_order(heads)
    for node in order:
        if node.primal is not None:
            raise refusal(
                "Symbol/gradient-file",
                f"{node.name} is the gradient of {node.primal.kind}, which a file cannot hold; save the symbol"
                " itself and call gradient after loading it",
            )
    if remove_amp_cast and any(node.op is not None and node.op.name in _CASTS for node in order):
        heads = _without_casts(heads)
        order = post_order(heads)
    attrs = [f'"mxnet_version": ["int", {upgrades.CURRENT}]']
    if is_np_shape():
        attrs.insert(0, '"is_np_shape": ["int", 1]')
    return block("{}", [*_fields(heads, order, 1), f'"attrs": {fields_of(attrs, 1)}'], 0)


def _fields(heads: Sequence[Entry], order: Sequence[Node], indent: int) -> list[str]:
    """The fields of a graph with the nodes ``order`` in a file, also of a graph inside a node."""
    number = {id(node): i for i, node in enumerate(order)}
    versions = _versions(order)
    attributes: dict[tuple, str] = {}  # layers repeat
    nodes, rows = [], [0]
    for node in order:
        kind = node.kind
        fields = [f'"op": {quoted(kind)}', f'"name": {quoted(node.name)}']
        if node.attrs:
            key = tuple(node.attrs.items())
            if key not in attributes:
                attrs = [f"{quoted(name)}: {quoted(value)}" for name, value in sorted(key)]
                attributes[key] = f'"attrs": {fields_of(attrs, indent + 2)}'
            fields.append(attributes[key])
        if versions:
            inputs = [
                [number[id(source)], index, versions.get((id(node), i), 0)]
                for i, (source, index) in enumerate(node.inputs)
            ]
            fields.append(f'"inputs": {inputs}')
        else:
            fields.append(f'"inputs": [{", ".join([f"[{number[id(s)]}, {index}, 0]" for s, index in node.inputs])}]')
        if node.subgraphs():
            graphs = [block("{}", _fields(g, post_order(g), indent + 4), indent + 3) for g in node.subgraphs()]
            fields.append(f'"subgraphs": {block("[]", graphs, indent + 2)}')
        nodes.append(block("{}", fields, indent + 1))
        # in MXNet the workspace of RNN is no output
        rows.append(rows[-1] + (node.visible_count() if kind == "RNN" else node.output_count()))
    variables = [i for i, node in enumerate(order) if node.is_variable]
    return [
        f'"nodes": {block("[]", nodes, indent)}',
        f'"arg_nodes": {numbers_of(variables, indent)}',
        f'"node_row_ptr": {numbers_of(rows, indent)}',
        f'"heads": {[[number[id(e.node)], e.index, 0] for e in heads]}',
    ]


# --- reading --------------------------------------------------------------------------------------


class _Graph:
    """A parsed file, or a graph inside a node; every reference is checked before it is followed."""

    def __init__(self, text: str | dict[str, Any], source: str, around: _Graph | None = None) -> None:
        self.source = source
        self.depth: int = 0 if around is None else around.depth + 1
        if self.depth > _MOST_INSIDE:
            raise self.fail(f"more than {_MOST_INSIDE} graphs lie one in the other")
        self.graph = self.parsed(text) if isinstance(text, str) else text
        unknown = [key for key in self.graph if key not in _GRAPH_FIELDS]
        if unknown:
            raise self.fail(f"{reprlib.repr(unknown[0])} is no part of a symbol file")
        if not isinstance(self.graph.get("nodes"), list):
            raise self.fail("the file has no list of nodes")
        if len(self.graph["nodes"]) > MAX_NODES:
            raise self.fail(f"{len(self.graph['nodes'])} nodes, more than {MAX_NODES}")
        self.version: int = self.read_version() if around is None else around.version
        self.np_shape: bool = "is_np_shape" in self.graph.get("attrs", {}) if around is None else around.np_shape

    def fail(self, reason: str, slug: str = "valid") -> Exception:
        return refusal(f"symbol-file/{slug}", f"Failed to load symbol from {self.source}: {reason}")

    def parsed(self, text: str) -> dict[str, Any]:
        """Parse the text as JSON; refuse text that is not a map."""
        try:
            graph = json.loads(text, strict=False, parse_int=short_integer, parse_constant=no_constant)
        except json.JSONDecodeError as error:
            foreign = what_it_is(text[:200].encode(errors="replace"))
            raise self.fail(f"character {error.pos}: {foreign or f'not JSON ({error.msg})'}") from None
        except RecursionError:
            place = first_beyond(text, _MAX_DEPTH)
            raise self.fail(f"character {place}: nested deeper than any graph") from None
        except ValueError as error:  # raised by the two functions above, without a position
            words = (m.start() for m in parts_outside_text(text) if m[0] in ("NaN", "Infinity"))
            digits = re.search(rf"\d{{{MAX_DIGITS + 1}}}", text)
            place = next(words, digits.start() if digits else 0)
            raise self.fail(f"character {place}: {error}") from None
        if not isinstance(graph, dict):
            raise self.fail("character 0: the file is no map with nodes and heads")
        return graph

    @decides("symbol-file/other-version")
    def read_version(self) -> int:
        """The version of MXNet that wrote the file; 0.8 wrote no version."""
        attrs = self.graph.get("attrs", {})
        if not isinstance(attrs, dict):
            raise self.fail("attrs is not a map")
        if "mxnet_version" not in attrs:
            return upgrades.BEFORE_VERSIONS
        found = attrs["mxnet_version"]
        if not (isinstance(found, list) and len(found) == 2 and found[0] == "int" and is_count(found[1])):
            raise self.fail(f'mxnet_version is {reprlib.repr(found)}, not ["int", number]')
        if found[1] > upgrades.CURRENT:
            warnings.warn(
                f"{self.source} was saved by MXNet {upgrades.spelled(found[1])}, which is newer than the"
                f" {upgrades.spelled(upgrades.CURRENT)} whose files are known here; it may mean something else",
                stacklevel=5,
            )
        return found[1]

    def reference(self, value: Any, where: Row | str) -> tuple[int, int]:
        """(node, output) from a reference [node, output] or [node, output, version]."""
        if not (isinstance(value, list) and 2 <= len(value) <= 3 and {*map(type, value)} == {int} and min(value) >= 0):
            raise self.fail(f"{where}: {reprlib.repr(value)} is not [node, output] or [node, output, version]")
        if value[0] >= len(self.graph["nodes"]):
            raise self.fail(f"{where} refers to node {value[0]}, there are {len(self.graph['nodes'])}")
        return value[0], value[1]

    def attributes(self, fields: dict[str, Any], where: Row) -> dict[str, str]:
        """The attributes of a node: ``param`` of 0.8, then ``attr`` or ``attrs``, which override it."""
        attrs: dict[str, str] = {}
        keys = [key for key in fields if key in _ATTRIBUTE_FIELDS]
        for key in sorted(keys, key="param".__ne__) if len(keys) > 1 else keys:
            if not isinstance(fields[key], dict):
                raise self.fail(f"{where}: {key} is not a map")
            for attribute, value in fields[key].items():
                if unwritable(attribute) or (isinstance(value, str) and unwritable(value)):
                    raise self.fail(f"{where}: attribute {reprlib.repr(attribute)} {UNWRITABLE}", "characters")
                if not isinstance(value, str):
                    raise self.fail(
                        f"{where}: attribute {reprlib.repr(attribute)} is {reprlib.repr(value)}, not a string"
                    )
                attrs[attribute] = value
        return attrs

    @decides("symbol-file/older-versions")
    def row(self, number: int, fields: Any) -> Row:
        """The row of one node, with its fields checked."""
        row = Row(number, None, self.checked_name(number, fields))
        self.check_fields(row, fields)
        row.attrs = self.attributes(fields, row)
        row.inputs = [self.reference(value, row) for value in fields.get("inputs", ())]
        if fields["op"] != "null":
            row.op = self.at_node(row, find, fields["op"])
        elif row.inputs:
            raise self.fail(f"{row} is a variable and has inputs")
        for key, text in row.attrs.items():
            if len(text) > _LONGEST_SHAPE and self.is_shape(row, key):
                raise self.fail(f"{row}: {key} has {len(text)} characters, a shape has at most {_LONGEST_SHAPE}")
        row.subgraphs = [self.inside(graph, str(row)) for graph in fields.get("subgraphs", ())]
        if row.subgraphs and not hasattr(row.op, "graphs"):
            raise self.fail(f"{row}: {fields['op'][:80]} holds no graphs")
        return row

    def checked_name(self, number: int, fields: Any) -> str:
        """The name of a node; refuse a node without name or operator."""
        if not isinstance(fields, dict) or not isinstance(fields.get("op"), str):
            raise self.fail(f"node {number} has no operator name")
        name = fields.get("name")
        if not isinstance(name, str):
            raise self.fail(f"node {number} has no name")
        if unwritable(name) or unwritable(fields["op"]):
            raise self.fail(f"node {number}: {reprlib.repr(name)} or its operator's name {UNWRITABLE}", "characters")
        return name

    def check_fields(self, row: Row, fields: dict[str, Any]) -> None:
        """Refuse unknown fields, fields that should be lists and are not, and control_deps on missing nodes."""
        if not _NODE_FIELDS.issuperset(fields):
            unknown = [key for key in fields if key not in _NODE_FIELDS]
            raise self.fail(f"{row} has an unknown field {reprlib.repr(unknown[0])}")
        for key in ("inputs", "control_deps", "subgraphs"):
            if key in fields and not isinstance(fields[key], list):
                raise self.fail(f"{row}: {key} is not a list")
        for other in fields.get("control_deps", ()):
            if not is_count(other) or other >= len(self.graph["nodes"]):
                raise self.fail(f"{row}: control_deps refers to node {reprlib.repr(other)}, which is not there")

    @staticmethod
    def is_shape(row: Row, key: str) -> bool:
        """Whether an attribute is a shape, not a long list of numbers such as the indices of a split."""
        if row.op is None or key == "__shape__":
            return key == "__shape__"
        kind = field_types(row.op.params).get(key)
        return kind in (Shape, Shape | None) and key != "indices" and not hasattr(row.op, "graphs")

    @decides("symbol-file/control-flow")
    def inside(self, graph: Any, where: str) -> list[Entry]:
        """The heads of a graph inside a node."""
        if not isinstance(graph, dict):
            raise self.fail(f"{where}: a subgraph is not a map with nodes and heads")
        return _Graph(graph, f"{self.source[:_LONG_MESSAGE]}, inside {where}", self).read()

    def at_node(self, row: Row, make: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``make``; an error gets the names of the file and the node."""
        try:
            return make(*arguments)
        except MXNetError as error:
            text = str(error)
            if len(text) > _LONG_MESSAGE:  # it quotes a long value of the file
                text = f"{text[: _LONG_MESSAGE // 2]} ... {text[-_LONG_MESSAGE // 2 :]}"
            if not text.startswith("Failed to load symbol"):
                text = f"Failed to load symbol from {self.source}: {row}: {text}"
            error.args = (printable(text),)
            raise
        except (RecursionError, MemoryError, OverflowError) as error:  # from a value such as "(((((..."
            raise self.fail(f"{row}: an attribute cannot be read ({type(error).__name__})") from None

    @decides("symbol-file/order")
    def in_order(self, rows: Sequence[Row]) -> list[Row]:
        """The rows with inputs first; files of MXNet are already in such an order."""
        if all([n < row.number for row in rows for n, _ in row.inputs]):  # noqa: C419  # a list is faster
            return list(rows)
        done: list[Row] = []
        state = [0] * len(rows)  # 0 not seen, 1 waits for its inputs, 2 done
        for first in rows:
            stack = [first]
            while stack:
                row = stack[-1]
                waits = [rows[n] for n, _ in row.inputs if state[n] != 2]
                if state[row.number] == 2 or not waits:
                    stack.pop()
                    if state[row.number] != 2:
                        done.append(row)
                    state[row.number] = 2
                    continue
                if state[row.number] == 1:
                    raise self.fail(f"{row} and {waits[0]} depend on each other in a circle")
                state[row.number] = 1
                stack.extend(reversed(waits))
        return done

    def entry(self, reference: tuple[int, int], nodes: Sequence[Node | None], where: Row | str) -> Entry:
        node = nodes[reference[0]]
        assert node is not None
        count = node.output_count()
        if reference[1] >= count:
            raise self.fail(f"{where} refers to output {reference[1]} of {node.name[:80]}, it has {count}")
        return Entry(node, reference[1])

    @staticmethod
    def inputs_wanted(row: Row) -> int:
        """The number of inputs according to the attributes of an operator."""
        assert row.op is not None
        return len(upgrades.input_names(row.op, row.op.parse(row.attrs)))

    def node(self, row: Row, nodes: Sequence[Node | None]) -> Node:
        entries = [self.entry(reference, nodes, row) for reference in row.inputs]
        if row.op is None:
            if is_np_shape() and not self.np_shape:
                upgrades.mark_unknown_sides(row.attrs)
            return Node(None, row.name, row.attrs)
        counter, count = row.op.variadic, str(len(entries))
        # some operators count groups of inputs
        if counter and row.attrs.setdefault(counter, count) != count and self.inputs_wanted(row) != len(entries):
            raise self.fail(f"{row}: {counter} is {row.attrs[counter]}, it has {count} inputs")
        params = row.op.parse({**row.attrs, "subgraphs": row.subgraphs}) if row.subgraphs else None
        made = Node(row.op, row.name, row.attrs, entries, params=params)
        upgrades.finish_inputs(made, self.version)
        return made

    def read(self) -> list[Entry]:
        """Make the nodes; returns the heads."""
        rows = [self.row(number, fields) for number, fields in enumerate(self.graph["nodes"])]
        if self.version < upgrades.CURRENT:
            done = upgrades.upgrade(rows, self.version, self.at_node)
            LOG.log(
                logging.DEBUG if self.depth else logging.INFO,
                "%s was saved by MXNet %s and is read as of %s (%s)", self.source, upgrades.spelled(self.version),
                upgrades.spelled(upgrades.CURRENT), ", ".join(done) or "nothing had to change",
            )
        nodes: list[Node | None] = [None] * len(rows)
        for row in self.in_order(rows):
            nodes[row.number] = self.at_node(row, self.node, row, nodes)
        heads = self.graph.get("heads")
        if not isinstance(heads, list) or not heads:
            raise self.fail("the file has no heads")
        return [self.entry(self.reference(value, "heads"), nodes, "heads") for value in heads]


@decides("symbol-file/round-trip")
def from_json(text: str, source: str = "json") -> list[Entry]:
    """The heads of a graph from its text.

    Raises:
        MXNetError: the text is not a symbol file, or names an operator or a value that is refused.
    """
    with collector_pause.paused():  # there is no cyclic garbage to collect here
        return _Graph(text, source).read()


def parsed(text: str, source: str = "json") -> tuple[int, dict[str, Any]]:
    """(version of MXNet that wrote a symbol file, its JSON map with a list of nodes, which are not checked).

    Raises:
        MXNetError: the text is not JSON, or not a map with a list of nodes.
    """
    graph = _Graph(text, source)
    return graph.version, graph.graph
