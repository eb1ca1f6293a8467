"""Segments of a network: neighbouring layers, what their names have in common, what is read behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .parts import Item, Key
from .scopes import key_refs


@dataclass
class Segment:
    """Neighbouring items that become one block."""

    begin: int
    end: int
    items: list[Item] = field(repr=False)

    @property
    def inner(self) -> list[Item]:
        """The items."""
        return self.items[self.begin:self.end]

    def stem(self) -> str:
        """What the names of all layers with parameters begin with, up to an underscore."""
        named = [item.name for item in self.inner if item.init is not None and not item.fixed]
        return stem_of(named or [item.name for item in self.inner if not item.fixed])


def stem_of(names: Sequence[str]) -> str:
    """What all names begin with, where a word ends."""
    low, high = min(names), max(names)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    if size == len(low) and (len(high) == size or high[size] in "_."):
        return low
    return low[:max(low[:size].rfind("_"), low[:size].rfind("."), 0)]


def read_by(items: Sequence[Item], outputs: Sequence[Key]) -> dict[Key, list[int]]:
    """Value -> the positions of the items that read it; those behind the last for outputs of the network."""
    found: dict[Key, list[int]] = {}
    for index, item in enumerate(items):
        for place in item.inputs:
            found.setdefault(place, []).append(index)
    for place in outputs:
        found.setdefault(place, []).append(len(items))
    return found


def signature(segment: Segment, outputs: Sequence[Key]) -> object:
    """What must be equal where one class stands for several segments."""
    external: list[Key] = []
    refs, made = key_refs(segment.inner, external)
    ends = left(segment, outputs)
    return (
        tuple(item.signature() for item in segment.inner), tuple(map(tuple, refs)), tuple(made[place] for place in ends)
    )


def left(segment: Segment, outputs: Sequence[Key]) -> list[Key]:
    """The values of a segment that are read behind it."""
    made = [place for item in segment.inner for place in item.outputs]
    rest = segment.items[:segment.begin] + segment.items[segment.end:]
    read = {place for item in rest for place in item.inputs} | set(outputs)
    return [place for place in made if place in read]


__all__ = ["Segment", "left", "read_by", "signature", "stem_of"]
