"""Walks through a network layer by layer; each reads what the reference says that it read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base import MXNetError, decides
from ...export.judging import distance
from ...export.layer import DOUBLE, SINGLE, Layer, wide
from ...symbol.inference import key_of
from ...symbol.ir import Node
from ..loaded import Network
from .allowed import UNITS, allowed, tracked

DRAFTS = 3  # computations with the errors of single precision, where a layer is not known
_FACTOR = 32  # such errors that stand for those of another implementation
_NOISE = 8  # units by which drafts differ


@dataclass
class Compared:
    """What became of one output of a layer."""

    node: Node
    index: int
    name: str
    verdict: str
    """``equal``, ``differs``, ``shape``, ``absent`` (of the reference) or ``skipped`` (cannot be computed)."""
    difference: float = 0.0
    """The largest one."""
    bound: float = 0.0
    """What is allowed at that place."""
    place: tuple[int, ...] = ()


@dataclass
class Segment:
    """Layers between values that the reference has: the last one's output is compared."""

    layers: list[Layer]
    sources: list[list[tuple[int, int] | None]]
    """For each layer and input: which output of which layer of the segment it reads; None for a known value."""
    index: int
    """The output of the last layer."""
    target: np.ndarray
    """What the reference has for it."""
    exact: np.ndarray
    bound: np.ndarray
    unit: float
    """Of the precision that the reference is held to."""

    def run(self, place: int, change: Callable[[Layer], list[np.ndarray]]) -> np.ndarray:
        """The output, with one layer changed."""
        made: dict[int, list[np.ndarray]] = {}
        for number in range(place, len(self.layers)):
            layer = self.layers[number]
            arrays = [
                made[source[0]][source[1]] if source is not None and source[0] in made else value
                for source, value in zip(self.sources[number], layer.arrays, strict=True)
            ]
            held = Layer(layer.node, arrays)
            made[number] = change(held) if number == place else held.run()
        return made[len(self.layers) - 1][self.index]


@dataclass
class _Value:
    """A value of the network; drafts where it was computed, and the layers that it was computed by."""

    exact: np.ndarray
    drafts: list[np.ndarray] | None = None
    through: dict[int, Node] = field(default_factory=dict)


Told = Callable[[Compared], object]


class Walk:
    """Compares a network with a reference.

    Args:
        network: with its parameters.
        inputs: by name.
        reference: the values of outputs of layers, by name.
        unit: that of the reference's arithmetic, where it is not the network's own.
    """

    def __init__(
        self, network: Network, inputs: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray],
        unit: float | None = None,
    ) -> None:
        self.network, self.reference, self._unit = network, reference, unit
        self.order = network.net.order()
        shapes = network.shapes({name: value.shape for name, value in inputs.items()})
        given: dict[str, np.ndarray] = {name: np.zeros(shape) for name, shape in shapes.items()}
        given |= {name: wide(value) for name, value in inputs.items()}
        given |= {name: wide(value) for name, value in network.held().items() if name not in inputs}
        self.given = given
        self._values: dict[Any, _Value] = {}
        self._layers: dict[int, tuple[Layer, list[Any]]] = {}  # with the computed outputs that they read
        self.shapes = self._known_shapes(shapes)
        self._units = self._known_units()
        self._last = self._last_readers()
        self.random = np.random.RandomState(0)

    def _known_shapes(self, inputs: Mapping[str, tuple[int, ...]]) -> dict[Any, tuple[int, ...]]:
        """The shapes of all outputs, as they follow from those of the inputs."""
        internals = self.network.net.get_internals()
        found = internals.infer_shape_partial(**inputs)[1]
        return {key_of(entry): tuple(shape) for entry, shape in zip(internals.entries, found, strict=True) if shape}

    def _known_units(self) -> dict[Any, float]:
        internals = self.network.net.get_internals()
        kinds = internals.infer_type_partial(**self.network.types)[1]
        return {
            key_of(entry): UNITS.get(np.dtype(kind).name, UNITS["float32"])
            for entry, kind in zip(internals.entries, kinds, strict=True) if kind is not None
        }

    def _last_readers(self) -> dict[int, int]:
        """The last layer that reads what a layer makes."""
        found: dict[int, int] = {}
        for number, node in enumerate(self.order):
            for entry in node.inputs:
                found[id(entry.node)] = number
        return found

    # --- values -----------------------------------------------------------------------------------

    def compare(self) -> Iterator[tuple[Compared, Segment | None]]:
        """Each output that a user sees, in the order of the graph; with the layers to be searched where it differs."""
        for number, node in enumerate(self.order):
            if node.op is None:
                self._values[id(node), 0] = _Value(self.given[node.name])
                continue
            yield from self._node(node)
            self._forget(number)

    def _forget(self, number: int) -> None:
        """Let go what no later layer reads."""
        for key in [key for key in self._values if self._last.get(key[0], -1) <= number]:
            del self._values[key]
        needed = {place for value in self._values.values() for place in value.through}
        self._layers = {place: held for place, held in self._layers.items() if place in needed}

    @decides("Verify/layer-by-layer", "Verify/last-known")
    def _node(self, node: Node) -> Iterator[tuple[Compared, Segment | None]]:
        sources = [self._values.get(key_of(entry)) for entry in node.inputs]
        layer = Layer(node, [source.exact for source in sources if source is not None])
        outputs = _computed(layer) if all(source is not None for source in sources) else None
        hidden = any(source is not None and source.drafts is not None for source in sources)
        drafts = self._drafted(layer, sources, outputs) if outputs is not None else []
        self._layers[id(node)] = layer, [
            key_of(entry) if source is not None and source.drafts is not None else None
            for entry, source in zip(node.inputs, sources, strict=True)
        ]
        through = {key: value for source in sources if source is not None for key, value in source.through.items()}
        through[id(node)] = node
        for index in range(node.visible_count()):
            known = self.reference.get(node.entry_name(index))
            noisy = [draft[index] for draft in drafts]
            yield self._output(layer, outputs, noisy if hidden else None, index, through)
            if known is not None:
                self._values[id(node), index] = _Value(wide(known))
            elif outputs is not None:
                self._values[id(node), index] = _Value(outputs[index], noisy, through)

    @decides("Verify/layer-by-layer")
    def _output(
        self, layer: Layer, outputs: list[np.ndarray] | None, drafts: list[np.ndarray] | None, index: int,
        through: dict[int, Node],
    ) -> tuple[Compared, Segment | None]:
        """What becomes of one output, and the layers to be searched."""
        node, name = layer.node, layer.node.entry_name(index)
        known = self.reference.get(name)
        if outputs is None:
            return Compared(node, index, name, "skipped"), None
        if known is None:
            return Compared(node, index, name, "absent"), None
        target = wide(known)
        if target.shape != outputs[index].shape:
            bound = np.asarray(np.max(allowed(layer, outputs, index, self._unit_of(node, index)), initial=0.0))
            segment = self._segment(through, layer, index, target, outputs[index], bound)
            return Compared(node, index, name, "shape"), segment
        return self._compared(layer, outputs, drafts, index, name, target, through)

    def _drafted(
        self, layer: Layer, sources: list[_Value | None], outputs: list[np.ndarray]
    ) -> list[list[np.ndarray]]:
        """The outputs, computed in single precision and with noise as single precision has it."""
        visible = [layer.node.entry_name(index) for index in range(layer.node.visible_count())]
        known = all(source is not None and source.drafts is None for source in sources)
        if known and all(name in self.reference for name in visible):
            return []
        made = []
        for number in range(DRAFTS):
            arrays = [
                source.exact if source.drafts is None else source.drafts[number]
                for source in sources if source is not None
            ]
            try:
                found = layer.run(arrays, kind=SINGLE if number == 0 else DOUBLE)
            except MXNetError:
                found = outputs
            made.append([value if number == 0 else self._noisy(value) for value in found])
        return made

    def _noisy(self, value: np.ndarray) -> np.ndarray:
        if value.dtype.kind != "f" or not value.size:
            return value
        finite = value[np.isfinite(value)]
        size = np.abs(value) + (float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0)
        return value + _NOISE / 4 * UNITS["float32"] * size * self.random.standard_normal(value.shape)

    # --- comparison -------------------------------------------------------------------------------

    def _compared(
        self, layer: Layer, outputs: list[np.ndarray], drafts: list[np.ndarray] | None, index: int, name: str,
        target: np.ndarray, through: dict[int, Node],
    ) -> tuple[Compared, Segment | None]:
        exact = outputs[index]
        unit = self._unit_of(layer.node, index)
        off = distance(target, exact)
        node = layer.node
        if not off.size or float(np.max(off)) == 0 or bool(np.all(off <= 4 * unit * np.abs(exact))):
            return Compared(node, index, name, "equal", float(np.max(off, initial=0.0))), None
        bound = np.broadcast_to(allowed(layer, outputs, index, unit), exact.shape)
        for draft in drafts or ():
            bound = bound + _FACTOR * unit / UNITS["float32"] * float(np.max(distance(draft, exact)))
        if not np.all(off <= bound) and drafts is None:
            finer = tracked(layer, index, unit)
            bound = bound if finer is None else np.maximum(bound, finer)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(off > bound, off / bound, 0.0)
        worst = np.unravel_index(int(np.argmax(excess if excess.any() else off)), off.shape)
        place = tuple(int(i) for i in worst)
        said = (float(off[place]), float(bound[place]), place)
        if not excess.any():
            segment = self._halved(through, layer, index, target, exact, bound)
            return Compared(node, index, name, "equal" if segment is None else "differs", *said), segment
        return Compared(node, index, name, "differs", *said), self._segment(through, layer, index, target, exact, bound)

    def _halved(
        self, through: dict[int, Node], layer: Layer, index: int, target: np.ndarray, exact: np.ndarray,
        bound: np.ndarray,
    ) -> Segment | None:
        """Sums of many terms allow so much that numbers of half precision are within; these are seen as such."""
        unit = self._unit_of(layer.node, index)
        if unit == UNITS["float16"] or not is_half(target) or is_half(exact.astype(np.float32)):
            return None
        return self._segment(through, layer, index, target, exact, bound)

    def _segment(
        self, through: dict[int, Node], layer: Layer, index: int, target: np.ndarray, exact: np.ndarray,
        bound: np.ndarray,
    ) -> Segment:
        """The layers that the output was computed by since the last known values, in the order of the graph."""
        nodes = [node for node in self.order if id(node) in through]
        places = {id(node): number for number, node in enumerate(nodes)}
        layers = [self._layers[id(node)][0] for node in nodes]
        computed = [
            [None if key is None else (places[key[0]], key[1]) for key in self._layers[id(node)][1]] for node in nodes
        ]
        unit = self._unit_of(layer.node, index)
        return Segment(layers, computed, index, target, exact, np.broadcast_to(bound, exact.shape), unit)

    def _unit_of(self, node: Node, index: int) -> float:
        return self._unit or self._units.get((id(node), index), UNITS["float32"])


def _computed(layer: Layer) -> list[np.ndarray] | None:
    """What a layer makes of its inputs; None where numbers are drawn or inputs are refused."""
    if _draws(layer.node):
        return None
    try:
        return layer.run()
    except MXNetError:
        return None


def _draws(node: Node) -> bool:
    """Whether an operator draws random numbers in a prediction too."""
    return node.op is not None and node.op.random and node.op.name not in ("Dropout", "RNN", "LeakyReLU")


def is_half(value: np.ndarray) -> bool:
    """Whether all of many numbers have at most eleven significant bits."""
    finite = value[np.isfinite(value) & (value != 0)] if value.dtype.kind == "f" else np.zeros(0)
    if len(np.unique(finite)) < 8:
        return False
    with np.errstate(over="ignore"):
        return bool(np.array_equal(finite.astype(np.float16).astype(finite.dtype), finite))


__all__ = ["Compared", "Segment", "Walk", "is_half"]
