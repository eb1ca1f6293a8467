"""A network that predicts, as an ONNX graph: layer by layer, by the table of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, decides, refusal
from ..kernels.foundation import known
from ..symbol import Symbol, inference
from ..symbol.ir import Node, variables
from .building import OPSET, Builder, Free, NeedsOpset, NoForm
from .rule_table import RULES

Shape = tuple[int, ...]
NEWEST = 28
"""The newest version of ONNX's operators that is written."""
_SIZES = (7, 11)  # two sizes of a free batch: the dimensions whose inferred values differ follow the batch


class Graph(NamedTuple):
    """An ONNX graph with what a file says of it."""

    builder: Builder
    inputs: dict[str, tuple[Shape, np.dtype]]
    """A side that follows the batch is :class:`~refimpl.onnx.building.Free`."""
    outputs: list[str]
    """Tensors that are the network's outputs."""
    layers: dict[str, str]
    """Visible outputs of layers -> the tensors that hold them, in the order of the graph."""
    shapes: dict[str, tuple[Shape, np.dtype]]
    """Of the tensors of layers."""


def converted(
    symbol: Symbol, params: Mapping[str, np.ndarray], inputs: Mapping[str, tuple[Shape, np.dtype]],
    opset: int | None = None, *, free_batch: bool = False,
) -> Graph:
    """The ONNX graph of a network without losses.

    Args:
        symbol: the network.
        params: its parameters and auxiliary states.
        inputs: shape and element type of each input.
        opset: the version of ONNX's operators; None takes the oldest, from 17 on, that has a form for every layer.
        free_batch: whether the file takes batches of any size.

    Raises:
        MXNetError: an operator, or what its parameters ask for, has no form in ONNX, or not in that version.
    """
    if opset is not None and not OPSET <= opset <= NEWEST:
        raise refusal("Onnx/opset", f"opset {opset} is not written; give {OPSET} to {NEWEST}")
    wanted = OPSET if opset is None else opset
    while True:
        try:
            return _Conversion(symbol, params, inputs, wanted, free_batch).graph()
        except NeedsOpset as error:
            if opset is not None:
                raise refusal("Onnx/opset", f"{error}, and opset {opset} was asked for") from error
            wanted = error.opset


@decides("Onnx/free-batch")
def with_batch(
    symbol: Symbol, params: Mapping[str, np.ndarray], inputs: Mapping[str, tuple[Shape, np.dtype]], size: int
) -> dict[str, Shape]:
    """Shapes of inputs for a batch of ``size``, without those that follow from others.

    The batch is the axis N of the layout that an input states, or else its first axis.

    Raises:
        MXNetError: the network does not take such a batch.
    """
    order = symbol.order()
    layouts = {node.name: node.attrs.get("__layout__", "") for node in order if node.is_variable}
    places = {node.name: id(node) for node in order if node.is_variable}
    held = {name: inference.read_shape(value.shape) for name, value in params.items()}
    made: dict[str, Shape] = {}
    for name, (shape, _) in inputs.items():
        if made and known(inference.shapes(order, {**held, **made}).get((places[name], 0))):
            continue
        axis = max(layouts[name].find("N"), 0)
        made[name] = tuple(size if place == axis else side for place, side in enumerate(shape))
    return made


class _Conversion:
    def __init__(
        self, symbol: Symbol, params: Mapping[str, np.ndarray], inputs: Mapping[str, tuple[Shape, np.dtype]],
        opset: int, free_batch: bool,
    ) -> None:
        self.symbol, self.params, self.inputs = symbol, params, inputs
        self.order = symbol.order()
        self.b = Builder(opset)
        self.types = inference.types(self.order, {name: kind for name, (_, kind) in inputs.items()} | {
            name: value.dtype for name, value in params.items()
        }, np.dtype(np.float32))
        self.shapes = self._free_shapes() if free_batch else self._shapes({n: s for n, (s, _) in inputs.items()})
        self.names: dict[Any, str] = {}

    def _shapes(self, given: Mapping[str, Shape]) -> dict[Any, Shape]:
        every = {name: inference.read_shape(shape) for name, shape in given.items()}
        every |= {name: inference.read_shape(value.shape) for name, value in self.params.items()}
        found = inference.shapes(self.order, every)
        shapes = {}
        for node in self.order:
            for index in range(node.output_count()):
                shape = found.get((id(node), index))
                if not known(shape) and index < node.visible_count():
                    raise refusal(
                        "Export/input-shape", f"the shape of {node.entry_name(index)} is {shape or 'unknown'};"
                        " give the shapes of all inputs",
                    )
                shapes[id(node), index] = tuple(int(side) for side in shape or ())
        return shapes

    @decides("Onnx/free-batch")
    def _free_shapes(self) -> dict[Any, Shape]:
        """Shapes whose sides are free where they follow the batch: they differ between batches of two sizes."""
        try:
            first, second = (self._shapes(with_batch(self.symbol, self.params, self.inputs, size)) for size in _SIZES)
        except MXNetError as error:
            raise refusal("Onnx/free-batch", f"the network takes one size of a batch only: {error}") from error
        found = {}
        for key, shape in first.items():
            sides = []
            for side, other in zip(shape, second[key], strict=True):
                factor, rest = divmod(side, _SIZES[0])
                if side != other and (rest or factor * _SIZES[1] != other):
                    raise refusal(
                        "Onnx/free-batch", f"a side of {side} for a batch of {_SIZES[0]} and of {other} for {_SIZES[1]}"
                        " is no multiple of the batch; give a fixed batch",
                    )
                sides.append(Free(side, factor) if side != other else side)
            found[key] = tuple(sides)
        return found

    # --- nodes ----------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        b, inputs = self.b, {}
        arguments, auxiliary = variables(self.order)
        for node in (*arguments, *auxiliary):
            self.names[id(node), 0] = b.named(node.name)
            if node.name not in self.params:
                inputs[node.name] = self.shapes[id(node), 0], self.types[id(node), 0]
        self._find_batch(inputs)
        layers: dict[str, str] = {}
        shapes: dict[str, tuple[Shape, np.dtype]] = {}
        for node in self.order:
            if node.op is None:
                continue
            for index, name in enumerate(self._layer(node)):
                self.names[id(node), index] = name
                layers.setdefault(node.entry_name(index), name)
                shapes[name] = self.shapes[id(node), index], self._kind(node, index)
        b.constants |= {node.name: self.params[node.name] for node in (*arguments, *auxiliary)
                        if node.name in self.params}
        outputs = self._heads(shapes)
        return Graph(b, inputs, outputs, layers, shapes)

    @decides("Onnx/types")
    def _kind(self, node: Node, index: int) -> np.dtype:
        return self.types.get((id(node), index)) or np.dtype(np.float32)

    def _find_batch(self, inputs: Mapping[str, tuple[Shape, np.dtype]]) -> None:
        """The size of the batch, read from the shape of an input."""
        for name, (shape, _) in inputs.items():
            for axis, side in enumerate(shape):
                if isinstance(side, Free) and side.factor == 1:
                    sides = self.b.add("Shape", name)
                    self.b.batch = self.b.add("Slice", sides, self.b.whole(axis), self.b.whole(axis + 1))
                    return

    @decides("Onnx/names")
    def _layer(self, node: Node) -> list[str]:
        """The names of the visible outputs of a layer, which are the network's own names."""
        b = self.b
        assert node.op is not None
        count = node.visible_count()
        b.layer = node.name
        b.outs = [self.shapes[id(node), index] for index in range(count)]
        b.types = [self._kind(node, index) for index in range(count)]
        b.sources = [self._kind(entry.node, entry.index) for entry in node.inputs]
        sources = [self.names[inference.key_of(entry)] for entry in node.inputs]
        first = len(b.nodes)
        shapes = [self.shapes[inference.key_of(entry)] for entry in node.inputs]
        found = self._ruled(node, shapes, sources)
        made = [found] if isinstance(found, str) else list(found)
        owned = {name for node_made in b.nodes[first:] for name in node_made.outputs}
        result = []
        for index, name in enumerate(made[:count]):
            wanted = b.named(node.entry_name(index))
            if name in owned and name not in result:
                b.renamed(first, name, wanted)
            else:
                b.copy(name, wanted)
            result.append(wanted)
        return result

    @decides("Onnx/no-form")
    def _ruled(self, node: Node, shapes: Sequence[Shape], sources: Sequence[str]) -> str | list[str]:
        assert node.op is not None
        try:
            rule = RULES.get(node.op.name)
            if rule is None:
                raise NoForm(f"the operator {_told(node)}")
            return rule(self.b, node.params, shapes, *sources)
        except NeedsOpset:
            raise
        except NoForm as error:
            said = f"{error} has no form in ONNX (layer {node.name}){self._before(node)}"
            raise refusal("Onnx/no-form", said) from error

    def _before(self, node: Node) -> str:
        """Up to which layer the network can be exported: the inputs of the layer that cannot."""
        layers = [entry.node.name for entry in node.inputs if entry.node.op is not None]
        return f"; the part before it can be exported: --until {layers[0]}" if layers else ""

    def _heads(self, shapes: dict[str, tuple[Shape, np.dtype]]) -> list[str]:
        """The tensors of the outputs; an input, or an output that is there already, gets a name of its own."""
        found: list[str] = []
        for entry in self.symbol.entries:
            name = self.names[inference.key_of(entry)]
            if entry.node.op is None or name in found:
                key = inference.key_of(entry)
                self.b.layer = entry.node.entry_name(entry.index).removesuffix("_output")
                wanted = self.b.named(f"{self.b.layer}_output")
                self.b.copy(name, wanted)
                name = wanted
                shapes[name] = self.shapes[key], self.types.get(key) or np.dtype(np.float32)
            found.append(name)
        return found


def _told(node: Node) -> str:
    kind = node.attrs.get("op_type")
    return f"{node.kind} {kind}" if kind else node.kind


__all__ = ["NEWEST", "Graph", "converted", "with_batch"]
