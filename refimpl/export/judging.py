"""Whether an exported network computes what the network computes: each layer by itself.

A layer is judged on the inputs that the exported run itself gave it, so that errors do not gather from layer to layer.
``narrowing`` draws elements of its output. They are computed in double precision by the page of the operator, and may
be off by what single precision explains: a sum of products by the number of terms, times the unit, times the sum of
the magnitudes; any other small layer by the bounds of the oracle; what only moves numbers, by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, decides
from ..kernels.foundation.loop import plain_kernels
from ..oracle.bounds import tracking
from ..symbol.inference import key_of
from ..symbol.ir import Node
from ..symbol.prediction import Prediction
from .layer import DOUBLE, SINGLE, Layer, bound_layer, wide
from .narrowing import Part, narrowed

UNITS = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
"""Half the distance from 1 to the next number."""
SMALLEST = {"float16": 2.0**-24, "float32": 2.0**-126, "float64": 2.0**-1022}
"""What may be lost where a number is near 0."""
MOST_NUMBERS = 40_000  # that the oracle's arithmetic, which is Python, may read and write in one layer
_LAST_ROUNDING = 4  # units of the result that every operator may be off by, unless it only moves numbers
_FACTOR = 32  # errors of our single precision that stand for those of another order of operations
_SATURATES = 8  # units of 1 that the next ones may be off by, as rational formulas are
_BOUNDED = frozenset(("sigmoid", "tanh", "erf", "softmax", "RNN"))
_BOUNDED_KINDS = frozenset(("sigmoid", "tanh", "gelu", "elu", "selu"))  # of layers with an act_type


class Verdict(NamedTuple):
    """What became of a layer."""

    layer: str
    operator: str
    elements: int
    """How many were judged."""
    worst: float
    """The largest error, as a multiple of its bound: above 1 it is no rounding."""
    ok: bool
    note: str = ""
    """The place of the worst element with both numbers, or why nothing could be compared."""


@decides("Export/own-inputs")
def judge(
    prediction: Prediction, values: Mapping[str, np.ndarray], elements: int = 500, seed: int = 0
) -> list[Verdict]:
    """Hold each layer of an exported run to what its operator's page computes of the same inputs.

    Args:
        prediction: the network.
        values: inputs and outputs of layers by name, as the exported run had them. A layer whose output is missing is
            not judged; its output is computed here.
        elements: how many of each output are judged, at most.
        seed: of the drawing.

    Returns:
        a verdict for each layer that has a value, in the order of the graph.

    Raises:
        ValueError: an input is missing from ``values``.
    """
    missing = [name for name in prediction.inputs if name not in values]
    if missing:
        raise ValueError(f"values lack the inputs {', '.join(missing)}")
    with plain_kernels(), np.errstate(all="ignore"):
        return _Judge(prediction, values, elements, seed).verdicts()


class _Judge:
    def __init__(self, prediction: Prediction, values: Mapping[str, np.ndarray], elements: int, seed: int) -> None:
        self.order, self.given = prediction.symbol.order(), values
        self.elements, self.seed = elements, seed
        self.params = prediction.params
        internals = prediction.symbol.get_internals()
        known = {name: shape for name, (shape, _) in prediction.inputs.items()}
        known |= {name: value.shape for name, value in prediction.params.items()}
        shapes = internals.infer_shape_partial(**known)[1]
        self.shapes = {key_of(entry): tuple(s or ()) for entry, s in zip(internals.entries, shapes, strict=True)}
        self.values: dict[Any, np.ndarray | None] = {}

    def verdicts(self) -> list[Verdict]:
        found = []
        for number, node in enumerate(self.order):
            if node.op is None:
                value = self.params.get(node.name)
                self.values[id(node), 0] = np.asarray(self.given[node.name] if value is None else value)
                continue
            verdict = self._node(node, np.random.default_rng([self.seed, number]))
            if verdict is not None:
                found.append(verdict)
        return found

    def _node(self, node: Node, rng: np.random.Generator) -> Verdict | None:
        arrays = [value for value in (self.values[key_of(entry)] for entry in node.inputs) if value is not None]
        layer = Layer(node, arrays) if len(arrays) == len(node.inputs) else None
        judged = self._keep(node, layer)
        if not judged:
            return None
        if layer is None:
            return Verdict(node.name, node.kind, 0, np.inf, ok=False, note="an input has no value")
        found = [self._output(layer, index, rng) for index in judged]
        worst = max(found, key=lambda verdict: (not verdict.ok, verdict.worst))
        return worst._replace(elements=sum(verdict.elements for verdict in found))

    def _keep(self, node: Node, layer: Layer | None) -> list[int]:
        """Keep the outputs of a layer for its readers; return the numbers of the outputs that the exported run has."""
        names = [node.entry_name(index) for index in range(node.visible_count())]
        shown = [index for index, name in enumerate(names) if name in self.given]
        made: list[np.ndarray | None] = [None] * len(names)
        if len(shown) < len(names) and layer is not None:
            made = list(_computed(layer)) or made
        for index, (name, value) in enumerate(zip(names, made, strict=True)):
            self.values[id(node), index] = np.asarray(self.given[name]) if index in shown else value
        return shown

    @decides("Export/shapes")
    def _output(self, layer: Layer, index: int, rng: np.random.Generator) -> Verdict:
        node = layer.node
        target = np.asarray(self.given[node.entry_name(index)])
        verdict = Verdict(node.name, node.kind, 0, np.inf, ok=False)
        shape = self.shapes[id(node), index] or target.shape
        if target.shape != shape:
            return verdict._replace(note=f"shape {_told(target.shape)}, not {_told(shape)}")
        if any(self.shapes[key_of(e)] not in ((), a.shape) for e, a in zip(node.inputs, layer.arrays, strict=True)):
            return verdict._replace(note="an input has another shape")
        if target.size == 0:
            return verdict._replace(worst=0.0, ok=True)
        part = narrowed(layer, index, shape, self.elements, rng)
        given = target.reshape(-1)[part.at]
        try:
            exact, bound = expected(part, index, given, target.dtype)
        except MXNetError as error:
            return verdict._replace(note=str(error))
        off = distance(wide(given), exact)
        with np.errstate(divide="ignore", invalid="ignore"):
            units = np.where(off == 0, 0.0, np.where(np.isinf(bound), 0.0, off / bound))
        at = int(np.argmax(units))
        place = np.unravel_index(part.at[at], shape)
        note = f"{given[at]:.9g}, not {exact[at]:.9g}, at {_told(place)}" if units[at] > 1 else ""
        return verdict._replace(elements=len(given), worst=float(units[at]), ok=bool(units[at] <= 1), note=note)


def _computed(layer: Layer) -> list[np.ndarray]:
    """What a layer makes, in the type of its inputs; nothing where the operator refuses them."""
    kind = next((value.dtype for value in layer.arrays if value.dtype.kind == "f"), SINGLE)
    try:
        return [value.astype(kind) if value.dtype.kind == "f" else value for value in layer.run(kind=kind)]
    except MXNetError:
        return []


def _told(sides: Any) -> str:
    return f"({', '.join(str(int(side)) for side in sides)})"


@decides("Export/bounds")
def expected(part: Part, index: int, given: np.ndarray, kind: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """What drawn elements are, and how far each may be off.

    Args:
        part: the elements.
        index: of the output.
        given: what the exported run has for them.
        kind: the type of that.

    Returns:
        two float64 arrays, one number for each element.

    Raises:
        MXNetError: the operator refuses its inputs.
    """
    layer, allowed = part.layer, _Allowed.of(part.layer, kind)
    small = not part.terms and _numbers(layer) <= MOST_NUMBERS and kind != np.float64
    if not small or part.take is part.at:  # the whole layer, in machine code
        exact = wide(layer.run()[index].reshape(-1)[part.take])
        if np.array_equal(wide(given), exact, equal_nan=True):
            return exact, np.zeros(exact.shape)
    if part.terms:
        sizes = layer.run([np.abs(value) if value.dtype.kind == "f" else value for value in layer.arrays])
        return exact, part.terms * allowed.sums * np.abs(sizes[index].reshape(-1)[part.take]) + allowed.near(exact)
    exact, bound = (_tracked(part, index) if small else None) or _moved(part, index, allowed)
    free = ~np.isfinite(bound) | np.isnan(exact)  # behind a branch that rounding decides, or at a pole
    stays = (bound == 0) & (allowed.slack == 0) & (exact.astype(kind) == exact) & ~free
    if free.any():
        nearer, off = _measured(part, index, given)
        exact, bound = np.where(free, nearer, exact), np.where(free, off * allowed.sums / UNITS["float32"], bound)
    return exact, np.where(stays, 0.0, bound + allowed.near(exact) + allowed.slack)


class _Allowed(NamedTuple):
    """What any element of a layer may be off by."""

    kind: np.dtype
    sums: float
    """The unit of the arithmetic; half precision is added up in single precision."""
    last: float
    """Units of the result."""
    tiny: float
    slack: float

    @classmethod
    def of(cls, layer: Layer, kind: np.dtype) -> _Allowed:
        name = kind.name if kind.name in UNITS else "float32"
        sums = UNITS["float64" if name == "float64" else "float32"]
        last = UNITS[name] * (1 if name == "float16" else _LAST_ROUNDING)
        return cls(kind, sums, last, SMALLEST[name], _SATURATES * sums * _saturates(layer))

    def near(self, exact: np.ndarray) -> np.ndarray:
        """The last rounding of results."""
        return self.last * np.abs(exact) + self.tiny


def _moved(part: Part, index: int, allowed: _Allowed) -> tuple[np.ndarray, np.ndarray]:
    """The elements, which are exact where all of them are numbers of their type, and nothing is known elsewhere."""
    exact = wide(part.layer.run()[index].reshape(-1)[part.take])
    moved = allowed.slack == 0 and np.array_equal(exact.astype(allowed.kind), exact, equal_nan=True)
    return exact, np.full(exact.shape, 0.0 if moved else np.inf)


def _measured(part: Part, index: int, given: np.ndarray) -> tuple[np.ndarray, float]:
    """Of double and single precision what is nearer, and what the two differ by where branches agree, many times over.

    Where they differ by more than a thousandth of the output they took different branches, and either is right.
    """
    double, single = (wide(part.layer.run(kind=kind)[index].reshape(-1)) for kind in (DOUBLE, SINGLE))
    apart, largest = distance(single, double), float(np.max(np.abs(double[np.isfinite(double)]), initial=0.0))
    off = float(np.max(apart[apart <= 1e-3 * largest], initial=0.0))
    one, other = double[part.take], single[part.take]
    return np.where(distance(wide(given), other) < distance(wide(given), one), other, one), _FACTOR * off


def _numbers(layer: Layer) -> int:
    """How many numbers the oracle would have to read."""
    rounds = prod(layer.arrays[0].shape[:2]) if layer.operator == "RNN" else 1  # each reads all parameters
    return rounds * sum(value.size for value in layer.arrays)


def _saturates(layer: Layer) -> bool:
    """Whether an operator is one of functions that other libraries compute to a part of 1, not of the result."""
    return layer.operator in _BOUNDED or getattr(layer.params, "act_type", "") in _BOUNDED_KINDS


def _tracked(part: Part, index: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The elements with the oracle's bounds, which are those of single precision; None where the oracle has none."""
    try:
        with tracking() as shadow:
            made: Any = bound_layer(part.layer.node, part.layer.arrays, SINGLE).forward(is_train=False)[index]
            values, bounds = shadow.of(made)
    except MXNetError:
        return None
    return values.reshape(-1)[part.take], bounds.reshape(-1)[part.take]


@decides("Verify/not-finite")
def distance(target: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far each element is; infinite where one is no number, or infinite, and the other is not the same."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(np.subtract(target, exact, dtype=np.float64))
    same = (target == exact) | (np.isnan(target) & np.isnan(exact))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


__all__ = ["SMALLEST", "UNITS", "Verdict", "distance", "judge"]
