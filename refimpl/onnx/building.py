"""ONNX graphs that grow node by node, as plain records: nothing here imports onnx."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import decides

Shape = tuple[int, ...]

OPSET = 17
"""The oldest version of ONNX's operators that is written; it has LayerNormalization and GridSample."""


HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


class NoForm(Exception):
    """An operator, or what its parameters ask for, has no form in ONNX; the text says what."""


class NeedsOpset(NoForm):
    """An operator has a form in later versions of ONNX's operators only."""

    def __init__(self, opset: int, what: str) -> None:
        super().__init__(f"{what} needs opset {opset}")
        self.opset = opset


class Free(int):
    """A side that follows the size of the batch. Its value is the side while the network is converted."""

    factor: int
    """How many times the batch it is."""

    def __new__(cls, value: int, factor: int = 1) -> Free:
        """A side of ``value``, which is ``factor`` times the batch."""
        made = super().__new__(cls, value)
        made.factor = factor
        return made


class Made(NamedTuple):
    """A node of an ONNX graph."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


class ElementType(NamedTuple):
    """An attribute that names an element type, by NumPy's type."""

    dtype: np.dtype


class Builder:
    """An ONNX graph that grows.

    Args:
        opset: the version of ONNX's operators.

    Attributes:
        layer: the name of the layer whose nodes are added; names of tensors begin with it.
        outs: the shapes of the layer's outputs.
        types: the element types of the layer's outputs.
        sources: the element types of the layer's inputs.
        batch: the name of a vector with one whole number, the size of the batch, where that is free.
    """

    def __init__(self, opset: int = OPSET) -> None:
        self.opset = opset
        self.nodes: list[Made] = []
        self.constants: dict[str, np.ndarray] = {}
        self.layer = ""
        self.outs: Sequence[Shape] = ()
        self.types: Sequence[np.dtype] = (np.dtype(np.float32),)
        self.sources: Sequence[np.dtype] = (np.dtype(np.float32),)
        self.batch: str | None = None
        self._known: dict[Any, str] = {}
        self._names: set[str] = set()

    @property
    def dtype(self) -> np.dtype:
        """The element type of the layer's first output."""
        return self.types[0]

    def named(self, stem: str) -> str:
        """A name that no tensor has yet."""
        made, number = stem, 1
        while made in self._names:
            number += 1
            made = f"{stem}_{number}"
        self._names.add(made)
        return made

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Append a node with one output; returns that output's name."""
        return self.several(op, 1, *inputs, **attributes)[0]

    def several(self, op: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """Append a node with several outputs; returns their names."""
        stem = f"{self.layer}/{op}" if self.layer else op
        names = [self.named(stem) for _ in range(count)]
        self.nodes.append(Made(op, tuple(inputs), tuple(names), attributes))
        return names

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of a constant, of the layer's element type unless another is given.

        Raises:
            NoForm: the type is one of whole numbers and does not hold the value.
        """
        array = _held(value, self.dtype if dtype is None else np.dtype(dtype))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = name = self.named(f"{self.layer}/constant" if self.layer else "constant")
            self.constants[name] = array
        return self._known[key]

    def whole(self, *numbers: int) -> str:
        """The name of a constant vector of whole numbers."""
        return self.constant(numbers, np.int64)

    def cast(self, x: str, dtype: Any) -> str:
        """``x`` with another element type."""
        return self.add("Cast", x, to=ElementType(np.dtype(dtype)))

    def sizes(self, shape: Shape) -> str:
        """A vector of the sides of a shape, of which some may be free."""
        if not any(isinstance(side, Free) for side in shape):
            return self.whole(*shape)
        assert self.batch is not None
        parts = []
        for side in shape:
            if not isinstance(side, Free):
                parts.append(self.whole(side))
            elif side.factor == 1:
                parts.append(self.batch)
            else:
                parts.append(self.add("Mul", self.batch, self.whole(side.factor)))
        return self.add("Concat", *parts, axis=0)

    def shaped(self, x: str, shape: Shape) -> str:
        """``x`` with another shape."""
        free = [isinstance(side, Free) for side in shape]
        if sum(free) == 1 and -1 not in shape and 0 not in shape:
            return self.add("Reshape", x, self.whole(*(-1 if f else side for f, side in zip(free, shape, strict=True))))
        return self.add("Reshape", x, self.sizes(shape))

    def reduced(self, op: str, x: str, axes: Sequence[int], *, keepdims: bool = False) -> str:
        """A reduction along axes. Until opset 17 most take the axes as an attribute, ReduceSum as an input."""
        if self.opset < 18 and op != "ReduceSum":
            return self.add(op, x, axes=list(axes), keepdims=int(keepdims))
        return self.add(op, x, self.whole(*axes), keepdims=int(keepdims))

    def cut(self, x: str, axis: int, begin: int, end: int) -> str:
        """Indices begin to end - 1 of one axis."""
        return self.add("Slice", x, self.whole(begin), self.whole(end), self.whole(axis))

    def copy(self, x: str, name: str) -> None:
        """Append a copy of ``x`` under a name of its own."""
        self.nodes.append(Made("Identity", (x,), (name,), {}))

    def renamed(self, first: int, old: str, new: str) -> None:
        """Give the tensor ``old``, which a node from number ``first`` on makes, another name."""
        for number in range(first, len(self.nodes)):
            made = self.nodes[number]
            self.nodes[number] = made._replace(
                inputs=tuple(new if name == old else name for name in made.inputs),
                outputs=tuple(new if name == old else name for name in made.outputs),
            )


@decides("Onnx/whole-numbers")
def _held(value: Any, dtype: np.dtype) -> np.ndarray:
    """A value as an array of a type; whole numbers must be equal to it."""
    if dtype.kind not in "iu":
        return np.asarray(value, dtype)
    given = np.asarray(value)
    with np.errstate(invalid="ignore"):
        array = given.astype(dtype)
    if not np.array_equal(array, given):
        raise NoForm(f"{given.tolist()} among {dtype} numbers, which do not hold it,")
    return array


Rule = Callable[..., "str | list[str]"]
"""``rule(builder, p, shapes, *inputs)`` with the inputs' shapes and names -> name or names of the outputs."""


@decides("Onnx/half-steps")
def in_single(rule: Rule) -> Rule:
    """A rule of several steps that computes in float32 where inputs are float16, between casts, as the pages do.

    In float16 a sum of squares soon is infinite, and a small number that guards a division is zero.

    Args:
        rule: the rule.
    """
    def made(b: Builder, p: Any, shapes: Sequence[Shape], *inputs: str) -> str | list[str]:
        types, sources = b.types, b.sources
        if HALF not in sources:
            return rule(b, p, shapes, *inputs)
        b.types = [SINGLE if kind == HALF else kind for kind in types]
        b.sources = [SINGLE if kind == HALF else kind for kind in sources]
        found = rule(b, p, shapes, *(
            b.cast(x, SINGLE) if kind == HALF else x for x, kind in zip(inputs, sources, strict=True)
        ))
        b.types, b.sources = types, sources
        names = [found] if isinstance(found, str) else found
        return [b.cast(x, HALF) if kind == HALF else x for x, kind in zip(names, types, strict=False)]

    return made


def product(shape: Sequence[int]) -> int:
    """The number of elements; free where one side is, by as many times the batch."""
    free = [side for side in shape if isinstance(side, Free)]
    total = math.prod(int(side) for side in shape)
    if not free:
        return total
    if len(free) > 1:
        raise NoForm("a product of two sides that follow the batch")
    return Free(total, total // int(free[0]) * free[0].factor)


def require_fixed(shape: Sequence[int], what: str) -> None:
    """Require that no side of a shape is free."""
    if any(isinstance(side, Free) for side in shape):
        raise NoForm(f"{what} along sides that follow the size of the batch")


__all__ = [
    "OPSET", "Builder", "ElementType", "Free", "Made", "NeedsOpset", "NoForm", "Rule", "in_single", "product",
    "require_fixed",
]
