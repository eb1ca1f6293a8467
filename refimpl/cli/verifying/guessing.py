"""What a guess is, and which guess explains a difference: the smallest change after which the numbers fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...base import MXNetError, decides
from ...export.judging import distance
from ...export.layer import Layer
from ...symbol.ir import Node
from .walk import Segment

Change = Callable[[Layer], list[np.ndarray]]

_STORED = 2.0**-24
_BETTER = 1e-3  # so much of a difference may be left where it is smaller than single precision rounds


class Guess(NamedTuple):
    """Something that may be otherwise in the reference."""

    kind: str
    text: str
    change: Change
    """Gives the layer's outputs as they would be."""
    slack: float = 1.0
    """By how much more than rounding the numbers may be off: what the guess takes from them has errors too."""


@dataclass
class Case:
    """A layer that may be to blame.

    Args:
        segment: the layers of which one is.
        place: which one.
        others: layers of the same operator whose parameters have the same shapes, with those by input.
        after: what reads the layer, where nothing else does and it has no other input.
        source: the shape that was flattened before the layer, or None.
    """

    segment: Segment
    place: int
    others: list[tuple[Node, dict[str, np.ndarray]]]
    after: Node | None
    source: tuple[int, ...] | None

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.segment.layers[self.place]

    @property
    def target(self) -> np.ndarray | None:
        """What the reference has for the layer; None where only a later one is known."""
        return self.segment.target if self.place == len(self.segment.layers) - 1 else None

    @property
    def comparable(self) -> np.ndarray | None:
        """The target, where it has the shape that the layer gives."""
        target = self.target
        return target if target is not None and target.shape == self.segment.exact.shape else None


class Explained(NamedTuple):
    """A guess that fits."""

    guess: Guess
    case: Case
    excess: float
    """The largest difference that is left, in parts of what is allowed."""


def tried(case: Case, guess: Guess) -> Explained | None:
    """The guess, if the reference's numbers are what it gives."""
    segment = case.segment
    try:
        with np.errstate(all="ignore"):
            made = segment.run(case.place, guess.change)
    except MXNetError:
        return None  # the operator cannot be so
    if made.shape != segment.target.shape:
        return None
    return _fitting(case, guess, made)


def _fitting(case: Case, guess: Guess, made: np.ndarray) -> Explained | None:
    segment = case.segment
    off = distance(segment.target, made)
    size, exact = (float(np.max(np.abs(v[np.isfinite(v)]), initial=0.0)) for v in (made, segment.exact))
    grown = max(1.0, size / exact if exact else 1.0)
    bound: Any = segment.bound if segment.bound.shape == made.shape else np.max(segment.bound, initial=0.0)
    allowed = guess.slack * (grown * np.asarray(bound) + 4 * segment.unit * np.abs(made))
    if segment.unit < _STORED:  # what is changed was stored in single precision, whatever computes with it
        allowed = allowed * _STORED / segment.unit
        whole = segment.target.shape == segment.exact.shape
        if whole and np.max(off, initial=0.0) > _BETTER * np.max(distance(segment.target, segment.exact), initial=0.0):
            return None
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = float(np.max(np.where(off == 0, 0.0, off / allowed), initial=0.0))
    return Explained(guess, case, excess) if excess <= 1 else None


Tier = Callable[[Case], Iterable[Guess]]


@decides("Verify/kinds")
def explained(cases: list[Case], tiers: Iterable[Iterable[Tier]]) -> Explained | None:
    """The first tier with a guess that fits decides; of several in it the one that fits best.

    Args:
        cases: the layers that may be to blame, in the order of the graph.
        tiers: sources of guesses, the simplest first.
    """
    for tier in tiers:
        found = [one for case in cases for one in _all(case, tier)]
        if found:
            return min(found, key=lambda one: one.excess)
    return None


def _all(case: Case, tier: Iterable[Tier]) -> Iterator[Explained]:
    for guesses in tier:
        for guess in guesses(case):
            found = tried(case, guess)
            if found is not None:
                yield found


def along(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """One number for each channel, shaped to meet an array of that rank."""
    shape = [1] * rank
    shape[axis] = -1
    return values.reshape(shape)


__all__ = ["Case", "Change", "Explained", "Guess", "Tier", "along", "explained", "tried"]
