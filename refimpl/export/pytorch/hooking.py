"""The values of layers in any PyTorch module: those that this package wrote, and others by the names of submodules."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from ...base import decides, refusal
from ...symbol.prediction import Prediction
from .module import class_name, module
from .running import Run, torch_library


@decides("Verify/module")
def values(path: Path, prediction: Prediction, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of layers by name.

    A file that ``refimpl export`` wrote shows every layer. Of another one, each submodule whose path is the name of a
    layer shows its output; dots count as underscores.

    Args:
        path: of the file.
        prediction: the network.
        inputs: what is fed, by name.

    Raises:
        MXNetError: PyTorch is missing, the file has no class to be made without arguments, or its weights do not fit.
    """
    torch_library()
    found = _written(path, prediction, inputs)
    return _hooked(path, prediction, inputs) if found is None else found


def _written(path: Path, prediction: Prediction, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """The values of a file whose class has the layers of one that is written here."""
    text = path.read_text(encoding="utf-8")
    title = text.partition('"""')[2].partition(" in PyTorch, exported from an MXNet checkpoint")
    if not title[1]:
        return None
    made = module(prediction, title[0], path.with_suffix(".safetensors").name)
    if f"class {class_name(title[0])}(" not in text:
        return None
    run = Run(made, path)
    run.forward(inputs)
    return run.values()


def _hooked(path: Path, prediction: Prediction, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    net = _loaded(path)
    layers = {node.name for node in prediction.symbol.order() if node.op is not None}
    found: dict[str, np.ndarray] = {}
    torch = torch_library()

    def keep(name: str) -> Any:
        def hook(_: Any, __: Any, output: Any) -> None:
            parts = output if isinstance(output, (tuple, list)) else [output]
            for index, part in enumerate(parts):
                if isinstance(part, torch.Tensor):
                    ending = "_output" if len(parts) == 1 else f"_output{index}"
                    found.setdefault(f"{name}{ending}", part.detach().numpy().copy())

        return hook

    for place, each in net.named_modules():
        names = (place, place.replace(".", "_"), place.rpartition(".")[2])
        name = next((one for one in names if one in layers), None)
        if name is not None:
            each.register_forward_hook(keep(name))
    with torch.no_grad():
        outputs = net(*(torch.from_numpy(np.array(inputs[name])) for name in prediction.inputs))
    parts = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    for name, part in zip(prediction.outputs, parts, strict=False):
        found.setdefault(name, part.detach().numpy())
    return found


def _loaded(path: Path) -> Any:
    """The module of a file: its only class of modules that is made without arguments, or its last one."""
    torch = torch_library()
    spec = spec_from_file_location("verified_module", path)
    assert spec is not None
    assert spec.loader is not None
    holder = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(holder)
    finally:
        sys.path.remove(str(path.parent))
    classes = [
        each for each in vars(holder).values()
        if isinstance(each, type) and issubclass(each, torch.nn.Module) and each.__module__ == holder.__name__
    ]
    for each in classes[::-1]:
        try:
            net = each()
        except TypeError:
            continue
        return _with_weights(net, path).eval()
    raise refusal("Torch/file", f"{path} has no class of torch.nn.Module that is made without arguments")


def _with_weights(net: Any, path: Path) -> Any:
    """The net with the weights of the file beside it, where there is one."""
    torch = torch_library()
    for ending in (".safetensors", ".pt", ".pth"):
        weights = path.with_suffix(ending)
        if not weights.is_file():
            continue
        if ending == ".safetensors":
            from safetensors.torch import load_file
            held = load_file(str(weights))
        else:
            held = torch.load(str(weights), weights_only=True)
        try:
            net.load_state_dict(held)
        except RuntimeError as error:
            raise refusal("Torch/file", f"{weights} does not fit the module: {error}") from error
        return net
    return net


__all__ = ["values"]
