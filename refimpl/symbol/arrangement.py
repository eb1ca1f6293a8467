"""Offsets in an arena for blocks of known size and lifetime, so that the arena is small.

Blocks whose lifetimes overlap get disjoint memory, by best fit: each block in turn takes the smallest gap that is free
for its whole lifetime. The largest blocks, or the blocks with the longest lifetimes, come first (Pisarchyk and Lee,
2020).

Three cheap methods come first, each with nearly constant work per block; the result of one of them is often the
smallest possible. Trying several orders takes time quadratic in the number of blocks, and is done for few blocks only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from ..base import decides
from ..context import Context

ROUNDS, MANY, WASTE = 20, 500, 0.005  # rounds; blocks beyond which cheap methods are tried; accepted waste
STEPS, LEAST_STEPS = 100, 500_000  # the most blocks that searches may look at: per block, and the least limit in all


@dataclass(eq=False, slots=True)
class Block:
    """Memory that is used from step ``first`` to step ``last``, at ``offset`` of its arena or of an output."""

    context: Context
    used: int
    size: int
    """``used`` bytes, rounded up."""
    first: int
    last: int
    values: list[int]
    """The numbers of the values that use the block, one after the other or as views of each other."""
    offset: int = 0
    output: int | None = None
    """The number of the output whose memory the block is part of; None for a block in an arena."""


_Placed = tuple[int, int, int, int]
"""(begin, end, first step, last step) of a block that has an offset."""


def needed(blocks: Sequence[Block]) -> int:
    """A lower bound of the bytes of any packing: the most bytes in use at one step."""
    change = [0] * (max((b.last for b in blocks), default=0) + 2)
    for block in blocks:
        change[block.first] += block.size
        change[block.last + 1] -= block.size
    return max(accumulate(change))


class Packing:
    """Blocks with offsets: blocks whose lifetimes overlap do not overlap in memory."""

    def __init__(self) -> None:
        self.height = 0
        """The bytes of the whole packing."""
        self.steps = 0
        """The number of blocks that all searches have looked at."""
        self.limit: float = inf
        self._placed: list[_Placed] = []

    @property
    def is_spent(self) -> bool:
        """Whether searches have reached their limit."""
        return self.steps > self.limit

    def _overlapping(self, first: int, last: int) -> list[_Placed]:
        """The blocks whose lifetimes overlap these steps, in the order of their offsets."""
        self.steps += len(self._placed)
        return [each for each in self._placed if each[2] <= last and each[3] >= first]

    def _bottom(self, last: int) -> int:
        """The bytes at the bottom, without gaps, of held blocks that begin at step ``last`` or before."""
        del last
        return 0

    def gap(self, block: Block) -> int:
        """The offset of the smallest gap for a block; the top of the packing if no gap is large enough."""
        size, found, least, top = block.size, -1, 0, self._bottom(block.last)
        for begin, end, _, _ in self._overlapping(block.first, block.last):
            free = begin - top
            if free >= size and (found < 0 or free < least):
                found, least = top, free
            if end > top:  # noqa: PLR1730  # max() would cost as much as all the rest
                top = end
        return top if found < 0 else found

    def put(self, block: Block, offset: int) -> None:
        """Place a block at ``offset``."""
        block.offset, end = offset, offset + block.size
        self.height = max(self.height, end)
        self._enter((offset, end, block.first, block.last))

    def _enter(self, placed: _Placed) -> None:
        insort(self._placed, placed)


class LargePacking(Packing):
    """A packing of many blocks: a search looks only at blocks that are used at about the same steps.

    The blocks ``held`` are used until the end. They are at the bottom in the order of their first steps, so that the
    used bytes there grow from step to step and never have a gap; no search looks at these blocks.
    """

    def __init__(self, blocks: Sequence[Block], held: Sequence[Block] = ()) -> None:
        super().__init__()
        self.limit = max(LEAST_STEPS, STEPS * len(blocks))
        self._levels: dict[int, dict[int, list[_Placed]]] = {}
        in_order = sorted(held, key=lambda b: b.first)
        self._firsts = [b.first for b in in_order]
        self._bottoms = [0, *accumulate(b.size for b in in_order)]
        self.height = self._bottoms[-1]
        for block, bottom in zip(in_order, self._bottoms, strict=False):
            block.offset = bottom

    def _bottom(self, last: int) -> int:
        return self._bottoms[bisect_right(self._firsts, last)]

    def _overlapping(self, first: int, last: int) -> list[_Placed]:
        found: list[_Placed] = []
        for level, groups in self._levels.items():
            low, high = (first >> level) - 1, last >> level
            self.steps += min(high - low, len(groups))
            if high - low < len(groups):
                near = [groups[at] for at in range(low, high + 1) if at in groups]
            else:
                near = [group for at, group in groups.items() if low <= at <= high]
            for group in near:
                self.steps += len(group)
                found += [each for each in group if each[2] <= last and each[3] >= first]
        found.sort()
        return found

    def _enter(self, placed: _Placed) -> None:
        first, last = placed[2:]
        level = (last - first).bit_length()  # the lifetime is shorter than 2 ** level steps
        self._levels.setdefault(level, {}).setdefault(first >> level, []).append(placed)


def packing_for(blocks: Sequence[Block]) -> Packing:
    """An empty packing for some of these blocks."""
    return LargePacking(blocks) if len(blocks) > MANY else Packing()


def fit(blocks: Sequence[Block]) -> int:
    """Place blocks in the given order; returns the bytes of the packing."""
    packing = Packing()
    for block in blocks:
        packing.put(block, packing.gap(block))
    return packing.height


ORDERS = (
    lambda b: (-b.size, b.first),  # the largest first: nearly always good enough
    lambda b: (-b.last, -b.size, b.first),  # the longest kept first
    lambda b: (-b.size, b.last),
    lambda b: b.first,
)


def _try_orders(blocks: Sequence[Block]) -> int:
    """Try every order, in up to ``ROUNDS`` rounds, until the waste is small; returns the bytes of the packing.

    After each round, the block at the top of the packing moves to the front of its order.
    """
    enough = needed(blocks) * (1 + WASTE)
    best, chosen = -1, list(blocks)
    orders = [sorted(blocks, key=key) for key in ORDERS]
    for _ in range(ROUNDS):
        for order in orders:
            total = fit(order)
            if best < 0 or total < best:
                best, chosen = total, list(order)
            if best <= enough:  # the blocks have the offsets of this order, the best
                return best
            top = max(order, key=lambda b: b.offset + b.size)
            order.remove(top)
            order.insert(0, top)
    return fit(chosen)


def _held_first(blocks: Sequence[Block]) -> int | None:
    """Place the blocks used until the end, then the others, the largest first; None if searches reach their limit."""
    end = max((b.last for b in blocks), default=0)
    packing = LargePacking(blocks, held=[b for b in blocks if b.last == end])
    for block in sorted([b for b in blocks if b.last < end], key=ORDERS[0]):
        if packing.is_spent:
            return None
        packing.put(block, packing.gap(block))
    return packing.height


class _FreeList:
    """The free ranges of bytes below ``height`` at one step, as in a memory allocator."""

    def __init__(self) -> None:
        self.height = 0
        self._by_size: list[tuple[int, int]] = []
        self._sizes: dict[int, int] = {}  # by begin
        self._begins: dict[int, int] = {}  # by end

    def _add(self, begin: int, end: int) -> None:
        insort(self._by_size, (end - begin, begin))
        self._sizes[begin], self._begins[end] = end - begin, begin

    def _remove(self, begin: int) -> int:
        """Remove the free range that begins at ``begin``; returns its end."""
        size = self._sizes.pop(begin)
        del self._by_size[bisect_left(self._by_size, (size, begin))], self._begins[begin + size]
        return begin + size

    def take(self, size: int) -> int:
        """Allocate ``size`` bytes from the smallest free range that has them (best fit); returns their begin."""
        at = bisect_left(self._by_size, (size, 0))
        if at == len(self._by_size):  # at the top, from the free range just below it if there is one
            begin = self._begins.get(self.height, self.height)
            if begin < self.height:
                self._remove(begin)
            self.height = begin + size
            return begin
        begin = self._by_size[at][1]
        end = self._remove(begin)
        if begin + size < end:
            self._add(begin + size, end)
        return begin

    def give(self, begin: int, end: int) -> None:
        """Free bytes ``begin`` to ``end``, joined with the free ranges beside them."""
        if end in self._sizes:
            end = self._remove(end)
        if begin in self._begins:
            begin = self._begins[begin]
            self._remove(begin)
        self._add(begin, end)


def _sweep(blocks: Sequence[Block], backwards: bool = False) -> int:
    """Go through the steps, or backwards: each block takes the smallest range that is free at its first step."""
    end = max((b.last for b in blocks), default=0)
    begins: dict[int, list[Block]] = {}
    ends: dict[int, list[Block]] = {}
    for block in sorted(blocks, key=ORDERS[0]):
        first, last = (end - block.last, end - block.first) if backwards else (block.first, block.last)
        begins.setdefault(first, []).append(block)
        ends.setdefault(last + 1, []).append(block)
    free = _FreeList()
    for step in sorted({*begins, *ends}):
        for block in ends.get(step, ()):
            free.give(block.offset, block.offset + block.size)
        for block in begins.get(step, ()):
            block.offset = free.take(block.size)
    return free.height


WAYS: tuple[Callable[[Sequence[Block]], int | None], ...] = (
    _sweep, lambda blocks: _sweep(blocks, backwards=True), _held_first,
)


@decides("memory/in-outputs", "memory/resnet-50")
def arrange(blocks: Sequence[Block]) -> int:
    """Give each block an offset; the bytes that all need together."""
    least, best, offsets = needed(blocks), -1, [0] * len(blocks)
    for way in WAYS if len(blocks) > MANY else (*WAYS, _try_orders):
        total = way(blocks)
        if total is not None and (best < 0 or total < best):
            best, offsets = total, [b.offset for b in blocks]
        if best == least:
            break
    for block, offset in zip(blocks, offsets, strict=True):
        block.offset = offset
    return best


__all__ = ["Block", "LargePacking", "Packing", "arrange", "needed", "packing_for"]
