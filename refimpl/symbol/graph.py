"""The class Graph, which passes take and return: a graph, its gradient, and facts about every value.

A pass is a function from :class:`Graph` to :class:`Graph`. It never changes a node; where something is
different it makes another node, so that a graph can be printed before and after
(``print(graph_text(graph.entries()))`` of ``describe.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base import decides
from ..context import Context
from ..kernels.foundation import Shape
from .inference import Key
from .ir import Entry, Node, post_order


@dataclass(frozen=True)
class Graph:
    """The graph that an executor is about to be made of.

    ``outputs`` are the entries that forward computes, ``gradients`` those that backward computes. ``shapes``
    and ``types`` have every entry by (id of the node, index), ``contexts`` every node by id; ``forward`` holds
    the ids of the nodes that run in forward. The tables may hold nodes that are in the graph no more.
    """

    outputs: list[Entry]
    gradients: list[Entry]
    shapes: dict[Key, Shape]
    types: dict[Key, np.dtype]
    contexts: dict[int, Context]
    forward: set[int]

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
        operators = [node for node in self.order() if not node.is_variable]
        return (
            [node for node in operators if id(node) in self.forward],
            [node for node in operators if id(node) not in self.forward],
        )

    def record(self, node: Node, like: Entry, context: Context, forward: bool) -> Entry:
        """Enter a new node with one output into the tables.

        Args:
            node: the new node.
            like: a value of the graph; the output has its shape and type.
            context: where the node runs.
            forward: whether it runs in forward.
        """
        key = (id(like.node), like.index)
        self.shapes[id(node), 0], self.types[id(node), 0] = self.shapes[key], self.types[key]
        self.contexts[id(node)] = context
        (self.forward.add if forward else self.forward.discard)(id(node))
        return Entry(node, 0)

    def with_inputs(self, node: Node, inputs: Sequence[Entry]) -> Node:
        """The same operator reading other entries; the node itself where nothing differs."""
        if inputs is node.inputs or list(inputs) == node.inputs:
            return node
        made = node.reading(inputs)
        for index in range(node.output_count()):
            self.shapes[id(made), index] = self.shapes[id(node), index]
            self.types[id(made), index] = self.types[id(node), index]
        self.contexts[id(made)] = self.contexts[id(node)]
        (self.forward.add if id(node) in self.forward else self.forward.discard)(id(made))
        return made

    @decides("passes/pure")
    def rewritten(self, visit: Callable[[Node, list[Entry]], Node]) -> Graph:
        """The graph in which ``visit(node, its rewritten inputs)`` stands for each operator, inputs first."""
        made: dict[int, Node] = {}  # for the nodes that something else stands for

        def moved(entry: Entry) -> Entry:
            node = made.get(id(entry.node))
            return entry if node is None else Entry(node, entry.index)

        for node in self.order():
            if node.is_variable:
                continue
            is_new = [id(source) in made for source, _ in node.inputs]
            found = visit(node, [moved(e) for e in node.inputs] if True in is_new else node.inputs)
            if found is not node:
                made[id(node)] = found
        if not made:
            return self
        return replace(
            self, outputs=[moved(e) for e in self.outputs], gradients=[moved(e) for e in self.gradients]
        )
