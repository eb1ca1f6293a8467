"""The tape as a graph of ordinary nodes, which the gradient pass of symbols can read.

A loop that trains records the same operators in every turn. So the nodes of a tape that was met before, and the graph
of its gradients, are used again: both depend on nothing but operators, parameters, what reads what, and the active
quirks. Arrays belong to no node; ``TapeGraph.sources`` leads to those of this tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import refusal
from ..executor.table import exact
from ..kernels.foundation import Op
from ..kernels.foundation.quirk import SCOPE
from ..ndarray import NDArray
from ..ndarray.tape import Place, Record
from ..symbol import gradient, shared_weights
from ..symbol.calls import attribute_text
from ..symbol.inference import Key, key_of
from ..symbol.ir import Entry, Node

LONGEST = 4096
"""A longer tape is a graph of its own each time."""

LIMIT = 64
"""So many tapes are remembered, and sixteen times as many hashes of those that were met once."""


class _Known:
    """The nodes of a tape, inputs first, and the graphs of its gradients by outputs and wanted variables."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.gradients: dict[tuple, gradient.Gradients] = {}


_TABLE: dict[tuple, _Known] = {}
_SEEN: set[int] = set()


class TapeGraph:
    """Nodes for everything on the tape that ``heads`` depend on.

    ``order`` holds them, inputs first; ``sources`` says by the id of a node where it comes from.

    Args:
        heads: places on the tape.
        repeated: whether nodes of an equal tape may be used again. Nobody may change them then.
    """

    def __init__(self, heads: Sequence[Place], *, repeated: bool = False) -> None:
        self.nodes: dict[int, Node] = {}  # by the id of the record or the variable
        self.order: list[Node] = []
        self.sources: dict[int, Record | Place] = {}
        self.records: list[tuple[Node, Record]] = []
        self.variables: list[tuple[Node, Place]] = []
        found = _listed(heads)
        key = _key_of(found) if repeated and len(found) <= LONGEST else None
        self._known = None if key is None else _TABLE.get(key)
        for number, source in enumerate(found):
            node = self._made(source) if self._known is None else self._known.nodes[number]
            self._enter(source, node)
        self.heads = [self.entry(head) for head in heads]
        if key is not None and self._known is None:
            self._known = _learnt(key, self.order)

    def _made(self, source: Record | Place) -> Node:
        if isinstance(source, Place):
            return Node(None, f"var{len(self.variables)}")
        attrs = source.attrs
        text = {key: attribute_text(attrs[key]) for key in attrs if attrs[key] is not None} if attrs else None
        name = f"{source.op.name.strip('_').lower()}{len(self.records)}"
        return Node(source.op, name, text, [self.entry(place) for place in source.inputs], params=source.params)

    def _enter(self, source: Record | Place, node: Node) -> None:
        self.nodes[id(source)] = node
        self.sources[id(node)] = source
        self.order.append(node)
        if isinstance(source, Place):
            self.variables.append((node, source))
        else:
            self.records.append((node, source))

    def gradients(self, outputs: Sequence[Entry], wanted: set[int], *, differentiable: bool) -> gradient.Gradients:
        """The graph of the gradients of ``outputs`` with respect to the ``wanted`` nodes: see ``gradient.build``."""
        known = None if self._known is None or differentiable else self._known.gradients
        key = (*map(key_of, outputs), frozenset(wanted), shared_weights.kind())
        found = None if known is None else known.get(key)
        if found is None:
            found = gradient.build(outputs, wanted, differentiable=differentiable, taped=True, order=self.order)
            if known is not None and found.refused is None:
                known[key] = found
        return found

    def entry(self, place: Place) -> Entry:
        """The entry of a place whose node exists."""
        return Entry(self.nodes[id(place.record or place)], place.index)

    def array(self, key: Key) -> NDArray:
        """The array of an entry, still on the tape."""
        number, index = key
        source = self.sources[number]
        if isinstance(source, Place):
            made = NDArray(source.value, source.context)
            made._place = source
        else:
            made = NDArray(source.outputs[index], source.context)
            made._place = Place(made._buffer, source.context, source, index)
        return made

    def values(self) -> dict[Key, NDArray]:
        """The arrays of all entries."""
        counts = {id(node): 1 for node, _ in self.variables} | {id(n): len(noted.outputs) for n, noted in self.records}
        return {(n, index): self.array((n, index)) for n, count in counts.items() for index in range(count)}


def _listed(heads: Sequence[Place]) -> list[Record | Place]:
    """The records and variables that ``heads`` depend on, inputs first, each once.

    Depth first without recursion: a tape may be long.

    Raises:
        MXNetError: a record was read by an earlier backward pass that did not retain it.
    """
    found: list[Record | Place] = []
    seen: set[int] = set()

    def add(source: Record | Place) -> None:
        if id(source) not in seen:
            seen.add(id(source))
            found.append(source)

    for head in heads:
        if head.record is None:
            add(head)
            continue
        stack = [(head.record, iter(head.record.inputs))] if id(head.record) not in seen else []
        while stack:
            record, inputs_left = stack[-1]
            for place in inputs_left:
                before = place.record
                if before is None:
                    add(place)
                elif id(before) not in seen:
                    stack.append((before, iter(before.inputs)))
                    break
            else:
                stack.pop()
                if record.spent:
                    raise not_in_graph()
                add(record)
    return found


def _key_of(sources: Sequence[Record | Place]) -> tuple | None:
    """What the nodes depend on; None where an operator may keep something in its parameters."""
    numbers = {id(source): number for number, source in enumerate(sources)}
    parts: list[Any] = [SCOPE.get()]
    for source in sources:
        if isinstance(source, Place):
            parts.append(None)
            continue
        if type(source.op) is not Op or not isinstance(source.params, tuple):
            return None
        parts += (source.op, exact(source.params), repr(source.attrs) if source.attrs else "", len(source.inputs))
        for place in source.inputs:
            parts += (numbers[id(place.record or place)], place.index)
    return tuple(parts)


def _learnt(key: tuple, nodes: list[Node]) -> _Known | None:
    """Remember the nodes of a tape, where it is the second one of its kind."""
    number = hash(key)
    if number not in _SEEN:
        if len(_SEEN) >= 16 * LIMIT:
            _SEEN.clear()
        _SEEN.add(number)
        return None
    if len(_TABLE) >= LIMIT:
        _TABLE.clear()
    made = _TABLE[key] = _Known(nodes)
    return made


def forget() -> None:
    """Let every tape be a graph of its own again, until it is repeated."""
    _TABLE.clear()
    _SEEN.clear()


def not_in_graph() -> Exception:
    """What is raised for an array that no backward pass can begin or go on with."""
    return refusal(
        "autograd/on-tape",
        "Cannot differentiate an array that is not on the tape: compute it inside autograd.record() from"
        " arrays with attach_grad(). To differentiate the same computation twice, pass retain_graph=True"
        " to the first backward",
    )


__all__ = ["TapeGraph", "forget", "not_in_graph"]
