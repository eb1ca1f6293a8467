"""Sources of choices. Every choice is one whole number between two bounds, and smaller ones give simpler programs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Shape = tuple[int, ...]
T = TypeVar("T")


class Draw:
    """The choices of drawing a program; a source implements :meth:`integer`."""

    def integer(self, low: int, high: int) -> int:
        """A whole number between two bounds, which are possible too."""
        raise NotImplementedError

    def boolean(self) -> bool:
        """True or False; False is simpler."""
        return self.integer(0, 1) == 1

    def choice(self, options: Sequence[T]) -> T:
        """One of a sequence; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def one_in(self, count: int) -> bool:
        """True once in ``count`` draws."""
        return self.integer(0, count - 1) == count - 1

    def shape(self, min_rank: int, max_rank: int, max_side: int = 4) -> Shape:
        """A shape whose sides are 1 to ``max_side``."""
        return tuple(self.integer(1, max_side) for _ in range(self.integer(min_rank, max_rank)))


class SeededDraw(Draw):
    """Choices from a seed (a number or a text), and a record of them in ``choices``."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)
        self.choices: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """See :class:`Draw`."""
        chosen = low + int(self._random.random() * (high - low + 1))
        self.choices.append(chosen)
        return chosen

