"""The class Graph, which passes take and return: a graph, its gradient, and facts about every value.

A pass is a function from :class:`Graph` to :class:`Graph`. It never changes a node, but makes a new node in its place,
so that a graph can be printed before and after (``print(graph_text(graph.entries()))`` of ``describe.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ..base import decides
from ..context import Context
from .ir import Entry, Node, post_order
from .value_numbers import Facts, Values

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
