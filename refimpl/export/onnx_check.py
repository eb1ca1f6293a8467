"""The check of an ONNX file: each layer on the inputs that ONNX Runtime gave it, and outputs as they are optimised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import MXNetError, decides
from ..onnx import writing
from ..onnx.converting import Graph
from ..symbol.inference import key_of
from ..symbol.prediction import Prediction
from .judging import SMALLEST, UNITS, Verdict, distance, judge
from .layer import DOUBLE, SINGLE, Layer

_FACTOR = 32  # how many times further off than the run that was judged the optimised one may be
OPTIMISED = "optimised"


@decides("Onnx/checked")
def check(
    prediction: Prediction, graph: Graph, proto: Any, given: Mapping[str, np.ndarray], elements: int = 500,
    seed: int = 0,
) -> list[Verdict]:
    """Run a model and hold it to the network.

    Args:
        prediction: the network.
        graph: the graph that was written.
        proto: the model, as it was read from the file.
        given: the inputs by name.
        elements: how many elements of each output are judged.
        seed: of the drawing of elements.

    Returns:
        a verdict for each layer, and one for each output of the session that optimises, whose operator is
        ``OPTIMISED``.

    Raises:
        ImportError: onnx or onnxruntime is not installed.
    """
    taken = {value.name for value in proto.graph.input}
    fed = {name: value for name, value in given.items() if name in taken}
    values = writing.run(with_layers(proto, graph), fed, optimised=False)
    layers = {name: values[tensor] for name, tensor in graph.layers.items() if tensor in values}
    found = judge(prediction, {**given, **layers}, elements, seed)
    faster = writing.run(proto, fed)
    exact = _exact(prediction, given)
    for name, tensor, true in zip(prediction.outputs, graph.outputs, exact, strict=True):
        found.append(_optimised(name, faster[tensor], values[tensor], true))
    return found


def with_layers(proto: Any, graph: Graph) -> Any:
    """A copy of a model with the outputs of every layer among its own."""
    made = type(proto)()
    made.CopyFrom(proto)
    there = {value.name for value in made.graph.output}
    made.graph.output.extend(
        writing.imported().ValueInfoProto(name=name) for name in graph.layers.values() if name not in there
    )
    return made


def _exact(prediction: Prediction, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of the network in double precision, where its operators have it."""
    values: dict[Any, np.ndarray] = {}
    for node in prediction.symbol.order():
        if node.op is None:
            value = prediction.params.get(node.name, given.get(node.name))
            assert value is not None
            values[id(node), 0] = value.astype(DOUBLE) if value.dtype.kind == "f" else value
            continue
        layer = Layer(node, [values[key_of(entry)] for entry in node.inputs])
        try:
            made = layer.run()
        except MXNetError:
            made = layer.run(kind=SINGLE)
        values |= {(id(node), index): value for index, value in enumerate(made)}
    return [values[key_of(entry)] for entry in prediction.symbol.entries]


def _optimised(name: str, target: np.ndarray, judged: np.ndarray, exact: np.ndarray) -> Verdict:
    """An output may be as far from double precision as the judged run is, a few times over."""
    if target.shape != exact.shape:
        return Verdict(name, OPTIMISED, target.size, np.inf, ok=False, note=f"shape {target.shape}, not {exact.shape}")
    if not target.size:
        return Verdict(name, OPTIMISED, 0, 0.0, ok=True)
    unit, tiny = UNITS.get(target.dtype.name, UNITS["float32"]), SMALLEST.get(target.dtype.name, 0.0)
    with np.errstate(all="ignore"):
        apart = distance(judged, exact)
        size = float(np.max(np.abs(exact[np.isfinite(exact)]), initial=0.0))
        bound = _FACTOR * (float(np.max(apart[np.isfinite(apart)], initial=0.0)) + unit * size) + tiny
        off = np.minimum(distance(target, exact), distance(target, judged))  # a branch goes as in either of them
    at = np.unravel_index(int(np.argmax(off)), off.shape)
    worst = float(off[at] / bound) if off[at] else 0.0
    place = f"({', '.join(str(int(side)) for side in at)})"
    note = f"{float(target[at]):.9g}, not {float(exact[at]):.9g}, at {place}" if worst > 1 else ""
    return Verdict(name, OPTIMISED, target.size, worst, ok=worst <= 1, note=note)


__all__ = ["OPTIMISED", "check", "with_layers"]
