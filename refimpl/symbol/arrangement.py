"""Where blocks of known size and life lie in an arena, so that the arena is small.

Two blocks whose lives overlap get disjoint places: each the smallest gap that is free for the whole
of its life; whoever is large, or lives long, chooses first (Pisarchyk and Lee, 2020).

Trying orders until one is good costs the square of the number of blocks, so with many blocks three cheaper ways are
tried instead, each of nearly constant work per block.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from ..base import decides
from ..context import Context
from .inference import Key

ROUNDS, MANY, WASTE = 20, 500, 0.005  # attempts; blocks beyond which there are three; what is good enough
STEPS, LEAST_STEPS = 100, 500_000  # how many blocks searches may look at: for each block, and in all


@dataclass(eq=False)
class Block:
    """Memory that lives from step ``first`` to step ``last``, at ``offset`` of its arena or of an output."""

    context: Context
    used: int
    size: int
    """``used`` bytes, rounded up."""
    first: int
    last: int
    keys: list[Key]
    """The values that lie there, one after the other or as views of each other."""
    offset: int = 0
    home: Key | None = None
    """The output whose memory this is part of."""


_Life = tuple[int, int, int, int]
"""(begin, end, first step, last step) of a block that has a place."""


def needed(blocks: Sequence[Block]) -> int:
    """Bytes below which no arrangement can go: the most that lives at one step."""
    change = [0] * (max((b.last for b in blocks), default=0) + 2)
    for block in blocks:
        change[block.first] += block.size
        change[block.last + 1] -= block.size
    return max(accumulate(change))


class Pile:
    """Blocks with an offset each; whose lives overlap, lie apart."""

    def __init__(self) -> None:
        self.height = 0
        """Bytes that all need together."""
        self.steps = 0
        """How many blocks all searches have looked at."""
        self.limit: float = inf
        self._placed: list[_Life] = []

    @property
    def is_spent(self) -> bool:
        """Whether searches have cost as much as they may."""
        return self.steps > self.limit

    def _neighbours(self, first: int, last: int) -> list[_Life]:
        """Those whose lives overlap these steps, in the order of their places."""
        self.steps += len(self._placed)
        return [life for life in self._placed if life[2] <= last and life[3] >= first]

    def _floor(self, last: int) -> int:
        """Bytes at the bottom which are taken at step ``last`` and before without a gap."""
        del last
        return 0

    def gap(self, block: Block) -> int:
        """The offset of the smallest gap that holds one more, on top where there is none."""
        size, found, least, top = block.size, -1, 0, self._floor(block.last)
        for begin, end, _, _ in self._neighbours(block.first, block.last):
            room = begin - top
            if room >= size and (found < 0 or room < least):
                found, least = top, room
            if end > top:  # noqa: PLR1730  # max() would cost as much as all the rest
                top = end
        return top if found < 0 else found

    def put(self, block: Block, offset: int) -> None:
        """Place one more."""
        block.offset, end = offset, offset + block.size
        self.height = max(self.height, end)
        self._enter((offset, end, block.first, block.last))

    def _enter(self, life: _Life) -> None:
        insort(self._placed, life)


class LargePile(Pile):
    """A pile of many blocks: a search looks only at those that live near, and at none that lives until the end.

    Blocks of ``held`` live until the end. They lie at the bottom, the first born lowest: a floor that rises and
    never has a gap.
    """

    def __init__(self, blocks: Sequence[Block], held: Sequence[Block] = ()) -> None:
        super().__init__()
        self.limit = max(LEAST_STEPS, STEPS * len(blocks))
        self._levels: dict[int, dict[int, list[_Life]]] = {}
        born = sorted(held, key=lambda b: b.first)
        self._births = [b.first for b in born]
        self._floors = [0, *accumulate(b.size for b in born)]
        self.height = self._floors[-1]
        for block, floor in zip(born, self._floors, strict=False):
            block.offset = floor

    def _floor(self, last: int) -> int:
        return self._floors[bisect_right(self._births, last)]

    def _neighbours(self, first: int, last: int) -> list[_Life]:
        found: list[_Life] = []
        for level, lives in self._levels.items():
            low, high = (first >> level) - 1, last >> level
            self.steps += min(high - low, len(lives))
            if high - low < len(lives):
                near = [lives[at] for at in range(low, high + 1) if at in lives]
            else:
                near = [each for at, each in lives.items() if low <= at <= high]
            for each in near:
                self.steps += len(each)
                found += [life for life in each if life[2] <= last and life[3] >= first]
        found.sort()
        return found

    def _enter(self, life: _Life) -> None:
        first, last = life[2:]
        level = (last - first).bit_length()  # it lives less than 2 ** level steps
        self._levels.setdefault(level, {}).setdefault(first >> level, []).append(life)


def pile_of(blocks: Sequence[Block]) -> Pile:
    """An empty pile for some of these."""
    return LargePile(blocks) if len(blocks) > MANY else Pile()


def fit(blocks: Sequence[Block]) -> int:
    """Place blocks in the given order; the bytes that all need together."""
    pile = Pile()
    for block in blocks:
        pile.put(block, pile.gap(block))
    return pile.height


ORDERS = (
    lambda b: (-b.size, b.first),  # the largest first: nearly always enough
    lambda b: (-b.last, -b.size, b.first),  # those that are kept for good first
    lambda b: (-b.size, b.last),
    lambda b: b.first,
)


def _try_orders(blocks: Sequence[Block]) -> int:
    """Try every order until hardly anything is wasted, ``ROUNDS`` times; the bytes that all need together.

    After each round, whoever lies on top moves to the front of that order.
    """
    enough = needed(blocks) * (1 + WASTE)
    best, chosen = -1, list(blocks)
    orders = [sorted(blocks, key=key) for key in ORDERS]
    for _ in range(ROUNDS):
        for order in orders:
            total = fit(order)
            if best < 0 or total < best:
                best, chosen = total, list(order)
            if best <= enough:  # this order is the best: they lie as it says
                return best
            top = max(order, key=lambda b: b.offset + b.size)
            order.remove(top)
            order.insert(0, top)
    return fit(chosen)


def _held_first(blocks: Sequence[Block]) -> int | None:
    """Place what lives until the end, then the largest first; None where too many live at one time to search."""
    end = max(b.last for b in blocks)
    pile = LargePile(blocks, held=[b for b in blocks if b.last == end])
    for block in sorted([b for b in blocks if b.last < end], key=ORDERS[0]):
        if pile.is_spent:
            return None
        pile.put(block, pile.gap(block))
    return pile.height


class _Gaps:
    """The free places below ``height`` at one moment, as a heap of ``malloc`` keeps them."""

    def __init__(self) -> None:
        self.height = 0
        self._by_size: list[tuple[int, int]] = []
        self._sizes: dict[int, int] = {}  # by begin
        self._begins: dict[int, int] = {}  # by end

    def _add(self, begin: int, end: int) -> None:
        insort(self._by_size, (end - begin, begin))
        self._sizes[begin], self._begins[end] = end - begin, begin

    def _remove(self, begin: int) -> int:
        """Its end."""
        size = self._sizes.pop(begin)
        del self._by_size[bisect_left(self._by_size, (size, begin))], self._begins[begin + size]
        return begin + size

    def take(self, size: int) -> int:
        """The begin of ``size`` bytes, out of the smallest gap that has them."""
        at = bisect_left(self._by_size, (size, 0))
        if at == len(self._by_size):  # on top, beginning in the gap below the top if there is one
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
        """Free these bytes, as one gap with those beside them."""
        if end in self._sizes:
            end = self._remove(end)
        if begin in self._begins:
            begin = self._begins[begin]
            self._remove(begin)
        self._add(begin, end)


def _sweep(blocks: Sequence[Block], backwards: bool = False) -> int:
    """Go through the steps, or back through them, each block taking the smallest gap of its first moment."""
    end = max(b.last for b in blocks)
    births: dict[int, list[Block]] = {}
    deaths: dict[int, list[Block]] = {}
    for block in sorted(blocks, key=ORDERS[0]):
        first, last = (end - block.last, end - block.first) if backwards else (block.first, block.last)
        births.setdefault(first, []).append(block)
        deaths.setdefault(last + 1, []).append(block)
    gaps = _Gaps()
    for step in sorted({*births, *deaths}):
        for block in deaths.get(step, ()):
            gaps.give(block.offset, block.offset + block.size)
        for block in births.get(step, ()):
            block.offset = gaps.take(block.size)
    return gaps.height


WAYS: tuple[Callable[[Sequence[Block]], int | None], ...] = (
    _sweep, lambda blocks: _sweep(blocks, backwards=True), _held_first,
)


@decides("memory/in-outputs", "memory/resnet-50")
def arrange(blocks: Sequence[Block]) -> int:
    """Give each block an offset; the bytes that all need together."""
    if len(blocks) <= MANY:
        return _try_orders(blocks)
    least, best, offsets = needed(blocks), -1, [0] * len(blocks)
    for way in WAYS:
        total = way(blocks)
        if total is not None and (best < 0 or total < best):
            best, offsets = total, [b.offset for b in blocks]
        if best == least:
            break
    for block, offset in zip(blocks, offsets, strict=True):
        block.offset = offset
    return best


__all__ = ["Block", "LargePile", "Pile", "arrange", "needed", "pile_of"]
