"""Program: what binding makes of a graph, in five steps that a reader can follow one by one.

1. infer     shapes and types of every value, from the bound arrays
2. derive    the gradient graph of the wanted arguments
3. place     outputs, head gradients and final gradients in arrays that others see
4. plan      blocks of memory for everything in between
5. list      the steps of forward and backward, with their buffers looked up
"""

from __future__ import annotations

from math import prod
from typing import Any

from .base import refusal
from .binding import Bound
from .context import Context
from .kernels.foundation import Buffer, allocate, known
from .ndarray import NDArray, zeros
from .steps import AddStep, BackwardStep, CopyStep, ForwardStep, Step, ZeroStep
from .symbol import Symbol, gradient, inference, memory
from .symbol.inference import Key, key_of
from .symbol.ir import Node


class Program:
    """A graph with memory: ``forward_steps`` and ``backward_steps`` to run, and the arrays around them.

    ``outputs`` are the arrays of the graph's outputs, ``heads`` those of their head gradients (None where
    the output is a loss), ``head_needed`` says which of them backward reads, ``plan`` is the memory plan.
    ``pool`` are the blocks, shared with the executor whose pool was given.
    """

    def __init__(self, symbol: Symbol, ctx: Context, bound: Bound, pool: list[Buffer]) -> None:
        self.symbol, self.ctx, self.bound, self.pool = symbol, ctx, bound, pool
        self.buffers: dict[Key, Buffer] = {}
        order = symbol.order()
        arguments, auxiliary = symbol._variables()
        for node, array in zip(
            [*arguments, *auxiliary], [*bound.arguments, *bound.auxiliary], strict=True
        ):
            self.buffers[id(node), 0] = array._data
        wanted = {
            id(node): (number, req)
            for number, (node, req) in enumerate(zip(arguments, bound.requirements, strict=True))
            if req != "null" and bound.gradients[number] is not None
        }
        self.gradients = gradient.build(symbol.entries, set(wanted)) if wanted else gradient.Gradients()
        shapes, types = self._infer(order)
        forward = [node for node in order if not node.is_variable]
        backward = [node for node in self.gradients.nodes if not node.is_variable]
        self._read = {key_of(e) for node in backward for e in node.inputs}
        self._read |= {key_of(e) for e in self.gradients.of.values()}
        self._allocate_outputs(shapes, types)
        self._allocate_heads(shapes, types)
        later = self._place_gradients(wanted)
        pinned = set(self.buffers) | self._unused(backward)
        held = {key for key, _, _ in later if key is not None}
        self.plan = memory.plan(forward, backward, shapes, types, pinned, held)
        self._place_blocks(shapes)
        self.forward_steps: list[Step] = [self._forward_step(node) for node in forward]
        self.forward_steps += self._output_copies
        self.backward_steps: list[Step] = [self._backward_step(node) for node in backward]
        self.backward_steps += [
            ZeroStep(target) if key is None
            else (AddStep if req == "add" else CopyStep)(self.buffers[key], target)
            for key, target, req in later
        ]
        self.head_needed = [
            head is not None and (id(head), 0) in self._read for head in self.gradients.heads
        ]

    def _infer(self, order: list[Node]) -> tuple[dict[Key, Any], dict[Key, Any]]:
        """Shapes and types of every value, the gradient graph included."""
        bound = {id(n): self.buffers[id(n), 0] for n in order if n.is_variable}
        shapes = inference.shapes(order, {number: b.shape for number, b in bound.items()})
        types = inference.types(order, {number: b.dtype for number, b in bound.items()})
        for head, entry in zip(self.gradients.heads, self.symbol.entries, strict=False):
            if head is not None:
                shapes[id(head), 0] = shapes[key_of(entry)]
                types[id(head), 0] = types[key_of(entry)]
        for node in self.gradients.nodes:
            if node.primal is not None:
                for index, entry in enumerate(node.primal.inputs):
                    shapes[id(node), index] = shapes[key_of(entry)]
                    types[id(node), index] = types[key_of(entry)]
            elif not node.is_variable:
                assert node.op is not None
                for table, rule in ((shapes, node.op.infer), (types, node.op.infer_type)):
                    ins = [table[key_of(e)] for e in node.inputs]
                    _, outs = rule(node.params, ins, [None] * node.output_count())
                    table.update({(id(node), i): value for i, value in enumerate(outs)})
        for node in order:
            for index in range(node.output_count()):
                if not known(shapes.get((id(node), index))):
                    raise refusal(
                        "Executor/known-shapes",
                        f"the shape of {node.entry_name(index)} cannot be inferred from the arguments",
                    )
        return shapes, types

    def _allocate_outputs(self, shapes: dict[Key, Any], types: dict[Key, Any]) -> None:
        """Outputs have memory of their own; one that is an argument is copied."""
        self.outputs: list[NDArray] = []
        self._output_copies: list[Step] = []
        made: dict[Key, NDArray] = {}
        for entry in self.symbol.entries:
            key = key_of(entry)
            if key not in made:
                made[key] = zeros(shapes[key], self.ctx, types[key])
                if entry.node.is_variable:
                    self._output_copies.append(CopyStep(self.buffers[key], made[key]._data))
                else:
                    self.buffers[key] = made[key]._data
            self.outputs.append(made[key])

    def _allocate_heads(self, shapes: dict[Key, Any], types: dict[Key, Any]) -> None:
        self.heads: list[NDArray | None] = []
        for head in self.gradients.heads:
            if head is None:
                self.heads.append(None)
                continue
            key = (id(head), 0)
            array = zeros(shapes[key], self.ctx, types[key])
            self.heads.append(array)
            self.buffers[key] = array._data

    def _place_gradients(self, wanted: dict[int, tuple[int, str]]) -> list[tuple[Key | None, Buffer, str]]:
        """Let the last step of an argument's gradient write straight into its array where that is right.

        The rest is returned: (value or None for zero, array, requirement), done after all other steps.
        """
        later: list[tuple[Key | None, Buffer, str]] = []
        made = {id(node) for node in self.gradients.nodes if not node.is_variable}
        for node_id, (number, req) in wanted.items():
            array = self.bound.gradients[number]
            assert array is not None
            entry = self.gradients.of.get(node_id)
            key = None if entry is None else key_of(entry)
            if key is not None and req == "write" and key[0] in made and key not in self.buffers:
                self.buffers[key] = array._data
            elif key is not None or req == "write":
                later.append((key, array._data, req))
        return later

    def _unused(self, backward: list[Node]) -> set[Key]:
        """Gradient outputs that nobody reads: they are neither computed nor given memory."""
        return {
            (id(node), i) for node in backward if node.primal is not None
            for i in range(node.output_count()) if (id(node), i) not in self._read
        }

    def _place_blocks(self, shapes: dict[Key, Any]) -> None:
        """Take the plan's blocks from the pool that executors share, growing it where needed."""
        device = self.ctx.memory
        spare = list(self.pool)
        blocks: list[Buffer] = []
        for size, dtype in self.plan.blocks:
            fitting = [b for b in spare if b.dtype == dtype and b.size >= size and b.device == device]
            block = min(fitting, key=lambda b: b.size) if fitting else allocate((size,), dtype, device)
            if fitting:
                spare.remove(block)
            else:
                self.pool.append(block)
            blocks.append(block)
        for key, number in self.plan.place.items():
            shape = shapes[key]
            self.buffers[key] = Buffer(blocks[number].flat[: prod(shape)], shape, device)

    def _reads(self, node: Node) -> list[Buffer]:
        return [self.buffers[key_of(entry)] for entry in node.inputs]

    def _forward_step(self, node: Node) -> ForwardStep:
        outputs = [self.buffers[id(node), i] for i in range(node.output_count())]
        return ForwardStep(node, self._reads(node), outputs, self.ctx)

    def _backward_step(self, node: Node) -> Step:
        if node.primal is None:
            return self._forward_step(node)
        wanted = [self.buffers.get((id(node), i)) for i in range(node.output_count())]
        return BackwardStep(node, self._reads(node), wanted)
