"""Numbers of the values of a graph, so that passes can keep facts about values, such as shapes, in lists.

A value is one output of one node. The values of a node have consecutive numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .ir import Entry, Node

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


__all__ = ["Facts", "Key", "Values"]
