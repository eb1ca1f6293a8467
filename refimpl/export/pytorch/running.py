"""Runs a module file in PyTorch and shows what each layer of the network reads and makes there.

The file's own text is run. Around each expression that stands for a layer goes a call that keeps its value; where the
expressions are follows from the text that ``module.py`` writes, walked in step with the file's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...base import refusal
from .module import Written

_SEEN = "_seen"


def torch_library() -> Any:
    """The module ``torch``.

    Raises:
        MXNetError: it is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise refusal(
            "Torch/extra", 'a PyTorch module is run by PyTorch; install it: pip install "refimpl[pytorch]"'
        ) from error
    return torch


class Run:
    """A module of a file, with its weights.

    Args:
        written: what ``module.py`` writes for the network; its tables say which expression is which layer.
        path: of the file.

    Raises:
        MXNetError: PyTorch is missing, the file has no such class, or its weights do not fit.
    """

    def __init__(self, written: Written, path: Path) -> None:
        self.torch = torch_library()
        self.written = written
        self._told: Callable[[str, int, Any, Any], None] | None = None
        text = path.read_text(encoding="utf-8")
        tree = _watched(ast.parse(text), written)
        module = ModuleType("exported")
        module.__file__ = str(path)
        module.__dict__[_SEEN] = self._seen
        exec(compile(tree, str(path), "exec"), module.__dict__)  # noqa: S102  # the file is what is checked
        made = getattr(module, written.name, None)
        if made is None:
            raise refusal("Torch/file", f"{path} has no class {written.name}")
        self.net = made()
        self._load(path.with_suffix(".safetensors"))
        self.paths = {id(each): name for name, each in self.net.named_modules()}

    def _load(self, weights: Path) -> None:
        from safetensors.numpy import load_file

        if not weights.is_file():
            raise refusal("Torch/file", f"{weights} does not exist; the module has its weights there")
        held = {name: self.torch.from_numpy(value.copy()) for name, value in load_file(str(weights)).items()}
        for name, value in self.net.state_dict().items():  # weights of half precision make a net of half precision
            if name in held and held[name].dtype != value.dtype and value.dtype.is_floating_point:
                _set(self.net, name, held[name])
        try:
            self.net.load_state_dict(held)
        except RuntimeError as error:
            raise refusal("Torch/file", f"{weights} does not fit the module: {error}") from error

    def _seen(self, place: str, module: Any, value: Any) -> Any:
        if self._told is None:
            return value
        names = place.split()
        for name in names:
            value = self._one(int(name), module, value)
        return value

    def _one(self, column: int, module: Any, value: Any) -> Any:
        path = self.paths[id(module)]
        items = self.written.layers.get((path, column), [])
        count = self._counts.get((path, column), 0)
        self._counts[path, column] = count + 1
        if count >= len(items):
            return value
        item = items[count]
        if item.suffixes == [""]:
            return self._keep(item.entries[0], value)
        for entry, suffix in zip(item.entries, item.suffixes, strict=True):
            part = self._keep(entry, eval(f"value{suffix}", {"value": value, "torch": self.torch}))  # noqa: S307
            if re.fullmatch(r"(\[\d+\])+", suffix):
                value = _exchanged(value, [int(place) for place in re.findall(r"\d+", suffix)], part)
        return value

    def _keep(self, entry: str | None, value: Any) -> Any:
        if entry is not None and isinstance(value, self.torch.Tensor):
            if self._apart and value.requires_grad:
                value = value.clone()  # so that values that are one array have gradients of their own
                value.retain_grad()
            self.tensors[entry] = value
        return value

    def forward(self, inputs: Mapping[str, np.ndarray], *, train: bool = False, gradients: bool = False) -> list[Any]:
        """The outputs as tensors; ``tensors`` has the output of each layer by its name.

        Args:
            inputs: the network's inputs by name.
            train: whether norms take the statistics of the batch.
            gradients: whether every layer's output keeps its gradient.
        """
        self.tensors: dict[str, Any] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._apart = gradients
        self._told = lambda *_: None
        self.net.train(train)
        for each in self.net.modules():
            if isinstance(each, self.torch.nn.RNNBase):
                each.dropout = 0.0  # what it draws is not seen from outside
        given = {}
        for name, argument in self.written.inputs.items():
            tensor = self.torch.from_numpy(np.array(inputs[name]))
            given[argument] = tensor.requires_grad_(gradients and tensor.is_floating_point())
            self.tensors[name] = given[argument]
        with self.torch.set_grad_enabled(gradients):
            found = self.net(**given)
        self._told = None
        return list(found) if isinstance(found, tuple) else [found]

    def values(self) -> dict[str, np.ndarray]:
        """What the layers made, as arrays."""
        return {name: value.detach().numpy() for name, value in self.tensors.items()}


def _exchanged(value: Any, places: list[int], part: Any) -> Any:
    """The tuple of tuples with another part at a place."""
    if not places:
        return part
    first, *rest = places
    return tuple(_exchanged(each, rest, part) if index == first else each for index, each in enumerate(value))


def _set(net: Any, name: str, value: Any) -> None:
    owner = net
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    getattr(owner, last).data = value


# --- where the layers are -----------------------------------------------------------------------------


def _watched(tree: ast.Module, written: Written) -> ast.Module:
    """The file's tree with a call around each expression of a layer."""
    wanted: dict[tuple[str, tuple[int, int, int, int]], list[int]] = {}
    for (owner, column), span in sorted(written.sites.items(), key=lambda pair: pair[0][1]):
        wanted.setdefault((owner, span), []).append(column)
    spots: dict[int, str] = {}
    mine = {node.name: node for node in ast.parse(written.text).body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in mine:
            _paired(mine[node.name], node, node.name, wanted, spots)
    return ast.fix_missing_locations(_Watch(spots).visit(tree))


def _paired(
    mine: ast.AST, theirs: ast.AST, owner: str, wanted: Mapping[Any, list[int]], spots: dict[int, str]
) -> None:
    """Walk both trees in step, as far as they are alike."""
    if isinstance(mine, ast.expr) and mine.end_lineno is not None and mine.end_col_offset is not None:
        span = (mine.lineno, mine.col_offset, mine.end_lineno, mine.end_col_offset)
        columns = wanted.get((owner, span))
        if columns and isinstance(theirs, ast.expr) and isinstance(getattr(mine, "ctx", ast.Load()), ast.Load):
            spots[id(theirs)] = " ".join(map(str, columns))
    if isinstance(mine, ast.Call) and isinstance(theirs, ast.Call):
        ours = {keyword.arg: keyword.value for keyword in mine.keywords}
        pairs: list[Any] = [(mine.func, theirs.func), *zip(mine.args, theirs.args, strict=False)]
        pairs += [(ours[keyword.arg], keyword.value) for keyword in theirs.keywords if keyword.arg in ours]
    else:
        pairs = list(zip(ast.iter_child_nodes(mine), ast.iter_child_nodes(theirs), strict=False))
    for ours_, theirs_ in pairs:
        _paired(ours_, theirs_, owner, wanted, spots)


class _Watch(ast.NodeTransformer):
    def __init__(self, spots: Mapping[int, str]) -> None:
        self.spots = spots

    def visit(self, node: ast.AST) -> Any:
        place = self.spots.get(id(node))
        found: Any = self.generic_visit(node)
        if place is None:
            return found
        return ast.Call(ast.Name(_SEEN, ast.Load()), [ast.Constant(place), ast.Name("self", ast.Load()), found], [])


__all__ = ["Run", "torch_library"]
