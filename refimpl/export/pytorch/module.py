"""The text of a PyTorch module: helper functions, classes of blocks, the network's class, a program that runs it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...base import decides
from ...symbol.prediction import Prediction
from . import blocks
from .helpers import sources
from .items import Layers
from .parts import OWN, Input, Item, Key, Number, State, literal, unmarked
from .scopes import RESERVED, Column, Ref, Scope, free, key_refs, sanitised


class Picture(NamedTuple):
    """How the file's program turns a picture into the input."""

    size: tuple[int, int] | None = None
    """Height and width; those of the input, where it is None."""
    mean: tuple[float, ...] = ()
    """What is subtracted, for each channel; 0 where it is empty."""
    std: tuple[float, ...] = ()
    """What the difference is divided by; 1 where it is empty."""
    labels: tuple[str, ...] = ()
    """The names of the classes."""
    resize: int | None = None
    """The length of the shorter edge, of which the middle is then cut out."""


@dataclass
class Written:
    """A module as text, with what its parts stand for."""

    text: str
    name: str
    """The network's class."""
    state: dict[str, State]
    """Each array of the state dict."""
    sites: dict[tuple[str, int], tuple[int, int, int, int]]
    """(class, column) -> line and column of the beginning and of the end of its expression."""
    layers: dict[tuple[str, int], list[Item]]
    """(path of the module, column) -> the items that run there, in their order."""
    inputs: dict[str, str] = field(default_factory=dict)
    """The network's input -> the argument of ``forward``."""


@decides("Torch/one-class", "Torch/names")
def module(prediction: Prediction, name: str, weights: str, picture: Picture | None = None) -> Written:
    """The text of a module.

    Args:
        prediction: the network.
        name: of the network, of which the class has the name.
        weights: name of the file with the weights.
        picture: how the program reads a picture.

    Raises:
        MXNetError: an operator has no form in PyTorch.
    """
    return _Writer(prediction, name, weights, picture or Picture()).written()


class _Writer:
    def __init__(self, prediction: Prediction, name: str, weights: str, picture: Picture) -> None:
        self.prediction, self.weights, self.picture = prediction, weights, picture
        self.network = name
        self.layers = Layers(prediction)
        self.outputs: list[Key] = [(id(entry.node), entry.index) for entry in prediction.symbol.entries]
        self.helpers = sources()
        self.scopes: list[Scope] = []
        self.name = class_name(name)

    def written(self) -> Written:
        """The text and its tables."""
        items = self.layers.items
        for group_of in (blocks.chains, blocks.segments):
            groups = group_of(items, self.outputs)
            items = blocks.replaced(items, self.outputs, groups, self._scope, merge=group_of is blocks.segments)
        items = _sequences(items, self.outputs)
        main = self._main(items)
        texts = [scope.text() for scope in [*self.scopes, main]]
        body = "\n\n\n".join(texts)
        program = self._program(main)
        used = self._used_helpers(unmarked(body))
        head = self._head("\n".join([unmarked(body), program, *used]))
        text = "\n\n\n".join([head, *used, body, program]) + "\n"
        plain, places = _places(text)
        sites: dict[tuple[str, int], tuple[int, int, int, int]] = {}
        classes = sorted((plain.index(f"class {scope.name}(nn.Module)"), scope.name) for scope in [*self.scopes, main])
        for column, begin, end in places:
            owner = [name for start, name in classes if start <= begin][-1]
            sites[owner, column] = (*_position(plain, begin), *_position(plain, end))
        state: dict[str, State] = {}
        for index, each in enumerate(main.columns):
            for key, held in each.item.state.items():
                state[f"{main.attribute(index)}.{key}".rstrip(".")] = held
        layers: dict[tuple[str, int], list[Item]] = {}
        _collect(main, {scope.name: scope for scope in self.scopes}, layers)
        inputs = dict(zip(self.layers.inputs.values(), main.inputs, strict=True))
        return Written(plain, self.name, state, sites, layers, inputs)

    # --- classes ----------------------------------------------------------------------------------

    def _scope(
        self, name: str, columns: list[Column], outputs: list[Ref], inputs: list[str], names: list[str]
    ) -> Scope:
        taken = {scope.name for scope in self.scopes} | {self.name, *self.helpers}
        for ending in ("", "Block", *(f"Block{letter}" for letter in "BCDEFGHIJKLMNOPQRSTUVWXYZ")):
            if name + ending not in taken:
                name += ending
                break
        scope = Scope(name, columns, outputs, _distinct(inputs))
        scope.name_columns(names, frozenset(self.helpers))
        scope.numbers = scope.find_arguments()
        self.scopes.append(scope)
        return scope

    def _main(self, items: list[Item]) -> Scope:
        external = list(self.layers.inputs)
        refs, made = key_refs(items, external)
        columns = [Column([item], list(each)) for item, each in zip(items, refs, strict=True)]
        inputs = _distinct([sanitised(name) for name in self.layers.inputs.values()])
        places = {place: Ref(-1, index) for index, place in enumerate(external)}
        scope = Scope(
            self.name, columns, [made.get(place) or places[place] for place in self.outputs], inputs, main=True,
        )
        scope.shared = _shared(items)
        names = [_name(item, index in scope.shared.values()) for index, item in enumerate(items)]
        scope.name_columns(names, frozenset(self.helpers) | {each.name for each in self.scopes})
        scope.ties = _ties(scope, items)
        return scope

    # --- around them ------------------------------------------------------------------------------

    def _head(self, text: str) -> str:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        title = f'"""{self.network} in PyTorch, exported from an MXNet checkpoint'
        whole = f'{title}; {self.weights} has its weights."""'
        lines = [whole, ""] if len(whole) <= 100 else [f"{title}.", "", f"{self.weights} has its weights.", '"""', ""]
        lines += [f"import {name}" for name in ("math", "sys") if name in names]
        lines += [""] * (lines[-1] != "")
        lines += ["import torch"] * ("torch" in names)
        lines += ["import torch.nn.functional as F"] * ("F" in names)
        lines += ["from PIL import Image, ImageOps"] * ("Image" in names)
        lines += ["from safetensors.torch import load_file"] * ("load_file" in names)
        return "\n".join([*lines, "from torch import nn"])

    def _used_helpers(self, text: str) -> list[str]:
        """The sources of the helpers that the text uses, and of those that they use."""
        waiting, found = [text], list[str]()
        while waiting:
            names = {node.id for node in ast.walk(ast.parse(waiting.pop())) if isinstance(node, ast.Name)}
            for name in names & set(self.helpers) - set(found):
                found.append(name)
                waiting.append(self.helpers[name])
        return [self.helpers[name] for name in self.helpers if name in found]

    @decides("Torch/program")
    def _program(self, main: Scope) -> str:
        load = [
            'if __name__ == "__main__":', f"    net = {self.name}().eval()",
            '    net.load_state_dict(load_file(__file__[:-3] + ".safetensors"))',
        ]
        shape = next(iter(self.prediction.inputs.values()))[0] if len(main.inputs) == 1 else ()
        if len(shape) != 4 or shape[1] not in (1, 3):
            return "\n".join([*load, "    print(net)"])
        picture = self.picture
        height, width = picture.size or shape[2:]
        mode = "L" if shape[1] == 1 else "RGB"
        edge = max(picture.resize or 0, height, width)
        fitted = (edge, edge) if picture.resize == edge else (width, height)
        left, top = (fitted[0] - width) // 2, (fitted[1] - height) // 2
        middle = f".crop(({left}, {top}, {left + width}, {top + height}))" if fitted != (width, height) else ""
        lines = [
            *load,
            f'    picture = ImageOps.fit(Image.open(sys.argv[1]).convert("{mode}"), {fitted}){middle}',
            "    pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)",
        ]
        values = f"pixels.reshape({height}, {width}, {shape[1]})"
        mean, std = any(picture.mean), any(number != 1 for number in picture.std)
        lines += [f"    mean = torch.tensor({_rounded(picture.mean)})"] * mean
        lines += [f"    std = torch.tensor({_rounded(picture.std)})"] * std
        values = f"({values} - mean)" if mean else f"{values}.float()"
        lines.append(f"    {main.inputs[0]} = {values}" + " / std" * std)
        if picture.labels:
            before = [f"LABELS = {_wrapped_list(picture.labels)}", "", ""]
            lines = [*before, *lines]
        label = "{LABELS[number]}" if picture.labels else "class {number}"
        if len(self._shape()) != 2:
            return "\n".join([*lines, f"    print(net({main.inputs[0]}.permute(2, 0, 1)[None]))"])
        result = f"net({main.inputs[0]}.permute(2, 0, 1)[None])" + ("[0]" if len(self.outputs) > 1 else "")
        lines += [
            f"    for score, number in zip(*{result}.flatten().topk({min(5, self._shape()[1])})):",
            f'        print(f"{{score:.4f}} {label}")',
        ]
        return "\n".join(lines)

    def _shape(self) -> tuple[int, ...]:
        """The shape of the first output."""
        entry = self.prediction.symbol.entries[0]
        return tuple(int(side) for side in self.layers.shapes.get((id(entry.node), entry.index)) or ())


def class_name(name: str) -> str:
    """A network's name as that of a class: ``resnet-50`` is ResNet50."""
    words = re.findall(r"[A-Za-z]+|\d+", name) or ["Net"]
    found = "".join(word if word[0].isdigit() else word[0].upper() + word[1:] for word in words)
    for plain, styled in (("Resnet", "ResNet"), ("Lenet", "LeNet"), ("Alexnet", "AlexNet"), ("Vgg", "VGG"),
                          ("Googlenet", "GoogLeNet"), ("Unet", "UNet"), ("Yolo", "YOLO"),
                          ("Mobilenet", "MobileNet"), ("Densenet", "DenseNet"), ("Squeezenet", "SqueezeNet")):
        found = found.replace(plain, styled)
    found = found if not found[0].isdigit() else f"Net{found}"
    return f"{found}Net" if found in RESERVED or found in ("Unit", "Block") else found


def _distinct(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        found.append(free(name, {*found, *RESERVED}))
    return found


def _rounded(numbers: Sequence[float]) -> str:
    return literal([float(f"{number:.9g}") for number in numbers])


def _wrapped_list(labels: Sequence[str]) -> str:
    lines, line = [], "   "
    for label in labels:
        text = f" {label!r},"
        if len(line) + len(text) > 99:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(["[", *lines, line, "]"])


def _places(text: str) -> tuple[str, list[tuple[int, int, int]]]:
    """The text without marks, and (column, beginning, end) of each marked expression."""
    plain: list[str] = []
    size, found, opened = 0, [], []
    for piece in re.split("(\x02\\d+\x03|\x04)", text):
        if piece.startswith("\x02"):
            opened.append((int(piece[1:-1]), size))
        elif piece == "\x04":
            column, begin = opened.pop()
            found.append((column, begin, size))
        else:
            plain.append(piece)
            size += len(piece)
    return "".join(plain), found


def _position(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index) - 1


# --- sequences of blocks ------------------------------------------------------------------------------


def _sequences(items: list[Item], outputs: Sequence[Key]) -> list[Item]:
    """Blocks of one class and one name that follow each other become an ``nn.Sequential``."""
    readers = blocks.read_by(items, outputs)
    found: list[Item] = []
    index = 0
    while index < len(items):
        end = index + 1
        while end < len(items) and _continues(items[end - 1], items[end], readers, end, items[index]):
            end += 1
        if end - index > 1:
            found.append(_sequence(items[index:end]))
        else:
            found.append(items[index])
        index = end
    return found


def _family(name: str) -> str:
    """The name without its number: ``stage1`` for ``stage1_unit2``."""
    return re.sub(r"_?[A-Za-z]*\d+[a-z]?$", "", name) if re.search(r"\d.*_", name) else name


def _continues(before: Item, item: Item, readers: Mapping[Key, list[int]], index: int, first: Item) -> bool:
    if not item.block or before.block != item.block or len(item.inputs) != 1 or len(item.outputs) != 1:
        return False
    alone = before.outputs == item.inputs and readers[before.outputs[0]] == [index]
    return alone and (item.name == first.name or _family(item.name) == _family(first.name) != item.name)


def _sequence(run: list[Item]) -> Item:
    init: list[Any] = ["nn.Sequential("]
    place = 0
    while place < len(run):
        end = place + 1
        while end < len(run) and _call(run[end]) == _call(run[place]):
            end += 1
        init += [", "] * (place > 0)
        if end - place > 1:
            init += ["*(", *(run[place].init or []), f" for _ in range({end - place}))"]
        else:
            init += run[place].init or []
        place = end
    state = {f"{index}.{name}": held for index, item in enumerate(run) for name, held in item.state.items()}
    name = run[0].name if run[0].name == run[1].name else _family(run[0].name)
    return Item(
        name=name, inputs=run[0].inputs, outputs=run[-1].outputs, forward=[OWN, "(", Input(0), ")"],
        init=[*init, ")"], state=state, heavy=True, entries=[None], inner=run, block="", kind="sequence",
    )


def _call(item: Item) -> list[Any]:
    return [part.value if isinstance(part, Number) else part for part in item.init or []]


# --- parameters that several layers have --------------------------------------------------------------


def _shared(items: list[Item]) -> dict[int, int]:
    """Items whose layer is that of an earlier one: the same module with the same parameters."""
    first: dict[Any, int] = {}
    found: dict[int, int] = {}
    for index, item in enumerate(items):
        if item.init is None or not item.state or item.block or item.kind == "sequence":
            continue
        same = (tuple(sorted(item.state.items())), tuple(map(str, item.init)))
        if same in first:
            found[index] = first[same]
        first.setdefault(same, index)
    return found


def _name(item: Item, shared: bool) -> str:
    """The name of an item; a layer that runs several times has that of its parameters."""
    if not shared:
        return item.name
    names = [re.sub(r"_(weight|bias|parameters)$", "", held.parameter) for held in item.state.values()]
    return names[0] if len(set(names)) == 1 else item.name


def _ties(scope: Scope, items: list[Item]) -> list[str]:
    """Statements for parameters that different layers have."""
    first: dict[str, str] = {}
    found = []
    for index, item in enumerate(items):
        if index in scope.shared:
            continue
        for name, held in item.state.items():
            if held.change or item.kind == "buffer":
                continue
            path = f"self.{scope.attribute(index)}.{name}".rstrip(".")
            path = re.sub(r"\.(\d+)\.", r"[\1].", path)
            if held.parameter in first:
                found.append(f"{path} = {first[held.parameter]}")
            first.setdefault(held.parameter, path)
    return found


_Runs = dict[tuple[str, int], list[Item]]


def _collect(scope: Scope, scopes: Mapping[str, Scope], found: _Runs, path: str = "") -> None:
    """The items that run at each column of each module."""
    for index, column in enumerate(scope.columns):
        item = column.item
        _collected(item, scope.attribute(index), index, scopes, found, path)


def _collected(
    item: Item, attribute: str, index: int, scopes: Mapping[str, Scope], found: _Runs, path: str
) -> None:
    inside = f"{path}.{attribute}".lstrip(".")
    if item.kind == "sequence":
        for number, each in enumerate(item.inner):
            _inside(each, f"{inside}.{number}", scopes, found)
    elif item.block:
        _inside(item, inside, scopes, found)
    else:
        found.setdefault((path, index), []).append(item)


def _inside(item: Item, path: str, scopes: Mapping[str, Scope], found: _Runs) -> None:
    scope = scopes[item.block]
    for index, inner in enumerate(item.inner):
        if inner is not None:
            _collected(inner, scope.attribute(index), index, scopes, found, path)


__all__ = ["Picture", "Written", "class_name", "module"]
