"""mx.autograd: gradients of what ran, by reading the tape backwards.

``with mx.autograd.record():`` (``refimpl/ndarray/recording.py``) puts operators on the tape (``tape.py`` there).
``backward`` turns the tape into a graph of ordinary nodes, asks the one gradient pass that symbols use too
(``refimpl/symbol/gradient.py``) for the graph of the gradients, and runs that, one node after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import gradient_arrays, profiling_hook
from .base import refusal
from .function import Function
from .kernels.foundation import Buffer, Op, allocate
from .kernels.foundation import run as runner
from .ndarray import NDArray, array, operators, sparse, tape, zeros
from .ndarray.recording import (
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
from .ndarray.tape import STATE, Place, Record
from .symbol import Symbol, gradient
from .symbol.compose import attribute_text
from .symbol.inference import Key, key_of
from .symbol.ir import HEAD, Entry, Node

REQUIREMENTS = ("write", "add", "null")


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Make arrays variables: ``backward`` writes their gradients into ``gradients``.

    ``grad_reqs`` is "write", "add" or "null", for all or one each.

    Raises:
        KeyError: a requirement is none of the three.
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
    for req in reqs:
        if req not in REQUIREMENTS:
            raise refusal("autograd/grad-req", f"{req!r} is not one of {', '.join(REQUIREMENTS)}", KeyError)
    for variable, made, req in zip(marked, given, reqs, strict=True):
        # the dense copy of a sparse variable is made when it is read
        value: Any = None if variable.is_sparse else variable._buffer
        variable._place = Place(value, variable._ctx, gradient=made, requirement=req)


# --- the tape as a graph -----------------------------------------------------------------------------


class TapeGraph:
    """Nodes for everything on the tape that ``heads`` depend on, inputs first."""

    def __init__(self, heads: Sequence[Place]) -> None:
        self.nodes: dict[int, Node] = {}
        self.records: list[tuple[Node, Record]] = []
        self.variables: list[tuple[Node, Place]] = []
        for head in heads:
            self._add(head)
        self.heads = [self.entry(head) for head in heads]

    def _add(self, head: Place) -> None:
        """Depth first without recursion: a tape may be long."""
        stack: list[tuple[Any, bool]] = [(_source(head), False)]
        while stack:
            source, ready = stack.pop()
            if id(source) in self.nodes:
                continue
            if isinstance(source, Place):
                self.nodes[id(source)] = node = Node(None, f"var{len(self.variables)}")
                self.variables.append((node, source))
            elif ready:
                self._add_record(source)
            else:
                stack.append((source, True))
                stack.extend((_source(place), False) for place in reversed(source.inputs))

    def _add_record(self, record: Record) -> None:
        if record.spent:
            raise _not_in_graph()
        entries = [self.entry(place) for place in record.inputs]
        text = {key: attribute_text(value) for key, value in record.attrs.items() if value is not None}
        name = f"{record.op.name.strip('_').lower()}{len(self.records)}"
        node = Node(record.op, name, text, entries, params=record.params)
        self.nodes[id(record)] = node
        self.records.append((node, record))

    def entry(self, place: Place) -> Entry:
        """The entry of a place whose node exists."""
        return Entry(self.nodes[id(_source(place))], place.index)

    def values(self) -> dict[Key, NDArray]:
        """The arrays of all entries, still on the tape."""
        found = {(id(node), 0): _array_at(place) for node, place in self.variables}
        for node, noted in self.records:
            for index, buffer in enumerate(noted.outputs):
                place = Place(buffer, noted.context, noted, index)
                found[id(node), index] = _array_at(place)
        return found


def _source(place: Place) -> Place | Record:
    return place if place.record is None else place.record


def _array_at(place: Place) -> NDArray:
    made = NDArray(place.value, place.context)
    made._place = place
    return made


def _not_in_graph() -> Exception:
    return refusal(
        "autograd/on-tape",
        "Cannot differentiate an array that is not on the tape: compute it inside autograd.record() from"
        " arrays with attach_grad(). To differentiate the same computation twice, pass retain_graph=True"
        " to the first backward",
    )


# --- running the gradient graph ----------------------------------------------------------------------


def _run_gradients(
    graph: TapeGraph, heads: Sequence[Place], head_grads: Sequence[NDArray | None], wanted: Sequence[Place],
    create_graph: bool, is_train: bool,
) -> list[NDArray | None]:
    """The gradient of every wanted place, None where the heads do not depend on it."""
    entries = [graph.entry(head) for head in heads]
    nodes = [graph.nodes.get(id(place)) for place in wanted]
    ids = {id(node) for node in nodes if node is not None}
    made = gradient.build(entries, ids, differentiable=create_graph, taped=True)
    if made.refused is not None:
        raise made.refused
    values = graph.values()
    for variable, entry, given in zip(made.heads, entries, head_grads, strict=True):
        if variable is not None:
            values[id(variable), 0] = given if given is not None else _ones_like(values[key_of(entry)])
    read = {key_of(e) for node in made.nodes for e in node.inputs} | {key_of(e) for e in made.of.values()}
    with Scope(create_graph, is_train):
        for node in made.nodes:
            if not node.is_variable:
                _run_node(node, values, read, is_train)
    found = [None if node is None else made.of.get(id(node)) for node in nodes]
    return [None if entry is None else values[key_of(entry)] for entry in found]


def _ones_like(value: NDArray) -> NDArray:
    made = NDArray(allocate(value.shape, value._buffer.dtype, value._buffer.device), value._ctx)
    made._buffer.fill(1)
    return made


def _run_node(node: Node, values: dict[Key, NDArray], read: set[Key], is_train: bool) -> None:
    op = node.op
    assert op is not None
    inputs = [values[key_of(entry)] for entry in node.inputs]
    if node.primal is None:
        ctx = inputs[0]._ctx if inputs else next(iter(values.values()))._ctx
        results = operators.execute(op, node.params, dict(node.attrs), inputs, ctx)
        listed = results if isinstance(results, list) else [results]
        values.update({(id(node), i): result for i, result in enumerate(listed)})
        return
    ctx, number = values[id(node.primal), 0]._ctx, id(node)
    memory = ctx.memory
    buffers: list[Buffer | None] = [None] * len(node.primal.inputs)
    for index, entry in enumerate(node.primal.inputs):
        if (number, index) in read:
            like = values[key_of(entry)]._buffer
            buffers[index] = allocate(like.shape, like.dtype, memory)
    names = node.read_names()
    heads = names.count(HEAD)
    local = [a._data if a._ctx.memory == memory else a.copyto(ctx)._data for a in inputs]  # type: ignore[union-attr]
    needs = dict(zip(names[heads:], local[heads:], strict=True))
    watch = profiling_hook.imperative
    begun = None if watch is None else watch.begin(node.kind, ctx, [b.shape for b in local])
    try:
        runner.backward(
            op, node.params, local[:heads], [needs.get(name) for name in op.need_names(node.params)], buffers,
            is_train=is_train,
        )
    finally:
        if watch is not None:
            watch.end(begun)
    made = [None if buffer is None else NDArray(buffer, ctx) for buffer in buffers]
    if STATE.recording:
        kept = [m for m in made if m is not None]
        last = _last_gradient(op, len(inputs), len(kept))
        tape.note(last, node.params, {}, inputs, [m._buffer for m in kept], kept, ctx)
    values.update({(number, i): result for i, result in enumerate(made) if result is not None})


def _last_gradient(op: Op, inputs: int, outputs: int) -> Op:
    """What stands on the tape for a gradient that has no gradient itself: asking for one is refused by name."""
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
            raise _not_in_graph()
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


def _fitting(given: NDArray, head: NDArray) -> NDArray:
    """A head gradient as the kernels need it: dense, and of its head's type."""
    dense = given.tostype("default") if given.is_sparse else given
    return dense.astype(head.dtype, copy=False)


def _spend(graph: TapeGraph) -> None:
    """Free what the tape holds: [autograd/once]."""
    for _, noted in graph.records:
        noted.spent = True
        noted.inputs, noted.outputs = [], []
    for _, place in graph.variables:
        place.left = place.gradient is None  # constants may be written again, and start no record


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Gradients of ``heads`` (weighted by ``head_grads``, ones by default) into the arrays of all variables.

    Variables that the heads do not depend on keep the gradients they had.

    Raises:
        MXNetError: a head is not on the tape, its computation was differentiated before without
            ``retain_graph``, the heads depend on no variable whose gradient is wanted, or an operator on the way
            has no gradient.
        AssertionError: there are not as many head gradients as heads.
    """
    places, grads = _heads_of(heads, head_grads)
    graph = TapeGraph(places)
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


def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, train_mode: bool = True,
) -> list[NDArray]:
    """Gradients of ``heads`` with respect to ``variables``, returned in new arrays, one per variable.

    With ``create_graph`` the gradients are on the tape themselves and can be differentiated again; that keeps
    the graph too unless ``retain_graph`` says otherwise.

    Raises:
        MXNetError: as :func:`backward`; or a variable was never marked, or the heads do not depend on it.
        AssertionError: there are no variables.
    """
    marked = [variables] if isinstance(variables, NDArray) else list(variables)
    if not marked:
        raise refusal("autograd/variables", "variables cannot be an empty list", AssertionError)
    places, grads = _heads_of(heads, head_grads)
    graph = TapeGraph(places)
    wanted = []
    for variable in marked:
        place = variable._place
        if place is None or place.requirement == "null" or id(place) not in graph.nodes:
            raise refusal(
                "autograd/unreachable", "Cannot differentiate with respect to an array that the heads do not"
                " depend on, or that has no attach_grad() (with grad_req 'null' it is a constant)",
            )
        wanted.append(place)
    results = _run_gradients(graph, places, grads, wanted, create_graph, train_mode)
    taken = {id(given._buffer) for given in grads if given is not None}
    made = []
    with Scope(create_graph, None):
        for variable, result in zip(marked, results, strict=True):
            found = zeros(variable.shape, variable.context, variable.dtype)
            if result is not None:
                found = result.as_in_context(variable.context)
            if id(found._buffer) in taken:  # a head gradient passed on, or one gradient for two variables
                found = found.copy()
            taken.add(id(found._buffer))
            place = variable._place
            made.append(found if create_graph or place is None else gradient_arrays.like(place, found, graph))
    if not (create_graph if retain_graph is None else retain_graph):
        _spend(graph)
    return made


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
