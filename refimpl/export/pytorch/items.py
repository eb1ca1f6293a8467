"""The layers of a prediction as items of a module, by the rules of their operators."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base import decides, refusal
from ...symbol import inference
from ...symbol.ir import Node, post_order
from ...symbol.prediction import Prediction
from .detection_rules import DETECTION
from .elementwise import ELEMENTWISE
from .layers import LAYERS, Rule
from .moving import MOVING
from .parts import OWN, Item, Key, State, key, parts
from .quantized import QUANTIZED
from .sequence_rules import SEQUENCES
from .site import Answer, Site, Unsupported
from .window_rules import WINDOWS

RULES: dict[str, Rule] = {
    **ELEMENTWISE, **MOVING, **LAYERS, **WINDOWS, **SEQUENCES, **DETECTION, **QUANTIZED,
}
"""Operator -> the rule that writes it."""

_AFFIXES = re.compile(r"_(fwd|output)$")


class Layers:
    """The items of a network in the order in which they run, with the parameters that are read as they are.

    Args:
        prediction: the network.

    Raises:
        MXNetError: operators have no form in PyTorch.
    """

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self.order = post_order(prediction.symbol.entries)
        shapes = {name: shape for name, (shape, _) in prediction.inputs.items()}
        shapes |= {name: value.shape for name, value in prediction.params.items()}
        self.shapes = inference.shapes(self.order, {n: inference.read_shape(s) for n, s in shapes.items()})
        self.types = _types(prediction)
        self.inputs = {(id(n), 0): n.name for n in self.order if n.op is None and n.name in prediction.inputs}
        self.prefix = _common_prefix([node.name for node in self.order if node.op is not None])
        self.items: list[Item] = []
        self._read = self._reads()
        self._build()

    def local(self, name: str) -> str:
        """A layer's name without what all layers have, and without what gluon appends."""
        short = _AFFIXES.sub("", name.removeprefix(self.prefix))
        return short or name

    def _reads(self) -> dict[Key, int]:
        found: Counter[Key] = Counter()
        for node in self.order:
            found.update(key(entry) for entry in node.inputs)
        found.update(key(entry) for entry in self.prediction.symbol.entries)
        return found

    @decides("Torch/no-form")
    def _build(self) -> None:
        refused: dict[str, list[str]] = {}
        first: str | None = None
        raw: dict[Key, Node] = {}
        for node in self.order:
            if node.op is None:
                if node.name not in self.prediction.inputs:
                    raw[id(node), 0] = node
                continue
            try:
                self._layer(node, raw)
            except Unsupported as why:
                refused.setdefault(f"{node.kind}: {why}", []).append(node.name)
                first = first or node.name
        if refused:
            lines = [f"{what} ({', '.join(names[:3])}{' ...' * (len(names) > 3)})" for what, names in refused.items()]
            before = self._before(first)
            more = f"; the part before the first can be exported: --until {before}" if before else ""
            raise refusal("Torch/no-form", "there is no form in PyTorch for " + "; ".join(lines) + more)

    def _before(self, name: str | None) -> str | None:
        """The last layer that the layer reads."""
        node = next(each for each in self.order if each.name == name)
        sources = [entry.node.name for entry in node.inputs if entry.node.op is not None]
        return sources[0] if sources else None

    def _layer(self, node: Node, raw: dict[Key, Node]) -> None:
        rule = RULES.get(node.kind)
        if rule is None:
            raise Unsupported("there is no rule for it")
        site = self._site(node)
        answer = rule(site)
        for index in answer.inputs:
            source = key(node.inputs[index])
            if source in raw:
                self.items.append(self._parameter(raw.pop(source)))
        count = len(answer.suffixes)
        self.items.append(Item(
            name=self.local(node.name), inputs=[key(node.inputs[index]) for index in answer.inputs],
            outputs=[(id(node), index) for index in range(count)], forward=answer.forward, suffixes=answer.suffixes,
            init=answer.init, state=answer.state, heavy=answer.heavy, light=answer.light,
            entries=[node.entry_name(index) for index in range(count)], kind=node.kind,
        ))

    def _site(self, node: Node) -> Site:
        held = [
            entry.node.name if entry.node.op is None and entry.node.name in self.prediction.params else None
            for entry in node.inputs
        ]
        outputs = [(id(node), index) for index in range(node.output_count())]
        return Site(
            node, [self._shape(key(entry)) for entry in node.inputs], [self.types[key(entry)] for entry in node.inputs],
            [self._shape(each) for each in outputs], [self.types[each] for each in outputs], held,
            [index for index, each in enumerate(outputs) if self._read.get(each)],
        )

    def _shape(self, place: Key) -> tuple[int, ...]:
        return tuple(int(side) for side in self.shapes.get(place) or ())

    def _parameter(self, node: Node) -> Item:
        """A parameter that is read as it is."""
        value = self.prediction.params[node.name]
        learnt = value.dtype.kind == "f" and not node.name.endswith(("_moving_mean", "_moving_var"))
        kind = "" if value.dtype == np.float32 else f", dtype=torch.{value.dtype.name}"
        new = "nn.Parameter(torch.zeros({shape}" + kind + "))" if learnt else "torch.zeros({shape}" + kind + ")"
        return Item(
            name=self.local(node.name), inputs=[], outputs=[(id(node), 0)], forward=[OWN],
            init=parts(new, shape=tuple(value.shape)), state={"": State(node.name)}, fixed=True,
            entries=[None], kind="parameter" if learnt else "buffer",
        )


def _types(prediction: Prediction) -> dict[Key, np.dtype]:
    internals = prediction.symbol.get_internals()
    known = {name: kind for name, (_, kind) in prediction.inputs.items()}
    known |= {name: value.dtype for name, value in prediction.params.items()}
    found = internals.infer_type_partial(**known)[1]
    kinds: dict[Key, Any] = {
        key(entry): np.dtype(np.float32 if kind is None else kind)
        for entry, kind in zip(internals.entries, found, strict=True)
    }
    return _Defaulting(kinds)


class _Defaulting(dict):  # type: ignore[type-arg]
    """Hidden outputs, which nothing reads, are of single precision."""

    def __missing__(self, place: Key) -> np.dtype:
        return np.dtype(np.float32)


def _common_prefix(names: Iterable[str]) -> str:
    """What all names begin with, up to an underscore: gluon's name of the network."""
    names = list(names)
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    cut = low[:size].rfind("_") + 1
    prefix = low[:cut]
    return prefix if all(re.match(r"[A-Za-z]", name[cut:]) for name in names) else ""


__all__ = ["RULES", "Answer", "Layers"]
