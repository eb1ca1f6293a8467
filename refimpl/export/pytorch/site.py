"""What a rule knows of a layer, and what it answers: the layer's Python text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...symbol.ir import Node
from .parts import Parts, State, parts

Shape = tuple[int, ...]


class Unsupported(Exception):  # as the oracle's own
    """Why a layer has no form in PyTorch."""


@dataclass
class Site:
    """A layer with the shapes and types of what it reads and makes.

    ``held`` has, for each input, the name of the parameter that the input is, or None for a value that is computed.
    """

    node: Node
    shapes: list[Shape]
    types: list[np.dtype]
    outputs: list[Shape]
    output_types: list[np.dtype]
    held: list[str | None]
    used: list[int]
    """Which of its outputs are read."""

    @property
    def p(self) -> Any:
        """The operator's parameters."""
        return self.node.params

    @property
    def rank(self) -> int:
        """The number of axes of the first input."""
        return len(self.shapes[0])

    def axis(self, axis: int) -> int:
        """The number of an axis of the first input from the front."""
        return axis % self.rank

    def only_first(self, *_: Any) -> None:
        """Refuse a layer of which more than the first output is read."""
        if any(index > 0 for index in self.used):
            raise Unsupported("its further outputs are read")


@dataclass
class Answer:
    """The text of a layer: see :class:`parts.Item`; ``inputs`` has which inputs of the layer the text reads."""

    forward: Parts
    inputs: list[int]
    init: Parts | None = None
    state: dict[str, State] = field(default_factory=dict)
    suffixes: list[str] = field(default_factory=lambda: [""])
    heavy: bool = False
    light: bool = False


def plain(site: Site, template: str, *, light: bool = False, suffixes: Sequence[str] = ("",), **numbers: Any) -> Answer:
    """An expression of all inputs; ``{all}`` in the template stands for their list."""
    every = list(range(len(site.shapes)))
    template = template.replace("{all}", ", ".join(f"{{{index}}}" for index in every))
    return Answer(parts(template, **numbers), every, light=light, suffixes=list(suffixes))


def tidy(value: float) -> float:
    """The shortest number that is the same in single precision: 0.9 for 0.899999976."""
    value = float(value)
    if not np.isfinite(value):
        return value
    shorter = float(str(np.float32(value)))
    return shorter if (np.float32(shorter) == np.float32(value) and float(np.float32(value)) == value) or (
        abs(shorter - value) <= 2e-8 * abs(value)
    ) else value


def type_name(kind: np.dtype) -> str:
    """PyTorch's name of an element type."""
    return "torch." + {"uint8": "uint8", "bool": "bool"}.get(np.dtype(kind).name, np.dtype(kind).name)


__all__ = ["Answer", "Shape", "Site", "Unsupported", "plain", "tidy", "type_name"]
