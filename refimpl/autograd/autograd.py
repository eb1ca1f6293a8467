"""mx.autograd: gradients of recorded operators, by reading the tape backwards.

Within ``with mx.autograd.record():`` (``refimpl/ndarray/recording.py``) operators are recorded on the tape
(``refimpl/ndarray/tape.py``). ``backward`` turns the tape into a graph of ordinary nodes, makes the graph of the
gradients by the same pass as symbols (``refimpl/symbol/gradient.py``), and runs that graph node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides, refusal
from ..engine import fast_road
from ..executor.steps import BackwardStep, gradient_buffers
from ..kernels.foundation import Op, allocate
from ..ndarray import NDArray, array, dense, sparse, tape, zeros
from ..ndarray.recording import (
    Scope,
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from ..ndarray.run_operator import watched
from ..ndarray.tape import STATE, Place, Record
from ..symbol import Symbol
from ..symbol.gradient import Gradients
from ..symbol.inference import Key, key_of
from ..symbol.ir import Node
from . import gradient_arrays
from .function import Function
from .tape_graph import TapeGraph, not_in_graph


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Make arrays variables: ``backward`` writes their gradients into ``gradients``.

    ``grad_reqs`` is "write", "add" or "null", for all variables, or a list with one requirement for each.

    Raises:
        KeyError: a requirement is none of write, add and null.
        ValueError: the lists have different lengths.
    """
    marked = [variables] if isinstance(variables, NDArray) else list(variables)
    given = [gradients] if isinstance(gradients, NDArray) else list(gradients)
    reqs = [grad_reqs] * len(marked) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(marked) == len(given) == len(reqs):
        raise refusal(
            "autograd/mark-lengths",
            f"{len(marked)} variables, {len(given)} gradients and {len(reqs)} requirements", ValueError,
        )
    tape.mark(marked, given, reqs)


# --- running the gradient graph ----------------------------------------------------------------------


class _Values(dict[Key, NDArray]):
    """Key of an entry -> its array: gradients when they are computed, arrays of the tape when they are first read."""

    def __init__(self, graph: TapeGraph) -> None:
        super().__init__()
        self.graph = graph

    def __missing__(self, key: Key) -> NDArray:
        made = self[key] = self.graph.array(key)
        return made


@decides("autograd/heads")
def _run_gradients(
    graph: TapeGraph, heads: Sequence[Place], head_grads: Sequence[NDArray | None], wanted: Sequence[Place],
    create_graph: bool, is_train: bool,
) -> list[NDArray | None]:
    """The gradient of every place in ``wanted``; None for a place that the heads do not depend on."""
    entries = [graph.entry(head) for head in heads]
    nodes = [graph.nodes.get(id(place)) for place in wanted]
    ids = {id(node) for node in nodes if node is not None}
    made = graph.gradients(entries, ids, differentiable=create_graph)
    if made.refused is not None:
        raise made.refused
    values = _Values(graph)
    for variable, entry, given in zip(made.heads, entries, head_grads, strict=True):
        if variable is not None:
            values[id(variable), 0] = given if given is not None else _ones_like(values[key_of(entry)])
    with Scope(create_graph, is_train):
        _run_nodes(made, values, is_train)
    found = [None if node is None else made.of.get(id(node)) for node in nodes]
    return [None if entry is None else values[key_of(entry)] for entry in found]


def _run_nodes(made: Gradients, values: _Values, is_train: bool) -> None:
    """Run the graph of the gradients; gradients that no node reads and no variable wants are not computed."""
    read = {(id(source), index) for node in made.nodes for source, index in node.inputs}
    read.update(map(key_of, made.of.values()))
    for node in made.nodes:
        if node.primal is not None:
            _run_gradient(node, values, read, is_train)
        elif node.op is not None:
            _run_operator(node, values)


def _ones_like(value: NDArray) -> NDArray:
    made = NDArray(allocate(value.shape, value._buffer.dtype, value._buffer.device), value._ctx)
    made._buffer.fill(1)
    return made


def _run_operator(node: Node, values: _Values) -> None:
    assert node.op is not None
    inputs = [values[id(source), index] for source, index in node.inputs]
    ctx = inputs[0]._ctx if inputs else next(iter(values.values()))._ctx
    results = dense.execute(node.op, node.params, dict(node.attrs), inputs, ctx)
    listed = results if isinstance(results, list) else [results]
    values.update({(id(node), i): result for i, result in enumerate(listed)})


def _run_gradient(node: Node, values: _Values, read: set[Key], is_train: bool) -> None:
    """Compute the gradients of an operator whose entries are in ``read``."""
    assert node.op is not None
    record, number = values.graph.sources[id(node.primal)], id(node)
    assert isinstance(record, Record)
    ctx = record.context
    memory = ctx.memory
    inputs = [values[id(source), index] for source, index in node.inputs]
    local = [(a if a._ctx is ctx or a._ctx.memory == memory else a.as_in_context(ctx))._data for a in inputs]
    buffers = gradient_buffers(node, [place.value for place in record.inputs], read, memory)
    if fast_road.is_open():
        fast_road.road.gradient(node, local, buffers, ctx, is_train)
    else:
        with watched(node.kind, ctx, local):
            BackwardStep(node, local, buffers, ctx).run(is_train)
    made = []
    for index, buffer in enumerate(buffers):
        if buffer is not None:
            values[number, index] = gradient_array = NDArray(buffer, ctx)
            made.append(gradient_array)
    if STATE.recording:
        last = _last_gradient(node.op, len(inputs), len(made))
        tape.note(last, node.params, {}, inputs, [m._buffer for m in made], made, ctx)


@decides("autograd/second-order")
def _last_gradient(op: Op, inputs: int, outputs: int) -> Op:
    """The operator on the tape for a gradient that has no gradient itself: differentiating it is refused by name."""
    names = tuple(f"input{i}" for i in range(inputs))
    return Op(
        name=f"_backward_{op.name}", doc="", forward=op.forward, infer=op.infer, inputs=names, all_inputs=names,
        outputs=tuple(f"output{i}" for i in range(outputs)),
    )


# --- backward ----------------------------------------------------------------------------------------


def _heads_of(heads: Any, head_grads: Any) -> tuple[list[Place], list[NDArray | None]]:
    arrays = [heads] if isinstance(heads, NDArray) else list(heads)
    if head_grads is None:
        grads: list[NDArray | None] = [None] * len(arrays)
    else:
        grads = [head_grads] if isinstance(head_grads, NDArray) else list(head_grads)
    if len(grads) != len(arrays):
        raise refusal(
            "autograd/head-count", f"heads and head_grads must have the same length, got {len(arrays)} and"
            f" {len(grads)}", AssertionError,
        )
    places = []
    for head, given in zip(arrays, grads, strict=True):
        if not tape.on_tape(head) or (head._place.record is None and head._place.gradient is None):  # type: ignore[union-attr]
            raise not_in_graph()
        if given is not None and given.shape != head.shape:
            raise refusal(
                "autograd/head-shape", f"a head gradient has shape {given.shape}, its head {head.shape}"
            )
        assert head._place is not None
        sparse.stand_in(head)
        places.append(head._place)
    return places, [
        given if given is None else _fitting(given, head) for given, head in zip(grads, arrays, strict=True)
    ]


@decides("autograd/head-dtype")
def _fitting(given: NDArray, head: NDArray) -> NDArray:
    """A head gradient as kernels take it: dense, and of the dtype of its head."""
    dense = given.tostype("default") if given.is_sparse else given
    return dense.astype(head.dtype, copy=False)


@decides("autograd/once")
def _spend(graph: TapeGraph) -> None:
    """Free the records and constants of the tape: [autograd/once]."""
    for _, noted in graph.records:
        noted.spent = True
        noted.inputs, noted.outputs = [], []
    for _, place in graph.variables:
        place.left = place.gradient is None  # constants leave the tape: they may be written again


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Compute the gradients of ``heads`` into the gradient arrays of all variables.

    Variables that the heads do not depend on keep their gradients.

    Args:
        heads: an array, or a list of arrays, computed while recording.
        head_grads: the weights of the heads, arrays of the same shapes; None, alone or in the list, means ones.
        retain_graph: whether to keep the records, so that the heads can be differentiated again.
        train_mode: whether operators such as Dropout run as in training.

    Raises:
        MXNetError: a head is not on the tape, its computation was differentiated before without
            ``retain_graph``, the heads depend on no variable whose gradient is wanted, or an operator between a head
            and a variable has no gradient.
        AssertionError: the number of head gradients is not the number of heads.
    """
    places, grads = _heads_of(heads, head_grads)
    graph = TapeGraph(places, repeated=True)
    wanted = [place for _, place in graph.variables if place.requirement != "null" and place.gradient is not None]
    if not wanted:
        raise refusal(
            "autograd/nothing-wanted", "the heads depend on no array whose gradient is wanted: call attach_grad() on"
            " one before recording, with a grad_req other than 'null'",
        )
    results = _run_gradients(graph, places, grads, wanted, False, train_mode)
    with Scope(False, None):
        for place, result in zip(wanted, results, strict=True):
            gradient_arrays.write(place, result, graph)
    if not retain_graph:
        _spend(graph)


def _reached_place(graph: TapeGraph, variable: NDArray) -> Place:
    """The place of a variable that the heads depend on."""
    place = variable._place
    if place is None or place.requirement == "null" or id(place) not in graph.nodes:
        raise refusal(
            "autograd/unreachable", "Cannot differentiate with respect to an array that the heads do not"
            " depend on, or that has no attach_grad() (with grad_req 'null' it is a constant)",
        )
    return place


@decides("autograd/grad")
def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, train_mode: bool = True,
) -> list[NDArray]:
    """Gradients of ``heads`` with respect to ``variables``, returned in new arrays, one per variable.

    Args:
        heads: an array, or a list of arrays, computed while recording.
        variables: an array, or a list of arrays, with a gradient attached.
        head_grads: the weights of the heads, as for :func:`backward`.
        retain_graph: whether to keep the records; None means the value of ``create_graph``.
        create_graph: whether to record the gradients, so that they can be differentiated again.
        train_mode: whether operators such as Dropout run as in training.

    Raises:
        MXNetError: as :func:`backward`; or an array in ``variables`` was never marked, or no head depends on it.
        AssertionError: there are no variables.
    """
    marked = [variables] if isinstance(variables, NDArray) else list(variables)
    if not marked:
        raise refusal("autograd/variables", "variables cannot be an empty list", AssertionError)
    places, grads = _heads_of(heads, head_grads)
    graph = TapeGraph(places)
    wanted = [_reached_place(graph, variable) for variable in marked]
    results = _run_gradients(graph, places, grads, wanted, create_graph, train_mode)
    taken = {id(given._buffer) for given in grads if given is not None}
    made = []
    with Scope(create_graph, None):
        for variable, result in zip(marked, results, strict=True):
            found = zeros(variable.shape, variable.context, variable.dtype)
            if result is not None:
                found = result.as_in_context(variable.context)
            if id(found._buffer) in taken:  # the array is a head gradient, or another variable's gradient
                found = found.copy()
            taken.add(id(found._buffer))
            place = variable._place
            made.append(found if create_graph or place is None else gradient_arrays.like(place, found, graph))
    if not (create_graph if retain_graph is None else retain_graph):
        _spend(graph)
    return made


@decides("autograd/symbol")
def get_symbol(x: NDArray) -> Symbol:
    """The recorded computation of ``x`` as a symbol; its variables are called var0, var1 ...

    Raises:
        MXNetError: ``x`` is not on the tape.
    """
    places, _ = _heads_of(x, None)
    graph = TapeGraph(places)
    return Symbol([graph.entry(places[0])])


__all__ = [
    "Function", "NDArray", "Symbol", "array", "backward", "get_symbol", "grad", "is_recording", "is_training",
    "mark_variables", "pause", "predict_mode", "record", "set_recording", "set_training", "train_mode",
]
