"""ONNX graphs that grow node by node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from .common import shape_after


class Builder:
    """An ONNX graph that grows."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Append a node with one output; returns that output's name."""
        name = f"r{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def several(self, op: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """Append a node with several outputs; returns their names."""
        names = [f"r{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """The name of a new constant."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def whole(self, *numbers: int) -> str:
        """The name of a new constant vector of whole numbers."""
        return self.constant(numbers, np.int64)

    def shaped(self, x: str, shape: Any) -> str:
        """``x`` with another shape."""
        return self.add("Reshape", x, self.constant(shape, np.int64))


Rule = Callable[..., str]
"""``rule(builder, p, shapes, *inputs)`` with the inputs' shapes and names -> name of the output."""


class _Shaped:
    def __init__(self, shape: Any) -> None:
        self.shape = shape


def after(name: str, p: Any, *shapes: Any) -> tuple[int, ...]:
    """The shape of the first output of an operator."""
    return shape_after(name, p, *map(_Shaped, shapes))
