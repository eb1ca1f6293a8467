"""The class Graph, which passes take and return: a graph, its gradient, and facts about every value.

A pass is a function from :class:`Graph` to :class:`Graph`. It never changes a node, but makes a new node in its place,
so that a graph can be printed before and after (``print(graph_text(graph.entries()))`` of ``describe.py``).

A value is one output of one node. Values have numbers, so that passes can keep facts about values, such as shapes, in
lists; the values of a node have consecutive numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..base import decides
from ..context import Context
from .ir import Entry, Node, post_order

Key = tuple[int, int]
"""The key of a value: (id of its node, index of the output)."""


class Values:
    """The numbers of values; ``made`` maps the id of a node to the numbers of its outputs."""

    __slots__ = ("_touched", "count", "made", "nodes")

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.made: dict[int, range] = {}
        self.nodes: list[Node] = []
        self.count = 0
        self._touched: list[tuple[Node, list[int]]] | None = None
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Give the outputs of a new node the next numbers."""
        before = self.count
        self.count += node.output_count()
        self.made[id(node)] = range(before, self.count)
        self.nodes.append(node)
        self._touched = None

    def put(self, made: Node, node: Node) -> None:
        """Give the outputs of ``made``, which replaces ``node``, the numbers of the outputs of ``node``."""
        self.made[id(made)] = self.made[id(node)]
        self._touched = None

    def of(self, entry: Entry) -> int:
        """The number of the value of an entry."""
        return self.made[id(entry.node)][entry.index]

    def made_by(self, node: Node) -> range:
        """The numbers of the values that a node computes."""
        return self.made[id(node)]

    def read_by(self, node: Node) -> list[int]:
        """The numbers of the values that a node reads."""
        made = self.made
        return [made[id(source)][index] for source, index in node.inputs]

    def touched(self) -> list[tuple[Node, list[int]]]:
        """(node, numbers of the values that it reads, then of the values that it computes) of every operator."""
        found = self._touched
        if found is None:
            found = self._touched = [
                (node, [*self.read_by(node), *self.made_by(node)]) for node in self.nodes if node.op is not None
            ]
        return found

    def keys(self) -> list[Key]:
        """The key of every value, in the order of the numbers."""
        return [(id(node), index) for node in self.nodes for index in range(node.output_count())]


class Facts(Mapping[Key, Any]):
    """One fact about every value, such as its shape; None where unknown: ``found`` by number, ``facts[key]`` by key.

    Iteration yields the keys of the values whose fact is known.
    """

    __slots__ = ("found", "numbers")

    def __init__(self, numbers: Values, found: list[Any]) -> None:
        self.numbers, self.found = numbers, found

    @classmethod
    def of(cls, values: Values, told: Mapping[Key, Any]) -> Facts:
        """The facts about ``values`` of which some are ``told`` by key."""
        found = [None] * values.count
        for (number, index), fact in told.items():
            found[values.made[number][index]] = fact
        return cls(values, found)

    def put(self, node: Node, fact: Any) -> None:
        """Set the fact about the only output of a variable."""
        self.found[self.numbers.made[id(node)][0]] = fact

    def copy(self) -> Facts:
        """A copy, whose facts may be changed without changing these."""
        return Facts(self.numbers, list(self.found))

    def __getitem__(self, key: Key) -> Any:
        return self.found[self.numbers.made[key[0]][key[1]]]

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None  # type: ignore[call-overload]  # any object is asked for

    def __iter__(self) -> Iterator[Key]:
        return (key for key, fact in zip(self.numbers.keys(), self.found, strict=True) if fact is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


Visit = Callable[[Node, list[Entry]], Node]
"""Returns the node that replaces an operator in a pass, from the operator and its already replaced inputs."""


@dataclass(frozen=True)
class Graph:
    """The graph from which an executor is made.

    ``outputs`` are the entries that forward computes, ``gradients`` the entries that backward computes. ``shapes`` and
    ``types`` have the shape and dtype of every value, ``contexts`` the context of every node by id; ``forward`` holds
    the ids of the nodes that run in forward. The tables may have nodes that are no longer in the graph.
    """

    outputs: list[Entry]
    gradients: list[Entry]
    shapes: Facts
    types: Facts
    contexts: dict[int, Context]
    forward: set[int]

    @property
    def values(self) -> Values:
        """The numbers of the values of all nodes."""
        return self.shapes.numbers

    def entries(self) -> list[Entry]:
        """The entries to compute: outputs, then gradients."""
        return [*self.outputs, *self.gradients]

    def order(self) -> list[Node]:
        """All nodes, inputs first."""
        return self._order

    @cached_property
    def _order(self) -> list[Node]:
        return post_order(self.entries())

    def steps(self) -> tuple[list[Node], list[Node]]:
        """(operators that forward runs, operators that backward runs), each in the order in which they run."""
        return self._steps

    @cached_property
    def _steps(self) -> tuple[list[Node], list[Node]]:
        operators = [node for node in self.order() if node.op is not None]
        return (
            [node for node in operators if id(node) in self.forward],
            [node for node in operators if id(node) not in self.forward],
        )

    @cached_property
    def reads(self) -> list[list[int]]:
        """The numbers of the values that each step reads, steps of forward first."""
        forward, backward = self.steps()
        return [*map(self.values.read_by, forward), *map(self.values.read_by, backward)]

    def record(self, node: Node, like: Entry, context: Context, forward: bool) -> Entry:
        """Enter a new node with one output into the tables.

        Args:
            node: the new node.
            like: an entry of the graph whose shape and dtype the output has.
            context: the context on which the node runs.
            forward: whether the node runs in forward.
        """
        self.values.add(node)
        number = self.values.of(like)
        self.shapes.found.append(self.shapes.found[number])
        self.types.found.append(self.types.found[number])
        self.contexts[id(node)] = context
        (self.forward.add if forward else self.forward.discard)(id(node))
        return Entry(node, 0)

    def with_inputs(self, node: Node, inputs: list[Entry]) -> Node:
        """A copy of the node that reads ``inputs``; the node itself if these are its inputs."""
        if inputs is node.inputs or inputs == node.inputs:
            return node
        made = node.reading(inputs)
        self.values.put(made, node)
        self.contexts[id(made)] = self.contexts[id(node)]
        if id(node) in self.forward:
            self.forward.add(id(made))
        else:
            self.forward.discard(id(made))
        return made

    @decides("passes/pure")
    def rewritten(self, *visits: Visit) -> Graph:
        """The graph with each operator replaced by ``visit(node, its rewritten inputs)``, inputs first.

        A second visit gets the result of the first one, and so on: several passes in one walk.
        """
        made: dict[Node, Node] = {}  # replaced node -> its replacement

        def moved(entries: list[Entry]) -> list[Entry]:
            return [Entry(made[node], index) if node in made else entry for entry in entries for node, index in [entry]]

        for node in self.order():
            if node.op is None:
                continue
            inputs = node.inputs
            for source, _ in inputs:
                if source in made:
                    inputs = moved(inputs)
                    break
            found = node
            for visit in visits:
                found = visit(found, inputs)
                inputs = found.inputs
            if found is not node:
                made[node] = found
        if not made:
            return self
        return replace(self, outputs=moved(self.outputs), gradients=moved(self.gradients))
