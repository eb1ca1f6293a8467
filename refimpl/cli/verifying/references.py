"""Where the values of a reference come from: an npz file of another implementation, or a second checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...base import MXNetError, decides
from ...export.layer import DOUBLE, Layer, wide
from ..errors import refuse
from ..feeding import read_npz
from ..loaded import ZEROS, Network, Shapes
from .allowed import UNITS


class Reference(NamedTuple):
    """What a network is compared with."""

    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    unit: float | None
    """Of its precision, where that is not the precision of the network."""


def _named_once(network: Network) -> list[str]:
    """The outputs of layers whose names no other has."""
    known = [key for key in network.net.get_internals().list_outputs() if key not in network.net.list_inputs()]
    return [key for key in known if known.count(key) == 1]


@decides("Verify/reference")
def of_npz(network: Network, name: str) -> Reference:
    """The arrays of an npz file: inputs by their names, outputs of layers by theirs.

    Raises:
        CommandError: the file is damaged, lacks an input, or names no output of a layer.
    """
    arrays = read_npz(name)
    inputs = {
        key: value for key, value in arrays.items() if key in network.inputs and key not in network.labels
    }
    missing = [key for key in network.inputs if key not in inputs and not ZEROS.search(key)]
    if missing:
        raise refuse(
            "Verify/reference",
            f"{name} lacks {', '.join(missing)}, which the network reads; it has {_some(arrays)}. Save the input that"
            " the outputs were computed from under its name",
        )
    internals = network.net.get_internals()
    once = _named_once(network)
    rest = {key: value for key, value in arrays.items() if key not in inputs and key not in network.labels}
    outputs = {key if key in once else f"{key}_output": value for key, value in rest.items()}
    if not set(once) & set(outputs):
        raise refuse(
            "Verify/reference",
            f"{name} has no output of a layer, but {_some(rest)}; {network.prefix} has {_some(once)}",
        )
    kinds = dict(zip(internals.list_outputs(), internals.infer_type_partial(**network.types)[1], strict=True))
    outputs |= {key: _typed(outputs[key], kinds[key]) for key in once if key in outputs}
    network.shapes({key: value.shape for key, value in inputs.items()})
    return Reference(inputs, outputs, None)


def _typed(value: np.ndarray, kind: Any) -> np.ndarray:
    """Whole numbers in the type that the network has there; a reference may hold them in another one."""
    if kind is None or np.dtype(kind).kind == "f":
        return value if value.dtype.kind == "f" else value.astype(DOUBLE)
    with np.errstate(invalid="ignore"):
        whole = value.astype(kind)
    return whole if np.array_equal(whole, value) else value


def _some(names: Mapping[str, object] | list[str]) -> str:
    shown = list(names)[:5]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "") if shown else "nothing"


@decides("Verify/checkpoint")
def of_checkpoint(network: Network, other: Network, given: Shapes) -> Reference:
    """Every output of a second checkpoint, in double precision, of random inputs.

    Args:
        network: that is compared.
        other: the reference.
        given: shapes of inputs.

    Raises:
        CommandError: the inputs of the two do not fit.
    """
    network.require_inputs(given, "--shape")
    other.require_inputs(given, "--shape")
    network.shapes(given)
    shapes = other.shapes(given)
    inputs = _drawn(network, given)
    values: dict[str, np.ndarray] = {name: np.zeros(shape) for name, shape in shapes.items()}
    values |= {name: wide(value) for name, value in other.held().items()}
    values |= inputs
    made: dict[tuple[int, int], np.ndarray] = {}
    outputs: dict[str, np.ndarray] = {}
    for node in other.net.order():
        if node.op is None:
            made[id(node), 0] = values[node.name]
            continue
        if any((id(entry.node), entry.index) not in made for entry in node.inputs):
            continue
        try:
            found = Layer(node, [made[id(entry.node), entry.index] for entry in node.inputs]).run()
        except MXNetError:
            continue  # told as an output that the reference lacks
        for index, value in enumerate(found):
            made[id(node), index] = value
            outputs[node.entry_name(index)] = value
    return Reference(inputs, outputs, UNITS["float64"])


def _drawn(network: Network, given: Shapes) -> dict[str, np.ndarray]:
    """Numbers between 0 and 1, or whole numbers where an embedding looks rows up; always the same."""
    stream = np.random.RandomState(0)
    rows = {
        node.inputs[0].node.name: node.params.input_dim
        for node in network.net.order() if node.op is not None and node.op.name == "Embedding"
    }
    return {
        name: np.floor(stream.uniform(size=shape) * rows[name]) if name in rows else stream.uniform(size=shape)
        for name, shape in given.items()
    }


__all__ = ["Reference", "of_checkpoint", "of_npz"]
