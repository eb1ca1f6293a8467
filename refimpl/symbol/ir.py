"""The graph of a Symbol: nodes, and entries, each of which is one output of one node."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..kernels.foundation import Op
from ..op_registry.signatures import Signature, parsed, signature


class Entry(NamedTuple):
    """Output number ``index`` of ``node``."""

    node: Node
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used


class Node:
    """A variable (``op`` is None), an operator, or the gradient of an operator (``primal`` is set).

    A gradient node has the operator of its ``primal``, reads head gradients and what the page declares in
    ``needs``, and has one output per input of the primal.

    Args:
        op: the operator, None for a variable.
        name: the node's name.
        attrs: the attributes as strings, as in a file.
        inputs: the entries that the node reads.
        primal: the operator's node, for a gradient node.
        params: the operator's parameters, where they are already parsed from ``attrs``.
    """

    __slots__ = ("_signature", "attrs", "inputs", "name", "op", "params", "primal")

    def __init__(
        self,
        op: Op | None,
        name: str,
        attrs: dict[str, str] | None = None,
        inputs: Sequence[Entry] = (),
        primal: Node | None = None,
        params: Any = None,
    ) -> None:
        self.op = op
        self.name = name
        self.attrs = attrs or {}
        self.inputs = list(inputs)
        self.primal = primal
        self._signature: Signature | None = None
        self.params: Any
        if primal is not None:
            self.params, self._signature = primal.params, primal.signature
        elif params is not None:
            self.params = params
        else:
            self.params = None if op is None else parsed(op, _for_operator(self.attrs))

    def reading(self, inputs: Sequence[Entry]) -> Node:
        """A copy of the node with other inputs."""
        made = Node.__new__(Node)
        made.op, made.name, made.attrs, made.params = self.op, self.name, self.attrs, self.params
        made.primal, made.inputs, made._signature = self.primal, [*inputs], self._signature
        return made

    def set_attribute(self, key: str, value: str) -> None:
        """Set one attribute, and parse the parameters again."""
        attrs = {**self.attrs, key: value}
        if self.op is not None:
            graphs = self.subgraphs()
            self.params = self.op.parse({**_for_operator(attrs), **({"subgraphs": graphs} if graphs else {})})
            self._signature = None
        self.attrs = attrs  # a new dict, because gradients and copies of the node share the old dict

    @property
    def signature(self) -> Signature:
        """The signature of the operator with these parameters; for a gradient node, the signature of its primal."""
        found = self._signature
        if found is None:
            assert self.op is not None
            found = self._signature = signature(self.op, self.params)
        return found

    def subgraphs(self) -> list[list[Entry]]:
        """The outputs of each graph inside a loop or a branch."""
        return getattr(self.params, "subgraphs", [])

    @property
    def is_variable(self) -> bool:
        """Whether the node is a variable: an argument or an auxiliary state."""
        return self.op is None

    @property
    def kind(self) -> str:
        """The operator's name as files and pictures show it; "null" for a variable."""
        if self.op is None:
            return "null"
        return f"_backward_{self.op.name}" if self.primal is not None else self.op.name

    def output_names(self) -> tuple[str, ...]:
        """Names of all outputs, hidden ones last."""
        if self.op is None:
            return ("",)
        if self.primal is not None:
            return tuple(f"d_{name}" for name in self.signature.inputs)
        return self.signature.outputs

    def output_count(self) -> int:
        """Number of outputs, hidden ones included."""
        if self.op is None:
            return 1
        return len(self.signature.outputs) if self.primal is None else len(self.primal.inputs)

    def visible_count(self) -> int:
        """Number of outputs a user sees."""
        if self.op is None or self.primal is not None:
            return self.output_count()
        return self.signature.visible

    def entry_name(self, index: int) -> str:
        """Name of an output: the variable's own, ``fc1_output``, ``split0_output1``."""
        return self.name if self.op is None else f"{self.name}_{self.output_names()[index]}"

    def __repr__(self) -> str:
        return f"Node({self.kind} {self.name})"


def _for_operator(attrs: dict[str, str]) -> dict[str, Any]:
    """Attributes without those meant for the graph."""
    return {k: v for k, v in attrs.items() if not (k.startswith("__") and k.endswith("__"))}


def is_placeholder(node: Node) -> bool:
    """Whether the node is a placeholder, which has a shape and no memory."""
    return node.is_variable and "__placeholder__" in node.attrs


def post_order(heads: Iterable[Entry]) -> list[Node]:
    """Every node the heads depend on, inputs first, in depth-first order."""
    order: list[Node] = []
    seen: set[Node] = set()
    waiting: list[tuple[Node, Iterator[Entry]]] = []  # nodes with their unvisited inputs
    for node, _ in heads:
        if node in seen:
            continue
        seen.add(node)
        waiting.append((node, iter(node.inputs)))
        while waiting:
            reader, inputs = waiting[-1]
            for source, _ in inputs:
                if source not in seen:
                    seen.add(source)
                    if source.inputs:
                        waiting.append((source, iter(source.inputs)))
                        break
                    order.append(source)
            else:
                order.append(reader)
                waiting.pop()
    return order


def auxiliary_nodes(order: Iterable[Node]) -> set[int]:
    """Ids of the variables that are auxiliary states of some operator."""
    found: set[int] = set()
    for node in order:
        if node.op is None or not node.op.aux or node.primal is not None:
            continue
        for name, entry in zip(node.signature.inputs, node.inputs, strict=True):
            if name in node.op.aux and entry.node.is_variable:
                found.add(id(entry.node))
    return found


def variables(order: Iterable[Node]) -> tuple[list[Node], list[Node]]:
    """(arguments, auxiliary states) among the nodes of a graph, in the order in which they are listed."""
    listed = list(order)
    auxiliary = auxiliary_nodes(listed)
    every = [node for node in listed if node.is_variable]
    return [n for n in every if id(n) not in auxiliary], [n for n in every if id(n) in auxiliary]


def copied(entries: Sequence[Entry]) -> list[Entry]:
    """The entries in a copy of the graph. Parameters are copied too: some keep values of forward for backward."""
    made: dict[int, Node] = {}
    params: dict[int, Any] = {}  # a gradient node shares the parameters of its operator
    for node in post_order(entries):
        made[id(node)] = found = node.reading([Entry(made[id(e.node)], e.index) for e in node.inputs])
        found.attrs = dict(node.attrs)
        found.params = params.setdefault(id(node.params), copy.copy(node.params))
    return [Entry(made[id(e.node)], e.index) for e in entries]
