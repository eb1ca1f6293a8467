"""The tape as a graph of ordinary nodes, which the gradient pass of symbols can read.

Nodes hold no arrays; ``TapeGraph.sources`` maps a node to the record or variable with its arrays. A training loop
records the same operators in every iteration, so the nodes of an equal tape may be used again
(``refimpl/replay/tapes.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base import refusal
from ..engine import fast_road
from ..ndarray import NDArray
from ..ndarray.tape import Place, Record
from ..symbol import gradient, shared_weights
from ..symbol.calls import attribute_text
from ..symbol.inference import Key, key_of
from ..symbol.ir import Entry, Node


class TapeNodes:
    """The nodes of a tape, inputs first, and its gradient graphs, by outputs and wanted variables."""

    def __init__(self, sources: Sequence[Record | Place]) -> None:
        self.gradients: dict[tuple, gradient.Gradients] = {}
        self.nodes: list[Node] = []
        made: dict[int, Node] = {}
        variables = 0
        for source in sources:
            if isinstance(source, Place):
                node = Node(None, f"var{variables}")
                variables += 1
            else:
                inputs = [Entry(made[id(place.record or place)], place.index) for place in source.inputs]
                node = _node(source, len(self.nodes) - variables, inputs)
            made[id(source)] = node
            self.nodes.append(node)


def _node(record: Record, number: int, inputs: list[Entry]) -> Node:
    attrs = record.attrs
    text = {key: attribute_text(attrs[key]) for key in attrs if attrs[key] is not None} if attrs else None
    return Node(record.op, f"{record.op.name.strip('_').lower()}{number}", text, inputs, params=record.params)


class TapeGraph:
    """A graph of the records and variables on the tape that ``heads`` depend on.

    ``order`` has the nodes, inputs first; ``sources`` maps the id of a node to its record or variable.

    Args:
        heads: places on the tape.
        repeated: whether nodes of an equal tape may be used again; such nodes must not be changed.
    """

    def __init__(self, heads: Sequence[Place], *, repeated: bool = False) -> None:
        self.nodes: dict[int, Node] = {}  # by the id of the record or the variable
        self.order: list[Node] = []
        self.sources: dict[int, Record | Place] = {}
        self.records: list[tuple[Node, Record]] = []
        self.variables: list[tuple[Node, Place]] = []
        found = _listed(heads)
        self._made = fast_road.road.nodes(found) if repeated and fast_road.is_open() else TapeNodes(found)
        for source, node in zip(found, self._made.nodes, strict=True):
            self._enter(source, node)
        self.heads = [self.entry(head) for head in heads]

    def _enter(self, source: Record | Place, node: Node) -> None:
        self.nodes[id(source)] = node
        self.sources[id(node)] = source
        self.order.append(node)
        if isinstance(source, Place):
            self.variables.append((node, source))
        else:
            self.records.append((node, source))

    def gradients(self, outputs: Sequence[Entry], wanted: set[int], *, differentiable: bool) -> gradient.Gradients:
        """The gradient graph of ``outputs`` with respect to the ``wanted`` nodes; see ``gradient.build``."""
        key = (*map(key_of, outputs), frozenset(wanted), shared_weights.kind())
        found = None if differentiable else self._made.gradients.get(key)
        if found is None:
            found = gradient.build(outputs, wanted, differentiable=differentiable, taped=True, order=self.order)
            if not differentiable and found.refused is None:
                self._made.gradients[key] = found
        return found

    def entry(self, place: Place) -> Entry:
        """The entry of a place whose node exists."""
        return Entry(self.nodes[id(place.record or place)], place.index)

    def array(self, key: Key) -> NDArray:
        """An array on the memory of an entry, with its place on the tape."""
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
        MXNetError: an earlier backward pass without ``retain_graph`` has read a record.
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


def not_in_graph() -> Exception:
    """The error for an array through which no backward pass can go, because it is not or no longer on the tape."""
    return refusal(
        "autograd/on-tape",
        "Cannot differentiate an array that is not on the tape: compute it inside autograd.record() from"
        " arrays with attach_grad(). To differentiate the same computation twice, pass retain_graph=True"
        " to the first backward",
    )


__all__ = ["TapeGraph", "TapeNodes", "not_in_graph"]
