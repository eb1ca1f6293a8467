"""Program: what binding makes of a graph, in six steps that a reader can follow one by one.

1. infer     shapes and types of every value, from the bound arrays
2. derive    the gradient graph of the wanted arguments
3. simplify  common expressions, dead branches; copies between contexts
4. place     outputs, head gradients and final gradients in arrays that others see
5. plan      memory for everything in between
6. list      the steps of forward and backward, with their buffers looked up
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import refusal
from ..context import Context
from ..kernels.foundation import Buffer, allocate, known
from ..ndarray import NDArray, zeros
from ..symbol import Symbol, dead_branches, devices, gradient, inference, memory, passes
from ..symbol.graph import Graph
from ..symbol.inference import Key, key_of
from ..symbol.ir import Entry, Node
from .binding import Bound
from .memory_pool import Pool, part
from .steps import (
    AddStep,
    BackwardStep,
    CopyStep,
    ForwardStep,
    KeptValues,
    SpendStep,
    Step,
    TransferStep,
    ViewBackwardStep,
    ViewStep,
    ZeroStep,
)


class Program:
    """A graph with memory: ``forward_steps`` and ``backward_steps`` to run, and the arrays around them.

    ``outputs`` are the arrays of the graph's outputs, ``heads`` those of their head gradients (None where
    nobody reads it), ``head_needed`` says where there is one. ``derived`` is the graph with its
    gradient before the passes, ``graph`` the one that runs, ``plan`` the memory plan. ``pool`` lends the memory,
    shared with the executor whose pool was given. ``lasting`` names values of the graph that are read after backward.
    """

    def __init__(
        self, symbol: Symbol, ctx: Context, bound: Bound, pool: Pool,
        lasting: Callable[[Graph], set[Key]] = lambda _: set(),
    ) -> None:
        self.symbol, self.ctx, self.bound, self.pool = symbol, ctx, bound, pool
        self.buffers: dict[Key, Buffer] = {}
        order = bound.order or symbol.order()
        contexts = devices.contexts(order, ctx, bound.places)
        arguments, auxiliary = symbol._variables(order)
        for node, array in zip(
            [*arguments, *auxiliary], [*bound.arguments, *bound.auxiliary], strict=True
        ):
            self.buffers[id(node), 0] = array._data
            contexts[id(node)] = array.context
        _require_states_near(order, contexts)
        wanted = {
            id(node): (number, req)
            for number, (node, req) in enumerate(zip(arguments, bound.requirements, strict=True))
            if req != "null" and bound.gradients[number] is not None
        }
        self.gradients = (
            gradient.build(symbol.entries, set(wanted), order=order) if wanted else gradient.Gradients()
        )
        shapes, types = self._infer(order)
        self.derived = self._whole(order, contexts, shapes, types)
        targets = [bound.arguments[wanted[number][0]].context for number in self.gradients.of]
        self.graph = passes.simplified(self.derived, targets)
        forward, backward = self.graph.steps()
        self._read = {(id(source), index) for node in [*forward, *backward] for source, index in node.inputs}
        self._read |= {key_of(e) for e in self.graph.entries()}
        self._allocate_outputs()
        self._allocate_heads()
        later = self._place_gradients(wanted, {id(node) for node in backward})
        self._place_placeholders()
        self._place_partial(forward)
        pinned = set(self.buffers) | self._unused([*forward, *backward])
        held = {key for key, _, _ in later if key is not None} | lasting(self.graph)
        how = memory.mode()
        self.plan = memory.plan(self.graph, pinned, held, how)
        self._place_values()
        self._own: dict[int, Any] = {}
        self.forward_steps: list[Step] = [self._step(node) for node in forward]
        self.forward_steps += self._output_copies
        self.backward_steps: list[Step] = [self._step(node) for node in backward]
        self.backward_steps += [
            ZeroStep(target) if key is None
            else (AddStep if req == "add" else CopyStep)(self.buffers[key], target)
            for key, target, req in later
        ]
        if how == "once":
            kept = KeptValues()
            self.forward_steps.append(kept)
            self.backward_steps.insert(0, SpendStep(kept))
        self.head_needed = [head is not None for head in self.heads]

    @property
    def allocated(self) -> int:
        """Bytes of the arenas and the outputs; as in MXNet, without what the caller binds and head gradients."""
        return self.plan.total + sum(a.size * np.dtype(a.dtype).itemsize for a in self.outputs)

    def results(self) -> list[Entry]:
        """What is computed: outputs, then gradients in the order of the arguments."""
        made = dict(zip(self.gradients.of, self.graph.gradients, strict=True))
        arguments, _ = self.symbol._variables()
        return [*self.graph.outputs, *(made[id(node)] for node in arguments if id(node) in made)]

    def _infer(self, order: list[Node]) -> tuple[dict[Key, Any], dict[Key, Any]]:
        """Shapes and types of every value, the gradient graph included."""
        if self.bound.inferred is not None:
            shapes, types = map(dict, self.bound.inferred)
        else:
            bound = {id(n): self.buffers[id(n), 0] for n in order if n.is_variable}
            shapes = inference.shapes(order, {number: b.shape for number, b in bound.items()})
            types = inference.types(order, {number: b.dtype for number, b in bound.items()})
        for node in order:
            for index in range(node.output_count()):
                key = id(node), index
                if not known(shapes.get(key)) or types.get(key) is None:
                    raise refusal(
                        "Executor/known-shapes",
                        f"the shape or the type of {node.entry_name(index)} cannot be inferred from the arguments",
                    )
        for head, entry in zip(self.gradients.heads, self.symbol.entries, strict=False):
            if head is not None:
                shapes[id(head), 0] = shapes[key_of(entry)]
                types[id(head), 0] = types[key_of(entry)]
        for node in self.gradients.nodes:
            if node.primal is not None:
                for index, (source, at) in enumerate(node.primal.inputs):
                    shapes[id(node), index] = shapes[id(source), at]
                    types[id(node), index] = types[id(source), at]
            elif not node.is_variable:
                assert node.op is not None
                for table, rule in ((shapes, node.op.infer), (types, node.op.infer_type)):
                    ins = [table[key_of(e)] for e in node.inputs]
                    _, outs = rule(node.params, ins, [None] * node.output_count())
                    table.update({(id(node), i): value for i, value in enumerate(outs)})
        return shapes, types

    def _whole(
        self, order: list[Node], contexts: dict[int, Context], shapes: dict[Key, Any], types: dict[Key, Any]
    ) -> Graph:
        """Forward and backward as one graph; a gradient runs where the operator runs that it belongs to."""
        for head, entry in zip(self.gradients.heads, self.symbol.entries, strict=False):
            if head is not None:
                contexts[id(head)] = contexts[id(entry.node)]
        for number, node in self.gradients.serves.items():
            contexts[number] = contexts[id(node)]
        wanted = list(self.gradients.of.values())
        return Graph(list(self.symbol.entries), wanted, shapes, types, contexts, {id(node) for node in order})

    def _allocate_outputs(self) -> None:
        """Outputs have memory of their own; one that is an argument is copied."""
        self.outputs: list[NDArray] = []
        self._output_copies: list[Step] = []
        for entry in self.graph.outputs:
            made = self._array(entry)
            if entry.node.is_variable:
                self._output_copies.append(CopyStep(self.buffers[key_of(entry)], made._data))
            else:
                self.buffers[key_of(entry)] = made._data
            self.outputs.append(made)

    def _array(self, entry: Entry) -> NDArray:
        key, graph = key_of(entry), self.graph
        return zeros(graph.shapes[key], graph.contexts[id(entry.node)], graph.types[key])

    def _allocate_heads(self) -> None:
        self.heads: list[NDArray | None] = []
        for head in self.gradients.heads:
            made = self._array(Entry(head, 0)) if head is not None and (id(head), 0) in self._read else None
            self.heads.append(made)
            if head is not None and made is not None:
                self.buffers[id(head), 0] = made._data

    def _place_gradients(
        self, wanted: dict[int, tuple[int, str]], made: set[int]
    ) -> list[tuple[Key | None, Buffer, str]]:
        """Let the last step of an argument's gradient write straight into its array where that is right.

        The rest is returned: (value or None for zero, array, requirement), done after all other steps.
        """
        later: list[tuple[Key | None, Buffer, str]] = []
        entries = dict(zip(self.gradients.of, self.graph.gradients, strict=True))
        for node_id, (number, req) in wanted.items():
            array = self.bound.gradients[number]
            assert array is not None
            entry = entries.get(node_id)
            key = None if entry is None else key_of(entry)
            if key is not None and req == "write" and key[0] in made and key not in self.buffers:
                self.buffers[key] = array._buffer  # which may hold no values: it will be written
            elif key is not None or req == "write":
                later.append((key, array._buffer, req))
        return later

    def _place_placeholders(self) -> None:
        """What stands for a shape gets a buffer without memory."""
        for node in self.graph.order():
            if dead_branches.is_placeholder(node):
                device = self.graph.contexts[id(node)].memory
                nothing = allocate((0,), np.dtype(np.float32), device).flat
                self.buffers[id(node), 0] = Buffer(nothing, self.graph.shapes[id(node), 0], device)

    def _place_partial(self, nodes: list[Node]) -> None:
        """An output of which the operator may leave parts as they are has memory of its own, zeros at first."""
        for node in nodes:
            assert node.op is not None
            if node.op.partial is not None and node.op.partial(node.params):
                for index in range(node.output_count()):
                    self.buffers.setdefault((id(node), index), self._array(Entry(node, index))._data)

    def _unused(self, nodes: list[Node]) -> set[Key]:
        """Gradient outputs that nobody reads: they are neither computed nor given memory."""
        return {
            (id(node), i) for node in nodes if node.primal is not None
            for i in range(len(node.primal.inputs)) if (id(node), i) not in self._read
        }

    def _place_values(self) -> None:
        """Take the plan's arenas from the pool that executors share, and cut the values out of them."""
        arenas = {context: self.pool.arena(context, size).memory for context, size in self.plan.arenas.items()}
        for key, place in self.plan.place.items():
            shape, dtype = self.graph.shapes[key], np.dtype(self.graph.types[key])
            memory = arenas[place.context] if place.home is None else self.buffers[place.home]
            self.buffers[key] = part(memory, place.offset, dtype, shape)

    def _reads(self, node: Node) -> list[Buffer]:
        return [self.buffers[id(source), index] for source, index in node.inputs]

    def _forward_step(self, node: Node) -> ForwardStep:
        assert node.op is not None
        outputs = [self.buffers[id(node), i] for i in range(node.output_count())]
        kind: type[ForwardStep] = ForwardStep
        if (id(node), 0) in self.plan.views:
            kind = ViewStep
        elif node.op.name == devices.COPY:
            kind = TransferStep
        reads, context = self._reads(node), self.graph.contexts[id(node)]
        own = self._own[id(node.params)] = node.op.own(node.params, context, reads)
        return kind(node, reads, outputs, context, own)

    def _step(self, node: Node) -> Step:
        if node.primal is None:
            return self._forward_step(node)
        wanted = [self.buffers.get((id(node), i)) for i in range(node.output_count())]
        kind = ViewBackwardStep if (id(node), 0) in self.plan.views else BackwardStep
        return kind(node, self._reads(node), wanted, self.graph.contexts[id(node)], self._own.get(id(node.params)))


def _require_states_near(order: list[Node], contexts: dict[int, Context]) -> None:
    """An operator updates its states in place, so they are where it runs."""
    for node in order:
        if node.op is None or not node.op.aux:
            continue
        for name, entry in zip(node.signature.inputs, node.inputs, strict=True):
            if name in node.op.aux and contexts[id(entry.node)] != contexts[id(node)]:
                raise refusal(
                    "Executor/state-context",
                    f"{entry.node.name} is in {contexts[id(entry.node)]}, but {node.name}, which updates it, runs"
                    f" on {contexts[id(node)]}; give array.as_in_context({contexts[id(node)]})",
                )
