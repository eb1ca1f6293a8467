"""The memory plan: which values share memory, decided once at bind.

[memory/lifetime] A value holds its memory from the step that writes it to the last step that reads it. Values
of the forward pass that the backward pass reads are held for good, because backward may run again.

[memory/inplace] Where the page allows it, a step writes over an input that nobody reads afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from .inference import Key, key_of
from .ir import Entry, Node

FOREVER = 1 << 60


@dataclass
class Plan:
    """``place`` says which block holds a value; ``blocks`` are (elements, dtype)."""

    blocks: list[tuple[int, np.dtype]] = field(default_factory=list)
    place: dict[Key, int] = field(default_factory=dict)
    requested: int = 0
    """Bytes that one block per value would take."""

    @property
    def total(self) -> int:
        """Bytes of all blocks."""
        return sum(size * dtype.itemsize for size, dtype in self.blocks)

    def describe(self) -> str:
        """One line for people."""
        return (
            f"{len(self.place)} values in {len(self.blocks)} blocks: {self.total} bytes"
            f" instead of {self.requested}"
        )


def _inplace_pairs(node: Node) -> list[tuple[Entry, int]]:
    """(input entry, output index) pairs that may share memory."""
    op = node.op
    assert op is not None
    if node.primal is None:
        return [(node.inputs[i], o) for i, o in op.inplace if i < len(node.inputs)]
    names = op.input_names(node.params)
    reads = node.read_names()
    return [
        (node.inputs[reads.index(read)], names.index(name))
        for read, name in op.inplace_backward
        if read in reads and name in names
    ]


class _Planner:
    def __init__(self, shapes: dict[Key, tuple[int, ...]], types: dict[Key, np.dtype], pinned: set[Key]) -> None:
        self.shapes, self.types, self.pinned = shapes, types, pinned
        self.plan = Plan()
        self.free: dict[np.dtype, list[int]] = {}
        self.last_use: dict[Key, int] = {}

    def lifetimes(self, forward: Sequence[Node], backward: Sequence[Node], held: set[Key]) -> None:
        """Find the last step that reads each value; those ``held`` are read after the last step."""
        made_forward: set[Key] = set()
        for step, node in enumerate([*forward, *backward]):
            if step < len(forward):
                made_forward.update((id(node), i) for i in range(node.output_count()))
            for entry in node.inputs:
                key = key_of(entry)
                again = step >= len(forward) and key in made_forward
                self.last_use[key] = FOREVER if again else max(step, self.last_use.get(key, 0))
        self.last_use.update(dict.fromkeys(held, FOREVER))

    def take(self, key: Key) -> None:
        """Give a value the smallest free block that holds it, or a new one."""
        size, dtype = prod(self.shapes[key]), np.dtype(self.types[key])
        self.plan.requested += size * dtype.itemsize
        free = self.free.setdefault(dtype, [])
        fitting = [block for block in free if self.plan.blocks[block][0] >= size]
        if fitting:
            best = min(fitting, key=lambda block: self.plan.blocks[block][0])
            free.remove(best)
            self.plan.place[key] = best
        else:
            self.plan.place[key] = len(self.plan.blocks)
            self.plan.blocks.append((size, dtype))

    def give(self, key: Key) -> None:
        """Return a value's block."""
        block = self.plan.place[key]
        self.free.setdefault(self.plan.blocks[block][1], []).append(block)

    def share(self, step: int, node: Node) -> set[Key]:
        """Let outputs take over the blocks of inputs that die here; the inputs' keys."""
        taken: set[Key] = set()
        for entry, index in _inplace_pairs(node):
            source, target = key_of(entry), (id(node), index)
            if (
                source in self.plan.place and target not in self.plan.place
                and source not in taken and target not in self.pinned
                and self.last_use.get(source) == step
                and prod(self.shapes[source]) == prod(self.shapes[target])
                and self.types[source] == self.types[target]
                and sum(key_of(e) == source for e in node.inputs) == 1
            ):
                self.plan.place[target] = self.plan.place[source]
                size = prod(self.shapes[target]) * np.dtype(self.types[target]).itemsize
                self.plan.requested += size
                taken.add(source)
        return taken

    def run(self, forward: Sequence[Node], backward: Sequence[Node], held: set[Key]) -> Plan:
        self.lifetimes(forward, backward, held)
        for step, node in enumerate([*forward, *backward]):
            taken = self.share(step, node)
            outputs = [(id(node), i) for i in range(node.output_count())]
            for key in outputs:
                if key not in self.pinned and key not in self.plan.place:
                    self.take(key)
            for key in {key_of(entry) for entry in node.inputs} - taken:
                if key in self.plan.place and self.last_use[key] == step:
                    self.give(key)
            for key in outputs:
                if key in self.plan.place and key not in self.last_use:
                    self.give(key)
        return self.plan


def plan(
    forward: Sequence[Node],
    backward: Sequence[Node],
    shapes: dict[Key, tuple[int, ...]],
    types: dict[Key, np.dtype],
    pinned: set[Key],
    held: set[Key],
) -> Plan:
    """Assign blocks to the outputs of all steps except the ``pinned`` ones, which have memory of their own.

    ``held`` are values that something reads after the last step.
    """
    return _Planner(shapes, types, pinned).run(forward, backward, held)
