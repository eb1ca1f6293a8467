"""The memory plan: which values share memory, decided once at bind.

[memory/lifetime] A value holds its memory from the step that writes it to the last step that reads it. Values
of the forward pass that the backward pass reads are held for good, because backward may run again.

[memory/inplace] Where the page allows it, a step writes over an input that nobody reads afterwards.

The values of one context lie in one arena; ``arrangement.py`` says where in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import size_of
from .arrangement import Block, arrange, packing_for
from .graph import Graph
from .inference import Key, key_of
from .ir import Node

SWITCH = "REFIMPL_MEMORY_PLAN"
MODES = {
    "keep": "what backward reads of forward is kept, so that backward can run again",
    "once": "forward gives up its values as backward reads them: one backward per forward",
    "off": "every value has memory of its own",
}
"""What ``REFIMPL_MEMORY_PLAN`` may be, and what it means."""

ALIGNMENT = 64
OUTPUTS_USED = 8  # outputs whose memory values may use before they are written


def mode() -> str:
    """The plan that the environment asks for.

    Raises:
        MXNetError: it is none of ``MODES``.
    """
    asked = os.environ.get(SWITCH, "keep")
    if asked not in MODES:
        raise refusal("memory/mode", f"{SWITCH} must be one of {', '.join(MODES)}, it is {asked!r}")
    return asked


class Allocation(NamedTuple):
    """``size`` bytes at ``offset`` of the arena of ``context``, or of the memory of an ``output``."""

    context: Context
    offset: int
    size: int
    output: Key | None = None


@dataclass
@decides("memory/described")
class Plan:
    """``place`` says where each value lies, ``arenas`` how many bytes each context needs.

    ``lifetimes`` holds the first and the last step at which the memory of a value is used; ``views`` the values that
    are another value under another shape, and need no step.
    """

    place: dict[Key, Allocation] = field(default_factory=dict)
    arenas: dict[Context, int] = field(default_factory=dict)
    lifetimes: dict[Key, tuple[int, int]] = field(default_factory=dict)
    views: set[Key] = field(default_factory=set)
    requested: int = 0
    """Bytes that memory of its own for every value would take."""

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
        """One line for people."""
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


def _inplace_pairs(node: Node) -> tuple[tuple[int, int], ...]:
    """(position of an input, index of an output) that may share memory."""
    return node.signature.inplace if node.primal is None else node.signature.inplace_backward


def _changed(nodes: Iterable[Node]) -> set[Key]:
    """Values that some operator changes in place."""
    found: set[Key] = set()
    for node in nodes:
        op = node.op
        if op is not None and op.mutates:
            names = node.signature.inputs if node.primal is None else node.signature.reads
            found.update(key_of(e) for e, name in zip(node.inputs, names, strict=True) if name in op.mutates)
    return found


class _Planner:
    def __init__(self, graph: Graph, pinned: set[Key], held: set[Key], how: str) -> None:
        self.graph, self.pinned, self.how = graph, pinned, how
        self.forward, self.backward = graph.steps()
        self.end = len(self.forward) + len(self.backward)
        self.blocks: list[Block] = []
        self.of: dict[Key, Block] = {}
        self.plan = Plan()
        self.last_use = self._last_uses(held)
        self.changed = _changed([*self.forward, *self.backward])

    @decides("memory/lifetime")
    def _last_uses(self, held: set[Key]) -> dict[Key, int]:
        """The last step that reads each value; ``held`` ones are read after all steps."""
        found: dict[Key, int] = {}
        for step, node in enumerate([*self.forward, *self.backward]):
            keeps = self.how == "keep" and step >= len(self.forward)
            for source, index in node.inputs:
                found[id(source), index] = self.end if keeps and id(source) in self.graph.forward else step
        found.update(dict.fromkeys(held, self.end))
        return found

    def _bytes(self, key: Key) -> int:
        kind = np.dtype(self.graph.types[key])
        return size_of(self.graph.shapes[key], kind) * kind.itemsize

    def _alike(self, a: Key, b: Key, context: Context) -> bool:
        types, block = self.graph.types, self.of[a]
        return types[a] == types[b] and block.used == self._bytes(b) and block.context == context

    def _join(self, key: Key, block: Block, step: int) -> None:
        block.last = max(block.last, self.last_use.get(key, step))
        block.keys.append(key)
        self.of[key] = block

    @decides("memory/views")
    def _view(self, step: int, node: Node, context: Context) -> None:
        """Let the output of a view be the memory of its input."""
        assert node.op is not None
        if not node.inputs or (node.primal is not None and node.op.loss):
            return
        source, target = key_of(node.inputs[0]), (id(node), 0)
        if (
            source in self.of and target not in self.pinned and not {source, target} & self.changed
            and self._alike(source, target, context)
        ):
            self._join(target, self.of[source], step)
            self.plan.views.add(target)

    @decides("memory/inplace")
    def _in_place(self, step: int, node: Node, context: Context) -> None:
        """Let outputs reuse the memory of inputs that no later step reads."""
        pairs = _inplace_pairs(node)
        taken: set[int] = set()
        for index in sorted({index for _, index in pairs}):
            target = (id(node), index)
            if target in self.of or target in self.pinned:
                continue
            for block in self._overwritable(step, node, index, context):
                if id(block) not in taken:
                    self._join(target, block, step)
                    taken.add(id(block))
                    break

    def _overwritable(self, step: int, node: Node, index: int, context: Context) -> list[Block]:
        """The blocks that the output may reuse, because no later step reads them."""
        pairs, found = _inplace_pairs(node), []
        for position in [i for i, o in pairs if o == index]:
            source = key_of(node.inputs[position])
            block = self.of.get(source)
            if block is None or block.last != step or not self._alike(source, (id(node), index), context):
                continue
            readers = [i for i, (other, at) in enumerate(node.inputs) if self.of.get((id(other), at)) is block]
            if all([(reader, index) in pairs for reader in readers]):  # noqa: C419  # a list is faster
                found.append(block)
        return found

    @decides("memory/in-outputs")
    def _use_outputs(self) -> None:
        """Let values that nobody reads once an output is written lie in the memory of that output."""
        written = {id(node): step for step, node in enumerate(self.forward)}
        outputs = {key_of(e): e.node for e in self.graph.outputs if not e.node.is_variable}
        for key in sorted(outputs, key=self._bytes, reverse=True)[:OUTPUTS_USED]:
            node, context, space = outputs[key], self.graph.contexts[key[0]], self._bytes(key)
            step = written[id(node)]
            over = self._overwritable(step, node, key[1], context)[:1]
            earlier = [b for b in self.blocks if b.context == context and b.last < step and b not in over]
            packing = packing_for(earlier)
            for block in [*over, *sorted(earlier, key=lambda b: (-b.size, b.first))]:
                if packing.is_spent:
                    break
                if block.output is None and block.used <= space:
                    offset = packing.gap(block)
                    if offset + block.used <= space:
                        packing.put(block, offset)
                        block.output = key

    @decides("memory/plan-changes-nothing")
    def run(self) -> Plan:
        """Decide which values share a block, then where every block lies."""
        for step, node in enumerate([*self.forward, *self.backward]):
            context = self.graph.contexts[id(node)]
            if self.how != "off":
                if node.op is not None and node.op.view:
                    self._view(step, node, context)
                if _inplace_pairs(node):
                    self._in_place(step, node, context)
            for key in [(id(node), i) for i in range(node.output_count())]:
                if key in self.pinned:
                    continue
                used = self._bytes(key)
                self.plan.requested += used
                if key not in self.of:
                    last = self.last_use.get(key, step)
                    first, last = (0, self.end) if self.how == "off" else (step, last)
                    size = -(-used // ALIGNMENT) * ALIGNMENT
                    self.of[key] = block = Block(context, used, size, first, last, [key])
                    self.blocks.append(block)
        if self.how != "off":
            self._use_outputs()
        for context in {block.context: None for block in self.blocks}:
            self.plan.arenas[context] = arrange([b for b in self.blocks if b.context == context and b.output is None])
        for block in self.blocks:
            place = Allocation(block.context, block.offset, block.size, block.output)
            for key in block.keys:
                self.plan.place[key], self.plan.lifetimes[key] = place, (block.first, block.last)
        return self.plan


def plan(graph: Graph, pinned: set[Key], held: set[Key], how: str = "keep") -> Plan:
    """Allocate the outputs of all steps.

    Args:
        graph: the graph; its steps are its operators, forward first.
        pinned: values that are left out, because they have memory of their own.
        held: values that are read after the last step.
        how: one of ``MODES``.
    """
    return _Planner(graph, pinned, held, how).run()


__all__ = ["MODES", "Allocation", "Plan", "mode", "plan"]
