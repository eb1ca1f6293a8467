"""Storages in a graph: which values and which gradients are sparse, and which rows a row_sparse gradient stores.

The table of ``mx.nd.sparse`` says which storage an operator returns for sparse inputs. A gradient is row_sparse only
where most of its rows are always zero, because the operator reads only some rows of its input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import decides, refusal
from ..kernels.foundation import ALWAYS, Op, Shape
from ..ndarray import NDArray
from ..ndarray.dispatch import find, output_storage
from ..ndarray.sparse import BaseSparseNDArray
from ..op_registry.storage_rules import FALLBACK_STORAGE, Rule
from . import devices
from .inference import Key, key_of
from .ir import Entry, Node
from .operators import STORAGE_FLAGS

Rows = np.ndarray | None
"""Ascending numbers of rows; None stands for all rows that are not zero."""

STORAGES = {str(flag): name for name, flag in STORAGE_FLAGS.items()}


class _Seen(NamedTuple):
    """The attributes of an array that conditions of the table read."""

    stype: str
    shape: Shape
    dtype: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_sparse(self) -> bool:
        return self.stype != "default"


def declared(nodes: Sequence[Node], given: Mapping[str, str] | None) -> dict[int, str]:
    """The storage of variables by id: from ``given`` by name, else from ``var(stype=)``, else default.

    Raises:
        MXNetError: there is no such storage.
    """
    found = {}
    for node in nodes:
        flag = node.attrs.get("__storage_type__", "0")
        stype = (given or {}).get(node.name) or STORAGES.get(flag, flag)
        if stype not in STORAGE_FLAGS:
            raise refusal(
                "Sparse/storage",
                f"{node.name} has storage {stype!r}, valid values are: {', '.join(STORAGE_FLAGS)}",
            )
        found[id(node)] = stype
    return found


class Storages(NamedTuple):
    """The storage of every value of a graph, and the sparse rule of each node that has one, by the node's id."""

    stypes: dict[Key, str]
    rules: dict[int, Rule]


@decides("Sparse/bind-storage")
def values(
    order: Sequence[Node], variables: Mapping[int, str], shapes: Mapping[Key, Any], types: Mapping[Key, Any]
) -> Storages:
    """The storage of every value of a graph, and the rules of the nodes with sparse inputs or outputs.

    Args:
        order: the nodes, inputs first.
        variables: the storage of variables by id; a variable that is missing is dense.
        shapes: the shape of every value.
        types: the dtype of every value.

    Raises:
        MXNetError: an operator refuses the storage of an input.
    """
    found: dict[Key, str] = {}
    rules: dict[int, Rule] = {}
    for node in order:
        if node.op is None:
            found[id(node), 0] = variables.get(id(node), "default")
            continue
        stypes = tuple(found[key_of(entry)] for entry in node.inputs)
        stype = "default"
        if node.op.name == devices.COPY:
            stype = stypes[0]
        elif makes_sparse(node) or any(each != "default" for each in stypes):
            seen: list[Any] = [
                _Seen(each, shapes[key_of(entry)], np.dtype(types[key_of(entry)]))
                for each, entry in zip(stypes, node.inputs, strict=True)
            ]
            rule = find(node.op, node.params, seen)
            if rule is not None and rule.refuses:
                rule.run(node.params, seen)
            stype = output_storage(node.op, node.params, seen, rule)
            if rule is not None and {stype, *stypes} != {"default"}:
                rules[id(node)] = rule
        found.update({(id(node), i): stype if i == 0 else "default" for i in range(node.output_count())})
    return Storages(found, rules)


MAKERS = ("cast_storage", *FALLBACK_STORAGE)
"""Operators that may return a sparse array for dense inputs."""


def makes_sparse(node: Node) -> bool:
    """Whether a node returns a sparse result even for dense inputs."""
    if node.op is None or node.op.name not in MAKERS:
        return False
    storage = FALLBACK_STORAGE.get(node.op.name)
    return storage is None or storage(node.params, ("default",) * len(node.inputs)) != "default"


def is_dense(order: Sequence[Node], variables: Mapping[int, str]) -> bool:
    """Whether all values and gradients of a graph are dense: no variable is sparse, no operator makes a sparse one."""
    if any(stype != "default" for stype in variables.values()):
        return False
    makers = (*_LISTS, "cast_storage")
    return not any(node.op is not None and node.op.name in makers for node in order)


class GradientStorage:
    """The storages of the gradients of a graph's values, which follow from the operators that read the values.

    ``order`` are the nodes, ``outputs`` the graph's outputs, ``stypes`` the storage of every value.
    """

    def __init__(self, order: Sequence[Node], outputs: Sequence[Entry], stypes: Mapping[Key, str]) -> None:
        self._values = stypes
        self._stypes: dict[Key, str] = {}
        self._readers: dict[Key, dict[int, Node] | None] = {}  # readers of some rows; None for all rows
        readers: dict[Key, list[tuple[Node, int]]] = {}
        for node in order:
            for position, entry in enumerate(node.inputs):
                readers.setdefault(key_of(entry), []).append((node, position))
        ends = {key_of(entry) for entry in outputs}
        for node in reversed(order):  # readers of a value come after it
            for index in range(node.output_count()):
                key = id(node), index
                self._enter(key, readers.get(key, []), key in ends)

    def _enter(self, key: Key, readers: list[tuple[Node, int]], is_output: bool) -> None:
        parts = {self._part_stype(node, position) for node, position in readers}
        if is_output:  # the head gradient has the output's storage
            parts.add(self._values[key])
        several = len(readers) + is_output > 1 and "csr" in parts  # a sum of csr gradients is dense
        self._stypes[key] = parts.pop() if len(parts) == 1 and not several else "default"
        found: dict[int, Node] | None = None if is_output or not readers else {}
        for node, position in readers:
            part = self._part_readers(node, position)
            found = None if found is None or part is None else found | part
        self._readers[key] = found

    def _part_stype(self, node: Node, position: int) -> str:
        """The storage of the gradient that an operator contributes to its input number ``position``."""
        assert node.op is not None
        name = node.op.name
        if _reads_some_rows(node, position, self._values):
            return "row_sparse"
        head, own = self._stypes[id(node), 0], self._values[key_of(node.inputs[position])]
        if node.op.gradient_rows == "head":
            return "default" if name == "Cast" else head
        if node.op.gradient_rows == "none" or name == "_square_sum":
            return own
        return own if node.op.gradient_rows == "input" and head == own else "default"

    def _part_readers(self, node: Node, position: int) -> dict[int, Node] | None:
        """The operators, by id, that decide which rows of this contribution are not zero; None for all rows."""
        assert node.op is not None
        name, p = node.op.name, node.params
        if _reads_some_rows(node, position, self._values):
            return {id(node): node}
        alike = node.op.gradient_rows == "input"
        if node.op.gradient_rows == "none":
            return {}
        by_rows = name == "_square_sum" and p.axis == (1,) and p.keepdims
        # the gradient of an elementwise operator is zero where its head gradient is zero
        by_elements = node.op.gradient_rows or _zero_stays(node.op)
        found = self._readers[id(node), 0] if by_rows or by_elements else None
        if found is None or not alike or self._values[key_of(node.inputs[0])] != "row_sparse":
            return found
        return found | {id(node): node}

    @decides("Sparse/gradient-storage")
    def stype(self, key: Key) -> str:
        """The storage of a gradient: the storage of its contributions if they agree, otherwise default."""
        return self._stypes[key]

    @decides("Sparse/gradient-rows")
    def rows(self, key: Key, value: Callable[[Entry], NDArray]) -> Rows:
        """The rows of a gradient that its contributions touch; ``value`` returns the array of an entry."""
        readers = self._readers[key]
        if readers is None:
            return None
        parts = [_rows_read(node, value) for node in readers.values()]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))

    def asked(self, key: Key) -> list[Entry]:
        """The entries whose values :meth:`rows` reads."""
        return [_list_of_rows(node) for node in (self._readers[key] or {}).values()]


def joined(rows: Rows, stored: NDArray) -> Rows:
    """``rows`` and the rows that an array stores, joined."""
    if rows is None or not isinstance(stored, BaseSparseNDArray):
        return None
    return np.union1d(rows, stored._indices[-1].asnumpy())


_EMBEDDINGS = ("Embedding", "_contrib_SparseEmbedding")
_LISTS = {**dict.fromkeys(_EMBEDDINGS, 0), "dot": 0, "_sparse_retain": 1}
"""Operator that reads some rows of an array -> the position of its input with the row numbers."""


def _reads_some_rows(node: Node, position: int, stypes: Mapping[Key, str]) -> bool:
    """Whether an operator reads only some rows of input ``position``, so that the input's gradient is row_sparse."""
    assert node.op is not None
    name, p = node.op.name, node.params
    if name in _EMBEDDINGS:
        return position == 1 and p.sparse_grad
    if name == "dot":
        turned = p.transpose_a or p.transpose_b
        return position == 1 and not turned and stypes.get(key_of(node.inputs[0])) == "csr"
    return name == "_sparse_retain" and position == 0


def _zero_stays(op: Op) -> bool:
    """Whether an operator of one array maps zero to zero, for all parameters."""
    return op.keeps_zero is ALWAYS and len(op.all_inputs) == 1


def _same_places(op: Op) -> bool:
    """Whether the result of an operator stores elements at the same places as its input."""
    return op.name == devices.COPY or _zero_stays(op)


def _list_of_rows(node: Node) -> Entry:
    """The entry that decides which rows an operator reads; for a csr input, an earlier entry with the same pattern."""
    assert node.op is not None
    entry = node.inputs[_LISTS.get(node.op.name, 0)]
    by_places = node.op.name == "dot" or node.op.gradient_rows == "input"
    while by_places and entry.node.op is not None and _same_places(entry.node.op):
        entry = entry.node.inputs[0]
    return entry


def _rows_read(node: Node, value: Callable[[Entry], NDArray]) -> np.ndarray:
    assert node.op is not None
    listed = value(_list_of_rows(node))
    if node.op.gradient_rows == "input":
        if isinstance(listed, BaseSparseNDArray):
            return listed._indices[-1].asnumpy()
        return np.flatnonzero((listed.asnumpy() != 0).reshape(listed.shape[0], -1).any(1))
    if node.op.name != "dot":
        ids = np.trunc(np.nan_to_num(listed.asnumpy().astype(np.float64)))
        # ids are clipped as on Embedding's page; _sparse_retain has refused ids out of range
        last = node.params.input_dim - 1 if node.op.name in _EMBEDDINGS else np.inf
        return np.unique(np.clip(ids, 0, last).astype(np.int64))
    if isinstance(listed, BaseSparseNDArray):
        return np.unique(listed._indices[-1].asnumpy())
    return np.flatnonzero((listed.asnumpy() != 0).any(0))
