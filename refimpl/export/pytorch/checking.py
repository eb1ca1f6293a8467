"""The check of a module file: every layer on the inputs that PyTorch gave it, and the gradient of every parameter."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base import decides
from ...symbol.ir import Node
from ...symbol.prediction import Prediction
from ..judging import Verdict, judge
from .gradient_check import gradient_verdicts
from .module import Picture, module
from .running import Run
from .weights import arrays, save


class Checked(NamedTuple):
    """What a check found."""

    layers: list[Verdict]
    gradients: list[Verdict]
    """For each layer with parameters: the gradient of the one that is furthest off."""


@decides("Torch/module")
def write(
    prediction: Prediction, path: str | os.PathLike[str], name: str = "", *, size: Sequence[int] = (),
    mean: Sequence[float] = (), std: Sequence[float] = (), labels: Sequence[str] = (), resize: int | None = None,
) -> list[Path]:
    """Write a network as a PyTorch module, and its weights beside it.

    Args:
        prediction: the network.
        path: of the file, which ends in ``.py``.
        name: of the network; the file's name, where it is empty.
        size: height and width to which the file's program resizes a picture.
        mean: what it subtracts, for each channel or for all.
        std: what it divides by.
        labels: names of the classes.
        resize: the length to which it first makes the shorter edge, to cut the middle out.

    Returns:
        the files that were written.

    Raises:
        MXNetError: an operator has no form in PyTorch, or safetensors is missing.
    """
    path = Path(path)
    made = module(prediction, name or path.stem, path.with_suffix(".safetensors").name, Picture(
        (int(size[0]), int(size[-1])) if len(size) else None, tuple(map(float, mean)), tuple(map(float, std)),
        tuple(labels), resize,
    ))
    weights = path.with_suffix(".safetensors")
    save(weights, arrays(made.state, prediction.params))
    path.write_text(made.text, encoding="utf-8")
    return [path, weights]


@decides("Torch/checked", "Torch/gradients")
def check(
    prediction: Prediction, path: str | os.PathLike[str], inputs: Mapping[str, np.ndarray] | None = None,
    name: str = "", *, elements: int = 500, gradients: bool = True, seed: int = 0,
) -> Checked:
    """Run a module file and hold each of its layers, and the gradient of each parameter, to the operators' pages.

    Args:
        prediction: the network.
        path: of the file that :func:`write` wrote.
        inputs: what is fed, by name; drawn numbers where it is None.
        name: of the network, as :func:`write` had it.
        elements: how many elements of each output are judged.
        gradients: whether a step of training is judged too.
        seed: of what is drawn.

    Raises:
        MXNetError: PyTorch is missing, or the file is not the module of this network.
    """
    path = Path(path)
    made = module(prediction, name or path.stem, path.with_suffix(".safetensors").name)
    run = Run(made, path)
    given = drawn(prediction, seed) if inputs is None else dict(inputs)
    run.forward(given)
    found = judge(prediction, run.values(), elements, seed)
    steps = gradient_verdicts(prediction, made, run, drawn(prediction, seed + 1), elements, seed) if gradients else []
    return Checked(found, steps)


def drawn(prediction: Prediction, seed: int = 0) -> dict[str, np.ndarray]:
    """Inputs: numbers between 0 and 1, whole numbers where rows are looked up, boxes where regions are read."""
    random = np.random.default_rng(seed)
    found = {}
    for name, (shape, kind) in prediction.inputs.items():
        readers = [
            (node, slot) for node in prediction.symbol.order() if node.op is not None
            for slot, entry in enumerate(node.inputs) if entry.node.name == name and entry.node.op is None
        ]
        found[name] = _drawn(readers, shape, np.dtype(kind), random, prediction)
    return found


def _shape(prediction: Prediction, node: Node, slot: int) -> tuple[int, ...]:
    """The shape of an input of a layer, where it is an input or a parameter of the network."""
    name = node.inputs[slot].node.name
    held = prediction.params.get(name)
    return prediction.inputs[name][0] if name in prediction.inputs else (4,) if held is None else held.shape


def _drawn(
    readers: list[tuple[Node, int]], shape: tuple[int, ...], kind: np.dtype, random: np.random.Generator,
    prediction: Prediction,
) -> np.ndarray:
    for node, slot in readers:
        operator, slots = node.kind, list(node.signature.inputs)
        role = slots[slot] if slot < len(slots) else ""
        if operator in ("Embedding", "_contrib_SparseEmbedding") and role == "data":
            return random.integers(0, node.params.input_dim, shape).astype(kind)
        if role in ("indices", "index"):
            return random.integers(0, max(1, min(_shape(prediction, node, 0))), shape).astype(kind)
        if role in ("sequence_length", "length", "data_lengths"):
            return random.integers(1, 4, shape).astype(kind)
        if role == "rois":
            sides = prediction.inputs.get(node.inputs[0].node.name, ((0, 0, 32, 32), kind))[0]
            boxes = np.sort(random.uniform(0, max(sides[2:]), (*shape[:-1], 2, 2)), axis=-2).reshape(*shape[:-1], 4)
            return np.concatenate([np.zeros((*shape[:-1], 1)), boxes], axis=-1).astype(kind)
        if role == "im_info":
            found = np.ones(shape)
            found[:, :2] = 160
            return found.astype(kind)
    if kind.kind in "iu":
        return random.integers(0, 8, shape).astype(kind)
    return random.uniform(size=shape).astype(kind)


__all__ = ["Checked", "check", "drawn", "write"]
