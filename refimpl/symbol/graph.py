"""The class Graph, which passes take and return: a graph, its gradient, and facts about every value.

A pass is a function from :class:`Graph` to :class:`Graph`. It never changes a node; where something is
different it makes another node, so that a graph can be printed before and after
(``print(graph_text(graph.entries()))`` of ``describe.py``).
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
"""What a pass puts in the place of an operator, given its inputs as they are by then."""


@dataclass(frozen=True)
class Graph:
    """The graph that an executor is about to be made of.

    ``outputs`` are the entries that forward computes, ``gradients`` those that backward computes. ``shapes``
    and ``types`` have every value, ``contexts`` every node by id; ``forward`` holds the ids of the nodes that run in
    forward. The tables may hold nodes that are in the graph no more.
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
        """Outputs and gradients, what has to be computed."""
        return [*self.outputs, *self.gradients]

    def order(self) -> list[Node]:
        """All nodes, inputs first."""
        return self._order

    @cached_property
    def _order(self) -> list[Node]:
        return post_order(self.entries())

    def steps(self) -> tuple[list[Node], list[Node]]:
        """The operators that forward runs and those that backward runs, in this order."""
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
        """The numbers of the values that each step reads, those of forward first."""
        forward, backward = self.steps()
        return [*map(self.values.read_by, forward), *map(self.values.read_by, backward)]

    def record(self, node: Node, like: Entry, context: Context, forward: bool) -> Entry:
        """Enter a new node with one output into the tables.

        Args:
            node: the new node.
            like: a value of the graph; the output has its shape and type.
            context: where the node runs.
            forward: whether it runs in forward.
        """
        self.values.add(node)
        number = self.values.of(like)
        self.shapes.found.append(self.shapes.found[number])
        self.types.found.append(self.types.found[number])
        self.contexts[id(node)] = context
        (self.forward.add if forward else self.forward.discard)(id(node))
        return Entry(node, 0)

    def with_inputs(self, node: Node, inputs: list[Entry]) -> Node:
        """The same operator reading other entries; the node itself where nothing differs."""
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
        """The graph in which ``visit(node, its rewritten inputs)`` stands for each operator, inputs first.

        A second visit gets the node that the first one gave, and so on: several passes in one walk.
        """
        made: dict[Node, Node] = {}  # for the nodes that something else stands for

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
