"""The weights of a module: parameters of the network in the form that PyTorch's layers have, as a safetensors file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...base import decides, refusal
from ...files.atomic import write_atomically
from .parts import State

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@decides("Torch/weights")
def arrays(state: Mapping[str, State], params: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the state dict by name; norms also get the count of batches that PyTorch keeps."""
    found: dict[str, np.ndarray] = {}
    for name, held in state.items():
        found[name] = np.ascontiguousarray(changed(params[held.parameter], held.change))
        if name.endswith("running_var"):
            found[name.replace("running_var", "num_batches_tracked")] = np.zeros((), np.int64)
    return found


def changed(value: np.ndarray, change: str) -> np.ndarray:
    """A parameter in the form of a layer of PyTorch.

    Args:
        value: the parameter.
        change: "" for none, "ones", "each n" for n copies of every number, or "rnn" with a part of its vector.
    """
    words = change.split()
    if not words:
        return value
    if words[0] == "ones":
        return np.ones_like(value)
    if words[0] == "each":
        return np.repeat(value.reshape(-1), int(words[1]))
    place, inputs, hidden, layers, projection, mode, both = words[1:]
    begin, shape = rnn_places(int(inputs), int(hidden), int(layers), int(projection), mode, both == "1")[place]
    return value[begin:begin + int(np.prod(shape))].reshape(shape)


def rnn_places(
    inputs: int, hidden: int, layers: int, projection: int, mode: str, both: bool
) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Where the vector of an RNN has each matrix: PyTorch's name -> (first element, shape).

    Args:
        inputs: size of an input.
        hidden: size of the state.
        layers: number of layers.
        projection: size of the projection, 0 for none.
        mode: the kind of cell.
        both: whether it runs in both directions.
    """
    gates, seen = _GATES[mode] * hidden, projection or hidden
    endings = ("", "_reverse") if both else ("",)
    found: dict[str, tuple[int, tuple[int, ...]]] = {}
    place = 0

    def put(name: str, shape: tuple[int, ...]) -> None:
        nonlocal place
        found[name] = (place, shape)
        place += int(np.prod(shape))

    for layer in range(layers):
        for ending in endings:
            put(f"weight_ih_l{layer}{ending}", (gates, inputs if layer == 0 else seen * len(endings)))
            put(f"weight_hh_l{layer}{ending}", (gates, seen))
            if projection:
                put(f"weight_hr_l{layer}{ending}", (projection, hidden))
    for layer in range(layers):
        for ending in endings:
            put(f"bias_ih_l{layer}{ending}", (gates,))
            put(f"bias_hh_l{layer}{ending}", (gates,))
    return found


def save(path: str | os.PathLike[str], found: Mapping[str, np.ndarray]) -> None:
    """Write arrays as a safetensors file.

    Raises:
        MXNetError: safetensors is not installed.
    """
    try:
        from safetensors.numpy import save as as_bytes
    except ImportError as error:
        raise refusal(
            "Torch/extra", 'the weights are written with safetensors; install it: pip install "refimpl[pytorch]"'
        ) from error
    write_atomically(Path(path), as_bytes(dict(found)))


__all__ = ["arrays", "changed", "rnn_places", "save"]
