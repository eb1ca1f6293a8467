"""The memory plan: which values share memory, decided once at bind.

[memory/lifetime] A value holds its memory from the step that writes it to the last step that reads it. Values
of the forward pass that the backward pass reads are held for good, because backward may run again.

[memory/inplace] Where the page allows it, a step writes over an input that nobody reads afterwards.

The values of one context lie in one arena. Two values whose lives overlap get disjoint places in it, each the
smallest gap that holds it; whoever is large, or lives long, chooses first (Pisarchyk and Lee, 2020).
"""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..base import refusal
from ..context import Context
from ..kernels.foundation import size_of
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
LODGINGS = 8  # outputs whose memory values may use before they are written
ROUNDS, MANY, WASTE = 20, 500, 0.005  # attempts; values beyond which there is one; what is good enough


def mode() -> str:
    """The plan that the environment asks for.

    Raises:
        MXNetError: it is none of ``MODES``.
    """
    asked = os.environ.get(SWITCH, "keep")
    if asked not in MODES:
        raise refusal("memory/mode", f"{SWITCH} must be one of {', '.join(MODES)}, it is {asked!r}")
    return asked


class Place(NamedTuple):
    """``size`` bytes at ``offset`` of the arena of ``context``, or of the output ``home``."""

    context: Context
    offset: int
    size: int
    home: Key | None = None


@dataclass
class Plan:
    """``place`` says where a value lies, ``arenas`` how many bytes each context needs.

    ``lives`` holds the first and the last step of what lies at a value's place; ``views`` the values that are
    another value under another shape, and need no step.
    """

    place: dict[Key, Place] = field(default_factory=dict)
    arenas: dict[Context, int] = field(default_factory=dict)
    lives: dict[Key, tuple[int, int]] = field(default_factory=dict)
    views: set[Key] = field(default_factory=set)
    requested: int = 0
    """Bytes that memory of its own for every value would take."""

    @property
    def total(self) -> int:
        """Bytes of all arenas."""
        return sum(self.arenas.values())

    @property
    def blocks(self) -> list[tuple[Context, int]]:
        """The distinct places where a value begins: (context, offset)."""
        inside = [p for p in self.place.values() if p.home is None]
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
                    first, last = self.lives[id(node), index]
                    lines.append(
                        f"{place.context!s:8} {first:4}-{last:<4} {place.offset:9} {place.size:11}"
                        f"  {node.entry_name(index)}{' in an output' if place.home else ''}"
                    )
        return "\n".join(lines)


@dataclass(eq=False)
class _Tenant:
    """Values that lie at one place, one after the other or as views of each other."""

    context: Context
    used: int
    size: int
    """``used`` bytes, rounded up."""
    first: int
    last: int
    keys: list[Key]
    offset: int = 0
    home: Key | None = None


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
        self.tenants: list[_Tenant] = []
        self.of: dict[Key, _Tenant] = {}
        self.plan = Plan()
        self.last_use = self._last_uses(held)
        self.changed = _changed([*self.forward, *self.backward])

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
        types, tenant = self.graph.types, self.of[a]
        return types[a] == types[b] and tenant.used == self._bytes(b) and tenant.context == context

    def _join(self, key: Key, tenant: _Tenant, step: int) -> None:
        tenant.last = max(tenant.last, self.last_use.get(key, step))
        tenant.keys.append(key)
        self.of[key] = tenant

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

    def _in_place(self, step: int, node: Node, context: Context) -> None:
        """Let outputs take over the memory of inputs that nobody reads after this step."""
        pairs = _inplace_pairs(node)
        taken: set[int] = set()
        for index in sorted({index for _, index in pairs}):
            target = (id(node), index)
            if target in self.of or target in self.pinned:
                continue
            for tenant in self._overwritable(step, node, index, context):
                if id(tenant) not in taken:
                    self._join(target, tenant, step)
                    taken.add(id(tenant))
                    break

    def _overwritable(self, step: int, node: Node, index: int, context: Context) -> list[_Tenant]:
        """Whose memory the output may take over, because nobody reads it after this step."""
        pairs, found = _inplace_pairs(node), []
        for position in [i for i, o in pairs if o == index]:
            source = key_of(node.inputs[position])
            tenant = self.of.get(source)
            if tenant is None or tenant.last != step or not self._alike(source, (id(node), index), context):
                continue
            readers = [i for i, (other, at) in enumerate(node.inputs) if self.of.get((id(other), at)) is tenant]
            if all([(reader, index) in pairs for reader in readers]):  # noqa: C419  # a list is faster
                found.append(tenant)
        return found

    def _lodge(self) -> None:
        """Let values that are gone when an output is written lie in the memory of that output."""
        births = {id(node): step for step, node in enumerate(self.forward)}
        outputs = {key_of(e): e.node for e in self.graph.outputs if not e.node.is_variable}
        for key in sorted(outputs, key=self._bytes, reverse=True)[:LODGINGS]:
            node, context, space = outputs[key], self.graph.contexts[key[0]], self._bytes(key)
            birth = births[id(node)]
            over = self._overwritable(birth, node, key[1], context)[:1]
            free = [t for t in self.tenants if t.context == context and t.last < birth and t not in over]
            pile = _Pile()
            for tenant in [*over, *sorted(free, key=lambda t: (-t.size, t.first))]:
                if tenant.home is None and tenant.used <= space:
                    offset = pile.gap(tenant)
                    if offset + tenant.used <= space:
                        pile.put(tenant, offset)
                        tenant.home = key

    def run(self) -> Plan:
        """Decide who shares, then where everything lies."""
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
                    self.of[key] = tenant = _Tenant(context, used, size, first, last, [key])
                    self.tenants.append(tenant)
        if self.how != "off":
            self._lodge()
        for context in {tenant.context: None for tenant in self.tenants}:
            self.plan.arenas[context] = arrange([t for t in self.tenants if t.context == context and t.home is None])
        for tenant in self.tenants:
            place = Place(tenant.context, tenant.offset, tenant.size, tenant.home)
            for key in tenant.keys:
                self.plan.place[key], self.plan.lives[key] = place, (tenant.first, tenant.last)
        return self.plan


def needed(tenants: Sequence[_Tenant]) -> int:
    """Bytes below which no arrangement can go: the most that lives at one step."""
    change = [0] * (max((t.last for t in tenants), default=0) + 2)
    for tenant in tenants:
        change[tenant.first] += tenant.size
        change[tenant.last + 1] -= tenant.size
    return max(accumulate(change))


class _Pile:
    """Tenants with an offset each; whose lives overlap, lie apart."""

    def __init__(self) -> None:
        self.placed: list[tuple[int, int, int, int]] = []
        """(begin, end, first step, last step) of each, in the order of their places."""
        self.height = 0
        """Bytes that all need together."""

    def gap(self, tenant: _Tenant) -> int:
        """The offset of the smallest gap that holds one more, on top where there is none."""
        first, last, size = tenant.first, tenant.last, tenant.size
        found, least, top = -1, 0, 0
        for begin, end, born, dead in self.placed:
            if born <= last and dead >= first:
                room = begin - top
                if room >= size and (found < 0 or room < least):
                    found, least = top, room
                if end > top:  # noqa: PLR1730  # max() would cost as much as all the rest
                    top = end
        return top if found < 0 else found

    def put(self, tenant: _Tenant, offset: int) -> None:
        """Place one more."""
        tenant.offset, end = offset, offset + tenant.size
        insort(self.placed, (offset, end, tenant.first, tenant.last))
        self.height = max(self.height, end)


def fit(tenants: Sequence[_Tenant]) -> int:
    """Place tenants in the given order; the bytes that all need together."""
    pile = _Pile()
    for tenant in tenants:
        pile.put(tenant, pile.gap(tenant))
    return pile.height


ORDERS = (
    lambda t: (-t.size, t.first),  # the largest first: nearly always enough
    lambda t: (-t.last, -t.size, t.first),  # those that are kept for good first
    lambda t: (-t.size, t.last),
    lambda t: t.first,
)


def arrange(tenants: Sequence[_Tenant]) -> int:
    """Give each tenant an offset; the bytes that all need together.

    Every order is tried until hardly anything is wasted, ``ROUNDS`` times; after each round, whoever lies on top
    moves to the front of that order.
    """
    enough = needed(tenants) * (1 + WASTE)
    best, chosen = -1, list(tenants)
    orders = [sorted(tenants, key=key) for key in ORDERS]
    for _ in range(ROUNDS if len(tenants) <= MANY else 1):
        for order in orders:
            total = fit(order)
            if best < 0 or total < best:
                best, chosen = total, list(order)
            if best <= enough:  # this order is the best: they lie as it says
                return best
            top = max(order, key=lambda t: t.offset + t.size)
            order.remove(top)
            order.insert(0, top)
    return fit(chosen)


def plan(graph: Graph, pinned: set[Key], held: set[Key], how: str = "keep") -> Plan:
    """Place the outputs of all steps except the ``pinned`` ones, which have memory of their own.

    ``held`` are values that something reads after the last step; ``how`` is one of ``MODES``.
    """
    return _Planner(graph, pinned, held, how).run()


__all__ = ["MODES", "Place", "Plan", "mode", "plan"]
