"""Guesses about RNN, whose parameters are one vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ...export.layer import Layer
from .guesses import solved, told
from .guessing import Case, Guess

_GATES = {"lstm": 4, "gru": 3}
_ORDERS: dict[int, dict[str, tuple[int, ...]]] = {
    4: {"i, g, f, o": (0, 2, 1, 3), "i, f, o, g": (0, 1, 3, 2), "f, i, g, o": (1, 0, 2, 3), "o, f, g, i": (3, 1, 2, 0),
        "g, f, i, o": (2, 1, 0, 3), "f, i, o, g": (1, 0, 3, 2)},
    3: {"z, r, n": (1, 0, 2), "n, r, z": (2, 0, 1), "r, n, z": (0, 2, 1), "z, n, r": (1, 2, 0), "n, z, r": (2, 1, 0)},
}
_STARTS = (-2.0, -1.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


class Part(NamedTuple):
    """A matrix or a bias within the vector."""

    name: str
    start: int
    shape: tuple[int, ...]
    gates: int

    def put(self, vector: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The vector with this part replaced."""
        made = vector.copy()
        made[self.start : self.start + value.size] = value.ravel()
        return made

    def of(self, vector: np.ndarray) -> np.ndarray:
        """What the vector has for it."""
        return vector[self.start : self.start + int(np.prod(self.shape))].reshape(self.shape)


def parts(layer: Layer) -> list[Part]:
    """The parts of the vector, as RNN/parameters has them; none with a projection."""
    p = layer.params
    if p.projection_size:
        return []
    gates, size, directions = _GATES.get(p.mode, 1), p.state_size, 1 + p.bidirectional
    found, start = [], 0
    ways = ("", "reverse ")[:directions]
    for number in range(p.num_layers):
        inputs = layer.arrays[0].shape[2] if number == 0 else size * directions
        for way in ways:
            for name, columns in (("input weight", inputs), ("state weight", size)):
                found.append(Part(f"{way}{name} of level {number}", start, (gates * size, columns), gates))
                start += gates * size * columns
    for number in range(p.num_layers):
        for way in ways:
            for name in ("input bias", "state bias"):
                found.append(Part(f"{way}{name} of level {number}", start, (gates * size,), gates))
                start += gates * size
    return found if start == layer.arrays[1].size else []


def likely(case: Case) -> Iterator[Guess]:
    """No bias, gates in another order, a matrix transposed, two matrices in each other's place."""
    layer = case.layer
    if layer.operator != "RNN":
        return
    vector, found = layer.arrays[1], parts(layer)
    biases = [part for part in found if "bias" in part.name]
    for chosen, text in [(biases, "every bias"), *[([part], f"the {part.name}") for part in biases]]:
        changed = vector
        for part in chosen:
            changed = part.put(changed, np.zeros(part.shape))
        if not np.array_equal(changed, vector):
            yield _guess("bias-missing", f"the reference leaves {text} out", changed)
    for name, order in _ORDERS.get(found[0].gates if found else 0, {}).items():
        changed = vector
        for part in found:
            held = part.of(vector)
            changed = part.put(changed, held.reshape(part.gates, -1)[list(order)])
        yield _guess("channels-swapped", f"the reference has its gates in the order {name}", changed)
    for part in found:
        yield from _transposed(part, vector)
    for number, first in enumerate(found):
        for second in found[number + 1 :]:
            if first.shape == second.shape:
                changed = second.put(first.put(vector, second.of(vector)), first.of(vector))
                text = f"the reference has the {first.name} and the {second.name} in each other's place"
                yield _guess("layers-exchanged", text, changed)


def _transposed(part: Part, vector: np.ndarray) -> Iterator[Guess]:
    if len(part.shape) != 2:
        return
    held = part.of(vector)
    rows, columns = part.shape[0] // part.gates, part.shape[1]
    text = f"the reference's {part.name} is transposed"
    yield _guess("transposed", text, part.put(vector, held.reshape(held.shape[::-1]).T))
    yield _guess("transposed", text, part.put(vector, np.ascontiguousarray(held.T)))
    if rows == columns:
        cube = held.reshape(part.gates, rows, columns)
        yield _guess("transposed", f"{text}, gate by gate", part.put(vector, cube.swapaxes(1, 2)))


def channels(case: Case) -> Iterator[Guess]:
    """Two rows of a matrix, or two of its columns, in each other's place."""
    layer = case.layer
    if layer.operator != "RNN":
        return
    vector = layer.arrays[1]
    for part in parts(layer):
        for axis, count in enumerate(part.shape):
            if count > 24:
                continue
            for first in range(count):
                for second in range(first + 1, count):
                    order = np.arange(count)
                    order[[first, second]] = second, first
                    what = "rows" if axis == 0 else "columns"
                    text = f"the reference's {part.name} has {what} {first} and {second} in each other's place"
                    yield _guess("channels-swapped", text, part.put(vector, np.take(part.of(vector), order, axis)))


def scaled(case: Case) -> Iterator[Guess]:
    """A part, or all of them, times a number that is searched for."""
    layer, target = case.layer, case.comparable
    if layer.operator != "RNN" or target is None or not np.isfinite(target).all():
        return
    vector = layer.arrays[1]

    def off(change: Callable[[float], np.ndarray], factor: float) -> np.ndarray:
        made = layer.run({"parameters": change(factor)})[case.segment.index]
        return (made - target).ravel()

    def whole(factor: float) -> np.ndarray:
        return vector * factor

    def single(part: Part, factor: float) -> np.ndarray:
        return part.put(vector, part.of(vector) * factor)

    changes: list[tuple[str, Callable[[float], np.ndarray]]] = [("parameters are", whole)]
    changes += [(f"{part.name} is", partial(single, part)) for part in parts(layer)]
    for name, change in changes:
        factor = min(_STARTS, key=lambda start: float(np.sum(off(change, start) ** 2)))
        factor = solved(factor, partial(off, change))
        if np.isfinite(factor) and abs(factor) < 1e6:
            yield _guess("weight-scaled", f"the reference's {name} {told(factor)} times that here", change(factor), 8)


def _guess(kind: str, text: str, vector: np.ndarray, slack: float = 1.0) -> Guess:
    return Guess(kind, text, lambda layer: layer.run({"parameters": vector}), slack)


__all__ = ["channels", "likely", "parts", "scaled"]
