"""References that are run here: the file of a PyTorch module, and an ONNX file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...base import MXNetError, decides
from ...export.pytorch import hooking
from ...onnx import writing
from ...symbol.prediction import Prediction, prediction
from ..errors import refuse
from ..loaded import Network, Shapes
from .references import Reference, _drawn

SUFFIXES = (".py", ".onnx")


@decides("Verify/module")
def of_module(network: Network, path: str, given: Shapes) -> Reference:
    """What the layers of a PyTorch module make of drawn inputs.

    Args:
        network: that is compared.
        path: of the file, with the weights beside it.
        given: shapes of inputs.

    Raises:
        CommandError: the inputs do not fit, or no layer of the module has the name of one of the network.
        MXNetError: PyTorch is missing, or the file cannot be run.
    """
    found, inputs = _asked(network, given)
    return _named(network, path, inputs, hooking.values(Path(path), found, inputs))


@decides("Verify/onnx")
def of_onnx(network: Network, path: str, given: Shapes) -> Reference:
    """What the nodes of an ONNX file make of drawn inputs.

    Args:
        network: that is compared.
        path: of the file.
        given: shapes of inputs.

    Raises:
        CommandError: the inputs do not fit, or no tensor of the file has the name of a layer of the network.
        ImportError: onnx or onnxruntime is missing.
    """
    _, inputs = _asked(network, given)
    library = writing.imported()
    proto = library.load_model(path)
    there = {value.name for value in proto.graph.output}
    names = [name for node in proto.graph.node for name in node.output if name and name not in there]
    proto.graph.output.extend(library.ValueInfoProto(name=name) for name in names)
    taken = {value.name for value in proto.graph.input}
    tensors = writing.run(proto, {name: value for name, value in inputs.items() if name in taken}, optimised=False)
    return _named(network, path, inputs, tensors)


def _asked(network: Network, given: Shapes) -> tuple[Prediction, dict[str, np.ndarray]]:
    """What the network predicts, and drawn inputs in its types; the first states of recurrent layers are zeros."""
    network.require_inputs(given, "--shape")
    shapes = {name: shape for name, shape in network.shapes(given).items() if name not in network.labels}
    inputs = {name: np.zeros(shape) for name, shape in shapes.items()} | _drawn(network, given)
    inputs = {name: value.astype(network.types[name]) for name, value in inputs.items() if name in shapes}
    try:
        return prediction(network.net, network.arguments, network.auxiliary, shapes), inputs
    except MXNetError as error:
        raise refuse("Verify/reference", f"{network.prefix} predicts nothing: {error}") from error


def _named(network: Network, path: str, inputs: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> Reference:
    """The values under the names of the network's outputs."""
    names = [name for name in network.net.get_internals().list_outputs() if name not in network.net.list_inputs()]
    found = {name: values[key] for name in names for key in _spellings(name) if key in values}
    if not found:
        some = ", ".join(list(values)[:5]) or "no value"
        raise refuse("Verify/reference", f"{path} has no output of a layer of {network.prefix}, but {some}")
    return Reference(dict(inputs), found, None)


def _spellings(name: str) -> Iterator[str]:
    """An output's names in other libraries, the one that counts last: ``fc1`` and ``fc1_output``."""
    yield name.removesuffix("_output")
    yield name


__all__ = ["SUFFIXES", "of_module", "of_onnx"]
