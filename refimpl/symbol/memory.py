"""The memory plan: which values share memory, decided once at bind.

[memory/lifetime] A value holds its memory from the step that writes it to the last step that reads it. Values
of the forward pass that the backward pass reads are held for good, because backward may run again.

[memory/inplace] Where the page allows it, a step writes over an input that nobody reads afterwards.

The values of one context are in one arena; ``arrangement.py`` chooses their offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..base import asked_for, decides
from ..context import Context
from ..kernels.foundation import Shape, size_of
from .arrangement import Block, arrange, packing_for
from .graph import Graph, Key
from .ir import Node

SWITCH = "REFIMPL_MEMORY_PLAN"
MODES = {
    "keep": "what backward reads of forward is kept, so that backward can run again",
    "once": "forward gives up its values as backward reads them: one backward per forward",
    "off": "every value has memory of its own",
}
"""The values of ``REFIMPL_MEMORY_PLAN`` and their meanings."""

ALIGNMENT = 64
OUTPUTS_USED = 8  # the most outputs whose memory other values may use before the output is written


def mode() -> str:
    """The value of ``REFIMPL_MEMORY_PLAN``.

    Raises:
        MXNetError: the value is none of ``MODES``.
    """
    return asked_for("memory/mode", SWITCH, MODES)


class Allocation(NamedTuple):
    """``size`` bytes at ``offset`` of the arena of ``context``, or of the memory of an ``output``."""

    context: Context
    offset: int
    size: int
    output: Key | None = None


@decides("memory/described")
class Plan:
    """The places of values in memory: ``laid`` has the blocks, ``arenas`` the bytes that each context needs.

    ``place`` has the allocation of each value, ``lifetimes`` the first and the last step at which its memory is used.
    ``views`` are the values that are another value under another shape; they need no step.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.laid: list[Block] = []
        self.arenas: dict[Context, int] = {}
        self.view_numbers: set[int] = set()
        self.requested = 0
        """Bytes of the planned values if each had its own memory; values in ``pinned`` are not planned."""

    @cached_property
    def _keys(self) -> dict[int, Key]:
        """The key of each value that a step computes, by its number."""
        forward, backward = self._graph.steps()
        return {
            number: (id(node), index) for node in (*forward, *backward)
            for index, number in enumerate(self._graph.values.made_by(node))
        }

    @cached_property
    def place(self) -> dict[Key, Allocation]:
        """Where each value lies."""
        found = {}
        for block in self.laid:
            output = None if block.output is None else self._keys[block.output]
            place = Allocation(block.context, block.offset, block.size, output)
            found.update({self._keys[number]: place for number in block.values})
        return found

    @cached_property
    def lifetimes(self) -> dict[Key, tuple[int, int]]:
        """The first and the last step at which the memory of each value is used."""
        return {self._keys[number]: (block.first, block.last) for block in self.laid for number in block.values}

    @cached_property
    def views(self) -> set[Key]:
        """The values that are another value under another shape."""
        return {self._keys[number] for number in self.view_numbers}

    @property
    def total(self) -> int:
        """Bytes of all arenas."""
        return sum(self.arenas.values())

    @property
    def blocks(self) -> list[tuple[Context, int]]:
        """The distinct (context, offset) where a value of an arena begins."""
        inside = [p for p in self.place.values() if p.output is None]
        return sorted({(p.context, p.offset) for p in inside}, key=lambda b: (str(b[0]), b[1]))

    def describe(self) -> str:
        """The size of the plan in one line."""
        return (
            f"{len(self.place)} values in {len(self.blocks)} blocks: {self.total} bytes"
            f" instead of {self.requested}"
        )

    def table(self, nodes: Iterable[Node]) -> str:
        """One line per value of ``nodes``: its steps, its bytes and its name."""
        lines = ["context   steps      offset       bytes  value"]
        for node in nodes:
            for index in range(node.output_count()):
                place = self.place.get((id(node), index))
                if place is not None:
                    first, last = self.lifetimes[id(node), index]
                    lines.append(
                        f"{place.context!s:8} {first:4}-{last:<4} {place.offset:9} {place.size:11}"
                        f"  {node.entry_name(index)}{' in an output' if place.output else ''}"
                    )
        return "\n".join(lines)


Pairs = tuple[tuple[int, int], ...]
"""(position of an input, index of an output) that may share memory."""


@lru_cache(4096)
def _byte_count(shape: Shape, kind: np.dtype) -> int:
    return size_of(shape, kind) * kind.itemsize


class _Planner:
    """Goes through the steps and makes blocks. Lists have one item per value of the graph, by number."""

    def __init__(self, graph: Graph, pinned: set[int], held: Iterable[int], how: str) -> None:
        self.graph, self.pinned, self.how = graph, pinned, how
        self.forward, backward = graph.steps()
        self.nodes, self.reads = [*self.forward, *backward], graph.reads
        self.end = len(self.nodes)
        self.shapes: list[Any] = graph.shapes.found
        self.types: list[Any] = graph.types.found
        self.blocks: list[Block] = []
        self.of: list[Block | None] = [None] * graph.values.count
        self.bytes = [0] * graph.values.count  # of the values of the steps so far
        self.plan = Plan(graph)
        self.last_use = self._last_uses(held)
        self.changed = self._changed()

    @decides("memory/lifetime")
    def _last_uses(self, held: Iterable[int]) -> list[int]:
        """The last step that reads each value, -1 without a reader; the values ``held`` are read after all steps."""
        found, middle = [-1] * len(self.of), len(self.forward)
        for step, reads in enumerate(self.reads):
            for number in reads:
                found[number] = step
        if self.how == "keep":
            for node in self.forward:
                for number in self.graph.values.made_by(node):
                    if found[number] >= middle:
                        found[number] = self.end
        for number in held:
            found[number] = self.end
        return found

    def _changed(self) -> set[int]:
        """The numbers of values that some operator changes in place."""
        found: set[int] = set()
        for node, reads in zip(self.nodes, self.reads, strict=True):
            assert node.op is not None
            if node.op.mutates:
                names = node.signature.inputs if node.primal is None else node.signature.reads
                found.update(n for n, name in zip(reads, names, strict=True) if name in node.op.mutates)
        return found

    def _alike(self, block: Block, a: int, b: int, context: Context) -> bool:
        """Whether value ``b`` may take the memory of value ``a`` in ``block``: same bytes, dtype and context."""
        return (
            block.used == self.bytes[b] and self.types[a] == self.types[b]
            and (block.context is context or block.context == context)
        )

    def _join(self, number: int, block: Block, step: int) -> None:
        block.last = max(block.last, self.last_use[number], step)
        block.values.append(number)
        self.of[number] = block

    @decides("memory/views")
    def _view(self, step: int, node: Node, context: Context) -> None:
        """Let the output of a view be the memory of its input."""
        assert node.op is not None
        if not node.inputs or (node.primal is not None and node.op.loss):
            return
        source, target = self.reads[step][0], self.graph.values.made_by(node)[0]
        block = self.of[source]
        if (
            block is not None and target not in self.pinned and not {source, target} & self.changed
            and self._alike(block, source, target, context)
        ):
            self._join(target, block, step)
            self.plan.view_numbers.add(target)

    @decides("memory/inplace")
    def _in_place(self, step: int, numbers: range, pairs: Pairs, context: Context) -> None:
        """Let outputs reuse the memory of inputs that no later step reads."""
        taken: list[Block] = []
        for index in sorted({index for _, index in pairs}) if len(pairs) != 1 else (pairs[0][1],):
            number = numbers[index]
            if self.of[number] is not None or number in self.pinned:
                continue
            for block in self._overwritable(step, number, index, pairs, context):
                if block not in taken:
                    self._join(number, block, step)
                    taken.append(block)
                    break

    def _overwritable(self, step: int, number: int, index: int, pairs: Pairs, context: Context) -> list[Block]:
        """The blocks that output ``index``, which is value ``number``, may reuse: no later step reads them."""
        found, of, reads = [], self.of, self.reads[step]
        for position, output in pairs:
            block = of[reads[position]]
            if output != index or block is None or block.last != step:
                continue
            if self._alike(block, reads[position], number, context) and (
                len(reads) == 1
                # a list is faster
                or all([(i, index) in pairs for i, read in enumerate(reads) if of[read] is block])  # noqa: C419
            ):
                found.append(block)
        return found

    @decides("memory/in-outputs")
    def _use_outputs(self) -> None:
        """Place values in the memory of an output if no step reads them after the output is written."""
        values = self.graph.values
        written = {id(node): step for step, node in enumerate(self.forward)}
        outputs = {values.of(e): e for e in self.graph.outputs if not e.node.is_variable}
        for number in sorted(outputs, key=self.bytes.__getitem__, reverse=True)[:OUTPUTS_USED]:
            node, index = outputs[number]
            context, space, step = self.graph.contexts[id(node)], self.bytes[number], written[id(node)]
            over = self._overwritable(step, number, index, _pairs(node), context)[:1]
            earlier = [
                b for b in self.blocks
                if b.last < step and (b.context is context or b.context == context) and b not in over
            ]
            packing = packing_for(earlier)
            for block in [*over, *sorted(earlier, key=lambda b: (-b.size, b.first))]:
                if packing.is_spent:
                    break
                if block.output is None and block.used <= space:
                    offset = packing.gap(block)
                    if offset + block.used <= space:
                        packing.put(block, offset)
                        block.output = number

    @decides("memory/plan-changes-nothing")
    def run(self) -> Plan:
        """Decide which values share a block, then the offset of every block."""
        of, last_use, pinned, shares = self.of, self.last_use, self.pinned, self.how != "off"
        bytes_of, shapes, types = self.bytes, self.shapes, self.types
        for step, node in enumerate(self.nodes):
            context, numbers, op = self.graph.contexts[id(node)], self.graph.values.made[id(node)], node.op
            assert op is not None
            for number in numbers:
                bytes_of[number] = _byte_count(shapes[number], types[number])
            if shares and op.view:
                self._view(step, node, context)
            if shares and (op.inplace if node.primal is None else op.inplace_backward):
                self._in_place(step, numbers, _pairs(node), context)
            for number in numbers:
                if number in pinned:
                    continue
                used = bytes_of[number]
                self.plan.requested += used
                if of[number] is None:
                    first, last = (step, max(step, last_use[number])) if shares else (0, self.end)
                    size = -(-used // ALIGNMENT) * ALIGNMENT
                    of[number] = block = Block(context, used, size, first, last, [number])
                    self.blocks.append(block)
        if shares:
            self._use_outputs()
        self._lay()
        return self.plan

    def _lay(self) -> None:
        """Choose the offset of each block in the arena of its context, except blocks inside outputs."""
        arenas: dict[Context, list[Block]] = {block.context: [] for block in self.blocks}
        for block in self.blocks:
            if block.output is None:
                arenas[block.context].append(block)
        for context, blocks in arenas.items():
            self.plan.arenas[context] = arrange(blocks)
        self.plan.laid = self.blocks


def _pairs(node: Node) -> Pairs:
    return node.signature.inplace if node.primal is None else node.signature.inplace_backward


def plan(graph: Graph, pinned: set[int], held: Iterable[int], how: str = "keep") -> Plan:
    """Allocate the outputs of all steps.

    Args:
        graph: the graph; its steps are its operators, forward first.
        pinned: the numbers of values that have their own memory, and are left out of the plan.
        held: the numbers of values that are read after the last step.
        how: one of ``MODES``.
    """
    return _Planner(graph, pinned, held, how).run()


__all__ = ["MODES", "Allocation", "Plan", "mode", "plan"]
