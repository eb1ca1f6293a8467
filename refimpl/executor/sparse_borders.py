"""The border between the sparse arrays bound to an executor and the dense memory inside it.

Inside an executor every value has dense memory. A sparse argument is copied into a dense array before ``forward``; a
sparse gradient or output is filled from a dense array after the run. A forward step for which ``mx.nd`` has a rule on
sparse arrays runs by that rule, and fills its dense memory with the result. ``symbol/storage.py`` says which rules
these are, and which rows a gradient keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..base import decides
from ..ndarray import NDArray, zeros
from ..ndarray.convert import ordered, tostype
from ..ndarray.dispatch import report
from ..ndarray.sparse import copy_into, put
from ..op_registry.storage_rules import Rule
from ..symbol import Symbol, devices, storage
from ..symbol.graph import Graph
from ..symbol.inference import Key, key_of
from ..symbol.ir import Entry, variables
from .steps import ForwardStep, ViewStep

if TYPE_CHECKING:
    from .binding import Bound
    from .program import Program


class SparseStep(ForwardStep):
    """Runs one node on sparse arrays, as ``mx.nd`` does.

    ``made`` is the result of the last run in its own storage; before the first run it is all zeros.

    Args:
        step: the same step on dense memory.
        rule: the sparse rule for the storages of the node's inputs.
        stype: the storage of the result.
        value: returns the array of an input in the input's own storage.
    """

    __slots__ = ("_is_view", "_rule", "_value", "made")

    def __init__(self, step: ForwardStep, rule: Rule, stype: str, value: Callable[[Entry], NDArray]) -> None:
        super().__init__(step.node, step.inputs, step.outputs, step.context, step.params)
        self._rule, self._value, self._is_view = rule, value, isinstance(step, ViewStep)
        (out,) = step.outputs
        self.made = NDArray(out, step.context)
        if stype != "default":
            self.made = zeros(out.shape, step.context, out.dtype, stype=stype)

    @property
    def is_direct(self) -> bool:
        """False: a sparse rule takes NDArrays, not buffers."""
        return False

    def run(self, is_train: bool) -> None:
        """Compute the result, and copy it, and the states that it changed, into dense memory."""
        del is_train
        arrays = [self._value(entry) for entry in self.node.inputs]
        if self._rule.updates:
            made = arrays[0].copy()
            self._rule.run(self.params, [made, *arrays[1:]], made)
            for name, array, inner in zip(self.op.input_names(self.params), arrays, self.inputs, strict=True):
                if name in self.op.mutates and array.is_sparse:
                    inner.copy_from(tostype(array, "default")._data)
        else:
            made = self._rule.run(self.params, arrays)
        if made.is_sparse:
            self.made = made
        if not self._is_view:
            dense = tostype(made, "default") if made.is_sparse else made
            self.outputs[0].copy_from(dense._data)


@decides("Sparse/bind")
class Borders:
    """The border where some array is sparse: ``inside`` has dense arrays in the place of sparse ones."""

    def __init__(self, symbol: Symbol, bound: Bound) -> None:
        self.inside = replace(
            bound, arguments=_dense(bound.arguments), gradients=_dense(bound.gradients),
            auxiliary=_dense(bound.auxiliary),
        )
        self.bound = bound
        arguments, auxiliary = variables(symbol.order())
        nodes = [*arguments, *auxiliary]
        self._given: dict[Key, NDArray] = {
            (id(node), 0): array
            for node, array in zip(nodes, [*bound.arguments, *bound.auxiliary], strict=True)
        }
        self._stypes = {number: array.stype for (number, _), array in self._given.items()}
        self._gradients = [
            (node, outer, inner, req)
            for node, outer, inner, req in zip(
                arguments, bound.gradients, self.inside.gradients, bound.requirements, strict=True
            )
            if outer is not None and inner is not None and outer.is_sparse and req != "null"
        ]
        _report(zip([node.name for node in nodes], self._given.values(), strict=True))

    # --- at bind ---------------------------------------------------------------------------------

    def lasting(self, graph: Graph) -> set[int]:
        """The numbers of computed values, such as ids, that decide which rows of a gradient are stored."""
        order = [node for node in graph.order() if node.is_variable or id(node) in graph.forward]
        self._values, self._rules = storage.values(order, self._stypes, graph.shapes, graph.types)
        self._reading = storage.GradientStorage(order, graph.outputs, self._values)
        asked = [entry for node, *_ in self._gradients for entry in self._reading.asked((id(node), 0))]
        return {graph.values.of(entry) for entry in asked if not entry.node.is_variable}

    def enclose(self, program: Program) -> list[NDArray]:
        """Take the program; returns outputs in the storages that inference gives them."""
        self._program = program
        self._steps = self._on_sparse_arrays(program)
        read = {key_of(entry) for step in self._steps.values() for entry in step.node.inputs}
        self._read = {key: array for key, array in self._given.items() if array.is_sparse and key in read}
        stypes = [self._values[key_of(entry)] for entry in program.graph.outputs]
        self.outputs = [
            array if stype == "default" else zeros(array.shape, array.context, array.dtype, stype=stype)
            for array, stype in zip(program.outputs, stypes, strict=True)
        ]
        return self.outputs

    def _on_sparse_arrays(self, program: Program) -> dict[int, SparseStep]:
        """Replace the forward steps that have a sparse rule; returns the new steps by the id of their node."""
        made = {}
        for place, step in enumerate(program.forward_steps):
            rule = self._rules.get(id(step.node)) if isinstance(step, ForwardStep) else None
            if isinstance(step, ForwardStep) and rule is not None and not rule.dense:
                stype = self._values[id(step.node), 0]
                program.forward_steps[place] = made[id(step.node)] = SparseStep(step, rule, stype, self._stored)
        return made

    # --- at run ----------------------------------------------------------------------------------

    def before_forward(self) -> None:
        """Copy sparse arguments and states into dense memory, and keep sparse copies for steps with a sparse rule."""
        outer = [*self.bound.arguments, *self.bound.auxiliary]
        _fill(outer, [*self.inside.arguments, *self.inside.auxiliary])
        # copies, because the caller may change the arrays before a queued step runs
        self._copies = {key: ordered(array).detach() for key, array in self._read.items()}
        for array in self._copies.values():
            array.wait_to_read()  # a step inside the engine does not wait

    def after_forward(self) -> None:
        """Fill sparse outputs, and sparse states that an operator may have changed, from dense memory."""
        program = self._program
        for entry, inner, outer in zip(program.graph.outputs, program.outputs, self.outputs, strict=True):
            if inner is not outer:
                inner.wait_to_read()
                copy_into(self._stored(entry), outer)
        _fill(self.inside.auxiliary, self.bound.auxiliary)

    def before_backward(self) -> None:
        """Copy sparse gradients with grad_req 'add' into dense memory."""
        for _, outer, inner, req in self._gradients:
            if req == "add":
                copy_into(outer, inner)

    def after_backward(self) -> None:
        """Fill sparse gradients; a row_sparse gradient stores every row that was touched, even a row of zeros."""
        for node, outer, inner, req in self._gradients:
            rows = self._reading.rows((id(node), 0), self._value) if outer.stype == "row_sparse" else None
            put(inner, outer, rows if req == "write" else storage.joined(rows, outer))

    def _stored(self, entry: Entry) -> NDArray:
        """A value of the last forward in its own storage."""
        key, node = key_of(entry), entry.node
        if key in self._copies:
            return self._copies[key]
        if id(node) in self._steps:
            return self._steps[id(node)].made
        context = self._program.graph.contexts[id(node)]
        if node.op is not None and node.op.name == devices.COPY:
            return self._stored(node.inputs[0]).as_in_context(context)
        dense = NDArray(self._program.buffers[key], context)
        return dense if self._values[key] == "default" else tostype(dense, self._values[key])

    def _value(self, entry: Entry) -> NDArray:
        key = key_of(entry)
        return self._given[key] if key in self._given else NDArray(self._program.buffers[key], self._program.ctx)


def _dense(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, with dense zeros in the place of sparse arrays."""
    return [
        zeros(array.shape, array.context, array.dtype) if array is not None and array.is_sparse else array
        for array in arrays
    ]


def _fill(sources: Sequence[NDArray], targets: Sequence[NDArray]) -> None:
    for source, target in zip(sources, targets, strict=True):
        if source is not target:
            copy_into(source, target)


def _report(named: Any) -> None:
    """Log which sparse arrays become dense inside the executor."""
    sparse = [f"{name} ({array.stype})" for name, array in named if array.is_sparse]
    if sparse:
        report(("executor", *sparse), f"an executor works on dense copies of {', '.join(sparse)}")
