"""The values of a graph by number, so that passes keep what they know of each value in a list.

A value is one output of one node. The values of a node have numbers that follow each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .ir import Entry, Node

Key = tuple[int, int]
"""A name for a value: (id of its node, index of the output)."""


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
        """Number the outputs of one more node."""
        before = self.count
        self.count += node.output_count()
        self.made[id(node)] = range(before, self.count)
        self.nodes.append(node)
        self._touched = None

    def put(self, made: Node, node: Node) -> None:
        """Let the outputs of ``made`` be the values of ``node``, which it stands for."""
        self.made[id(made)] = self.made[id(node)]

    def of(self, entry: Entry) -> int:
        """The number of one value."""
        return self.made[id(entry.node)][entry.index]

    def made_by(self, node: Node) -> range:
        """The numbers of the values that a node computes."""
        return self.made[id(node)]

    def read_by(self, node: Node) -> list[int]:
        """The numbers of the values that a node reads."""
        made = self.made
        return [made[id(source)][index] for source, index in node.inputs]

    def touched(self) -> list[tuple[Node, list[int]]]:
        """Every operator with the numbers of the values that it reads, then of those that it computes."""
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
    """One fact about every value, None where it is not known: ``found`` by number, ``facts[key]`` by key.

    Iteration is over the values of which something is known.
    """

    __slots__ = ("found", "numbers")

    def __init__(self, numbers: Values, found: list[Any]) -> None:
        self.numbers, self.found = numbers, found

    @classmethod
    def of(cls, values: Values, told: Mapping[Key, Any]) -> Facts:
        """What is ``told`` by key of some values."""
        found = [None] * values.count
        for (number, index), fact in told.items():
            found[values.made[number][index]] = fact
        return cls(values, found)

    def put(self, node: Node, fact: Any) -> None:
        """Enter what is known of the only output of a variable."""
        self.found[self.numbers.made[id(node)][0]] = fact

    def copy(self) -> Facts:
        """The same facts, to which others may be added."""
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
