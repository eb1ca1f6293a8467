"""Writes or adds the gradients of autograd into gradient arrays of any storage.

``refimpl/symbol/storage.py`` says which rows of a row_sparse gradient are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import decides
from ..ndarray import NDArray, operators, sparse, zeros
from ..ndarray.tape import Place
from ..symbol import storage
from ..symbol.inference import key_of
from ..symbol.ir import Entry

if TYPE_CHECKING:
    from .tape_graph import TapeGraph


@decides("autograd/zero", "Sparse/gradient")
def write(place: Place, result: NDArray | None, graph: TapeGraph) -> None:
    """Write or add the gradient ``result`` of a variable into its array, as its requirement says; None means zero."""
    target = place.gradient
    assert target is not None
    if result is None:
        if place.requirement == "write":
            _clear(target)
    elif target.is_sparse:
        rows = _rows(place, target, graph)
        if place.requirement == "add":
            rows = storage.joined(rows, target)
            result = operators.call("_grad_add", target.tostype("default"), result.astype(target.dtype, copy=False))
        sparse.put(result.astype(target.dtype, copy=False), target, rows)
    elif place.requirement == "add":
        operators.call("_grad_add", target, result.astype(target.dtype, copy=False), out=target)
    else:
        result.copyto(target)


def like(place: Place, result: NDArray, graph: TapeGraph) -> NDArray:
    """``result`` in the storage of the variable's gradient array."""
    if place.gradient is None or not place.gradient.is_sparse:
        return result
    made = zeros(result.shape, result.context, result.dtype, stype=place.gradient.stype)
    sparse.put(result, made, _rows(place, made, graph))
    return made


def _clear(target: NDArray) -> None:
    """Set a gradient array to zero; a sparse array then stores nothing."""
    if target.is_sparse:
        zeros(target.shape, target.context, target.dtype, stype=target.stype).copyto(target)
    else:
        target[:] = 0


def _rows(place: Place, target: NDArray, graph: TapeGraph) -> storage.Rows:
    """The rows of a variable's gradient that were touched; None where any row may have been."""
    if target.stype != "row_sparse":
        return None
    order = [node for node, _ in (*graph.variables, *graph.records)]
    places = {id(node): place for node, place in graph.variables}
    made = graph.values()
    stypes = {number: "default" if p.origin is None else p.origin.stype for number, p in places.items()}
    shapes = {key: array.shape for key, array in made.items()}
    types = {key: array.dtype for key, array in made.items()}
    seen = storage.GradientStorage(order, graph.heads, storage.values(order, stypes, shapes, types).stypes)

    def value(entry: Entry) -> NDArray:
        origin = places[id(entry.node)].origin if entry.node.is_variable else None
        return origin if origin is not None else made[key_of(entry)]

    return seen.rows((id(graph.nodes[id(place)]), 0), value)
